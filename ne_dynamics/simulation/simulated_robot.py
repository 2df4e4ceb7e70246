"""A simulated arm behind the topics of a real one: MuJoCo physics, none of our recursion.

Topics (relative names, remappable; `/clock` is absolute)
    in   ``effort_controller/commands``  std_msgs/Float64MultiArray, order of parameter `joints`
    in   ``~/run_until``                 builtin_interfaces/Time, with `paced`
    out  ``joint_states``                sensor_msgs/JointState, effort = what the motors applied
    out  ``wrench``                      geometry_msgs/WrenchStamped, with `wrench.sensor_link`
    out  ``imu``                         sensor_msgs/Imu, with `imu.link`
    out  ``robot_description``           std_msgs/String, transient local, when the model is URDF
    out  ``/clock``                      rosgraph_msgs/Clock, with `publish_clock`
    out  ``~/true_joint_states``         sensor_msgs/JointState, for whoever records: no drop-outs
Services
    ``~/release_brake``                  std_srvs/Trigger, with `brake`
    ``~/engage_brake``                   std_srvs/Trigger, with `brake`: the arm stops at once
    ``~/resume``                         std_srvs/Trigger: end a pause, or leave the next one out
    ``~/drop``                           std_srvs/SetBool: the topics of `dropout.topics` (none
                                         named: `joint_states`) fall silent, and come back

Brakes hold the arm in `initial_position` until the first usable command arrives and, with the
parameter `brake`, until the service is called as well: an arm must not fall before its
controller is up. With `time_under_brakes` the states go on meanwhile, in lockstep too (then at a
third of real time), with stamps that advance, as those of a real arm do.

`hidden_errors_file` makes the arm another one than its model, and its driver one of those that
report something else than efforts: :mod:`~ne_dynamics.simulation.hidden_errors`.

Real time (the default): a timer at `rate` advances the physics by the time that has passed, with
the last command held, and publishes. A motor driver without a watchdog does the same; commands
that stop coming are not noticed. With `patience` it goes a period at a time, and each period waits
for so long for the command that answers the state before: an arm must not fall because the
machine is busy. When none comes in that time the arm goes on in real time until one does.

Lockstep: the arm waits for the command that answers its state. Under brakes it publishes the
same state, with the same stamp, every 0.1 s. Then it waits for the answer to the last of them, for
1 s at the most, and lets 0.2 s pass without a command, so that no late answer is left, advances by
one period and publishes; from there on every command advances it by one period. Each run is the
same to the last bit, however busy the machine. A command that does not come within 10 s is
reported and the last one held for one more period.

Pacing: with `paced`, lockstep goes on as far as ``~/run_until`` says, to the first state of this
stamp or a later one, and waits there: at first where it begins. Whoever moves the arm grants it
time as far as it has read, and what it sends meanwhile meets the same state in every run. Under
brakes the state at which time stands is published every 0.1 s, and every 0.5 s once a command has
come. A grant counts until a later one comes; it is latched.

Pauses: in lockstep, time can be made to stand still at given moments (`pause_at`), so that what is
done to the controller there is done at that moment, in every run.

Drop-outs: while `joint_states` is silent nobody can answer, so in lockstep physics then goes on
by itself, at a third of real time, so that a busy machine keeps up, with the last command and
with every one that comes unasked, until the states are back and commands answer them. Then 0.2 s
pass without a command, as at the start.
The node's watchdog belongs to the story: let it run on simulated time (`publish_clock` here,
`use_sim_time` there).

The sign of the wrench: `wrench.measures: on_tool` is the habit of ROS, the wrench that
environment and tool exert on the arm (the weight of a tool at rest points down); `by_tool` is its
negative, the wrench that the arm exerts on what is beyond the sensor.

The base may stand askew, rock about an axis and sway along one, each as a sine that begins with
the time of the stamps. The inertial measurement unit reports its link's orientation in the
world (east, north, up), angular velocity, and acceleration minus that of free fall, in the
link's axes. All covariances are 0: unknown. Without `imu.orientation`, as of a unit that has
none, the orientation's first is -1.
"""

from __future__ import annotations

