"""Stops of an arm in motion: controller and MuJoCo in one process, one command a state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import PERIOD, HeldArmLoop, shipped_arm

MODEL = shipped_arm()
LIMITS = MODEL.limits('effort_limit')
START = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])
SPEED = np.array([1.8, 1.5, -1.5, 2.8, -2.0, 2.5])
"""Of the motion that is stopped [rad/s]."""


class Loop(HeldArmLoop):
    """The node's controller as it is by default, and the arm that its model describes."""

    def __init__(self, **values: object) -> None:
        super().__init__(MODEL, START, values, body={'substeps': 2})

    def get_going(self, *, goes_on: bool = True) -> None:
        """Bring the arm to the speed, along a motion that would go on, or end with it."""
        self.run(0.1)
        there = START + 0.3 * SPEED
        points = [TrajectoryPoint(0.6, there, SPEED, np.zeros(6))]
        if goes_on:
            points.append(TrajectoryPoint(1.2, there + 0.6 * SPEED, SPEED, np.zeros(6)))
        names = MODEL.joint_names
        self.controller.motion.follow(
            Waypoints.from_points(MODEL.joints, names, points, allow_nonzero_velocity_at_end=True)
        )
        self.run(0.6)
        assert np.abs(self.arm.velocity - SPEED).max() < 0.1


def is_a_stop(loop: Loop, before: np.ndarray, position: np.ndarray) -> None:
    """Assert that the arm comes to rest without a step of the effort, not far away."""
    found = loop.run(1.5)
    efforts, velocities = found.command, found.velocity
    assert not (np.abs(efforts) >= LIMITS).any()
    # A stop of 0.1 s or more that begins with the acceleration there is: of its peak, which it
    # has half way, no more than a tenth comes within one of 50 states.
    steps = np.abs(np.diff(np.vstack((before, efforts)), axis=0)).max(axis=0)
    span = np.ptp(np.vstack((before, efforts)), axis=0)
    assert (steps <= 0.1 * span + 0.2).all()
    assert np.abs(velocities[-1]).max() < 1e-3
    way = found.position - position
    assert (way[-1] * SPEED > 0.0).all()
    assert (np.abs(way) <= 0.2 * np.abs(SPEED)).all()


def test_hold_is_no_step() -> None:
    loop = Loop()
    loop.get_going()
    before, position = loop.run(PERIOD).command, loop.arm.position
    loop.controller.motion.hold()
    is_a_stop(loop, before[-1], position)


def test_a_goal_that_ends_moving_is_no_step() -> None:
    loop = Loop(allow_nonzero_velocity_at_trajectory_end=True)
    loop.get_going(goes_on=False)
    before, position = loop.run(PERIOD).command, loop.arm.position
    is_a_stop(loop, before[-1], position)


@pytest.mark.parametrize('deceleration', [0.5, 100.0])
def test_another_deceleration_under_way_is_no_step(deceleration) -> None:
    """It counts from the next stop on."""
    loop = Loop()
    loop.get_going()
    position = loop.arm.position
    controller = loop.controller
    controller.motion.hold()
    before = loop.run(0.03).command
    controller.adopt(replace(controller.tuning, decelerations=np.full(6, deceleration)))
    found = loop.run(1.5)
    after = np.vstack((before[-1], found.command))
    largest = np.abs(np.diff(before, axis=0)).max()
    assert np.abs(np.diff(after, axis=0)).max() <= 1.5 * largest
    assert np.abs(found.velocity[-1]).max() < 1e-3
    assert (np.abs(found.position[-1] - position) <= 0.2 * np.abs(SPEED)).all()


@pytest.mark.parametrize('falling', [0.0, 0.15, 0.4])
def test_an_arm_that_is_found_in_motion_is_stopped_along_it(falling: float) -> None:
    loop = Loop()
    loop.get_going()
    answers, loop.law = loop.law, lambda reading: np.zeros(6)
    loop.run(falling)
    loop.law = answers
    speed, start = loop.arm.velocity, loop.arm.position
    loop.controller.reset()
    found = loop.run(4.0)
    assert np.abs(found.velocity[-1]).max() < 1e-3
    if not falling:
        assert (np.abs(found.command) < LIMITS).all()
        assert (np.abs(found.position - start) <= 0.1 * np.abs(speed)).all()
