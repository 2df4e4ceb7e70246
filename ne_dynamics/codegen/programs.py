"""Trace the functions of the table for one robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ne_dynamics.algorithms.undetermined_joint import UndeterminedJointError
from ne_dynamics.codegen.functions import FUNCTIONS, INTERNAL, Function
from ne_dynamics.codegen.given_parameters import STEM, count_parameters
from ne_dynamics.codegen.program import Program, trace
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Symbol
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.robot import FloatArray, Robot


def list_functions(robot: Robot) -> tuple[str, ...]:
    """Return the names of the functions that are written out for a robot of this structure.

    Those that its masses leave without a meaning are among them; tracing one is an error.
    """
    return tuple(
        name
        for name, row in FUNCTIONS.items()
        if name not in INTERNAL
        and row.is_written_out(robot)
        and not (row.needs_tip and robot.tip_link is None)
    )


def trace_function(
    subject: Subject, name: str, link_name: str | None = None, *, is_compiled: bool = False
) -> Program:
    """Trace a function.

    Parameters
    ----------
    subject : Subject
    name : str
        A row of :data:`~ne_dynamics.codegen.functions.FUNCTIONS`.
    link_name : str, optional
        Link of a pose or Jacobian, in place of the tip.
    is_compiled : bool
        Whether it is for machine code, which may be longer than other text.

    Raises
    ------
    InputError
        When there is no such function for this robot, or a constant of it overflows.
    ModelError
        When the robot has no tip where one is needed, or no such link.
    """
    robot = subject.robot
    row = _find_row(robot, name, is_compiled)
    link = None
    if link_name is not None:
        link = robot.link(link_name)
    elif row.needs_tip or robot.tip_link is not None:
        link = robot.tip
    if not subject.has_parameters:
        return _trace(subject, name, row.inputs(robot), row.trace(subject, link))

    def function(*arguments: list[Symbol]) -> object:
        changed = subject.insert_parameters(arguments[-1])
        return row.trace(changed, link)(*arguments[:-1])

    inputs = *row.inputs(robot), (STEM, count_parameters(robot))
    return _trace(subject, name, inputs, function, is_shared=True)


def _find_row(robot: Robot, name: str, is_compiled: bool) -> Function:
    row = FUNCTIONS.get(name)
    if row is None:
        raise InputError(
            f'function: expected one of {", ".join(list_functions(robot))}, got {name!r}'
        )
    if not row.is_written_out(robot, is_compiled):
        raise InputError(
            f'function {name!r}: expected a robot of up to {row.largest} joints, got {robot.n}; '
            'for more joints the value is computed from smaller functions'
        )
    return row


def _trace(
    subject: Subject,
    name: str,
    inputs: Sequence[tuple[str, int]],
    function: Callable[..., object],
    is_shared: bool = False,
) -> Program:
    robot, row = subject.robot, FUNCTIONS[name]
    try:
        program = trace(
            name,
            inputs,
            row.shape(robot),
            function,
            is_shared=is_shared,
            is_scalar=row.is_scalar,
            nonnegative=tuple(
                argument.stem or argument.name
                for argument in row.arguments
                if argument.is_nonnegative
            ),
        )
    except UndeterminedJointError as error:
        joint = robot.joints[error.coordinate]
        raise ModelError(
            f'robot {robot.name!r}: joint {joint.name!r}: expected that it moves mass or rotor '
            'inertia of its own, got none: the effort does not determine its acceleration'
        ) from error
    nodes = program.graph.nodes
    live = [nodes[index] for index in program.live]
    constants = [float(node[1]) for node in live if node[0] in ('const', 'scale')]
    constants += [output for output in program.outputs if isinstance(output, float)]
    if not all(map(math.isfinite, constants)):
        raise make_overflow_error(row.method or name, (), (), subject)
    return program


class ResultOverflowError(InputError):
    """Finite numbers whose result is too large for a number."""


def make_overflow_error(
    function: str,
    names: Sequence[str],
    arrays: Sequence[FloatArray],
    subject: Subject | None = None,
) -> ResultOverflowError:
    """Return the error for finite numbers whose result is too large for a number.

    Parameters
    ----------
    function : str
    names : sequence of str
    arrays : sequence of arrays
        What the function was given.
    subject : Subject, optional
        Its gravity, friction and drives count, too; inertias are never that large.
    """
    sizes = list(zip(names, arrays, strict=True))
    if subject is not None:
        robot = subject.robot
        drives = [
            (joint.viscous_friction, joint.coulomb_friction, joint.reflected_inertia)
            for joint in robot.joints
        ] + [
            tuple(
                max(map(abs, drive.ratios)) ** 2 * size
                for size in (
                    drive.viscous_friction,
                    drive.coulomb_friction,
                    drive.reflected_inertia,
                )
            )
            for drive in robot.coupled_drives
        ]
        sizes += [
            ('gravity', np.array(subject.gravity)),
            ('friction and drives of the joints', np.array(drives)),
        ]
    largest, name = max((float(np.abs(array).max(initial=0.0)), name) for name, array in sizes)
    return ResultOverflowError(
        f'{function}: expected numbers whose result is finite, but it overflows; the '
        f'largest is {largest:.3g}, in {name}'
    )
