"""What treating numbers as exact can change: bounds on efforts, poses and Jacobians.

:class:`Bounded` stands for a number or a vector of which only the length is known, together with
the largest error. The recursion over them returns for every torque a rigorous bound of what the
small changes of geometry and inertia made by
:func:`~ne_dynamics.algorithms.mechanism.build_mechanism` amount to. Lengths of vectors do not grow
in a rotation, so the bound stays near the truth however long the chain is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.mechanism_body import MOMENT_ENTRIES, MechanismBody, RigidInertia
from ne_dynamics.model.robot import BASE, Link


@dataclass(frozen=True)
class Bounded:
    """A number or vector of which only the size is known.

    Attributes
    ----------
    size : float
        Largest magnitude, without the changes.
    error : float
        Largest difference that the changes make.
    """

    size: float
    error: float = 0.0

    def __add__(self, other: Bounded) -> Bounded:
        """Sizes and errors add up."""
        return Bounded(self.size + other.size, self.error + other.error)

    def __mul__(self, other: Bounded) -> Bounded:
        """Each error is multiplied by the other's size; of vectors: either product."""
        # x' y' - x y = x (y' - y) + (x' - x) y', and |y'| <= |y| + |y' - y|.
        return Bounded(
            self.size * other.size,
            self.size * other.error + self.error * (other.size + other.error),
        )

    def turned(self, angle: float) -> Bounded:
        """Return a vector in other axes, which the changes turned by at most an angle."""
        # A turn by an angle moves the end of a vector by no more than angle times length.
        return Bounded(self.size, self.error + angle * (self.size + self.error))


_ZERO = Bounded(0.0)

_ROUNDING = 4.0 * 2.0**-52
"""Relative rounding of constants that were computed anew because a number changed."""


class LoadSizes(NamedTuple):
    """Largest magnitudes of what acts beside the motion of the joints.

    Attributes
    ----------
    force, moment : float
        Of a wrench at the tip's frame [N, N m].
    base_rate, base_angular_acceleration, base_acceleration : float
        Of the base link's frame [rad/s, rad/s^2, m/s^2].
    payload_mass, payload_first_moment, payload_inertia : float
        Of a payload: [kg], [kg m], and its largest moment of inertia about the tip frame's
        origin [kg m^2].
    """

    force: float = 0.0
    moment: float = 0.0
    base_rate: float = 0.0
    base_angular_acceleration: float = 0.0
    base_acceleration: float = 0.0
    payload_mass: float = 0.0
    payload_first_moment: float = 0.0
    payload_inertia: float = 0.0


def torque_bound(
    regrouped: Mechanism,
    plain: Mechanism,
    *,
    q: Sequence[float],
    qd: Sequence[float],
    qdd: Sequence[float],
    gravity: Sequence[float],
    loads: LoadSizes | None = None,
    tip: Link | None = None,
) -> list[float]:
    """Return the most by which the exact treatment of small numbers changes each torque.

    Parameters
    ----------
    regrouped, plain : Mechanism
        Built with the same tolerance, with and without regrouping. The regrouped one is what
        runs; its geometry, and with it the torque, is that of the plain one, and its inertial
        parameters were changed once more.
    q, qd, qdd : sequence of n float
        Largest magnitudes of position (of interest for prismatic joints), velocity and
        acceleration.
    gravity : sequence of 3 float
        [m/s^2]
    loads : LoadSizes, optional
    tip : Link, optional
        Where wrench and payload are; needed with either.

    Returns
    -------
    list of n float
        [N m or N]; zero when nothing was changed. Where something was, the rounding of the
        constants that follow from it is included, that of a computation with them is not.
    """
    if not regrouped.changes:
        return [0.0] * plain.n
    given = LoadSizes() if loads is None else loads
    efforts = _hand_inward(
        plain, _bound_bodies(regrouped, plain, (q, qd, qdd), gravity, given, tip)
    )
    # Friction that depends on the load changes with it.
    return [
        effort * (1.0 + friction.load_coefficient)
        for effort, friction in zip(efforts, plain.friction, strict=True)
    ]


@dataclass
class _BodyBound:
    """Of a body: turn and place in its parent, stroke of its joint, what moves it."""

    angle: float
    position: Bounded
    displacement: Bounded
    force: Bounded
    moment: Bounded