import array
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.control import Measures
from ne_dynamics.errors import NeDynamicsError, ParameterError, optional_dependency
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.motion import NANO
from ne_dynamics.printable import print_lines
from ne_dynamics.ros import stop_on_signals
from ne_dynamics.simulation.altered_robot import scale_friction, scale_masses, with_hung_mass
from ne_dynamics.simulation.base_motion import BaseMotion, Oscillation
from ne_dynamics.simulation.friction_levels import is_left_out
from ne_dynamics.simulation.hidden_errors import HiddenErrors, read_hidden_errors
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import (
    Sensor,
    SensorReading,
    differenced_velocity,
    encoder,
    pass_on,
    torque_ripple,
)
from ne_dynamics.simulation.robot_parameters import (
    DROPPABLE,
    PARAMETERS,
    BaseSettings,
    DriveSettings,
    DropoutSettings,
    SimulatedRobotSettings,
)
from ne_dynamics.simulation.thresholds import SIMULATION

with optional_dependency('the simulated robot needs ROS 2 for Python', 'ros'):
    import rclpy
    from builtin_interfaces.msg import Time
    from geometry_msgs.msg import WrenchStamped
    from rclpy.clock import Clock as NodeClock
    from rclpy.clock import ClockType
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import Float64MultiArray, String
    from std_srvs.srv import SetBool, Trigger

    from ne_dynamics.ros import (
        LATCHED,
        DeclaredParameters,
        check_arguments,
        make_executor,
        readable_parameters,
        start_rclpy,
    )

FIRST_STAMP = NANO
"""Simulated time at the start [ns]: not 0, which means 'no stamp'."""


RELIABLE = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)

RECORDED = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.RELIABLE)
"""Whoever records the motion is to have all of it, however busy the machine is."""


def initial_position_within_limits(robot: Robot) -> FloatArray:
    """Return zeros, moved to the middle of the range where a joint's range excludes zero.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    array, shape (n,)
        [rad or m]
    """
    return np.array(
        [
            0.0 if joint.lower <= 0.0 <= joint.upper else 0.5 * (joint.lower + joint.upper)
            for joint in robot.joints
        ]
    )


