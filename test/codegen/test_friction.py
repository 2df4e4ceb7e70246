"""Friction in the traced equations: the formula, its derivatives, and what it costs without."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from compiled_c import run_text
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.algorithms.hysteresis import compute_friction_along
from ne_dynamics.codegen.source import LANGUAGES
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

    def rub(joint):
        viscous, coulomb = rng.uniform(0.1, 1.0, 2)
        model = FrictionModel(
            **{key: value * rng.uniform(0.5, 1.0) for key, value in terms.items()}
        )
        return replace(joint, viscous_friction=viscous, coulomb_friction=coulomb, friction=model)

    return replace(robot, joints=tuple(map(rub, robot.joints)))


def expected_friction(robot, rates, loads):
    """Return the friction of joints by the formula of the documents, on floats, shape (N, n)."""

    def compute(joint, v, load):
        friction = joint.friction
        smoothing = friction.smoothing_velocity
        s = math.tanh(v / smoothing) if smoothing > 0.0 else math.copysign(1.0, v) if v else 0.0
        level = joint.coulomb_friction + friction.load_coefficient * abs(load)
        if friction.static_friction is not None:
            decay = math.exp(-math.pow(v / friction.stribeck_velocity, 2))
            level += (friction.static_friction - joint.coulomb_friction) * decay
        level += friction.hysteresis_friction / 2.0
        return math.fsum(
            (
                friction.friction_offset,
                joint.viscous_friction * v,
                level * s,
                friction.friction_asymmetry * s**2,
                friction.square_root_friction
                * v
                / math.pow(v**2 + max(smoothing, 1e-6) ** 2, 0.25),
                friction.cubic_friction * v**3,
            )
        )

    return np.array(
        [
            [compute(*each) for each in zip(robot.joints, v, load, strict=True)]
            for v, load in zip(rates, loads, strict=True)
        ]
    )


def samples(n, count=12, seed=0):
    """Return q, qd, qdd of shape (count, n); some velocities are zero, some near it."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, count, n))
    qd[0], qd[1], qd[2] = 0.0, 1e-3 * qd[1], 1e-9 * qd[2]
    return q, qd, qdd


def all_loads(robot, count):
    """Return wrenches that turn the sign of many loads, a moving base, a payload, by keyword."""
    wrench, others = np.random.default_rng(5).uniform(-60.0, 60.0, (2, count, 6))
    names = [body.name for body in robot.bodies]
    return {
        'wrench': wrench,
        'base_motion': np.linspace(-1.0, 1.0, 9),
        'payload': np.array([1.0, 0.1, 0.2, -0.1, 0.06, 0.0, 0.05, 0.0, 0.0, 0.07]),
        'external_wrenches': {names[1]: others, names[-1]: others[2]},
    }


@pytest.mark.kept(4)
@pytest.mark.parametrize('is_loaded', [False, True])
@pytest.mark.parametrize('terms', TERMS)
def test_efforts_are_those_without_friction_and_the_formula(terms, is_loaded, backend):
    """Friction grows with what links and all loads ask of the joint at qdd = 0."""
    robot = random_robot(TERMS[terms])
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    free = ned.Dynamics(robot.without_friction(), GRAVITY, backend='python')
    q, qd, qdd = samples(robot.n)
    more = all_loads(robot, len(q)) if is_loaded else {}
    loads = free.inverse_dynamics(q, qd, np.zeros_like(qd), **more)
    friction = expected_friction(robot, qd, loads)
    expected = free.inverse_dynamics(q, qd, qdd, **more) + friction
    tolerance = {'rtol': 0, 'atol': 1e-12 * np.abs(expected).max()}
    found = dynamics.inverse_dynamics(q, qd, qdd, **more)
    np.testing.assert_allclose(found, expected, **tolerance)
    np.testing.assert_allclose(dynamics.friction_torque(qd, load=loads), friction, **tolerance)
    single = dynamics.friction_torque(qd[3], load=loads[3])
    np.testing.assert_allclose(single, friction[3], **tolerance)
    if is_loaded:
        return
    for row in range(len(q)):
        single = dynamics.inverse_dynamics(q[row], qd[row], qdd[row])
        np.testing.assert_allclose(single, expected[row], **tolerance)
    single = dynamics.friction_torque(qd[3], q=q[3])
    np.testing.assert_allclose(single, friction[3], **tolerance)
    assert not dynamics.without_friction().friction_torque(qd).any()


def test_a_wrench_at_the_tip_can_be_given_either_way(backend):
    """What the tip exerts, and its opposite exerted on the tip link: the same, to rounding."""
    dynamics = ned.Dynamics(random_robot(TERMS['all'], joints=4), GRAVITY, backend=backend)
    q, qd, qdd = samples(dynamics.n)
    wrench = np.random.default_rng(5).uniform(-60.0, 60.0, (len(q), 6))
    on_tip = {dynamics.robot.tip_link: -wrench}
    for method in (dynamics.inverse_dynamics, dynamics.forward_dynamics):
        found = method(q, qd, qdd, external_wrenches=on_tip)
        np.testing.assert_allclose(found, method(q, qd, qdd, wrench), rtol=1e-8, atol=1e-8)


