"""The regressor, written out and in factors, against each other and against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from random_robots import random_tree
from test_mechanism import MEETINGS, PATTERNS, chain, tree_robot

import ne_dynamics as ned
from ne_dynamics.algorithms.mechanism import build_mechanism
from ne_dynamics.algorithms.regressor import (
    assemble_regressor,
    find_structure,
    regressor,
    regressor_by_factors,
    regressor_factors,
    supports,
)
from ne_dynamics.codegen.symbols import Graph
from ne_dynamics.papers import robots
from ne_dynamics.shipped import shipped_file

GRAVITY = (0.3, -0.2, -9.80665)


def factors(plain, q, qd, qdd, gravity=GRAVITY):
    """Return twists (N, b, 6) and wrenches (N, 6, 10 b) for samples in rows."""
    arguments = [list(np.ascontiguousarray(values.T)) for values in (q, qd, qdd)]
    twists, wrenches = regressor_factors(plain, *arguments, gravity)
    samples = q.shape[0]

    def array(rows):
        flat = [np.broadcast_to(value, samples) for value in rows]
        return np.stack(flat, axis=1)

    count = len(plain.bodies)
    return (
        array([value for twist in twists for value in twist]).reshape(samples, count, 6),
        array([v for row in range(6) for wrench in wrenches for v in wrench[row]]).reshape(
            samples, 6, 10 * count
        ),
    )


def assembled(robot, q, qd, qdd, gravity=GRAVITY):
    """Return the regressor of samples, shape (N, n, 10 b)."""
    plain = build_mechanism(robot, regroup=False)
    return assemble_regressor(*factors(plain, q, qd, qdd, gravity), find_structure(plain))


def models():
    """Return trees with slides and mimic joints, special chains, and shipped robots."""
    for seed in range(6):
        yield tree_robot(seed, 9)
    for seed, (pattern, meeting) in enumerate(
        zip(PATTERNS.values(), (*MEETINGS, 'skew'), strict=True)
    ):
        yield chain(seed, pattern, 1.0, meeting)
        yield chain(seed, pattern, np.pi / 2, meeting, axis_aligned=True)
    for name in ('six_axis_arm.urdf', 'puma560_standard_dh.yaml', 'puma560_modified_dh.yaml'):
        yield ned.load_model(shipped_file(name))


@pytest.mark.parametrize('robot', list(models()), ids=lambda robot: robot.name)
def test_both_forms_agree(robot):
    """The factors, assembled or multiplied one by one, are the regressor that is written out."""
    q, qd, qdd = np.random.default_rng(robot.n).uniform(-2.0, 2.0, (3, 4, robot.n))
    result = assembled(robot, q, qd, qdd)
    plain = build_mechanism(robot, regroup=False)
    for sample, arguments in enumerate(zip(q, qd, qdd, strict=True)):
        expected = np.array(regressor(plain, *(row.tolist() for row in arguments), GRAVITY))
        scale = np.abs(expected).max()
        np.testing.assert_allclose(result[sample], expected, rtol=1e-9, atol=1e-12 * scale)
        products = regressor_by_factors(plain, *(row.tolist() for row in arguments), GRAVITY)
        np.testing.assert_allclose(products, result[sample], rtol=1e-12, atol=1e-14 * scale)


@pytest.mark.parametrize('robot', list(models()), ids=lambda robot: robot.name)
def test_times_the_parameters_it_is_the_effort(robot):
    """Y @ parameters is the inverse dynamics without friction and rotor inertia."""
    q, qd, qdd = np.random.default_rng(robot.n).uniform(-2.0, 2.0, (3, 5, robot.n))
    dynamics = ned.Dynamics(robot, GRAVITY, 'python')
    joints = robot.joints
    expected = dynamics.inverse_dynamics(q, qd, qdd)
    expected = expected - [joint.reflected_inertia for joint in joints] * qdd
    expected = expected - [joint.viscous_friction for joint in joints] * qd
    expected = expected - [joint.coulomb_friction for joint in joints] * np.sign(qd)
    result = assembled(robot, q, qd, qdd) @ dynamics.inertial_parameters()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-11 * scale)


@pytest.mark.parametrize('n', [3, 11, 20, 50])
def test_chains_agree_with_pinocchio(n):
    """Chains of full inertia tensors agree with computeJointTorqueRegressor."""
    pin = pytest.importorskip('pinocchio', reason='needs Pinocchio (pip install pin)')
    robot = robots.chain(n)
    model = pin.Model()
    model.gravity.linear = np.array(GRAVITY)
    parent = 0
    for body in robot.bodies:
        pose = body.pose_in_parent
        placement = pin.SE3(np.array(pose.rotation), np.array(pose.translation))
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, body.joint_name)
        inertia = body.inertia
        model.appendBodyToJoint(
            parent,
            pin.Inertia(
                inertia.mass,
                np.array(inertia.center_of_mass),
                np.array(inertia.inertia_about_com),
            ),
            pin.SE3.Identity(),
        )
    data = model.createData()
    q, qd, qdd = np.random.default_rng(n).uniform(-2.0, 2.0, (3, 3, n))
    result = assembled(robot, q, qd, qdd)
    for sample in range(3):
        expected = pin.computeJointTorqueRegressor(model, data, q[sample], qd[sample], qdd[sample])
        scale = np.abs(expected).max(axis=1, keepdims=True)
        assert (np.abs(result[sample] - expected) <= 1e-9 * np.abs(expected) + 1e-13 * scale).all()


@pytest.mark.parametrize('seed', range(4))
def test_trees_agree_with_pinocchio(seed):
    """Random trees with slides and mimic joints agree with Pinocchio, joint by joint."""
    pin = pytest.importorskip('pinocchio', reason='needs Pinocchio (pip install pin)')
    tree = random_tree(seed, 10)
    robot = ned.load_urdf(tree.urdf)
    model = pin.buildModelFromXML(tree.urdf)
    model.gravity.linear = np.array(GRAVITY)
    data = model.createData()
    q, qd, qdd = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, 1, robot.n))
    configuration = pin.neutral(model)
    velocity, acceleration = np.zeros(model.nv), np.zeros(model.nv)
    for body in robot.bodies:
        joint = model.joints[model.getJointId(body.joint_name)]
        position = body.multiplier * q[0, body.coordinate] + body.offset
        if joint.nq == 2:
            configuration[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
        else:
            configuration[joint.idx_q] = position
        velocity[joint.idx_v] = body.multiplier * qd[0, body.coordinate]
        acceleration[joint.idx_v] = body.multiplier * qdd[0, body.coordinate]
    full = pin.computeJointTorqueRegressor(model, data, configuration, velocity, acceleration)
    expected = np.zeros((robot.n, 10 * len(robot.bodies)))
    for body in robot.bodies:
        row = full[model.joints[model.getJointId(body.joint_name)].idx_v]
        for index, other in enumerate(robot.bodies):
            first = 10 * (model.getJointId(other.joint_name) - 1)
            block = slice(10 * index, 10 * index + 10)
            expected[body.coordinate, block] += body.multiplier * row[first : first + 10]
    result = assembled(robot, q, qd, qdd)[0]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize('n', [11, 15])
def test_machine_code_of_many_joints_gives_the_same(n):
    """Also where it refuses a sample, such as a very large angle, and others answer for it."""
    pytest.importorskip('llvmlite', reason='llvmlite is not installed')
    compiled, python = (
        ned.Dynamics(robots.chain(n), GRAVITY, each) for each in ('compiled', 'python')
    )
    q, qd, qdd = np.random.default_rng(n).uniform(-2.0, 2.0, (3, 3, n))
    for _ in range(2):
        for row in (0, slice(None)):
            expected = python.regressor(q[row], qd[row], qdd[row])
            found = compiled.regressor(q[row], qd[row], qdd[row])
            atol = 1e-12 * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=atol)
        q[0, 1] = 2e6


def test_supports_are_the_bodies_before_each():
    """Entry (j, i) says whether body j is body i or one of those before it."""
    robot = tree_robot(1, 9)
    carried = supports(build_mechanism(robot, regroup=False))
    for index in range(len(robot.bodies)):
        before, other = set(), index
        while other != -1:
            before.add(other)
            other = robot.bodies[other].parent
        assert set(np.flatnonzero(carried[:, index])) == before


def test_operations_of_the_factors_grow_with_the_number_of_bodies():
    """Each body of a general chain adds the same operations, some two hundred products."""
    counts = []
    for n in (10, 30, 50):
        graph = Graph()
        arguments = [graph.inputs(stem, n) for stem in ('q', 'qd', 'qdd')]
        plain = build_mechanism(robots.chain(n), regroup=False)
        twists, wrenches = regressor_factors(plain, *arguments, (0.0, 0.0, -9.80665))
        outputs = [value for twist in twists for value in twist]
        outputs += [value for wrench in wrenches for row in wrench for value in row]
        counts.append(graph.count(outputs).multiplications)
    earlier, later = np.diff(counts)
    assert earlier == later
    assert later < 215 * 20


def test_one_sample_needs_no_axis_for_samples():
    """Factors of shapes (b, 6) and (6, 10 b) give a regressor of shape (n, 10 b)."""
    robot = tree_robot(2, 9)
    plain = build_mechanism(robot, regroup=False)
    arguments = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 1, robot.n))
    twists, wrenches = factors(plain, *arguments)
    structure = find_structure(plain)
    one = assemble_regressor(twists[0], wrenches[0], structure)
    assert one.shape == (robot.n, 10 * len(robot.bodies))
    np.testing.assert_array_equal(one, assemble_regressor(twists, wrenches, structure)[0])
