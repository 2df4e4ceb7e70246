"""The functions of a robot as a C library: header, source, CMake project and its test.

All names in the text start with a prefix that is made of the robot's name, so that several robots
link into one program. Other names of a model file occur in comments only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ne_dynamics.codegen.c.rounding_note import describe_rounding
from ne_dynamics.codegen.description import MARK, describe_function
from ne_dynamics.codegen.evaluator import Evaluator
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.source import (
    c_body,
    define_c_functions,
    escape_for_comment,
    list_calls,
    needs_c_library,
)
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray, Robot

_SUFFIX = '_dynamics'

LONGEST_PREFIX = 40
"""Characters of a prefix that a robot's name is cut to."""

SAMPLES = 100
"""Of each function in the test."""


def make_prefix(name: str) -> str:
    """Return the name of a robot as the first part of C identifiers.

    Parameters
    ----------
    name : str
        Any text.

    Returns
    -------
    str
        Lower-case letters, digits and single underscores, at most :data:`LONGEST_PREFIX`
        characters, with a letter at the beginning. Different names may give the same prefix.
    """
    words = re.findall(r'[a-z0-9]+', name.lower())
    prefix = '_'.join(words)
    if not prefix[:1].isalpha():
        prefix = f'robot_{prefix}'
    return prefix[:LONGEST_PREFIX].rstrip('_')


def check_prefix(prefix: str) -> str:
    """Return a prefix that was given.

    Raises
    ------
    InputError
        When it is no lower-case identifier without double underscores, or is too long.
    """
    is_word = isinstance(prefix, str) and re.fullmatch(r'[a-z][a-z0-9]*(_[a-z0-9]+)*', prefix)
    if not is_word or len(prefix) > LONGEST_PREFIX:
        raise InputError(
            f'prefix: expected up to {LONGEST_PREFIX} lower-case letters, digits and '
            f'single underscores between them, with a letter first, got {prefix!r}'
        )
    return prefix


def write_c_project(
    evaluator: Evaluator, names: Sequence[str], prefix: str, notes: Sequence[str]
) -> dict[str, str]:
    """Return the files of a C library.

    Parameters
    ----------
    evaluator : Evaluator
        Of the backend 'python': it computes what the test compares with.
    names : sequence of str
        Functions.
    prefix : str
        From :func:`make_prefix` or :func:`check_prefix`.
    notes : sequence of str
        Lines for the comment at the top of the header.

    Returns
    -------
    dict of str to str
        Text by file name: ASCII, the same for the same robot.

    Raises
    ------
    InputError, ModelError
        When a function has no finite result at one of the test's samples.
    """
    programs = [evaluator.interpret(name).program for name in names]
    library = prefix + _SUFFIX
    return {
        'CMakeLists.txt': _fill_template('CMakeLists.txt.in', library=library, mark=MARK),
        f'{library}.h': _write_header(evaluator.subject, programs, prefix, notes),
        f'{library}.c': _write_source(programs, prefix),
        f'{library}_test.c': _write_test(evaluator, programs, prefix),
    }


def _fill_template(name: str, **values: str) -> str:
    """Return a file of the folder `templates` with values in the place of ``@name@``."""
    text = (Path(__file__).parent / 'templates' / name).read_text(encoding='ascii')
    for key, value in values.items():
        text = text.replace(f'@{key}@', value)
    return text


# ---- header and source


def _write_header(
    subject: Subject, programs: Sequence[Program], prefix: str, notes: Sequence[str]
) -> str:
    robot = subject.robot
    library, upper = prefix + _SUFFIX, prefix.upper()
    macros = [('JOINTS', robot.n), ('BODIES', len(robot.bodies)), ('LINKS', len(robot.links))]
    macros += _argument_sizes(robot, programs).items()
    macros += [(_size_macro(program.name), len(program.outputs)) for program in programs]
    width = max(len(name) for name, _ in macros)
    lines = [
        *_comment(_describe_library(robot, notes)),
        f'#ifndef {library.upper()}_H',
        f'#define {library.upper()}_H',
        '',
        '/* Scalars of each argument and result. */',
        *[f'#define {upper}_{name:<{width}} {size}' for name, size in macros],
        '',
        '#ifdef __cplusplus',
        'extern "C" {',
        '#endif',
        '',
    ]
    for program in programs:
        about = describe_function(program, describe_rounding(subject, program.name))
        lines += [*_comment(about), f'{_prototype(program, prefix)};', '']
    lines += ['#ifdef __cplusplus', '}', '#endif', '', '#endif']
    return '\n'.join(lines) + '\n'


