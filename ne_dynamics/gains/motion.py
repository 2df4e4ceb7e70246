"""The motion that errors are predicted for: sampled, with the efforts that its joints need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains.plants import Plants, pose_range
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.gains.thresholds import GAINS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion import Motion, Waypoints, resting_state

TEST_MOTION = 'test motion'


PEAK_VELOCITY = 1.875
"""Of the quintic from rest to rest, by way and time."""


@dataclass(frozen=True, eq=False)
class MotionSamples:
    """A motion at the rate of the states.

    Attributes
    ----------
    name : str
    times : array, shape (N,)
        [s]
    position, velocity, acceleration : array, shape (N, n)
    """

    name: str
    times: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

    @property
    def duration(self) -> float:
        """Of the motion [s]."""
        return float(self.times[-1])


def sample_waypoints(
    waypoints: Waypoints, start: FloatArray, period: float, name: str
) -> MotionSamples:
    """Return a motion through waypoints, from rest at their first position or at `start`.

    An InputError where its samples are too many, a TrajectoryError where it cannot be followed.
    """
    trajectory = Motion.through(waypoints, now=0.0, start_state=resting_state(start))
    count = round((trajectory.end_time + GAINS.rest_time) / period) + 1
    if count > GAINS.most_samples:
        raise InputError(
            f'trajectory: expected at most {GAINS.most_samples} periods of {1e3 * period:.3g} ms, '
            f'got {count}'
        )
    times: FloatArray = period * np.arange(count, dtype=np.float64)
    return MotionSamples(name, times, *trajectory.sample_many(times))


def there_and_back(
    start: FloatArray, way: FloatArray, duration: float, period: float
) -> MotionSamples:
    """Return two quintic polynomials from rest to rest, and a rest, in steps of a period [s].

    The way is from the start, shape (n,) [rad or m]; the duration is that of one way [s].
    """
    count = round((2.0 * duration + GAINS.rest_time) / period) + 1
    times: FloatArray = period * np.arange(count, dtype=np.float64)
    there = Motion.rest_to_rest(start, start + way, duration)
    motion = there.joined(Motion.rest_to_rest(start + way, start, duration, now=duration))
    return MotionSamples(TEST_MOTION, times, *motion.sample_many(times))


def make_test_motion(dynamics: Dynamics, plants: Plants, request: GainRequest) -> MotionSamples:
    """Return a motion of all joints there and back that the motors can follow.

    From the pose with the most effort left, toward the middle of each joint's range, as fast as
    half of the velocity limits and 0.7 of the effort limits allow.
    """
    joints = dynamics.robot.joints
    limits = request.limits(joints)
    load = np.abs(plants.gravity) / limits
    start = plants.poses[int(load.max(axis=1).argmin())]
    way = np.array([_way(joint, place) for joint, place in zip(joints, start, strict=True)])
    speeds = np.array(
        [
            joint.velocity_limit if 0.0 < joint.velocity_limit < np.inf else GAINS.usual_velocity
            for joint in joints
        ]
    )
    duration = max(
        GAINS.shortest_way,
        float((PEAK_VELOCITY * np.abs(way) / (GAINS.velocity_share * speeds)).max()),
    )
    while duration < GAINS.longest_way:
        motion = there_and_back(start, way, duration, request.period)
        efforts = np.abs(
            dynamics.inverse_dynamics(motion.position, motion.velocity, motion.acceleration)
        )
        if (efforts <= GAINS.effort_share * limits).all():
            break
        duration *= GAINS.slowdown
    return there_and_back(start, way, duration, request.period)


def _way(joint: Joint, place: float) -> float:
    lower, upper = pose_range(joint)
    size = min(
        GAINS.sliding_way if joint.type.is_prismatic else GAINS.turning_way,
        GAINS.range_share * (upper - lower),
    )
    return size if place < 0.5 * (lower + upper) else -size
