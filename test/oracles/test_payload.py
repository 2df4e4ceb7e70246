"""A load at run time is what the same load in the model is, here and in Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.rigid_body import Inertia, Transform
from ne_dynamics.shipped import shipped_file

ROWS = 3
COMPILED_ROBOTS = ('UR5', 'Panda with', 'TIAGo without')
SHIPPED = ('six_axis_arm.urdf', 'puma560_standard_dh.yaml', 'six_link_dh.yaml')


def random_payload(seed):
    """Return a real body with a full tensor, off the origin, as heavy as a link."""
    rng = np.random.default_rng([seed, 10])
    mass = rng.uniform(0.5, 5.0)
    x, y, z = mass * rng.uniform(0.05, 0.3, 3) ** 2
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T
    return Inertia(mass, rng.uniform(-0.3, 0.3, 3), 0.5 * (tensor + tensor.T))


def combinations(sample):
    """Iterate over wrench and base motion, with and without."""
    for wrench in (None, sample.wrench):
        for base in (None, sample.base_motion):
            yield wrench, base


def check_against_model(name, ours, seed, assert_agree):
    """Compare batch and single calls with the model that has the payload built in."""
    payload = random_payload(seed)
    built_in = ned.Dynamics(
        ours.robot.with_payload(payload), gravity=GRAVITY, backend=ours.backend
    )
    parameters = ours.robot.payload_parameters(payload)
    sample = random_motion(seed, ROWS, ours.n)
    motion = sample.q, sample.qd, sample.qdd
    for wrench, base in combinations(sample):
        expected = built_in.inverse_dynamics(*motion, wrench, base)
        computed = ours.inverse_dynamics(*motion, wrench, base, parameters)
        assert_agree(name, 'payload', computed, expected, tolerance=1e-12)
        for row in range(ROWS):
            single = [None if value is None else value[row] for value in (*motion, wrench, base)]
            computed = ours.inverse_dynamics(*single, parameters)
            assert_agree(name, 'payload', computed, expected[row], np.abs(expected).max(), 1e-12)


@pytest.mark.parametrize(
    ('backend', 'seed'),
    backend_cases(range(700, 740), range(700, 706).__contains__),
    indirect=['backend'],
)
def test_a_payload_at_run_time_is_the_payload_in_the_model_of_a_tree(seed, backend, assert_agree):
    """On random trees the argument gives what the model with that load gives."""
    subject = random_tree(seed, 1 + seed % 10)
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    check_against_model('random trees', ours, seed, assert_agree)


@pytest.mark.parametrize('name', SHIPPED)
def test_a_payload_at_run_time_is_the_payload_in_the_model(name, backend, assert_agree):
    """On the robots of the package the argument gives what the model with that load gives."""
    load = ned.load_urdf if name.endswith('.urdf') else ned.load_dh
    ours = ned.Dynamics(load(shipped_file(name)), gravity=GRAVITY, backend=backend)
    check_against_model(name, ours, 3, assert_agree)


@pytest.mark.parametrize(
    ('backend', 'robot'),
    backend_cases(EXAMPLE_ROBOTS, lambda robot: robot.name.startswith(COMPILED_ROBOTS)),
    indirect=['backend'],
    ids=lambda case: getattr(case, 'name', case),
)
def test_robots_with_a_payload(robot, backend, assert_agree):
    """A load at the tip changes the torques as a body appended to Pinocchio's model does."""
    ours = urdf_dynamics(robot.path, backend, **robot.as_loaded)
    oracle = PinocchioRobot(robot.path.read_text(), ours.joint_names, GRAVITY, **robot.as_loaded)
    check_against_pinocchio(robot.name, ours, oracle, 5, None, assert_agree)


@pytest.mark.parametrize(
    ('backend', 'seed'),
    backend_cases(range(800, 830), range(800, 804).__contains__),
    indirect=['backend'],
)
def test_random_trees_with_a_payload_on_a_moving_base(seed, backend, assert_agree):
    """Random trees with load, tip wrench and moving base at once agree with Pinocchio."""
    subject = random_tree(seed, 1 + seed % 10)
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    oracle = PinocchioRobot(
        subject.urdf, ours.joint_names, GRAVITY, wrench_link=subject.tip, floating=True
    )
    base = random_motion(seed, ROWS, ours.n).base_motion
    check_against_pinocchio('random trees', ours, oracle, seed, base, assert_agree)


