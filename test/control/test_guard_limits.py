"""The limits of the guards: just within nothing happens, just beyond it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from motion_loop import node_controller
from tuned_arm import DYNAMICS, LIMITS, ROBOT

from ne_dynamics.control.contact import ContactDetector
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.effort_steps import EffortSteps
from ne_dynamics.control.guards.feasibility import (
    check_gains,
    check_hand_guiding,
    check_timeout,
    find_drive_inertias,
    growth_rate,
)
from ne_dynamics.control.guards.hunting import HuntingGuard
from ne_dynamics.control.guards.state_guard import (
    Fault,
    FaultKind,
    StateGuard,
    StateLimits,
    StateRefused,
)
from ne_dynamics.control.guards.velocity_check import VelocityCheck
from ne_dynamics.control.guards.weight_check import Weight, WeightCheck, find_limit_share
from ne_dynamics.control.laws import Mode
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.joint_limits import sample_positions

JOINTS = [Joint('a', JointType.REVOLUTE)]


def state_guard(timeout: float = 0.1, fastest: float = np.inf, window: float = 0.0) -> StateGuard:
    """Return a guard that has believed a state at the time 10 s, which came at 0 s."""
    guard = StateGuard(JOINTS, StateLimits(timeout, np.array([fastest]), window))
    guard.check(np.zeros(1), np.zeros(1), 10.0, 0.0)
    return guard


def refusal(guard: StateGuard, position: float, time: float, arrival: float, velocity=0.0):
    """Return the refusal of a state; None when it is believed."""
    try:
        guard.check(np.array([position]), np.array([velocity]), time, arrival)
    except StateRefused as error:
        return error
    return None


def jumps(distance: float) -> bool:
    """Return whether a joint that cannot move has jumped by a distance."""
    return refusal(state_guard(fastest=1e-9), distance, 10.001, 0.001) is not None


def jumps_beside_velocity(share: float) -> bool:
    """Return whether a motion is no jump that is off by a share of what its velocity says."""
    guard = state_guard(fastest=1.0)
    return refusal(guard, 1.0 + 0.02 + share, 10.1, 0.1, velocity=20.0) is not None


def is_set_back(time: float) -> bool:
    """Return whether an older stamp is of a clock that was set back."""
    return refusal(state_guard(), 0.0, 10.0 - time, 0.01).fault is not None


def runs(rate: float) -> bool:
    """Return whether a clock of that rate is believed to run."""
    guard = state_guard()
    arrivals = 0.05 * np.arange(1, 5)
    return not any(refusal(guard, 0.0, 10.0 + rate * came, came) for came in arrivals)


def is_gap(time: float) -> bool:
    """Return whether a time is a gap though the node itself has not listened for long."""
    guard = state_guard(timeout=0.1)
    guard.excuse(10.0)
    return guard.check(np.zeros(1), np.zeros(1), 10.1 + time, 0.1 + time) is not None


def velocity_fault(
    rate: float | Callable[[float], float],
    said: float,
    *,
    period: float = 0.002,
    seconds: float = 4.0,
    disturbance: Callable[[int], float] = lambda index: 0.0,
    step: float = 0.0,
) -> int:
    """Return at which state of a motion its velocity is found wrong; 0 for at none."""
    check = VelocityCheck(JOINTS)
    for index in range(round(seconds / period)):
        position = rate * period * index + disturbance(index)
        position = np.floor(position / step) * step if step else position
        if check.update(np.array([position]), np.array([said]), period * index):
            return index
    return 0


def moves_by_steps(steps: float) -> bool:
    """Return whether so many steps of the encoder in the longest segment are a motion."""
    return velocity_fault(steps * 0.01 / 0.15, 0.0, step=0.01) > 0


def moves_in_noise(noises: float) -> bool:
    """Return whether so many times the noise in the longest segment are a motion."""
    return velocity_fault(noises * 0.004 / 0.15, 0.0, disturbance=lambda k: 0.001 * (-1) ** k) > 0


def hunts(
    stuck: float = 0.0, error: float = 3e-3, *, interval: float = 0.26, change: float = 0.0
) -> bool:
    """Return whether a joint hunts that has stuck on both sides, the second time by an error."""
    guard, now = HuntingGuard(), 0.0
    for value in (5e-3, 5e-3, -error, -error * (1.0 + stuck) - change):
        guard.update(np.array([value]), np.zeros(1), now)
        now += interval
    return guard.hunts is not None


def steps(turns: int, share: float) -> bool:
    """Return whether commands that reverse so often, by a share of the limit, are reported."""
    found = EffortSteps(1)
    for index in range(turns + 2):
        found.note(np.array([share * (index % 2)]), np.ones(1), is_held=True)
    return found.take() is not None


def verdict_on(kp: float, kv: float, mode: Mode = Mode.COMPUTED_TORQUE, **others):
    """Return the verdict on gains, for states every 2 ms."""
    gains = Gains.from_values(kp, kv, 1)
    return check_gains(mode, gains, lambda: np.eye(1), 0.002, **others)


def least_margin(degrees: float) -> bool:
    """Return whether a loop with this phase margin, and little damping, is accepted."""
    kp, delay = 100.0, 0.003
    margin, low, high = np.deg2rad(degrees), 0.0, 10.0
    for _ in range(60):
        kv = 0.5 * (low + high)
        w = np.sqrt(0.5 * (kv**2 + np.hypot(kv**2, 2.0 * kp)))
        low, high = (kv, high) if np.arctan2(kv * w, kp) - w * delay < margin else (low, kv)
    return not verdict_on(kp, low).refusals


def grows_too_fast(growth: float) -> bool:
    """Return whether a damping at which a led arm grows so fast is refused."""
    still, low, high = np.zeros((1, 1, 1)), 0.0, 1000.0
    for _ in range(60):
        rate = 0.5 * (low + high)
        is_slower = growth_rate(still, still + rate, 0.002) < growth
        low, high = (rate, high) if is_slower else (low, rate)
    return bool(check_hand_guiding(low, 0.002).refusals)


def contact_begins(push: float, after: float, errors: float = 0.0) -> bool:
    """Return whether a push is a contact, some time after the first state and an error."""
    detector = ContactDetector(np.array([1.0]))
    detector.update(np.array([errors]), 0.0)
    return detector.update(np.array([push]), after)


def error_is_known(time: float) -> bool:
    """Return whether an error has raised the threshold after a time."""
    detector = ContactDetector(np.array([1.0]))
    for now in (0.0, 0.6):
        detector.update(np.zeros(1), now)
    for k in range(101):
        detector.update(np.array([0.5]), 0.601 + time * k / 100.0)
    return detector.thresholds[0] > 1.0


def contact_ends(share: float) -> bool:
    """Return whether a contact is over when its residual has come back by a share."""
    detector = ContactDetector(np.array([1.0]))
    for now, residual in ((0.0, 0.0), (1.0, 2.0), (1.1, 1.0 - share)):
        detector.update(np.array([residual]), now)
    return not detector.is_in_contact


def weight_of(effort, weight, limits=(1.0, 1.0), friction=0.0) -> Weight:
    """Return what is said of the efforts of two joints."""
    arrays = (np.array(one, dtype=float) for one in (effort, weight, limits))
    return WeightCheck().compare(*arrays, np.full(2, friction), 'ab').weight


def is_mirrored_at(angle: float) -> bool:
    """Return whether efforts are those of mirrored gravity, by the cosine of their angle."""
    effort = -np.array([angle, np.sqrt(1.0 - angle**2)])
    return weight_of(effort, (1.0, 0.0)) is Weight.MIRRORED


UP = [
    ('position_slack', 0.02, jumps),
    ('velocity_slack', 0.5, jumps_beside_velocity),
    ('largest_disorder', 1.0, is_set_back),
    ('slowest_clock', 1e-3, runs),
    ('longest_excuse', 0.5, is_gap),
    ('velocity_largest', 3.0, lambda factor: velocity_fault(1.0, factor) > 0),
    ('velocity_rounding', 0.02, lambda rate: velocity_fault(rate, 0.0) > 0),
    ('hunting_interval', 0.25, lambda interval: hunts(interval=interval)),
    ('hunting_stuck_share', 0.03, lambda share: not hunts(stuck=share / (1.0 - share))),
    ('hunting_creep', 5e-5, lambda change: not hunts(error=3e-4, change=change)),
    ('hunting_least', 2e-4, lambda error: hunts(error=error)),
    ('large_step', 0.1, lambda step: steps(20, step)),
    ('largest_product', 1.0, lambda product: bool(verdict_on(10.0, product / 0.003).refusals)),
    ('least_phase_margin', 5.0, least_margin),
    (
        'observer_product',
        0.12,
        lambda product: bool(verdict_on(900.0, 60.0, observer_rate=product / 0.003).remarks),
    ),
    ('periods_of_silence', 2.0, lambda periods: not check_timeout(0.1, 0.1 / periods).remarks),
    ('contact_errors', 1.5, lambda factor: contact_begins(1.0 + 0.4 * factor, 0.6, 0.4)),
    ('contact_learning', 0.5, lambda time: contact_begins(2.0, time)),
    ('contact_probation', 0.25, lambda time: error_is_known(2.0 * time)),
    ('contact_release', 0.5, contact_ends),
    ('fastest_growth', 0.01, grows_too_fast),
    ('weight_least', 0.05, lambda share: weight_of((1, 0), (share, 0)) is not Weight.UNKNOWN),
    ('weight_friction', 0.05, lambda off: weight_of((0.06 + off, 0), (0.06, 0)) is Weight.FAR_OFF),
    ('far_part', 0.5, lambda part: weight_of((0.8 * (1 + part), 0), (0.8, 0)) is Weight.FAR_OFF),
    ('mirrored_part', 0.5, lambda part: weight_of((-part, 0), (1, 0)) is Weight.MIRRORED),
    ('mirrored_alignment', 0.7, is_mirrored_at),
    (
        'weakest_limit',
        0.25,
        lambda least: weight_of((0, 1), (0, 0.05 * least), (1, 0.01)) is not Weight.UNKNOWN,
    ),
    (
        'mirrored_share',
        0.15,
        lambda share: weight_of((-0.06, 0), (share - 0.06, 0)) is Weight.MIRRORED,
    ),
]
"""Threshold, its value, and whether something happens at a value."""


@pytest.mark.parametrize(('value', 'happens'), [row[1:] for row in UP], ids=[row[0] for row in UP])
def test_it_happens_beyond_the_limit_and_not_before(value: float, happens) -> None:
    """3 % below nothing is said or done, 3 % above it is."""
    assert not happens(0.97 * value)
    assert happens(1.03 * value)


@pytest.mark.parametrize(
    ('inside', 'outside', 'happens'),
    [
        pytest.param(0.9, 3.0, moves_by_steps, id='segment_steps'),
        pytest.param(3.0, 6.0, moves_in_noise, id='segment_noises'),
        pytest.param(4, 5, lambda turns: steps(turns, 0.2), id='fewest_turns'),
    ],
)
def test_it_takes_a_few(inside: float, outside: float, happens) -> None:
    """So few steps of an encoder, noises or turns are none yet."""
    assert not happens(inside)
    assert happens(outside)


@pytest.mark.parametrize(
    ('kind', 'states'), [(FaultKind.FROZEN, 2), (FaultKind.GAP, 1), (FaultKind.JUMPED, 3)]
)
def test_so_many_states_must_agree_after_a_fault(kind: FaultKind, states: int) -> None:
    """The last of them is believed."""
    guard = state_guard()
    guard.trip(Fault(kind, ''))
    refused = [refusal(guard, 0.0, 10.0 + 0.01 * k, 0.01 * k) is not None for k in range(1, 5)]
    assert refused.index(False) == states - 1


@pytest.mark.parametrize(('kinds', 'count'), [([FaultKind.GAP], 3), (list(FaultKind), 6)])
def test_so_many_faults_latch(kinds: list[FaultKind], count: int) -> None:
    """Of one kind, and of several."""
    guard = state_guard(window=10.0)
    latched = [guard.trip(Fault(kinds[k % len(kinds)], '')).latches for k in range(8)]
    assert latched.index(True) == count - 1


@pytest.mark.parametrize(('said', 'states'), [(0.0, 3 * 7), (-1.0, 3 * 6)])
def test_a_wrong_velocity_takes_so_many_slow_states(said: float, states: int) -> None:
    """Nine are for the noise to be known; then four segments of three, or three opposed ones."""
    assert velocity_fault(1.0, said, period=0.01) == states


def test_noise_is_that_of_the_last_states() -> None:
    """A motion in what was noise is found once as many states were quiet."""
    found = velocity_fault(0.1, 0.0, disturbance=lambda k: 0.002 * (-1) ** k * (k < 500))
    assert 0 < found - 500 < 170


def test_the_finest_step_of_an_encoder() -> None:
    """Positions of a simulation have steps of any size."""
    check = VelocityCheck(JOINTS)
    for k in range(40):
        check.update(np.array([1e-9 * k]), np.zeros(1), 0.002 * k)
    np.testing.assert_allclose(check.encoder_step, 1e-6)


def test_what_models_and_parameters_do_not_say_is_derived() -> None:
    """Shares of the effort limits, of the weight in random poses, and a rotor's acceleration."""
    (drive,) = find_drive_inertias([Joint('a', JointType.REVOLUTE, effort_limit=80.0)])
    assert drive == pytest.approx(0.5)
    weights = np.abs(DYNAMICS.gravity_torque(sample_positions(ROBOT, 64)))
    share = 4.0 * float((weights / (100.0 * LIMITS)).max())
    assert find_limit_share(DYNAMICS, 100.0 * LIMITS) == pytest.approx(share)
    tuning = node_controller(ROBOT, **{'observer.mode': 'estimate'}).tuning
    np.testing.assert_allclose(tuning.disturbance.least_contact, 0.04 * LIMITS)
    np.testing.assert_allclose(tuning.disturbance.bounds, 0.3 * LIMITS)
    np.testing.assert_allclose(tuning.states.velocities, 2.0 * ROBOT.limits('velocity_limit'))
