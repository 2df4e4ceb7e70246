"""The momentum observer: De Luca's residual, and what is not to be in it."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_model
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.observer import MomentumObserver
from ne_dynamics.dynamics.compensation import Base, Terms
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

PERIOD = 0.002
CUTOFFS = (3.0, 30.0)
AMPLITUDE = np.array([0.4, 0.3, 0.5, 0.6, 0.5, 0.7])
RATE = np.array([3.0, 4.0, 2.5, 5.0, 3.5, 6.0])
START = np.array([0.3, -0.9, 1.1, -0.4, 0.6, 0.1])
OUTSIDE = np.array([9.0, -20.0, 7.0, 2.0, -3.0, 1.0])
ROBOT = load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
NONE = np.zeros(6)


@pytest.fixture(scope='module', params=['python', 'compiled'])
def dynamics(request) -> Dynamics:
    """Return the dynamics of the shipped arm."""
    if request.param == 'compiled':
        pytest.importorskip('llvmlite', reason='llvmlite is not installed')
    return Dynamics(ROBOT, backend=request.param)


def motion(time):
    """Return position, velocity and acceleration at a time."""
    phase = RATE * time
    return (
        START + AMPLITUDE * np.sin(phase),
        AMPLITUDE * RATE * np.cos(phase),
        -AMPLITUDE * RATE**2 * np.sin(phase),
    )


def law_of(dynamics, terms=None, **options) -> ControlLaw:
    """Return a computed-torque law."""
    gains = Gains.from_values(100.0, 20.0, 6)
    return ControlLaw(dynamics, Mode.COMPUTED_TORQUE, gains, terms, **options)


def observe(law, efforts, *, seconds=1.0, period=PERIOD, **loads):
    """Let an observer see the motion with efforts given at a time; return its residuals.

    Friction counts for the velocity of the motion.
    """
    observer = MomentumObserver(*CUTOFFS)
    residuals = []
    for index in range(round(seconds / period) + 1):
        now = index * period
        q, qd, _ = motion(now)
        middle = now - 0.5 * period
        observer.update(law, q, qd, motion(middle)[1], efforts(middle), now, **loads)
        known = observer.residuals
        residuals.append(np.zeros((2, 6)) if known is None else known)
    return np.array(residuals)


def test_what_acts_from_outside_is_what_comes_out(dynamics) -> None:
    """Efforts from outside are followed exponentially, each residual at its own rate."""
    law = law_of(dynamics)
    found = observe(law, lambda time: dynamics.inverse_dynamics(*motion(time)) - OUTSIDE)
    time = PERIOD * np.arange(len(found))
    for index, cutoff in enumerate(CUTOFFS):
        share = 1.0 - np.exp(-2.0 * np.pi * cutoff * time)
        np.testing.assert_allclose(found[:, index], share[:, np.newaxis] * OUTSIDE, atol=1e-2)


def test_it_is_de_lucas_residual(dynamics) -> None:
    """K (p - p0 - integral of (tau + C^T qd - g - f + r)), with the momentum itself, is the same.

    They are apart by what the rules for the integrals err: a quarter with half the period.
    """
    law, cutoff, wave = law_of(dynamics), CUTOFFS[0], 2.0 * np.pi * np.array([1.0, 2.0, 3.0])

    def outside(time):
        return OUTSIDE * np.sin(np.resize(wave, 6) * time)

    def efforts(time):
        return dynamics.inverse_dynamics(*motion(time)) - outside(time)

    apart = []
    for period in (PERIOD, PERIOD / 2.0):
        found = observe(law, efforts, period=period)[:, 0]
        gain = 2.0 * np.pi * cutoff
        begin = dynamics.generalized_momentum(*motion(0.0)[:2])
        known, expected = NONE, [NONE]
        for index in range(1, len(found)):
            q, qd, _ = motion((index - 0.5) * period)
            acting = efforts((index - 0.5) * period) - dynamics.friction_torque(qd)
            known = known + period * (acting + dynamics.lagrangian_gradient(q, qd))
            change = dynamics.generalized_momentum(*motion(index * period)[:2]) - begin
            # The integral of r by the trapezoidal rule, with the r that is looked for in it.
            so_far = period * (np.sum(expected, axis=0) - 0.5 * (expected[0] + expected[-1]))
            so_far = so_far + 0.5 * period * expected[-1]
            expected.append(gain * (change - known - so_far) / (1.0 + 0.5 * period * gain))
        apart.append(np.abs(found - np.array(expected)).max())
    assert apart[0] < 2e-3 * np.abs(OUTSIDE).max()
    assert apart[1] < 0.3 * apart[0]


def loads_of(dynamics):
    """Return cases: name, law, arguments of its inverse dynamics, arguments of the observer."""
    payload = ROBOT.payload_parameters(Inertia(2.0, np.array([0.02, 0.0, 0.1]), 0.01 * np.eye(3)))
    wrench = np.array([12.0, -5.0, 20.0, 1.0, -2.0, 0.5])
    moving = np.array([0.3, -0.2, 0.4, 1.0, 0.5, -0.7, 1.5, -2.0, 3.0])
    resting = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.5, 2.0])
    base = Base(moving, resting)
    falling = np.zeros(9)
    falling[6:] = dynamics.gravity
    return {
        'payload': (law_of(dynamics, payload=payload), {'payload': payload}, {}),
        'wrench': (law_of(dynamics), {'wrench': wrench}, {'wrench': wrench}),
        'moving base': (law_of(dynamics), {'base_motion': moving}, {'base': base}),
        'all': (
            law_of(dynamics, payload=payload, payload_without_wrench=payload),
            {'payload': payload, 'wrench': wrench, 'base_motion': moving},
            {'wrench': wrench, 'base': base},
        ),
        'no gravity': (law_of(dynamics, Terms(gravity=False)), {'base_motion': falling}, {}),
        'no gravity, tilted': (
            law_of(dynamics, Terms(gravity=False)),
            {'base_motion': moving - resting + falling},
            {'base': base},
        ),
    }


@pytest.mark.kept(6)
@pytest.mark.parametrize(
    'case', ['payload', 'wrench', 'moving base', 'all', 'no gravity', 'no gravity, tilted']
)
def test_what_the_model_is_told_of_is_no_disturbance(dynamics, case) -> None:
    """Loads, a base that moves, and what the robot compensates itself, leave no residual."""
    law, acting, told = loads_of(dynamics)[case]

    def efforts(time):
        return dynamics.inverse_dynamics(*motion(time), **acting)

    assert np.abs(observe(law, efforts, **told)[:, 0]).max() < 2e-3
    # It would be one.
    assert np.abs(observe(law_of(dynamics), efforts)[:, 0]).max() > 1.0


def test_a_joint_without_an_end_may_turn_over(dynamics) -> None:
    """A position that is a turn away from the last one is no disturbance."""
    law = law_of(dynamics)
    plain, turned = MomentumObserver(*CUTOFFS), MomentumObserver(*CUTOFFS)
    for index in range(20):
        now = index * PERIOD
        q, qd, _ = motion(now)
        turns = 2.0 * np.pi * np.array([index > 10, 0, 0, index > 5, 0, -(index > 8)])
        plain.update(law, q, qd, qd, NONE, now)
        turned.update(law, q + turns, qd, qd, NONE, now)
    np.testing.assert_allclose(turned.residuals[0], plain.residuals[0], atol=1e-9)


def test_what_is_held_keeps_its_slow_residual(dynamics) -> None:
    """A joint that hunts is compensated as before; the fast residual knows of it."""
    law, held = law_of(dynamics), np.arange(6) == 1

    def efforts(time):
        return dynamics.inverse_dynamics(*motion(time)) - OUTSIDE

    slow, fast = observe(law, efforts, held=held)[-1]
    assert slow[1] == 0.0
    assert np.abs(slow[~held]).min() > 0.0
    np.testing.assert_array_equal(fast, observe(law, efforts)[-1, 1])
