"""What joint_trajectory_controller tells of itself: `~/controller_state` and `~/query_state`.

The types are from `control_msgs`, which is optional: without it neither is there.
"""

from __future__ import annotations

from array import array
from typing import Any

from ne_dynamics.control.tick import Tick
from ne_dynamics.ros.configured_arm import ConfiguredArm
from ne_dynamics.ros.connections import NO_PUBLISHER_EVENTS
from ne_dynamics.ros.messages.conversion import fill_point, stamp_nanoseconds

STATE_TOPIC = '~/controller_state'
QUERY_SERVICE = '~/query_state'


def fill_tracking(
    message: Any,
    points: tuple[Any, Any, Any],
    elapsed: float,
    configured: ConfiguredArm,
    command: Tick,
    stamp: Any,
) -> None:
    """Write how a motion is followed into a message of joint_trajectory_controller.

    Parameters
    ----------
    message : JointTrajectoryControllerState or FollowJointTrajectory.Feedback
    points : tuple of trajectory_msgs.msg.JointTrajectoryPoint
        Of the message: what is desired, what is measured, and the first less the second.
    elapsed : float
        Time since the motion began [s].
    configured : ConfiguredArm
    command : Tick
    stamp : builtin_interfaces.msg.Time
        Of the state.
    """
    arm, desired, velocity = configured.arm, command.desired, command.velocity
    error = configured.controller.tuning.law.position_error(desired.position, command.position)
    speed_error = None if velocity is None else desired.velocity - velocity
    message.header.stamp = stamp
    message.joint_names = list(arm.command_names)
    measured = command.position, velocity, None
    for point, arrays in zip(points, (desired, measured, (error, speed_error, None)), strict=True):
        fill_point(point, arm.command_order, elapsed, *arrays)


class ControllerState:
    """Publishes the state of the motion, and says where it is at other times.

    Parameters
    ----------
    node : ComputedTorqueNode
    state_type, query_type : type
        control_msgs.msg.JointTrajectoryControllerState, control_msgs.srv.QueryTrajectoryState
    """

    OFFER = STATE_TOPIC
    TYPES = 'msg.JointTrajectoryControllerState', 'srv.QueryTrajectoryState'

    def __init__(self, node: Any, state_type: Any, query_type: Any) -> None:
        self._node = node
        self._message = state_type()
        # Releases before Iron had no such field.
        self._has_scaling = hasattr(self._message, 'speed_scaling_factor')
        self._publisher = node.create_publisher(
            state_type, STATE_TOPIC, 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        node.create_service(query_type, QUERY_SERVICE, self._on_query)
        self._last = float('-inf')

    def attach(self, configured: ConfiguredArm) -> None:
        """Tell of this arm."""
        self._last = float('-inf')
        configured.states.listeners.append(self._observe)

    def _observe(self, command: Tick, stamp: Any) -> None:
        """Publish a state that was answered, where that is due and somebody listens."""
        configured: ConfiguredArm | None = self._node.configured
        if configured is None:
            return
        rate = configured.settings.state_publish_rate
        # A state may be a rounding early; a clock that was set back is no reason to wait for it.
        since = command.now - self._last
        if rate == 0.0 or 0.0 <= since < 0.999 / rate:
            return
        if not self._publisher.get_subscription_count():
            return
        self._last = command.now
        self._fill(configured, command, stamp)
        self._publisher.publish(self._message)

    def _fill(self, configured: ConfiguredArm, command: Tick, stamp: Any) -> None:
        controller, message = configured.controller, self._message
        trajectory, order = controller.motion.trajectory, configured.arm.command_order
        elapsed = 0.0 if trajectory is None else max(command.place - trajectory.start_time, 0.0)
        if self._has_scaling:
            message.speed_scaling_factor = controller.motion.speed
        points = message.reference, message.feedback, message.error
        fill_tracking(message, points, elapsed, configured, command, stamp)
        fill_point(message.output, order, elapsed, None, None, None)
        message.output.effort = array('d', command.effort[order].tobytes())

    def _on_query(self, request: Any, response: Any) -> Any:
        """Say where the motion is at a time, by the clock of the joint states."""
        configured: ConfiguredArm | None = self._node.configured
        if configured is None or not configured.is_commanding:
            response.message = 'the node is not active'
            return response
        trajectory, now = configured.controller.motion.trajectory, configured.controller.time
        if trajectory is None or now is None or configured.controller.fault is not None:
            response.message = configured.why_not_held or 'no motion is followed'
            return response
        nanoseconds = stamp_nanoseconds(request.time)
        time = configured.clock.seconds(nanoseconds) if nanoseconds else float('-inf')
        time, state = configured.controller.motion.state_at(time)
        order = configured.arm.command_order
        response.name = list(configured.arm.command_names)
        for field, values in zip(('position', 'velocity', 'acceleration'), state, strict=True):
            setattr(response, field, array('d', values[order].tobytes()))
        begin, end = trajectory.first_time, trajectory.end_time
        if time < begin:
            response.message = f'time: {begin - time:.6g} s before the motion begins'
        elif time >= end:
            response.message = f'time: {time - end:.6g} s after the motion ends; this is held'
        else:
            response.success = True
        return response
