"""The fastest motion along cubic paths that turn tightly, against TOPPRA on the same paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from example_robots import load_arm

from ne_dynamics import Dynamics
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import sample_segments
from ne_dynamics.motion.thresholds import TIME_SCALING
from ne_dynamics.motion.time_scaling.retiming import retime
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

toppra = pytest.importorskip('toppra', reason='needs toppra')

ROBOTS = ('six_axis_arm', 'UR5')
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
    constraint = toppra.constraint
    effort, velocity = (
        np.stack((-each, each), axis=1)
        for each in (TIME_SCALING.retiming_effort_share * limits.effort, limits.velocity)
    )
    interpolation = {'discretization_scheme': constraint.DiscretizationType.Interpolation}
    constraints = [
        constraint.JointTorqueConstraint(
            lambda *motion: dynamics.inverse_dynamics(*motion),
            effort,
            np.zeros(path.dof),
            **interpolation,
        ),
        constraint.JointVelocityConstraint(velocity),
    ]
    if np.isfinite(limits.acceleration).all():
        both = np.stack((-limits.acceleration, limits.acceleration), axis=1)
        constraints.append(constraint.JointAccelerationConstraint(both, **interpolation))
    problem = toppra.algorithm.TOPPRA(
        constraints, path, gridpoints=path.grid, solver_wrapper='seidel'
    )
    _, speeds, _ = problem.compute_parameterization(0.0, 0.0)
    return float(np.sum(2.0 * np.diff(path.grid) / (speeds[1:] + speeds[:-1])))


def largest_load(waypoints, dynamics, limits, count=48):
    """Return the largest part of a limit that dense samples of a motion take, steps included."""
    n = len(limits.joints)
    rows = sample_segments(segments_of(waypoints), count).reshape(3, -1, n)
    q, qd, qdd = (np.ascontiguousarray(each) for each in rows)
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
    n = len(limits.joints)
    rows = sample_segments(segments_of(waypoints), 200).reshape(3, -1, n)
    q, qd, qdd = (np.ascontiguousarray(each) for each in rows)
    for _ in range(40):
        scale = np.sqrt(low * high)
        velocity, acceleration = qd / scale, qdd / scale**2
        efforts = dynamics.inverse_dynamics(q, velocity, acceleration)
        is_within = (
            (np.abs(efforts) <= TIME_SCALING.retiming_effort_share * limits.effort).all()
            and (np.abs(velocity) <= limits.velocity).all()
            and (np.abs(acceleration) <= limits.acceleration).all()
        )
        low, high = (low, scale) if is_within else (scale, high)
    return high * waypoints.times[-1]


@pytest.mark.kept(4)
@pytest.mark.parametrize('acceleration', [np.inf, 12.0], ids=['efforts', 'accelerations'])
@pytest.mark.parametrize('turns', ['slowly', 'backwards'])
@pytest.mark.parametrize('name', ROBOTS)
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
        assert largest_load(found.waypoints, dynamics, limits) <= 1.01
        assert found.stops <= 1
