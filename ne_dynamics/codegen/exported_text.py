"""What ``Dynamics.source`` and ``Dynamics.source_files`` return: equations with their headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ne_dynamics.codegen.c.c_project import check_prefix, make_prefix, write_c_project
from ne_dynamics.codegen.c.rounding_note import describe_rounding
from ne_dynamics.codegen.description import MARK, describe_count, describe_function
from ne_dynamics.codegen.evaluator import Evaluator
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.programs import list_functions
from ne_dynamics.codegen.source import LANGUAGES, python_module, standalone_source
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Robot


def write_function(evaluator: Evaluator, subject: Subject, name: str, language: str) -> str:
    """Return a function as text that runs on its own.

    The evaluator has all numbers of the robot in its equations, which are those of the subject;
    the name is a row that is written out for this robot.

    Raises
    ------
    InputError
        When the language is none of :data:`~ne_dynamics.codegen.source.LANGUAGES`.
    ModelError
        When this robot does not have the function.
    """
    _check_language(language)
    program = evaluator.interpret(name).program
    return standalone_source(program, language, _describe_program(program, subject))


def write_files(
    evaluator: Evaluator,
    subject: Subject,
    language: str,
    prefix: str | None,
    functions: Sequence[str] | None = None,
) -> dict[str, str]:
    """Return all functions as files to build on, text by name.

    Parameters
    ----------
    evaluator, subject, language
        As for :func:`write_function`.
    prefix : str, optional
        First part of the names of the files; default: made of the robot's name.
    functions : sequence of str, optional
        Rows; default: all that are written out.

    Raises
    ------
    InputError
        When there is no such language, the prefix is no lower-case identifier, or a result
        overflows at a sample of the test.
    ModelError
        When the mass matrix is singular at a sample of the test.
    """
    _check_language(language)
    robot = subject.structure
    prefix = make_prefix(robot.name) if prefix is None else check_prefix(prefix)
    missing = evaluator.find_missing(list_functions(robot)) if functions is None else {}
    names = [
        name
        for name in (list_functions(robot) if functions is None else functions)
        if name not in missing
    ]
    notes = [*_describe_settings(subject), *_describe_missing(missing)]
    if evaluator.is_compiled:
        # The samples of the test are computed as the C text computes them.
        evaluator = Evaluator(subject, False, 1)
    if language == 'c':
        return write_c_project(evaluator, names, prefix, notes)
    programs = [evaluator.interpret(name).program for name in names]
    return {f'{prefix}_dynamics.py': _write_module(programs, subject, language, notes)}


def _write_module(
    programs: Sequence[Program], subject: Subject, language: str, notes: Sequence[str]
) -> str:
    robot = subject.structure
    header = [
        MARK,
        f'Equations of motion of {robot.name}. SI units.',
        _describe_joints(robot),
        *notes,
    ]
    above = {
        program.name: describe_function(program, describe_rounding(subject, program.name))
        for program in programs
    }
    return python_module(programs, language, header, above)


def _check_language(language: str) -> None:
    if language not in LANGUAGES:
        raise InputError(f'language: expected one of {", ".join(LANGUAGES)}, got {language!r}')


def _describe_program(program: Program, subject: Subject) -> list[str]:
    gravity, tolerance = _describe_settings(subject)
    row = FUNCTIONS[program.name]
    units = '; '.join(
        f'{argument.stem or argument.name}: {argument.unit}' for argument in row.arguments
    )
    return [
        f'{program.name} of {subject.structure.name}: {describe_count(program)}',
        row.meaning,
        _describe_joints(subject.structure),
        f'SI units. {units}; result: {row.returns}',
        gravity,
        f'{tolerance}; {describe_rounding(subject, program.name)}',
    ]


def _describe_joints(robot: Robot) -> str:
    joints = ', '.join(
        f'{index + 1} {joint.name} ({"m, N" if joint.type.is_prismatic else "rad, N m"})'
        for index, joint in enumerate(robot.joints)
    )
    return f'joints: {joints}'


def _describe_settings(subject: Subject) -> list[str]:
    return [
        f'gravity in base axes [m/s^2]: {", ".join(map(repr, subject.gravity))}',
        f'tolerance {subject.tolerance:g}: {len(subject.mechanism.changes)} numbers taken '
        'as exact',
    ]


def _describe_missing(missing: Mapping[str, str]) -> list[str]:
    """Return a line for each reason why functions are left out."""
    reasons: dict[str, list[str]] = {}
    for name, reason in missing.items():
        reasons.setdefault(reason, []).append(name)
    return [f'left out: {", ".join(names)}: {reason}' for reason, names in reasons.items()]