def _describe_library(robot: Robot, notes: Sequence[str]) -> list[str]:
    """Return the comment at the top of the header."""
    return [
        MARK,
        '',
        f'Equations of motion of the robot {robot.name}.',
        '',
        'Units are SI. Positions, velocities, accelerations and efforts are positive along the',
        "positive direction of the joint. An effort is a joint's torque [N m] or force [N].",
        'Matrices are written row by row. The base frame is that of the base link, the tip frame',
        'that of the tip link.',
        *notes,
        '',
        'The functions take any finite numbers, do not check them, allocate nothing and keep no',
        'state: they may be called from several threads. Each reads its arguments before it',
        'writes the result, which may be one of them.',
        '',
        f'base link: {robot.base_link}',
        f'tip link: {robot.tip_link if robot.tip_link is not None else "none"}',
        'joints, by index:',
        *[
            f'  {index}  {joint.name} '
            + ('[m], effort [N]' if joint.type.is_prismatic else '[rad], effort [N m]')
            for index, joint in enumerate(robot.joints)
        ],
        'bodies that move, by index:',
        *[f'  {index}  {body.name}' for index, body in enumerate(robot.bodies)],
        'links, by index:',
        *[f'  {index}  {link.name}' for index, link in enumerate(robot.links)],
    ]


def _write_source(programs: Sequence[Program], prefix: str) -> str:
    calls = list_calls(programs)
    lines = [*_comment([MARK]), f'#include "{prefix}{_SUFFIX}.h"', '']
    if needs_c_library(calls):
        lines += ['#include <math.h>', '']
    lines += define_c_functions(calls)
    for program in programs:
        lines += [_prototype(program, prefix), '{']
        lines += [f'    {line}' for line in c_body(program)]
        lines += ['}', '']
    return '\n'.join(lines[:-1]) + '\n'


def _prototype(program: Program, prefix: str) -> str:
    upper = prefix.upper()
    row = FUNCTIONS[program.name]
    arguments = [
        f'const double {stem}[{upper}_{"JOINTS" if argument.size is None else _size_macro(stem)}]'
        for argument, (stem, _) in zip(row.arguments, program.inputs, strict=True)
    ]
    arguments.append(f'double result[{upper}_{_size_macro(program.name)}]')
    return f'void {prefix}_{program.name}(\n    ' + ',\n    '.join(arguments) + ')'


def _size_macro(name: str) -> str:
    return f'{name.upper()}_SIZE'


def _argument_sizes(robot: Robot, programs: Sequence[Program]) -> dict[str, int]:
    """Return the sizes of the arguments that have one of their own, by macro."""
    return {
        _size_macro(argument.stem or argument.name): argument.count(robot)
        for program in programs
        for argument in FUNCTIONS[program.name].arguments
        if argument.size is not None
    }


def _comment(lines: Sequence[str]) -> list[str]:
    """Return lines as a comment; names in them cannot end it."""
    inner = [f' * {escape_for_comment(line)}'.rstrip() for line in lines]
    return ['/*' + inner[0][2:], *inner[1:], ' */'] if len(lines) > 1 else [f'/* {lines[0]} */']


# ---- the test


