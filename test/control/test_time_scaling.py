"""The pace of a motion that the motors are too weak for, for an arm that does as it is told."""

from __future__ import annotations

import numpy as np
import pytest
from motion_loop import PERIOD, node_controller
from tuned_arm import DYNAMICS, ROBOT, ZERO, make_waypoints

from ne_dynamics.control.desired.feasibility_checker import FeasibilityChecker
from ne_dynamics.control.tick import Tick
from ne_dynamics.motion.waypoints import TrajectoryPoint

START = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])


class ObedientArm:
    """An arm that is where it should be, and the controller that slows it down."""

    def __init__(self, **changes) -> None:
        chosen = {'trajectory.when_infeasible': 'slow_down', **changes}
        self.controller = node_controller(ROBOT, **chosen)
        self.time = 0.0
        self.state = START, ZERO
        self.commands: list[Tick] = []
        self.speeds: list[float] = []

    def step(self) -> None:
        """Go on to the next state."""
        self.time += PERIOD
        if self.controller.motion.trajectory is not None:
            self.state = self.controller.motion.state_at(self.time)[1][:2]
        command = self.controller.update(*self.state, self.time, self.time)
        self.commands.append(command)
        self.speeds.append(self.controller.motion.speed)

    def run(self, duration: float) -> None:
        """Go on for a while [s]."""
        for _ in range(round(duration / PERIOD)):
            self.step()

    def follow(self, points, start_time=None):
        """Follow points from the next state on; return what is exceeded."""
        self.plan = self.controller.motion.follow(make_waypoints(*points), start_time)
        return self.plan.exceeded

    def loads(self) -> np.ndarray:
        """Return the effort that each desired motion takes, as a part of its limit."""
        limits = self.controller.tuning.effort_limits
        return np.abs(DYNAMICS.inverse_dynamics(*self.desired()) / limits)

    def desired(self) -> list[np.ndarray]:
        """Return positions, velocities and accelerations, a row a command."""
        rows = (command.desired for command in self.commands)
        return [np.array(column) for column in zip(*rows, strict=True)]


def weak_limits(points, share):
    """Return effort limits of a share of what a motion takes, which hold the arm all the way."""
    arm = ObedientArm(**{'trajectory.when_infeasible': 'follow'})
    arm.step()
    arm.follow(points)
    arm.run(points[-1].time_from_start + 2 * PERIOD)
    columns = arm.desired()
    asked = np.abs(DYNAMICS.inverse_dynamics(*columns)).max(axis=0)
    held = np.abs(DYNAMICS.gravity_torque(columns[0])).max(axis=0)
    return tuple(np.maximum(share * asked, 1.1 * held + 0.05 * asked))


def test_what_is_slowed_down_is_not_checked_part_by_part_as_it_takes_over(monkeypatch) -> None:
    """A state at which another motion begins looks for no excess that was told of before."""
    rng = np.random.default_rng(1)
    positions = START + np.cumsum(rng.uniform(-0.4, 0.4, (8, 6)), axis=0)
    points = [TrajectoryPoint(0.4 * (i + 1), positions[i]) for i in range(len(positions))]
    arm = ObedientArm(effort_limits=weak_limits(points, 0.5))
    arm.run(0.1)
    arm.follow(points)
    arm.run(0.5)
    assert arm.follow(points)
    checked = []
    monkeypatch.setattr(
        FeasibilityChecker, '_check_from_begin', lambda *_: checked.append(None) or []
    )
    arm.step()
    assert arm.controller.motion.trajectory.start_time > 0.4
    assert not checked


def wide_positions(count=4, seed=3):
    """Return points of positions alone, far apart, whose last one is come to fast."""
    rng = np.random.default_rng(seed)
    ways = np.outer(np.linspace(0.6, 1.2, count), rng.choice([-0.3, 0.3], 6))
    positions = START + np.cumsum(ways, axis=0)
    return [TrajectoryPoint(0.5 * (i + 1), positions[i]) for i in range(count)]


