"""Derivatives of the dynamics with wrenches, a payload and a moving base."""

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from motion_samples import random_motion
from oracle_measure import GRAVITY
from pinocchio_oracle import PinocchioRobot
from random_robots import random_tree

import ne_dynamics as ned

TREES = [(1400, 3), (1402, 8), (1403, 12)]
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


ROWS = 3


def draw_wrenches(dynamics, seed):
    """Return wrenches on half of all links, the base and one that is fixed among them."""
    rng = np.random.default_rng(seed)
    robot = dynamics.robot
    names = [link.name for link in robot.links][::2]
    moving = {body.name for body in robot.bodies}
    names += [link.name for link in robot.links if link.name not in moving][-1:]
    return {name: rng.uniform(-10.0, 10.0, (ROWS, 6)) for name in {robot.base_link, *names}}


def row_of(wrenches, row):
    """Return the wrenches of one sample."""
    return {name: values[row] for name, values in wrenches.items()}


def check_external_wrenches(ours, oracle, seed):
    """Compare with Pinocchio, each form of call; the forward ones through the mass matrix."""
    sample = random_motion(seed, ROWS, ours.n)
    qd = sample.qd + 0.1 * np.sign(sample.qd)
    wrenches = draw_wrenches(ours, seed)
    motion = sample.q, qd, sample.qdd
    expected = np.array(
        [
            oracle.inverse_dynamics_derivatives(*[each[row] for each in motion], None, on_links)
            for row, on_links in ((row, row_of(wrenches, row)) for row in range(ROWS))
        ]
    )
    given = *motion, *wrenches.values()
    inverse = under_wrenches(ours.inverse_dynamics_derivatives, wrenches)
    for computed in call_in_every_form(inverse, *given, axis=1).values():
        for row in range(ROWS):
            check(computed[:, row], expected[row], 1e-9)
    tau = ours.inverse_dynamics(*motion, external_wrenches=wrenches)
    forward = under_wrenches(ours.forward_dynamics_derivatives, wrenches)
    given = *motion[:2], tau, *wrenches.values()
    for computed in call_in_every_form(forward, *given, axis=1).values():
        for row in range(ROWS):
            by_q, by_qd, matrix = expected[row]
            found = [matrix @ part for part in computed[:, row]]
            for one, other in zip(found, (-by_q, -by_qd, np.eye(ours.n)), strict=True):
                scale = max(np.abs(other).max(), (np.abs(matrix) @ np.abs(computed[0, row])).max())
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * scale)


@each_tree
@pytest.mark.parametrize('backend', ['python', 'auto'])
def test_wrenches_on_links_of_trees_against_pinocchio(tree, backend):
    ours, oracle, *_ = prepare(tree, backend)
    check_external_wrenches(ours, oracle, tree[0])


@each_tree
@pytest.mark.parametrize('backend', ['python', 'auto'])
def test_wrenches_on_links_add_to_every_load(tree, backend):
    """With wrench, moving base and payload they are the differences of the dynamics."""
    ours, _, motion, wrench, base, rng = prepare(tree, backend)
    payload = ned.model.rigid_body.Inertia(
        2.0, np.array([0.1, -0.05, 0.2]), np.diag([0.02, 0.03, 0.04])
    ).parameters
    loads = {
        'wrench': wrench,
        'base_motion': base,
        'payload': payload,
        'external_wrenches': {ours.link_names[-1]: rng.normal(0.0, 10.0, 6)},
    }
    tau = ours.inverse_dynamics(*motion, **loads)
    by_q, by_qd, matrix = parts = ours.inverse_dynamics_derivatives(*motion, **loads)
    step = 1e-5 * np.eye(ours.n)
    for place, part in enumerate(parts):
        for joint in range(ours.n):
            ends = []
            for sign in (1.0, -1.0):
                moved = list(motion)
                moved[place] = motion[place] + sign * step[joint]
                ends.append(ours.inverse_dynamics(*moved, **loads))
            scale = max(np.abs(part).max(), np.abs(tau).max())
            difference = (ends[0] - ends[1]) / 2e-5
            np.testing.assert_allclose(part[:, joint], difference, rtol=0, atol=1e-6 * scale)
    found = ours.forward_dynamics_derivatives(*motion[:2], tau, **loads)
    check([matrix @ part for part in found], [-by_q, -by_qd, np.eye(ours.n)], 1e-7)
