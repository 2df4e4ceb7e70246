"""When a motion counts as not followed."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.following_error import FollowingGuard, FollowingLimits
from ne_dynamics.control.state_guard import FaultKind
from ne_dynamics.control.trajectory import DesiredState
from ne_dynamics.model.robot import Joint, JointType

JOINTS = [
    Joint('a', JointType.REVOLUTE, velocity_limit=2.0),
    Joint('b', JointType.PRISMATIC),
]
PERIOD = 0.002


def first_fault(limits, seconds=3.0, *, has_feedback=True, **motion):
    """Return when a fault is found, and which; the motion as functions of time, of joint a."""
    guard = FollowingGuard(JOINTS, limits)
    still = {'desired': 0.0, 'rate': 0.0, 'position': None, 'velocity': 0.0, 'effort': 0.0}
    for k in range(round(seconds / PERIOD)):
        now = PERIOD * k
        value = {
            key: one(now) if callable(one) else one for key, one in {**still, **motion}.items()
        }
        # Joint b, and joint a unless it is said, creep: an encoder that lives.
        alive = 1e-9 * k
        position = np.array([alive, alive])
        if value['position'] is not None:
            position[0] = value['position']
        desired = DesiredState(
            np.array([value['desired'], 0.0]), np.array([value['rate'], 0.0]), np.zeros(2)
        )
        found = guard.judge(
            position,
            np.array([value['velocity'], 0.0]),
            desired.position - position,
            desired,
            np.array([value['effort'], 0.0]),
            np.array([10.0, np.inf]),
            now,
            has_feedback=has_feedback,
        )
        if found:
            return now, found
    return np.inf, None


DERIVED = FollowingLimits.derived(JOINTS, 1.0)
LIMITS = FollowingLimits(np.array([0.5, 0.25]), np.array([2.0, 1.0]), DERIVED.frozen, 1.0)


def test_limits_come_of_the_velocity_limits() -> None:
    """0.4 s of the velocity limit, twice that, and 0.02 s; 1 m/s where the model has none."""
    np.testing.assert_allclose(DERIVED.position, [0.8, 0.4])
    np.testing.assert_allclose(DERIVED.velocity, [4.0, 2.0])
    np.testing.assert_allclose(DERIVED.frozen, [0.04, 0.02])


def test_a_position_error_beyond_the_limit_counts_at_once() -> None:
    """The first state beyond it is a fault that names joint, size, limit and parameter."""
    time, found = first_fault(LIMITS, desired=lambda t: t)
    assert time == pytest.approx(0.5, abs=2.1 * PERIOD)
    assert found.kind is FaultKind.FOLLOWING
    assert "joint 'a'" in found.text
    assert 'expected at most 0.5 (following_error.position)' in found.text


def test_a_smaller_one_counts_when_it_lasts() -> None:
    """Beyond 0.4 of the limit for a second is a fault; with a pause in between it is none."""
    time, found = first_fault(LIMITS, desired=0.3)
    assert time == pytest.approx(1.0, abs=2.1 * PERIOD)
    assert 'for 1 s; expected at most 0.2' in found.text
    assert first_fault(LIMITS, desired=lambda t: 0.3 * (t % 0.9 < 0.8))[1] is None
    assert first_fault(LIMITS, desired=0.19)[1] is None


def test_a_velocity_error_counts_after_a_quarter_of_a_second() -> None:
    """A push of 0.2 s passes, one that stays does not."""
    assert first_fault(LIMITS, velocity=lambda t: 5.0 * (t < 0.2))[1] is None
    time, found = first_fault(LIMITS, velocity=5.0)
    assert time == pytest.approx(0.25, abs=2.1 * PERIOD)
    assert '(following_error.velocity)' in found.text


def test_an_arm_that_is_found_in_motion_may_be_braked() -> None:
    """From 10 rad/s, by Kp 36 and Kv 12, though both errors pass their limits on the way."""
    braked = {
        'velocity': lambda t: 10.0 * (1.0 - 6.0 * t) * np.exp(-6.0 * t),
        'desired': lambda t: -10.0 * t * np.exp(-6.0 * t),
    }
    assert first_fault(LIMITS, 1.0, **braked)[1] is None
    assert first_fault(LIMITS, 1.0, velocity=lambda t: 10.0 * np.exp(-t))[1] is not None
    assert abs(braked['desired'](1.0 / 6.0)) > 0.5


def test_a_position_that_is_the_same_while_the_desired_one_goes_on_is_frozen() -> None:
    """After 0.04 rad of desired motion, and 50 ms at least."""
    slow = first_fault(LIMITS, desired=lambda t: 0.2 * t, position=0.0)
    assert slow[0] == pytest.approx(0.2, abs=2.1 * PERIOD)
    assert slow[1].kind is FaultKind.FROZEN_POSITION
    fast = first_fault(LIMITS, desired=lambda t: 2.0 * t, position=0.0)
    assert fast[0] == pytest.approx(0.05, abs=2.1 * PERIOD)
    assert first_fault(LIMITS, 0.2, desired=lambda t: 2.0 * t)[1] is None
    assert first_fault(LIMITS, desired=0.0, position=0.0)[1] is None


@pytest.mark.parametrize('size', [1e-15, 1e-6, 3e-4])
def test_a_frozen_position_may_tremble(size: float) -> None:
    """What comes back again and again within a fiftieth of the limit is the same position; what
    creeps on, or goes farther, is none.
    """
    trembling = first_fault(
        LIMITS, desired=lambda t: 2.0 * t, position=lambda t: size * np.sin(1e4 * t)
    )
    assert trembling[0] == pytest.approx(0.05, abs=2.1 * PERIOD)
    assert trembling[1].kind is FaultKind.FROZEN_POSITION
    creeping = first_fault(LIMITS, 0.2, desired=lambda t: 2.0 * t, position=lambda t: size * t)
    assert creeping[1] is None
    shaking = first_fault(
        LIMITS, 0.2, desired=lambda t: 2.0 * t, position=lambda t: 0.001 * np.sin(1e4 * t)
    )
    assert shaking[1] is None


def test_effort_at_the_limit_in_vain_is_a_fault_after_the_timeout() -> None:
    """Where error and effort agree; braking at the limit, or effort below it, is none."""
    time, found = first_fault(LIMITS, desired=0.1, effort=12.0)
    assert time == pytest.approx(1.0, abs=2.1 * PERIOD)
    assert found.kind is FaultKind.SATURATED
    assert 'effort limit of 10 for 1 s' in found.text
    assert first_fault(LIMITS, desired=0.1, effort=-12.0)[1] is None
    assert first_fault(LIMITS, desired=0.1, effort=10.0)[1] is None


def test_effort_that_swings_from_limit_to_limit_is_a_fault() -> None:
    """A dozen times within the timeout; more seldom, or not up to the limit, is none."""

    def swing(frequency: float, size: float = 12.0):
        return first_fault(LIMITS, effort=lambda t: size * np.sin(2.0 * np.pi * frequency * t))

    time, found = swing(20.0)
    assert time == pytest.approx(12 / 40.0, abs=0.05)
    assert found.kind is FaultKind.SATURATED
    assert "joint 'a': from one effort limit to the other" in found.text
    assert swing(5.0)[1] is None
    assert swing(20.0, 9.9)[1] is None
    assert first_fault(LIMITS, effort=lambda t: 12.0 * np.sign(np.sin(20.0 * t)))[1] is None


def test_without_feedback_only_what_was_asked_for_counts() -> None:
    """In feedforward no derived limit counts; a position limit of the user does."""
    runaway = {'desired': lambda t: t, 'position': 0.0, 'velocity': 9.0, 'effort': 99.0}
    assert first_fault(LIMITS, has_feedback=False, **runaway)[1] is None
    own = FollowingLimits(np.array([0.4, np.inf]), counts_without_feedback=True)
    time, found = first_fault(own, has_feedback=False, **runaway)
    assert time == pytest.approx(0.4, abs=2.1 * PERIOD)
    assert found.kind is FaultKind.FOLLOWING


def test_nothing_counts_where_everything_is_off() -> None:
    """Without limits any motion passes."""
    runaway = {'desired': lambda t: 9.0 * t, 'position': 0.0, 'velocity': 9.0, 'effort': 99.0}
    assert first_fault(FollowingLimits(), **runaway)[1] is None
