"""How fast a path may be followed, against TOPPRA, which shares no code with us."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from example_robots import load_arm
from timed_paths import TimedPath

from ne_dynamics import Dynamics
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import sample_segments
from ne_dynamics.motion.thresholds import TIME_SCALING
from ne_dynamics.motion.time_scaling.retiming import retime
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

toppra = pytest.importorskip('toppra', reason='needs toppra')

ROBOTS = ('six_axis_arm', 'UR5', 'Panda, fingers locked')

BETWEEN = toppra.constraint.DiscretizationType.Interpolation


def on_both_sides(limit):
    """Return the bounds of a magnitude of each joint, shape (n, 2)."""
    return np.stack((-limit, limit), axis=1)


def constrain_efforts(n, compute, limit):
    """Return the constraint that efforts of a motion stay within their limits."""
    return toppra.constraint.JointTorqueConstraint(
        compute, on_both_sides(limit), np.zeros(n), discretization_scheme=BETWEEN
    )


def find_duration(path, grid, constraints, speed=0.0):
    """Return how long a path takes at most [s]; None where TOPPRA gives up."""
    problem = toppra.algorithm.TOPPRA(constraints, path, gridpoints=grid, solver_wrapper='seidel')
    _, speeds, _ = problem.compute_parameterization(speed, speed)
    if speeds is None:
        return None
    return float(np.sum(2.0 * np.diff(grid) / (speeds[1:] + speeds[:-1])))


# ---- paths in time


class SampledPath(toppra.interpolator.AbstractGeometricPath):
    """A trajectory as TOPPRA takes a path."""

    def __init__(self, trajectory) -> None:
        super().__init__()
        self._trajectory = trajectory

    def __call__(self, path_positions, order=0):
        """Return positions or derivatives."""
        last = np.nextafter(self._trajectory.end_time, 0.0)
        places = np.atleast_1d(np.asarray(path_positions, dtype=float))
        rows = np.array([self._trajectory.sample(min(place, last))[order] for place in places])
        return rows[0] if np.isscalar(path_positions) else rows

    @property
    def dof(self):
        """Number of joints."""
        return len(self(0.0))

    @property
    def path_interval(self):
        """First and last place."""
        return np.array([self._trajectory.start_time, self._trajectory.end_time])


def duration_as_sent(timed, limits, *, as_sent):
    """Return how long the path takes by TOPPRA, on a grid twice as fine as ours.

    None where it gives up for numerical reasons, as it says.
    """
    path = SampledPath(timed.trajectory)
    both = on_both_sides(limits.velocity)

    def compute_efforts(*motion):
        return timed.efforts.moving(*(np.array(row)[np.newaxis] for row in motion))[0]

    def allowed(place):
        sent = np.abs(path(float(place), 1)) + 1e-9
        return np.clip(both, -sent[:, np.newaxis], sent[:, np.newaxis])

    velocities = (
        toppra.constraint.JointVelocityConstraintVarying(allowed)
        if as_sent
        else toppra.constraint.JointVelocityConstraint(both)
    )
    efforts = constrain_efforts(path.dof, compute_efforts, limits.effort)
    ends = np.append(timed.path.begins, timed.duration)
    grid = np.sort(np.concatenate((ends, 0.5 * (ends[:-1] + ends[1:]))))
    return find_duration(path, grid, [efforts, velocities], speed=1.0 if as_sent else 0.0)


@pytest.mark.kept(1)
@pytest.mark.parametrize('as_sent', [True, False], ids=['as sent at most', 'time-optimal'])
@pytest.mark.parametrize('name', ROBOTS)
def test_a_path_takes_as_long_as_toppra_says(name, as_sent) -> None:
    """Within 2 %, on random paths under random limits of efforts and velocities."""
    rng = np.random.default_rng(20)
    robot = load_arm(name)
    speed = 1.0 if as_sent else 0.0
    compared = 0
    for _ in range(4):
        timed = TimedPath(robot, rng, segments=5)
        limits = timed.limits(rng)
        plan, _, _ = timed.plan(limits, fastest=1.0 if as_sent else 50.0, begin=speed, end=speed)
        found = plan.passed[-1]
        if as_sent:
            assert found > 1.02 * timed.duration
        expected = duration_as_sent(timed, limits, as_sent=as_sent)
        if expected is not None:
            compared += 1
            assert found == pytest.approx(expected, rel=0.02)
    assert compared >= 3


# ---- cubics that turn tightly


PARTS = 150
"""Intervals of TOPPRA's grid in each segment."""

