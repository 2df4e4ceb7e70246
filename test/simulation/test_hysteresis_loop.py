"""Friction that turns round gradually, in closed loop: the path is fed forward, nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from geared_arm import with_path_friction
from motion_loop import HeldArmLoop, demo_motion, node_tuning, shipped_arm
from planted_loop import NodeAnswers

from ne_dynamics.simulation.demo.arm import fair_gains

PLAIN = shipped_arm()
MOTION = demo_motion(PLAIN)
DISPLACEMENT = 0.2


TRUE = with_path_friction(PLAIN, 0.1, DISPLACEMENT)
MODELS = {
    'with the path': TRUE,
    'half of it as Coulomb': with_path_friction(PLAIN, 0.0, 0.0, 0.05),
    'all of it as Coulomb': with_path_friction(PLAIN, 0.0, 0.0, 0.1),
    'without': with_path_friction(PLAIN, 0.0, 0.0),
}


def run(model, mode='computed_torque', plant=TRUE, seconds=None):
    """Return the loop after the motion, or some seconds of it."""
    kp, kv = 100.0, 20.0
    if mode == 'feedforward_pd':
        kp, kv = fair_gains(PLAIN, MOTION, kp, kv)
    gains = {f'{mode}.kp': np.ravel(kp).tolist(), f'{mode}.kv': np.ravel(kv).tolist()}
    body = {'integrator': 'implicitfast'}
    loop = HeldArmLoop(model, MOTION.positions[0], {'mode': mode, **gains}, plant=plant, body=body)
    loop.law = NodeAnswers(loop.controller, np.zeros(6))
    loop.run(0.1)
    loop.controller.motion.follow(MOTION.waypoints())
    loop.run(MOTION.duration + 0.2 if seconds is None else seconds)
    return loop


def rms_error(loop):
    """Return the error of the motion, all joints together [rad]; infinite where it is given up."""
    error = float(np.sqrt(np.mean(loop.recording().error[60:] ** 2)))
    return error if np.isfinite(error) else np.inf


@pytest.mark.kept(1)
@pytest.mark.parametrize('mode', ['computed_torque', 'feedforward_pd'])
def test_the_path_is_worth_most_of_the_error(mode) -> None:
    errors = {name: rms_error(run(model, mode)) for name, model in MODELS.items()}
    others = [error for name, error in errors.items() if name != 'with the path']
    assert errors['with the path'] < min(others) / 100.0, errors


def test_commands_do_not_leap_at_turns_holds_and_changes_of_law() -> None:
    largest = []
    for model in (TRUE, MODELS['without']):
        loop = run(model, plant=model, seconds=0.5)
        controller = loop.controller
        controller.motion.hold()
        loop.run(0.5)
        for mode in ('gravity_compensation', 'computed_torque'):
            other = node_tuning(model, mode=mode)
            laws = {'law': other.law, 'hold_law': other.hold_law}
            controller.adopt(replace(controller.tuning, **laws))
            loop.run(0.4)
        assert controller.fault is None
        steps = np.abs(np.diff(loop.recording().command[60:], axis=0))
        largest.append(steps.max(axis=0))
    limits = PLAIN.limits('effort_limit')
    assert (largest[0] <= largest[1] + 0.02 * limits).all(), largest
