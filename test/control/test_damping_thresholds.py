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


@pytest.mark.parametrize(('share', 'is_believed'), [(0.29, True), (0.31, False)])
def test_reported_velocities_count_where_they_are_those_of_the_positions(
    share, is_believed
) -> None:
    """Off by three tenths of the motion at the most."""
    said = (1.0 - share) * np.ones(2)
    damping = damping_of(motion(lambda t: t * np.ones(2), velocity=lambda t: said))
    np.testing.assert_allclose(damping.velocity, said if is_believed else np.ones(2))


@pytest.mark.parametrize(('period', 'late'), [(0.002, 0.003), (0.01, 0.01)])
def test_else_the_velocity_is_that_of_four_states_and_of_20_ms(period, late) -> None:
    """Whichever is less: of an arm that accelerates it is late by half of that."""
    damping = damping_of(motion(lambda t: 0.5 * (t + 1.0) ** 2 * np.ones(2), period))
    np.testing.assert_allclose(damping.velocity, 1.0 - late)


def is_believed_beside_a_frozen_one(still: float, way: float) -> bool:
    """Return whether a joint is believed that has stood for a time, beside one for 60 ms.

    In that time it would have gone on by a way.
    """

    def position(t):
        return np.array([min(t + 0.06, 0.0), way / still * min(t + still, 0.0)])

    return bool(damping_of(motion(position), disbelieved=(0,)).believed[1])


@pytest.mark.parametrize(
    ('still', 'way', 'is_believed'),
    [
        pytest.param(0.026, 0.1, True, id='together, less'),
        pytest.param(0.034, 0.1, False, id='together, more'),
        pytest.param(0.05, 0.0027, True, id='sudden_stop, less'),
        pytest.param(0.05, 0.0033, False, id='sudden_stop, more'),
    ],
)
def test_encoders_that_stop_together_are_believed_none(still, way, is_believed) -> None:
    """From half of that time on, and four millimetres, one of which it may have gone."""
    assert is_believed_beside_a_frozen_one(still, way) == is_believed


@pytest.mark.parametrize(('step', 'way'), [(0.0009, 0.06), (0.0011, 0.003)])
def test_a_frozen_position_may_change_by_a_millimetre(step, way) -> None:
    """It is wrong since it last changed by more: from there on the joint is predicted."""
    damping = damping_of(
        motion(lambda t: np.array([min(t + 0.06, 0.0) + step * (t > -0.03), 0.0])),
        disbelieved=(0,),
    )
    assert damping.position[0] == pytest.approx(way, abs=0.003)


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


def steps(damping, positions, period=0.001):
    """Let positions of the first joint come, one a period; return whether it was believed."""
    believed = []
    for place in positions:
        damping.step(np.array([place, 0.0]), period, ZERO)
        believed.append(bool(damping.believed[0]))
    return believed


def test_a_joint_that_jumps_to_six_places_in_a_row_is_believed_no_more() -> None:
    """Five are borne."""
    assert steps(damping_of(), 0.5 * np.arange(1, 8)).index(False) == 5


@pytest.mark.parametrize(('places', 'is_believed'), [(3, True), (4, False)])
def test_three_places_are_known(places, is_believed) -> None:
    """To be shown at these in turns is no jump."""
    damping = damping_of()
    assert steps(damping, 0.5 * (np.arange(1, 40) % places))[-1] == is_believed


@pytest.mark.parametrize(('period', 'states'), [(0.001, 50), (0.04, 5)])
def test_it_is_believed_again_after_50_ms_and_five_states(period, states) -> None:
    """In which it has gone on evenly."""
    damping = damping_of()
    assert not steps(damping, 0.5 * np.arange(1, 8), period)[-1]
    assert steps(damping, [3.5] * 60, period).index(True) == pytest.approx(states - 1, abs=1)


@pytest.mark.parametrize(('off', 'is_moved'), [(0.0019, True), (0.0021, False)])
def test_where_a_joint_jumps_the_others_do_by_2_mm(off, is_moved) -> None:
    """Another publisher says another position of every joint."""
    damping = damping_of()
    damping.step(np.array([0.5, off]), 0.001, ZERO)
    assert (damping.position[1] > 0.0) == is_moved


@pytest.mark.parametrize(('speed', 'share'), [(3.0, 1.0), (4.5, 0.5), (6.0, 0.0)])
def test_coriolis_efforts_count_up_to_three_times_the_limits(speed, share) -> None:
    """At twice that not at all."""
    damping, found = damping_of(), []
    damping.velocity = np.array([2.0 * speed, 0.0])
    damping.compute_effort(compensation(found), np.full(2, 10.0))
    np.testing.assert_allclose(found[1], share * damping.velocity)


@pytest.mark.parametrize(('speed', 'goes_on'), [(0.049, True), (0.051, False)])
def test_a_command_goes_on_at_the_joints_that_rest(speed, goes_on) -> None:
    """Slower than 0.05; within 0.5 s it is down to a hundredth."""
    damping = damping_of()
    damping.velocity = np.array([speed, 0.0])
    damping.go_on_from(np.ones(2), ZERO)
    np.testing.assert_allclose(damping.offset.value, [float(goes_on), 1.0])
    for _ in range(500):
        damping.fade(0.001)
    assert damping.offset.value[1] == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize(('speed', 'is_kept'), [(0.19, False), (0.21, True)])
def test_an_offset_that_lets_a_joint_go_too_fast_waits_for_3_s(speed, is_kept) -> None:
    """Faster than a tenth of its limit."""
    damping = damping_of()
    damping.go_on_from(np.ones(2), ZERO)
    damping.velocity = np.array([-speed, 0.0])
    for _ in range(290):
        damping.fade(0.01)
    kept = 0.0 if damping.offset.value is None else damping.offset.value[0]
    assert (kept == 1.0) == is_kept
    for _ in range(60):
        damping.fade(0.01)
    kept = 0.0 if damping.offset.value is None else damping.offset.value[0]
    assert kept < 0.1


def test_what_is_balanced_is_that_of_the_last_30_ms() -> None:
    """Efforts before are of another load."""
    damping = damping_of(
        motion(lambda t: np.ones(2), effort=lambda t: np.full(2, float(t > -0.0301)))
    )
    damping.go_on_from(np.full(2, 2.0), ZERO)
    np.testing.assert_allclose(damping.offset.value, 1.0)