class SimulatedRobot(Node):
    """The node; see the module's docstring for topics and protocol.

    Parameters
    ----------
    **node_arguments
        As for :class:`rclpy.node.Node`, e.g. `parameter_overrides`, `context`.

    Raises
    ------
    NeDynamicsError
        When the model cannot be read or simulated, or a parameter is out of bounds.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('simulated_robot', **node_arguments)
        parameters = DeclaredParameters(self, PARAMETERS)
        parameters.declare()
        if parameters.faults:
            raise ParameterError('; '.join(parameters.faults.values()))
        settings = parameters.settings
        robot, urdf = _load(settings)
        self._hidden: HiddenErrors | None = None
        if settings.hidden_errors_file:
            self._hidden = read_hidden_errors(Path(settings.hidden_errors_file))
        true_robot = robot if self._hidden is None else self._hidden.apply(robot)
        self._arm, self._loaded_arm, initial_position = _build(true_robot, settings)
        self._rate = settings.rate
        self._lockstep = settings.lockstep
        if settings.paced and not settings.lockstep:
            raise ParameterError('paced: expected `lockstep` with it, got false')
        self._is_paced = settings.paced
        self._granted = 0
        # A command has come, and time for the period in which it acts has not.
        self._waits_for_grant = False
        self._is_answered = False
        self._patience = settings.patience
        self._is_patient = self._patience > 0.0
        self._braked = settings.brake
        self._time_goes_on = settings.time_under_brakes
        self._order = _command_order(robot, settings.joints)
        largest = robot.limits('effort_limit')
        largest[largest <= 0.0] = math.inf
        if not settings.saturate_effort:
            largest[:] = math.inf
        self._largest_effort = largest
        self._wrench_sign = -1.0 if settings.wrench.measures is Measures.ON_TOOL else 1.0

        bits, delayed_by = settings.drive.encoder_bits, settings.drive.command_delay
        share = settings.model_error.torque_ripple
        if self._hidden is not None:
            bits, delayed_by = self._hidden.encoder_bits, self._hidden.delay
            share = self._hidden.torque_ripple
        self._sensors = _sensors(settings.drive, bits)
        self._reading = self._sense()
        self._ripples = share > 0.0
        self._ripple = torque_ripple(share, SIMULATION.cogging * share)
        delay = round(delayed_by * settings.rate)
        self._under_way: deque[FloatArray] = deque(maxlen=delay + 1)

        self._pick_up = settings.payload.pick_up
        self._dropout = _Dropout.of(settings.dropout)
        self._pauses = list(settings.pause_at)
        if self._pauses != sorted(self._pauses):
            raise ParameterError(f'pause_at: expected ascending times, got {self._pauses}')
        self._paused = False

        self._command: FloatArray | None = None
        self._running = False
        # In lockstep, from a silence of joint_states to the first answer after it.
        self._coasting = False
        self._answers = 0
        self._ticks = 0
        self._free_since: int | None = None
        self._last_command_time = time.monotonic()
        self._last_publish_time = time.monotonic()

        self._joint_state = JointState()
        self._joint_state.name = list(robot.joint_names)
        self._joint_state_publisher = self.create_publisher(JointState, 'joint_states', RELIABLE)
        self._wrench_publisher = None
        if settings.wrench.sensor_link:
            self._wrench = WrenchStamped()
            self._wrench.header.frame_id = settings.wrench.sensor_link
            self._wrench_publisher = self.create_publisher(WrenchStamped, 'wrench', RELIABLE)
        self._imu_publisher = None
        if settings.imu.link:
            self._imu = Imu()
            self._imu.header.frame_id = settings.imu.link
            self._knows_orientation = settings.imu.orientation
            if not self._knows_orientation:
                self._imu.orientation_covariance[0] = -1.0
            self._imu_publisher = self.create_publisher(Imu, 'imu', RELIABLE)
        self._truth_publisher = self.create_publisher(JointState, '~/true_joint_states', RECORDED)
        self._clock_publisher = None
        if settings.publish_clock:
            self._clock_publisher = self.create_publisher(Clock, '/clock', RELIABLE)
        if urdf:
            self._description_publisher = self.create_publisher(
                String, 'robot_description', LATCHED
            )
            self._description_publisher.publish(String(data=urdf))
        if self._braked:
            self.create_service(Trigger, '~/release_brake', self._on_release_brake)
            self.create_service(Trigger, '~/engage_brake', self._on_engage_brake)
        self.create_service(SetBool, '~/drop', self._on_drop)
        self.create_service(Trigger, '~/resume', self._on_resume)
        self._commands = self.create_subscription(
            Float64MultiArray, 'effort_controller/commands', self._on_command, RELIABLE
        )
        if self._is_paced:
            self.create_subscription(Time, '~/run_until', self._on_run_until, LATCHED)

        simulated_time = self._lockstep or settings.publish_clock
        self._origin = FIRST_STAMP if simulated_time else self.get_clock().now().nanoseconds
        self._wall_origin = time.monotonic()
        if self._lockstep:
            # The wall's clock: with `use_sim_time` the node's own would wait for itself.
            period = 1.0 / (SIMULATION.coasting_pace * self._rate)
            goes_by_itself = self._time_goes_on and not self._is_paced
            self._timer = self._wall_timer(
                min(period, SIMULATION.republish_period)
                if goes_by_itself
                else SIMULATION.republish_period,
                self._on_lockstep_timer,
            )
            self._coasting_timer = self._wall_timer(
                1.0 / (SIMULATION.coasting_pace * self._rate), self._on_coasting_timer
            )
            self._coasting_timer.cancel()
        else:
            self._timer = self._wall_timer(1.0 / self._rate, self._on_real_time_timer)
        self.get_logger().info(
            f'simulating {robot.name!r}: joints {", ".join(robot.joint_names)}; '
            f'{"lockstep" if self._lockstep else "real time"} at {self._rate:g} Hz; brakes hold '
            f'at {np.round(initial_position, 4).tolist()} until '
            f'{"~/release_brake and " if self._braked else ""}the first command'
        )
        more = [joint.name for joint in robot.joints if is_left_out(joint.friction)]
        if more:
            self.get_logger().warning(
                'simulated without the friction of the load, the square root and the cube of the '
                f'velocity: {", ".join(more)}'
            )

    def prompt_subscriptions(self) -> tuple[Any, ...]:
        """Return what is answered without detours."""
        return (self._commands,)

    def _wall_timer(self, period: float, callback: Callable[[], None]) -> Any:
        return self.create_timer(
            period, callback, clock=NodeClock(clock_type=ClockType.STEADY_TIME)
        )

    # -- commands in ------------------------------------------------------------------------

    def _on_command(self, message: Float64MultiArray) -> None:
        effort = np.array(message.data, dtype=np.float64)
        if effort.shape != (self._arm.n,):
            self._warn(f'expected {self._arm.n} numbers, got {effort.size}')
            return
        if not np.isfinite(effort).all():
            self._warn(f'expected finite numbers, got {effort.tolist()}')
            return
        command = np.empty_like(effort)
        command[self._order] = effort
        self._command = np.clip(command, -self._largest_effort, self._largest_effort)
        self._last_command_time = time.monotonic()
        self._is_answered = True
        self._is_patient = self._patience > 0.0
        if not (self._lockstep and self._running):
            return
        if not self._coasting:
            if self._pauses and self._time_free() >= self._pauses[0]:
                self._paused = True
                return
            self._go_on()
        elif 'joint_states' not in self._dropout.silent_topics(self._time_free()):
            self._answers += 1
            if self._answers >= SIMULATION.answers_to_resume:
                # Somebody answers again: let what else is on its way arrive.
                self._coasting_timer.cancel()
                self._coasting = self._running = False

    def _warn(self, reason: str) -> None:
        self.get_logger().warning(
            f'effort_controller/commands dropped: data: {reason}',
            throttle_duration_sec=SIMULATION.warning_period,
        )

    def _on_resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._pauses:
            response.message = 'not resumed: no pause, and none ahead'
            return response
        response.success = True
        response.message = f'pause at {self._pauses.pop(0):g} s over'
        if self._paused:
            self._paused = False
            self._go_on()
        return response

    def _on_drop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._dropout.is_asked_for = request.data
        response.success = True
        response.message = f'{", ".join(self._dropout.topics)}: ' + (
            'silent' if request.data else 'published'
        )
        return response

    def _on_release_brake(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        self._braked = False
        # The last answer to a state under brakes may still be on its way.
        self._last_command_time = time.monotonic()
        response.success = True
        response.message = 'brake released'
        return response

    def _on_engage_brake(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        self._braked = True
        # What was commanded before is not what the arm is to begin with when they are released.
        self._command, self._waits_for_grant = None, False
        self._under_way.clear()
        if self._running:
            self._running = self._coasting = False
            self._arm.stand()
            self._reading = self._sense()
        if self._lockstep:
            self._coasting_timer.cancel()
        response.success = True
        response.message = 'brake engaged'
        return response

    # -- time -------------------------------------------------------------------------------

    def _on_run_until(self, message: Time) -> None:
        self._granted = max(self._granted, message.sec * NANO + message.nanosec)
        if self._waits_for_grant:
            self._waits_for_grant = False
            self._go_on()
        elif self._stands_in_time:
            self._pass_granted_time()

    @property
    def _may_go_on(self) -> bool:
        return not self._is_paced or self._stamp_nanoseconds() < self._granted

    @property
    def _stands_in_time(self) -> bool:
        """Whether the brakes hold the arm while time goes on."""
        is_held = not self._running and (self._command is None or self._braked)
        return is_held and self._time_goes_on

    def _go_on(self) -> None:
        """Advance by a period, now or when it is granted."""
        if self._may_go_on:
            self._advance()
            self._publish()
        else:
            self._waits_for_grant = True

    def _pass_granted_time(self) -> None:
        for _ in range(SIMULATION.states_at_once):
            if not self._may_go_on:
                return
            self._advance()
            self._publish()

    def _stand_until_granted(self, now: float) -> None:
        if self._stands_in_time and self._may_go_on:
            self._pass_granted_time()
        elif self._command is None or now - self._last_publish_time >= SIMULATION.standing_period:
            self._publish()

    def _may_start(self, now: float) -> bool:
        """Whether no late answer is left."""
        if now - self._last_command_time < SIMULATION.silence_before_start:
            return False
        latest = SIMULATION.command_timeout if self._is_paced else SIMULATION.latest_answer
        is_answered = self._is_answered or now - self._last_publish_time > latest
        return is_answered and (self._may_go_on or not self._is_paced)

    def _on_lockstep_timer(self) -> None:
        now = time.monotonic()
        if self._coasting or self._paused or self._waits_for_grant:
            return
        if self._running:
            if now - self._last_publish_time > SIMULATION.command_timeout:
                self.get_logger().error(
                    f'no command within {SIMULATION.command_timeout:g} s of the state at '
                    f'{self._stamp_nanoseconds() / NANO:.3f} s: holding the last one'
                )
                self._advance()
                self._publish()
        elif self._command is None or self._braked:
            if self._is_paced:
                self._stand_until_granted(now)
                return
            if self._time_goes_on:
                self._advance()
            self._publish()
        elif self._may_start(now):
            self._running = True
            self._advance()
            self._publish()

    def _on_coasting_timer(self) -> None:
        if self._may_go_on:
            self._advance()
            self._publish()

    def _on_real_time_timer(self) -> None:
        now = time.monotonic()
        if self._running and self._is_patient:
            # One period for an answer; time that has passed meanwhile has not for the arm.
            if self._last_command_time <= self._last_publish_time:
                self._is_patient = now - self._last_publish_time < self._patience
            else:
                self._advance()
                self._publish()
            self._wall_origin = now - self._ticks / self._rate
            return
        due = int((now - self._wall_origin) * self._rate) - self._ticks
        if due > SIMULATION.largest_catch_up * self._rate:
            self.get_logger().warning(
                f'{due / self._rate:.2f} s behind real time: skipped',
                throttle_duration_sec=SIMULATION.warning_period,
            )
            skipped = due - 1
            self._wall_origin += skipped / self._rate
            self._origin += round(skipped * NANO / self._rate)
            due = 1
        if due < 1:
            return
        self._running = self._command is not None and not self._braked
        for _ in range(due):
            self._advance()
        self._publish()

    def _advance(self) -> None:
        if self._running and self._command is not None:
            if self._free_since is None:
                self._free_since = self._ticks
            self._drive(self._command)
        else:
            self._arm.stand()
        self._ticks += 1
        loaded = self._loaded_arm
        if loaded is not None and self._time_free() >= self._pick_up:
            loaded.continue_from(self._arm)
            self._arm, self._loaded_arm = loaded, None
        self._reading = self._sense()

    def _drive(self, command: FloatArray) -> None:
        """Let the command that is due act for a period; until there is one, the first does."""
        effort = pass_on(self._under_way, command)
        self._arm.step(effort, self._ripple(self._arm, effort) if self._ripples else 0.0)

    def _sense(self) -> SensorReading | None:
        """Return what the sensors say, once a period; None where they are exact."""
        if not self._sensors:
            return None
        arm = self._arm
        reading = SensorReading(arm.time, arm.position, arm.velocity, None, None, '')
        for sensor in self._sensors:
            reading = sensor(reading)
        return reading

    def _time_free(self) -> float:
        """Return the time since the brakes were released [s]; below 0 before."""
        if self._free_since is None:
            return -1.0
        return (self._ticks - self._free_since) / self._rate

    # -- state out --------------------------------------------------------------------------

    def _stamp_nanoseconds(self) -> int:
        return self._origin + round(self._ticks * NANO / self._rate)

    def _publish(self) -> None:
        self._is_answered = False
        seconds, nanoseconds = divmod(self._stamp_nanoseconds(), NANO)
        stamp = Time(sec=seconds, nanosec=nanoseconds)
        if self._clock_publisher is not None:
            self._clock_publisher.publish(Clock(clock=stamp))
        silent = self._dropout.silent_topics(self._time_free())
        if self._imu_publisher is not None and 'imu' not in silent:
            self._publish_imu(stamp)
        if self._wrench_publisher is not None and 'wrench' not in silent:
            # Before the joint state: a controller that answers the state has its wrench then.
            reading = (self._wrench_sign * self._arm.wrench).tolist()
            self._wrench.header.stamp = stamp
            force, torque = self._wrench.wrench.force, self._wrench.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = reading
            self._wrench_publisher.publish(self._wrench)
        state = self._joint_state
        state.header.stamp = stamp
        state.position = array.array('d', self._arm.position.tobytes())
        state.velocity = array.array('d', self._arm.velocity.tobytes())
        state.effort = array.array('d', self._arm.effort.tobytes())
        if self._truth_publisher.get_subscription_count():
            self._truth_publisher.publish(state)
        reading = self._reading
        if reading is not None and reading.velocity is not None:
            state.position = array.array('d', reading.position.tobytes())
            state.velocity = array.array('d', reading.velocity.tobytes())
        if self._hidden is not None:
            self._misreport(state, self._hidden)
        if 'joint_states' not in silent:
            self._joint_state_publisher.publish(state)
        elif self._lockstep and self._running and not self._coasting:
            # Nobody can answer: go on by itself.
            self._coasting = True
            self._answers = 0
            self._coasting_timer.reset()
        self._last_publish_time = time.monotonic()

    def _misreport(self, state: JointState, hidden: HiddenErrors) -> None:
        """Put in place of efforts and velocities what the arm's driver has for them."""
        arm = self._arm
        effort = hidden.reported_effort(arm.robot.joint_names, arm.effort, arm.gravity_effort())
        state.effort = array.array('d', effort.tobytes())
        if not hidden.reports_velocity:
            state.velocity = array.array('d')

    def _publish_imu(self, stamp: Time) -> None:
        reading = self._arm.imu
        message = self._imu
        message.header.stamp = stamp
        if self._knows_orientation:
            quaternion = message.orientation
            quaternion.x, quaternion.y, quaternion.z, quaternion.w = reading.orientation.tolist()
        rate, force = message.angular_velocity, message.linear_acceleration
        rate.x, rate.y, rate.z = reading.angular_velocity.tolist()
        force.x, force.y, force.z = reading.specific_force.tolist()
        assert self._imu_publisher is not None  # the caller looked
        self._imu_publisher.publish(message)


