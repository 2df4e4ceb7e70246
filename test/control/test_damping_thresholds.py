"""How an arm is damped after a fault, by the numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ne_dynamics.control.fault_damping import FaultDamping, find_damping_rate
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.braking import AnsweredStates

JOINTS = [Joint(name, JointType.REVOLUTE, velocity_limit=2.0) for name in 'ab']
ZERO = np.zeros(2)
JUMP = np.full(2, 4.0)


def unit_masses(q, qd, qdd, qd_friction):
    """Return the efforts of a model with an inertia of one per joint, and nothing else."""
    return np.array(qdd)


def damping_of(states=(), disbelieved=(), position=ZERO, jump=JUMP) -> FaultDamping:
    """Return what damps after states: rows of time, position, velocity and effort."""
    answered = AnsweredStates()
    for time, *arrays in states:
        answered.append(time, *(np.array(one, dtype=float) for one in arrays))
    return FaultDamping(JOINTS, unit_masses, jump, position, answered, disbelieved, 10.0)


def motion(position, period=0.002, count=60, velocity=lambda t: ZERO, effort=lambda t: ZERO):
    """Return states of a motion, the last of them at the time 0 s."""
    times = period * np.arange(1 - count, 1)
    return [(t, position(t), velocity(t), effort(t)) for t in times]


def compensation(found):
    """Return a model of no weight that keeps the velocities that it is asked for."""

    def effort(q, qd, qdd, still, wrench, base):
        found.append(qd)
        return np.zeros(2)

    return SimpleNamespace(effort=effort)


def is_velocity_believed(share: float) -> bool:
    """Return whether a reported velocity counts that is off by a share of the motion."""
    said = (1.0 - share) * np.ones(2)
    damping = damping_of(motion(lambda t: t * np.ones(2), velocity=lambda t: said))
    assert np.allclose(damping.velocity, said) or np.allclose(damping.velocity, 1.0)
    return np.allclose(damping.velocity, said)


def stops_together(still: float, way: float) -> bool:
    """Return whether a joint is not believed that has stood for a time, beside one for 60 ms.

    In that time it would have gone on by a way.
    """

    def position(t):
        return np.array([min(t + 0.06, 0.0), way / still * min(t + still, 0.0)])

    return not damping_of(motion(position), disbelieved=(0,)).believed[1]


def is_predicted_from_a_change(step: float) -> bool:
    """Return whether a frozen position counts again since it changed by a step."""
    damping = damping_of(
        motion(lambda t: np.array([min(t + 0.06, 0.0) + step * (t > -0.03), 0.0])),
        disbelieved=(0,),
    )
    assert damping.position[0] == pytest.approx(0.06, abs=0.003) or damping.position[0] < 0.006
    return damping.position[0] < 0.006


def steps(damping, positions, period=0.001):
    """Let positions of the first joint come, one a period; return whether it was believed."""
    believed = []
    for place in positions:
        damping.step(np.array([place, 0.0]), period, ZERO)
        believed.append(bool(damping.believed[0]))
    return believed


def stays_where_it_was(off: float) -> bool:
    """Return whether a joint is believed to have moved that is off where another one jumps."""
    damping = damping_of()
    damping.step(np.array([0.5, off]), 0.001, ZERO)
    return damping.position[1] == 0.0


def is_let_go(speed: float) -> bool:
    """Return whether the command of before does not go on at a joint with a speed."""
    damping = damping_of()
    damping.velocity = np.array([speed, 0.0])
    damping.go_on_from(np.ones(2), ZERO)
    assert damping.offset.value[1] == 1.0
    return damping.offset.value[0] == 0.0


def waits(speed: float) -> bool:
    """Return whether an offset waits that lets a joint go with a speed; for 3 s it may."""
    damping, kept = damping_of(), []
    damping.go_on_from(np.ones(2), ZERO)
    damping.velocity = np.array([-speed, 0.0])
    for _ in range(350):
        damping.fade(0.01)
        kept.append(0.0 if damping.offset.value is None else damping.offset.value[0])
    assert kept[-1] < 0.1
    return kept[289] == 1.0


@pytest.mark.parametrize(
    ('inside', 'outside', 'happens'),
    [
        pytest.param(0.29, 0.31, lambda one: not is_velocity_believed(one), id='velocity_share'),
        pytest.param(0.026, 0.034, lambda still: stops_together(still, 0.1), id='together'),
        pytest.param(0.0027, 0.0033, lambda way: stops_together(0.05, way), id='sudden_stop'),
        pytest.param(0.0009, 0.0011, is_predicted_from_a_change, id='still_distance'),
        pytest.param(
            5, 6, lambda n: False in steps(damping_of(), np.arange(1, n + 1)), id='jumps'
        ),
        pytest.param(
            3, 4, lambda n: not steps(damping_of(), np.arange(1, 40) % n)[-1], id='places'
        ),
        pytest.param(0.0019, 0.0021, stays_where_it_was, id='switch_distance'),
        pytest.param(0.049, 0.051, is_let_go, id='rest_speed'),
        pytest.param(0.19, 0.21, waits, id='release_speed, longest_fade'),
    ],
)
def test_it_happens_beyond_the_threshold_and_not_before(inside, outside, happens) -> None:
    """Of velocities, of encoders that stop together, of jumps, and of what fades."""
    assert not happens(inside)
    assert happens(outside)


@pytest.mark.parametrize(
    ('fall', 'period', 'rate'),
    [(0.0, 0.0, 10.0), (60.0, 0.0, 20.0), (1000.0, 0.0, 40.0), (0.0, 0.1, 3.0)],
)
def test_the_rate(fall, period, rate) -> None:
    """10 /s, more where a tenth of gravity drives joints at more than 0.15 of their limits, 40 /s
    at the most, and 0.3 by the time between two states.
    """
    assert find_damping_rate(JOINTS, np.full(2, fall), period) == pytest.approx(rate)


def test_velocities_are_of_a_filter_of_40_hz() -> None:
    """Half of a step is late by 8 ms."""
    damping = damping_of()
    damping.step(np.full(2, 0.001), 0.002, ZERO)
    decay = np.exp(-2.0 * np.pi * 40.0 * 0.002)
    np.testing.assert_allclose(damping.velocity, (1.0 - decay) ** 2 / 0.002 * 0.001)


@pytest.mark.parametrize(('period', 'late'), [(0.002, 0.003), (0.01, 0.01)])
def test_else_the_velocity_is_that_of_four_states_and_of_20_ms(period, late) -> None:
    """Whichever is less: of an arm that accelerates it is late by half of that."""
    damping = damping_of(motion(lambda t: 0.5 * (t + 1.0) ** 2 * np.ones(2), period))
    np.testing.assert_allclose(damping.velocity, 1.0 - late)


def test_a_joint_that_is_not_believed_goes_on_for_half_a_second() -> None:
    """Then it stands."""
    damping = damping_of(motion(lambda t: np.array([t, 0.0])), disbelieved=(0,))
    begin = damping.position[0]
    for step in range(1, 1001):
        damping.step(np.zeros(2), 0.001, ZERO)
        if step == 400:
            assert damping.velocity[0] == pytest.approx(1.0)
    assert damping.position[0] - begin == pytest.approx(0.5, abs=0.01)
    assert damping.velocity[0] == 0.0


@pytest.mark.parametrize(('period', 'states'), [(0.001, 50), (0.04, 5)])
def test_it_is_believed_again_after_50_ms_and_five_states(period, states) -> None:
    """In which it has gone on evenly."""
    damping = damping_of()
    assert not steps(damping, 0.5 * np.arange(1, 8), period)[-1]
    assert steps(damping, [3.5] * 60, period).index(True) == pytest.approx(states - 1, abs=1)


@pytest.mark.parametrize(('speed', 'share'), [(3.0, 1.0), (4.5, 0.5), (6.0, 0.0)])
def test_coriolis_efforts_count_up_to_three_times_the_limits(speed, share) -> None:
    """At twice that not at all."""
    damping, found = damping_of(), []
    damping.velocity = np.array([2.0 * speed, 0.0])
    damping.compute_effort(compensation(found), np.full(2, 10.0))
    np.testing.assert_allclose(found[1], share * damping.velocity)


def test_what_is_balanced_is_that_of_the_last_30_ms_and_fades_in_half_a_second() -> None:
    """Efforts before are of another load; a hundredth is left then."""
    damping = damping_of(
        motion(lambda t: np.ones(2), effort=lambda t: np.full(2, float(t > -0.0301)))
    )
    damping.go_on_from(np.full(2, 2.0), ZERO)
    np.testing.assert_allclose(damping.offset.value, 1.0)
    for _ in range(500):
        damping.fade(0.001)
    np.testing.assert_allclose(damping.offset.value, 0.01, rtol=0.1)
