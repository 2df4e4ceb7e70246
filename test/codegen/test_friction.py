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
