"""The node `computed_torque`: joint states in, joint efforts out.

A lifecycle node. Configuring loads the model and makes it ready; while active every usable
JointState is answered, in its callback, by one command. A message that cannot be used is dropped
with a throttled warning that names field and reason: nothing is patched, the last good state
stays, and no command comes of it.

The control clock is the stamp of the joint states (the node's clock where they carry none).
Trajectories and wrenches are placed in time by it, so that simulated and recorded time work.

While active the arm is held: from the measured position at the first state after activation,
through every trajectory, at its end, and on deactivation by a last command against gravity.
"""

from __future__ import annotations

import functools
import time
import traceback
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ne_dynamics.control.controller import Command, Tuning
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.trajectory import Waypoints
from ne_dynamics.control.wrench import static_wrench
from ne_dynamics.errors import (
    MissingDependencyError,
    NeDynamicsError,
    ParameterError,
    WrenchError,
)
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.ros.configuration import (
    ControlledArm,
    check_description,
    controlled_arm,
    has_model_parameter,
    load_robot,
    make_controller,
    make_tuning,
)
from ne_dynamics.ros.messages import (
    JointStateReader,
    MessageError,
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
    from rclpy.parameter import Parameter
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray, String
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.ros.prompt_executor import make_executor
except ImportError as error:
    raise MissingDependencyError(
        'the node needs ROS 2 for Python: source a ROS 2 installation, or '
        f'pip install "ne_dynamics[ros]" ({error})'
    ) from error

WARNING_PERIOD = 5.0
"""A reason is repeated in the log after this many seconds at the earliest."""

LARGEST_DISORDER = 1.0
"""A stamp older than the last by more than this many seconds is a clock that was set back."""

LONGEST_RUN = 1e7
"""Seconds between two stamps beyond which they are of different clocks."""

FAR_START = 10.0
"""A trajectory that starts later than this is said to: its stamp may be of another clock."""

STATE_AGE_WARNING = 1.0
"""Seconds without a usable joint state after which the diagnostics warn."""

RELIABILITY = {
    'best_effort': ReliabilityPolicy.BEST_EFFORT,
    'reliable': ReliabilityPolicy.RELIABLE,
    'system_default': ReliabilityPolicy.SYSTEM_DEFAULT,
}

PARAMETER_TYPES = {
    'bool': Parameter.Type.BOOL,
    'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING,
    'double[]': Parameter.Type.DOUBLE_ARRAY,
    'string[]': Parameter.Type.STRING_ARRAY,
}


def _reported(transition: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Log what a transition callback raises: rclpy turns it into an error without a word."""

    @functools.wraps(transition)
    def wrapper(self: Any, state: Any) -> Any:
        try:
            return transition(self, state)
        except Exception:
            self.get_logger().error(f'{transition.__name__} failed: {traceback.format_exc()}')
            raise

    return wrapper


class _Configured:
    """What the node has while it is configured: the arm, its controller, what it listens to.

    Parameters
    ----------
    node : ComputedTorqueNode
    arm : ControlledArm
    tuning : Tuning
    values : mapping
        Checked values of the parameters.
    """

    def __init__(
        self,
        node: ComputedTorqueNode,
        arm: ControlledArm,
        tuning: Tuning,
        values: Mapping[str, Any],
    ) -> None:
        self.arm = arm
        self.controller = make_controller(arm, tuning)
        self.reader = JointStateReader(arm.robot.joint_names)
        self.command_publisher = node.create_publisher(
            Float64MultiArray, 'effort_controller/commands', 10
        )
        self.effort_publisher = node.create_publisher(JointState, '~/effort', 10)
        self._command = Float64MultiArray()
        self._effort = JointState()
        self._effort.name = list(arm.command_names)
        self._is_model_order = arm.command_names == arm.robot.joint_names
        self._node = node
        self._subscriptions: list[Any] = []
        if self.controller.wrist is not None:
            # Before the joint states: the executor serves in this order, so that a wrench that
            # came with a state is used with it.
            latest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
            self._listen(WrenchStamped, 'wrench', node._on_wrench, latest)
        self._listen(JointTrajectory, 'joint_trajectory', node._on_joint_trajectory, 10)
        states = QoSProfile(depth=1, reliability=RELIABILITY[values['joint_states_reliability']])
        self._listen(JointState, 'joint_states', node._on_joint_state, states)

    def _listen(self, kind: Any, topic: str, callback: Callable[[Any], None], qos: Any) -> None:
        self._subscriptions.append(self._node.create_subscription(kind, topic, callback, qos))

    def destroy(self) -> None:
        """Stop listening."""
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


class ComputedTorqueNode(LifecycleNode):
    """The node; see the module's docstring.

    Parameters
    ----------
    **node_arguments
        As for :class:`rclpy.node.Node`, e.g. `parameter_overrides`, `context`, `namespace`.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('computed_torque', **node_arguments)
        self._guard_lifecycle_service()
        self._values: dict[str, Value] = default_values()
        self._faults: dict[str, str] = {}
        self._ready = False
        self._declare_parameters()
        self._ready = True

        self._description = ''
        self._configured: _Configured | None = None
        self._active = False
        self._epoch: int | None = None

        self._counts: Counter[str] = Counter()
        self._drops: Counter[str] = Counter()
        self._last_warning: dict[str, float] = {}
        self._dropped_before = 0
        self._latencies: list[float] = []
        self._saturated: set[int] = set()
        self._last_command = -np.inf

        latched = QoSProfile(
            depth=1,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL,
        )
        self.create_subscription(String, 'robot_description', self._on_robot_description, latched)
        self.create_service(Trigger, '~/hold', self._on_hold)
        self.create_service(Trigger, '~/tare_wrench', self._on_tare_wrench)
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        # Real seconds: diagnostics go on when simulated time stands still.
        self._steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0, self._on_diagnostics_timer, clock=self._steady_clock)
        self._autostart_pending = bool(self._values['autostart'])
        if self._autostart_pending:
            self._autostart_timer = self.create_timer(
                0.0, self._on_autostart_timer, clock=self._steady_clock
            )

    # ---- lifecycle

    def _guard_lifecycle_service(self) -> None:
        """Answer impossible transitions with a refusal; rclpy lets them end the process."""
        service = self._service_change_state
        change_state = service.callback

        def guarded(request: Any, response: Any) -> Any:
            try:
                return change_state(request, response)
            except Exception as error:
                asked = request.transition.label or request.transition.id
                self.get_logger().warning(f'transition {asked!r} refused: {error}')
                response.success = False
                return response

        service.callback = guarded

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
        self._active = True
        self.get_logger().info('active')
        return super().on_activate(state)

    @_reported
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send a last command against gravity, then none."""
        self._stop_commanding()
        return super().on_deactivate(state)

    @_reported
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the model and stop listening."""
        self._release()
        return super().on_cleanup(state)

    @_reported
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send a last command against gravity when active; then as cleaning up."""
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

    def prompt_subscriptions(self) -> Sequence[Any]:
        """Return what the arm is controlled by, in the order in which it is to be served."""
        return () if self._configured is None else self._configured.subscriptions

    def _arm_configured(self) -> _Configured:
        if self._configured is None:
            raise RuntimeError('the node is not configured')
        return self._configured

    def _configure(self) -> None:
        if self._faults:
            raise ParameterError('; '.join(self._faults.values()))
        arm = controlled_arm(self._values, load_robot(self._values, self._description))
        tuning, remarks = make_tuning(self._values, arm)
        self._configured = _Configured(self, arm, tuning, self._values)
        self._epoch = None
        self._remarks: list[str] = []
        self._remark(remarks)
        for finding in arm.uncut.findings:
            if finding.severity != 'info':
                self.get_logger().warning(f'model: {finding.element}: {finding.message}')
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
            self._configured.destroy()
            self._configured = None

    def _stop_commanding(self) -> None:
        """Send a last command against gravity for the last known pose, and stop."""
        if not self._active:
            return
        self._active = False
        configured = self._arm_configured()
        try:
            effort = configured.controller.last_command()
        except NeDynamicsError as error:
            self.get_logger().error(f'no last command could be sent: {error}')
            return
        if effort is not None:
            configured.publish_command(effort)
            self.get_logger().info('inactive; the last command holds the arm against gravity')

    # ---- the model by topic

    def _on_robot_description(self, message: String) -> None:
        if message.data == self._description:
            return
        try:
            check_description(self._values, message.data)
        except NeDynamicsError as error:
            self._drop('robot_description', 'data', str(error))
            return
        self._counts['robot_description'] += 1
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
        self._counts['joint_states'] += 1
        try:
            position, velocity = configured.reader.read(message)
        except MessageError as error:
            self._drop('joint_states', error.field, str(error))
            return
        stamp = message.header.stamp
        now = self._control_time(stamp.sec * 1_000_000_000 + stamp.nanosec)
        if controller.time is None and abs(now) > LONGEST_RUN:
            # The first state, and what came before it is of another clock.
            self._epoch = None
            now = self._control_time(stamp.sec * 1_000_000_000 + stamp.nanosec)
            if controller.wrist is not None:
                controller.wrist.reset()
        if controller.time is not None and now < controller.time and not self._accept_older(now):
            return
        if not self._active:
            controller.observe(position, now)
            return
        try:
            command = controller.update(position, velocity, now)
        except NeDynamicsError as error:
            self._drop('joint_states', str(error).partition(':')[0], str(error))
            return
        configured.publish_command(command.effort)
        if configured.effort_publisher.get_subscription_count():
            if not (stamp.sec or stamp.nanosec):
                stamp = self.get_clock().now().to_msg()
            configured.publish_effort(stamp, command)
        if command.saturated is not None:
            self._saturated |= set(np.flatnonzero(command.saturated).tolist())
        if command.refused is not None:
            self._drop('joint_trajectory', 'header.stamp', str(command.refused))
        self._last_command = end = time.perf_counter()
        self._latencies.append(end - begin)

    def _control_time(self, nanoseconds: int) -> float:
        """Return a stamp in seconds since the first one; 0 is the node's clock."""
        if nanoseconds == 0:
            nanoseconds = self.get_clock().now().nanoseconds
        if self._epoch is None:
            self._epoch = nanoseconds
        return (nanoseconds - self._epoch) * 1e-9

    def _accept_older(self, now: float) -> bool:
        """Deal with a state older than the last; return whether to go on with it."""
        controller = self._arm_configured().controller
        behind = (controller.time or 0.0) - now
        if behind < LARGEST_DISORDER:
            self._drop(
                'joint_states', 'header.stamp', f'header.stamp: {behind:.3g} s before the last one'
            )
            return False
        self.get_logger().warning(
            f'the clock of joint_states was set back by {behind:.3g} s: holding where the arm is'
        )
        controller.reset()
        if controller.wrist is not None:
            controller.wrist.reset()
        return True

    # ---- the other inputs

    def _on_joint_trajectory(self, message: JointTrajectory) -> None:
        configured = self._arm_configured()
        controller = configured.controller
        self._counts['joint_trajectory'] += 1
        if not self._active:
            self._drop('joint_trajectory', 'state', 'the node is not active')
            return
        if not message.points:
            controller.hold()
            self.get_logger().info('empty trajectory: holding the present desired position')
            return
        mode = controller.tuning.mode
        if mode is Mode.GRAVITY_COMPENSATION:
            self._drop('joint_trajectory', 'mode', f'mode {mode.value} follows none')
            return
        try:
            waypoints = Waypoints.from_points(
                configured.arm.robot.joints,
                message.joint_names,
                trajectory_points(message),
                allow_nonzero_velocity_at_end=bool(
                    self._values['allow_nonzero_velocity_at_trajectory_end']
                ),
            )
        except NeDynamicsError as error:
            self._drop('joint_trajectory', 'points', str(error))
            return
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
        controller.follow(waypoints, start_time)

    def _on_hold(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._active:
            response.message = f'not held: the node is {self._state_label()}'
            return response
        self._arm_configured().controller.hold()
        response.success = True
        response.message = 'holding the present desired position'
        self.get_logger().info(response.message)
        return response

    def _on_wrench(self, message: WrenchStamped) -> None:
        controller = self._arm_configured().controller
        self._counts['wrench'] += 1
        nanoseconds = stamp_nanoseconds(message.header.stamp)
        if nanoseconds == 0 and controller.time is not None:
            stamp = controller.time
        else:
            stamp = self._control_time(nanoseconds)
        if controller.wrist is None:
            return
        try:
            controller.wrist.update(message.header.frame_id, wrench_reading(message), stamp)
        except WrenchError as error:
            self._drop('wrench', str(error).partition(':')[0], str(error))

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
        try:
            bias = wrist.tare(
                controller.time, static_wrench(arm.tool, pose[:3, :3], arm.dynamics.gravity)
            )
        except WrenchError as error:
            response.message = f'not tared: {error}'
            return response
        response.success = True
        response.message = (
            f'bias {np.round(bias, 4).tolist()} N, N m at {wrist.cut_link!r}, taking what is '
            f"beyond it for the model's {arm.tool.mass:g} kg at rest"
        )
        self.get_logger().info(f'wrench tared: {response.message}')
        return response

    # ---- what is said about it

    def _drop(self, topic: str, field: str, reason: str) -> None:
        key = f'{topic}.{field}'
        self._drops[key] += 1
        count = self._drops[key]
        so_far = f' ({count} so far)' if count > 1 else ''
        self._warn(key, f'{topic} dropped: {reason}{so_far}')

    def _warn(self, key: str, text: str) -> None:
        now = time.monotonic()
        if now - self._last_warning.get(key, -np.inf) >= WARNING_PERIOD:
            self._last_warning[key] = now
            self.get_logger().warning(text)

    def _on_diagnostics_timer(self) -> None:
        status = DiagnosticStatus(name=self.get_fully_qualified_name())
        values: dict[str, Any] = {'state': self._state_label()}
        remarks = list(self._faults.values())
        if self._configured is None:
            remarks.append('not configured')
        else:
            status.hardware_id = self._configured.arm.robot.name
            remarks += self._diagnose(self._configured, values)
        for topic, count in sorted(self._counts.items()):
            values[f'{topic} received'] = count
        for key, count in sorted(self._drops.items()):
            values[f'{key} dropped'] = count
        dropped = self._drops.total()
        if dropped > self._dropped_before:
            remarks.append(f'{dropped - self._dropped_before} messages dropped')
        self._dropped_before = dropped
        status.level = DiagnosticStatus.WARN if remarks else DiagnosticStatus.OK
        status.message = '; '.join(remarks) or str(values['state'])
        status.values = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)

    def _diagnose(self, configured: _Configured, values: dict[str, Any]) -> list[str]:
        """Add to `values` what there is to say on the arm; return what is amiss."""
        arm, controller = configured.arm, configured.controller
        terms = controller.tuning.law.terms
        values['model'] = arm.robot.name
        values['mode'] = controller.tuning.mode.value
        values['terms'] = ' '.join(key for key, is_on in vars(terms).items() if is_on)
        values['joints'] = ' '.join(arm.command_names)
        remarks = []
        age = time.perf_counter() - self._last_command
        if self._active and age > STATE_AGE_WARNING:
            remarks.append(
                f'no usable joint_states for {age:.1f} s'
                if np.isfinite(age)
                else 'no usable joint_states yet'
            )
        wrist, now = controller.wrist, controller.time
        if wrist is not None and now is not None and wrist.is_stale(now):
            remarks.append(f'no recent wrench: {wrist.on_timeout.value}')
        if self._latencies:
            latencies = 1e6 * np.array(self._latencies)
            values['commands in the last second'] = latencies.size
            values['latency median [us]'] = f'{np.median(latencies):.0f}'
            values['latency max [us]'] = f'{latencies.max():.0f}'
            self._latencies.clear()
        if self._saturated:
            names = (arm.robot.joint_names[index] for index in sorted(self._saturated))
            values['saturated in the last second'] = ' '.join(names)
            self._saturated.clear()
        return remarks


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
