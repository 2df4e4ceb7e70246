"""The node `computed_torque`: joint states in, joint efforts out.

A lifecycle node. Configuring loads the model and makes it ready; while active every usable
JointState is answered, in its callback, by one command. A message that cannot be used is dropped
with a throttled warning that names field and reason: nothing is patched, the last good state
stays, and no command comes of it.

The control clock is the stamp of the joint states (the node's clock where they carry none).
Trajectories and wrenches are placed in time by it, so that simulated and recorded time work.

While active the arm is held: from the measured position at the first state after activation,
through every trajectory, at its end, and on deactivation by a last command against gravity. When
the states stop, jump or lose their clock, a last command against gravity goes out (when they
stop, after a stop by the model) and no other until they can be believed again; then the arm is
held where it is. When the motion is not followed, or a fault keeps coming back, somebody must say
so first: `~/clear_fault`.
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from ne_dynamics.errors import (
    NeDynamicsError,
    ParameterError,
    optional_dependency,
)
from ne_dynamics.ros.running.signals import StopRequest
from ne_dynamics.ros.running.worker_process import PLANNING
from ne_dynamics.ros.settings.configuration import make_controller, make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS, NodeSettings
from ne_dynamics.ros.settings.robot_source import has_model_parameter, load_robot
from ne_dynamics.ros.thresholds import NODE

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    import rclpy
    from rcl_interfaces.msg import SetParametersResult
    from rclpy.clock import Clock, ClockType
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
    from rclpy.parameter import Parameter
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.ros.arm_context import ArmContext
    from ne_dynamics.ros.configured_arm import ConfiguredArm
    from ne_dynamics.ros.connections import has_time
    from ne_dynamics.ros.control_clock import ControlClock
    from ne_dynamics.ros.controller_state import ControllerState
    from ne_dynamics.ros.follow_joint_trajectory import FollowJointTrajectoryServer
    from ne_dynamics.ros.messages.control_types import make_if_typed
    from ne_dynamics.ros.messages.joint_constraints import is_of_a_joint
    from ne_dynamics.ros.payload_estimator import PayloadEstimator
    from ne_dynamics.ros.robot_description import RobotDescriptionTopic
    from ne_dynamics.ros.running.executable import run_node
    from ne_dynamics.ros.running.low_latency_executor import make_executor
    from ne_dynamics.ros.running.rclpy_guards import guard_clock, guard_services
    from ne_dynamics.ros.settings.declared_parameters import DeclaredParameters
    from ne_dynamics.ros.speed_scaling import SpeedScaling
    from ne_dynamics.ros.trigger_services import TriggerServices
    from ne_dynamics.ros.watching.diagnosis import DiagnosticsPublisher
    from ne_dynamics.ros.watching.reporter import Reporter


def _reported(transition: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Log what a transition callback raises: rclpy turns it into an error and hides the reason."""

    @functools.wraps(transition)
    def wrapper(self: Any, state: Any) -> Any:
        try:
            return transition(self, state)
        except Exception:
            self.get_logger().error(f'{transition.__name__} failed: {traceback.format_exc()}')
            raise

    return wrapper


