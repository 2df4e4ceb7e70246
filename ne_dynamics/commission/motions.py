"""Motions of a commissioning run: from rest to rest, within what a model allows. Needs no ROS."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ne_dynamics.commission.thresholds import PLANNED
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.excitation.basis import Series
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.motion import Motion, Waypoints

TREMBLES = ((5, 0.2), (11, 0.15))
"""Frequencies of the tremble in a sweep [Hz], and parts of the sweep's largest velocity that they
have: the joint does not turn round."""


FITTED_SHARES = (PLANNED.effort_share, 0.85)
"""Likewise of a model that was fitted, friction included. The second one counts where no motion is
within the first: gravity and friction at rest, both known by then, may take all of that."""


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Points of a motion, from rest to rest.

    Attributes
    ----------
    times : array, shape (m,)
        From its begin, which is 0 [s].
    positions, velocities, accelerations : array, shape (m, n)
        [rad or m] and their time derivatives.
    """

    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    @cached_property
    def between(self) -> Motion:
        """What the node makes of the points: at rest before the first and after the last."""
        states = self.positions, self.velocities, self.accelerations
        orders = (2,) * self.times.size
        none = np.zeros(0, dtype=np.intp)
        return Motion.between(Waypoints(tuple(self.times.tolist()), *states, orders, none))


def plan_way(robot: Robot, start: FloatArray, end: FloatArray) -> PlannedMotion:
    """Return the quintic polynomial from rest to rest, between positions of shape (n,) [rad or m].

    It reaches three tenths of the velocity limits at most.
    """
    fastest = 0.3 * velocity_limits(robot)
    duration = max(1.0, float((1.875 * np.abs(end - start) / fastest).max()))
    rows = np.array([start, end])
    still = np.zeros_like(rows)
    return PlannedMotion(np.array([0.0, duration]), rows, still, still)


def plan_approach(
    robot: Robot, position: FloatArray, motion: PlannedMotion
) -> PlannedMotion | None:
    """Return the way from a position [rad or m] to where a motion begins; None if it is near."""
    begin = motion.positions[0]
    is_near = np.abs(position - begin).max() <= PLANNED.close_way
    return None if is_near else plan_way(robot, position, begin)


def plan_probe(
    robot: Robot,
    start: FloatArray,
    *,
    trembles: bool,
    amplitude: FloatArray | float = 0.2,
    points: int = 50,
) -> PlannedMotion:
    """Return a motion that moves one joint after the other: to one side, the other, and back.

    If it trembles, it does so at :data:`TREMBLES` on the way from side to side, without turning
    round: what the command does to it then tells the delay, whatever the friction. The amplitude,
    for all or of shape (n,), is to either side of the start, shape (n,) [rad or m], as far as the
    joints can go [rad]; a fifth of it for those that slide [m]. There are so many points a second.
    """
    fastest = 0.35 * velocity_limits(robot)
    room = np.minimum(amplitude * lengths(robot), room_around(robot, start))
    stamps, tables = [], []
    now = 0.0
    for joint, side in enumerate(room.tolist()):
        for leg, (begin, end) in enumerate(((0.0, side), (side, -side), (-side, 0.0))):
            way, is_sweep = end - begin, leg == 1
            shortest = 1.8 if is_sweep and trembles else 0.7
            duration = max(shortest, 1.875 * abs(way) / fastest[joint])
            times = np.linspace(0.0, duration, max(2, round(points * duration)) + 1)
            sweep = np.array(Motion.rest_to_rest([begin], [end], duration).sample_many(times))
            if is_sweep and trembles:
                sweep[..., 0] += _tremble(times, duration, 1.875 * abs(way) / duration)
            table = np.zeros((3, times.size, robot.n))
            table[:, :, joint] = sweep[..., 0]
            stamps.append(now + times)
            tables.append(table)
            now += duration
    together = np.concatenate(stamps)
    kept = np.concatenate([[True], np.diff(together) > 1e-9])
    positions, velocities, accelerations = np.concatenate(tables, axis=1)[:, kept]
    return PlannedMotion(together[kept], start + positions, velocities, accelerations)


