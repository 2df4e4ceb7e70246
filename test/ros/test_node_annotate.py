"""The node fills trajectories of others with efforts, by what it knows of the arm."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_urdf

JointTrajectory = pytest.importorskip(
    'trajectory_msgs.msg', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"'
).JointTrajectory

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
REST = np.zeros(6)


def connect(bench):
    """Return the publisher of requests and the list of answers."""
    answers = []
    bench.probe.create_subscription(
        JointTrajectory, 'computed_torque/annotated', answers.append, 10
    )
    publisher = bench.probe.create_publisher(JointTrajectory, 'computed_torque/annotate', 10)
    bench.spin(lambda: publisher.get_subscription_count() > 0)
    bench.spin(lambda: bench.probe.count_publishers('computed_torque/annotated') > 0)
    return publisher, answers


def test_efforts_come_back_with_payload_and_hold(bench) -> None:
    """Efforts are those of the arm with its payload; the last point is at rest under gravity."""
    bench.start(tip_link='tcp', effort_tolerance=[0.2])
    publisher, answers = connect(bench)
    assert bench.set_atomically(payload__mass=2.0).successful
    request = bench.trajectory((0.0, Q, REST, REST), (1.0, Q + 0.4, REST, REST))
    publisher.publish(request)
    bench.spin(lambda: len(answers) == 1, 'the answer')
    (answer,) = answers
    assert list(answer.joint_names) == list(request.joint_names)
    assert len(answer.points) > 5
    robot = load_urdf(bench.model_file, tip_link='tcp')
    payload = np.zeros(10)
    payload[0] = 2.0
    dynamics = Dynamics(robot, backend='python')
    for point in answer.points:
        effort = dynamics.inverse_dynamics(
            point.positions, point.velocities, point.accelerations, None, None, payload
        )
        np.testing.assert_allclose(point.effort, effort, atol=1e-6)
    assert not any(answer.points[-1].velocities)
    assert any('annotate rate' in pair.key for one in wait(bench) for pair in one.values)


def wait(bench):
    """Return diagnostics that came after now."""
    bench.diagnostics.clear()
    bench.spin(lambda: len(bench.diagnostics) > 1, 'diagnostics')
    return bench.diagnostics


def test_a_wrist_sensor_is_no_reason_to_forget_the_tool(bench) -> None:
    """Where the model is cut at the sensor the efforts are those of the whole arm."""
    bench.start(wrench__enabled=True, wrench__sensor_link='ft_sensor')
    publisher, answers = connect(bench)
    publisher.publish(bench.trajectory((0.0, Q, REST, REST), (1.0, Q + 0.4, REST, REST)))
    bench.spin(lambda: len(answers) == 1, 'the answer')
    whole = bench.dynamics.gravity_torque(Q + 0.4)
    np.testing.assert_allclose(answers[0].points[-1].effort, whole, atol=1e-6)


def test_a_bad_one_is_dropped_and_the_node_goes_on(bench) -> None:
    """A trajectory that is not in order: a warning with field and reason, no answer."""
    bench.start()
    publisher, answers = connect(bench)
    publisher.publish(bench.trajectory((1.0, Q), (0.5, Q)))
    bench.hear('annotate dropped', 'time_from_start')
    bench.answer(bench.joint_state(Q))
    assert not answers
