"""What is refused cannot work, what is accepted without a word does: loops with a delay."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.feasibility import (
    check_effort_limits,
    check_gains,
    growth_rate,
)
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.sensors.velocity_source import (
    PositionVelocity,
    VelocitySettings,
    VelocitySource,
    velocity_filter,
)
from ne_dynamics.model.robot import Joint, JointType

PERIOD = 0.002


def gains(kp: float, kv: float) -> Gains:
    """Return the same gains for two joints."""
    return Gains.from_values(kp, kv, 2)


def judge(kp: float, kv: float, mode: Mode = Mode.COMPUTED_TORQUE, mass=None):
    """Return the verdict for states every 2 ms."""
    matrix = np.eye(2) if mass is None else mass
    return check_gains(mode, gains(kp, kv), lambda: matrix, PERIOD)


@pytest.mark.parametrize('mode', [Mode.COMPUTED_TORQUE, Mode.FEEDFORWARD_PD])
@pytest.mark.parametrize('kp', [1.0, 100.0, 400.0])
def test_stiffness_without_damping_is_refused(kp: float, mode: Mode) -> None:
    """A kv of zero is no better than one near zero. Damping alone is stable, but if it is much."""
    for kv in (0.0, 1e-3 * np.sqrt(kp)):
        assert judge(kp, kv, mode).refusals
    assert not any(judge(0.0, 20.0, mode))
    assert judge(0.0, 500.0, mode).refusals


def test_motors_that_cannot_hold_the_arm_are_named() -> None:
    """Limits below what gravity takes are refused by joint; just above there is a remark."""
    holding = np.array([1.0, -50.0])
    assert not any(check_effort_limits('ab', holding, np.array([10.0, 100.0])))
    (refusal,) = check_effort_limits('ab', holding, np.array([10.0, 40.0])).refusals
    assert "joint 'b'" in refusal
    assert '50 of 40' in refusal
    assert check_effort_limits('ab', holding, np.array([10.0, 52.0])).remarks
    assert not any(check_effort_limits('ab', holding, np.array([np.inf, np.inf])))


@pytest.mark.parametrize('gain', [1e100, 1e200, 1e308])
@pytest.mark.parametrize('mode', [Mode.COMPUTED_TORQUE, Mode.FEEDFORWARD_PD])
def test_gains_beyond_all_measure_are_refused(gain: float, mode: Mode) -> None:
    """Nothing overflows on the way; a full matrix, too."""
    light = np.diag([1.0, 1e-9])
    assert judge(gain, gain, mode, light).refusals
    full = Gains.from_values([gain, 0.0, 0.0, gain], [gain, 0.0, 0.0, gain], 2)
    assert check_gains(mode, full, lambda: light, PERIOD).refusals


def find_errors(velocity: VelocitySettings, kp: float, kv: float, seconds: float):
    """Return the largest errors of the second and of the last third of a loop, state by state.

    A joint of mass 1 whose velocity may come from its positions; an effort is a period late.
    """
    joint = Joint('a', JointType.REVOLUTE)
    source = None
    if velocity.source is not VelocitySource.MEASURED:
        source = PositionVelocity([joint], velocity.source, velocity.cutoff_frequency)
    position, speed, effort, errors = 1.0, 0.0, 0.0, []
    for k in range(round(seconds / PERIOD)):
        qd = speed if source is None else float(source.update(np.array([position]), PERIOD * k)[0])
        late, effort = effort, -kp * position - kv * qd
        position += PERIOD * speed + 0.5 * PERIOD**2 * late
        speed += PERIOD * late
        errors.append(abs(position))
    third = len(errors) // 3
    return max(errors[third : 2 * third]), max(errors[2 * third :])


@pytest.mark.kept(12)
@pytest.mark.parametrize('source', list(VelocitySource))
@pytest.mark.parametrize('seed', range(20))
def test_a_loop_grows_as_it_is_said(source: VelocitySource, seed: int) -> None:
    """Random gains and cut-offs, each loop computed state by state."""
    rng = np.random.default_rng(seed)
    kv = 10.0 ** rng.uniform(0.7, 3.0 if source is VelocitySource.MEASURED else 2.3)
    kp = kv * kv / 4.0 * 10.0 ** rng.uniform(-0.5, 0.5)
    settings = VelocitySettings(source=source, cutoff_frequency=10.0 ** rng.uniform(0.0, 2.0))
    growth = growth_rate(
        np.full((1, 1, 1), kp),
        np.full((1, 1, 1), kv),
        PERIOD,
        velocity_filter(settings, PERIOD),
    )
    seconds = min(60.0 / max(abs(growth), 1.0), 20.0)
    before, after = find_errors(settings, kp, kv, seconds)
    assert (after > before) == (growth > 0.0)
    verdict = check_gains(Mode.COMPUTED_TORQUE, gains(kp, kv), lambda: np.eye(2), PERIOD, settings)
    if growth > 0.0:
        assert verdict.refusals
    if not any(verdict):
        assert growth < 0.0


def test_a_slow_velocity_filter_is_refused_with_gains_that_are_calm_without() -> None:
    """Kp 100 and Kv 20 with a cut-off of 2 Hz grow; with the default of 30 Hz they are calm."""

    def judge_with(cutoff: float):
        settings = VelocitySettings(source=VelocitySource.ESTIMATED, cutoff_frequency=cutoff)
        return check_gains(
            Mode.COMPUTED_TORQUE, gains(100.0, 20.0), lambda: np.eye(2), PERIOD, settings
        )

    (refusal,) = judge_with(2.0).refusals
    assert 'velocities estimated, 159 ms late' in refusal
    assert judge_with(10.0).remarks
    assert not any(judge_with(30.0))


@pytest.mark.parametrize(
    ('kv', 'cutoff', 'field'),
    [
        (20.0, 3.0, ''),
        (45.0, 3.0, ''),
        (64.0, 3.0, 'computed_torque.kv'),
        (45.0, 6.0, 'computed_torque.kv'),
        (22.0, 4.0, 'observer.cutoff_frequency'),
        (15.0, 3.0, 'observer.cutoff_frequency'),
    ],
)
def test_an_observer_has_its_share_of_what_is_not_doubtful(
    kv: float, cutoff: float, field
) -> None:
    """States every 4 ms: what elastic joints of 40 Hz swung with is doubtful, the default not."""
    gains = Gains.from_values(0.25 * kv * kv, kv, 6)
    verdict = check_gains(
        Mode.COMPUTED_TORQUE, gains, lambda: np.eye(6), 0.004, observer_rate=2.0 * np.pi * cutoff
    )
    assert not verdict.refusals
    assert len(verdict.remarks) == bool(field)
    assert all(field in remark.partition(':')[0] for remark in verdict.remarks)