def _write_test(evaluator: Evaluator, programs: Sequence[Program], prefix: str) -> str:
    samples = _draw_samples(evaluator.subject.robot, programs)
    cases = [(program, _evaluate(evaluator, program, samples)) for program in programs]
    upper = prefix.upper()
    lines = [
        *_comment(
            [
                MARK,
                '',
                f'Compares each function with {SAMPLES} samples that Python computed. The error',
                'of an entry may be 1e-12 of the largest value of its function, or of',
                '0.01 where that is smaller.',
            ]
        ),
        f'#include "{prefix}{_SUFFIX}.h"',
        '',
        '#include <math.h>',
        '#include <stdio.h>',
        '',
        f'#define SAMPLES {SAMPLES}',
        f'#define LARGEST_RESULT {max(expected.shape[1] for _, expected in cases)}',
        '',
    ]
    for stem, table in samples.items():
        lines += [*_table(f'given_{stem}', table), '']
    for program, expected in cases:
        arguments = ', '.join(f'given_{stem}[sample]' for stem, _ in program.inputs)
        lines += [
            *_table(f'expected_{program.name}', expected),
            '',
            f'static void compute_{program.name}(int sample, double *result)',
            '{',
            f'    {prefix}_{program.name}({arguments}, result);',
            '}',
            '',
        ]
    rows = [
        f'    {{"{program.name}", {upper}_{_size_macro(program.name)}, '
        f'compute_{program.name}, expected_{program.name}[0]}},'
        for program, _ in cases
    ]
    return '\n'.join(lines) + _fill_template('library_test.c.in', rows='\n'.join(rows))


def _draw_samples(robot: Robot, programs: Sequence[Program]) -> dict[str, FloatArray]:
    """Return samples of each argument, by its name in the text.

    Numbers of a few digits, which are the same in Python and in C. Python keeps the sequence of
    this generator the same between releases.
    """
    ranges: Mapping[str, Sequence[float]] = {
        'q': [1.0 if joint.type.is_prismatic else np.pi for joint in robot.joints],
        'qd': [2.0] * robot.n,
        'qdd': [5.0] * robot.n,
        'tau': [20.0] * robot.n,
        'wrench': [20.0] * 6,
        'base': [2.0] * 9,
        'q_desired': [1.0 if joint.type.is_prismatic else 2.0 * np.pi for joint in robot.joints],
        'qd_desired': [2.0] * robot.n,
        'qdd_desired': [5.0] * robot.n,
        'kp': [50.0] * robot.n,
        'kv': [10.0] * robot.n,
        'effort_limits': [200.0] * robot.n,
    }
    counts = {stem: count for program in programs for stem, count in program.inputs}
    samples = {}
    for stem, count in counts.items():
        generator = random.Random(stem)
        if stem == 'payload':
            rows = [_draw_payload(generator) for _ in range(SAMPLES)]
        else:
            limits = ranges.get(stem, [1.0] * count)
            rows = [[generator.uniform(-limit, limit) for limit in limits] for _ in range(SAMPLES)]
        samples[stem] = np.array(rows).round(6)
    return samples


def _draw_payload(generator: random.Random) -> list[float]:
    """Return mass, first moment and inertia about the tip of a small sphere off the tip."""
    mass = generator.uniform(0.1, 3.0)
    x, y, z = (generator.uniform(-0.2, 0.2) for _ in range(3))
    own = 0.01 * mass
    return [
        mass,
        *(mass * each for each in (x, y, z)),
        own + mass * (y * y + z * z),
        -mass * x * y,
        own + mass * (x * x + z * z),
        -mass * x * z,
        -mass * y * z,
        own + mass * (x * x + y * y),
    ]


def _evaluate(
    evaluator: Evaluator, program: Program, samples: Mapping[str, FloatArray]
) -> FloatArray:
    """Return a function of all samples, each as one call, shape (:data:`SAMPLES`, outputs).

    Calls of one sample take the sines and cosines of the C library, as the C text does.
    """
    results = []
    for sample in range(SAMPLES):
        arrays = [samples[stem][sample : sample + 1] for stem, _ in program.inputs]
        results.append(evaluator.evaluate(program.name, arrays, lambda: None).ravel())
    return np.array(results)


def _table(name: str, rows: FloatArray) -> list[str]:
    lines = [f'static const double {name}[SAMPLES][{rows.shape[1]}] = {{']
    for row in rows.tolist():
        line = '    {'
        for index, value in enumerate(row):
            word = repr(value) + (',' if index + 1 < len(row) else '},')
            if len(line) + len(word) > 96:
                lines.append(line.rstrip())
                line = '     '
            line += f'{word} '
        lines.append(line.rstrip())
    return [*lines, '};']
