"""What commands carry, in which message, over DDS."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from std_msgs.msg import Float64MultiArray

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
NAMES = [f'joint_{index}' for index in range(1, 7)]
ORDER = [2, 0, 1, 5, 4, 3]
JOINTS = [NAMES[index] for index in ORDER]
MIT = ['position', 'velocity', 'effort', 'proportional', 'derivative']
KP = [60.0, 80.0, 70.0, 5.0, 6.0, 7.0]
KD = [1.0]
DRIVES = {'mode': 'feedforward', 'command__kp': KP, 'command__kd': KD}


def under_way(bench: Any, kind: type, **parameters: Any) -> tuple[Any, dict[str, list[float]]]:
    """Return a command in the middle of a motion, and what it is to carry, by interface."""
    heard = bench.hear_commands(kind)
    bench.start(joints=JOINTS, **parameters)
    first = bench.joint_state(Q), bench.joint_state(Q), bench.joint_state(Q + 0.2, dt=0.4)
    for index, state in enumerate(first):
        bench.joint_states.publish(state)
        bench.spin(lambda count=index: len(heard) > count, 'a command')
        if not index:
            bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, np.zeros(6), np.zeros(6))))
    bench.spin(lambda: len(bench.efforts) == len(first), '~/effort')
    effort = bench.efforts[-1]
    assert effort.velocity[0] > 0.1
    wanted = {name: list(getattr(effort, name)) for name in MIT[:3]}
    return heard[-1], {**wanted, 'proportional': KP, 'derivative': KD * 6}


@pytest.mark.kept(3)
@pytest.mark.parametrize('order', ['joint_major', 'interface_major'])
@pytest.mark.parametrize('interfaces', [MIT, ['effort', 'position'], ['effort']])
def test_an_array_has_all_interfaces(bench, order: str, interfaces: list[str]) -> None:
    """In the order of both, which the layout says; desired motion and effort are of one time."""
    chosen = {'command__interfaces': interfaces, 'command__order': order, **DRIVES}
    if interfaces == ['effort']:
        chosen['feedforward__robot_closes_loop'] = True
    command, values = under_way(bench, Float64MultiArray, **chosen)
    table = np.array([values[name] for name in interfaces])
    if order == 'joint_major':
        table = table.T
    np.testing.assert_array_equal(command.data, table.ravel())
    labels, sizes, strides = (
        [getattr(dimension, field) for dimension in command.layout.dim]
        for field in ('label', 'size', 'stride')
    )
    if interfaces == ['effort']:
        assert not labels
    else:
        assert labels == [order.removesuffix('_major'), *({'joint', 'interface'} - {labels[0]})]
        assert sizes == list(table.shape)
        assert strides == [table.size, table.shape[1]]
    # The effort is that of the desired motion beside it: nothing is fed back.
    back = np.argsort(ORDER)
    desired = bench.node.configured.controller.limits.setpoint
    np.testing.assert_array_equal(np.array(values['position'])[back], desired.position)
    expected = bench.dynamics.inverse_dynamics(*desired)
    np.testing.assert_allclose(np.array(values['effort'])[back], expected, atol=1e-9)


def in_joint_state(message: Any) -> tuple[Any, dict[str, list[float]]]:
    fields = {name: list(getattr(message, name)) for name in MIT[:3]}
    return message.name, {name: values for name, values in fields.items() if values}


def in_joint_command(message: Any) -> tuple[Any, dict[str, list[float]]]:
    return message.joint_names, {message.interface_name: list(message.values)}


def in_groups(message: Any) -> tuple[Any, dict[str, list[float]]]:
    assert all(group.interface_names == MIT for group in message.interface_values)
    columns = zip(*(group.values for group in message.interface_values), strict=True)
    return message.interface_groups, dict(zip(MIT, map(list, columns), strict=True))


@pytest.mark.parametrize(
    ('kind', 'interfaces', 'read'),
    [
        ('sensor_msgs.JointState', ['position', 'effort'], in_joint_state),
        ('control_msgs.JointCommand', ['effort'], in_joint_command),
        ('control_msgs.DynamicInterfaceGroupValues', MIT, in_groups),
    ],
)
def test_other_messages_have_names_and_stamp(
    bench, messages, kind: str, interfaces: list[str], read: Callable[..., Any]
) -> None:
    """All that is asked for by name, and no more; the stamp is the time at which it is sent."""
    package, _, name = kind.partition('.')
    word = ''.join(f'_{letter.lower()}' if letter.isupper() else letter for letter in name)
    begin = bench.probe.get_clock().now().nanoseconds
    command, values = under_way(
        bench,
        getattr(import_module(f'{package}.msg'), name),
        command__type=word.removeprefix('_'),
        command__interfaces=interfaces,
        feedforward__robot_closes_loop=True,
        **DRIVES,
    )
    names, found = read(command)
    assert names == JOINTS
    assert found == {interface: values[interface] for interface in interfaces}
    # Stamps of the joint states are of another clock.
    stamp = command.header.stamp.sec * 10**9 + command.header.stamp.nanosec
    assert begin < stamp <= bench.probe.get_clock().now().nanoseconds


def without_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an older control_msgs be installed."""
    package, messages = ModuleType('control_msgs'), ModuleType('control_msgs.msg')
    package.msg = messages
    monkeypatch.setitem(sys.modules, 'control_msgs', package)
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', messages)


def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'control_msgs', None)


@pytest.mark.parametrize(
    ('kind', 'name', 'leave_out'),
    [
        ('joint_command', 'JointCommand', without_message),
        ('dynamic_interface_group_values', 'DynamicInterfaceGroupValues', without_package),
    ],
)
def test_a_message_that_is_missing_is_named(
    bench, monkeypatch, leave_out: Callable[..., None], kind: str, name: str
) -> None:
    """One line has the message and the releases that have it; another type may be chosen then."""
    leave_out(monkeypatch)
    bench.start(wait=None, command__type=kind)
    line = bench.hear('not configured', 'command.type', kind, f'control_msgs/{name}', 'Jazzy')
    assert '\n' not in line
    assert bench.state == 'unconfigured'
    bench.set(command__type='float64_multi_array')
    assert bench.change_state('configure')
    assert bench.change_state('activate')
    bench.connect()
    bench.answer(bench.joint_state(Q))
