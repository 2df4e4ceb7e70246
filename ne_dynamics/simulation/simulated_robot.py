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

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ne_dynamics.errors import InputError, NeDynamicsError, ParameterError, optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import NANO
from ne_dynamics.printable import print_lines
from ne_dynamics.ros import stop_on_signals
from ne_dynamics.simulation.friction_levels import is_left_out
from ne_dynamics.simulation.robot_parameters import PARAMETERS
from ne_dynamics.simulation.simulated_arm import EffortCommand, SimulatedArm, read_model
from ne_dynamics.simulation.state_topics import RELIABLE, StateTopics
from ne_dynamics.simulation.thresholds import SIMULATION

with optional_dependency('the simulated robot needs ROS 2 for Python', 'ros'):
    import rclpy
    from builtin_interfaces.msg import Time
    from rclpy.clock import Clock as NodeClock
    from rclpy.clock import ClockType
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.node import Node
    from std_msgs.msg import Float64MultiArray
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
        robot, urdf = read_model(settings)
        self._arm = SimulatedArm(robot, settings)
        self._effort_command = EffortCommand(robot, settings.joints, settings.saturate_effort)
        self._settings = settings
        settings.check()
        self._rate = settings.rate
        self._is_dropped = False
        self._granted = 0
        # A command has come, and time for the period in which it acts has not.
        self._waits_for_grant = False
        self._is_answered = False
        self._is_patient = settings.patience > 0.0
        self._braked = settings.brake
        self._pauses = list(settings.pause_at)
        self._paused = False
        self._command: FloatArray | None = None
        self._running = False
        # In lockstep, from a silence of joint_states to the first answer after it.
        self._coasting = False
        self._answers = 0
        self._ticks = 0
        self._free_since: int | None = None
        self._last_command_time = self._last_publish_time = time.monotonic()
        self._topics = StateTopics(self, robot, urdf, settings)
        self._listen()
        simulated_time = settings.lockstep or settings.publish_clock
        self._origin = FIRST_STAMP if simulated_time else self.get_clock().now().nanoseconds
        self._wall_origin = time.monotonic()
        self._start_timers()
        self._report_start(robot)

    def _listen(self) -> None:
        """Take commands and calls of services from now on."""
        if self._braked:
            self.create_service(Trigger, '~/release_brake', self._on_release_brake)
            self.create_service(Trigger, '~/engage_brake', self._on_engage_brake)
        self.create_service(SetBool, '~/drop', self._on_drop)
        self.create_service(Trigger, '~/resume', self._on_resume)
        self._commands = self.create_subscription(
            Float64MultiArray, 'effort_controller/commands', self._on_command, RELIABLE
        )
        if self._settings.paced:
            self.create_subscription(Time, '~/run_until', self._on_run_until, LATCHED)

    def _start_timers(self) -> None:
        if not self._settings.lockstep:
            self._timer = self._wall_timer(1.0 / self._rate, self._on_real_time_timer)
            return
        # The wall's clock: with `use_sim_time` the node's own would wait for itself.
        coasting_period = 1.0 / (SIMULATION.coasting_pace * self._rate)
        period = SIMULATION.republish_period
        if self._settings.time_under_brakes and not self._settings.paced:
            period = min(period, coasting_period)
        self._timer = self._wall_timer(period, self._on_lockstep_timer)
        self._coasting_timer = self._wall_timer(coasting_period, self._on_coasting_timer)
        self._coasting_timer.cancel()

    def _report_start(self, robot: Robot) -> None:
        self.get_logger().info(
            f'simulating {robot.name!r}: joints {", ".join(robot.joint_names)}; '
            f'{"lockstep" if self._settings.lockstep else "real time"} at {self._rate:g} Hz; '
            'brakes hold '
            f'at {np.round(self._arm.mujoco.position, 4).tolist()} until '
            f'{"~/release_brake and " if self._braked else ""}the first command'
        )
        more = [joint.name for joint in robot.joints if is_left_out(joint.friction)]
        if more:
            self.get_logger().warning(
                'simulated without the friction of the load, the square root and the cube of the '
                f'velocity: {", ".join(more)}'
            )

    def low_latency_subscriptions(self) -> tuple[Any, ...]:
        """Return what is answered without detours."""
        return (self._commands,)

    def _wall_timer(self, period: float, callback: Callable[[], None]) -> Any:
        return self.create_timer(
            period, callback, clock=NodeClock(clock_type=ClockType.STEADY_TIME)
        )

    # -- commands in ------------------------------------------------------------------------

    def _on_command(self, message: Float64MultiArray) -> None:
        try:
            self._command = self._effort_command.read(message.data)
        except InputError as refusal:
            self.get_logger().warning(
                f'effort_controller/commands dropped: data: {refusal}',
                throttle_duration_sec=5.0,
            )
            return
        self._last_command_time = time.monotonic()
        self._is_answered = True
        self._is_patient = self._settings.patience > 0.0
        if not (self._settings.lockstep and self._running):
            return
        if not self._coasting:
            if self._pauses and self._time_free() >= self._pauses[0]:
                self._paused = True
                return
            self._go_on()
        elif 'joint_states' not in self._silent_topics():
            self._answers += 1
            if self._answers >= SIMULATION.answers_to_resume:
                # Somebody answers again: let what else is on its way arrive.
                self._coasting_timer.cancel()
                self._coasting = self._running = False

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
        self._is_dropped = request.data
        response.success = True
        response.message = f'{", ".join(self._settings.dropout.silenced)}: ' + (
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
        self._arm.engage_brakes(self._running)
        self._running = self._coasting = False
        if self._settings.lockstep:
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
        return not self._settings.paced or self._stamp_nanoseconds() < self._granted

    @property
    def _stands_in_time(self) -> bool:
        """Whether the brakes hold the arm while time goes on."""
        is_held = not self._running and (self._command is None or self._braked)
        return is_held and self._settings.time_under_brakes

    def _go_on(self) -> None:
        """Advance by a period, now or when it is granted."""
        if self._may_go_on:
            self._step()
        else:
            self._waits_for_grant = True

    def _pass_granted_time(self) -> None:
        for _ in range(SIMULATION.states_at_once):
            if not self._may_go_on:
                return
            self._step()

    def _stand_until_granted(self, now: float) -> None:
        if self._stands_in_time and self._may_go_on:
            self._pass_granted_time()
        elif self._command is None or now - self._last_publish_time >= SIMULATION.standing_period:
            self._publish()

    def _may_start(self, now: float) -> bool:
        """Whether no late answer is left."""
        if now - self._last_command_time < SIMULATION.silence_before_start:
            return False
        latest = SIMULATION.command_timeout if self._settings.paced else SIMULATION.latest_answer
        is_answered = self._is_answered or now - self._last_publish_time > latest
        return is_answered and (self._may_go_on or not self._settings.paced)

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
                self._step()
        elif self._command is None or self._braked:
            if self._settings.paced:
                self._stand_until_granted(now)
                return
            if self._settings.time_under_brakes:
                self._advance()
            self._publish()
        elif self._may_start(now):
            self._running = True
            self._step()

    def _on_coasting_timer(self) -> None:
        if self._may_go_on:
            self._step()

    def _on_real_time_timer(self) -> None:
        now = time.monotonic()
        if self._running and self._is_patient:
            # One period for an answer; time that has passed meanwhile has not for the arm.
            if self._last_command_time <= self._last_publish_time:
                self._is_patient = now - self._last_publish_time < self._settings.patience
            else:
                self._step()
            self._wall_origin = now - self._ticks / self._rate
            return
        due = int((now - self._wall_origin) * self._rate) - self._ticks
        if due > SIMULATION.largest_catch_up * self._rate:
            self.get_logger().warning(
                f'{due / self._rate:.2f} s behind real time: skipped',
                throttle_duration_sec=5.0,
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

    def _step(self) -> None:
        self._advance()
        self._publish()

    def _advance(self) -> None:
        if self._running and self._command is not None:
            if self._free_since is None:
                self._free_since = self._ticks
            self._arm.drive(self._command)
        else:
            self._arm.stand()
        self._ticks += 1
        self._arm.measure(self._time_free())

    def _silent_topics(self) -> tuple[str, ...]:
        dropout = self._settings.dropout
        return dropout.silenced if self._is_dropped or dropout.is_due(self._time_free()) else ()

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
        silent = self._silent_topics()
        self._topics.publish(stamp, self._arm, silent)
        runs_in_lockstep = self._settings.lockstep and self._running
        if 'joint_states' in silent and runs_in_lockstep and not self._coasting:
            # Nobody can answer: go on by itself.
            self._coasting = True
            self._answers = 0
            self._coasting_timer.reset()
        self._last_publish_time = time.monotonic()


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
            executor = make_executor(node, node.low_latency_subscriptions)
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
