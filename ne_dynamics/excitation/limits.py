"""What a motion may ask of each joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint

GivenLimits = Mapping[str, float] | Iterable[tuple[str, float]]

FREE_TURN = np.pi
"""How far a joint without position limits may go from its start to either side [rad]."""


@dataclass(frozen=True)
class Shares:
    """Parts of the joint limits that a motion may use.

    Attributes
    ----------
    position : float
        Usable part of the range, about its middle.
    velocity : float
        Usable part of the velocity limit.
    acceleration : float
        Usable part of the acceleration limit.
    effort : float
        Usable part of the effort limit, by the model with friction; the rest is for errors of the
        model and for the controller.
    """

    position: float = 0.95
    velocity: float = 0.7
    acceleration: float = 0.9
    effort: float = 0.7

    def __post_init__(self) -> None:
        for name in ('position', 'velocity', 'acceleration', 'effort'):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise InputError(f'{name} share: expected more than 0 and at most 1, got {value}')


@dataclass(frozen=True, eq=False)
class ExcitationLimits:
    """Joint limits of an excitation motion, reduced by shares and margins.

    Attributes
    ----------
    lower, upper : array, shape (n,)
        Positions [rad or m].
    velocity, acceleration : array, shape (n,)
        [rad/s or m/s], [rad/s^2 or m/s^2]
    effort : array, shape (n,)
        [N m or N]; infinite for no limit.
    full_velocity, full_effort : array, shape (n,)
        The joints' own limits, for the shares in the report.
    moves : bool array, shape (n,)
        Joints that have room to move.
    notes : tuple of str
        Values that replace missing limits, one sentence each.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    full_velocity: FloatArray
    full_effort: FloatArray
    moves: NDArray[np.bool_]
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of_robot(
        cls,
        dynamics: Dynamics,
        start: FloatArray,
        shares: Shares | None = None,
        *,
        velocity_limits: GivenLimits | None = None,
        acceleration_limits: GivenLimits | None = None,
        effort_limits: GivenLimits | None = None,
    ) -> ExcitationLimits:
        """Return the limits of a robot's joints, reduced by shares and margins.

        Parameters
        ----------
        dynamics : Dynamics
        start : array, shape (n,)
            Pose around which a joint without position limits may turn by :data:`FREE_TURN`
            [rad or m].
        shares : Shares, optional
        velocity_limits, acceleration_limits, effort_limits : mapping of str to float, or its items
            Joint name to limit, instead of the model's; '' for all joints.

        Raises
        ------
        InputError
            When a limit is missing and has no default, is not a number above 0, or a name is not
            that of a joint.
        """
        shares = Shares() if shares is None else shares
        joints, notes = dynamics.robot.joints, list[str]()
        given = {
            what: _read_limits(limits or (), dynamics.joint_names, what)
            for what, limits in (
                ('velocity', velocity_limits),
                ('acceleration', acceleration_limits),
                ('effort', effort_limits),
            )
        }
        lower, upper = _find_range(joints, start, shares, notes)
        moves = upper > lower
        notes += [
            f'joint {joint.name!r} has no room to move and stays where it is'
            for joint, free in zip(joints, moves, strict=True)
            if not free
        ]
        velocity, effort = (
            np.array(
                [
                    _find_limit(joint, what, given[what], free)
                    for joint, free in zip(joints, moves, strict=True)
                ]
            )
            for what in ('velocity', 'effort')
        )
        notes += [
            f'joint {joint.name!r} has no effort limit: none is kept'
            for joint, limit in zip(joints, effort, strict=True)
            if np.isinf(limit)
        ]
        acceleration = _find_accelerations(
            dynamics, lower, upper, velocity, effort, given['acceleration'], notes
        )
        return cls(
            lower,
            upper,
            shares.velocity * velocity,
            shares.acceleration * acceleration,
            shares.effort * effort,
            velocity,
            effort,
            moves,
            tuple(notes),
        )