BESIDE = 1e-4
"""Share of a segment, so near to whose ends the grid of TOPPRA has a point on either side."""


def load(name):
    """Return a robot without friction and limits of positions: both are ours alone."""
    robot = load_arm(name)
    joints = tuple(replace(joint, lower=-1e3, upper=1e3) for joint in robot.joints)
    return replace(robot, joints=joints).without_friction()


def random_path(robot, rng, turns):
    """Return cubics from rest to rest whose inner points are passed slowly, or backwards."""
    n = len(robot.joints)
    count = rng.integers(3, 7)
    positions = np.cumsum(rng.uniform(-0.8, 0.8, (count, n)), axis=0)
    times = np.concatenate(([0.0], np.cumsum(rng.uniform(0.15, 0.6, count - 1))))
    velocities = np.zeros((count, n))
    ways, apart = positions[2:] - positions[:-2], times[2:] - times[:-2]
    velocities[1:-1] = ways / apart[:, np.newaxis]
    if turns == 'slowly':
        velocities *= 10.0 ** rng.uniform(-3.0, 0.0, (count, 1))
    else:
        velocities *= -(10.0 ** rng.uniform(-2.0, 0.0, (count, 1)))
    points = [
        TrajectoryPoint(*row) for row in zip(times.tolist(), positions, velocities, strict=True)
    ]
    return Waypoints.from_points(robot.joints, robot.joint_names, points)


def segments_of(waypoints):
    """Return what a controller makes of waypoints."""
    return Motion.between(waypoints.in_nanoseconds()).segments()


class TabulatedPath(toppra.interpolator.AbstractGeometricPath):
    """A path by its length, known at the points of a grid alone."""

    def __init__(self, waypoints) -> None:
        super().__init__()
        segments = segments_of(waypoints)
        # Dense at the ends, where the paths turn; acceleration is taken on its own side there.
        shares = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, PARTS + 1))
        shares[[0, -1]] = BESIDE, 1.0 - BESIDE
        q, way, curve = (self._sample(segments, shares, order) for order in range(3))
        size = np.linalg.norm(way, axis=2, keepdims=True)
        tangent = way / size
        along = (tangent * curve).sum(axis=2, keepdims=True)
        bend = (curve - tangent * along) / size**2
        self._rows = [each.swapaxes(0, 1).reshape(-1, q.shape[2]) for each in (q, tangent, bend)]
        lengths = self._compute_lengths(segments, shares)
        gaps = np.linalg.norm(q[0, 1:] - q[-1, :-1], axis=1)
        steps = np.vstack((lengths, np.append(gaps, 0.0))).T.ravel()[:-1]
        self.grid = np.concatenate(([0.0], np.cumsum(steps)))

    @staticmethod
    def _sample(segments, shares, order):
        """Return a derivative at shares of every segment, shape (m, s, n)."""
        rows = segments.scaled
        for _ in range(order):
            rows = rows[1:] * np.arange(1.0, len(rows))[:, np.newaxis, np.newaxis]
        powers = shares[:, np.newaxis] ** np.arange(len(rows))
        return np.tensordot(powers, rows, axes=1) / segments.durations[:, np.newaxis] ** order

    def _compute_lengths(self, segments, shares):
        """Return the lengths between shares, by Gauss's rule, shape (PARTS, s)."""
        nodes, weights = np.polynomial.legendre.leggauss(8)
        width = np.diff(shares)
        inner = shares[:-1, np.newaxis] + 0.5 * width[:, np.newaxis] * (1.0 + nodes)
        speeds = np.linalg.norm(self._sample(segments, inner.ravel(), 1), axis=2)
        means = np.tensordot(0.5 * weights, speeds.reshape(*inner.shape, -1), axes=(0, 1))
        return means * width[:, np.newaxis] * segments.durations

    def __call__(self, path_positions, order=0):
        """Return positions or derivatives at points of the grid."""
        index = np.searchsorted(self.grid, np.asarray(path_positions) - 1e-13 * self.grid[-1])
        return self._rows[order][np.clip(index, 0, len(self.grid) - 1)]

    @property
    def dof(self):
        """Number of joints."""
        return self._rows[0].shape[1]

    @property
    def path_interval(self):
        """First and last place."""
        return self.grid[[0, -1]]


