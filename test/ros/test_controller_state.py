"""`~/controller_state`, `~/query_state` and `~/joint_trajectory` over DDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from trajectory_msgs.msg import JointTrajectory

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
REST = np.zeros(6)
NAMES = [f'joint_{index}' for index in range(1, 7)]
ORDER = [2, 0, 1, 5, 4, 3]


class Listener:
    """Hears states, and asks for others."""

    def __init__(self, bench: Any) -> None:
        from control_msgs.msg import JointTrajectoryControllerState
        from control_msgs.srv import QueryTrajectoryState

        self.bench = bench
        self.kind = QueryTrajectoryState
        self.states: list[Any] = []
        bench.probe.create_subscription(
            JointTrajectoryControllerState,
            'computed_torque/controller_state',
            self.states.append,
            100,
        )

    def connect(self) -> None:
        publisher = self.bench.node._controller_state._publisher
        self.bench.spin(lambda: publisher.get_subscription_count() > 0, 'the subscription')

    def ask(self, seconds: float) -> Any:
        from ne_dynamics.simulation.demo.node_messages import set_stamp

        request = self.kind.Request()
        set_stamp(request.time, seconds)
        return self.bench.call(self.kind, 'query_state', request)


@pytest.fixture
def listener(bench, messages) -> Listener:
    """Return a listener; the node is not started yet."""
    return Listener(bench)


def test_the_state_is_what_is_wanted_measured_missed_and_sent(bench, listener) -> None:
    bench.start(joints=[NAMES[index] for index in ORDER], state_publish_rate=1e6)
    listener.connect()
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, REST, REST)))
    bench.answer(bench.joint_state(Q))
    measured, speed = Q + 0.2, np.full(6, 0.3)
    command = bench.answer(bench.joint_state(measured, speed, dt=0.5))
    bench.spin(lambda: len(listener.states) == 3, 'three states')
    state = listener.states[-1]
    desired = bench.efforts[-1]
    assert state.header.stamp == desired.header.stamp
    assert list(state.joint_names) == [NAMES[index] for index in ORDER]
    np.testing.assert_allclose(state.reference.positions, (Q + 0.25)[ORDER], atol=1e-9)
    np.testing.assert_allclose(state.reference.velocities, 0.5 * 15.0 / 8.0, atol=1e-9)
    np.testing.assert_allclose(state.reference.accelerations, 0.0, atol=1e-9)
    np.testing.assert_allclose(state.feedback.positions, measured[ORDER])
    np.testing.assert_allclose(state.feedback.velocities, speed[ORDER])
    np.testing.assert_allclose(state.error.positions, 0.05, atol=1e-9)
    np.testing.assert_allclose(state.error.velocities, 0.5 * 15.0 / 8.0 - 0.3, atol=1e-9)
    np.testing.assert_array_equal(state.output.effort, command)
    assert not len(state.output.positions)
    assert state.reference.time_from_start.nanosec == pytest.approx(5e8, abs=1e3)
    assert state.speed_scaling_factor == 1.0


@pytest.mark.parametrize(('rate', 'count'), [(50.0, 6), (0.0, 0), (1e6, 51)])
def test_states_come_at_a_rate(bench, listener, rate: float, count: int) -> None:
    """Of 51 states in 0.1 s as many are told as the rate says."""
    bench.start(state_publish_rate=rate)
    listener.connect()
    for _ in range(51):
        bench.answer(bench.joint_state(Q, dt=0.002))
    bench.settle()
    assert len(listener.states) == count


def test_where_the_motion_is_at_other_times(bench, listener) -> None:
    bench.start()
    bench.answer(bench.joint_state(Q))
    begin = bench.time + 0.002
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, REST, REST)))
    bench.answer(bench.joint_state(Q))
    half = listener.ask(begin + 0.5)
    assert half.success, half.message
    assert list(half.name) == NAMES
    np.testing.assert_allclose(half.position, Q + 0.25, atol=1e-6)
    np.testing.assert_allclose(half.velocity, 0.5 * 15.0 / 8.0, atol=1e-6)
    np.testing.assert_allclose(half.acceleration, 0.0, atol=1e-4)
    after = listener.ask(begin + 1.5)
    assert not after.success
    assert '0.5 s after the motion ends' in after.message
    np.testing.assert_allclose(after.position, Q + 0.5)
    before = listener.ask(begin - 1.0)
    assert not before.success
    assert '1 s before the motion begins' in before.message
    assert not listener.ask(0.0).success
    bench.change_state('deactivate')
    assert listener.ask(begin + 0.5).message == 'the node is not active'


def test_both_names_of_the_trajectory_are_heard(bench) -> None:
    bench.start()
    bench.answer(bench.joint_state(Q))
    private = bench.probe.create_publisher(JointTrajectory, 'computed_torque/joint_trajectory', 10)
    bench.spin(private.get_subscription_count, 'the private topic')
    for publisher, goal in ((private, Q + 0.1), (bench.trajectories, Q + 0.2)):
        before = bench.received['joint_trajectory']
        publisher.publish(bench.trajectory((0.5, goal)))
        bench.spin(lambda was=before: bench.received['joint_trajectory'] > was, 'a trajectory')
        bench.answer(bench.joint_state(Q))
        bench.answer(bench.joint_state(Q, dt=1.0))
        count = len(bench.commands)
        bench.spin(lambda: len(bench.efforts) >= count, 'the desired states')  # noqa: B023
        np.testing.assert_allclose(bench.efforts[-1].position, goal, atol=1e-9)


def test_without_control_msgs_there_is_a_line_in_the_log(bench) -> None:
    """Neither topic nor service, and the reason."""
    from build_control_msgs import installed

    if installed():
        pytest.skip('control_msgs is installed: the node has both')
    bench.start()
    bench.hear('no ~/controller_state', 'control_msgs')
    assert not bench.probe.count_publishers('/computed_torque/controller_state')