def check_against_pinocchio(name, ours, oracle, seed, base, assert_agree):
    """Compare row by row, with the wrench, without friction in the scale."""
    payload = random_payload(seed)
    oracle.add_payload(payload.mass, payload.center_of_mass, payload.inertia_about_com)
    parameters = ours.robot.payload_parameters(payload)
    sample = random_motion(seed, ROWS, ours.n)
    for row in range(ROWS):
        motion = sample.q[row], sample.qd[row], sample.qdd[row]
        extras = sample.wrench[row], None if base is None else base[row]
        rigid = oracle.inverse_dynamics(*motion, *extras)
        expected = rigid + oracle.friction_torque(sample.qd[row])
        computed = ours.inverse_dynamics(*motion, *extras, parameters)
        assert_agree(name, 'payload', computed, expected, np.abs(rigid).max())


def test_the_effect_is_linear_in_the_payload(backend, assert_agree):
    """Two loads together change the torque by the sum of what each does, zeros by nothing."""
    subject = random_tree(905, 6)
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    sample = random_motion(9, ROWS, ours.n)
    motion = sample.q, sample.qd, sample.qdd
    rng = np.random.default_rng(9)
    first, second = rng.uniform(-2.0, 2.0, (2, ROWS, 10))
    plain = ours.inverse_dynamics(*motion)
    scale = np.abs(plain).max()
    effects = [
        ours.inverse_dynamics(*motion, payload=payload) - plain
        for payload in (first, second, first + second)
    ]
    assert_agree('identities', 'payload', effects[0] + effects[1], effects[2], scale)
    nothing = ours.inverse_dynamics(*motion, payload=np.zeros(10))
    assert_agree('identities', 'no payload', nothing, plain, scale)


def test_a_payload_on_the_base_costs_no_effort(backend):
    """A tip that is part of the base carries any load by itself."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    fixed = ned.Dynamics(
        replace(robot, tip_link=robot.base_link), gravity=GRAVITY, backend=backend
    )
    sample = random_motion(8, ROWS, robot.n)
    motion = sample.q, sample.qd, sample.qdd
    np.testing.assert_allclose(
        fixed.inverse_dynamics(*motion, payload=np.ones(10)),
        fixed.inverse_dynamics(*motion),
        rtol=1e-12,
        atol=1e-12,
    )


def test_parameters_of_a_payload_on_any_rigid_link():
    """A payload given at another link of the tip's body is the same load at the tip."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    tip = robot.tip
    other = next(link for link in robot.links if link.body == tip.body and link.name != tip.name)
    payload = random_payload(4)
    to_tip = tip.pose_in_body.inverse() @ other.pose_in_body
    np.testing.assert_allclose(
        robot.payload_parameters(payload, other.name), payload.transformed(to_tip).parameters
    )
    np.testing.assert_array_equal(
        robot.payload_parameters(payload, tip.name), robot.payload_parameters(payload)
    )
    at_link = ned.Dynamics(
        robot.with_payload(payload, other.name), gravity=GRAVITY, backend='python'
    )
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
    sample = random_motion(4, ROWS, robot.n)
    motion = sample.q, sample.qd, sample.qdd
    np.testing.assert_allclose(
        ours.inverse_dynamics(*motion, payload=robot.payload_parameters(payload, other.name)),
        at_link.inverse_dynamics(*motion),
        rtol=1e-11,
        atol=1e-11,
    )


def test_a_payload_beyond_a_joint_is_refused_by_name():
    """A link that moves against the tip, an unknown one, or no tip at all is a model error."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    payload = random_payload(4)
    moving = next(link.name for link in robot.links if link.body == 1)
    with pytest.raises(ModelError, match=f'{moving}.*{robot.tip_link}'):
        robot.payload_parameters(payload, moving)
    with pytest.raises(ModelError, match='nowhere'):
        robot.payload_parameters(payload, 'nowhere')
    with pytest.raises(ModelError, match='tip'):
        replace(robot, tip_link=None).payload_parameters(payload)


def test_parameters_are_moments_about_the_origin():
    """The ten parameters of a body are the sums over its mass points."""
    rng = np.random.default_rng(6)
    masses, points = rng.uniform(0.1, 1.0, 20), rng.uniform(-0.5, 0.5, (20, 3))
    com = masses @ points / masses.sum()

    def tensor(offsets):
        squares = (offsets**2).sum(axis=1)
        return np.einsum('k,kij->ij', masses, squares[:, None, None] * np.eye(3)) - np.einsum(
            'k,ki,kj->ij', masses, offsets, offsets
        )

    body = Inertia(masses.sum(), com, tensor(points - com))
    about_origin = tensor(points)
    rows, columns = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
    expected = [masses.sum(), *(masses @ points), *about_origin[rows, columns]]
    np.testing.assert_allclose(body.parameters, expected, rtol=1e-12)
    pose = Transform.from_xyz_rpy([0.1, -0.2, 0.3], [0.4, 0.5, -0.6])
    moved = points @ pose.rotation.T + pose.translation
    np.testing.assert_allclose(
        body.transformed(pose).parameters[4:], tensor(moved)[rows, columns], rtol=1e-11
    )
