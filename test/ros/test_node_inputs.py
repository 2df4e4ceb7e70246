"""Messages that cannot be used, or not as they are: dropped or limited, said why; life goes on."""

from __future__ import annotations

import time

import numpy as np
import pytest
from held_worker import being_planned

from ne_dynamics.ros.watching.diagnostics import Statistics

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
NAMES = [f'joint_{i}' for i in range(1, 7)]
STILL = np.zeros(6)


@pytest.fixture
def held(bench):
    """Return the bench of a node that holds the arm at Q."""
    bench.start()
    bench.desired(Q)
    return bench


def test_a_trajectory_of_another_clock_is_told(held) -> None:
    """One whose stamp is far in the future is not followed before its time, its sender is told."""
    held.send_trajectory(held.trajectory((1.0, Q + 0.3), stamp=held.time + 1e6))
    held.hear('starts in')
    np.testing.assert_array_equal(held.desired(Q), Q)


def test_efforts_of_points_are_not_used(held) -> None:
    """Even impossible ones do not reach the commands; which is said."""
    held.send_trajectory(held.trajectory((0.2, Q, STILL, STILL, [300.0] * 6)))
    held.hear('effort of the points is not used')
    command = held.answer(held.joint_state(Q))
    np.testing.assert_allclose(command, held.dynamics.gravity_torque(Q), atol=1e-9)


def test_corners_of_lines_are_followed_up_to_the_limits(held) -> None:
    """A line of 0.1 s is nothing to refuse: commands stay within the limits, which the diagnostics
    name the joints of; its end is held.
    """
    limits = held.robot.limits('effort_limit')
    held.send_trajectory(held.trajectory((0.1, Q + 0.15)))
    for _ in range(12):
        end = held.desired(Q, dt=0.01)
        assert (np.abs(held.commands[-1]) <= limits).all()
    np.testing.assert_array_equal(end, Q + 0.15)
    command = held.answer(held.joint_state(Q - 2.0))
    assert np.abs(command)[1] == limits[1]
    values = {value.key: value.value for value in held.diagnose().values}
    assert 'joint_2' in values['saturated in the last second']


def long_trajectory(bench, count: int):
    """Return one of many points, a millisecond apart, to a goal and no further."""
    share, step = np.arange(1, count + 1)[:, np.newaxis] / count, np.full(6, 0.5)
    positions = Q + step * (3.0 * share**2 - 2.0 * share**3)
    velocities = step * 6.0 * (share - share**2) / (1e-3 * count)
    points = [(1e-3 * (i + 1), positions[i], velocities[i]) for i in range(count)]
    return bench.trajectory(*points)


def test_a_trajectory_that_is_too_long_is_refused(held) -> None:
    """More points than are read are named; the motion goes on."""
    held.send_trajectory(long_trajectory(held, 5001))
    held.hear('joint_trajectory dropped', 'points: expected at most 5000, got 5001')
    np.testing.assert_array_equal(held.desired(Q, dt=5.0), Q)


def test_hold_counts_for_a_trajectory_that_is_being_planned(held) -> None:
    """Who holds the arm after a long trajectory was sent does not see it set out later."""
    with being_planned(held, long_trajectory(held, 2000)):
        held.node.configured.motion.hold('the test')
    held.settle()
    for _ in range(3):
        np.testing.assert_array_equal(held.desired(Q, dt=1.0), Q)


def test_more_than_the_arm_has_is_refused_or_followed(held) -> None:
    """A first segment of 10 ms is dropped, until the parameter has it followed, which is said."""
    message = held.trajectory((0.01, Q + 0.02, STILL), (1.0, Q, STILL))
    held.send_trajectory(message)
    held.hear('joint_trajectory dropped', 'effort of', 'expected at most')
    np.testing.assert_array_equal(held.desired(Q, dt=0.01), Q)
    held.set(trajectory__when_infeasible='follow')
    held.send_trajectory(message)
    held.hear('beyond the limits, but followed', 'effort of')
    held.desired(Q, dt=0.01)
    np.testing.assert_allclose(held.desired(Q, dt=0.01), Q + 0.02)


