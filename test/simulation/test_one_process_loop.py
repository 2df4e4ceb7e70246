"""The loop in one process: what is late, limited, reported wrongly or pushed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import PERIOD, shipped_arm

from ne_dynamics import Dynamics
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import (
    OneProcessLoop,
    external_push,
)

ROBOT = shipped_arm()
DYNAMICS = Dynamics(ROBOT, backend='python')
POSTURE = np.array([0.3, -0.6, 0.7, 0.4, 0.7, -0.5])


def arm_of(robot=ROBOT):
    """Return the arm in its posture."""
    arm = MujocoArm(robot, period=PERIOD)
    arm.reset(POSTURE)
    return arm


def counting(reading):
    """Return efforts that tell which state they answer."""
    return np.full(6, 1.0 + round(reading.time / PERIOD))


@pytest.mark.parametrize('delay', [0, 3])
def test_efforts_are_limited_and_act_as_late_as_asked_for(delay) -> None:
    limits = np.array([20.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    found = OneProcessLoop(arm_of(), counting, delay=delay, effort_limits=limits).run(10 * PERIOD)
    states = np.arange(10)
    expected = np.where(states == 0, 0.0, np.maximum(states - delay, 1.0))
    np.testing.assert_array_equal(found.effort[:, 0], expected)
    np.testing.assert_array_equal(found.command[:, 0], 1.0 + states)
    np.testing.assert_array_equal(found.command.max(axis=0), np.minimum(limits, 10.0))


def test_a_push_of_the_tip_is_that_of_its_jacobian() -> None:
    force = np.array([3.0, -4.0, 5.0])
    effort = DYNAMICS.jacobian(POSTURE)[:3].T @ force
    np.testing.assert_allclose(arm_of().effort_of_force('tcp', force), effort, atol=1e-9)
    moved = [
        OneProcessLoop(arm_of(), lambda _: DYNAMICS.gravity_torque(POSTURE), disturbances=[push])
        for push in (external_push(force, 0.0, PERIOD, 'tcp'), external_push(effort, 0.0, PERIOD))
    ]
    for loop in moved:
        loop.run(0.02)
        assert loop.arm.effort == pytest.approx(DYNAMICS.gravity_torque(POSTURE))
    np.testing.assert_allclose(moved[0].arm.position, moved[1].arm.position, atol=1e-12)
    assert np.abs(moved[0].arm.position - POSTURE).max() > 1e-5


def test_an_arm_that_picks_up_a_load_goes_on_from_where_it_is() -> None:
    loop = OneProcessLoop(arm_of(), lambda reading: DYNAMICS.gravity_torque(reading.position))
    loop.run(0.1)
    np.testing.assert_allclose(loop.arm.position, POSTURE, atol=1e-6)
    loop.pick_up(arm_of(with_hung_mass(ROBOT, 3.0, np.zeros(3))))
    found = loop.run(0.1)
    assert found.time[0] == pytest.approx(0.1)
    np.testing.assert_allclose(found.position[0], POSTURE, atol=1e-6)
    assert np.abs(loop.arm.velocity).max() > 0.1
    assert len(loop.recording().time) == 100
