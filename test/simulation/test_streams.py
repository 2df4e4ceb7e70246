"""Positions alone at 30 Hz to the node's controller, with the shipped arm in MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import SETTLE, MotionLoop, demo_motion, shipped_arm

from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints
from ne_dynamics.simulation.demo.position_chunks import PositionChunks

ROBOT = shipped_arm()
MOTION = demo_motion(ROBOT, 4.0)
RATE = 30.0


def tracking_error(chunks: PositionChunks, lost: tuple[int, ...] = (), **changes) -> np.ndarray:
    """Return the RMS errors of the joints against the motion that the positions are of [rad]."""
    loop = MotionLoop(ROBOT, MOTION)
    loop.controller.adopt(replace(loop.controller.tuning, **changes))
    loop.run(SETTLE)
    begin, first = loop.arm.time, len(loop.recording().time)
    for number, due in enumerate(chunks.times(MOTION.duration)):
        loop.run(begin + due - loop.arm.time)
        points = [TrajectoryPoint(*point) for point in chunks.points(MOTION, due)]
        if number not in lost:
            waypoints = Waypoints.from_points(ROBOT.joints, ROBOT.joint_names, points)
            loop.controller.motion.follow(waypoints, begin + due)
    loop.run(begin + MOTION.duration - loop.arm.time)
    found = loop.recording(first)
    assert not loop.answers.faults
    wanted = MOTION.sample(np.clip(found.time - begin, 0.0, MOTION.duration))[0]
    return np.sqrt(((found.position - wanted) ** 2).mean(axis=0))


@pytest.fixture(scope='module')
def of_straight_lines() -> np.ndarray:
    """The errors by the rule of joint_trajectory_controller, which judges no motion."""
    return tracking_error(
        PositionChunks(2, 2, RATE),
        interpolation_method=Interpolation.LINEAR,
        when_infeasible=WhenInfeasible.FOLLOW,
    )


@pytest.mark.parametrize(('count', 'every'), [(16, 8), (2, 2), (1, 1)])
def test_streamed_positions_have_a_feed_forward(of_straight_lines, count: int, every: int) -> None:
    errors = tracking_error(PositionChunks(count, every, RATE))
    assert (errors < 0.2 * of_straight_lines).all()


@pytest.mark.parametrize('lost', [(20,), (20, 40)])
def test_a_lost_chunk_leaves_the_arm_on_its_way(of_straight_lines, lost: tuple[int, ...]) -> None:
    errors = tracking_error(PositionChunks(2, 2, RATE), lost)
    assert (errors < of_straight_lines).all()
