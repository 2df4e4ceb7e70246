"""The node `computed_torque`: joint states in, joint efforts out.

A lifecycle node. Configuring loads the model and makes it ready; while active every usable
JointState is answered, in its callback, by one command. A message that cannot be used is dropped
with a throttled warning that names field and reason: nothing is patched, the last good state
stays, and no command comes of it.

The control clock is the stamp of the joint states (the node's clock where they carry none).
Trajectories and wrenches are placed in time by it, so that simulated and recorded time work.

While active the arm is held: from the measured position at the first state after activation,
through every trajectory, at its end, and on deactivation by a last command against gravity. When
the states stop, jump or lose their clock, a last command against gravity goes out and no other
until they can be believed again; then the arm is held where it is.
"""

from __future__ import annotations

import functools
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ne_dynamics.control.controller import (
    LONGEST_RAMP,
    RAMP_PERIOD,
    Controller,
    LastCommand,
    Tuning,
)
from ne_dynamics.control.goal import GoalCode, Tolerances
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.limits import per_joint
from ne_dynamics.control.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.trajectory import Waypoints
from ne_dynamics.control.wrench import static_wrench
from ne_dynamics.errors import (
    ImuError,
    MissingDependencyError,
    NeDynamicsError,
    ParameterError,
    WrenchError,
)
from ne_dynamics.ros.configuration import (
    ControlledArm,
    carried_parameters,
    check_description,
    controlled_arm,
    has_model_parameter,
    load_beyond_sensor,
    load_robot,
    make_controller,
    make_tuning,
)
from ne_dynamics.ros.diagnostics import Level, Statistics, as_text, tracking_level
from ne_dynamics.ros.messages import (
    MessageError,
    imu_reading,
    stamp_nanoseconds,
    trajectory_points,
    wrench_reading,
)
from ne_dynamics.ros.parameters import (
    PARAMETERS,
    PARAMETERS_BY_NAME,
    Changes,
    ParameterSpec,
    Value,
    default_values,
    find_parameter,
    unknown_parameters,
)
from ne_dynamics.ros.signals import stop_on_signals

try:
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
    from geometry_msgs.msg import WrenchStamped
    from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
    from rclpy.clock import Clock, ClockType
    from rclpy.duration import Duration
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
    from rclpy.logging import LoggingSeverity as Severity
    from rclpy.parameter import Parameter
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import String
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.ros.annotator import AnnotationTuning, Annotator
    from ne_dynamics.ros.connections import NO_PUBLISHER_EVENTS, Callbacks, Connections
    from ne_dynamics.ros.follow_joint_trajectory import (
        make_follow_joint_trajectory,
        tolerances_of,
    )
    from ne_dynamics.ros.prompt_executor import make_executor
except ImportError as error:
    raise MissingDependencyError(
        'the node needs ROS 2 for Python: source a ROS 2 installation, or '
        f'pip install "ne_dynamics[ros]" ({error})'
    ) from error

WARNING_PERIOD = 5.0
"""A reason is repeated in the log after this many seconds at the earliest."""

LONGEST_LINE = 1000
"""Characters of a line in the log."""

LONGEST_RUN = 1e7
"""Seconds between two stamps beyond which they are of different clocks."""

FAR_START = 10.0
"""Delay of a start [s] beyond which a warning names it: the stamp may be of another clock."""

STATE_AGE_WARNING = 1.0
"""Seconds without a joint state after which the diagnostics warn, if the watchdog does not."""

LONGEST_LAG = 60.0
"""A simulated clock may be this far behind the stamps of the states [s]; farther is another."""

LAST_COMMAND_WORDS = {
    LastCommand.GRAVITY: 'the last command holds the arm against gravity',
    LastCommand.ZERO: 'the last command was zero: nothing holds the arm',
    LastCommand.NONE: 'no last command: effort controllers keep the one before',
}

PARAMETER_TYPES = {
    'bool': Parameter.Type.BOOL,
    'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING,
    'double[]': Parameter.Type.DOUBLE_ARRAY,
    'string[]': Parameter.Type.STRING_ARRAY,
}


