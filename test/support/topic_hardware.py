"""Stand-ins: ros2_control with an arm behind topics, and the arm.

As read in topic_based_hardware_interfaces (main, d115f23; 1.1.0):
joint_state_topic_hardware_interface.cpp (read, write) and its README.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

DEFAULTS = {
    'joint_commands_topic': '/robot_joint_commands',
    'joint_states_topic': '/robot_joint_states',
    'trigger_joint_command_threshold': '1e-5',
    'sum_wrapped_joint_states': 'false',
}
STATES = ('position', 'velocity', 'effort')


class TopicHardware:
    """A controller manager with joint_state_broadcaster, an effort controller and this hardware.

    Parameters
    ----------
    node : Node
    description : str
        URDF with `<ros2_control>`.
    joints : sequence of str
        Of the effort controller, in its order.
    commands_topic : str
        On which it takes efforts.
    """

    def __init__(
        self, node: Any, description: str, joints: Sequence[str], commands_topic: str
    ) -> None:
        control = ElementTree.fromstring(description).find('ros2_control')
        hardware = control.find('hardware')
        self.plugin = hardware.findtext('plugin')
        given = {param.get('name'): param.text for param in hardware.findall('param')}
        assert set(given) <= set(DEFAULTS)
        self.parameters = {**DEFAULTS, **given}
        self._joints = {
            joint.get('name'): (
                [each.get('name') for each in joint.findall('command_interface')],
                [each.get('name') for each in joint.findall('state_interface')],
            )
            for joint in control.findall('joint')
        }
        self._controlled = list(joints)
        self.state = {
            f'{name}/{interface}': math.nan
            for name, (_, interfaces) in self._joints.items()
            for interface in interfaces
        }
        self.command = {
            f'{name}/{interface}': math.nan
            for name, (interfaces, _) in self._joints.items()
            for interface in interfaces
        }
        assert {f'{name}/effort' for name in joints} <= set(self.command)
        self.received = 0
        self._latest = JointState()
        self._publisher = node.create_publisher(
            JointState, self.parameters['joint_commands_topic'], QoSProfile(depth=1)
        )
        node.create_subscription(
            JointState,
            self.parameters['joint_states_topic'],
            self._on_state,
            qos_profile_sensor_data,
        )
        node.create_subscription(Float64MultiArray, commands_topic, self._on_efforts, 1)

    def _on_state(self, message: JointState) -> None:
        self._latest = message
        self.received += 1

    def _on_efforts(self, message: Float64MultiArray) -> None:
        for name, effort in zip(self._controlled, message.data, strict=True):
            self.command[f'{name}/effort'] = effort

    def read(self) -> None:
        """Take the last states by name; what is not finite stays as it was."""
        for index, name in enumerate(self._latest.name):
            for interface in STATES:
                values = getattr(self._latest, interface)
                if name in self._joints and len(values) and math.isfinite(values[index]):
                    self.state[f'{name}/{interface}'] = values[index]

    def broadcast(self) -> JointState:
        """Return what joint_state_broadcaster publishes, without a stamp."""
        message = JointState(name=list(self._joints))
        for interface in STATES:
            values = [self.state[f'{name}/{interface}'] for name in self._joints]
            setattr(message, interface, values)
        return message

    def write(self) -> bool:
        """Publish the commands, unless all are near the states; return whether they were."""
        supported = [
            key for key in self.command if key.rpartition('/')[2] in STATES and key in self.state
        ]
        distance = sum(abs(self.state[key] - self.command[key]) for key in supported)
        if distance <= float(self.parameters['trigger_joint_command_threshold']):
            return False
        message = JointState()
        for name, (interfaces, _) in self._joints.items():
            message.name.append(name)
            for interface in interfaces:
                getattr(message, interface).append(self.command[f'{name}/{interface}'])
        self._publisher.publish(message)
        return True


class ArmBehindTopics:
    """An arm that takes efforts and gives states as JointState; under brakes until it has some.

    Parameters
    ----------
    node : Node
    arm : MujocoArm
    parameters : mapping
        Of the hardware.
    """

    def __init__(self, node: Any, arm: Any, parameters: Any) -> None:
        self._arm = arm
        self._names = list(arm.robot.joint_names)
        self.received = 0
        self.effort: np.ndarray | None = None
        self._publisher = node.create_publisher(
            JointState, parameters['joint_states_topic'], qos_profile_sensor_data
        )
        node.create_subscription(
            JointState, parameters['joint_commands_topic'], self._on_command, 1
        )

    def _on_command(self, message: JointState) -> None:
        self.received += 1
        efforts = dict(zip(message.name, message.effort, strict=True))
        effort = np.array([efforts[name] for name in self._names])
        if np.isfinite(effort).all():
            self.effort = effort

    def publish(self) -> None:
        """Publish the state, joints in an order of the arm's own."""
        arm, message = self._arm, JointState()
        for index in reversed(range(arm.n)):
            message.name.append(self._names[index])
            message.position.append(arm.position[index])
            message.velocity.append(arm.velocity[index])
            message.effort.append(arm.effort[index])
        self._publisher.publish(message)

    def step(self) -> None:
        """Let a period pass."""
        if self.effort is None:
            self._arm.stand()
        else:
            self._arm.step(self.effort)
