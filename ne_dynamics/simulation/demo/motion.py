"""A motion that moves all joints of any arm at once, from rest to rest within its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import DesiredState, Motion, TrajectoryPoint, Waypoints

InverseDynamics = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Efforts (N, n) of positions, velocities, accelerations (N, n)."""

SHARE_OF_EFFORT = 0.8
"""Part of the effort limits that a motion uses."""

LONGEST_STRETCH = 4.0
"""A motion beyond them is made longer by no more than this in all."""

LARGEST_AMPLITUDE = {'turning': 0.7, 'sliding': 0.15}
"""Excursion to either side of the start [rad, m]."""


@dataclass(frozen=True, eq=False)
class WaypointMotion:
    """Waypoints of a robot's joints, joined by quintic polynomials; starts and ends at rest.

    Attributes
    ----------
    robot : Robot
        Its joints give names and order.
    times : array, shape (m,)
        From the start, which is 0 [s].
    positions, velocities, accelerations : array, shape (m, n)
        [rad or m] and their time derivatives.
    """

    robot: Robot
    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray

    @property
    def duration(self) -> float:
        """Time of the last waypoint [s]."""
        return float(self.times[-1])

    def waypoints(self) -> Waypoints:
        """Return what a controller follows."""
        rows = zip(
            self.times.tolist(), self.positions, self.velocities, self.accelerations, strict=True
        )
        points = [TrajectoryPoint(*row) for row in rows]
        return Waypoints.from_points(self.robot.joints, self.robot.joint_names, points)

    def sample(self, times: ArrayLike) -> DesiredState:
        """Return the desired states, shape (N, n) each, at times from the start, (N,) [s]."""
        return Motion.between(self.waypoints()).sample_many(times)


def rest_to_rest(
    robot: Robot, start: ArrayLike, end: ArrayLike, duration: float
) -> WaypointMotion:
    """Return the single quintic polynomial from rest to rest between positions (n,) [rad or m]."""
    positions = np.array([start, end], dtype=np.float64)
    return WaypointMotion(
        robot,
        np.array([0.0, duration]),
        positions,
        np.zeros_like(positions),
        np.zeros_like(positions),
    )


def excitation(robot: Robot, duration: float, inverse_dynamics: InverseDynamics) -> WaypointMotion:
    """Return a motion that excites all joints of an arm within its limits.

    Joint i follows ``start + A sin(pi s)^2 sin(2 pi k s)``, s = t / duration, k = 1 or 2 in
    turn, sampled at four waypoints a second. The amplitude A is 0.3 of the position range and
    takes 0.6 of the velocity limits at most. If inverse dynamics asks for more than 0.8 of the
    effort limits, the motion is stretched in time, at most fourfold, and then begun from another
    posture.

    Parameters
    ----------
    robot : Robot
    duration : float
        Wanted duration [s]; the motion may take longer.
    inverse_dynamics : callable
        Efforts that a motion takes, with whatever load will be carried.

    Raises
    ------
    InputError
        When `duration` is not greater than 0, or no posture was found in which the arm can
        carry itself; the message names the joint that lacks effort.
    """
    if not (np.isfinite(duration) and duration > 0.0):
        raise InputError(f'duration [s]: expected a finite number > 0, got {duration}')
    limits = robot.limits('effort_limit')
    limits[limits <= 0.0] = np.inf
    worst = ''
    for start in _starts(robot):
        stretched = duration
        while stretched <= LONGEST_STRETCH * duration:
            motion = _wave(robot, start, stretched)
            samples = motion.sample(np.linspace(0.0, stretched, 400))
            share = np.abs(inverse_dynamics(*samples)).max(axis=0) / limits
            if share.max() <= SHARE_OF_EFFORT:
                return motion
            index = int(share.argmax())
            worst = worst or (
                f'joint {robot.joint_names[index]!r} needs {share[index] * limits[index]:.3g} of '
                f'its effort limit {limits[index]:.3g}'
            )
            stretched *= 1.25
    raise InputError(
        f'found no posture from which {robot.name!r} can move within '
        f'{SHARE_OF_EFFORT:.0%} of its effort limits: {worst}; expected an arm that can '
        'carry itself and the load (a smaller load may do)'
    )


def _starts(robot: Robot) -> Iterator[FloatArray]:
    """Yield start postures: a bent one near zero, then random ones, well inside the limits."""
    lower, upper = robot.limits('lower'), robot.limits('upper')
    bounded = np.isfinite(lower) & np.isfinite(upper)
    lower = np.where(bounded, lower, np.maximum(lower, -np.pi))
    upper = np.where(bounded, upper, np.minimum(upper, np.pi))
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    amplitude = _amplitudes(robot)
    inner_lower = np.minimum(lower + 1.2 * amplitude, 0.5 * (lower + upper))
    inner_upper = np.maximum(upper - 1.2 * amplitude, 0.5 * (lower + upper))
    bend = np.resize([0.3, -0.6, 0.9, 0.4, 0.7, -0.5], robot.n)
    yield np.clip(np.minimum(amplitude, np.abs(bend)) * np.sign(bend), inner_lower, inner_upper)
    rng = np.random.default_rng(0)
    for _ in range(40):
        yield rng.uniform(inner_lower, inner_upper)


def _amplitudes(robot: Robot) -> FloatArray:
    """Return the largest excursions that the ranges allow, shape (n,)."""
    largest = np.array(
        [
            LARGEST_AMPLITUDE['sliding' if joint.type.is_prismatic else 'turning']
            for joint in robot.joints
        ]
    )
    ranges = robot.limits('upper') - robot.limits('lower')
    amplitudes: FloatArray = np.minimum(largest, 0.3 * ranges)
    return amplitudes


def _wave(robot: Robot, start: FloatArray, duration: float) -> WaypointMotion:
    knots = max(4, round(4 * duration)) + 1
    times = np.linspace(0.0, duration, knots)
    cycles = np.resize([1.0, 2.0], robot.n)
    rate = 2.0 * np.pi / duration
    # sin(x/2)^2 sin(kx) = sin(kx)/2 - (sin((k+1)x) + sin((k-1)x))/4, x = rate * t.
    phase = rate * times[:, np.newaxis]
    position = np.zeros((knots, robot.n))
    velocity, acceleration = np.zeros_like(position), np.zeros_like(position)
    for weight, order in ((0.5, cycles), (-0.25, cycles + 1.0), (-0.25, cycles - 1.0)):
        position += weight * np.sin(order * phase)
        velocity += weight * order * rate * np.cos(order * phase)
        acceleration -= weight * (order * rate) ** 2 * np.sin(order * phase)
    # At both ends the sums vanish exactly, but for rounding.
    for array in (position, velocity, acceleration):
        array[[0, -1]] = 0.0
    fastest = np.abs(velocity).max(axis=0)
    limit = robot.limits('velocity_limit')
    limit = np.where(limit > 0.0, limit, np.inf)
    amplitude = np.minimum(_amplitudes(robot), 0.6 * limit / fastest)
    return WaypointMotion(
        robot, times, start + amplitude * position, amplitude * velocity, amplitude * acceleration
    )
