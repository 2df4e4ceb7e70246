"""Friction in the traced equations: the formula, its derivatives, and what it costs without."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from compiled_c import call_c, compile_c
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.algorithms.hysteresis import compute_friction_along
from ne_dynamics.errors import InputError
from ne_dynamics.model.friction import FrictionModel

GRAVITY = (0.3, -0.2, -9.80665)

TERMS = {
    'static': {'static_friction': 3.0, 'stribeck_velocity': 0.3},
    'smooth': {'smoothing_velocity': 0.2},
    'load': {'load_coefficient': 0.07},
    'asymmetry': {'friction_asymmetry': 0.4},
    'offset': {'friction_offset': -0.6},
    'square root': {'square_root_friction': 0.8},
    'cubic': {'cubic_friction': -0.1},
    'hysteresis': {'hysteresis_friction': 0.5, 'hysteresis_displacement': 0.1},
}
TERMS['all but smooth'] = {
    key: value for name, term in TERMS.items() if name != 'smooth' for key, value in term.items()
}
TERMS['all'] = TERMS['all but smooth'] | TERMS['smooth']


def random_robot(terms, seed=4, joints=6):
    """Return a random tree whose joints have random friction of these terms."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed, joints)
    robot = replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)
    changed = [
        replace(
            joint,
            viscous_friction=rng.uniform(0.1, 1.0),
            coulomb_friction=rng.uniform(0.1, 1.0),
            friction=FrictionModel(
                **{key: value * rng.uniform(0.5, 1.0) for key, value in terms.items()}
            ),
        )
        for joint in robot.joints
    ]
    return replace(robot, joints=tuple(changed))


def expected_friction(joint, v, load):
    """Return the friction of one joint by the formula of the documents, on floats."""
    friction = joint.friction
    smoothing = friction.smoothing_velocity
    s = math.tanh(v / smoothing) if smoothing > 0.0 else math.copysign(1.0, v) if v else 0.0
    static = friction.static_friction
    level = joint.coulomb_friction + friction.load_coefficient * abs(load)
    if static is not None:
        decay = math.exp(-math.pow(v / friction.stribeck_velocity, 2))
        level += (static - joint.coulomb_friction) * decay
    level += friction.hysteresis_friction / 2.0
    width = max(smoothing, 1e-6)
    return math.fsum(
        (
            friction.friction_offset,
            joint.viscous_friction * v,
            level * s,
            friction.friction_asymmetry * s**2,
            friction.square_root_friction * v / math.pow(v**2 + width**2, 0.25),
            friction.cubic_friction * v**3,
        )
    )


def samples(n, count=12, seed=0):
    """Return q, qd, qdd of shape (count, n); some velocities are zero, some near it."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, count, n))
    qd[0], qd[1], qd[2] = 0.0, 1e-3 * qd[1], 1e-9 * qd[2]
    return q, qd, qdd


def rigid(robot):
    """Return the dynamics of the robot without friction."""
    joints = [
        replace(joint, viscous_friction=0.0, coulomb_friction=0.0, friction=FrictionModel())
        for joint in robot.joints
    ]
    return ned.Dynamics(replace(robot, joints=tuple(joints)), GRAVITY, backend='python')


@pytest.mark.kept(4)
@pytest.mark.parametrize('terms', TERMS)
def test_efforts_are_those_without_friction_and_the_formula(terms, backend):
    robot = random_robot(TERMS[terms])
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    free = rigid(robot)
    q, qd, qdd = samples(robot.n)
    loads = free.inverse_dynamics(q, qd, np.zeros_like(qd))
    friction = np.array(
        [
            [expected_friction(*each) for each in zip(robot.joints, v, load, strict=True)]
            for v, load in zip(qd, loads, strict=True)
        ]
    )
    expected = free.inverse_dynamics(q, qd, qdd) + friction
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(q, qd, qdd), expected, rtol=0, atol=1e-12 * scale
    )
    for row in range(len(q)):
        single = dynamics.inverse_dynamics(q[row], qd[row], qdd[row])
        np.testing.assert_allclose(single, expected[row], rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(
        dynamics.friction_torque(qd, load=loads), friction, rtol=0, atol=1e-12 * scale
    )
    np.testing.assert_allclose(
        dynamics.friction_torque(qd[3], q=q[3]), friction[3], rtol=0, atol=1e-12 * scale
    )


def with_everything(n, seed=3):
    """Return q, qd, qdd, wrench, base motion and payload of eight samples."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = samples(n, 8, seed)
    payload = np.zeros((8, 10))
    payload[:, 0], payload[:, [4, 6, 9]] = 1.5, 0.02
    return q, qd, qdd, rng.normal(size=(8, 6)), rng.normal(size=(8, 9)), payload


