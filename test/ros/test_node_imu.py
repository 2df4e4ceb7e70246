"""The base's IMU in the node: gravity where the base is tilted, timeouts, readings refused."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics

Imu = pytest.importorskip(
    'sensor_msgs.msg', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"'
).Imu

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
G = 9.80665


def send(bench, publisher, acceleration, *, frame='base_link', rate=(0.0, 0.0, 0.0), count=1):
    """Publish readings of the present control time and let them arrive."""
    for _ in range(count):
        bench.time += 0.01
        message = Imu()
        message.header.frame_id = frame
        message.header.stamp.sec = int(bench.time)
        message.header.stamp.nanosec = round((bench.time - int(bench.time)) * 1e9)
        message.orientation_covariance[0] = -1.0
        for field, values in (('linear_acceleration', acceleration), ('angular_velocity', rate)):
            vector = getattr(message, field)
            vector.x, vector.y, vector.z = map(float, values)
        before = bench.received['imu']
        publisher.publish(message)
        bench.spin(lambda before=before: bench.received['imu'] > before)


def start(bench, **parameters):
    """Start the node with an IMU, unfiltered, and return the publisher of readings."""
    publisher = bench.probe.create_publisher(Imu, 'imu', 10)
    bench.start(imu__enabled=True, imu__cutoff_frequency=0.0, **parameters)
    bench.spin(lambda: publisher.get_subscription_count() > 0)
    return publisher


def test_the_last_command_knows_the_tilt(bench) -> None:
    """What is sent on deactivation holds the arm as tilted, whatever the base did at the time."""
    publisher = start(bench)
    gravity = G * np.array([0.0, 0.6, -0.8])
    bench.answer(bench.joint_state(Q))
    send(bench, publisher, -gravity, rate=0.05 * gravity, count=3)
    bench.answer(bench.joint_state(Q))
    assert bench.change_state('deactivate')
    tilted = Dynamics(bench.robot, gravity=gravity, backend='python').gravity_torque(Q)
    bench.spin(lambda: np.allclose(bench.commands[-1], tilted, atol=1e-6), 'the last command')
