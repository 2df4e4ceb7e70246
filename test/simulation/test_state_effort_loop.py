"""Closed loops that begin: arms with and without gravity compensation of their own, drivers that
report this or that, settings that fit and settings that do not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.control.sensors.thresholds import SENSORS

pytest.importorskip('mujoco', reason='mujoco is missing')

from motion_loop import MotionLoop, demo_motion, shipped_arm

from ne_dynamics import Dynamics
from ne_dynamics.control.laws import Terms
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.one_process_loop import ControllerAnswers

ROBOT = shipped_arm()
LIMITS = ROBOT.limits('effort_limit')
NOMINAL = Dynamics(ROBOT, backend='python')
MOTION = demo_motion(ROBOT)
LOADED = with_hung_mass(ROBOT, 0.3, np.zeros(3))
"""The arm that there is: it carries 0.3 kg that neither the model nor the robot knows of."""

SAG = 0.1
"""What a load that the model does not know of costs at most, with the gains of the loop [rad]."""

TRUE = Dynamics(LOADED, backend='python')
POSES = {
    'bent': np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1]),
    'stretched': np.zeros(6),
    'hanging': np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0]),
}
NOISE = 0.3 * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 0.2])
"""Motors at rest behind brakes [N m]."""

# What a driver writes into the field, from the torque of the motors and that of gravity.
READINGS = {
    'torque': lambda torque, gravity: torque,
    'torque_without_gravity': lambda torque, gravity: torque - gravity,
    'current': lambda torque, gravity: torque / 10.0,
    'millinewton metres': lambda torque, gravity: 1000.0 * torque,
    'wrong sign': lambda torque, gravity: -torque,
    'noise': lambda torque, gravity: NOISE,
    'zero': lambda torque, gravity: np.zeros(6),
    'nan': lambda torque, gravity: np.full(6, np.nan),
    'nothing': lambda torque, gravity: None,
}
RIGHT = {
    'torque': StateEffort.TORQUE,
    'torque_without_gravity': StateEffort.TORQUE_WITHOUT_GRAVITY,
}


class Beginning:
    """A controller that takes over an arm which something else has held.

    `first` is its first command, `before` the one that would have been what the motors did [N m];
    `way` how far a joint has got from where it stood [rad], `refusals` what is said of readings.
    """

    def __init__(self, pose, reading, setting, *, compensates, seconds=0.3):
        loop = MotionLoop(ROBOT, MOTION, plant=LOADED, terms=Terms(gravity=not compensates))
        controller, arm = loop.controller, loop.arm
        controller.adopt(replace(controller.tuning, state_effort=setting))
        controller.reset()
        arm.reset(POSES[pose])
        own = NOMINAL.gravity_torque if compensates else np.zeros_like
        held = TRUE.gravity_torque(arm.position)
        self.before = held - own(arm.position)
        self.refusals, self.first = [], None
        answers = ControllerAnswers(controller)

        def driver(state):
            torque = state.effort if state.time else held
            effort = READINGS[reading](torque, NOMINAL.gravity_torque(state.position))
            return state._replace(effort=effort)

        def motors(state):
            command = answers(state).effort
            if self.first is None:
                self.first = command
            if answers.command.unused_effort:
                self.refusals.append(answers.command.unused_effort)
            return command + own(state.position)

        loop.sensors, loop.law = [driver], motors
        loop.run(seconds)
        positions = np.vstack((loop.recording().position[1:], arm.position))
        self.way = np.abs(positions - POSES[pose]).max()


@pytest.mark.kept(4)
@pytest.mark.parametrize('compensates', [False, True], ids=['plain', 'compensates'])
@pytest.mark.parametrize('pose', POSES)
@pytest.mark.parametrize('reading', RIGHT)
def test_what_is_meant_makes_no_step(pose, reading, compensates) -> None:
    """With the right setting the first command is what the motors did, of an arm whose load is not
    known: to the last digit, whether the robot compensates gravity or not.
    """
    found = Beginning(pose, reading, RIGHT[reading], compensates=compensates)
    assert found.refusals == []
    np.testing.assert_allclose(found.first, found.before, atol=1e-9)
    assert found.way < SAG


@pytest.mark.kept(4)
@pytest.mark.parametrize('compensates', [False, True], ids=['plain', 'compensates'])
@pytest.mark.parametrize('pose', POSES)
@pytest.mark.parametrize('reading', READINGS)
@pytest.mark.parametrize('setting', StateEffort)
def test_whatever_is_set_the_step_is_bounded(pose, reading, setting, compensates) -> None:
    """The first command differs from what the motors did by no more than the model is wrong, or,
    where the reading is begun at, by the share of the effort limits; and the arm stays.
    """
    found = Beginning(pose, reading, setting, compensates=compensates)
    model = np.zeros(6) if compensates else NOMINAL.gravity_torque(POSES[pose])
    from_model = np.abs(found.first - model) / LIMITS
    unknown = np.abs(found.before - model)
    assert from_model.max() <= SENSORS.effort_largest_share + 1e-9
    if setting is StateEffort.IGNORE or found.refusals:
        np.testing.assert_allclose(found.first, model, atol=1e-9)
    if setting is StateEffort.IGNORE:
        assert found.refusals == []
    if RIGHT.get(reading) is not setting:
        # Begun at the model, or nearer to it in this meaning than in the other.
        step = np.linalg.norm((found.first - found.before) / LIMITS)
        weight = np.linalg.norm(NOMINAL.gravity_torque(POSES[pose]) / LIMITS)
        allowed = np.linalg.norm(unknown / LIMITS) + max(
            0.5 * weight, 2.5 * SENSORS.effort_least_share
        )
        assert step <= allowed + 1e-9
    assert len(found.refusals) <= 1
    assert found.way < SAG + 0.02


@pytest.mark.parametrize('reading', READINGS)
@pytest.mark.parametrize('setting', list(RIGHT.values()))
def test_a_setting_that_does_not_fit_is_said(reading, setting) -> None:
    """Where gravity takes something, a reading of another meaning, unit or sign is refused with
    the joint, what was expected and what was got; one that says nothing is passed over.
    """
    for compensates in (False, True):
        found = Beginning('bent', reading, setting, compensates=compensates, seconds=0.01)
        fits = RIGHT.get(reading) is setting
        if reading in ('zero', 'nothing') or fits:
            assert found.refusals == []
        elif setting is StateEffort.TORQUE or reading in ('torque', 'millinewton metres'):
            (refusal,) = found.refusals
            assert 'the command begins at the effort of the model' in refusal
            assert reading == 'nan' or f'state_effort: {setting.value}' in refusal