@pytest.mark.kept(1)
@pytest.mark.parametrize('joints', [4, 14])
def test_forward_dynamics_are_the_inverse_with_every_term_on(backend, joints):
    """With load, payload, wrench and base motion an effort gives the acceleration it is of."""
    robot = random_robot(TERMS['all'], seed=1, joints=joints)
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    q, qd, qdd, wrench, base, payload = with_everything(robot.n)
    for more in ((), (wrench,), (wrench, base, payload)):
        tau = dynamics.inverse_dynamics(q, qd, qdd, *more)
        found = dynamics.forward_dynamics(q, qd, tau, *more)
        np.testing.assert_allclose(found, qdd, rtol=0, atol=1e-8)
        single = dynamics.forward_dynamics(q[5], qd[5], tau[5], *[each[5] for each in more])
        np.testing.assert_allclose(single, qdd[5], rtol=0, atol=1e-8)


def test_load_is_that_of_payload_wrench_and_base_motion_without_acceleration(backend):
    """Friction grows with the magnitude of what links and loads ask of the joint at qdd = 0."""
    robot = random_robot(TERMS['load'], seed=1, joints=5)
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    free = dynamics.without_friction()
    assert not free.friction_torque(np.ones(robot.n)).any()
    q, qd, qdd, *more = with_everything(robot.n)
    loads = free.inverse_dynamics(q, qd, np.zeros_like(qdd), *more)
    friction = dynamics.inverse_dynamics(q, qd, qdd, *more) - free.inverse_dynamics(
        q, qd, qdd, *more
    )
    expected = [
        [expected_friction(*each) for each in zip(robot.joints, v, load, strict=True)]
        for v, load in zip(qd, loads, strict=True)
    ]
    np.testing.assert_allclose(friction, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(dynamics.friction_torque(qd, load=loads), expected, atol=1e-12)
    assert np.abs(dynamics.friction_torque(qd) - expected).max() > 0.1


@pytest.mark.kept(2)
@pytest.mark.parametrize('terms', ['all', 'all but smooth'])
def test_derivatives_are_finite_differences(terms, backend):
    """Slopes by q and qd have the friction's in them, the mass matrix does not."""
    robot = random_robot(TERMS[terms], seed=5, joints=4)
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    n = robot.n
    rng = np.random.default_rng(8)
    q, qd, qdd = rng.uniform(0.2, 1.0, (3, n)) * rng.choice([-1.0, 1.0], (3, n))
    computed = dynamics.inverse_dynamics_derivatives(q, qd, qdd)
    step = 1e-5
    for place, slopes in enumerate(computed):
        for column in range(n):
            shifted = np.zeros((3, n))
            shifted[place, column] = step
            plus = dynamics.inverse_dynamics(*(np.array([q, qd, qdd]) + shifted))
            minus = dynamics.inverse_dynamics(*(np.array([q, qd, qdd]) - shifted))
            difference = (plus - minus) / (2.0 * step)
            np.testing.assert_allclose(slopes[:, column], difference, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(computed[2], dynamics.mass_matrix(q), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('joints', [2, 6])
def test_text_of_every_language_runs_on_its_own(joints, tmp_path):
    """Python, NumPy and C compiled with gcc compute the same, with every term on."""
    robot = random_robot(TERMS['all'], seed=2, joints=joints)
    dynamics = ned.Dynamics(robot, GRAVITY, backend='python')
    q, qd, qdd = samples(robot.n, 5)
    expected = dynamics.inverse_dynamics(q, qd, qdd)
    tolerance = {'rtol': 0, 'atol': 1e-12 * np.abs(expected).max()}
    for language in ('python', 'numpy', 'array-api'):
        namespace = {}
        exec(dynamics.source('inverse_dynamics', language), namespace)
        function = namespace['inverse_dynamics']
        if language == 'python':
            found = [function(*arguments) for arguments in zip(q, qd, qdd, strict=True)]
        else:
            found = function(*([np] if language == 'array-api' else []), q, qd, qdd)
        np.testing.assert_allclose(found, expected, **tolerance)
    of_arrays = dynamics.array_function('inverse_dynamics', np)
    np.testing.assert_allclose(of_arrays(q, qd, qdd), expected, **tolerance)
    function = compile_c(dynamics.source('inverse_dynamics', 'c'), tmp_path).inverse_dynamics
    found = np.empty_like(expected)
    for arguments in zip(q, qd, qdd, found, strict=True):
        call_c(function, *arguments)
    np.testing.assert_allclose(found, expected, **tolerance)


@pytest.mark.parametrize('count', [1, 9])
def test_velocities_that_overflow_are_refused(backend, count):
    robot = random_robot(TERMS['square root'], seed=0, joints=1)
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    zeros = np.zeros((count, 1))[0 if count == 1 else slice(None)]
    for speed in (1e160, -1e300):
        with pytest.raises(InputError, match='overflows'):
            dynamics.inverse_dynamics(zeros, zeros + speed, zeros)
        with pytest.raises(InputError, match='overflows'):
            dynamics.friction_torque(zeros + speed)
    with pytest.raises(InputError, match='finite'):
        dynamics.inverse_dynamics(zeros, zeros + np.nan, zeros)
    expected = [expected_friction(robot.joints[0], 1e60, 0.0)]
    computed = dynamics.inverse_dynamics(zeros, zeros + 1e60, zeros).reshape(-1, 1)
    np.testing.assert_allclose(computed, np.tile(expected, (count, 1)), rtol=1e-12)


def test_hysteresis_goes_on_as_along_the_path(backend):
    """Step by step, with what is added, friction is that of the path; other joints have none."""
    robot = random_robot(TERMS['all'] | TERMS['hysteresis'])
    plain = replace(robot.joints[0], friction=FrictionModel(cubic_friction=0.1))
    robot = replace(robot, joints=(plain, *robot.joints[1:]))
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    rng = np.random.default_rng(1)
    path = np.cumsum(0.05 * rng.standard_normal((40, robot.n)), axis=0)
    rates = rng.standard_normal(path.shape)
    expected = np.stack(
        [
            compute_friction_along(
                joint.friction,
                joint.viscous_friction,
                joint.coulomb_friction,
                path[:, index],
                rates[:, index],
                np.zeros(40),
            )
            for index, joint in enumerate(robot.joints)
        ],
        axis=1,
    )
    states, before = np.zeros(robot.n), path[0]
    rigid_efforts = dynamics.without_friction().bias_torque(path, rates)
    robot_without_load = replace(
        robot,
        joints=tuple(
            replace(joint, friction=replace(joint.friction, load_coefficient=0.0))
            for joint in robot.joints
        ),
    )
    loose = ned.Dynamics(robot_without_load, GRAVITY, backend=backend)
    for here, rate, rigid_effort, friction in zip(
        path, rates, rigid_efforts, expected, strict=True
    ):
        states, more = loose.friction_hysteresis(states, here - before, rate)
        found = loose.inverse_dynamics(here, rate, np.zeros(robot.n)) + more - rigid_effort
        np.testing.assert_allclose(found, friction, atol=1e-9)
        before = here
    assert states[0] == 0.0
    assert more[0] == 0.0
    assert np.abs(states[1:]).min() > 0.0


def test_hysteresis_knows_the_smoothing_of_the_law(backend):
    """With the smoothing that a law was given, half of the hysteresis is taken back as it was."""
    robot = random_robot(TERMS['hysteresis'])
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    zero, rate = np.zeros(robot.n), np.full(robot.n, 0.01)
    states, more = dynamics.friction_hysteresis(zero + 0.3, zero, rate, (0.02,))
    assert states.tolist() == [0.3] * robot.n
    size = np.array([joint.friction.hysteresis_friction for joint in robot.joints])
    np.testing.assert_allclose(more, size * (0.3 - 0.5 * np.tanh(0.5)), atol=1e-12)
