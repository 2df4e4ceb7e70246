"""The control laws as identities with the inverse dynamics, and the error they leave."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from urdf_text import joint_xml, link_xml, robot_xml

from ne_dynamics import Dynamics, Robot, load_dh, load_urdf
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.errors import InputError, ParameterError
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.shipped import shipped_file

SPINNER = robot_xml(
    'base',
    joint_xml(
        'spin',
        'base',
        'one',
        'continuous',
        '<dynamics damping="0.2" friction="0.4"/>',
        axis='0 1 0',
    ),
    link_xml('one', 2, '0.1 0 0.2', moments=(0.02, 0.03, 0.01)),
    joint_xml('hinge', 'one', 'two', xyz='0 0 0.4', axis='1 0 0'),
    link_xml('two', 1, '0 0.05 0.2', moments=(0.01, 0.01, 0.005)),
)


@pytest.fixture(scope='module')
def puma() -> Dynamics:
    """An arm with viscous and Coulomb friction and rotors."""
    return Dynamics(load_dh(shipped_file('puma560_standard_dh.yaml')), backend='python')


@pytest.fixture(scope='module')
def spinner() -> Dynamics:
    """Two joints, the first continuous and with friction."""
    return Dynamics(load_urdf(SPINNER), backend='python')


def sample(n: int, seed: int):
    """Return measured position and velocity, desired state, wrench."""
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-1.5, 1.5, (2, n))
    return q, qd, DesiredState(*rng.uniform(-1.5, 1.5, (3, n))), rng.uniform(-9.0, 9.0, 6)


def gains(n: int, seed: int = 0) -> Gains:
    """Return full gain matrices that are not symmetric."""
    rng = np.random.default_rng(seed)
    return Gains.from_values(rng.uniform(1, 50, n * n), rng.uniform(1, 9, n * n), n)


@pytest.mark.parametrize('with_wrench', [False, True])
@pytest.mark.parametrize('flags', list(product([False, True], repeat=4)))
def test_modes_are_what_the_table_says_with_any_of_their_terms(puma, flags, with_wrench) -> None:
    """Every combination of terms is M (qdd + feedback) + C qd + g + friction at the desired
    velocity + J^T wrench, less what is off.
    """
    gravity, coriolis, inertia, friction = flags
    q, qd, desired, wrench = sample(6, 11)
    g = gains(6)
    feedback = g.kp @ (desired.position - q) + g.kv @ (desired.velocity - qd)
    zero = np.zeros(6)

    def model(at, rate, acceleration, friction=friction):
        effort = puma.mass_matrix(at) @ acceleration
        effort = effort + gravity * puma.gravity_torque(at)
        effort = effort + coriolis * (puma.coriolis_matrix(at, rate) @ rate)
        if with_wrench:
            effort = effort + puma.jacobian(at, axes='tip').T @ wrench
        return effort + friction * puma.friction_torque(desired.velocity)

    feedforward = model(desired.position, desired.velocity, inertia * desired.acceleration)
    expected = {
        Mode.COMPUTED_TORQUE: model(q, qd, inertia * desired.acceleration + feedback),
        Mode.FEEDFORWARD: feedforward,
        Mode.FEEDFORWARD_PD: feedforward + feedback,
        Mode.GRAVITY_COMPENSATION: model(q, zero, zero, friction=False),
    }
    for mode, effort in expected.items():
        law = ControlLaw(puma, mode, g, Terms(*flags))
        found = law.effort(q, qd, desired, wrench if with_wrench else None)
        np.testing.assert_allclose(found, effort, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('mode', [Mode.COMPUTED_TORQUE, Mode.FEEDFORWARD_PD])
def test_gains_in_three_forms_agree(puma: Dynamics, mode: Mode) -> None:
    """A scalar, the diagonal of it and the full matrix of it, read by rows, are the same gain."""
    q, qd, desired, _ = sample(6, 4)
    forms = [
        Gains.from_values([30.0], [7.0], 6),
        Gains.from_values([30.0] * 6, [7.0] * 6, 6),
        Gains.from_values((30.0 * np.eye(6)).ravel(), 7.0 * np.eye(6), 6),
    ]
    efforts = [ControlLaw(puma, mode, form).effort(q, qd, desired) for form in forms]
    np.testing.assert_allclose(efforts, [efforts[0]] * 3, rtol=1e-13)
    np.testing.assert_array_equal(
        Gains.from_values([1, 2, 3, 4], [1.0], 2).kp, [[1.0, 2.0], [3.0, 4.0]]
    )


@pytest.mark.parametrize(
    ('kp', 'match'),
    [
        ([1.0, 2.0], r'gains\.kp: expected 1, 3 or 9 values.*got 2'),
        ([], r'gains\.kp: .*got 0'),
        ([1.0, np.nan, 1.0], 'finite'),
        ([np.inf], 'finite'),
        ([1.0, -1.0, 1.0], '>= 0'),
        (np.diag([1.0, -2.0, 1.0]), '>= 0'),
        (['a'], 'expected numbers'),
    ],
)
def test_bad_gains_are_refused(kp, match: str) -> None:
    """Gains of a wrong size, not finite, or negative on the diagonal are refused by name."""
    with pytest.raises(ParameterError, match=match):
        Gains.from_values(kp, 1.0, 3)


def test_continuous_joints_are_corrected_by_the_short_way(spinner: Dynamics) -> None:
    """Whole turns between desired and measured position change nothing where there is no stop."""
    law = ControlLaw(spinner, Mode.COMPUTED_TORQUE, Gains.from_values(50.0, 10.0, 2))
    q, qd, desired, _ = sample(2, 5)
    turned = q + np.array([6.0 * np.pi, 0.0])
    np.testing.assert_allclose(
        law.effort(turned, qd, desired), law.effort(q, qd, desired), rtol=1e-9, atol=1e-9
    )
    limited = q + np.array([0.0, 2.0 * np.pi])
    assert np.abs(law.effort(limited, qd, desired) - law.effort(q, qd, desired)).max() > 1.0


@pytest.mark.parametrize('model', ['puma', 'spinner'])
def test_computed_torque_makes_the_error_linear(request, model: str) -> None:
    """On its own model the error obeys e'' + Kv e' + Kp e = 0, with full gain matrices too."""
    dynamics: Dynamics = request.getfixturevalue(model)
    frictionless = Dynamics(_without_friction(dynamics.robot), backend='python')
    n = dynamics.n
    g = gains(n, 3)
    law = ControlLaw(frictionless, Mode.COMPUTED_TORQUE, g)
    q, qd, desired, _ = sample(n, 6)
    acceleration = frictionless.forward_dynamics(q, qd, law.effort(q, qd, desired))
    error = desired.acceleration - acceleration
    expected = -g.kv @ (desired.velocity - qd) - g.kp @ (desired.position - q)
    np.testing.assert_allclose(error, expected, rtol=1e-7, atol=1e-7)


