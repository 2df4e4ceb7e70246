"""Trace the functions of the table for one robot."""

from __future__ import annotations

from ne_dynamics.codegen.functions import FUNCTIONS, INTERNAL
from ne_dynamics.codegen.run_time_parameters import STEM, count_parameters
from ne_dynamics.codegen.source import Program, trace
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Symbol
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Robot


def list_functions(robot: Robot) -> tuple[str, ...]:
    """Return the names of the functions that can be written out for a robot."""
    return tuple(
        name
        for name, row in FUNCTIONS.items()
        if name not in INTERNAL
        and row.is_written_out(robot)
        and not (row.needs_tip and robot.tip_link is None)
    )


def trace_function(subject: Subject, name: str, link_name: str | None = None) -> Program:
    """Trace a function.

    Parameters
    ----------
    subject : Subject
    name : str
        A row of :data:`~ne_dynamics.codegen.functions.FUNCTIONS`.
    link_name : str, optional
        Link of a pose or Jacobian, in place of the tip.

    Returns
    -------
    Program

    Raises
    ------
    InputError
        When there is no such function for this robot.
    ModelError
        When the robot has no tip where one is needed, or no such link.
    """
    robot = subject.robot
    row = FUNCTIONS.get(name)
    if row is None:
        raise InputError(
            f'function: expected one of {", ".join(list_functions(robot))}, got {name!r}'
        )
    if not row.is_written_out(robot):
        raise InputError(
            f'function {name!r}: expected a robot of up to {row.largest} joints, got {robot.n}; '
            'for more joints the value is computed from smaller functions'
        )
    link = None
    if link_name is not None:
        link = robot.link(link_name)
    elif row.needs_tip or robot.tip_link is not None:
        link = robot.tip
    if not subject.has_parameters:
        return trace(name, row.inputs(robot), row.shape(robot), row.trace(subject, link))

    def function(*arguments: list[Symbol]) -> object:
        changed = subject.insert_parameters(arguments[-1])
        return row.trace(changed, link)(*arguments[:-1])

    inputs = *row.inputs(robot), (STEM, count_parameters(robot))
    return trace(name, inputs, row.shape(robot), function, is_shared=True)
