"""The topics of the configured node: what it listens to, what it sends, its watchdog."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from geometry_msgs.msg import WrenchStamped
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.control.controller import Command, Controller
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.configuration import ControlledArm
from ne_dynamics.ros.messages import JointStateReader

RELIABILITY = {
    'best_effort': ReliabilityPolicy.BEST_EFFORT,
    'reliable': ReliabilityPolicy.RELIABLE,
    'system_default': ReliabilityPolicy.SYSTEM_DEFAULT,
}

# rclpy's events warn of publishers and subscriptions whose qualities do not fit. Each costs time
# in every wait; a best-effort subscription fits every publisher.
NO_PUBLISHER_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)
NO_SUBSCRIPTION_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)

LONGEST_WATCH = 3600.0
"""Period of the watchdog when it is not to wake [s]."""


class Callbacks(NamedTuple):
    """What answers the topics, by their names, and the watchdog."""

    joint_states: Callable[[JointState], None]
    joint_trajectory: Callable[[JointTrajectory], None]
    wrench: Callable[[WrenchStamped], None]
    imu: Callable[[Imu], None]
    watchdog: Callable[[], None]


class Connections:
    """What a configured node listens to and speaks by.

    Parameters
    ----------
    node : rclpy.node.Node
    arm : ControlledArm
    controller : Controller
        Which sensors it has says what is listened to.
    reliability : str
        Of the subscription to joint states, one of `RELIABILITY`.
    callbacks : Callbacks
    steady_clock : rclpy.clock.Clock
        The watchdog's, where time is not simulated.
    """

    def __init__(
        self,
        node: Any,
        arm: ControlledArm,
        controller: Controller,
        reliability: str,
        callbacks: Callbacks,
        steady_clock: Any,
    ) -> None:
        self.arm = arm
        self.controller = controller
        self.reader = JointStateReader(arm.robot.joint_names)
        self.command_publisher = node.create_publisher(
            Float64MultiArray, 'effort_controller/commands', 10
        )
        self.effort_publisher = node.create_publisher(
            JointState, '~/effort', 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        self._command = Float64MultiArray()
        self._effort = JointState()
        self._effort.name = list(arm.command_names)
        self._is_model_order = arm.command_names == arm.robot.joint_names
        self._node = node
        self._subscriptions: list[Any] = []
        # Before the joint states: the executor serves in this order, so that what came with a
        # state is used with it.
        latest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        if controller.wrist is not None:
            self._listen(WrenchStamped, 'wrench', callbacks.wrench, latest)
        if controller.imu is not None:
            self._listen(Imu, 'imu', callbacks.imu, latest)
        self._listen(JointTrajectory, 'joint_trajectory', callbacks.joint_trajectory, 10)
        states = QoSProfile(depth=1, reliability=RELIABILITY[reliability])
        self._listen(JointState, 'joint_states', callbacks.joint_states, states)
        # Simulated time may stand still, real time does not.
        self.simulated_time = bool(node.get_parameter('use_sim_time').value)
        self._watch = node.create_timer(
            LONGEST_WATCH,
            callbacks.watchdog,
            clock=node.get_clock() if self.simulated_time else steady_clock,
            autostart=False,
        )
        self.watch(controller.tuning.states.timeout)

    def watch(self, timeout: float) -> None:
        """Let the watchdog of the states have another timeout [s]."""
        timeout = min(timeout, LONGEST_WATCH)
        period = max(round(timeout * 1e9), 1_000_000)
        if period == self._watch.timer_period_ns:
            return
        self._watch.timer_period_ns = period
        if not self._watch.is_canceled():
            self._watch.reset()

    def rewind_watch(self) -> None:
        """Let the watchdog wait from now on; it begins with the first state."""
        self._watch.reset()

    def stop_watch(self) -> None:
        """Let the watchdog sleep until :meth:`rewind_watch`."""
        self._watch.cancel()

    def _listen(self, kind: Any, topic: str, callback: Callable[[Any], None], qos: Any) -> None:
        fits_all = getattr(qos, 'reliability', None) is ReliabilityPolicy.BEST_EFFORT
        self._subscriptions.append(
            self._node.create_subscription(
                kind,
                topic,
                callback,
                qos,
                event_callbacks=NO_SUBSCRIPTION_EVENTS if fits_all else None,
            )
        )

    def destroy(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._watch)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(self.command_publisher)
        self._node.destroy_publisher(self.effort_publisher)

    @property
    def subscriptions(self) -> Sequence[Any]:
        """What it listens to, in the order in which it is to be served."""
        return self._subscriptions

    def publish_command(self, effort: FloatArray) -> None:
        """Send efforts, given in the order of the model."""
        ordered = effort if self._is_model_order else effort[self.arm.command_order]
        self._command.data = array('d', ordered.tobytes())
        self.command_publisher.publish(self._command)

    def publish_effort(self, stamp: Any, command: Command) -> None:
        """Send the desired motion and the commanded effort by name."""
        order, message = self.arm.command_order, self._effort
        message.header.stamp = stamp
        message.position = array('d', command.desired.position[order].tobytes())
        message.velocity = array('d', command.desired.velocity[order].tobytes())
        message.effort = array('d', command.effort[order].tobytes())
        self.effort_publisher.publish(message)