@dataclass(eq=False)
class _Dropout:
    """Which topics are silent, and when.

    Attributes
    ----------
    topics : tuple of str
    start, end : float
        After the brakes were released [s].
    is_asked_for : bool
        By the service, whatever the time.
    """

    topics: tuple[str, ...]
    start: float
    end: float
    is_asked_for: bool = False

    @classmethod
    def of(cls, settings: DropoutSettings) -> _Dropout:
        topics = settings.topics or DROPPABLE[:1]
        for topic in topics:
            if topic not in DROPPABLE:
                raise ParameterError(
                    f'dropout.topics: expected of {", ".join(DROPPABLE)}, got {topic!r}'
                )
        return cls(topics, settings.start, settings.start + settings.duration)

    def silent_topics(self, now: float) -> tuple[str, ...]:
        """Return what is silent at a time after the brakes were released [s]."""
        return self.topics if self.is_asked_for or self.start <= now < self.end else ()


def _load(settings: SimulatedRobotSettings) -> tuple[Robot, str]:
    """Read the model: (robot, URDF text or '')."""
    selection: dict[str, Any] = {
        'base_link': settings.base_link or None,
        'tip_link': settings.tip_link or None,
        'locked_joints': settings.locked_joints.by_name(),
    }
    if settings.model_file:
        robot = load_model(settings.model_file, **selection)
        text = Path(settings.model_file).read_text(encoding='utf-8')
        return robot, text if text.lstrip().startswith('<') else ''
    if settings.robot_description:
        return load_urdf(settings.robot_description, **selection), settings.robot_description
    raise ParameterError(
        'model_file, robot_description: expected one of them, got two empty strings'
    )


