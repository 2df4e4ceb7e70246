"""How fast a path may be followed, against TOPPRA, which shares no code with us."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import load_arm
from timed_paths import TimedPath

toppra = pytest.importorskip('toppra', reason='needs toppra')

ROBOTS = ('six_axis_arm', 'UR5', 'Panda, fingers locked')


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


def duration_of_toppra(timed, limits, *, as_sent):
    """Return how long the path takes by TOPPRA, on a grid twice as fine as ours.

    None where it gives up for numerical reasons, as it says.
    """
    path = SampledPath(timed.trajectory)
    both = np.stack((-limits.velocity, limits.velocity), axis=1)

    def compute_efforts(*motion):
        return timed.efforts.moving(*(np.array(row)[np.newaxis] for row in motion))[0]

    def allowed(place):
        sent = np.abs(path(float(place), 1)) + 1e-9
        return np.clip(both, -sent[:, np.newaxis], sent[:, np.newaxis])

    constraint = toppra.constraint
    efforts = constraint.JointTorqueConstraint(
        compute_efforts,
        np.stack((-limits.effort, limits.effort), axis=1),
        np.zeros(path.dof),
        discretization_scheme=constraint.DiscretizationType.Interpolation,
    )
    velocities = (
        constraint.JointVelocityConstraintVarying(allowed)
        if as_sent
        else constraint.JointVelocityConstraint(both)
    )
    ends = np.append(timed.path.begins, timed.duration)
    grid = np.sort(np.concatenate((ends, 0.5 * (ends[:-1] + ends[1:]))))
    problem = toppra.algorithm.TOPPRA(
        [efforts, velocities], path, gridpoints=grid, solver_wrapper='seidel'
    )
    speed = 1.0 if as_sent else 0.0
    _, speeds, _ = problem.compute_parameterization(speed, speed)
    if speeds is None:
        return None
    return float(np.sum(2.0 * np.diff(grid) / (speeds[1:] + speeds[:-1])))


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
        expected = duration_of_toppra(timed, limits, as_sent=as_sent)
        if expected is not None:
            compared += 1
            assert found == pytest.approx(expected, rel=0.02)
    assert compared >= 3
