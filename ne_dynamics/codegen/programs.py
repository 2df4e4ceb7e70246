"""Which functions of a robot are generated, and how each is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ne_dynamics.algorithms import forward, kinematics, newton_euler, terms
from ne_dynamics.algorithms.mechanism import Mechanism, build_mechanism
from ne_dynamics.codegen.source import Program, trace
from ne_dynamics.codegen.symbols import derivatives
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Link, Robot

Matrix = list[list[Any]]

LARGEST = {
    'mass_matrix': 20,
    'forward_dynamics': 20,
    'forward_dynamics_with_wrench': 20,
    'coriolis_matrix': 10,
    'regressor': 10,
}
"""Coordinates up to which a matrix is written out; beyond, it is strobed from the recursion."""

NEEDS_TIP = (
    'inverse_dynamics_with_wrench',
    'forward_dynamics_with_wrench',
    'forward_kinematics',
    'jacobian',
    'jacobian_in_tip_axes',
)
"""Functions that exist only for a robot with a tip, unless a link is named."""


@dataclass(frozen=True)
class ProgramSet:
    """Traces the functions of one robot.

    Attributes
    ----------
    robot : Robot
    gravity : tuple of 3 float
        Acceleration of gravity in the base link's axes [m/s^2].
    tolerance : float
        See :func:`~ne_dynamics.algorithms.mechanism.build_mechanism`.
    """

    robot: Robot
    gravity: tuple[float, float, float]
    tolerance: float
    mechanism: Mechanism = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'mechanism', build_mechanism(self.robot, self.tolerance))

    def names(self) -> tuple[str, ...]:
        """Return the functions that can be written out for this robot."""
        skip = set() if self.robot.tip_link is not None else set(NEEDS_TIP)
        skip |= {name for name, most in LARGEST.items() if self.robot.n > most}
        return tuple(name for name in _TRACES if name not in skip and name != 'strobe')

    def program(self, name: str, link_name: str | None = None) -> Program:
        """Trace a function.

        Parameters
        ----------
        name : str
            One of :meth:`names`.
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
        if name not in _TRACES:
            raise InputError(f'function: expected one of {", ".join(self.names())}, got {name!r}')
        if self.robot.n > LARGEST.get(name, self.robot.n):
            raise InputError(
                f'function {name!r}: written out for robots of up to {LARGEST[name]} joints, '
                f'got {self.robot.n}; the value is computed from inverse_dynamics'
            )
        link = None
        if link_name is not None:
            link = self.robot.link(link_name)
        elif name in NEEDS_TIP or self.robot.tip_link is not None:
            link = self.robot.tip
        groups, shape, function = _TRACES[name](self, link)
        return trace(name, groups, shape, function)


_Traced = tuple[Sequence[tuple[str, int]], tuple[int, ...], Callable[..., Any]]


