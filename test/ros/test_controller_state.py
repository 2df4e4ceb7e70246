"""`~/controller_state`, `~/query_state` and `~/joint_trajectory` over DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.simulation.demo.node_messages import set_stamp

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
REST = np.zeros(6)
NAMES = [f'joint_{index}' for index in range(1, 7)]
ORDER = [2, 0, 1, 5, 4, 3]


@pytest.fixture
def states(bench, messages) -> list[Any]:
    """Return what the topic has said; the node is not started yet."""
    from control_msgs.msg import JointTrajectoryControllerState

    heard: list[Any] = []
    bench.probe.create_subscription(
        JointTrajectoryControllerState, 'computed_torque/controller_state', heard.append, 100
    )
    return heard


def start(bench: Any, **parameters: Any) -> None:
    """Start the node, whose states are heard."""
    bench.start(**parameters)
    publisher = bench.node._controller_state._publisher
    bench.spin(lambda: publisher.get_subscription_count() > 0, 'the subscription')


def test_the_state_is_what_is_wanted_measured_missed_and_sent(bench, states) -> None:
    start(bench, joints=[NAMES[index] for index in ORDER], state_publish_rate=1e6)
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, REST, REST)))
    bench.answer(bench.joint_state(Q))
    measured, speed = Q + 0.2, np.full(6, 0.3)
    command = bench.answer(bench.joint_state(measured, speed, dt=0.5))
    bench.spin(lambda: len(states) == 3, 'three states')
    state = states[-1]
    assert state.header.stamp == bench.efforts[-1].header.stamp
    assert list(state.joint_names) == [NAMES[index] for index in ORDER]
    fastest = 0.5 * 15.0 / 8.0
    for point, field, expected in (
        ('reference', 'positions', (Q + 0.25)[ORDER]),
        ('reference', 'velocities', fastest),
        ('reference', 'accelerations', 0.0),
        ('feedback', 'positions', measured[ORDER]),
        ('feedback', 'velocities', speed[ORDER]),
        ('error', 'positions', 0.05),
        ('error', 'velocities', fastest - 0.3),
        ('output', 'effort', command),
    ):
        values = getattr(getattr(state, point), field)
        np.testing.assert_allclose(values, expected, atol=1e-9, err_msg=f'{point}.{field}')
        assert len(values) == 6
    assert not len(state.output.positions)
    assert state.reference.time_from_start.nanosec == pytest.approx(5e8, abs=1e3)
    assert state.speed_scaling_factor == 1.0


@pytest.mark.parametrize(('rate', 'count'), [(50.0, 6), (0.0, 0), (1e6, 51)])
def test_states_come_at_a_rate(bench, states, rate: float, count: int) -> None:
    """Of 51 states in 0.1 s as many are told as the rate says."""
    start(bench, state_publish_rate=rate)
    for _ in range(51):
        bench.answer(bench.joint_state(Q, dt=0.002))
    bench.settle()
    assert len(states) == count


def test_where_the_motion_is_at_other_times(bench, messages) -> None:
    from control_msgs.srv import QueryTrajectoryState

    def ask(seconds: float) -> Any:
        request = QueryTrajectoryState.Request()
        set_stamp(request.time, seconds)
        return bench.call(QueryTrajectoryState, 'query_state', request)

    bench.start()
    bench.answer(bench.joint_state(Q))
    begin = bench.time + 0.002
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, REST, REST)))
    bench.answer(bench.joint_state(Q))
    half = ask(begin + 0.5)
    assert half.success, half.message
    assert list(half.name) == NAMES
    np.testing.assert_allclose(half.position, Q + 0.25, atol=1e-6)
    np.testing.assert_allclose(half.velocity, 0.5 * 15.0 / 8.0, atol=1e-6)
    np.testing.assert_allclose(half.acceleration, 0.0, atol=1e-4)
    after = ask(begin + 1.5)
    assert not after.success
    assert '0.5 s after the motion ends' in after.message
    np.testing.assert_allclose(after.position, Q + 0.5)
    before = ask(begin - 1.0)
    assert not before.success
    assert '1 s before the motion begins' in before.message
    assert not ask(0.0).success
    bench.change_state('deactivate')
    assert ask(begin + 0.5).message == 'the node is not active'


def test_both_names_of_the_trajectory_are_heard(bench) -> None:
    bench.start()
    bench.answer(bench.joint_state(Q))
    private = bench.probe.create_publisher(JointTrajectory, 'computed_torque/joint_trajectory', 10)
    bench.spin(private.get_subscription_count, 'the private topic')
    for publisher, goal in ((private, Q + 0.1), (bench.trajectories, Q + 0.2)):
        before = bench.received['joint_trajectory']
        publisher.publish(bench.trajectory((0.5, goal)))
        bench.spin(lambda was=before: bench.received['joint_trajectory'] > was, 'a trajectory')
        bench.desired(Q)
        np.testing.assert_allclose(bench.desired(Q, dt=1.0), goal, atol=1e-9)
