"""Poses of all links and rates of Jacobians, against Pinocchio and differences."""

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form
from motion_samples import random_motion
from oracle_measure import COMPILED, GRAVITY, backend_cases
from rotor_trees import rotor_dynamics, rotor_oracle

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError, NeDynamicsError

ROWS = 3
TOLERANCE = 1e-11
"""Relative to the largest number of the sample."""

TREES = [(1500, 7), (1502, 9), (1504, 2), (1530, 14)]
COMPILED_TREES = [(1504, 2)]

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)
axes_of_a_rate = pytest.mark.parametrize('axes', ['base', 'tip', 'world'])


def check_poses(name, ours, oracle, seed, assert_agree):
    """Compare all poses in every form of call, and each with the pose of that link alone."""
    q = random_motion(seed, ROWS, ours.n).q
    links = ours.link_names
    assert sorted(links) == sorted(link.name for link in ours.robot.links)
    expected = np.array(
        [[oracle.forward_kinematics(row, link=link) for link in links] for row in q]
    )
    for form, computed in call_in_every_form(ours.link_poses, q).items():
        assert computed.shape == (ROWS, len(links), 4, 4)
        assert_agree(name, f'poses of all links ({form})', computed, expected, None, TOLERANCE)
    bottom = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (ROWS, len(links), 4))
    np.testing.assert_array_equal(ours.link_poses(q)[..., 3, :], bottom)
    base = ours.link_poses(q[0])[links.index(ours.robot.base_link)]
    np.testing.assert_allclose(base, np.eye(4), atol=1e-14)


@every_tree
def test_poses_of_all_links_of_trees(tree, backend, assert_agree):
    """Every link, those fixed to the base or to another too, is where Pinocchio has it."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    check_poses('random trees', ours, oracle, tree[0], assert_agree)
    q = random_motion(tree[0], ROWS, ours.n).q
    poses = ours.link_poses(q)
    some = range(0, len(ours.link_names), 4 if backend in COMPILED else 1)
    for index in some:
        alone = ours.forward_kinematics(q, link=ours.link_names[index])
        assert_agree('identities', 'poses', poses[:, index], alone, None, TOLERANCE)


def check_rate(name, ours, oracle, link, axes, assert_agree):
    """Compare a Jacobian, and its rate in every form of call."""
    sample = random_motion(22, ROWS, ours.n)
    motion = sample.q, sample.qd
    expected = np.array(
        [oracle.jacobian_rate(*row, link or oracle.tip, axes) for row in zip(*motion, strict=True)]
    )
    jacobian = np.array([ours.jacobian(q, link, axes) for q in sample.q])
    right = [oracle.jacobian(q, axes, link) for q in sample.q]
    assert_agree(name, f'Jacobian in {axes} axes', jacobian, right, None, TOLERANCE)
    scale = max(np.abs(expected).max(), np.abs(jacobian).max())

    def rate(q, qd, out=None):
        return ours.jacobian_rate(q, qd, link, axes, out=out)

    for form, computed in call_in_every_form(rate, *motion).items():
        assert_agree(name, f'rate in {axes} axes ({form})', computed, expected, scale, TOLERANCE)


def some_links(ours):
    """Return the tip, the base, and three links anywhere."""
    rng = np.random.default_rng(ours.n)
    return [None, ours.robot.base_link, *map(str, rng.permutation(ours.link_names)[:3])]


@pytest.mark.kept(6)
@every_tree
@axes_of_a_rate
def test_rates_of_jacobians_of_trees(tree, axes, backend, assert_agree):
    """The rate is Pinocchio's, of the tip and of named links, mimic joints included."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    for link in some_links(ours):
        if link == ours.robot.base_link:
            continue
        check_rate('random trees', ours, oracle, link, axes, assert_agree)


# ---- input that cannot be used


def test_unknown_links_and_axes_are_refused_by_name(backend):
    """The rate of a Jacobian takes a link of the robot, and base, tip or world axes."""
    ours = rotor_dynamics(1502, 9, backend)
    zero = np.zeros(ours.n)
    for _ in range(2):
        with pytest.raises(NeDynamicsError, match='nowhere'):
            ours.jacobian_rate(zero, zero, 'nowhere')
        for axes in ('wrist', '', None, 0):
            with pytest.raises(InputError, match='axes'):
                ours.jacobian_rate(zero, zero, axes=axes)


def test_without_a_tip_a_link_must_be_named(backend):
    robot = replace(rotor_dynamics(1502, 9, backend).robot, tip_link=None)
    ours = ned.Dynamics(robot, GRAVITY, backend)
    zero = np.zeros(ours.n)
    for _ in range(2):
        with pytest.raises(ModelError, match='tip'):
            ours.jacobian_rate(zero, zero)
        assert ours.jacobian_rate(zero, zero, ours.link_names[-1]).shape == (6, ours.n)
        assert ours.link_poses(zero).shape == (len(ours.link_names), 4, 4)