def _bound_bodies(
    regrouped: Mechanism,
    plain: Mechanism,
    motion: tuple[Sequence[float], Sequence[float], Sequence[float]],
    gravity: Sequence[float],
    loads: LoadSizes,
    tip: Link | None,
) -> list[_BodyBound]:
    """Bound rates and accelerations outward, and the force and the moment that they take."""
    q, qd, qdd = motion
    found = []
    # Rate, angular acceleration and acceleration.
    states: dict[int, tuple[Bounded, Bounded, Bounded]] = {
        BASE: _bound_base_state(plain, gravity, loads)
    }
    for index, body in enumerate(plain.bodies):
        w, wd, a = states[body.parent]
        angle = _bound_angle(regrouped, index)
        rate = Bounded(abs(body.multiplier * qd[body.coordinate]))
        acceleration = Bounded(abs(body.multiplier * qdd[body.coordinate]))
        position = _bound_position(body, index, regrouped.changes)
        displacement = _ZERO
        # A r with A = [wd]x + [w]x [w]x is at most (|wd| + |w|^2) |r|.
        a = (a + (wd + w * w) * position).turned(angle)
        w, wd = w.turned(angle), wd.turned(angle)
        if body.is_prismatic:
            stroke = abs(body.multiplier) * abs(q[body.coordinate]) + abs(body.offset)
            displacement = Bounded(stroke)
            a = a + (wd + w * w) * displacement + Bounded(2.0) * w * rate + acceleration
        else:
            wd = wd + w * rate + acceleration
            w = w + rate
        states[index] = w, wd, a
        mass, first, tensor = _bound_inertia(regrouped, plain, index)
        wrench = _ZERO, _ZERO
        if tip is not None and tip.body == index:
            arm = math.hypot(*plain.frame_pose(tip).translation.tolist())
            more = _bound_payload(loads, arm)
            mass, first, tensor = mass + more[0], first + more[1], tensor + more[2]
            wrench = Bounded(loads.force), Bounded(loads.moment + arm * loads.force)
        # f = m a + A h,  n = I wd + w x I w + h x a.
        force = mass * a + (wd + w * w) * first + wrench[0]
        moment = tensor * (wd + w * w) + first * a + wrench[1]
        found.append(_BodyBound(angle, position, displacement, force, moment))
    return found


def _bound_inertia(
    regrouped: Mechanism, plain: Mechanism, index: int
) -> tuple[Bounded, Bounded, Bounded]:
    """Return mass, first moment and inertia tensor of a body, rounded as it is carried."""
    own, carried = plain.bodies[index].inertia, regrouped.bodies[index].inertia
    mass = Bounded(abs(own.mass), _ROUNDING * abs(carried.mass))
    first = _bound_first_moment(own, index, regrouped.changes, plain.changes)
    first += Bounded(0.0, _ROUNDING * math.hypot(*carried.first_moment))
    tensor = _bound_inertia_tensor(own, index, regrouped.changes, plain.changes)
    tensor += Bounded(0.0, _ROUNDING * _tensor_size(carried.second_moments))
    return mass, first, tensor


def _hand_inward(plain: Mechanism, found: list[_BodyBound]) -> list[float]:
    """Return the errors of the efforts, each body's force and moment handed to its parent."""
    efforts = [0.0] * plain.n
    for body, bound in zip(reversed(plain.bodies), reversed(found), strict=True):
        effort = bound.force if body.is_prismatic else bound.moment
        efforts[body.coordinate] += abs(body.multiplier) * effort.error
        if body.parent != BASE:
            moment = bound.moment + bound.displacement * bound.force
            force, moment = bound.force.turned(bound.angle), moment.turned(bound.angle)
            parent = found[body.parent]
            parent.force = parent.force + force
            parent.moment = parent.moment + moment + bound.position * force
    return efforts


def pose_bound(mechanism: Mechanism, links: Sequence[Link], q: Sequence[float]) -> PoseBound:
    """Return the most by which the exact treatment of small numbers moves and turns links.

    Parameters
    ----------
    mechanism : Mechanism
    links : sequence of Link
    q : sequence of n float
        Largest magnitudes of position (of interest for prismatic joints).

    Returns
    -------
    PoseBound
        Of the link that changes most; zero when nothing was changed.
    """
    poses: dict[int, tuple[Bounded, float]] = {BASE: (_ZERO, 0.0)}
    for index, body in enumerate(mechanism.bodies):
        origin, angle = poses[body.parent]
        origin = origin + _bound_position(body, index, mechanism.changes).turned(angle)
        angle += _bound_angle(mechanism, index)
        if body.is_prismatic:
            stroke = abs(body.multiplier) * abs(q[body.coordinate]) + abs(body.offset)
            origin = origin + Bounded(stroke).turned(angle)
        poses[index] = origin, angle
    translations = [0.0]
    for link in links:
        origin, angle = poses[link.body]
        arm = Bounded(math.hypot(*mechanism.frame_pose(link).translation.tolist()))
        translations.append((origin + arm.turned(angle)).error)
    return PoseBound(max(translations), max([0.0, *(poses[link.body][1] for link in links)]))


