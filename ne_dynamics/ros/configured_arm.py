"""The configured arm: what there is of it between configuring the node and cleaning it up.

It listens, asks the controller, and commands. While it is not commanding it only takes note of
the states. A message that cannot be used is dropped and reported: nothing is patched, the last
good state stays, and no command comes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.duration import Duration

from ne_dynamics.control.desired.feasibility_checker import Pause, go_on
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tuning import LastCommand, Tuning
from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.connections import Connections
from ne_dynamics.ros.joint_states import JointStateTopic
from ne_dynamics.ros.joint_trajectory import JointTrajectoryTopic
from ne_dynamics.ros.leaving_command import LeavingCommand
from ne_dynamics.ros.messages.command_message import make_command_message
from ne_dynamics.ros.sensor_topics import SensorTopics
from ne_dynamics.ros.settings.parameters import NodeSettings
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching.measured_motion import MeasuredMotion
from ne_dynamics.ros.watching.other_commanders import OtherCommanders
from ne_dynamics.ros.watching.weight_watch import WeightWatch
from ne_dynamics.ros.watching.wrench_sign import WrenchSignWatch

LAST_COMMAND_WORDS = {
    LastCommand.GRAVITY: 'the last command is against gravity, and no brake',
    LastCommand.ZERO: 'the last command was zero: nothing holds the arm',
    LastCommand.NONE: 'no last command: effort controllers keep the one before',
}

LOWERED_WORDS = 'the arm was being lowered: the effort stays at its present value'

DRIVES_CLOSE_LOOP_WORDS = {
    LastCommand.GRAVITY: 'the drives hold the arm where its desired motion came to rest',
    LastCommand.ZERO: 'the last effort was zero: the drives hold the arm by their gains alone',
    LastCommand.NONE: 'no last command: the drives keep the one before, and its velocity',
}


class ConfiguredArm:
    """One arm with its controller, its topics and its watchdog.

    Parameters
    ----------
    context : ArmContext
    steady_clock : rclpy.clock.Clock
        The watchdog's, where time is not simulated.
    on_refused : callable
        Called when the first state has shown that the arm must not be commanded.

    Attributes
    ----------
    states : JointStateTopic
        What answers the states.
    motion : JointTrajectoryTopic
        What is followed, and what is planned.
    measured_motion : MeasuredMotion
        What tells the load that the arm carries.
    others : OtherCommanders
        Who else publishes commands.
    weight : WeightWatch
        What the measured efforts say of the model.
    wrench_sign : WrenchSignWatch
    refusal : str
        Why the arm was not commanded when that was asked for last; '' where it was.
    """

    def __init__(
        self, context: ArmContext, steady_clock: Any, on_refused: Callable[[], Any]
    ) -> None:
        self._context = context
        arm, controller = self.arm, self.controller = context.arm, context.controller
        self.clock, self._reporter = context.clock, context.reporter
        self._on_refused = on_refused
        self.refusal = ''
        # First of what may fail: nothing is left behind then.
        command = make_command_message(self.settings.command, arm)
        self.motion = JointTrajectoryTopic(context, lambda: self.is_commanding)
        self._sensors = SensorTopics(context)
        self.connections = connections = Connections(context, command, steady_clock)
        connections.configure_command(self.settings.command)
        self.measured_motion = MeasuredMotion(context, connections.reader)
        self.weight = WeightWatch(controller, connections.reader)
        self.wrench_sign = WrenchSignWatch(arm, controller, context.read_settings)
        self.others = OtherCommanders(context.node, connections.command_publisher)
        self._leaving = LeavingCommand(context, connections)
        self.states = JointStateTopic(
            context,
            connections,
            self.motion,
            self._leaving,
            self.weight,
            self.measured_motion,
            self._is_refused,
        )
        connections.listen(
            self.states.on_message,
            self.motion.on_message,
            self._sensors.on_wrench,
            self._sensors.on_imu,
            self.states.on_watch_timer,
            self._leaving.tick,
            self.settings.joint_states_reliability,
        )

    def destroy(self) -> None:
        """Stop listening."""
        self.states.is_commanding = False
        self.connections.destroy()
        self.motion.destroy()

    @property
    def settings(self) -> NodeSettings:
        """The settings of the node as they are now."""
        return self._context.settings

    @property
    def is_commanding(self) -> bool:
        """Whether states are answered."""
        return self.states.is_commanding

    def require_feasible(self, tuning: Tuning, pause: Pause = go_on) -> list[str]:
        """Return what is doubtful about a tuning on the arm as it is; with pauses meanwhile.

        Raises
        ------
        ParameterError
            When it cannot work, and what counts now can.
        """
        refusals, remarks = self.controller.check.check_change(tuning, pause)
        if refusals:
            raise ParameterError('; '.join(refusals))
        pause()
        return [*remarks, *self.weight.check_payload(tuning)]

    def adopt(self, tuning: Tuning) -> None:
        """Let another tuning count from the next state on."""
        was_damped = self.controller.is_damped
        self.controller.adopt(tuning)
        if was_damped and not self.controller.is_damped:
            self.states.leave_damped()
        if not tuning.mode.follows:
            # What was sent is not for the day on which it follows again.
            self.motion.planning.discard()
            self.motion.on_ended(f'mode {tuning.mode.value} follows no trajectory', True)
        self.measured_motion.adopt()
        self.connections.watch(tuning.states.timeout)
        self.connections.configure_command(self.settings.command)

    # ---- from the first command to the last

    def find_refusal(self) -> str:
        """Return why the arm must not be commanded, as far as is known; '' where it may be."""
        self.refusal = self.weight.find_refusal() or '; '.join(
            self.controller.check.check_activation()
        )
        if not self.refusal and self.settings.refuse_other_commanders:
            self.others.wait_for_discovery()
            others = self.others.find()
            if others:
                self.refusal = f'refuse_other_commanders: {self.others.describe(others)}'
        return self.refusal

    def begin_commanding(self) -> None:
        """Answer joint states from now on; the first one is the position that is held."""
        self.refusal = ''
        self.controller.reset()
        self.measured_motion.restart()
        self.weight.restart()
        self.states.begin()

    def end_commanding(self, last: LastCommand, reason: str) -> None:
        """Send a last command for the last known pose, and no more.

        `reason` is for who followed the motion.
        """
        if not self.is_commanding:
            return
        self.states.is_commanding = False
        self.motion.planning.discard()
        self.connections.stop_watch()
        self.connections.end_contact()
        self._leaving.end()
        if self._leaving.send_last(last):
            closed = self.controller.tuning.drives_close_loop
            words = (DRIVES_CLOSE_LOOP_WORDS if closed else LAST_COMMAND_WORDS)[last]
            if self.controller.machine.is_lowered and last is LastCommand.GRAVITY:
                words = LOWERED_WORDS
            self._reporter.logger.info(f'inactive; {words}')
        self.motion.end(reason)

    def wait_for_farewell(self) -> None:
        """Let the last command reach its subscribers."""
        self.connections.command_publisher.wait_for_all_acked(
            Duration(seconds=NODE.longest_farewell)
        )

    def _is_refused(self) -> bool:
        """Return whether the first state shows that no command may go out; then none does."""
        self.refusal = self.weight.find_refusal()
        if not self.refusal:
            return False
        self._reporter.logger.error(f'deactivated without a command: {self.refusal}')
        self.end_commanding(LastCommand.NONE, self.refusal)
        self._on_refused()
        return True

    def tare_wrench(self) -> str:
        """Take what the sensor reads beyond the model's load at rest; see `SensorTopics.tare`."""
        bias = self._sensors.tare()
        self.measured_motion.restart()
        return bias

    @property
    def why_not_held(self) -> str:
        """Why no position is held at present, in words; '' when one is."""
        controller = self.controller
        if not self.is_commanding:
            return 'the node is not active'
        if controller.fault is not None:
            return f'{controller.fault}; the arm is held where it is when states return'
        if controller.time is None:
            return 'no joint state yet; the arm is held at the position of the first one'
        if controller.tuning.mode is Mode.GRAVITY_COMPENSATION:
            return f'mode {controller.tuning.mode.value} holds no position'
        return ''