def _read_limits(given: GivenLimits, names: tuple[str, ...], what: str) -> dict[str, float]:
    limits: dict[str, float] = {}
    for name, value in given.items() if isinstance(given, Mapping) else given:
        if name and name not in names:
            raise InputError(
                f'{what}_limits: expected a joint, one of {", ".join(names)}, got {name!r}'
            )
        if not (np.isfinite(value) and value >= EXCITATION.smallest_limit):
            raise InputError(
                f'{what}_limits: joint {name or names[0]!r}: expected a finite number of '
                f'{EXCITATION.smallest_limit:g} or more, got {value}'
            )
        limits |= {name: value} if name else dict.fromkeys(names, value)
    return limits


def _find_range(
    joints: tuple[Joint, ...], start: FloatArray, shares: Shares, notes: list[str]
) -> tuple[FloatArray, FloatArray]:
    lower = np.array([joint.lower for joint in joints])
    upper = np.array([joint.upper for joint in joints])
    for index, joint in enumerate(joints):
        if joint.type.is_prismatic and not np.isfinite([lower[index], upper[index]]).all():
            raise InputError(
                f'joint {joint.name!r}: expected position limits of a prismatic joint, got '
                f'{joint.lower:g} to {joint.upper:g} m'
            )
        if not np.isfinite([lower[index], upper[index]]).all():
            notes.append(
                f'joint {joint.name!r} has no end: it turns by half a turn from its start at most'
            )
    is_free = ~(np.isfinite(lower) & np.isfinite(upper))
    lower = np.where(is_free, np.maximum(lower, start - FREE_TURN), lower)
    upper = np.where(is_free, np.minimum(upper, start + FREE_TURN), upper)
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    # The start is where the arm is: it may be nearer to an end than the motion goes otherwise.
    near = middle - shares.position * half, middle + shares.position * half
    return np.maximum(np.minimum(near[0], start), lower), np.minimum(
        np.maximum(near[1], start), upper
    )


def _find_limit(joint: Joint, what: str, given: Mapping[str, float], moves: bool) -> float:
    limit = float(given.get(joint.name, getattr(joint, f'{what}_limit')))
    if what == 'velocity' and moves and not np.isfinite(limit):
        unit = 'm/s' if joint.type.is_prismatic else 'rad/s'
        raise InputError(
            f'joint {joint.name!r}: velocity limit: expected one, got none in the model; give it '
            f'({joint.name}=VALUE) [{unit}]'
        )
    if moves and not limit > 0.0:
        raise InputError(
            f'joint {joint.name!r}: {what} limit: expected more than 0, got {limit:g} in the '
            f'model; give it ({joint.name}=VALUE)'
        )
    return limit


def _find_accelerations(
    dynamics: Dynamics,
    lower: FloatArray,
    upper: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    given: Mapping[str, float],
    notes: list[str],
) -> FloatArray:
    """Return limits: the given ones, the model's, or what the efforts allow."""
    joints = dynamics.robot.joints
    poses = np.random.default_rng(0).uniform(lower, upper, (EXCITATION.limit_poses, dynamics.n))
    inertia = np.einsum('sii->si', dynamics.mass_matrix(poses)).max(axis=0)
    load = np.abs(dynamics.gravity_torque(poses)).max(axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        left = np.maximum(effort - load, 0.2 * effort)
        allowed = EXCITATION.acceleration_share * left / np.maximum(inertia, 1e-9)
    # From rest to full speed in a tenth of a second is more than an arm is asked for.
    allowed = np.minimum(allowed, 10.0 * np.where(np.isfinite(velocity), velocity, 0.0))
    result = np.empty(dynamics.n)
    derived = []
    for index, joint in enumerate(joints):
        own = min(joint.acceleration_limit, joint.deceleration_limit)
        if joint.name in given:
            result[index] = given[joint.name]
        elif np.isfinite(own) and own > 0.0:
            result[index] = own
        else:
            result[index] = allowed[index]
            derived.append(f'{joint.name} {allowed[index]:.3g}')
    if derived:
        notes.append(f'accelerations are limited by what the efforts allow: {", ".join(derived)}')
    return result