class ComputedTorqueNode(LifecycleNode):
    """The node; see the module's docstring.

    It has the life cycle and what lives as long as the node does. What lives from configuring to
    cleaning up is :class:`~ne_dynamics.ros.configured_arm.ConfiguredArm`.

    Parameters
    ----------
    **node_arguments
        As for :class:`rclpy.node.Node`, e.g. `parameter_overrides`, `context`, `namespace`.

    Attributes
    ----------
    reporter : Reporter
        What is said and counted.
    configured : ConfiguredArm or None
    answer_states : callable
        Answers the states and sensors that wait: called now and then by all that takes longer
        than a state should; :meth:`.LowLatencyExecutor.answer_urgent`, if that serves the node.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('computed_torque', **node_arguments)
        self.answer_states: Callable[..., None] = _answer_nothing
        self.reporter = Reporter(self.get_logger())
        guard_services(self, self.reporter)
        guard_clock(self, self.reporter)
        self._declared = DeclaredParameters(self, PARAMETERS, is_of_a_joint)
        self._declared.declare()

        self._remarks: list[str] = []
        self.configured: ConfiguredArm | None = None

        self._description = RobotDescriptionTopic(
            self, self.reporter, lambda: self._declared.settings, self._autostart
        )
        TriggerServices(self, self.reporter)
        self._payload_estimator = PayloadEstimator(self, self.reporter)
        self._goals: FollowJointTrajectoryServer | None = make_if_typed(
            FollowJointTrajectoryServer, self, self.reporter
        )
        self._controller_state: ControllerState | None = make_if_typed(ControllerState, self)
        self._speed_scaling: SpeedScaling | None = make_if_typed(SpeedScaling, self, self.reporter)
        self._diagnostics = DiagnosticsPublisher(self, self.reporter.statistics)
        # Real seconds: diagnostics go on when simulated time stands still.
        self._steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(
            NODE.diagnostics_period, self._on_diagnostics_timer, clock=self._steady_clock
        )
        self._begin()

    def _begin(self) -> None:
        self._autostart_pending = self._declared.settings.autostart
        if self._autostart_pending:
            self._autostart_timer = self.create_timer(
                0.0, self._on_autostart_timer, clock=self._steady_clock
            )
        else:
            self.get_logger().info(
                'autostart is off: the node is unconfigured and commands nothing. To start it: '
                f'ros2 lifecycle set {self.get_fully_qualified_name()} configure, then activate'
            )

    # ---- lifecycle

    def _on_autostart_timer(self) -> None:
        self.destroy_timer(self._autostart_timer)
        declared = self._declared
        if not (
            has_model_parameter(declared.settings) or self._description.text or declared.faults
        ):
            self.get_logger().info(
                'waiting for the robot: topic '
                f'{self.resolve_topic_name("robot_description")!r} (std_msgs/String), or set '
                'model_file or robot_description and configure'
            )
            return
        self._autostart()

    def _autostart(self) -> None:
        if not self._autostart_pending or self.state_label != 'unconfigured':
            return
        if self.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    @property
    def state_label(self) -> str:
        """State of the life cycle: 'unconfigured', 'inactive', 'active', 'finalized'."""
        return str(self._state_machine.current_state[1])

    @_reported
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the model, make it ready, and listen; refuse, saying why, when that fails."""
        try:
            self._configure()
        except NeDynamicsError as error:
            self.get_logger().error(f'not configured: {error}')
            return TransitionCallbackReturn.FAILURE
        self._autostart_pending = False
        return super().on_configure(state)

    @_reported
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer joint states from now on; the first one is the position that is held.

        Refused where the measured efforts say that the model has the weight upside down, and
        with `refuse_other_commanders` where somebody else commands the arm.
        """
        if self.configured is None:
            raise RuntimeError('the node is not configured')
        refusal = self.configured.find_refusal()
        if refusal:
            self.get_logger().error(f'not activated: {refusal}')
            return TransitionCallbackReturn.FAILURE
        self.configured.begin_commanding()
        others = self.configured.others.find()
        if others:
            self.reporter.tell(self.configured.others.describe(others))
        self.get_logger().info('active')
        return super().on_activate(state)

    @_reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send the last command that `on_deactivate` asks for, then none."""
        self._end_commanding()
        return super().on_deactivate(state)

    @_reported
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the model and stop listening."""
        self._release()
        return super().on_cleanup(state)

    @_reported
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send a last command as on deactivation when active; then as cleaning up."""
        self._autostart_pending = False
        self._end_commanding()
        self._release()
        return super().on_shutdown(state)

    @_reported
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave everything in order and be unconfigured again."""
        self._autostart_pending = False
        self._end_commanding()
        self._release()
        return super().on_error(state)

    def stop(self) -> None:
        """Leave the active state, if in it, and let the last command reach its subscribers."""
        configured = self.configured
        if configured is not None and configured.is_commanding:
            self.trigger_deactivate()
            configured.wait_for_farewell()

    def destroy_node(self) -> None:
        """Destroy everything; rclpy does not know of the action."""
        if self._goals is not None:
            self._goals.destroy()
            self._goals = None
        super().destroy_node()

    @property
    def is_following_goal(self) -> bool:
        """Whether somebody is to be told how a goal ends."""
        return self._goals is not None and self._goals.is_following

    def low_latency_subscriptions(self) -> Sequence[Any]:
        """Return what the arm is controlled by, in the order in which it is to be served."""
        return () if self.configured is None else self.configured.connections.subscriptions

    def is_urgent(self, subscription: Any) -> bool:
        """Return whether a subscription of these may be served while another one is."""
        return subscription.msg_type is not JointTrajectory

    def note_absence(self, duration: float) -> None:
        """Take note that for so long nothing was heard, since something else was served [s]."""
        if self.configured is not None:
            self.configured.controller.accept.guard.excuse(duration)

    def _configure(self) -> None:
        declared = self._declared
        if declared.faults:
            raise ParameterError('; '.join(declared.faults.values()))
        settings = declared.settings
        arm = controlled_arm(settings, load_robot(settings, self._description.text))
        tuning, remarks = make_tuning(settings, arm)
        context = ArmContext(
            self,
            arm,
            make_controller(arm, tuning, PLANNING.submit),
            lambda: declared.settings,
            ControlClock(lambda: int(self.get_clock().now().nanoseconds)),
            self.reporter,
        )
        configured = ConfiguredArm(context, self._steady_clock, self.trigger_deactivate)
        self.configured = configured
        # Before the action, which may end the motion that the state is of.
        if self._controller_state is not None:
            self._controller_state.attach(configured)
        if self._goals is not None:
            self._goals.attach(configured)
        if self._speed_scaling is not None:
            self._speed_scaling.attach(configured)
        self._remarks = []
        self._remark(remarks)
        for finding in arm.uncut.findings:
            if finding.severity != 'info':
                self.get_logger().warning(f'model: {finding.element}: {finding.message}')
            elif finding.code.startswith('extras'):
                self.get_logger().info(f'model: {finding.element}: {finding.message}')
        self.get_logger().info(
            f'configured for {arm.robot.name!r}: joints {", ".join(arm.command_names)}; '
            f'mode {tuning.mode.value}; backend {arm.dynamics.backend}'
        )

    def _remark(self, remarks: list[str]) -> None:
        for remark in remarks:
            if remark not in self._remarks:
                self.get_logger().warning(remark)
        self._remarks = remarks

    def _end_commanding(self) -> None:
        if self.configured is not None:
            last = self._declared.settings.on_deactivate
            self.configured.end_commanding(last, 'the node was deactivated')
        self._description.read_kept()

    def _release(self) -> None:
        configured, self.configured = self.configured, None
        if configured is None:
            return
        self._payload_estimator.release()
        configured.destroy()

    # ---- parameters

    def set_parameters(self, parameter_list: list[Parameter]) -> list[SetParametersResult]:
        """Set parameters one after the other, each checked by the table."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set all parameters or none: checked by the table, and against the robot if there is one.

        Every way to set a parameter of this node comes through here.
        """
        self.answer_states()
        state = 'unconfigured' if self.configured is None else self.state_label
        return self._declared.change(parameter_list, state, self._prepare)

    def _prepare(self, settings: NodeSettings) -> Callable[[], None]:
        """Return what lets other settings count, where the arm can be controlled by them."""
        configured = self.configured
        if configured is None:
            return lambda: None
        self.answer_states()
        tuning, remarks = make_tuning(settings, configured.arm, self.answer_states)
        self.answer_states()
        remarks += configured.require_feasible(tuning, self.answer_states)
        self.answer_states()

        def adopt() -> None:
            self.answer_states()
            configured.adopt(tuning)
            self._remark(remarks)

        return adopt

    # ---- others

    def _on_diagnostics_timer(self) -> None:
        faults = list(self._declared.faults.values())
        clock = self.get_clock()
        if clock.ros_time_is_active and not has_time(clock):
            faults.append('use_sim_time: no /clock has come: the watchdog goes by real time')
        self._diagnostics.publish(self.state_label, faults, self.configured)


def _answer_nothing(*, keeps_last: bool = False) -> None:
    pass


def _spin(node: ComputedTorqueNode, executor: SingleThreadedExecutor, stop: StopRequest) -> None:
    """Answer until the process is asked to stop; leave the arm held."""
    try:
        while not stop.is_set():
            executor.spin_once()
    finally:
        # Also when a fault ends the process: the arm must not be left on a command of the motion.
        was_following = node.is_following_goal
        if rclpy.ok():
            node.stop()
    # The end of a goal may be on its way to who asked for it, or the question to us.
    for _ in range(10):
        executor.spin_once(timeout_sec=0.05 if was_following else 0.0)


def _make_executor(node: ComputedTorqueNode) -> SingleThreadedExecutor:
    executor = make_executor(
        node, node.low_latency_subscriptions, node.note_absence, node.is_urgent
    )
    node.answer_states = getattr(executor, 'answer_urgent', node.answer_states)
    return executor


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; leave the arm held against gravity.

    Parameters and exit code are those of :func:`~ne_dynamics.ros.running.executable.run_node`.
    """
    text = 'Joint states in, joint efforts out.'
    return run_node(text, ComputedTorqueNode, _make_executor, _spin, args, 'computed_torque')


if __name__ == '__main__':
    sys.exit(main())
