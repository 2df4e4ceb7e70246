"""What commands carry, in which message, over DDS."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
NAMES = [f'joint_{index}' for index in range(1, 7)]
ORDER = [2, 0, 1, 5, 4, 3]
JOINTS = [NAMES[index] for index in ORDER]
MIT = ['position', 'velocity', 'effort', 'proportional', 'derivative']
KP = [60.0, 80.0, 70.0, 5.0, 6.0, 7.0]
KD = [1.0]
DRIVES = {'mode': 'feedforward', 'command__kp': KP, 'command__kd': KD}


def listen(bench: Any, kind: type) -> list[Any]:
    heard: list[Any] = []
    for known in list(bench.probe.subscriptions):
        # One participant cannot have two types of one topic.
        if known.topic_name.endswith('effort_controller/commands'):
            bench.probe.destroy_subscription(known)
    bench.probe.create_subscription(kind, 'effort_controller/commands', heard.append, 100)
    return heard


def answer(bench: Any, heard: list[Any], message: JointState) -> Any:
    before = len(heard)
    bench.joint_states.publish(message)
    bench.spin(lambda: len(heard) > before, 'a command')
    return heard[-1]


def under_way(bench: Any, heard: list[Any]) -> tuple[Any, Any]:
    """Return a command in the middle of a motion, and what ~/effort says of it."""
    answer(bench, heard, bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5, np.zeros(6), np.zeros(6))))
    answer(bench, heard, bench.joint_state(Q))
    before = len(bench.efforts)
    command = answer(bench, heard, bench.joint_state(Q + 0.2, dt=0.4))
    bench.spin(lambda: len(bench.efforts) > before, '~/effort')
    return command, bench.efforts[-1]


def told(effort: JointState) -> dict[str, list[float]]:
    """Return what drives are to be told, by interface."""
    return {
        'position': list(effort.position),
        'velocity': list(effort.velocity),
        'effort': list(effort.effort),
        'proportional': KP,
        'derivative': KD * 6,
    }


@pytest.mark.kept(2)
@pytest.mark.parametrize('order', ['joint_major', 'interface_major'])
@pytest.mark.parametrize('interfaces', [MIT, ['effort', 'position']])
def test_an_array_has_all_interfaces(bench, order: str, interfaces: list[str]) -> None:
    """In the order of both, which the layout says; desired motion and effort are of one time."""
    heard = listen(bench, Float64MultiArray)
    bench.start(joints=JOINTS, command__interfaces=interfaces, command__order=order, **DRIVES)
    command, effort = under_way(bench, heard)
    values = told(effort)
    table = np.array([values[name] for name in interfaces])
    assert effort.velocity[0] > 0.1
    if order == 'joint_major':
        table = table.T
    np.testing.assert_array_equal(command.data, table.ravel())
    labels = [dimension.label for dimension in command.layout.dim]
    sizes = [dimension.size for dimension in command.layout.dim]
    strides = [dimension.stride for dimension in command.layout.dim]
    assert labels == [order.removesuffix('_major'), *({'joint', 'interface'} - {labels[0]})]
    assert sizes == list(table.shape)
    assert strides == [table.size, table.shape[1]]
    # The effort is that of the desired motion beside it: nothing is fed back.
    back = np.argsort(ORDER)
    desired = bench.node.configured.controller.limits.setpoint
    expected = bench.dynamics.inverse_dynamics(*desired)
    np.testing.assert_array_equal(np.array(effort.position)[back], desired.position)
    np.testing.assert_allclose(np.array(effort.effort)[back], expected, atol=1e-9)


def test_efforts_alone_are_what_they_were(bench) -> None:
    """By default the array has the efforts, and no layout."""
    heard = listen(bench, Float64MultiArray)
    bench.start(joints=JOINTS)
    command = answer(bench, heard, bench.joint_state(Q))
    gravity = bench.dynamics.gravity_torque(Q)
    np.testing.assert_allclose(command.data, gravity[ORDER], atol=1e-9)
    assert not command.layout.dim


def test_a_joint_state_has_names_stamp_and_what_is_asked_for(bench) -> None:
    """Position, velocity and effort each in its field; a field that is not asked for is empty."""
    heard = listen(bench, JointState)
    bench.start(
        joints=JOINTS,
        mode='feedforward',
        command__type='joint_state',
        command__interfaces=['position', 'effort'],
    )
    begin = bench.node.get_clock().now().nanoseconds
    command, effort = under_way(bench, heard)
    assert command.name == JOINTS
    assert command.position == effort.position
    assert command.effort == effort.effort
    assert not command.velocity
    assert stamp_of(command) > begin


def stamp_of(message: Any) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def test_a_joint_command_has_names_interface_and_stamp(bench, messages) -> None:
    """control_msgs' message for one interface; the stamp is the time at which it is sent."""
    from control_msgs.msg import JointCommand

    heard = listen(bench, JointCommand)
    bench.start(joints=JOINTS, command__type='joint_command')
    begin = bench.node.get_clock().now().nanoseconds
    # Stamps of the joint states may be of another clock.
    command = answer(bench, heard, bench.joint_state(Q))
    assert command.joint_names == JOINTS
    assert command.interface_name == 'effort'
    gravity = bench.dynamics.gravity_torque(Q)
    np.testing.assert_allclose(command.values, gravity[ORDER], atol=1e-9)
    assert begin < stamp_of(command) <= bench.node.get_clock().now().nanoseconds