@pytest.fixture
def brief_end():
    """Return points whose spline asks for most as it comes to rest, and motors too weak for it."""
    points = wide_positions()
    arm = ObedientArm()
    arm.step()
    arm.follow(points)
    arm.run(points[-1].time_from_start + 2 * PERIOD)
    loads = arm.loads() * arm.controller.tuning.effort_limits
    before = np.array([command.place for command in arm.commands]) < points[-2].time_from_start
    held = np.abs(DYNAMICS.gravity_torque([c.desired.position for c in arm.commands]))
    limits = np.maximum(1.1 * loads[before].max(axis=0), 1.15 * held.max(axis=0))
    assert (loads[~before].max(axis=0) > 1.3 * limits).any()
    return points, tuple(limits)


def test_the_end_of_a_spline_is_slowed_down_for(brief_end) -> None:
    """No motor is beyond its limit while the motion comes to rest."""
    points, limits = brief_end
    arm = ObedientArm(effort_limits=limits)
    arm.run(0.1)
    assert arm.follow(points)
    arm.run(1.1 * arm.plan.duration + 0.1)
    assert arm.loads().max() < 1.0
    np.testing.assert_allclose(arm.commands[-1].desired.position, points[-1].positions, atol=1e-12)


def test_where_no_speed_keeps_the_limits_the_motion_makes_no_step() -> None:
    """A stream that is far too fast slows down at what other motors can bear."""
    rng = np.random.default_rng(0)
    rates, ways = np.pi * rng.uniform(0.6, 1.0, 6), 0.8 * rng.uniform(0.3, 1.0, 6)
    phases = rng.uniform(0.0, 6.0, 6)
    arm = ObedientArm(effort_limits=(16.0, 112.0, 48.0, 12.0, 6.4, 2.4))
    arm.run(0.1)
    times = np.arange(1, 17) / 30.0
    for begin in np.arange(12) * 8.0 / 30.0:
        angles = rates * (begin + times[:, np.newaxis]) + phases
        positions = START + ways * (np.sin(angles) - np.sin(phases))
        points = [TrajectoryPoint(*row) for row in zip(times.tolist(), positions, strict=True)]
        arm.follow(points, arm.time)
        arm.run(8.0 / 30.0)
    velocities = np.array([command.desired.velocity for command in arm.commands])
    assert np.abs(np.diff(velocities, axis=0)).max() < 0.5


def test_a_stamp_in_the_future_is_kept_where_more_than_the_sent_speed_is_asked_for() -> None:
    """An arm that is held goes no faster: what waits for its time does not miss it."""
    arm = ObedientArm()
    arm.run(0.1)
    arm.controller.motion.scale_speed(10.0)
    begin = arm.time + 0.3
    arm.follow([TrajectoryPoint(1.0, START + 0.3, ZERO, ZERO)], begin)
    arm.run(1.5)
    moved = [not np.array_equal(command.desired.position, START) for command in arm.commands]
    assert abs(PERIOD * (moved.index(True) + 1) - begin) < 0.02


def test_a_path_that_is_not_planned_yet_is_begun_at_the_sent_speed_at_the_most() -> None:
    """A speed above 1 of the motion before is none that the next one may have."""
    arm = ObedientArm()
    arm.run(0.1)
    arm.controller.motion.scale_speed(5.0)
    arm.follow([TrajectoryPoint(1.0, START + 0.3, ZERO, ZERO)])
    arm.run(2.0)
    assert arm.speeds[-1] > 4.0
    arm.follow([TrajectoryPoint(1.0, START, ZERO, ZERO)])
    arm.step()
    assert arm.speeds[-1] <= 1.0
    arm.run(2.0)
    np.testing.assert_allclose(arm.commands[-1].desired.position, START, atol=1e-12)


def test_what_takes_over_where_a_stop_ends_keeps_its_plan() -> None:
    """Whichever state the next motion comes before, the one in which the arm comes to rest too."""
    there, back = START + 0.6, START - 0.2
    stopped = 0
    for states in range(1, 60, 6):
        arm = ObedientArm()
        arm.run(0.02)
        arm.follow([TrajectoryPoint(0.8, there, ZERO, ZERO)])
        arm.run(0.3)
        arm.controller.motion.hold()
        arm.run(states * PERIOD)
        was_standing = arm.controller.motion.speed == 1.0
        assert arm.follow([TrajectoryPoint(0.1, back, ZERO, ZERO)])
        arm.step()
        clock = arm.controller.motion.time_scaling.clock
        assert clock is not None
        assert clock.profile is not None
        stopped += was_standing
    # Among them are motions that came before the arm stood, and some after.
    assert 0 < stopped < 10