def _build(
    robot: Robot, settings: SimulatedRobotSettings
) -> tuple[MujocoArm, MujocoArm | None, FloatArray]:
    """Return the arm under brakes, what it becomes on picking up the load, and its position."""
    if settings.substeps != round(settings.substeps):
        raise ParameterError(f'substeps: expected a whole number, got {settings.substeps}')
    error = settings.model_error
    simulated = scale_friction(scale_masses(robot, error.mass_scale), error.friction_scale)
    if error.frictionless:
        simulated = simulated.without_friction()

    def arm_of(model: Robot) -> MujocoArm:
        return MujocoArm(
            model,
            gravity=settings.gravity,
            period=1.0 / settings.rate,
            substeps=round(settings.substeps),
            integrator=settings.integrator,
            sensor_link=settings.wrench.sensor_link or None,
            joint_limits=settings.joint_limits,
            base=_base_motion(settings.base),
            imu_link=settings.imu.link or None,
        )

    loaded = None
    if settings.payload.mass > 0.0:
        loaded = with_hung_mass(
            simulated, settings.payload.mass, settings.payload.com, settings.payload.link
        )
    is_picked_up = loaded is not None and settings.payload.pick_up > 0.0
    arm = arm_of(simulated if loaded is None or is_picked_up else loaded)
    position = (
        np.array(settings.initial_position)
        if settings.initial_position
        else initial_position_within_limits(robot)
    )
    if position.shape != (robot.n,):
        raise ParameterError(
            f'initial_position: expected {robot.n} numbers, one for each of '
            f'{", ".join(robot.joint_names)}, got {position.size}'
        )
    arm.reset(position)
    return arm, arm_of(loaded) if loaded is not None and is_picked_up else None, position