def plan_tremble(dynamics: Dynamics, start: FloatArray, reach: float) -> PlannedMotion:
    """Return a trembling probe whose sweeps are as long as the efforts of a model allow.

    These stay within `effort_share` of the limits, unless sweeps of `smallest_sweep` take more.
    Where those take more than `largest_share`, sweeps are as small as it takes, if `least_sweep`
    is enough. From the start, shape (n,) [rad or m], they reach to either side at most [rad]; a
    fifth of it for joints that slide [m].
    """
    full = np.full(dynamics.n, reach)
    usual, amplitude, share = _shorten_sweeps(
        dynamics, start, full, PLANNED.effort_share, PLANNED.smallest_sweep
    )
    if share > PLANNED.largest_share:
        short, _, share = _shorten_sweeps(
            dynamics, start, amplitude, PLANNED.largest_share, PLANNED.least_sweep
        )
        return short if share <= PLANNED.largest_share else usual
    return usual


def _shorten_sweeps(
    dynamics: Dynamics, start: FloatArray, amplitude: FloatArray, allowed: float, least: float
) -> tuple[PlannedMotion, FloatArray, float]:
    """Return a trembling probe with sweeps that take an allowed share, if they can be so short.

    With how far its joints sweep, and what share of the limits it takes.
    """
    robot, limits = dynamics.robot, effort_limits(dynamics.robot)
    while True:
        # Also between the points: where a tremble turns round there friction changes its sign.
        motion = plan_probe(robot, start, trembles=True, amplitude=amplitude, points=400)
        effort = dynamics.inverse_dynamics(
            motion.positions, motion.velocities, motion.accelerations
        )
        share = (np.abs(effort) / limits).max(axis=1)
        moved = np.abs(motion.positions - start) > 0.0
        largest = np.array([share[rows].max(initial=0.0) for rows in moved.T])
        too_far = (largest > allowed) & (amplitude > least)
        if not too_far.any():
            probe = plan_probe(robot, start, trembles=True, amplitude=amplitude)
            return probe, amplitude, float(share.max())
        amplitude = np.where(too_far, np.maximum(0.8 * amplitude, least), amplitude)


def _tremble(times: FloatArray, duration: float, speed: float) -> FloatArray:
    """Return sines that swell and die away, in a sweep of a largest velocity [rad/s or m/s]."""
    highest, _ = TREMBLES[-1]
    series = Series(duration, 1.0, highest, 0.15 * duration)
    sizes = np.zeros(series.size)
    for frequency, part in TREMBLES:
        sizes[2 * frequency - 1] = part * speed / (2.0 * np.pi * frequency)
    return np.asarray(series.evaluate(times) @ sizes)


def plan_sines(
    dynamics: Dynamics,
    start: FloatArray,
    duration: float,
    seed: int,
    *,
    reach: float = 0.7,
    shares: Sequence[float] = (PLANNED.effort_share,),
) -> PlannedMotion:
    """Return sums of sines of all joints about a pose, within the limits of the model.

    Each is of five harmonics of a period of 10 s, or of the duration if that is shorter, and takes
    half of its velocity limit at most.

    Parameters
    ----------
    dynamics : Dynamics
        Its efforts stay within a share of the limits.
    start : array, shape (n,)
        [rad or m]
    duration : float
        More than three seconds [s].
    seed : int
    reach : float
        To either side [rad]; a fifth of it for joints that slide [m].
    shares : sequence of float
        Of the effort limits; the first counts with which there is a motion.

    Raises
    ------
    InputError
        When no motion from there is within the limits; names the joint.
    """
    robot = dynamics.robot
    rng, harmonics = np.random.default_rng(seed), 5
    weights = rng.uniform(0.3, 1.0, (harmonics, robot.n)) * rng.choice((-1.0, 1.0), robot.n)
    weights /= np.arange(1, harmonics + 1)[:, np.newaxis] ** 0.7
    phases = rng.uniform(0.0, 2.0 * np.pi, (harmonics, robot.n))
    ramp = min(1.5, duration / 3.0)
    series = Series(duration, 1.0 / min(10.0, duration), harmonics, ramp)
    waves = np.zeros((series.size, robot.n))
    waves[1::2], waves[2::2] = weights * np.cos(phases), weights * np.sin(phases)
    room = np.minimum(reach * lengths(robot), room_around(robot, start))
    for share in shares[:-1]:
        with contextlib.suppress(InputError):
            return _within_limits(dynamics, start, series, waves, room, share)
    return _within_limits(dynamics, start, series, waves, room, shares[-1])


