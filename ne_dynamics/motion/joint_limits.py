"""Limits of joints: those of the user, else those of the model, else what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, JointType, Robot
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState


def usual_velocities(joints: Sequence[Joint]) -> FloatArray:
    """Return the velocity limits that other limits are derived from, shape (n,).

    Those of the model; without one 3 rad/s or 1 m/s.
    """
    return np.array(
        [
            joint.velocity_limit
            if 0.0 < joint.velocity_limit < inf
            else (1.0 if joint.type is JointType.PRISMATIC else 3.0)
            for joint in joints
        ]
    )


def position_limits(joints: Sequence[Joint]) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper position limits, shape (n,) each; infinite for continuous joints."""
    turning = np.array([joint.type is JointType.CONTINUOUS for joint in joints])
    lower = np.array([joint.lower for joint in joints])
    upper = np.array([joint.upper for joint in joints])
    return np.where(turning, -np.inf, lower), np.where(turning, np.inf, upper)


def sample_positions(robot: Robot, count: int) -> FloatArray:
    """Return poses at random within the position limits, or a turn, the same ones in each call.

    Of shape (count, n) [rad or m].
    """
    lower = np.maximum(robot.limits('lower'), -np.pi)
    upper = np.minimum(robot.limits('upper'), np.pi)
    return np.random.default_rng(0).uniform(lower, np.maximum(lower, upper), (count, robot.n))


def per_joint(value: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one number a joint from one for all or one each, shape (n,).

    Raises
    ------
    ParameterError
        When there are neither 1 nor n of them, or one is NaN or negative.
    """
    try:
        numbers = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ParameterError(f'{name}: expected numbers, got {value!r}') from error
    if numbers.shape not in ((1,), (n,)):
        raise ParameterError(
            f'{name}: expected 1 or {n} values (one for all, or one per joint), got {numbers.size}'
        )
    if np.isnan(numbers).any() or (numbers < 0.0).any():
        raise ParameterError(f'{name}: expected numbers >= 0, got {numbers.tolist()}')
    return np.array(np.broadcast_to(numbers, (n,)))


def effort_limits(joints: Sequence[Joint], override: ArrayLike = ()) -> FloatArray:
    """Return the effort limits that hold: those of the user, else those of the model.

    Parameters
    ----------
    joints : sequence of Joint
    override : array-like, shape (0,), (1,) or (n,)
        The parameter `effort_limits` in the order of `joints` [N m or N]; empty: the model's.

    Returns
    -------
    array, shape (n,)
        Infinite where there is none.

    Raises
    ------
    ParameterError
        When the override has a wrong length or a value that is not positive; when there is no
        override and the model limits a joint to zero: descriptions written so mean "not
        filled in", and clamping to it would drop the arm.
    """
    if np.size(override):
        limits = per_joint(override, len(joints), 'effort_limits')
        if (limits == 0.0).any():
            raise ParameterError(f'effort_limits: expected numbers > 0, got {limits.tolist()}')
        return limits
    limits = np.array([joint.effort_limit for joint in joints], dtype=np.float64)
    without = [
        f'{joint.name!r} ({joint.effort_limit:g})' for joint in joints if joint.effort_limit <= 0.0
    ]
    if without:
        raise ParameterError(
            f'effort_limits: the model limits the effort of {", ".join(without)}: nothing could '
            'be commanded; set the parameter effort_limits, or correct the model'
        )
    return limits


def limit_remarks(joints: Sequence[Joint], limits: FloatArray) -> list[str]:
    """Return which finite limits, (n,) [N m or N], are more than twice the model's, in words."""
    above = [
        f'{joint.name} {limit:g} (model: {joint.effort_limit:g})'
        for joint, limit in zip(joints, limits.tolist(), strict=True)
        if isfinite(limit) and 0.0 < 2.0 * joint.effort_limit < limit
    ]
    if not above:
        return []
    return [
        f'effort_limits: far above what the model allows: {", ".join(above)} N m or N: commands '
        'may be more than the motors can do'
    ]


class LimitTolerances(NamedTuple):
    """Tolerances by which a motion may exceed its limits.

    Attributes
    ----------
    position : float
        [rad or m]
    velocity, acceleration, effort : float
        As parts of the limits. With points 0.1 s apart, the splines of a planner that keeps the
        limits exceed velocities by 0.06 at 10 rad/s^2, and accelerations by 0.34 at steps of the
        acceleration. They do not exceed efforts.
    """

    position: float = MOTION.position_tolerance
    velocity: float = 0.1
    acceleration: float = 0.4
    effort: float = 0.01


USUAL = LimitTolerances()


@dataclass(frozen=True, eq=False)
class DemandLimits:
    """Limits of a motion and of its stop, by joint; infinite for no limit.

    Attributes
    ----------
    joints : tuple of n Joint
    lower, upper : array, shape (n,)
        Positions [rad or m].
    velocity, acceleration, deceleration : array, shape (n,)
        Magnitudes [rad/s or m/s], [rad/s^2 or m/s^2].
    effort : array, shape (n,)
        [N m or N]
    usual : array, shape (n,)
        Usual velocities [rad/s or m/s].
    stop_deceleration : array, shape (n,)
        Of a stop [rad/s^2 or m/s^2]; where infinite, `usual_stop_time` says what is usual.
    """

    joints: tuple[Joint, ...]
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    deceleration: FloatArray
    effort: FloatArray
    usual: FloatArray
    stop_deceleration: FloatArray

    @classmethod
    def of(
        cls, joints: Sequence[Joint], effort: FloatArray, stopping: FloatArray | None = None
    ) -> DemandLimits:
        """Return the limits of a robot's joints, with the motors' effort limits; 0 is no limit.

        `stopping` are the decelerations of stops; without them the joints' own.
        """
        velocity, acceleration, deceleration = (
            np.array([getattr(joint, name) or np.inf for joint in joints])
            for name in ('velocity_limit', 'acceleration_limit', 'deceleration_limit')
        )
        return cls(
            tuple(joints),
            *position_limits(joints),
            velocity,
            acceleration,
            deceleration,
            effort,
            usual_velocities(joints),
            deceleration if stopping is None else stopping,
        )

    def decelerations_from(self, speed: FloatArray) -> FloatArray:
        """Return the decelerations for a stop from a speed, shape (n,), all finite."""
        usual = np.maximum(self.usual, np.abs(speed)) / MOTION.usual_stop_time
        return np.where(np.isinf(self.stop_deceleration), usual, self.stop_deceleration)

    def widened_to(self, state: DesiredState, effort: FloatArray) -> DemandLimits:
        """Return the limits for a motion that begins in a state that may violate them.

        `effort` is that in this state, shape (n,) [N m or N].
        """
        position, velocity, acceleration = state
        return replace(
            self,
            lower=np.minimum(self.lower, position),
            upper=np.maximum(self.upper, position),
            velocity=np.maximum(self.velocity, np.abs(velocity)),
            acceleration=np.maximum(self.acceleration, np.abs(acceleration)),
            deceleration=np.maximum(self.deceleration, np.abs(acceleration)),
            effort=np.maximum(self.effort, np.abs(effort)),
        )
