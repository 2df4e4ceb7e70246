"""When a motion counts as not followed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ne_dynamics.control.guards.following_error import FollowingGuard
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.waypoints import DesiredState

JOINTS = [
    Joint('a', JointType.REVOLUTE, velocity_limit=2.0, effort_limit=10.0),
    Joint('b', JointType.PRISMATIC),
]
PERIOD = 0.002
TUNING = SimpleNamespace(effort_limits=np.array([10.0, np.inf]))


class UnitMasses:
    """A law whose model has an inertia of one per joint, and a weight."""

    def __init__(self, *, has_feedback: bool, weight: float) -> None:
        self.has_feedback = has_feedback
        self.weight = np.array([weight, 0.0])
        self.compensation = self.dynamics = self

    def effort(self, q, qd, qdd, qd_friction, wrench=None, base=None):
        """Return the effort of a motion."""
        return qdd + self.weight

    def mass_matrix(self, q):
        """Return the mass matrix."""
        return np.eye(2)


def first_fault(
    limits,
    seconds=3.0,
    *,
    has_feedback=True,
    coupled=(0.0, 0.0),
    period=PERIOD,
    weight=0.0,
    **motion,
):
    """Return when a fault is found, and which; the motion as functions of time, of joint a."""
    guard = FollowingGuard(JOINTS, limits, coupled)
    law = UnitMasses(has_feedback=has_feedback, weight=weight)
    still = {'desired': 0.0, 'rate': 0.0, 'position': None, 'velocity': 0.0, 'effort': 0.0}
    for k in range(round(seconds / period)):
        now = period * k
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
        effort = np.array([value['effort'], 0.0])
        tick = Tick(TUNING, law, position, None, now)
        tick.desired, tick.error = desired, desired.position - position
        tick.velocity = np.array([value['velocity'], 0.0])
        tick.wanted, tick.effort = effort, np.clip(effort, -10.0, 10.0)
        found = guard.check(tick)
        if found:
            return now, found
    return np.inf, None


LIMITS = FollowingLimits(np.array([0.5, 0.25]), np.array([2.0, 1.0]), np.array([0.04, 0.02]), 1.0)


def test_limits_come_of_the_velocity_limits() -> None:
    """0.4 s of the velocity limit, twice that, and 0.02 s; 1 m/s where the model has none."""
    derived = FollowingLimits.derived(JOINTS, 1.0)
    np.testing.assert_allclose(derived.position, [0.8, 0.4])
    np.testing.assert_allclose(derived.velocity, [4.0, 2.0])
    np.testing.assert_allclose(derived.frozen, [0.04, 0.02])


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


def test_a_position_that_stood_is_frozen_when_no_friction_can_hold_the_joint() -> None:
    """Beyond 0.16 of the effort limit, and by more than the limit of desired motion; with less it
    may stick, and what it has stood before does not count.
    """
    strong = first_fault(
        LIMITS, desired=lambda t: 0.2 * t, position=0.0, effort=lambda t: 60.0 * t
    )
    assert strong[0] == pytest.approx(0.2, abs=2.1 * PERIOD)
    assert strong[1].kind is FaultKind.FROZEN_POSITION
    assert strong[1].joints == (0,)
    assert '(following_error.frozen 0.04)' in strong[1].text
    weak = first_fault(
        LIMITS, 1.5, desired=lambda t: 0.2 * t, position=0.0, effort=lambda t: min(60.0 * t, 1.9)
    )
    assert weak[1] is None
    late = {'desired': lambda t: max(t - 0.5, 0.0), 'position': 0.0}
    time, found = first_fault(LIMITS, **late, effort=lambda t: 600.0 * max(t - 0.5, 0.0))
    assert found.kind is FaultKind.FROZEN_POSITION
    assert 0.54 <= time < 0.6
    assert first_fault(LIMITS, 0.2, desired=lambda t: 2.0 * t, effort=6.0)[1] is None
    assert first_fault(LIMITS, desired=0.0, position=0.0, effort=9.0)[1] is None


def test_friction_of_a_drive_of_several_joints_holds_a_joint() -> None:
    """It is no frozen encoder, unless the effort is far beyond that friction as well."""
    motion = {'desired': lambda t: 0.2 * t, 'position': 0.0}
    held = motion | {'effort': lambda t: min(60.0 * t, 5.0)}
    assert first_fault(LIMITS, 1.5, **held)[1].kind is FaultKind.FROZEN_POSITION
    assert first_fault(LIMITS, 1.5, coupled=(4.0, 0.0), **held)[1] is None
    found = first_fault(LIMITS, 1.5, coupled=(1.0, 0.0), **motion, effort=lambda t: 60.0 * t)[1]
    assert found.kind is FaultKind.FROZEN_POSITION


def stops_dead(speed, *, period=PERIOD, step=1e-6, tremble=0.0, effort=0.0):
    """Return a motion whose positions stay the same from 0.3 s on, but for every other state.

    Up to there they come in steps of an encoder.
    """

    def position(time):
        moved = np.floor(speed * min(time, 0.3) / step + 0.5) * step
        return moved + tremble * (time > 0.3) * (round(time / period) % 2)

    return {
        'period': period,
        'desired': lambda t: speed * t,
        'rate': speed,
        'position': position,
        'effort': effort,
    }


def creeps(size, frequency=None):
    """Return a motion in which a position creeps on, or shakes, where it should go on fast."""

    def position(time):
        return size * (time if frequency is None else np.sin(frequency * time))

    return {
        'seconds': 0.2,
        'desired': lambda t: 2.0 * t,
        'position': position,
        'effort': 6.0,
    }


def pushed_in_vain(push, *, moved=((1.0, 2.0),), period=PERIOD, weight=0.0):
    """Return a motion by some efforts, each for a time, a rest of 0.1 s, and a push that grows."""
    ends = np.cumsum([time for time, _ in moved])
    begin = ends[-1] + 0.1

    def position(time):
        return 0.3 * min(time, ends[-1])

    def effort(time):
        if time >= begin:
            return weight + min(60.0 * (time - begin), push)
        at = int(np.searchsorted(ends, time, side='right'))
        return weight + (moved[at][1] if at < len(moved) else 0.0)

    return {
        'seconds': begin + 0.8,
        'period': period,
        'weight': weight,
        'desired': lambda t: position(t) + 0.3 * max(t - begin, 0.0),
        'rate': lambda t: 0.3 * (t < ends[-1] or t > begin),
        'position': position,
        'effort': effort,
    }


@pytest.mark.parametrize(
    ('motion', 'found_at'),
    [
        pytest.param(stops_dead(0.0386), np.inf, id='sticking_share, slower'),
        pytest.param(stops_dead(0.0412), 0.4, id='sticking_share, faster'),
        pytest.param(stops_dead(0.05), 0.38, id='frozen_share'),
        *[
            pytest.param(stops_dead(1.8, tremble=tremble), 0.34, id=f'fast, trembling {tremble}')
            for tremble in (0.0, 1e-15, 1e-6, 3e-4)
        ],
        *[pytest.param(creeps(size), np.inf, id=f'creeps {size}') for size in (1e-6, 3e-4)],
        pytest.param(creeps(0.001, 1e4), np.inf, id='shakes'),
        pytest.param(stops_dead(0.2, step=0.002), 0.336, id='frozen_steps'),
        pytest.param(stops_dead(0.1, tremble=7.5e-4), 0.34, id='frozen_band, within'),
        pytest.param(stops_dead(0.1, tremble=9e-4), np.inf, id='frozen_band, beyond'),
        pytest.param(stops_dead(0.2, step=1e-3, tremble=1e-3), 0.342, id='frozen_flicker, within'),
        pytest.param(
            stops_dead(0.2, step=1e-3, tremble=1.8e-3), np.inf, id='frozen_flicker, beyond'
        ),
        pytest.param(stops_dead(0.2, period=0.01), 0.4, id='frozen_states'),
        pytest.param(stops_dead(0.2, period=0.027), 0.567, id='frozen_longest, within'),
        pytest.param(stops_dead(0.2, period=0.029), np.inf, id='frozen_longest, beyond'),
        pytest.param(stops_dead(0.15, effort=9.0), 0.346, id='friction_variation'),
        pytest.param(pushed_in_vain(6.8), np.inf, id='friction_ratio, less'),
        pytest.param(pushed_in_vain(7.3), 1.416, id='friction_ratio, more'),
        pytest.param(
            pushed_in_vain(6.5, moved=[(0.2, 2.0)]), 0.472, id='friction_observations, fewer'
        ),
        pytest.param(
            pushed_in_vain(6.5, moved=[(0.45, 2.0)]),
            np.inf,
            id='friction_observations, history_time',
        ),
        pytest.param(
            pushed_in_vain(6.5, moved=[(0.8, 2.0)], period=0.02), np.inf, id='history_states'
        ),
        pytest.param(
            pushed_in_vain(6.5, moved=[(0.6, 4.0), (1.0, 1.0)]), np.inf, id='friction_kept, fewer'
        ),
        pytest.param(
            pushed_in_vain(6.5, moved=[(0.6, 4.0), (2.4, 1.0)]), 3.284, id='friction_kept, more'
        ),
        pytest.param(
            pushed_in_vain(5.2, moved=[(0.02, 0.0)], weight=-8.0),
            np.inf,
            id='friction_model_error, less',
        ),
        pytest.param(
            pushed_in_vain(5.6, moved=[(0.02, 0.0)], weight=-8.0),
            0.454,
            id='friction_model_error, more',
        ),
    ],
)
def test_what_tells_a_frozen_position_from_a_joint_that_sticks(motion, found_at) -> None:
    """When a position is found frozen, if it is, by the limit that decides it."""
    limits = FollowingLimits(frozen=LIMITS.frozen)
    time, _ = first_fault(limits, **{'seconds': 1.0, **motion})
    assert time == pytest.approx(found_at, abs=0.012)


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
