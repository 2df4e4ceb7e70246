"""Every message that cannot be used: dropped, said why, no command of it, and life goes on."""

from __future__ import annotations

import numpy as np
from held_worker import being_planned

from ne_dynamics.ros.thresholds import NODE

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
NAMES = [f'joint_{i}' for i in range(1, 7)]


def test_warnings_are_throttled(bench) -> None:
    """The same fault many times is one line in the log, and counted in the diagnostics."""
    bench.start()
    for _ in range(20):
        before = bench.received['joint_states']
        bench.joint_states.publish(bench.joint_state(Q, position=[]))
        bench.spin(lambda before=before: bench.received['joint_states'] > before)
    bench.settle()
    assert len([line for line in bench.said() if 'joint_states dropped' in line]) == 1

    def counted() -> bool:
        return any(
            value.key == 'joint_states.position dropped' and value.value == '20'
            for status in bench.diagnostics
            for value in status.values
        )

    bench.spin(counted, 'the count in the diagnostics')


def test_a_trajectory_of_another_clock_is_told(bench) -> None:
    """One whose stamp is far in the future is not followed before its time, its sender is told."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.3), stamp=bench.time + 1e6))
    bench.hear('starts in')
    command = bench.answer(bench.joint_state(Q))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_efforts_of_points_are_not_used(bench) -> None:
    """Even impossible ones do not reach the commands; which is said."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    still = np.zeros(6)
    bench.send_trajectory(bench.trajectory((0.2, Q, still, still, [300.0] * 6)))
    bench.hear('effort of the points is not used')
    command = bench.answer(bench.joint_state(Q))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_corners_of_lines_are_followed_up_to_the_limits(bench) -> None:
    """A line of 0.1 s is nothing to refuse: commands stay within the limits, its end is held."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((0.1, Q + 0.15)))
    for _ in range(60):
        command = bench.answer(bench.joint_state(Q))
        assert (np.abs(command) <= bench.robot.limits('effort_limit')).all()
    bench.spin(lambda: np.array_equal(bench.efforts[-1].position, Q + 0.15), 'the end')


def long_trajectory(bench, count: int, goal: np.ndarray):
    """Return one of many points, a millisecond apart, to a goal and no further."""
    share = np.arange(1, count + 1)[:, np.newaxis] / count
    positions = Q + (goal - Q) * (3.0 * share**2 - 2.0 * share**3)
    velocities = (goal - Q) * 6.0 * (share - share**2) / (1e-3 * count)
    points = [(1e-3 * (i + 1), positions[i], velocities[i]) for i in range(count)]
    return bench.trajectory(*points)


def test_a_trajectory_that_is_too_long_is_refused(bench) -> None:
    """More points than are read are named; the motion goes on."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(long_trajectory(bench, NODE.most_trajectory_points + 1, Q + 0.5))
    bench.hear(
        'joint_trajectory dropped', f'points: expected at most {NODE.most_trajectory_points}, got'
    )
    bench.answer(bench.joint_state(Q, dt=5.0))
    bench.spin(lambda: len(bench.efforts) == 2)
    np.testing.assert_array_equal(bench.efforts[-1].position, Q)


def test_more_than_the_arm_has_is_refused_or_followed(bench) -> None:
    """A first segment of 10 ms is dropped, until the parameter has it followed, which is said."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    message = bench.trajectory((0.01, Q + 0.02, np.zeros(6)), (1.0, Q, np.zeros(6)))
    bench.send_trajectory(message)
    bench.hear('joint_trajectory dropped', 'effort of', 'expected at most')
    bench.answer(bench.joint_state(Q, dt=0.01))
    bench.spin(lambda: len(bench.efforts) == 2)
    np.testing.assert_array_equal(bench.efforts[-1].position, Q)
    bench.set(trajectory__when_infeasible='follow')
    bench.send_trajectory(message)
    bench.hear('beyond the limits, but followed', 'effort of')
    bench.answer(bench.joint_state(Q, dt=0.01))
    bench.answer(bench.joint_state(Q, dt=0.01))
    bench.spin(lambda: len(bench.efforts) == 4)
    np.testing.assert_allclose(bench.efforts[-1].position, Q + 0.02)


def test_hold_counts_for_a_trajectory_that_is_being_planned(bench) -> None:
    """Who holds the arm after a long trajectory was sent does not see it set out later."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    message = long_trajectory(bench, NODE.most_trajectory_points, Q + 0.5)
    with being_planned(bench, message):
        bench.node.configured.motion.hold('the test')
    bench.settle()
    for _ in range(3):
        bench.answer(bench.joint_state(Q, dt=1.0))
    bench.spin(lambda: len(bench.efforts) == 4)
    np.testing.assert_array_equal(bench.efforts[-1].position, Q)


def test_commands_stay_within_limits_and_are_reported(bench) -> None:
    """A large error gives the limit, not more, and the diagnostics name the joints."""
    bench.start()
    bench.answer(bench.joint_state(Q))
    command = bench.answer(bench.joint_state(Q - 2.0))
    limits = bench.robot.limits('effort_limit')
    assert (np.abs(command) <= limits).all()
    assert np.abs(command)[1] == limits[1]
    bench.spin(
        lambda: any(
            value.key.startswith('saturated') and 'joint_2' in value.value
            for status in bench.diagnostics
            for value in status.values
        )
    )


def test_diagnostics_say_what_is_going_on(bench) -> None:
    """Once a second: state, model, mode, terms, counts; a warning where something is amiss."""
    bench.start(terms__coriolis=False)
    bench.answer(bench.joint_state(Q))

    def find():
        for status in bench.diagnostics:
            values = {value.key: value.value for value in status.values}
            if values.get('joint_states received') == '1':
                return status, values
        return None

    bench.spin(lambda: find() is not None, 'a diagnostic')
    status, values = find()
    assert status.name == '/computed_torque'
    assert status.hardware_id == 'six_axis_arm'
    assert values['mode'] == 'computed_torque'
    assert values['terms'] == 'gravity inertia friction'
    assert values['joints'] == ' '.join(NAMES)


def test_the_effort_of_a_state_without_a_stamp_has_the_time_it_was_computed_for(bench) -> None:
    """Stamps of ~/effort are as far apart as the rate limit took the states to be."""
    rate = 1000.0
    bench.start(effort_rate_limit=[rate])
    stamps, efforts = [], []
    for step in range(12):
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
