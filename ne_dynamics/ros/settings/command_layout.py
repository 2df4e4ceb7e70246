"""What a command carries: which interfaces of the drives, in which message and order. No ROS.

Efforts alone are for drives that do what they are told. Drives in MIT mode close a loop of their
own around them,

    tau = kp (q_d - q) + kd (qd_d - qd) + tau_ff,

and are to have the desired position and velocity that the effort was computed with, in the same
message. Then the feedback is theirs: a law that feeds the error back as well would count it twice.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.errors import ParameterError
from ne_dynamics.settings import Changes, parameter

POSITION, VELOCITY, EFFORT = 'position', 'velocity', 'effort'
PROPORTIONAL, DERIVATIVE = 'proportional', 'derivative'

INTERFACES = (POSITION, VELOCITY, EFFORT, PROPORTIONAL, DERIVATIVE)
"""Command interfaces by the names that ros2_control has for them."""

GAINS = {PROPORTIONAL: 'command.kp', DERIVATIVE: 'command.kd'}
"""Interfaces that carry gains, and the parameter that has them."""


class CommandType(str, enum.Enum):
    """The message; the values are the words of the node's parameter `command.type`."""

    FLOAT64_MULTI_ARRAY = 'float64_multi_array'
    JOINT_STATE = 'joint_state'
    JOINT_COMMAND = 'joint_command'
    DYNAMIC_INTERFACE_GROUP_VALUES = 'dynamic_interface_group_values'


class CommandOrder(str, enum.Enum):
    """Which comes first in an array; the values are the words of `command.order`."""

    JOINT_MAJOR = 'joint_major'
    """All interfaces of the first joint, then those of the next."""
    INTERFACE_MAJOR = 'interface_major'
    """The first interface of all joints, then the next."""


@dataclass(frozen=True)
class CommandSettings:
    """What is sent to the drives, and how often: the parameters `command.*`."""

    type: CommandType = parameter(
        CommandType.FLOAT64_MULTI_ARRAY,
        'Message of the command: `float64_multi_array` (std_msgs), for effort_controllers and '
        'forward_command_controller; `joint_state` (sensor_msgs), with names and stamp; '
        '`joint_command` (control_msgs 5.10 on Jazzy, else 6.10), with names and stamp, for one '
        'interface; `dynamic_interface_group_values` (control_msgs), with names of joints and '
        "interfaces and stamp. The stamp is the time of sending by the node's clock.",
        changes=Changes.UNCONFIGURED,
    )
    interfaces: tuple[str, ...] = parameter(
        (EFFORT,),
        'What the message carries for each joint, in this order: `effort` alone, or, for drives '
        'that close the loop (MIT mode), `effort` and `position`, optionally `velocity` and the '
        'gains `proportional` and `derivative`. Position and velocity are the desired ones for '
        'which the effort was computed. Modes with feedback are then refused.',
        changes=Changes.UNCONFIGURED,
    )
    order: CommandOrder = parameter(
        CommandOrder.JOINT_MAJOR,
        'Order of several interfaces in `float64_multi_array`: `joint_major`, all of the first '
        'joint first; `interface_major`, the first one of all joints first.',
        changes=Changes.UNCONFIGURED,
    )
    kp: tuple[float, ...] = parameter(
        (),
        "Position gain that is sent as `proportional`, in the drives' units: one for all joints "
        'or one per joint.',
        unit='N m/rad or N/m',
        minimum=0.0,
    )
    kd: tuple[float, ...] = parameter(
        (),
        'Velocity gain that is sent as `derivative`; as kp.',
        unit='N m s/rad or N s/m',
        minimum=0.0,
    )
    repeat: float = parameter(
        0.0,
        'Rate at which the last command is repeated while no new one comes, for controllers '
        'that drop old ones. It stops when no state has been answered for `state_timeout`, '
        'which must be finite, when a fault leaves the arm (`on_fault`), and while inactive. '
        '0: never.',
        unit='1/s',
        minimum=0.0,
        maximum=1000.0,
    )

    @property
    def drives_close_loop(self) -> bool:
        """Whether the drives are told where to be, and see to it."""
        return POSITION in self.interfaces

    def require_sound(self) -> None:
        """Raise when no robot could be commanded so."""
        interfaces, name = self.interfaces, 'command.interfaces'
        for interface in interfaces:
            if interface not in INTERFACES:
                raise ParameterError(
                    f'{name}: expected some of {list(INTERFACES)}, got {interface!r}'
                )
        if EFFORT not in interfaces:
            raise ParameterError(
                f'{name}: expected {EFFORT!r} among them, got {list(interfaces)}: a drive that is '
                'given positions alone needs no such node'
            )
        if len(interfaces) > 1 and not self.drives_close_loop:
            raise ParameterError(
                f'{name}: expected {EFFORT!r} alone or {POSITION!r} with it, got '
                f'{list(interfaces)}: without a position nobody closes the loop on it'
            )
        self._require_carried()
        for interface, gain in GAINS.items():
            if interface in interfaces and not self.gain(interface):
                raise ParameterError(
                    f'{gain}: expected one value or one per joint, got none: {name} has '
                    f'{interface!r}'
                )

    def _require_carried(self) -> None:
        """Raise when the message has no place for the interfaces."""
        kind, interfaces = self.type, self.interfaces
        if kind is CommandType.JOINT_COMMAND and len(interfaces) > 1:
            raise ParameterError(
                f'command.type: {kind.value} carries one interface: expected command.interfaces '
                f'[{EFFORT}] or another type, got {list(interfaces)}'
            )
        gains = [interface for interface in interfaces if interface in GAINS]
        if kind is CommandType.JOINT_STATE and gains:
            raise ParameterError(
                f'command.type: {kind.value} has no field for {gains[0]!r}: expected another '
                'type, or command.interfaces without it'
            )

    def gain(self, interface: str) -> tuple[float, ...]:
        """Return what is sent as `proportional` or `derivative`."""
        return self.kp if interface == PROPORTIONAL else self.kd


def places(interfaces: Sequence[str], n: int, order: CommandOrder) -> dict[str, slice]:
    """Return where in an array the values of each interface are, of n joints one by one."""
    m = len(interfaces)
    if order is CommandOrder.JOINT_MAJOR:
        return {name: slice(k, None, m) for k, name in enumerate(interfaces)}
    return {name: slice(k * n, (k + 1) * n) for k, name in enumerate(interfaces)}
