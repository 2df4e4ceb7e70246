"""Finite values beyond all measure, before a node that a test plays the robot for."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from ne_dynamics.control.sensors.thresholds import SENSORS

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import POSTURE as Q
from fault_bench import Player
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu

from ne_dynamics.simulation.demo.node_messages import set_stamp

HUGE = [1e3, 1e308]


@pytest.fixture(scope='module')
def node(make_bench):
    """Return the bench with a node that listens to everything."""
    bench = make_bench()
    bench.start_node(
        state_timeout=60.0,
        wrench__enabled=True,
        wrench__sensor_link='ft_sensor',
        wrench__cutoff_frequency=30.0,
        wrench__timeout=60.0,
        imu__enabled=True,
        imu__timeout=60.0,
        on_deactivate='zero',
    )
    bench.until_ready()
    bench.until(lambda: bench.wrenches.get_subscription_count() > 0, 'wrench')
    bench.until(lambda: bench.imus.get_subscription_count() > 0, 'imu')
    yield bench
    bench.check()
    count = len(bench.commands)
    bench.node.end(signal.SIGTERM)
    bench.until(lambda: len(bench.commands) > count, 'last commands')
    bench.until(lambda: not np.any(bench.commands[-1].effort), 'a last command of zero')
    bench.check()


@pytest.fixture
def player(node):
    """Return a player of the robot, at rest at Q, its sensors quiet; check all commands after."""
    if node.state == 'active':
        assert node.change_state('deactivate')
    assert node.change_state('activate')
    player = Player(node)
    send_wrench(player, 0.0)
    send_imu(player, 0.0)
    player.answer(Q)
    yield player
    node.check()


def send_wrench(player, size: float) -> None:
    """Send a reading of the wrist sensor, of this size in every number."""
    message = WrenchStamped()
    set_stamp(message.header.stamp, player.time)
    message.header.frame_id = 'tcp'
    for vector in (message.wrench.force, message.wrench.torque):
        vector.x = vector.y = vector.z = size
    player.bench.wrenches.publish(message)


def send_imu(player, size: float) -> None:
    """Send a reading of the inertial unit, off by this size in every number."""
    message = Imu()
    set_stamp(message.header.stamp, player.time)
    message.header.frame_id = 'base_link'
    message.orientation.w = 1.0
    force, velocity = message.linear_acceleration, message.angular_velocity
    force.x, force.y, force.z = size, size, 9.80665 + size
    velocity.x = velocity.y = velocity.z = size
    player.bench.imus.publish(message)


def check_recovery(player, expected: np.ndarray) -> None:
    """Check that the command comes back to what it was when everything is quiet again."""
    node = player.bench
    for _ in range(150):
        send_wrench(player, 0.0)
        send_imu(player, 0.0)
        node.settle()
        if player.is_answered(Q):
            command = node.commands[-1].effort
            if np.allclose(command, expected, atol=1e-3):
                return
    np.testing.assert_allclose(node.commands[-1].effort, expected, atol=1e-3)


@pytest.fixture(scope='module')
def quiet(node) -> np.ndarray:
    player = Player(node)
    for _ in range(40):
        send_wrench(player, 0.0)
        send_imu(player, 0.0)
        node.settle()
        command = player.answer(Q)
    return command


@pytest.mark.parametrize('size', HUGE)
@pytest.mark.parametrize('source', [send_wrench, send_imu])
def test_huge_readings(player, quiet, source, size: float) -> None:
    """Readings of any finite size give commands within the limits, or none, and leave nothing
    behind: soon after them the command is what it was.
    """
    for _ in range(5):
        source(player, size)
        player.bench.settle()
        player.is_answered(Q)
    player.bench.check()
    check_recovery(player, quiet)


@pytest.mark.parametrize('gain', HUGE)
def test_huge_gains(node, player, quiet, monkeypatch, gain: float) -> None:
    """Gains beyond all measure are refused; given before the first state, when nobody knows what
    they would be for, they are refused for a rate limit, and without one they give commands
    within the effort limits, or none.
    """
    for _ in range(SENSORS.least_periods):
        player.is_answered(Q)
    huge = {'computed_torque.kp': [gain], 'computed_torque.kv': [gain]}
    assert not node.set_atomically(**huge).successful
    assert node.change_state('deactivate')
    assert node.change_state('activate')
    refusal = node.set_atomically(**huge)
    assert not refusal.successful
    assert 'effort_rate_limit' in refusal.reason
    node.set(**huge, effort_rate_limit=[np.inf])
    for index in range(4):
        player.is_answered(Q + 0.01 * (index % 2))
    with monkeypatch.context() as patch:
        patch.setattr(node, 'rate_limit', np.inf)
        node.check()
    limited = {'effort_rate_limit': [node.rate_limit]}
    node.set(computed_torque__kp=[36.0], computed_torque__kv=[12.0], **limited)
    node.check()
    check_recovery(player, quiet)