def _inverse_dynamics(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        return newton_euler.newton_euler(programs.mechanism, q, qd, qdd, gravity=programs.gravity)

    return (('q', n), ('qd', n), ('qdd', n)), (n,), function


def _inverse_dynamics_with_wrench(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n

    def function(q: Any, qd: Any, qdd: Any, wrench: Any) -> Any:
        return newton_euler.newton_euler(
            programs.mechanism, q, qd, qdd, gravity=programs.gravity, wrench=wrench, tip=link
        )

    return (('q', n), ('qd', n), ('qdd', n), ('wrench', 6)), (n,), function


def _inverse_dynamics_in_full(programs: ProgramSet, link: Link | None) -> _Traced:
    """Trace everything at once; without a tip there is nothing to hold wrench and payload."""
    n = programs.robot.n

    def function(q: Any, qd: Any, qdd: Any, wrench: Any, base: Any, payload: Any) -> Any:
        return newton_euler.newton_euler(
            programs.mechanism,
            q,
            qd,
            qdd,
            gravity=programs.gravity,
            base_motion=base,
            wrench=None if link is None else wrench,
            payload=None if link is None else payload,
            tip=link,
        )

    groups = (('q', n), ('qd', n), ('qdd', n), ('wrench', 6), ('base', 9), ('payload', 10))
    return groups, (n,), function


def _strobe(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        return newton_euler.newton_euler(
            programs.mechanism, q, qd, qdd, gravity=(0.0, 0.0, 0.0), joint_effects=False
        )

    return (('q', n), ('qd', n), ('qdd', n)), (n,), function


def _gravity_torque(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n
    return (
        (('q', n),),
        (n,),
        lambda q: terms.gravity_torque(programs.mechanism, q, programs.gravity),
    )


def _mass_matrix(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n
    return (('q', n),), (n, n), lambda q: terms.mass_matrix(programs.mechanism, q)


def _coriolis_matrix(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n

    def function(q: Any, qd: Any) -> Matrix:
        # The velocity products are quadratic in qd: half their slope is the Christoffel form.
        slopes = derivatives(terms.velocity_torque(programs.mechanism, q, qd), list(qd))
        return [[0.5 * slope for slope in row] for row in slopes]

    return (('q', n), ('qd', n)), (n, n), function


def _forward_dynamics(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n

    def function(q: Any, qd: Any, tau: Any) -> Any:
        return forward.forward_dynamics(programs.mechanism, q, qd, tau, gravity=programs.gravity)

    return (('q', n), ('qd', n), ('tau', n)), (n,), function


def _forward_dynamics_with_wrench(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n

    def function(q: Any, qd: Any, tau: Any, wrench: Any) -> Any:
        return forward.forward_dynamics(
            programs.mechanism, q, qd, tau, gravity=programs.gravity, wrench=wrench, tip=link
        )

    return (('q', n), ('qd', n), ('tau', n), ('wrench', 6)), (n,), function


def _regressor(programs: ProgramSet, link: Link | None) -> _Traced:
    n = programs.robot.n
    plain = build_mechanism(programs.robot, programs.tolerance, regroup=False)
    columns = terms.PARAMETERS_PER_BODY * len(plain.bodies)

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        return terms.regressor(plain, q, qd, qdd, programs.gravity)

    return (('q', n), ('qd', n), ('qdd', n)), (n, columns), function


def _forward_kinematics(programs: ProgramSet, link: Link | None) -> _Traced:
    assert link is not None

    def function(q: Any) -> Matrix:
        axes, origin = kinematics.link_pose(programs.mechanism, link, q)
        rows = [[axis[row] for axis in axes] + [origin[row]] for row in range(3)]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]

    return (('q', programs.robot.n),), (4, 4), function


def _jacobian_in(axes: str) -> Callable[[ProgramSet, Link | None], _Traced]:
    def traced(programs: ProgramSet, link: Link | None) -> _Traced:
        assert link is not None
        n = programs.robot.n
        return (
            (('q', n),),
            (6, n),
            lambda q: kinematics.jacobian(programs.mechanism, link, q, axes),
        )

    return traced


_TRACES: dict[str, Callable[[ProgramSet, Link | None], _Traced]] = {
    'inverse_dynamics': _inverse_dynamics,
    'inverse_dynamics_with_wrench': _inverse_dynamics_with_wrench,
    'inverse_dynamics_in_full': _inverse_dynamics_in_full,
    'gravity_torque': _gravity_torque,
    'mass_matrix': _mass_matrix,
    'coriolis_matrix': _coriolis_matrix,
    'forward_dynamics': _forward_dynamics,
    'forward_dynamics_with_wrench': _forward_dynamics_with_wrench,
    'forward_kinematics': _forward_kinematics,
    'jacobian': _jacobian_in('base'),
    'jacobian_in_tip_axes': _jacobian_in('tip'),
    'regressor': _regressor,
    'strobe': _strobe,
}
