"""The message in which commands go out: made once, written anew for each."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.ros.settings.command_layout import (
    EFFORT,
    GAINS,
    POSITION,
    VELOCITY,
    CommandOrder,
    CommandSettings,
    CommandType,
    places,
)
from ne_dynamics.ros.settings.controlled_arm import ControlledArm

RELEASES = {
    'JointCommand': '5.10 (Jazzy) and 6.10 (Kilted, Lyrical, Rolling)',
    'DynamicInterfaceGroupValues': '4.7 (Humble), 5.3 (Jazzy) and 6.0 (Kilted and later)',
    'InterfaceValue': '2.2 (Foxy)',
}
"""Releases of control_msgs from which on it has a message."""


class CommandMessage:
    """A message whose numbers are written in place.

    Parameters
    ----------
    message : ROS message
    rows : mapping of str to array, shape (n,)
        Views of its numbers by interface, in the order of the command.
    arm : ControlledArm

    Attributes
    ----------
    message : ROS message
        What is published.
    has_header : bool
        Whether it takes a stamp.
    """

    def __init__(self, message: Any, rows: Mapping[str, FloatArray], arm: ControlledArm) -> None:
        self.message = message
        self.has_header = hasattr(message, 'header')
        self._arm = arm
        self._effort = rows[EFFORT]
        self._position, self._velocity = rows.get(POSITION), rows.get(VELOCITY)
        self._gains = {name: rows[name] for name in GAINS if name in rows}
        self._order = arm.command_order
        self._is_model_order = arm.command_names == arm.robot.joint_names

    def write(self, effort: FloatArray, desired: DesiredState | None) -> None:
        """Write a command.

        Efforts, shape (n,) [N m or N], are in the order of the model. `desired` is what they were
        computed with; needed where the message carries more than efforts.
        """
        self._effort[:] = effort if self._is_model_order else effort[self._order]
        if self._position is not None and desired is not None:
            self._position[:] = desired.position[self._order]
            if self._velocity is not None:
                self._velocity[:] = desired.velocity[self._order]

    def write_gains(self, settings: CommandSettings) -> None:
        """Write the gains that the drives are to use, as far as they are carried."""
        for interface, row in self._gains.items():
            values = self._arm.per_joint(settings.gain(interface), GAINS[interface])
            row[:] = np.broadcast_to(values, row.shape)[self._order]


class GroupedCommandMessage(CommandMessage):
    """One whose numbers are in a message for each joint."""

    def __init__(self, message: Any, settings: CommandSettings, arm: ControlledArm) -> None:
        names = settings.interfaces
        self._values = np.zeros((len(arm.command_names), len(names)))
        self._joints = [np.frombuffer(each.values) for each in message.interface_values]
        rows = {name: self._values[:, index] for index, name in enumerate(names)}
        super().__init__(message, rows, arm)

    def write(self, effort: FloatArray, desired: DesiredState | None) -> None:
        """Write a command, as :meth:`CommandMessage.write`."""
        super().write(effort, desired)
        for joint, values in zip(self._joints, self._values, strict=True):
            joint[:] = values


def _numbers(count: int) -> array[float]:
    return array('d', bytes(8 * count))


def _find_type(name: str, word: str) -> Any:
    """Return a message type of control_msgs.

    Raises
    ------
    ParameterError
        When it is not installed, or too old.
    """
    try:
        from control_msgs import msg
    except ImportError as error:
        found, kind = f'it is not installed ({error})', None
    else:
        found, kind = 'the installed one has no such message', getattr(msg, name, None)
    if kind is None:
        raise ParameterError(
            f'command.type: {word} is control_msgs/{name}, in control_msgs from '
            f'{RELEASES[name]} on; {found}: expected it, or another command.type'
        )
    return kind


def make_command_message(settings: CommandSettings, arm: ControlledArm) -> CommandMessage:
    """Return the message that settings ask for, gains and names written.

    Raises
    ------
    ParameterError
        When its type is missing.
    """
    names, interfaces, kind = list(arm.command_names), settings.interfaces, settings.type
    n = len(names)
    rows: dict[str, FloatArray]
    if kind is CommandType.DYNAMIC_INTERFACE_GROUP_VALUES:
        message = _find_type('DynamicInterfaceGroupValues', kind.value)(interface_groups=names)
        value_type = _find_type('InterfaceValue', kind.value)
        message.interface_values = [
            value_type(interface_names=list(interfaces), values=_numbers(len(interfaces)))
            for _ in names
        ]
        command: CommandMessage = GroupedCommandMessage(message, settings, arm)
    elif kind is CommandType.JOINT_COMMAND:
        message = _find_type('JointCommand', kind.value)(
            joint_names=names, interface_name=EFFORT, values=_numbers(n)
        )
        command = CommandMessage(message, {EFFORT: np.frombuffer(message.values)}, arm)
    elif kind is CommandType.JOINT_STATE:
        message = JointState(name=names, **{each: _numbers(n) for each in interfaces})
        rows = {each: np.frombuffer(getattr(message, each)) for each in interfaces}
        command = CommandMessage(message, rows, arm)
    else:
        message = Float64MultiArray(data=_numbers(n * len(interfaces)))
        if len(interfaces) > 1:
            message.layout.dim = _dimensions(n, len(interfaces), settings.order)
        data = np.frombuffer(message.data)
        found = places(interfaces, n, settings.order)
        command = CommandMessage(message, {each: data[found[each]] for each in interfaces}, arm)
    command.write_gains(settings)
    return command


def _dimensions(joints: int, interfaces: int, order: CommandOrder) -> list[Any]:
    """Return what an array of several interfaces says of its order."""
    dimensions = [('joint', joints), ('interface', interfaces)]
    if order is CommandOrder.INTERFACE_MAJOR:
        dimensions.reverse()
    (outer, first), (inner, second) = dimensions
    return [
        MultiArrayDimension(label=outer, size=first, stride=first * second),
        MultiArrayDimension(label=inner, size=second, stride=second),
    ]
