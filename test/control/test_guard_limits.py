"""Guards of an arm that is held, and their limits: hunting, contacts, steps, gains, weight."""

from __future__ import annotations

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
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.weight_check import Weight, WeightCheck, find_limit_share
from ne_dynamics.control.laws import Mode
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.joint_limits import sample_positions


def hunts(
    stuck: float = 0.0, error: float = 3e-3, *, interval: float = 0.26, change: float = 0.0
) -> bool:
    """Return whether a joint hunts that has stuck on both sides, the second time by an error."""
    guard, now = HuntingGuard(), 0.0
    for value in (5e-3, 5e-3, -error, -error * (1.0 + stuck) - change):
        guard.update(np.array([value]), np.zeros(1), now)
        now += interval
    return guard.hunts is not None


def hunting(parts) -> list[bool]:
    """Return whether a joint hunts after each part of a second; parts are errors, or of the time.

    The joint beside it has an error of 1 mm all the while.
    """
    guard, found = HuntingGuard(), []
    for index, part in enumerate(parts):
        for now in index + np.arange(0.0, 1.0, 0.01):
            error = part(now) if callable(part) else part
            guard.update(np.array([error, 1e-3]), np.zeros(2), now)
        found.append(guard.hunts is not None)
        assert guard.hunts is None or guard.hunts.tolist() == [True, False]
    return found


@pytest.mark.parametrize(
    ('parts', 'hunts'),
    [
        pytest.param([5e-3, 2e-3, -3e-3, -3e-3], [0, 0, 1, 1], id='sticks on both sides'),
        *[
            pytest.param([5e-3, -3e-3, error, 0.0], [0, 1, 0, 0], id=f'is let go, {error}')
            for error in (2e-3, 1e-3, 1e-4)
        ],
        pytest.param([lambda t: 0.1 * np.exp(-2.0 * t)] * 2, [0] * 2, id='comes to rest'),
        pytest.param([lambda t: 5e-3 * np.sin(8.0 * t)] * 10, [0] * 10, id='swings'),
        pytest.param(
            [lambda t: 5e-3 * np.exp(-t) * np.cos(13.0 * t)] * 10, [0] * 10, id='swings out'
        ),
    ],
)
def test_a_joint_that_sticks_on_both_sides_hunts(parts, hunts) -> None:
    """On one side it may stick as often as it does, and it may swing; on the other it is left.

    Until it is somewhere else: who pushed it to one side and to the other has let go.
    """
    assert hunting(parts) == [bool(each) for each in hunts]


def show(detector: ContactDetector, residuals, begin: float) -> int:
    """Show residuals of two joints, one in 10 ms; return how many contacts begin."""
    return sum(
        detector.update(np.array(each), begin + 0.01 * index)
        for index, each in enumerate(residuals)
    )


def test_a_push_does_not_raise_its_own_threshold() -> None:
    """One that grows in less than the probation is seen, once, at the threshold of before."""
    detector = ContactDetector(np.array([5.0, 2.0]))
    assert show(detector, [(1.0, 0.0)] * 200, 0.0) == 0
    before = detector.thresholds[0]
    states = round(90.0 * GUARD_LIMITS.contact_probation)
    growing = [(-size, 0.0) for size in np.linspace(1.0, 1.1 * before, states)]
    assert show(detector, [*growing, *[(-1.1 * before, 0.0)] * 500], 2.0) == 1
    assert detector.is_in_contact
    assert detector.thresholds[0] == before


def test_errors_that_last_raise_the_threshold() -> None:
    """What has been no contact for long enough is known of the model, and stays known."""
    detector = ContactDetector(np.array([5.0, 2.0]))
    lasting = [(4.0, 0.0)] * round(300.0 * GUARD_LIMITS.contact_probation)
    show(detector, [*[(0.0, 0.0)] * 100, *lasting, *[(0.0, 0.0)] * 1000], 0.0)
    raised = 4.0 * GUARD_LIMITS.contact_errors
    np.testing.assert_allclose(detector.thresholds, [5.0 + raised, 2.0])
    detector.configure(np.array([10.0, 4.0]))
    np.testing.assert_allclose(detector.thresholds, [10.0 + raised, 4.0])


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
    ('hunting_interval', 0.25, lambda interval: hunts(interval=interval)),
    ('hunting_stuck_share', 0.03, lambda share: not hunts(stuck=share / (1.0 - share))),
    ('hunting_creep', 5e-5, lambda change: not hunts(error=3e-4, change=change)),
    ('hunting_least', 2e-4, lambda error: hunts(error=error)),
    ('large_step', 0.1, lambda step: steps(20, step)),
    ('fewest_turns', 4.9, lambda turns: steps(int(turns), 0.2)),
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