def _sensors(settings: DriveSettings, bits: float) -> list[Sensor]:
    """Return what joint positions and velocities go through."""
    if bits != round(bits):
        raise ParameterError(f'drive.encoder_bits: expected a whole number, got {bits}')
    sensors = [encoder(round(bits))] if bits else []
    if settings.velocity_cutoff > 0.0:
        sensors.append(differenced_velocity(settings.velocity_cutoff))
    return sensors


def _base_motion(settings: BaseSettings) -> BaseMotion:
    return BaseMotion.from_rpy(
        settings.orientation,
        Oscillation.along(settings.sway.axis, settings.sway.amplitude, settings.sway.frequency),
        Oscillation.about(
            settings.rocking.axis,
            settings.rocking.amplitude,
            settings.rocking.frequency,
            settings.rocking.center,
        ),
    )


def _command_order(robot: Robot, names: Sequence[str]) -> FloatArray:
    """Return for each entry of a command the joint it belongs to."""
    ordered = tuple(names) or robot.joint_names
    if sorted(ordered) != sorted(robot.joint_names):
        raise ParameterError(
            f'joints: expected each of {", ".join(robot.joint_names)} once, '
            f'got {", ".join(ordered)}'
        )
    return np.array([robot.joint_names.index(name) for name in ordered], dtype=np.intp)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted or shut down.

    SIGINT and SIGTERM are ignored from then on, to the end of the process.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line, with ``--ros-args``; default: that of the process.

    Returns
    -------
    int
        Exit code: 0 when stopped from outside, 1 when the model, a parameter or the physics
        made it impossible to go on (the message is on stderr). Arguments that are not for ROS exit
        with 2 on the spot.
    """
    check_arguments('simulated_robot', 'A MuJoCo arm behind the topics of a real one.', arguments)
    with stop_on_signals() as stop:
        executor: SingleThreadedExecutor | None = None
        node: SimulatedRobot | None = None
        try:
            start_rclpy(arguments)
            with readable_parameters():
                node = SimulatedRobot()
            stop.wake(node)
            executor = make_executor(node, node.prompt_subscriptions)
            while not stop.is_set():
                executor.spin_once()
        except ExternalShutdownException:
            pass
        except NeDynamicsError as failure:
            print_lines([f'simulated_robot: {failure}'], sys.stderr)
            return 1
        finally:
            stop.forget_node()
            if executor is not None:
                executor.shutdown()
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