@pytest.mark.kept(1)
@pytest.mark.parametrize('joints', [4, 14])
def test_forward_dynamics_are_the_inverse_with_every_term_on(backend, joints):
    """With every load an effort gives the acceleration it is of, for other parameters too."""
    robot = random_robot(TERMS['all'], seed=1, joints=joints)
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    changed = dynamics.with_parameters(
        inertial=1.1 * dynamics.inertial_parameters(), coulomb_friction=np.full(robot.n, 0.7)
    )
    q, qd, qdd = samples(robot.n, 8, 3)
    loads = all_loads(robot, 8)
    for keys in ((), ('wrench',), ('wrench', 'base_motion', 'payload'), tuple(loads)):
        more = {key: loads[key] for key in keys}
        for each in (dynamics, changed):
            tau = each.inverse_dynamics(q, qd, qdd, **more)
            found = each.forward_dynamics(q, qd, tau, **more)
            np.testing.assert_allclose(found, qdd, rtol=0, atol=1e-8)
            row = {
                key: {link: np.atleast_2d(w)[-1] for link, w in value.items()}
                if key == 'external_wrenches'
                else np.atleast_2d(value)[-1]
                for key, value in more.items()
            }
            single = each.inverse_dynamics(q[-1], qd[-1], qdd[-1], **row)
            np.testing.assert_allclose(single, tau[-1], rtol=1e-11, atol=1e-10)
            single = each.forward_dynamics(q[-1], qd[-1], tau[-1], **row)
            np.testing.assert_allclose(single, qdd[-1], rtol=0, atol=1e-8)


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


@pytest.mark.parametrize('language', LANGUAGES)
@pytest.mark.parametrize('joints', [2, 6])
def test_text_of_every_language_runs_on_its_own(joints, language, tmp_path):
    """Python, NumPy and C compiled with gcc compute the same, with every term on."""
    dynamics = ned.Dynamics(
        random_robot(TERMS['all'], seed=2, joints=joints), GRAVITY, backend='python'
    )
    motion = samples(dynamics.n, 5)
    expected = dynamics.inverse_dynamics(*motion)
    text = dynamics.source('inverse_dynamics', language)
    found = run_text(text, language, 'inverse_dynamics', motion, dynamics.n, tmp_path)
    atol = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
    of_arrays = dynamics.array_function('inverse_dynamics', np)
    np.testing.assert_allclose(of_arrays(*motion), expected, rtol=0, atol=atol)


@pytest.mark.parametrize('count', [1, 9])
def test_velocities_that_overflow_are_refused(backend, count):
    robot = random_robot(TERMS['square root'], seed=0, joints=1)
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    zeros = np.zeros((count, 1))[0 if count == 1 else slice(None)]
    for speed, message in ((1e160, 'overflows'), (-1e300, 'overflows'), (np.nan, 'finite')):
        with pytest.raises(InputError, match=message):
            dynamics.inverse_dynamics(zeros, zeros + speed, zeros)
        with pytest.raises(InputError, match=message):
            dynamics.friction_torque(zeros + speed)
    expected = expected_friction(robot, [[1e60]], [[0.0]])
    computed = dynamics.inverse_dynamics(zeros, zeros + 1e60, zeros).reshape(-1, 1)
    np.testing.assert_allclose(computed, np.tile(expected, (count, 1)), rtol=1e-12)


def test_hysteresis_goes_on_as_along_the_path(backend):
    """Step by step, with what is added, friction is that of the path; other joints have none."""
    robot = random_robot({**TERMS['all'], 'load_coefficient': 0.0})
    plain = replace(robot.joints[0], friction=FrictionModel(cubic_friction=0.1))
    robot = replace(robot, joints=(plain, *robot.joints[1:]))
    dynamics = ned.Dynamics(robot, GRAVITY, backend=backend)
    rng = np.random.default_rng(1)
    path = np.cumsum(0.05 * rng.standard_normal((40, robot.n)), axis=0)
    rates = rng.standard_normal(path.shape)
    expected = np.transpose(
        [
            compute_friction_along(
                *(joint.friction, joint.viscous_friction, joint.coulomb_friction),
                *(path[:, index], rates[:, index], np.zeros(40)),
            )
            for index, joint in enumerate(robot.joints)
        ]
    )
    states, before = np.zeros(robot.n), path[0]
    for here, rate, friction in zip(path, rates, expected, strict=True):
        states, more = dynamics.friction_hysteresis(states, here - before, rate)
        rest = dynamics.bias_torque(here, rate)
        found = dynamics.inverse_dynamics(here, rate, np.zeros(robot.n)) + more - rest
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
