"""Which joint states are believed, what the others are taken for, and which faults latch."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.state_guard import (
    Fault,
    FaultKind,
    StateGuard,
    StateLimits,
    StateRefused,
)
from ne_dynamics.model.robot import Joint, JointType


def guard_of(
    timeout: float = 0.1,
    fastest: float = np.inf,
    window: float = 0.0,
    kind: JointType = JointType.REVOLUTE,
) -> StateGuard:
    """Return a guard of one joint."""
    return StateGuard([Joint('a', kind)], StateLimits(timeout, np.array([fastest]), window))


def judge(guard, position=0.0, stamp=0.0, arrival=None, velocity=None) -> str:
    """Return what a state is taken for: '' where it is believed as any other.

    Else the fault that it is, or that is over with it, or why it is not believed.
    """
    rates = None if velocity is None else np.array([velocity])
    try:
        ended = guard.check(
            np.array([position]), rates, stamp, stamp if arrival is None else arrival
        )
    except StateRefused as refusal:
        return f'{refusal.fault.kind.name} {refusal}' if refusal.fault else str(refusal)
    return f'after {ended.kind.name}' if ended else ''


STREAMS = {
    'a jump, until three agree': (
        {'fastest': 5.0},
        (0.0, 0.00, 0.00, ''),
        (1.0, 0.01, 0.01, "JUMPED position: joint 'a': moved by 1 in 0.01"),
        (0.0, 0.02, 0.02, 'waiting for 3 states in a row'),
        (0.0, 0.03, 0.03, 'waiting for 3 states in a row'),
        (0.0, 0.04, 0.04, 'after JUMPED'),
        (0.0, 0.05, 0.05, ''),
    ),
    'falling as the velocity says is none': (
        {'fastest': 1.0, 'velocity': 10.0},
        (0.0, 0.00, 0.00, ''),
        (0.1, 0.01, 0.01, ''),
        (0.0, 0.02, 0.02, 'moved by -0.1 in'),
        (0.1, 0.03, 0.03, '3 states in a row'),
        (0.2, 0.04, 0.04, 'after JUMPED'),
    ),
    'a joint without a speed limit may be anywhere': (
        {'fastest': np.inf},
        (0.0, 0.0, 0.0, ''),
        (3.0, 0.0, 0.0, ''),
    ),
    'a joint without an end may turn over': (
        {'fastest': 1.0, 'kind': JointType.CONTINUOUS},
        (3.14, 0.00, 0.0, ''),
        (-3.14, 0.01, 0.0, ''),
    ),
    'with an end it may not': (
        {'fastest': 1.0},
        (3.14, 0.00, 0.0, ''),
        (-3.14, 0.01, 0.0, "JUMPED position: joint 'a': moved by -6.28"),
    ),
    'a clock that is set back': (
        {},
        (0.0, 50.0, 0.0, ''),
        (0.0, 49.98, 0.0, '0.02 s before the last one'),
        (1.0, 1.0, 0.0, 'BACKWARDS header.stamp: set back by 49 s'),
        (1.0, 1.01, 0.0, 'after BACKWARDS'),
    ),
    'a stamp that stands still, until it advances': (
        {},
        (0.0, 1.0, 0.00, ''),
        (0.0, 1.0, 0.09, ''),
        (0.0, 1.0, 0.11, 'FROZEN header.stamp: the same for 0.11 s'),
        (0.0, 1.0, 0.12, '2 states in a row'),
        (0.0, 1.0, 0.50, '2 states in a row'),
        (0.0, 1.01, 0.6, 'after FROZEN'),
        (0.0, 1.02, 0.7, ''),
    ),
    'messages that change places': (
        {},
        (0.0, 0.000, 0.0000, ''),
        (0.0, 0.004, 0.0040, ''),
        (0.0, 0.008, 0.0081, ''),
        (0.0, 0.006, 0.0082, '0.002 s before the last one'),
        (0.0, 0.010, 0.0101, ''),
        (0.0, 0.030, 0.0300, ''),
        (0.0, 0.014, 0.0301, '0.016 s before the last one'),
        (0.0, 0.032, 0.0320, ''),
    ),
}
"""Options of the guard, then states: position, stamp, arrival, and what they are taken for."""


@pytest.mark.parametrize('kind', STREAMS)
def test_what_a_state_is_taken_for(kind: str) -> None:
    """In a row of states, one after the other."""
    options, *states = STREAMS[kind]
    options = dict(options)
    velocity = options.pop('velocity', None)
    guard = guard_of(**options)
    for *state, expected in states:
        found = judge(guard, *state, velocity)
        assert expected in found
        assert bool(expected) == bool(found)


@pytest.mark.parametrize('pause', [4.0, 60.0])
def test_a_simulation_that_is_paused_has_no_frozen_stamp(pause: float) -> None:
    """Nothing came meanwhile, whenever that was: the stamps go on where they were."""
    guard = guard_of()
    now = arrival = 0.0
    for count in range(1, 120):
        for _ in range(count):
            now, arrival = now + 0.002, arrival + 0.002
            assert judge(guard, 0.0, now, arrival) == ''
        arrival += pause


def test_a_stamp_that_trembles_is_frozen_all_the_same() -> None:
    """Nanoseconds of advance in a timeout are no clock, neither before nor after the fault."""
    guard = guard_of()
    stamps = 1.0 + 1e-9 * np.random.default_rng(0).uniform(0.0, 256.0, 400).cumsum()
    found = [judge(guard, 0.0, float(stamp), 0.002 * i) for i, stamp in enumerate(stamps)]
    assert guard.fault.kind is FaultKind.FROZEN
    assert sum(map(bool, found)) >= 340
    judge(guard, 0.0, 1.9, 0.9)
    assert guard.fault is None


@pytest.mark.parametrize('by', [0.003, 0.02, 0.09, 0.15, 0.9, 5.0, 1e5])
def test_a_stamp_ahead_of_its_time_costs_no_other_state(by: float) -> None:
    """The state after one that is stamped too late is believed, and all that come after it."""
    guard, ahead = guard_of(fastest=6.0), []
    for step in range(40):
        stamp = 0.002 * step + by * (step == 20)
        found = judge(guard, 3.0 * 0.002 * step, stamp, 7.0 + 0.002 * step)
        assert found == ('after GAP' if step == 20 and by > 0.1 else '')
        ahead += [(step, guard.ahead)] if guard.ahead else []
        assert guard.last.time == stamp
    assert ahead == [(21, pytest.approx(by - 0.002))]


@pytest.mark.parametrize(
    ('away', 'until', 'is_fault'),
    # Nobody may be away for longer than half a second.
    [(0.3, 0.35, False), (0.2, 0.35, True), (2.0, 1.0, True)],
)
def test_a_gap_in_which_nobody_listened_is_no_fault(away, until, is_fault) -> None:
    """What the own thread was away for is taken off a gap, once."""
    guard = guard_of()
    judge(guard, 0.0, 1.0)
    guard.excuse(away / 2.0)
    guard.excuse(away / 2.0)
    assert (judge(guard, 0.0, 1.0 + until) == 'after GAP') == is_fault
    assert judge(guard, 0.0, 1.0 + 2.0 * until) == 'after GAP'


# ---- faults that latch


def jump(guard: StateGuard, now: float) -> str:
    """Let a joint jump; return what that is taken for."""
    judge(guard, 0.0, now)
    return judge(guard, 1.0, now + 0.01)


def come_back(guard: StateGuard, now: float) -> None:
    """Let states agree until they are believed, or would be."""
    for step in range(GUARD_LIMITS.states_after_jump + 1):
        judge(guard, 0.0, now + 0.01 * step)


def test_a_fault_that_keeps_coming_back_latches() -> None:
    """The third jump within ten seconds stays; states that agree do not end it."""
    guard = guard_of(np.inf, fastest=1.0, window=10.0)
    for count in range(1, GUARD_LIMITS.repeats + 1):
        assert jump(guard, float(count)).startswith('JUMPED')
        latches = count == GUARD_LIMITS.repeats
        assert guard.fault.latches == latches
        come_back(guard, count + 0.1)
        assert (guard.fault is not None) == latches
    assert '3 times within 10 s' in guard.fault.text
    guard.clear()
    come_back(guard, 4.5)
    assert guard.fault is None
    jump(guard, 5.0)
    assert not guard.fault.latches


@pytest.mark.parametrize(('kinds', 'count'), [([FaultKind.GAP], 3), (list(FaultKind), 6)])
def test_so_many_faults_latch(kinds: list[FaultKind], count: int) -> None:
    """Of one kind, and of several."""
    guard = guard_of(window=10.0)
    judge(guard)
    latched = [guard.trip(Fault(kinds[k % len(kinds)], '')).latches for k in range(8)]
    assert latched.index(True) == count - 1


def test_what_cannot_be_cleared_says_why() -> None:
    """Without a fault, with one that does not latch, and before a state has come since."""
    guard = guard_of()
    with pytest.raises(StateRefused, match='there is no latched fault'):
        guard.clear()
    guard.trip(Fault(FaultKind.STOPPED, 'no usable one for 0.1 s'))
    with pytest.raises(StateRefused, match='joint_states stopped'):
        guard.clear()
    guard.trip(Fault(FaultKind.FOLLOWING, 'for the test', latches=True))
    with pytest.raises(StateRefused, match='no state has come since the fault'):
        guard.clear()
    assert 'clear_fault' in judge(guard)
    assert guard.clear().kind is FaultKind.FOLLOWING


# ---- thresholds


def jumps(distance: float) -> bool:
    """Return whether a joint that cannot move has jumped by a distance."""
    guard = guard_of(fastest=1e-9)
    judge(guard)
    return bool(judge(guard, distance, 0.001))


def jumps_beside_velocity(share: float) -> bool:
    """Return whether a motion is no jump that is off by a share of what its velocity says."""
    guard = guard_of(fastest=1.0)
    judge(guard, velocity=0.0)
    return bool(judge(guard, 1.0 + 0.02 + share, 0.1, velocity=20.0))


def is_set_back(time: float) -> bool:
    """Return whether an older stamp is of a clock that was set back."""
    guard = guard_of()
    judge(guard, 0.0, 10.0, 0.0)
    return judge(guard, 0.0, 10.0 - time, 0.01).startswith('BACKWARDS')


def runs(rate: float) -> bool:
    """Return whether a clock of that rate is believed to run."""
    guard = guard_of()
    return not any(judge(guard, 0.0, 0.05 * rate * step, 0.05 * step) for step in range(5))


def is_gap(time: float) -> bool:
    """Return whether a time is a gap though the node itself has not listened for long."""
    guard = guard_of()
    judge(guard)
    guard.excuse(10.0)
    return bool(judge(guard, 0.0, 0.1 + time))


@pytest.mark.parametrize(
    ('value', 'happens'),
    [
        pytest.param(0.02, jumps, id='position_slack'),
        pytest.param(0.5, jumps_beside_velocity, id='velocity_slack'),
        pytest.param(1.0, is_set_back, id='largest_disorder'),
        pytest.param(1e-3, runs, id='slowest_clock'),
        pytest.param(0.5, is_gap, id='longest_excuse'),
    ],
)
def test_it_happens_beyond_the_limit_and_not_before(value: float, happens) -> None:
    """3 % below nothing is said or done, 3 % above it is."""
    assert not happens(0.97 * value)
    assert happens(1.03 * value)


@pytest.mark.parametrize(
    ('kind', 'states'), [(FaultKind.FROZEN, 2), (FaultKind.GAP, 1), (FaultKind.JUMPED, 3)]
)
def test_so_many_states_must_agree_after_a_fault(kind: FaultKind, states: int) -> None:
    """The last of them is believed."""
    guard = guard_of()
    judge(guard)
    guard.trip(Fault(kind, ''))
    refused = [not judge(guard, 0.0, 0.01 * k).startswith('after') for k in range(1, 5)]
    assert refused.index(False) == states - 1
