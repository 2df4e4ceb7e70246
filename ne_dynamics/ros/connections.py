"""The topics of the configured node: what it listens to, what it sends, its watchdog."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.control.stages.observer import Observed
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.clock_timer import ClockTimer
from ne_dynamics.ros.command_repeater import CommandRepeater
from ne_dynamics.ros.latched import LATCHED
from ne_dynamics.ros.messages.command_message import CommandMessage
from ne_dynamics.ros.messages.conversion import JointStateReader
from ne_dynamics.ros.settings.command_layout import CommandSettings
from ne_dynamics.ros.thresholds import NODE

# rclpy's events warn of publishers and subscriptions whose qualities do not fit. Each costs time
# in every wait; a best-effort subscription fits every publisher.
NO_PUBLISHER_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)
NO_SUBSCRIPTION_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)

TRAJECTORY_TOPICS = ('~/joint_trajectory', 'joint_trajectory')
"""Both may be remapped, to one and the same too."""


ANY_JUMP_BACK = JumpThreshold(
    min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False
)
"""Of a clock that is set back."""


def has_time(clock: Any) -> bool:
    """Return whether a clock of rclpy shows a time: a simulated one is 0 before `/clock`."""
    return bool(clock.now().nanoseconds)


class Connections:
    """What a configured node listens to and speaks by.

    Parameters
    ----------
    context : ArmContext
        Which sensors its controller has says what is listened to.
    command : CommandMessage
        In which commands go out.
    steady_clock : rclpy.clock.Clock
        The watchdog's, where time is not simulated or no simulated time has come.

    Attributes
    ----------
    by_simulated_time : bool
        Whether the watchdog goes by `/clock`.
    subscriptions : list of rclpy.subscription.Subscription
        What it listens to, in the order in which it is to be served.
    """

    def __init__(self, context: ArmContext, command: CommandMessage, steady_clock: Any) -> None:
        self._context = context
        self.reader = JointStateReader(context.arm.robot.joint_names)
        self._command = command
        self._node = context.node
        self._clock = self._node.get_clock()
        self.subscriptions: list[Any] = []
        self._create_publishers()
        self._create_timers(steady_clock)
        self.watch(context.controller.tuning.states.timeout)

    def _create_publishers(self) -> None:
        node = self._node
        self.command_publisher = node.create_publisher(
            type(self._command.message), 'effort_controller/commands', 10
        )
        self.effort_publisher = node.create_publisher(
            JointState, '~/effort', 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        self.external_torque_publisher = node.create_publisher(
            JointState, '~/external_torque', 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        # Whoever comes later is to know as well.
        self._contact_publisher = node.create_publisher(
            Bool, '~/contact', LATCHED, event_callbacks=NO_PUBLISHER_EVENTS
        )
        self._is_in_contact: bool | None = None
        self._effort = JointState()
        self._effort.name = list(self._context.arm.command_names)
        self._external_torque = JointState(name=self._effort.name)

    def _create_timers(self, steady_clock: Any) -> None:
        # Simulated time may stand still, real time does not: a simulation that halts is no
        # silence. Before the first /clock there is only real time to go by.
        self._clocks = [steady_clock]
        self.by_simulated_time = False
        self._jump_handle: Any = None
        if self._node.get_parameter('use_sim_time').value:
            self._clocks.append(self._clock)
            # rclpy's timers wait for the time that was: 30 s longer when it is set back by 30 s.
            self._jump_handle = self._clock.create_jump_callback(
                ANY_JUMP_BACK, post_callback=self._on_clock_set_back
            )
        self._watch = self._make_timer(NODE.longest_period, self._on_watch)
        self._watch_period = round(NODE.longest_period * 1e9)
        # Time since the last state that its timer does not count [ns].
        self._watched = 0
        self._brake = self._make_timer(COMMAND.ramp_period, lambda: self._on_brake())
        self._repeats = self._make_timer(NODE.longest_period, lambda: self._repeater.tick())
        self._repeater = CommandRepeater(self._send, self._repeats, self._watch)

    def _make_timer(self, period: float, callback: Callable[[], None]) -> ClockTimer:
        return ClockTimer(
            [
                self._node.create_timer(period, callback, clock=clock, autostart=False)
                for clock in self._clocks
            ]
        )

    def listen(
        self,
        joint_states: Callable[[bytes], None],
        joint_trajectory: Callable[[bytes], None],
        wrench: Callable[[WrenchStamped], None],
        imu: Callable[[Imu], None],
        watchdog: Callable[[], None],
        brake: Callable[[], None],
        reliability: str,
    ) -> None:
        """Let the topics and the timers be answered, each by the callable of its name.

        States and trajectories are serialized messages.
        `watchdog` answers the silence of the joint states, `brake` the timer of the brake.
        `reliability` is of the subscription to joint states, as `joint_states_reliability` has it.
        """
        node, sense = self._node, self._context.controller.sense
        self._on_silence, self._on_brake = watchdog, brake
        # Before the joint states: the executor serves in this order, so that what came with a
        # state is used with it.
        latest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        if sense.wrist is not None:
            self._listen(WrenchStamped, 'wrench', wrench, latest)
        if sense.imu is not None:
            self._listen(Imu, 'imu', imu, latest)
        for topic in {node.resolve_topic_name(name): name for name in TRAJECTORY_TOPICS}.values():
            self._listen(JointTrajectory, topic, joint_trajectory, 10, raw=True)
        states = QoSProfile(depth=1, reliability=ReliabilityPolicy[reliability.upper()])
        self._listen(JointState, 'joint_states', joint_states, states, raw=True)

    def watch(self, timeout: float) -> None:
        """Let the watchdog of the states have another timeout [s], since the last of them too."""
        timeout = min(timeout, NODE.longest_period)
        period = max(round(timeout * 1e9), 1)
        if period == self._watch_period:
            return
        watch = self._watch.active
        left = watch.time_until_next_call()
        if left is not None:
            self._watched += watch.timer_period_ns - left
        self._set_watch_period(period)
        if left is not None:
            # What has passed counts: a timeout that is set again and again would never be over.
            watch.timer_period_ns = max(period - self._watched, 1)
            watch.reset()

    def _set_watch_period(self, period: int) -> None:
        self._watch_period = period
        self._watch.set_period(period)

    def rewind_watch(self) -> None:
        """Let the watchdog wait from now on; it begins with the first state."""
        if not self.by_simulated_time and len(self._clocks) > 1 and has_time(self._clock):
            self.by_simulated_time = True
            self._watch.switch()
            self._brake.switch()
            self._repeater.switch()
        if self._watched:
            self._watched = 0
            self._set_watch_period(self._watch_period)
        self._watch.active.reset()

    def _on_watch(self) -> None:
        if not self.by_simulated_time:
            self.rewind_watch()
            if self.by_simulated_time:
                return
        self._on_silence()

    def _on_clock_set_back(self, jump: Any) -> None:
        if self.by_simulated_time:
            self._watch.restart()
            self._brake.restart()
            self._repeats.restart()

    def stop_watch(self) -> None:
        """Let the watchdog sleep until :meth:`rewind_watch`."""
        self._watch.active.cancel()

    def start_brake(self) -> None:
        """Call the callback of the brake every `ramp_period`, by the watchdog's clock."""
        self._brake.active.reset()

    def stop_brake(self) -> None:
        """Call it no more."""
        self._brake.active.cancel()

    def _listen(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], None],
        qos: Any,
        *,
        raw: bool = False,
    ) -> None:
        fits_all = getattr(qos, 'reliability', None) is ReliabilityPolicy.BEST_EFFORT
        self.subscriptions.append(
            self._node.create_subscription(
                kind,
                topic,
                callback,
                qos,
                event_callbacks=NO_SUBSCRIPTION_EVENTS if fits_all else None,
                raw=raw,
            )
        )

    def destroy(self) -> None:
        """Stop listening."""
        if self._jump_handle is not None:
            self._jump_handle.unregister()
        for timer in (*self._watch.timers, *self._brake.timers, *self._repeats.timers):
            self._node.destroy_timer(timer)
        for subscription in self.subscriptions:
            self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(self.command_publisher)
        self._node.destroy_publisher(self.effort_publisher)
        self._node.destroy_publisher(self.external_torque_publisher)
        self._node.destroy_publisher(self._contact_publisher)

    def configure_command(self, settings: CommandSettings) -> None:
        """Let what may change of the command count from the next one on."""
        self._command.write_gains(settings)
        self._repeater.configure(settings.repeat)

    def publish_command(self, effort: FloatArray, desired: DesiredState | None) -> None:
        """Send efforts, and what they were computed with, in the order of the model."""
        self._command.write(effort, desired)
        self._send()

    def _send(self) -> None:
        """Send what is written: the stamp says when the node stands by it."""
        command = self._command
        if command.has_header:
            command.message.header.stamp = self._clock.now().to_msg()
        self.command_publisher.publish(command.message)

    def publish_observed(self, stamp: Any, observed: Observed) -> None:
        """Send the efforts from outside by name, and whether something touches the arm."""
        effort = observed.external_effort
        if effort is None:
            self.end_contact()
            return
        if observed.is_in_contact != self._is_in_contact:
            self._say_contact(observed.is_in_contact)
        if self.external_torque_publisher.get_subscription_count():
            message = self._external_torque
            message.header.stamp = stamp
            message.effort = array('d', effort[self._context.arm.command_order].tobytes())
            self.external_torque_publisher.publish(message)

    @property
    def is_in_contact(self) -> bool:
        """Whether a contact was the last that was said of one."""
        return bool(self._is_in_contact)

    def end_contact(self) -> None:
        """Say of a contact that it is over: nobody looks any more."""
        if self._is_in_contact:
            self._say_contact(False)

    def _say_contact(self, is_in_contact: bool) -> None:
        self._is_in_contact = is_in_contact
        self._contact_publisher.publish(Bool(data=is_in_contact))

    def publish_effort(self, stamp: Any, command: Tick) -> None:
        """Send the desired motion and the commanded effort by name."""
        order, message = self._context.arm.command_order, self._effort
        message.header.stamp = stamp
        message.position = array('d', command.desired.position[order].tobytes())
        message.velocity = array('d', command.desired.velocity[order].tobytes())
        message.effort = array('d', command.effort[order].tobytes())
        self.effort_publisher.publish(message)
