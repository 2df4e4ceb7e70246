"""The pace of a motion that the motors are too weak for, for an arm that does as it is told."""

from __future__ import annotations

import numpy as np
import pytest
from motion_loop import PERIOD, node_controller, shipped_arm

from ne_dynamics import Dynamics
from ne_dynamics.control.controller import Command
from ne_dynamics.control.trajectory import TrajectoryPoint, Waypoints

MODEL = shipped_arm()
DYNAMICS = Dynamics(MODEL, backend='python')
START = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])
ZERO = np.zeros(6)


class ObedientArm:
    """An arm that is where it should be, and the controller that slows it down."""

    def __init__(self, **changes) -> None:
        chosen = {'trajectory.when_infeasible': 'slow_down', **changes}
        self.controller = node_controller(MODEL, **chosen)
        self.time = 0.0
        self.state = START, ZERO
        self.commands: list[Command] = []
        self.speeds: list[float] = []

    def step(self) -> None:
        """Go on to the next state."""
        self.time += PERIOD
        if self.controller.trajectory is not None:
            self.state = self.controller.state_at(self.time)[1][:2]
        command = self.controller.update(*self.state, self.time, self.time)
        self.commands.append(command)
        self.speeds.append(self.controller.speed)

    def run(self, duration: float) -> None:
        """Go on for a while [s]."""
        for _ in range(round(duration / PERIOD)):
            self.step()

    def follow(self, points, start_time=None):
        """Follow points from the next state on; return what is exceeded."""
        waypoints = Waypoints.from_points(MODEL.joints, MODEL.joint_names, points)
        return self.controller.follow(waypoints, start_time)

    def loads(self) -> np.ndarray:
        """Return the effort that each desired motion takes, as a part of its limit."""
        limits = self.controller.tuning.effort_limits
        columns = [np.array(column) for column in zip(*(c.desired for c in self.commands))]
        return np.abs(DYNAMICS.inverse_dynamics(*columns) / limits)


def weak_limits(points, share):
    """Return effort limits of a share of what a motion takes, which hold the arm all the way."""
    arm = ObedientArm(**{'trajectory.when_infeasible': 'follow'})
    arm.step()
    arm.follow(points)
    arm.run(points[-1].time_from_start + 2 * PERIOD)
    columns = [np.array(column) for column in zip(*(c.desired for c in arm.commands))]
    asked = np.abs(DYNAMICS.inverse_dynamics(*columns)).max(axis=0)
    held = np.abs(DYNAMICS.gravity_torque(columns[0])).max(axis=0)
    return tuple(np.maximum(share * asked, 1.1 * held + 0.05 * asked))


@pytest.mark.parametrize('seed', range(4))
def test_a_motion_from_rest_begins_at_the_speed_that_was_planned(seed: int) -> None:
    """Cubics accelerate at once: no motor is beyond its limit, and the motion does not halt."""
    rng = np.random.default_rng(seed)
    positions = START + np.cumsum(rng.uniform(-0.6, 0.6, (3, 6)), axis=0)
    velocities = rng.uniform(-1.0, 1.0, (3, 6))
    velocities[-1] = 0.0
    points = [
        TrajectoryPoint(0.4 * (i + 1), positions[i], velocities[i]) for i in range(len(positions))
    ]
    arm = ObedientArm(effort_limits=weak_limits(points, 0.6))
    arm.run(0.1)
    assert arm.follow(points)
    arm.run(1.2 * arm.controller.planned_duration + 0.2)
    begin = slice(50, 100)
    assert arm.loads()[begin].max() < 1.0
    assert min(arm.speeds) > 0.02
    np.testing.assert_allclose(arm.commands[-1].desired.position, positions[-1], atol=1e-12)