def test_single_joints_have_tolerances_of_their_own(bench) -> None:
    """`constraints.<joint>.trajectory` counts before the list, at the start and at run time."""
    bench.start(**{'constraints.joint_2.trajectory': 0.1, 'constraints.trajectory': [2.0]})
    bench.desired(Q)
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    bench.desired(Q + 0.3 * (np.arange(6) != 1), dt=0.0)
    assert not any('VIOLATED' in line for line in bench.said())
    bench.desired(Q + 0.2, dt=0.1)
    bench.hear("PATH_TOLERANCE_VIOLATED: joint 'joint_2'")
    bench.set(**{'constraints.joint_2.trajectory': -1.0})
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    on_the_way = bench.desired(Q + 1.0)
    assert np.abs(on_the_way - Q).max() > 0.1
    goes_on = bench.desired(Q + 1.0, dt=0.5)
    np.testing.assert_allclose(goes_on, (on_the_way + Q) / 2.0, atol=1e-3)


def test_diagnostics_say_what_is_going_on(bench) -> None:
    """Once a second: state, model, mode, terms, counts."""
    bench.start(terms__coriolis=False)
    bench.answer(bench.joint_state(Q))
    bench.diagnostics.clear()
    bench.spin(lambda: bench.diagnostics, 'diagnostics by the timer')
    status = bench.diagnostics[0]
    values = {value.key: value.value for value in status.values}
    assert values['joint_states received'] == '1'
    assert status.name == '/computed_torque'
    assert status.hardware_id == 'six_axis_arm'
    assert values['mode'] == 'computed_torque'
    assert values['terms'] == 'gravity inertia friction'
    assert values['joints'] == ' '.join(NAMES)


def test_rates_ages_and_missed_states_are_told(monkeypatch) -> None:
    """Of the time since the last report; states are missed by their usual period."""
    now = [10.0]
    monkeypatch.setattr(time, 'perf_counter', lambda: now[0])
    statistics = Statistics()
    for count, end, rate, age in ((5, 12.0, '2.5', '2.000'), (3, 12.5, '6.0', '0.500')):
        for _ in range(count):
            statistics.hear('imu', now[0])
        now[0] = end
        values = dict(statistics.inputs())
        assert (values['imu rate [1/s]'], values['imu age [s]']) == (rate, age)
    assert values['imu received'] == 8
    for stamps, missed in (([0.0, 0.01, 0.02, 0.05, 0.06], 2), ([0.08, 0.09, 0.1], 1)):
        statistics.answers = [(0.001, stamp) for stamp in stamps]
        assert dict(statistics.outputs(NAMES))['missed cycles'] == missed


def test_the_effort_of_a_state_without_a_stamp_has_the_time_it_was_computed_for(bench) -> None:
    """Stamps of ~/effort are as far apart as the rate limit took the states to be."""
    rate = 1000.0
    bench.start(effort_rate_limit=[rate])
    stamps, efforts = [], []
    # Of ten states the node would know that these gains are for faster ones.
    for step in range(9):
        # The rate limit takes no two states for less than 2 ms apart.
        bench.serve_for(0.004)
        # To and fro, so that the effort has a long way to go, however slow the machine is.
        message = bench.joint_state(Q + 1.5 * (-1) ** step)
        message.header.stamp.sec = message.header.stamp.nanosec = 0
        efforts.append(bench.answer(message))
        bench.spin(lambda count=step + 1: len(bench.efforts) == count, 'the effort')
        stamp = bench.efforts[-1].header.stamp
        stamps.append(stamp.sec * 10**9 + stamp.nanosec)
    fastest = np.abs(np.diff(efforts, axis=0)).max(axis=1)
    elapsed = 1e-9 * np.diff(stamps)
    assert (fastest <= rate * elapsed * (1.0 + 1e-6) + 1e-9).all()
    assert np.isclose(fastest, rate * elapsed, rtol=1e-6, atol=1e-7).sum() > 3