def test_a_missing_velocity_is_refused_where_it_is_needed(spinner: Dynamics) -> None:
    """Modes with feedback raise without a measured velocity; the others do without."""
    q, _, desired, _ = sample(2, 9)
    for mode in Mode:
        law = ControlLaw(spinner, mode, gains(2))
        if mode.has_feedback:
            with pytest.raises(InputError, match='velocity'):
                law.effort(q, None, desired)
        else:
            assert np.isfinite(law.effort(q, None, desired)).all()


def _without_friction(robot: Robot) -> Robot:
    joints = (replace(one, viscous_friction=0.0, coulomb_friction=0.0) for one in robot.joints)
    return replace(robot, joints=tuple(joints))


def test_noise_of_the_planner_makes_no_steps_of_friction(puma):
    """At rest a desired velocity of 1e-7 rad/s, this way and that, moves the effort by nothing."""
    q, _, desired, _ = sample(6, 4)
    rng = np.random.default_rng(0)
    still = np.zeros(6)
    largest = puma.robot.joint_values('coulomb_friction')
    steps = {}
    for width in (0.0, 1e-3):
        law = ControlLaw(puma, Mode.FEEDFORWARD, smoothing_velocity=width)
        efforts = [
            law.effort(q, None, DesiredState(desired.position, noise, still))
            for noise in 1e-7 * rng.standard_normal((50, 6))
        ]
        steps[width] = np.abs(np.diff(efforts, axis=0)).max(axis=0)
    assert (steps[0.0] > 1.9 * largest).all()
    assert (steps[1e-3] < 1e-3 * largest).all()
    fast = DesiredState(desired.position, np.full(6, 0.1), still)
    np.testing.assert_allclose(
        ControlLaw(puma, Mode.FEEDFORWARD, smoothing_velocity=1e-3).effort(q, None, fast),
        ControlLaw(puma, Mode.FEEDFORWARD).effort(q, None, fast),
        rtol=1e-12,
    )