def jacobian_bound(mechanism: Mechanism, link: Link, q: Sequence[float]) -> float:
    """Return the most by which the exact treatment of small numbers changes a Jacobian's entry.

    Parameters
    ----------
    mechanism : Mechanism
    link : Link
    q : sequence of n float
        Largest magnitudes of position (of interest for prismatic joints).

    Returns
    -------
    float
        Of the link's Jacobian in its own axes and in those of the base [m, rad or 1].
    """
    path = []
    index = link.body
    while index != BASE:
        path.append(index)
        index = mechanism.bodies[index].parent
    turned = sum(_bound_angle(mechanism, index) for index in path)
    arm = Bounded(math.hypot(*mechanism.frame_pose(link).translation.tolist()))
    columns = [0.0] * mechanism.n
    for index in path:
        body = mechanism.bodies[index]
        # z x arm in the axes of the body, or z; then in others.
        entry = Bounded(1.0) if body.is_prismatic else arm
        change = max(entry.turned(turned).error, 0.0 if body.is_prismatic else turned)
        columns[body.coordinate] += abs(body.multiplier) * change
        if body.is_prismatic:
            arm = arm + Bounded(abs(body.multiplier) * abs(q[body.coordinate]) + abs(body.offset))
        # Into the axes of the parent.
        arm = arm.turned(_bound_angle(mechanism, index))
        arm = arm + _bound_position(body, index, mechanism.changes)
    return max(columns)


class PoseBound(NamedTuple):
    """By how much a frame is moved [m] and turned [rad], at most."""

    translation: float
    rotation: float


def _bound_base_state(
    mechanism: Mechanism, gravity: Sequence[float], loads: LoadSizes
) -> tuple[Bounded, Bounded, Bounded]:
    """Return rate, angular acceleration and acceleration of the chosen base frame."""
    rate, turning = loads.base_rate, loads.base_angular_acceleration
    arm = math.hypot(*mechanism.base_pose.translation.tolist())
    acceleration = math.hypot(*gravity) + loads.base_acceleration
    acceleration += (turning + rate * rate) * arm
    return Bounded(rate), Bounded(turning), Bounded(acceleration)


def _bound_payload(loads: LoadSizes, arm: float) -> tuple[Bounded, Bounded, Bounded]:
    """Return mass, first moment and inertia of a payload about a point this far from the tip."""
    mass, first = loads.payload_mass, loads.payload_first_moment
    # Of point masses at r + d: m d^2 and twice d r more, at most.
    inertia = loads.payload_inertia + 2.0 * first * arm + mass * arm * arm
    return Bounded(mass), Bounded(first + mass * arm), Bounded(inertia)


_Changes = Mapping[tuple[int, str, int], float]


def _bound_angle(mechanism: Mechanism, index: int) -> float:
    """Return by how much the changes turned a body against its parent, at most [rad]."""
    fields = ('turn', 'twist', 'spin')
    changed = sum(mechanism.changes.get((index, field, 0), 0.0) for field in fields)
    return changed + _ROUNDING if changed > 0.0 else 0.0


def _bound_position(body: MechanismBody, index: int, changes: _Changes) -> Bounded:
    changed = [changes.get((index, 'position', k), 0.0) for k in range(3)]
    error = math.hypot(*changed)
    return Bounded(math.hypot(*body.position) + error, error)


def _bound_first_moment(
    inertia: RigidInertia, index: int, changes: _Changes, own_changes: _Changes
) -> Bounded:
    """Return the first moment of a body; `own_changes` are already in its inertia."""
    own = math.hypot(*(own_changes.get((index, 'first', k), 0.0) for k in range(3)))
    error = math.hypot(*(changes.get((index, 'first', k), 0.0) for k in range(3)))
    return Bounded(math.hypot(*inertia.first_moment) + own, error)


def _bound_inertia_tensor(
    inertia: RigidInertia, index: int, changes: _Changes, own_changes: _Changes
) -> Bounded:
    """Return the largest principal moment of a body; `own_changes` are already in its inertia."""

    def size(changed: _Changes) -> float:
        return _tensor_size([changed.get((index, 'second', k), 0.0) for k in range(6)])

    pseudo = inertia.pseudo_inertia
    tensor = np.trace(pseudo) * np.eye(3) - pseudo
    return Bounded(float(np.linalg.norm(tensor, 2)) + size(own_changes), size(changes))


def _tensor_size(moments: Sequence[float]) -> float:
    """Return what no principal moment of inertia exceeds, from second moments of any sign."""
    # I = trace(J) 1 - J, and no principal moment of J exceeds the root of the sum of squares.
    squares = [
        value * value * (1.0 if row == column else 2.0)
        for value, (row, column) in zip(moments, MOMENT_ENTRIES, strict=True)
    ]
    return sum(abs(value) for value in moments[:3]) + math.sqrt(sum(squares))
