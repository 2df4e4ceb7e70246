"""Coarse velocities show in the commands of a held arm, healthy ones and pushes do not."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.guards.effort_steps import EffortSteps

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import HeldArmLoop, shipped_arm

from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.one_process_loop import differenced_velocity, encoder, external_push

MODEL = shipped_arm()
LIMITS = MODEL.limits('effort_limit')
POSTURE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
LOADED = with_hung_mass(MODEL, 1.0, np.zeros(3), 'tcp')


def watch_held_arm(sensors, *, gain=20.0, rate=500.0, push=0.0):
    """Hold an arm for 1.5 s; return what the steps of the last second say of it."""
    gains = {'computed_torque.kp': (gain**2 / 4.0,), 'computed_torque.kv': (gain,)}
    loop = HeldArmLoop(
        MODEL,
        POSTURE,
        gains,
        plant=LOADED,
        body={'period': 1.0 / rate},
        sensors=sensors,
        disturbances=[external_push(push * LIMITS * np.eye(6)[2], 0.7, 0.2)],
    )
    loop.run(0.5)
    steps = EffortSteps(6)
    for command in loop.run(1.0).command:
        steps.note(command, LIMITS, is_held=True)
    return steps.take()


@pytest.mark.kept(5)
@pytest.mark.parametrize('push', [0.0, 0.5])
@pytest.mark.parametrize('gain', [20.0, 40.0])
@pytest.mark.parametrize(
    ('bits', 'is_differenced', 'rate'),
    [(12, True, 500), (16, True, 500), (20, True, 500), (16, False, 500), (16, False, 100)],
)
def test_a_driver_that_differences_a_coarse_encoder_is_noticed(
    bits, is_differenced, rate, gain, push
) -> None:
    """Twelve bits at 500 Hz: the joint is named, and how far its command steps. From 16 bits on
    nobody is blamed, differenced or with true velocities, pushed or not.
    """
    sensors = [encoder(bits)]
    if is_differenced:
        sensors.append(differenced_velocity(np.inf))
    found = watch_held_arm(sensors, gain=gain, rate=rate, push=push)
    if bits > 12:
        assert found is None
        return
    assert found.joint == 2
    assert found.turns > 50
    assert 0.3 < found.share < 1.0
