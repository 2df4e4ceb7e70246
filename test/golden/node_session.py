"""A node in a virtual world: what it is told, and what it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from geometry_msgs.msg import Quaternion, Vector3, WrenchStamped
from golden_arms import GoldenArm
from lifecycle_msgs.srv import ChangeState
from node_outputs import NodeOutputs
from rcl_interfaces.srv import SetParameters
from replay_inputs import EVENT, IMU, RESOLUTION, SENSOR_RESOLUTION, STATE, WRENCH, Told
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import Trigger
from virtual_world import BEGIN, VirtualWorld

from ne_dynamics.ros.node import ComputedTorqueNode
from ne_dynamics.simulation.demo.node_messages import (
    parameter_of,
    parameters_request,
    set_stamp,
    trajectory_message,
)


def _vector(values: Sequence[float]) -> Vector3:
    return Vector3(**dict(zip('xyz', map(float, values), strict=True)))


class NodeSession:
    """A node that is told things, one after the other.

    Parameters
    ----------
    world : VirtualWorld
        Installed.
    context : rclpy.context.Context
    arm : GoldenArm
    parameters : dict
        Of the node, beside those that name the arm.
    sensor_links : dict
        Frames of `wrench` and `imu`.

    Attributes
    ----------
    node : ComputedTorqueNode
    outputs : NodeOutputs
    """

    def __init__(
        self,
        world: VirtualWorld,
        context: Any,
        arm: GoldenArm,
        parameters: dict[str, Any],
        sensor_links: dict[str, str],
        nudge: float = 0.0,
    ) -> None:
        self._world, self._arm, self._links = world, arm, sensor_links
        self._names = list(arm.joint_names)
        # Part by which positions are other than they were recorded.
        self._nudge = nudge
        self._goals: dict[str, Any] = {}
        self.outputs = NodeOutputs(lambda: world.now - BEGIN)
        world.heard, world.logged = self.outputs.hear, self.outputs.log
        values = {**arm.parameters, 'backend': 'python', **parameters}
        overrides = [parameter_of(name, value) for name, value in values.items()]
        self.node = ComputedTorqueNode(context=context, parameter_overrides=overrides)
        self.node.executor = world

    @property
    def now(self) -> int:
        """Time since the begin [ns]."""
        return self._world.now - BEGIN

    def advance(self, until: int) -> None:
        """Let time pass up to a moment [ns since the begin]."""
        self._world.advance(BEGIN + until)

    def tell(self, told: Told) -> None:
        """Let time pass until something is due, and tell it the node."""
        self.advance(told.arrival)
        if told.kind == EVENT:
            self._tell_event(told.content)
        else:
            make = {STATE: self._state, WRENCH: self._wrench, IMU: self._imu}[told.kind]
            topic = {STATE: 'joint_states', WRENCH: 'wrench', IMU: 'imu'}[told.kind]
            self._publish(topic, make(told.content))

    def _publish(self, topic: str, message: Any) -> None:
        self._world.publish(self.node, f'/{topic}', message)

    # ---- messages

    def _stamped(self, kind: Any, content: dict[str, Any], frame: str = '') -> Any:
        message = kind()
        stamp = BEGIN + int(np.ravel(content['stamp'])[0])
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        message.header.frame_id = frame
        return message

    def _state(self, content: dict[str, Any]) -> JointState:
        message = self._stamped(JointState, content)
        message.name = self._names
        for field, step in RESOLUTION.items():
            if field in content:
                share = 1.0 + self._nudge * (field == 'position')
                setattr(message, field, (share * step * content[field]).tolist())
        return message

    def _wrench(self, content: dict[str, Any]) -> WrenchStamped:
        message = self._stamped(
            WrenchStamped, content, content.get('frame', self._links['wrench'])
        )
        if 'values' in content:
            values = content['values']
        else:
            values = SENSOR_RESOLUTION['wrench'] * content['wrench']
        message.wrench.force = _vector(values[:3])
        message.wrench.torque = _vector(values[3:])
        return message

    def _imu(self, content: dict[str, Any]) -> Imu:
        message = self._stamped(Imu, content, self._links['imu'])
        values = (SENSOR_RESOLUTION['imu'] * content['imu']).tolist()
        message.orientation = Quaternion(**dict(zip('xyzw', values[:4], strict=True)))
        message.angular_velocity = _vector(values[4:7])
        message.linear_acceleration = _vector(values[7:])
        return message

    def _trajectory(self, content: dict[str, Any]) -> Any:
        message = trajectory_message(content.get('names', self._names), content['points'])
        if 'stamp' in content:
            set_stamp(message.header.stamp, 1e-9 * BEGIN + content['stamp'])
        return message

    # ---- events

    def _tell_event(self, event: dict[str, Any]) -> None:
        """Do what an event says: its only key is its kind."""
        ((kind, content),) = event.items()
        getattr(self, f'_tell_{kind}')(content)

    def _tell_state(self, content: dict[str, Any]) -> None:
        """Tell a joint state that is not as the others."""
        message = self._stamped(JointState, content)
        message.name = content['name']
        for field in RESOLUTION:
            setattr(message, field, [float(value) for value in content[field]])
        self._publish('joint_states', message)

    def _tell_wrench(self, content: dict[str, Any]) -> None:
        self._publish('wrench', self._wrench(content))

    def _tell_trajectory(self, content: dict[str, Any]) -> None:
        self._publish('joint_trajectory', self._trajectory(content))

    def _tell_clock(self, nanoseconds: int) -> None:
        message = ClockMessage()
        message.clock.sec, message.clock.nanosec = divmod(BEGIN + nanoseconds, 10**9)
        self._publish('clock', message)

    def _tell_speed(self, factor: float) -> None:
        from control_msgs.msg import SpeedScalingFactor

        message = SpeedScalingFactor(factor=float(factor))
        self._publish('computed_torque/speed_scaling_input', message)

    def _tell_trigger(self, name: str) -> None:
        response = self._call(name, Trigger.Request())
        self.outputs.note(f'~/{name}', response and response.success)

    def _tell_transition(self, label: str) -> None:
        request = ChangeState.Request()
        request.transition.label = label
        self.outputs.note(label, self._call('change_state', request).success)

    def _tell_parameters(self, values: dict[str, Any]) -> None:
        """Set all or none."""
        response = self._call('set_parameters_atomically', parameters_request(values))
        self.outputs.note(f'set {" ".join(values)}', response.result.successful)

    def _tell_single_parameters(self, values: dict[str, Any]) -> None:
        """Set those that can be."""
        parameters = parameters_request(values).parameters
        response = self._call('set_parameters', SetParameters.Request(parameters=parameters))
        for name, result in zip(values, response.results, strict=True):
            self.outputs.note(f'set {name}', result.successful)

    def _call(self, name: str, request: Any) -> Any:
        return self._world.call(self.node, name, request)

    def _tell_goal(self, content: dict[str, Any]) -> None:
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTolerance

        name = content['id']
        goal = FollowJointTrajectory.Goal(trajectory=self._trajectory(content))
        for field in ('path_tolerance', 'goal_tolerance'):
            if field in content:
                tolerance = content[field]
                rows = [JointTolerance(name=joint, position=tolerance) for joint in self._names]
                setattr(goal, field, rows)
        set_stamp(goal.goal_time_tolerance, content.get('goal_time', 0.0))

        def ended(way: str, code: int) -> None:
            self.outputs.note(f'goal {name}', f'{way} {code}')

        self._goals[name] = self._world.send_goal(goal, ended)
        self.outputs.note(f'goal {name} accepted', self._goals[name] is not None)

    def _tell_cancel(self, name: str) -> None:
        self.outputs.note(f'cancel {name}', self._world.cancel_goal(self._goals[name]))


@contextmanager
def opened(context: Any, *arguments: Any) -> Iterator[NodeSession]:
    """Return a session in a world of its own; the node is destroyed at the end."""
    with VirtualWorld().installed() as world:
        session = NodeSession(world, context, *arguments)
        try:
            yield session
        finally:
            session.node.executor = None
            session.node.destroy_node()
