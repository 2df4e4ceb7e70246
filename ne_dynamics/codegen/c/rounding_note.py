"""What a printed function says of the numbers that were taken as exact: how much they change.

Each bound holds for all angles of the joints, and for motions and loads of the sizes that the
text states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ne_dynamics.algorithms.scalars.rounding import (
    LoadSizes,
    jacobian_bound,
    pose_bound,
    torque_bound,
)
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.subject import Subject

_LOADS: Mapping[str, tuple[str, LoadSizes]] = {
    'wrench': ('a wrench of 100 N and 10 N m', LoadSizes(force=100.0, moment=10.0)),
    'base_motion': (
        'a base that turns at 1 rad/s and accelerates at 1 rad/s^2 and 1 m/s^2',
        LoadSizes(base_rate=1.0, base_angular_acceleration=1.0, base_acceleration=1.0),
    ),
    'payload': (
        'a payload of 10 kg, 1 kg m and 1 kg m^2',
        LoadSizes(payload_mass=10.0, payload_first_moment=1.0, payload_inertia=1.0),
    ),
}
"""Sizes of the loads, by argument, and what the text calls them."""


_PRISMATIC_REACH = 1.0
"""Largest position of a prismatic joint that bounds hold for [m]."""


class _Motion(NamedTuple):
    """For which motion a bound of efforts holds.

    Attributes
    ----------
    text : str
        '' for all that there are.
    qd, qdd : float
        Largest velocity and acceleration of each joint.
    has_gravity : bool
    """

    text: str
    qd: float = 0.0
    qdd: float = 0.0
    has_gravity: bool = True


_UNIT = '1 rad/s and 1 rad/s^2 (m/s, m/s^2)'
_MOVING = _Motion(_UNIT, 1.0, 1.0)
_FED_BACK = _Motion(f'{_UNIT}, feedback included', 1.0, 1.0)
_RESTING = _Motion('')
_CRUISING = _Motion('1 rad/s (m/s)', 1.0)
_EFFORTS: Mapping[str, _Motion] = {
    'inverse_dynamics': _MOVING,
    'computed_torque': _FED_BACK,
    'feedforward_pd': _MOVING,
    'gravity_torque': _RESTING,
    'bias_torque': _CRUISING,
}
"""Methods whose results are efforts."""


def describe_rounding(subject: Subject, name: str) -> str:
    """Return by how much numbers that were taken as exact change a printed function, at most."""
    row = FUNCTIONS[name]
    method = row.method
    if not subject.mechanism.changes:
        return 'nothing changes by them'
    if method in _EFFORTS:
        largest, condition = _bound_efforts(subject, name, _EFFORTS[method])
        return f'an effort changes by at most {largest:.2g} N m or N{condition}'
    if method in _BOUNDED:
        return _BOUNDED[method](subject, name)
    if method == 'friction_hysteresis':
        return 'none of them is in this function'
    largest, condition = _bound_efforts(subject, 'inverse_dynamics', _MOVING)
    return (
        'how much that changes this result is not known; an effort of inverse_dynamics changes '
        f'by at most {largest:.2g} N m or N{condition}'
    )


def _bound_efforts(subject: Subject, name: str, motion: _Motion) -> tuple[float, str]:
    """Return the largest change of an effort [N m or N] and what it holds for."""
    arguments = [argument.name for argument in FUNCTIONS[name].arguments]
    given = [_LOADS[argument] for argument in arguments if argument in _LOADS]
    sizes = {
        field: value
        for _, load in given
        for field, value in load._asdict().items()
        if value != 0.0
    }
    bound = _sum_efforts(subject, motion, LoadSizes(**sizes))
    words = [motion.text] if motion.text else []
    words += _describe_strokes(subject)
    words += [text for text, _ in given]
    return max(bound), f' at {", ".join(words)}' if words else ''


def _sum_efforts(subject: Subject, motion: _Motion, loads: LoadSizes) -> list[float]:
    robot, n = subject.robot, subject.robot.n
    return torque_bound(
        subject.mechanism,
        subject.plain_mechanism,
        q=[_PRISMATIC_REACH] * n,
        qd=[motion.qd] * n,
        qdd=[motion.qdd] * n,
        gravity=subject.gravity if motion.has_gravity else (0.0, 0.0, 0.0),
        loads=loads,
        tip=None if robot.tip_link is None else robot.tip,
    )


def _describe_strokes(subject: Subject) -> list[str]:
    slides = any(joint.type.is_prismatic for joint in subject.robot.joints)
    return [f'positions of prismatic joints within {_PRISMATIC_REACH:g} m'] if slides else []


def _at(words: list[str]) -> str:
    return f' at {", ".join(words)}' if words else ''


def _describe_mass_matrix(subject: Subject, name: str) -> str:
    # A column of M is what one unit of acceleration takes, without gravity.
    motion = _Motion('', qdd=1.0, has_gravity=False)
    largest, condition = _bound_efforts(subject, name, motion)
    return f'an entry changes by at most {largest:.2g} kg m^2, kg m or kg{condition}'


def _describe_momentum(subject: Subject, name: str) -> str:
    largest, _ = _bound_efforts(subject, name, _Motion('', qdd=1.0, has_gravity=False))
    condition = _at([_CRUISING.text, *_describe_strokes(subject)])
    return f'an entry changes by at most {largest:.2g} kg m^2/s or kg m/s{condition}'


def _describe_kinetic_energy(subject: Subject, name: str) -> str:
    # T = qd^T M qd / 2
    momenta = _sum_efforts(subject, _Motion('', qdd=1.0, has_gravity=False), LoadSizes())
    condition = _at([_CRUISING.text, *_describe_strokes(subject)])
    return f'it changes by at most {0.5 * math.fsum(momenta):.2g} J{condition}'


def _describe_coriolis_matrix(subject: Subject, name: str) -> str:
    # C(q, u) v = (h(u + v) - h(u) - h(v)) / 2 of the efforts h of velocities, which are
    # quadratic: with u and the unit vector v of size 1 at most (4 + 1 + 1) / 2 times those of 1.
    motion = _Motion(_CRUISING.text, qd=1.0, has_gravity=False)
    largest, condition = _bound_efforts(subject, name, motion)
    return f'an entry changes by at most {3.0 * largest:.2g} kg m^2/s, kg m/s or kg/s{condition}'


def _describe_pose(subject: Subject, name: str) -> str:
    robot = subject.robot
    links = robot.links if name == 'link_poses' else (robot.tip,)
    bound = pose_bound(subject.mechanism, links, [_PRISMATIC_REACH] * robot.n)
    return (
        f'a position changes by at most {bound.translation:.2g} m and an axis by '
        f'{bound.rotation:.2g} rad{_at(_describe_strokes(subject))}'
    )


def _describe_jacobian(subject: Subject, name: str) -> str:
    robot = subject.robot
    largest = jacobian_bound(subject.mechanism, robot.tip, [_PRISMATIC_REACH] * robot.n)
    return (
        f'an entry changes by at most {largest:.2g} m, rad or 1{_at(_describe_strokes(subject))}'
    )


_BOUNDED: Mapping[str, Callable[[Subject, str], str]] = {
    'mass_matrix': _describe_mass_matrix,
    'generalized_momentum': _describe_momentum,
    'kinetic_energy': _describe_kinetic_energy,
    'coriolis_matrix': _describe_coriolis_matrix,
    'link_poses': _describe_pose,
    'forward_kinematics': _describe_pose,
    'jacobian': _describe_jacobian,
}
"""What else has a bound, by method."""