def duration_of_toppra(waypoints, dynamics, limits):
    """Return how long the path takes by TOPPRA, from rest to rest [s]."""
    path = TabulatedPath(waypoints)
    constraints = [
        constrain_efforts(
            path.dof,
            lambda *motion: dynamics.inverse_dynamics(*motion),
            TIME_SCALING.retiming_effort_share * limits.effort,
        ),
        toppra.constraint.JointVelocityConstraint(on_both_sides(limits.velocity)),
    ]
    if np.isfinite(limits.acceleration).all():
        both = on_both_sides(limits.acceleration)
        constraints.append(
            toppra.constraint.JointAccelerationConstraint(both, discretization_scheme=BETWEEN)
        )
    return find_duration(path, path.grid, constraints)


def list_samples(waypoints, limits, count):
    """Return dense samples of a motion, the steps of its acceleration included."""
    rows = sample_segments(segments_of(waypoints), count).reshape(3, -1, len(limits.joints))
    return [np.ascontiguousarray(each) for each in rows]


def measure_load(dynamics, limits, q, qd, qdd):
    """Return the largest part of a limit that samples of a motion take."""
    efforts = dynamics.inverse_dynamics(q, qd, qdd)
    parts = (
        efforts / (TIME_SCALING.retiming_effort_share * limits.effort),
        qd / limits.velocity,
        qdd / limits.acceleration,
    )
    return max(float(np.abs(part).max()) for part in parts)


def uniform_duration(waypoints, dynamics, limits):
    """Return how long the motion takes when all of it is made slower or faster alike [s]."""
    low, high = 1e-3, 1e3
    q, qd, qdd = list_samples(waypoints, limits, 200)
    for _ in range(40):
        scale = np.sqrt(low * high)
        is_within = measure_load(dynamics, limits, q, qd / scale, qdd / scale**2) <= 1.0
        low, high = (low, scale) if is_within else (scale, high)
    return high * waypoints.times[-1]


@pytest.mark.kept(4)
@pytest.mark.parametrize('acceleration', [np.inf, 12.0], ids=['efforts', 'accelerations'])
@pytest.mark.parametrize('turns', ['slowly', 'backwards'])
@pytest.mark.parametrize('name', ROBOTS[:2])
def test_tight_turns_take_as_long_as_toppra_says(name, turns, acceleration) -> None:
    """Within 2 %, never longer than plain or uniform scaling, efforts within 1.01 everywhere."""
    robot = load(name)
    dynamics = Dynamics(robot)
    limits = DemandLimits.of(robot.joints, robot.limits('effort_limit'))
    most = np.full(len(robot.joints), acceleration)
    limits = replace(limits, acceleration=most, deceleration=most)
    rng = np.random.default_rng(27)
    for _ in range(5):
        path = random_path(robot, rng, turns)
        found = retime(dynamics, path, limits=limits, is_fastest=True)
        assert found.after <= 1.02 * duration_of_toppra(path, dynamics, limits)
        assert found.after <= retime(dynamics, path, limits=limits).after
        assert found.after <= uniform_duration(path, dynamics, limits)
        assert measure_load(dynamics, limits, *list_samples(found.waypoints, limits, 48)) <= 1.01
        assert found.stops <= 1
