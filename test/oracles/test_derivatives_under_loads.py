"""Derivatives of the dynamics with a wrench, a payload and a moving base."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_samples import random_motion
from oracle_measure import GRAVITY
from pinocchio_oracle import PinocchioRobot
from random_robots import random_tree

import ne_dynamics as ned

TREES = [(1400, 3), (1401, 6), (1402, 8), (1403, 12)]
"""On both sides of the ten joints up to which derivatives are written out."""

each_tree = pytest.mark.parametrize('tree', TREES, ids=str)


def prepare(tree, backend):
    """Return dynamics, Pinocchio, one motion, a wrench, a base motion and a payload."""
    subject = random_tree(*tree)
    robot = replace(ned.load_urdf(subject.urdf), tip_link=subject.tip)
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend=backend)
    oracle = PinocchioRobot(subject.urdf, ours.joint_names, GRAVITY, wrench_link=subject.tip)
    sample = random_motion(tree[0], 1, ours.n)
    rng = np.random.default_rng(tree[0])
    motion = sample.q[0], sample.qd[0] + 0.1 * np.sign(sample.qd[0]), sample.qdd[0]
    return ours, oracle, motion, rng.normal(0.0, 10.0, 6), rng.normal(0.0, 1.0, 9), rng


def check(found, expected, tolerance):
    """Compare three matrices, each relative to its largest entry."""
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())


@each_tree
@pytest.mark.parametrize('backend', ['python', 'auto'])
def test_a_wrench_and_a_payload_against_pinocchio(tree, backend):
    """What the tip exerts and carries counts as in computeRNEADerivatives; forward by identity."""
    ours, oracle, motion, wrench, _, _ = prepare(tree, backend)
    expected = oracle.inverse_dynamics_derivatives(*motion, wrench)
    check(ours.inverse_dynamics_derivatives(*motion, wrench), expected, 1e-9)
    mass, center, tensor = 2.0, np.array([0.1, -0.05, 0.2]), np.diag([0.02, 0.03, 0.04])
    payload = ned.model.rigid_body.Inertia(mass, center, tensor).parameters
    oracle.add_payload(mass, center, tensor)
    by_q, by_qd, matrix = expected = oracle.inverse_dynamics_derivatives(*motion, wrench)
    loads = {'wrench': wrench, 'payload': payload}
    check(ours.inverse_dynamics_derivatives(*motion, **loads), expected, 1e-9)
    tau = ours.inverse_dynamics(*motion, **loads)
    found = ours.forward_dynamics_derivatives(*motion[:2], tau, **loads)
    check([matrix @ part for part in found], [-by_q, -by_qd, np.eye(ours.n)], 1e-7)


@each_tree
def test_a_moving_base_against_differences(tree):
    """With a moving base they are the differences of the inverse dynamics."""
    ours, _, motion, wrench, base, _ = prepare(tree, 'python')
    found = ours.inverse_dynamics_derivatives(*motion, wrench, base)
    step = 1e-5
    for place, part in enumerate(found):
        for joint in range(ours.n):
            ends = []
            for sign in (1.0, -1.0):
                moved = [values.copy() for values in motion]
                moved[place][joint] += sign * step
                ends.append(ours.inverse_dynamics(*moved, wrench, base))
            difference = (ends[0] - ends[1]) / (2.0 * step)
            scale = max(np.abs(part).max(), np.abs(ends[0]).max())
            np.testing.assert_allclose(part[:, joint], difference, rtol=0, atol=1e-6 * scale)