def test_groups_have_all_by_name(bench, messages) -> None:
    """A group for each joint, with its interfaces in the order that was asked for."""
    from control_msgs.msg import DynamicInterfaceGroupValues

    heard = listen(bench, DynamicInterfaceGroupValues)
    bench.start(
        joints=JOINTS,
        command__type='dynamic_interface_group_values',
        command__interfaces=MIT,
        **DRIVES,
    )
    command, effort = under_way(bench, heard)
    values = told(effort)
    assert command.interface_groups == JOINTS
    for index, group in enumerate(command.interface_values):
        assert group.interface_names == MIT
        assert list(group.values) == [values[name][index] for name in MIT]
    assert stamp_of(command) > 0


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    'feedback twice': (
        {'mode': 'computed_torque', 'command__interfaces': MIT[:3]},
        ('mode: computed_torque', 'count twice', 'feedforward'),
    ),
    'feedback twice by PD': (
        {'mode': 'feedforward_pd', 'command__interfaces': MIT[:3]},
        ('mode: feedforward_pd', 'count twice'),
    ),
    'no effort': (
        {'mode': 'feedforward', 'command__interfaces': ['position']},
        ('command.interfaces', "'effort'", 'position'),
    ),
    'no position': (
        {'mode': 'feedforward', 'command__interfaces': ['effort', 'velocity']},
        ('command.interfaces', "'position'", 'velocity'),
    ),
    'an unknown one': (
        {'command__interfaces': ['effort', 'torque']},
        ('command.interfaces', "'torque'"),
    ),
    'one twice': (
        {'command__interfaces': ['effort', 'effort']},
        ('command.interfaces', 'no name twice'),
    ),
    'gains without numbers': (
        {'mode': 'feedforward', 'command__interfaces': MIT},
        ('command.kp', 'proportional'),
    ),
    'gains of other joints': (
        {**DRIVES, 'command__interfaces': MIT, 'command__kp': [1.0, 2.0]},
        ('command.kp', '6'),
    ),
    'gains in a joint state': (
        {**DRIVES, 'command__interfaces': MIT, 'command__type': 'joint_state'},
        ('command.type', 'joint_state', 'proportional'),
    ),
    'several in a joint command': (
        {**DRIVES, 'command__interfaces': MIT[:3], 'command__type': 'joint_command'},
        ('command.type', 'joint_command', 'one interface'),
    ),
    'drives that are to let the arm down': (
        {**DRIVES, 'command__interfaces': MIT, 'on_state_loss': 'lower'},
        ('on_state_loss', 'lower', 'brake or gravity'),
    ),
    'repeats without end': (
        {'command__repeat': 50.0, 'state_timeout': float('inf')},
        ('command.repeat', 'state_timeout'),
    ),
}


def test_what_makes_no_sense_is_not_configured(bench, unthrottled) -> None:
    """One line says which parameter, what was expected and what came; nothing is left behind."""
    bench.start(wait=None, autostart=False)
    for name, (parameters, fragments) in REFUSED.items():
        bench.forget_what_was_said()
        before = dict(zip(parameters, bench.get(*map(dotted, parameters)), strict=True))
        result = bench.set_atomically(**parameters)
        if result.successful:
            assert not bench.change_state('configure'), name
            line = bench.hear('not configured', *fragments)
            assert '\n' not in line
            bench.set(**before)
        else:
            assert all(fragment in result.reason for fragment in fragments), result.reason
        assert bench.state == 'unconfigured'
        assert bench.node.configured is None


def dotted(name: str) -> str:
    return name.replace('__', '.')


def test_a_mode_with_feedback_is_refused_at_run_time(bench) -> None:
    """The drives go on as they do; to be led by hand is possible."""
    bench.start(command__interfaces=MIT[:3], mode='feedforward')
    bench.answer(bench.joint_state(Q))
    refused = bench.set_atomically(mode='computed_torque')
    assert not refused.successful
    assert 'count twice' in refused.reason
    bench.set(mode='gravity_compensation')


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
