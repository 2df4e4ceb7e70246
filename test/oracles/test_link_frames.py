"""Poses of all links and rates of Jacobians, against Pinocchio and differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form
from example_robots import EXAMPLE_ROBOTS
from motion_samples import random_motion
from oracle_measure import COMPILED, GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot
from rotor_trees import rotor_dynamics, rotor_oracle

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError, NeDynamicsError

ROWS = 3
TOLERANCE = 1e-11
"""Relative to the largest number of the sample."""

TREES = [(seed, 1 + seed % 9) for seed in range(1500, 1527)] + [(1530, 14), (1531, 25)]
COMPILED_TREES = [*TREES[:4], (1530, 14)]
COMPILED_ROBOTS = ('Panda with', 'Baxter, left arm')

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


@pytest.mark.parametrize(
    ('backend', 'robot'),
    backend_cases(EXAMPLE_ROBOTS, lambda robot: robot.name.startswith(COMPILED_ROBOTS)),
    indirect=['backend'],
    ids=lambda case: getattr(case, 'name', case),
)
def test_robots(robot, backend, assert_agree):
    """Poses and rates of real robots, chains from a link in the middle too, are Pinocchio's."""
    ours = urdf_dynamics(robot.path, backend, **robot.as_loaded)
    oracle = PinocchioRobot(robot.path.read_text(), ours.joint_names, GRAVITY, **robot.as_loaded)
    check_poses(robot.name, ours, oracle, 21, assert_agree)
    for axes in ('base', 'tip', 'world'):
        for link in (None, ours.link_names[len(ours.link_names) // 2]):
            check_rate(robot.name, ours, oracle, link, axes, assert_agree)


def check_rate(name, ours, oracle, link, axes, assert_agree):
    """Compare the rate of a Jacobian in every form of call."""
    sample = random_motion(22, ROWS, ours.n)
    motion = sample.q, sample.qd
    expected = np.array(
        [oracle.jacobian_rate(*row, link or oracle.tip, axes) for row in zip(*motion, strict=True)]
    )
    jacobian = np.array([ours.jacobian(q, link, axes) for q in sample.q])
    scale = max(np.abs(expected).max(), np.abs(jacobian).max())

    def rate(q, qd, out=None):
        return ours.jacobian_rate(q, qd, link, axes, out=out)

    for form, computed in call_in_every_form(rate, *motion).items():
        assert_agree(name, f'rate in {axes} axes ({form})', computed, expected, scale, TOLERANCE)


def some_links(ours):
    """Return the tip, the base, and three links anywhere."""
    rng = np.random.default_rng(ours.n)
    return [None, ours.robot.base_link, *map(str, rng.permutation(ours.link_names)[:3])]


@every_tree
@axes_of_a_rate
def test_rates_of_jacobians_of_trees(tree, axes, backend, assert_agree):
    """The rate is Pinocchio's, of the tip and of named links, mimic joints included."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    for link in some_links(ours):
        if link == ours.robot.base_link:
            continue
        check_rate('random trees', ours, oracle, link, axes, assert_agree)


@every_tree
@axes_of_a_rate
def test_rates_of_jacobians_against_differences(tree, axes, backend):
    """The rate is the derivative of the Jacobian's numbers along qd.

    Sixth-order central differences with a step of 5e-3; the bound is 1e-8 of the larger of
    Jacobian and rate: what is left out is ``step^6 / 140`` times the seventh derivative.
    """
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(23, 1, ours.n)
    q, qd, step = sample.q[0], sample.qd[0], 5e-3
    for link in some_links(ours):

        def jacobian(index, link=link):
            return ours.jacobian(q + index * step * qd, link, axes)

        weights = {1: 45.0, 2: -9.0, 3: 1.0}
        differences = sum(
            weight * (jacobian(k) - jacobian(-k)) for k, weight in weights.items()
        ) / (60.0 * step)
        computed = ours.jacobian_rate(q, qd, link, axes)
        scale = max(np.abs(differences).max(), np.abs(jacobian(0)).max())
        assert np.abs(computed - differences).max() <= 1e-8 * scale
        if link == ours.robot.base_link:
            np.testing.assert_array_equal(computed, np.zeros((6, ours.n)))


@every_tree
def test_the_rate_gives_the_acceleration_of_the_tip(tree, backend, assert_agree):
    """J qdd + dJ/dt qd is the second derivative of the tip's position (differences, 5e-3)."""
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(24, 1, ours.n)
    q, qd, qdd, step = sample.q[0], sample.qd[0], sample.qdd[0], 5e-3

    def position(index):
        t = index * step
        return ours.forward_kinematics(q + t * qd + t * t / 2.0 * qdd)[:3, 3]

    weights = {0: -490.0, 1: 270.0, 2: -27.0, 3: 2.0}
    differences = sum(
        weight * (position(k) + position(-k)) / (2.0 if k == 0 else 1.0)
        for k, weight in weights.items()
    ) / (180.0 * step**2)
    computed = ours.jacobian(q) @ qdd + ours.jacobian_rate(q, qd) @ qd
    scale = max(np.abs(computed).max(), np.abs(position(0)).max())
    assert_agree('differences', 'acceleration', computed[:3], differences, scale, 1e-7)


@every_tree
def test_the_two_axes_differ_by_the_turning_of_the_link(tree, backend, assert_agree):
    """In base axes the rate is R (rate in tip axes) plus the spin of R times the Jacobian."""
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(25, 1, ours.n)
    q, qd = sample.q[0], sample.qd[0]
    for link in some_links(ours)[:3]:
        rotation = ours.forward_kinematics(q, link)[:3, :3]
        jacobian = ours.jacobian(q, link)
        spin = jacobian[3:] @ qd
        in_tip = ours.jacobian_rate(q, qd, link, 'tip')
        expected = np.vstack(
            [
                rotation @ in_tip[rows] + np.cross(spin, jacobian[rows], axisb=0).T
                for rows in (slice(0, 3), slice(3, 6))
            ]
        )
        computed = ours.jacobian_rate(q, qd, link)
        scale = max(np.abs(computed).max(), np.abs(jacobian).max())
        assert_agree('identities', 'rates', computed, expected, scale, TOLERANCE)


def test_a_pendulum(backend):
    """A point at l on an arm about z: J = (-l sin q, l cos q), the rate turns it further."""
    text = (
        '<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="end"/><joint name="hinge" type="continuous"><parent link="base"/>'
        '<child link="arm"/><axis xyz="0 0 1"/></joint><joint name="weld" type="fixed">'
        '<origin xyz="0.7 0 0"/><parent link="arm"/><child link="end"/></joint></robot>'
    )
    ours = ned.Dynamics(ned.load_urdf(text, tip_link='end'), backend=backend)
    q, qd = 0.6, 1.7
    expected = np.array([[-0.7 * np.cos(q) * qd, -0.7 * np.sin(q) * qd, 0, 0, 0, 0]]).T
    np.testing.assert_allclose(ours.jacobian_rate([q], [qd]), expected, atol=1e-15)
    in_tip = ours.jacobian_rate([q], [qd], axes='tip')
    np.testing.assert_allclose(in_tip, np.zeros((6, 1)), atol=1e-15)
    assert set(ours.link_names) == {'base', 'arm', 'end'}


@pytest.mark.parametrize('rows', [0, 1, 9])
def test_shapes_of_batches(rows, backend):
    """A batch of N rows gives N results, an empty one none."""
    ours = rotor_dynamics(1502, 9, backend)
    q = np.zeros((rows, ours.n))
    assert ours.link_poses(q).shape == (rows, len(ours.link_names), 4, 4)
    assert ours.jacobian_rate(q, q).shape == (rows, 6, ours.n)


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
    """A tree without tip has rates of named links only, and all poses."""
    robot = replace(rotor_dynamics(1502, 9, backend).robot, tip_link=None)
    ours = ned.Dynamics(robot, GRAVITY, backend)
    zero = np.zeros(ours.n)
    for _ in range(2):
        with pytest.raises(ModelError, match='tip'):
            ours.jacobian_rate(zero, zero)
        assert ours.jacobian_rate(zero, zero, ours.link_names[-1]).shape == (6, ours.n)
        assert ours.link_poses(zero).shape == (len(ours.link_names), 4, 4)


@pytest.mark.parametrize(
    'value',
    [[0.0, np.nan, 0.0], [np.inf, 0.0, 0.0], np.zeros(2), np.zeros((1, 1, 3)), 0.5, 'up', None],
    ids=repr,
)
@pytest.mark.parametrize('bad', ['q', 'qd'])
def test_joint_arrays_that_cannot_be_used_are_refused_by_name(bad, value, backend):
    """The rate of a Jacobian refuses a wrong shape, type or number, before and after calls."""
    ours = rotor_dynamics(1514, 3, backend)
    for _ in range(2):
        arguments = {'q': np.zeros(3), 'qd': np.zeros(3)}
        assert np.isfinite(ours.jacobian_rate(**arguments)).all()
        arguments[bad] = value
        with pytest.raises(InputError, match=rf'\b{bad}\b'):
            ours.jacobian_rate(**arguments)


def test_velocities_so_large_that_the_rate_overflows_are_refused(backend):
    """Finite velocities never give a rate that is not finite: here it overflows."""
    ours = rotor_dynamics(1530, 14, backend)
    for rows in ((), (9,)):
        q, fast = np.full((*rows, ours.n), 0.3), np.full((*rows, ours.n), 1.7e308)
        for _ in range(2):
            with pytest.raises(InputError, match='overflow'):
                ours.jacobian_rate(q, fast)
            assert np.isfinite(ours.jacobian_rate(q, q)).all()