def _within_limits(
    dynamics: Dynamics,
    start: FloatArray,
    series: Series,
    waves: FloatArray,
    room: FloatArray,
    effort_share: float,
) -> PlannedMotion:
    """Scale waves joint by joint to room and speed, and all of them to the efforts."""
    robot, duration = dynamics.robot, series.duration
    dense = series.evaluate(np.linspace(0.0, duration, max(200, round(100 * duration)))) @ waves
    largest = [np.abs(rows).max(axis=0) for rows in dense]
    amplitude = np.minimum(room / largest[0], 0.5 * velocity_limits(robot) / largest[1])
    limits, scale = effort_limits(robot), 1.0
    while True:
        factors = scale * amplitude
        effort = dynamics.inverse_dynamics(
            start + factors * dense[0], factors * dense[1], factors * dense[2]
        )
        share = np.abs(effort).max(axis=0) / limits
        if share.max() <= effort_share:
            break
        scale *= 0.8
        if scale < 0.1:
            worst = int(share.argmax())
            raise InputError(
                f'{robot.joint_names[worst]}: no motion from this pose takes less than '
                f'{effort_share:.0%} of its effort limit by the model ({share[worst]:.0%}): bring '
                'the arm to a pose that takes less to hold'
            )
    times = np.linspace(0.0, duration, max(2, round(PLANNED.points_per_second * duration)) + 1)
    positions, velocities, accelerations = factors * (series.evaluate(times) @ waves)
    for rows in (velocities, accelerations):
        rows[[0, -1]] = 0.0
    return PlannedMotion(times, start + positions, velocities, accelerations)


def lengths(robot: Robot) -> FloatArray:
    """Return 1 for joints that turn [rad] and 0.2 for those that slide [m], shape (n,)."""
    return np.array([length_of(joint) for joint in robot.joints])


def length_of(joint: Joint) -> float:
    """Return 1 for a joint that turns [rad] and 0.2 for one that slides [m]."""
    return 0.2 if joint.type.is_prismatic else 1.0


def effort_limits(robot: Robot) -> FloatArray:
    """Return the effort limits, infinite where there is none, shape (n,) [N m or N]."""
    limits = robot.limits('effort_limit')
    return np.where(limits > 0.0, limits, np.inf)


def velocity_limits(robot: Robot) -> FloatArray:
    """Return the velocity limits, with a usual one where there is none, shape (n,)."""
    limits = robot.limits('velocity_limit')
    usable = np.isfinite(limits) & (limits > 0.0)
    return np.where(usable, limits, PLANNED.usual_velocity)


def room_around(robot: Robot, position: FloatArray) -> FloatArray:
    """Return how far each joint can go to both sides of a position, shape (n,) [rad or m]."""
    lower, upper = robot.limits('lower'), robot.limits('upper')
    kept = np.minimum(PLANNED.kept_off_share * (upper - lower), 0.1)
    kept = np.where(np.isfinite(kept), kept, 0.0)
    room = np.minimum(position - lower - kept, upper - kept - position)
    return np.where(np.isfinite(room), np.maximum(room, 0.0), np.pi)