def _shortened(text: str) -> str:
    """Return a text without the middle of what is too long for a log: names are others' words."""
    if len(text) <= LONGEST_LINE:
        return text
    half = LONGEST_LINE // 2
    return f'{text[:half]} ... {text[-half:]}'


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


def _guarded(
    callback: Callable[[Any, Any], Any],
    check: Callable[[Any], None],
    refuse: Callable[..., None],
) -> Any:
    """Return a service's callback that checks first, and refuses instead of raising."""

    def guarded(request: Any, response: Any) -> Any:
        try:
            check(request)
            return callback(request, response)
        except Exception as error:
            refuse(request, response, error)
            return response

    return guarded


class ComputedTorqueNode(LifecycleNode):
    """The node; see the module's docstring.

    Parameters
    ----------
    **node_arguments
        As for :class:`rclpy.node.Node`, e.g. `parameter_overrides`, `context`, `namespace`.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('computed_torque', **node_arguments)
        self._guard_services()
        self._values: dict[str, Value] = default_values()
        self._faults: dict[str, str] = {}
        self._ready = False
        self._declare_parameters()
        self._ready = True

        self._description = ''
        self._configured: Connections | None = None
        self._active = False
        self._epoch: int | None = None

        self._statistics = Statistics()
        self._last_warning: dict[str, float] = {}

        latched = QoSProfile(
            depth=1,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL,
        )
        self.create_subscription(String, 'robot_description', self._on_robot_description, latched)
        self.create_service(Trigger, '~/hold', self._on_hold)
        self.create_service(Trigger, '~/tare_wrench', self._on_tare_wrench)
        self._goals = make_follow_joint_trajectory(self)
        self._annotator = Annotator(self, self._on_annotate)
        self._publisher_of_diagnostics = self.create_publisher(
            DiagnosticArray, '/diagnostics', 10, event_callbacks=NO_PUBLISHER_EVENTS
        )
        # Real seconds: diagnostics go on when simulated time stands still.
        self._steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0, self._on_diagnostics_timer, clock=self._steady_clock)
        self._autostart_pending = bool(self._values['autostart'])
        if self._autostart_pending:
            self._autostart_timer = self.create_timer(
                0.0, self._on_autostart_timer, clock=self._steady_clock
            )

    # ---- lifecycle

    def _guard_services(self) -> None:
        """Answer impossible requests with a refusal; rclpy lets them end the process.

        A transition that there is not from the present state, a parameter of a type that there
        is not.
        """

        def refused_transition(request: Any, response: Any, error: Exception) -> None:
            asked = request.transition.label or request.transition.id
            self._warn('change_state', f'transition {asked!r} refused: {error}')
            response.success = False

        def readable(request: Any) -> None:
            # All of them, before the first is set.
            for parameter in request.parameters:
                Parameter.from_parameter_msg(parameter)

        def refused_parameters(request: Any, response: Any, error: Exception) -> None:
            self._warn('set_parameters', f'parameters refused: {error}')
            result = SetParametersResult(successful=False, reason=str(error))
            if hasattr(response, 'results'):
                response.results = [result] * len(request.parameters)
            else:
                response.result = result

        guards: dict[str, tuple[Callable[[Any], None], Callable[..., None]]] = {
            'change_state': (lambda request: None, refused_transition),
            'set_parameters': (readable, refused_parameters),
            'set_parameters_atomically': (readable, refused_parameters),
        }
        for service in self.services:
            guard = guards.get(service.srv_name.rpartition('/')[2])
            if guard is not None:
                service.callback = _guarded(service.callback, *guard)
        self._guard_clock()

    def _guard_clock(self) -> None:
        """Drop a `/clock` that is no time (before 1970): rclpy lets it end the process."""
        source = getattr(self, '_time_source', None)
        if source is None:
            return
        set_time = source.clock_callback

        def guarded(message: Any) -> None:
            try:
                set_time(message)
            except ValueError as error:
                self._drop('/clock', 'clock', f'clock: {error}')

        source.clock_callback = guarded
        subscription = getattr(source, '_clock_sub', None)
        if subscription is not None:
            subscription.callback = guarded

    def _on_autostart_timer(self) -> None:
        self.destroy_timer(self._autostart_timer)
        if not (has_model_parameter(self._values) or self._description or self._faults):
            self.get_logger().info(
                'waiting for the robot: topic '
                f'{self.resolve_topic_name("robot_description")!r} (std_msgs/String), or set '
                'model_file or robot_description and configure'
            )
            return
        self._autostart()

    def _autostart(self) -> None:
        if not self._autostart_pending or self._state_label() != 'unconfigured':
            return
        if self.trigger_configure() is TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def _state_label(self) -> str:
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
        """Answer joint states from now on; the first one is the position that is held."""
        self._arm_configured().controller.reset()
        self._statistics.restart()
        self._active = True
        self.get_logger().info('active')
        return super().on_activate(state)

    @_reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send the last command that `on_deactivate` asks for, then none."""
        self._stop_commanding()
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
        self._stop_commanding()
        self._release()
        return super().on_shutdown(state)

    @_reported
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave everything in order and be unconfigured again."""
        self._autostart_pending = False
        self._stop_commanding()
        self._release()
        return super().on_error(state)

    def stop(self) -> None:
        """Leave the active state, if in it, and let the last command reach its subscribers."""
        if self._active:
            publisher = self._arm_configured().command_publisher
            self.trigger_deactivate()
            publisher.wait_for_all_acked(Duration(seconds=0.5))

    def destroy_node(self) -> None:
        """Destroy everything; rclpy does not know of the action."""
        if self._goals is not None:
            self._goals.destroy()
            self._goals = None
        super().destroy_node()

    def prompt_subscriptions(self) -> Sequence[Any]:
        """Return what the arm is controlled by, in the order in which it is to be served."""
        return () if self._configured is None else self._configured.subscriptions

    def _arm_configured(self) -> Connections:
        if self._configured is None:
            raise RuntimeError('the node is not configured')
        return self._configured

    def _configure(self) -> None:
        if self._faults:
            raise ParameterError('; '.join(self._faults.values()))
        arm = controlled_arm(self._values, load_robot(self._values, self._description))
        tuning, remarks = make_tuning(self._values, arm)
        self._configured = Connections(
            self,
            arm,
            make_controller(arm, tuning),
            str(self._values['joint_states_reliability']),
            Callbacks(
                self._on_joint_state,
                self._on_joint_trajectory,
                self._on_wrench,
                self._on_imu,
                self._on_watch_timer,
            ),
            self._steady_clock,
        )
        self._annotator.configure(
            arm.dynamics, self._annotation_tuning(), self._configured.controller.present_state
        )
        self._epoch = None
        self._remarks: list[str] = []
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

    def _release(self) -> None:
        self._active = False
        if self._configured is not None:
            self._annotator.release()
            self._configured.destroy()
            self._configured = None

    def _stop_commanding(self) -> None:
        """Send a last command for the last known pose, and stop."""
        if not self._active:
            return
        self._active = False
        configured = self._arm_configured()
        configured.stop_watch()
        last = LastCommand(self._values['on_deactivate'])
        if self._send_last(configured, last):
            self.get_logger().info(f'inactive; {LAST_COMMAND_WORDS[last]}')
        self._preempt_goal('the node was deactivated')

    def _send_last(self, configured: Connections, last: LastCommand) -> bool:
        """Send what the arm is left with; return whether anything was to be said of it."""
        try:
            for index, effort in enumerate(configured.controller.last_commands(last)):
                if index:
                    time.sleep(RAMP_PERIOD)
                configured.publish_command(effort)
        except NeDynamicsError as error:
            self._warn('last', f'no last command could be sent: {error}', Severity.ERROR)
            return False
        if not configured.controller.is_left:
            text = f'effort_rate_limit: too slow to get to the last command in {LONGEST_RAMP:g} s'
            self._warn('effort_rate_limit', text, Severity.ERROR)
        return configured.controller.position is not None

    # ---- the watchdog

    def _on_watch_timer(self) -> None:
        configured = self._arm_configured()
        controller = configured.controller
        configured.stop_watch()
        timeout = controller.tuning.states.timeout
        if not self._active or controller.fault is not None or np.isinf(timeout):
            return
        if configured.simulated_time and controller.time is not None:
            # A clock that lagged behind the states, and now leaps, is no silence.
            age = self._control_time(self.get_clock().now().nanoseconds) - controller.time
            if -LONGEST_LAG < age < 0.5 * timeout:
                configured.rewind_watch()
                return
        self._on_fault(
            configured, controller.trip(FaultKind.STOPPED, f'no usable one for {timeout:g} s')
        )

    def _on_fault(self, configured: Connections, fault: Fault) -> None:
        """Leave the arm with a last command against gravity, and say why."""
        configured.stop_watch()
        self._statistics.fault(fault)
        self._statistics.restart()
        self._warn(
            fault.kind.value,
            f'{fault}; the motion is given up, a last command holds the arm against gravity '
            'until states can be believed again',
            Severity.ERROR,
        )
        self._send_last(configured, LastCommand.GRAVITY)
        self._preempt_goal(str(fault))

    def _on_return(self, fault: Fault) -> None:
        """Say that the arm is held again."""
        if fault.kind is FaultKind.GAP:
            self._statistics.fault(fault)
            self._warn(fault.kind.value, f'{fault}; the motion is given up', Severity.ERROR)
            self._preempt_goal(str(fault))
        self._statistics.restart()
        self._warn('return', 'holding where the arm is', Severity.INFO)

    # ---- the model by topic

    def _on_robot_description(self, message: String) -> None:
        if message.data == self._description:
            return
        try:
            check_description(self._values, message.data)
        except NeDynamicsError as error:
            self._drop('robot_description', 'data', str(error))
            return
        self._statistics.hear('robot_description', time.perf_counter())
        self._description = message.data
        if has_model_parameter(self._values):
            return
        if self._configured is not None:
            self.get_logger().warning(
                'another robot_description came; it counts when the node is cleaned up and '
                'configured again'
            )
            return
        self._autostart()

    # ---- parameters

    def _declare_parameters(self) -> None:
        for spec in PARAMETERS:
            # Any type first: a value of the wrong one is to be reported, not to end the process.
            given = self.declare_parameter(
                spec.name, None, ParameterDescriptor(dynamic_typing=True)
            ).value
            self.undeclare_parameter(spec.name)
            if given is not None:
                try:
                    self._values[spec.name] = spec.check(given)
                except ParameterError as error:
                    self._faults[spec.name] = str(error)
                    self.get_logger().error(str(error))
            self._declare(spec)
        for remark in unknown_parameters(
            name
            for name in self._parameter_overrides
            if not self.has_parameter(name) and not name.startswith('qos_overrides.')
        ):
            self.get_logger().warning(f'parameter {remark}: it is not used')

    def _declare(self, spec: ParameterSpec) -> None:
        unit = f' [{spec.unit}]' if spec.unit else ''
        constraints = [part for part in (spec.bounds, f'set {spec.changes.value}') if part]
        descriptor = ParameterDescriptor(
            description=spec.description + unit,
            additional_constraints='; '.join(constraints),
            read_only=spec.read_only and spec.name not in self._faults,
        )
        if spec.type == 'double' and (spec.minimum > -np.inf or spec.maximum < np.inf):
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=spec.minimum, to_value=spec.maximum)
            ]
        value = self._values[spec.name]
        if not isinstance(value, tuple):
            self.declare_parameter(spec.name, value, descriptor, ignore_override=True)
            return
        # rclpy takes an empty list for one of bytes: declare by type, then set.
        kind = PARAMETER_TYPES[spec.type]
        self.declare_parameter(spec.name, kind, descriptor, ignore_override=True)
        super().set_parameters_atomically([Parameter(spec.name, kind, list(value))])

    def set_parameters(self, parameter_list: list[Parameter]) -> list[SetParametersResult]:
        """Set parameters one after the other, each checked by the table."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set all parameters or none: checked by the table, and against the robot if there is one.

        Every way to set a parameter of this node comes through here.
        """
        if not self._ready:
            return super().set_parameters_atomically(parameter_list)
        values = dict(self._values)
        checked = []
        tuning: Tuning | None = None
        remarks: list[str] = []
        try:
            for parameter in parameter_list:
                if parameter.name not in PARAMETERS_BY_NAME and self.has_parameter(parameter.name):
                    checked.append(parameter)
                    continue
                spec = find_parameter(parameter.name)
                value = values[spec.name] = self._check_settable(spec, parameter.value)
                kind = PARAMETER_TYPES[spec.type]
                checked.append(
                    Parameter(spec.name, kind, list(value) if isinstance(value, tuple) else value)
                )
            if self._configured is not None:
                tuning, remarks = make_tuning(values, self._configured.arm)
        except NeDynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        result = super().set_parameters_atomically(checked)
        if result.successful:
            self._values = values
            for parameter in checked:
                self._faults.pop(parameter.name, None)
            if self._configured is not None and tuning is not None:
                self._configured.controller.adopt(tuning)
                self._configured.watch(tuning.states.timeout)
                self._remark(remarks)
        return result

    def _check_settable(self, spec: ParameterSpec, value: Any) -> Value:
        if value is None:
            raise ParameterError(f'{spec.name}: expected {spec.type}, got nothing')
        checked = spec.check(value)
        if spec.name in self._faults or checked == self._values[spec.name]:
            return checked
        if spec.changes is Changes.START:
            raise ParameterError(f'{spec.name}: can be set at the start only')
        if spec.changes is Changes.UNCONFIGURED and self._configured is not None:
            raise ParameterError(
                f'{spec.name}: can be set while unconfigured only; the node is '
                f'{self._state_label()}: deactivate and clean up first'
            )
        return checked

    # ---- the control path

    def _on_joint_state(self, message: JointState) -> None:
        begin = time.perf_counter()
        configured = self._arm_configured()
        controller = configured.controller
        statistics = self._statistics
        statistics.hear('joint_states', begin)
        try:
            position, velocity = configured.reader.read(message)
        except MessageError as error:
            self._drop('joint_states', error.field, str(error))
            return
        stamp = message.header.stamp
        now = self._control_time(stamp.sec * 1_000_000_000 + stamp.nanosec)
        if controller.time is None and abs(now) > LONGEST_RUN:
            # What came before the first state is of another clock.
            self._epoch = None
            now = self._control_time(stamp.sec * 1_000_000_000 + stamp.nanosec)
        if not self._active:
            controller.observe(position, velocity, now, begin)
            return
        wants_effort = controller.wants_effort
        measured_effort = configured.reader.read_effort(message) if wants_effort else None
        try:
            command = controller.update(position, velocity, now, begin, measured_effort)
        except StateRefused as error:
            self._drop('joint_states', error.field, str(error))
            if error.fault is not None:
                self._on_fault(configured, error.fault)
            return
        except NeDynamicsError as error:
            self._drop('joint_states', str(error).partition(':')[0], str(error))
            return
        configured.publish_command(command.effort)
        configured.rewind_watch()
        if configured.effort_publisher.get_subscription_count():
            if not (stamp.sec or stamp.nanosec):
                stamp = self.get_clock().now().to_msg()
            configured.publish_effort(stamp, command)
        if command.saturated is not None:
            statistics.saturate(command.saturated)
        if command.refused is not None:
            self._drop('joint_trajectory', 'header.stamp', str(command.refused))
        if command.fault is not None:
            self._on_return(command.fault)
        if self._goals is not None:
            self._goals.observe(now, position, velocity, command, message.header.stamp)
        statistics.answers.append((time.perf_counter() - begin, now))

    def _control_time(self, nanoseconds: int) -> float:
        """Return a stamp in seconds since the first one; 0 is the node's clock."""
        if nanoseconds == 0:
            nanoseconds = self.get_clock().now().nanoseconds
        if self._epoch is None:
            self._epoch = nanoseconds
        return (nanoseconds - self._epoch) * 1e-9

    # ---- the other inputs

    def _on_joint_trajectory(self, message: JointTrajectory) -> None:
        configured = self._arm_configured()
        controller = configured.controller
        self._statistics.hear('joint_trajectory', time.perf_counter())
        if not self._active:
            self._drop('joint_trajectory', 'state', 'the node is not active')
            return
        if controller.fault is not None:
            self._drop('joint_trajectory', 'state', str(controller.fault))
            return
        if not message.points:
            controller.hold()
            self._preempt_goal('an empty trajectory came by the topic joint_trajectory')
            text = 'empty trajectory: holding the present desired position'
            self._warn('joint_trajectory.empty', text, Severity.INFO)
            return
        mode = controller.tuning.mode
        if mode is Mode.GRAVITY_COMPENSATION:
            self._drop('joint_trajectory', 'mode', f'mode {mode.value} follows none')
            return
        try:
            waypoints, start_time = self.read_trajectory(message)
        except NeDynamicsError as error:
            self._drop('joint_trajectory', 'points', str(error))
            return
        controller.follow(waypoints, start_time)
        self._preempt_goal('a trajectory came by the topic joint_trajectory')

    def read_trajectory(self, message: JointTrajectory) -> tuple[Waypoints, float | None]:
        """Return a trajectory, checked, and when it starts; None for now.

        Raises
        ------
        TrajectoryError
            When it cannot be followed.
        """
        configured = self._arm_configured()
        controller = configured.controller
        waypoints = Waypoints.from_points(
            configured.arm.robot.joints,
            message.joint_names,
            trajectory_points(message),
            allow_nonzero_velocity_at_end=bool(
                self._values['allow_nonzero_velocity_at_trajectory_end']
            ),
        )
        if waypoints.has_effort:
            self._warn(
                'joint_trajectory.effort',
                'joint_trajectory: the effort of the points is not used: it is computed',
            )
        stamp = stamp_nanoseconds(message.header.stamp)
        start_time = self._control_time(stamp) if stamp else None
        if start_time is not None and controller.time is not None:
            wait = start_time - controller.time
            if wait > FAR_START:
                self._warn(
                    'joint_trajectory.header.stamp',
                    f'joint_trajectory: header.stamp: starts in {wait:.6g} s by joint_states',
                )
        return waypoints, start_time

    # ---- the goals of the action, see GoalHost

    def goal_refusal(self) -> str:
        """Return why no goal can be accepted at present; empty when one can."""
        if not self._active:
            return f'the node is {self._state_label()}'
        controller = self._arm_configured().controller
        if controller.time is None:
            return 'no joint state has come yet'
        if controller.fault is not None:
            return str(controller.fault)
        mode = controller.tuning.mode
        return f'mode {mode.value} follows none' if mode is Mode.GRAVITY_COMPENSATION else ''

    def controlled(self) -> tuple[ControlledArm, Controller]:
        """Return the arm and its controller."""
        configured = self._arm_configured()
        return configured.arm, configured.controller

    def default_tolerances(self) -> Tolerances:
        """Return what the parameters `constraints.*` say."""
        return tolerances_of(self._values, self._arm_configured().arm)

    def report_drop(self, topic: str, field: str, reason: str) -> None:
        """Log and count a message that is not used."""
        self._drop(topic, field, reason)

    def _preempt_goal(self, reason: str) -> None:
        """Abort the goal of the action, if one is followed."""
        if self._goals is not None:
            self._goals.preempt(GoalCode.INVALID_GOAL, reason)

    def _on_annotate(self) -> None:
        self._statistics.hear('annotate', time.perf_counter())
        self._annotator.adopt(self._annotation_tuning())

    def _annotation_tuning(self) -> AnnotationTuning:
        """Return how trajectories are annotated at present."""
        configured, values = self._arm_configured(), self._values
        arm, controller = configured.arm, configured.controller
        imu, now = controller.imu, controller.time
        tolerance = per_joint(values['effort_tolerance'], arm.dynamics.n, 'effort_tolerance')
        return AnnotationTuning(
            arm.to_model_order(tolerance),
            controller.tuning.law.terms,
            carried_parameters(values, arm),
            None if imu is None or now is None else imu.resting_at(now),
            bool(values['allow_nonzero_velocity_at_trajectory_end']),
        )

    def _on_hold(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._active:
            response.message = f'not held: the node is {self._state_label()}'
            return response
        self._arm_configured().controller.hold()
        self._preempt_goal('the service ~/hold was called')
        response.success = True
        response.message = 'holding the present desired position'
        self.get_logger().info(response.message)
        return response

    def _on_wrench(self, message: WrenchStamped) -> None:
        controller = self._arm_configured().controller
        self._statistics.hear('wrench', time.perf_counter())
        stamp = self._sensor_time(message)
        if controller.wrist is None:
            return
        try:
            controller.wrist.update(message.header.frame_id, wrench_reading(message), stamp)
        except WrenchError as error:
            self._drop('wrench', str(error).partition(':')[0], str(error))

    def _on_imu(self, message: Imu) -> None:
        controller = self._arm_configured().controller
        self._statistics.hear('imu', time.perf_counter())
        stamp = self._sensor_time(message)
        if controller.imu is None:
            return
        try:
            controller.imu.update(message.header.frame_id, *imu_reading(message), stamp)
        except ImuError as error:
            self._drop('imu', str(error).partition(':')[0], str(error))

    def _sensor_time(self, message: Any) -> float:
        """Return the time of a reading; that of the last state where it has no stamp."""
        controller = self._arm_configured().controller
        nanoseconds = stamp_nanoseconds(message.header.stamp)
        if nanoseconds == 0 and controller.time is not None:
            return controller.time
        return self._control_time(nanoseconds)

    def _on_tare_wrench(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        configured = self._configured
        if configured is None or configured.controller.wrist is None:
            response.message = 'not tared: no wrench in use (see wrench.enabled)'
            return response
        arm, controller, wrist = (
            configured.arm,
            configured.controller,
            configured.controller.wrist,
        )
        if controller.position is None or controller.time is None:
            response.message = 'not tared: no joint state yet'
            return response
        pose = arm.dynamics.forward_kinematics(controller.position)
        imu = controller.imu
        gravity = arm.dynamics.gravity if imu is None else imu.gravity_at(controller.time)
        beyond = load_beyond_sensor(self._values, arm)
        try:
            bias = wrist.tare(controller.time, static_wrench(beyond, pose[:3, :3], gravity))
        except WrenchError as error:
            response.message = f'not tared: {error}'
            return response
        response.success = True
        response.message = (
            f'bias {np.round(bias, 4).tolist()} N, N m at {wrist.cut_link!r}, taking what is '
            f"beyond it for the model's {beyond.mass:g} kg at rest"
        )
        self.get_logger().info(f'wrench tared: {response.message}')
        return response

    # ---- reports

    def _drop(self, topic: str, field: str, reason: str) -> None:
        key = f'{topic}.{field}'
        count = self._statistics.drop(key)
        so_far = f' ({count} so far)' if count > 1 else ''
        self._warn(key, f'{topic} dropped: {reason}{so_far}')

    def _warn(self, key: str, text: str, severity: Severity = Severity.WARN) -> None:
        """Log a line of a kind of which there may be many: seldom, and not a long one."""
        now = time.monotonic()
        if now - self._last_warning.get(key, -np.inf) >= WARNING_PERIOD:
            self._last_warning[key] = now
            logger, line = self.get_logger(), _shortened(text)
            # A place in the code logs with one severity: rclpy insists.
            if severity is Severity.ERROR:
                logger.error(line)
            elif severity is Severity.WARN:
                logger.warning(line)
            else:
                logger.info(line)

    def _on_diagnostics_timer(self) -> None:
        statistics = self._statistics
        values: dict[str, Any] = {'state': self._state_label()}
        remarks = list(self._faults.values())
        statuses = []
        hardware = ''
        fault: Fault | None = None
        if self._configured is None:
            remarks.append('not configured')
        else:
            hardware = self._configured.arm.robot.name
            fault = self._configured.controller.fault
            values['fault'] = str(fault) if fault is not None else 'none'
            remarks += self._diagnose(self._configured, values)
            statuses.append(self._diagnose_tracking(self._configured))
        values.update(statistics.inputs())
        new_drops = statistics.new_drops()
        if new_drops:
            remarks.append(f'{new_drops} messages dropped')
        # A fault that is over by now is told of once.
        faults = [str(one) for one in statistics.new_faults()]
        if fault is not None and str(fault) not in faults:
            faults.append(str(fault))
        level = DiagnosticStatus.WARN if remarks else DiagnosticStatus.OK
        summary = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if faults else level,
            name=self.get_fully_qualified_name(),
            message='; '.join(faults + remarks) or str(values['state']),
            values=[KeyValue(key=key, value=text) for key, text in as_text(values).items()],
        )
        message = DiagnosticArray(status=[summary, *statuses])
        for status in message.status:
            status.hardware_id = hardware
        message.header.stamp = self.get_clock().now().to_msg()
        self._publisher_of_diagnostics.publish(message)

    def _diagnose(self, configured: Connections, values: dict[str, Any]) -> list[str]:
        """Add to `values` what there is to say on the arm; return what is amiss."""
        arm, controller = configured.arm, configured.controller
        terms = controller.tuning.law.terms
        values['model'] = arm.robot.name
        values['findings'] = (
            '; '.join(
                f'{finding.element}: {finding.message}'
                for finding in arm.uncut.findings
                if finding.severity != 'info'
            )
            or 'none'
        )
        values['mode'] = controller.tuning.mode.value
        values['terms'] = ' '.join(key for key, is_on in vars(terms).items() if is_on)
        values['on_deactivate'] = self._values['on_deactivate']
        values['joints'] = ' '.join(arm.command_names)
        values.update(self._statistics.outputs(arm.robot.joint_names))
        remarks = []
        if self._active and controller.time is None:
            remarks.append('no usable joint_states yet')
        age = self._statistics.age('joint_states')
        if self._active and controller.fault is None and STATE_AGE_WARNING < age < np.inf:
            remarks.append(f'no joint_states for {age:.1f} s')
        now = controller.time
        if controller.wrist is not None and now is not None:
            if controller.wrist.is_stale(now):
                remarks.append(f'no recent wrench: {controller.wrist.on_timeout.value}')
            if controller.wrist.was_saturated():
                remarks.append('wrench beyond wrench.max_force or wrench.max_torque')
        if controller.imu is not None and now is not None:
            if controller.imu.is_stale(now):
                remarks.append(f'no recent imu: {controller.imu.on_timeout.value}')
            tilt = np.rad2deg(controller.imu.tilt_at(now))
            if tilt > 90.0:
                remarks.append(
                    f'imu: the base is tilted by {tilt:.0f} degrees; is its sign right?'
                )
        return remarks

    def _diagnose_tracking(self, configured: Connections) -> DiagnosticStatus:
        """Report on the tracking errors since the last time, and forget them."""
        arm, controller = configured.arm, configured.controller
        errors = controller.peak_error.copy()
        controller.peak_error[:] = 0.0
        values: dict[str, Any] = {}
        if not self._active or controller.trajectory is None:
            level = Level(0, 'nothing is followed')
        else:
            values = {
                f'{arm.robot.joint_names[index]} [rad or m]': f'{errors[index]:.6g}'
                for index in arm.command_order
            }
            warn, error = (
                arm.to_model_order(per_joint(self._values[name], arm.dynamics.n, name))
                for name in ('tracking_error.warn', 'tracking_error.error')
            )
            level = tracking_level(arm.robot.joint_names, errors, warn, error)
        return DiagnosticStatus(
            level=bytes((level.value,)),
            name=f'{self.get_fully_qualified_name()}: tracking error',
            message=level.message,
            values=[KeyValue(key=key, value=text) for key, text in as_text(values).items()],
        )


def main(args: list[str] | None = None) -> None:
    """Run the node until SIGINT or SIGTERM; leave the arm held against gravity.

    Both signals are ignored from then on, to the end of the process.
    """
    with stop_on_signals() as stop:
        executor: SingleThreadedExecutor | None = None
        try:
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
            node = ComputedTorqueNode()
            stop.wake(node)
            executor = make_executor(node, node.prompt_subscriptions)
            try:
                while not stop.is_set():
                    executor.spin_once()
            finally:
                # Also when a fault ends the process: the arm must not be left on a command of
                # the motion.
                if rclpy.ok():
                    node.stop()
            # The end of a goal may be on its way to who asked for it.
            for _ in range(10):
                executor.spin_once(timeout_sec=0.0)
            stop.forget_node()
            executor.shutdown()
            node.destroy_node()
        except ExternalShutdownException:
            pass
        finally:
            if executor is not None:
                executor.shutdown()
            rclpy.try_shutdown()


if __name__ == '__main__':
    main()
