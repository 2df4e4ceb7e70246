"""An arm and the node that moves it, over ROS 2, as one who uses both sees them.

The node `computed_torque` is started here, with a parameter file of its own for every purpose; it
is sent trajectories by topic, asked to hold by its service, and watched by its diagnostics. Time
is that of the joint states' stamps. The arm is whoever publishes `joint_states` and listens to
`effort_controller/commands`. A simulated one waits for this process (:mod:`.pace`): its time
passes in :meth:`LiveArm.pass_time` and where a motion is stopped, and stands still otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ne_dynamics.commission.arm.faults import ArmFault, LostArm
from ne_dynamics.commission.arm.held_arm import HeldAnswer, HeldArm, Progress, StateCheck
from ne_dynamics.commission.arm.pace import MotionPace
from ne_dynamics.commission.arm.signal_masking import in_one_piece, say_to_terminal
from ne_dynamics.commission.arm.watchdog import Watchdog
from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.control import FaultKind
from ne_dynamics.errors import optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion import NANO
from ne_dynamics.simulation.demo.ros_process import (
    NODE_MODULE,
    NODE_NAME,
    ROBOT_NAME,
    RosProcess,
    RosProcesses,
)

with optional_dependency('a commissioning run needs ROS 2 for Python', 'ros'):
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.clock import Clock, ClockType
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.ros import JointStateReader, MessageError, make_executor
    from ne_dynamics.simulation.demo.node_messages import (
        RECORDING,
        RELIABLE,
        parameters_request,
        read_stamp,
        trajectory_message,
    )

COMMANDS = 'effort_controller/commands'


ERROR = 2
"""Level of a diagnostic."""

OF_STATES = (
    FaultKind.STOPPED.value,
    FaultKind.JUMPED.value,
    FaultKind.FROZEN.value,
    FaultKind.BACKWARDS.value,
    FaultKind.GAP.value,
)
"""Faults that the node reports of the states themselves, whatever motion it follows."""

HEARING_ALL = QoSProfile(depth=20000, reliability=ReliabilityPolicy.BEST_EFFORT)


class LiveArm(HeldArm):
    """See the module's docstring.

    Attributes
    ----------
    node : rclpy.node.Node
    """

    def connect(
        self,
        context: Any,
        namespace: str,
        processes: RosProcesses,
        watchdog: Watchdog,
        granted_rate: float | None = None,
    ) -> None:
        """Begin to listen, in the namespace of arm and node.

        The watchdog ends the processes, the node among them, when this one is killed. The rate
        is that of a simulated arm that waits for commands, and for this process [Hz].
        """
        is_lockstep = granted_rate is not None
        self._processes = processes
        self._watchdog = watchdog
        self._orders: dict[tuple[str, ...], list[int]] = {}
        self._reader = JointStateReader(self.joint_names)
        self._unusable = ''
        # Stamps of states that were answered, which nobody has looked at; the last of all.
        self._to_compare: list[int] = []
        self._answered = 0
        self._heard_at = time.monotonic()
        self._fault = ''
        self._longest_silence = ARM.silence_in_lockstep if is_lockstep else ARM.silence
        self._is_watched = False
        self._controller: RosProcess | None = None
        self._own: set[bytes] = set()
        self._looked_for_others = 0.0
        self.node = rclpy.create_node(
            'commission', namespace=namespace, context=context, start_parameter_services=False
        )
        subscribe = self.node.create_subscription
        quality = RECORDING if is_lockstep else HEARING_ALL
        self._low_latency = low_latency = (
            subscribe(JointState, 'joint_states', self._on_state, quality),
            subscribe(JointState, f'{NODE_NAME}/effort', self._on_answer, RECORDING),
        )
        subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, RELIABLE)
        self._publisher = self.node.create_publisher(JointTrajectory, 'joint_trajectory', RELIABLE)
        self._holder = self.node.create_client(Trigger, f'{NODE_NAME}/hold')
        self._setter = self.node.create_client(
            SetParametersAtomically, f'{NODE_NAME}/set_parameters_atomically'
        )
        # So that whoever waits for a state looks around when none comes.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(0.1, lambda: None, clock=steady)
        self._executor = make_executor(self.node, lambda: low_latency)
        self._pace = MotionPace(self.node, granted_rate)
        self._status_name = f'{self.node.get_namespace().rstrip("/")}/{NODE_NAME}'

    def disconnect(self) -> None:
        """Listen no more."""
        self._executor.shutdown()
        self.node.destroy_node()

    # -- what is heard ----------------------------------------------------------------------

    def _on_state(self, message: JointState) -> None:
        stamp = read_stamp(message)
        try:
            self._reader.read(message)
            self._require_later(stamp)
        except MessageError as error:
            # Of a gripper, for instance: what others report says nothing of this arm.
            self._unusable = str(error)
            return
        self._unusable = ''
        rows = (self._arrange(message, key) for key in ('position', 'velocity', 'effort'))
        self._hear(stamp, time.monotonic_ns(), *rows)
        self._heard_at = time.monotonic()
        self._note_answered(stamp)

    def _require_later(self, stamp: int) -> None:
        if stamp <= self._newest:
            got = f'{stamp / NANO:.9g} s'
            wanted = f'later than {self.now:.9g} s' if self._newest else 'the time of the state'
            raise MessageError('header.stamp', f'expected {wanted}, got {got}')

    def _on_answer(self, message: JointState) -> None:
        stamp = read_stamp(message)
        self._answers[stamp] = HeldAnswer(
            self._arrange(message, 'effort'), self._arrange(message, 'position')
        )
        self._note_answered(stamp)

    def _note_answered(self, stamp: int) -> None:
        if stamp > self._answered and stamp in self._states and stamp in self._answers:
            self._answered = stamp
            self._to_compare.append(stamp)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = status.level if isinstance(status.level, int) else ord(status.level)
            if status.name.lstrip('/') == self._status_name.lstrip('/') and level >= ERROR:
                self._fault = self._fault or status.message

    def _arrange(self, message: JointState, key: str) -> FloatArray:
        """Return values in the order of the joints; NaN where there are none."""
        values, names = getattr(message, key), tuple(message.name)
        if len(values) != len(names):
            return np.full(len(self.joint_names), np.nan)
        if names not in self._orders:
            self._orders[names] = [names.index(name) for name in self.joint_names]
        arranged: FloatArray = np.asarray(values, dtype=np.float64)[self._orders[names]]
        return arranged

    def forget(self) -> None:
        """Forget the states before the newest."""
        super().forget()
        self._to_compare = []

    def catch_up(self) -> None:
        """Read what waits: while an operator is asked that becomes a lot."""
        for subscription in self._low_latency:
            handle, kind = subscription.handle, subscription.msg_type
            with in_one_piece(), handle:
                while (taken := handle.take_message(kind, False)) is not None:
                    subscription.callback(taken[0])

    # -- time -------------------------------------------------------------------------------

    def spin(self, seconds: float) -> None:
        """Let real time pass [s]."""
        self._spin_until(lambda: False, seconds)

    def _turn(self, longest: float | None = None) -> None:
        """Serve what is ready next, and wait for it, so long at most [s]."""
        with in_one_piece():
            self._executor.spin_once(longest)

    def _spin_until(
        self,
        condition: Callable[[], Any],
        patience: float = 2.0,
        turn: Callable[[], object] = lambda: None,
    ) -> bool:
        """Wait in real time for something to come about, so long at most [s]; return whether."""
        deadline = time.monotonic() + patience
        while not condition():
            if (left := deadline - time.monotonic()) <= 0.0:
                return False
            turn()
            self._turn(min(left, 0.05))
        return True

    def wait(
        self,
        condition: Callable[[], Any],
        what: str,
        patience: float = 60.0,
        needs_node: bool = True,
    ) -> None:
        """Wait in real time for something to come about, so long at most [s].

        Parameters are `what`, for the message, and whether it needs a node that has not ended.

        Raises
        ------
        ArmFault
            When it does not.
        """
        controller = self._controller if needs_node else None

        def look() -> None:
            self._require_simulated_arm()
            if controller is not None and not controller.is_alive:
                raise LostArm(f'the node ended while waiting for {what}{_told_end(controller)}')

        if not self._spin_until(condition, patience, look):
            raise LostArm(f'{what}: nothing within {patience:g} s')

    def wait_for_state(self, patience: float) -> None:
        """Wait for a state that can be used, in real time [s]; say what is wrong with others."""
        try:
            self.wait(
                lambda: self._newest, f'joint_states of {", ".join(self.joint_names)}', patience
            )
        except LostArm as error:
            raise LostArm(f'{error}{self._what_came}') from error

    @property
    def _what_came(self) -> str:
        """What is wrong with the states that come, for the end of a message."""
        return f'; what came cannot be used: {self._unusable}' if self._unusable else ''

    def pass_time(
        self, until: float, progress: Progress | None = None, check: StateCheck | None = None
    ) -> None:
        """Let the arm's time go on until a stamp [s]; see :meth:`HeldArm.pass_time`.

        An arm that waits goes no farther before a state was checked.
        """
        self._heard_at = time.monotonic()
        goal = round(until * NANO)
        self._pace.go_on(self._reached, goal)
        while self._reached < goal:
            if not self._is_answered:
                self._pace.go_on(self._newest, goal)
            with in_one_piece():
                self._turn()
                self._look()
                self._check_each(check, goal)
            if progress is not None:
                progress(self.now)

    @property
    def _reached(self) -> int:
        """Stamp up to which everything is read that comes of an arm that waits [ns]."""
        return self._answered if self._is_answered else self._newest

    @property
    def _is_answered(self) -> bool:
        """Whether an arm waits, and for a node."""
        return self._pace.is_granted and self._controller is not None

    def _check_each(self, check: StateCheck | None, goal: int) -> None:
        stamps, self._to_compare = self._to_compare, []
        for stamp in stamps:
            if check is not None:
                check(stamp)
            self._pace.go_on(stamp, goal)

    def _require_simulated_arm(self) -> None:
        """Raise when the process of a simulated arm has ended by itself."""
        for process in self._processes.all:
            if process.name == ROBOT_NAME and process.is_expected and not process.is_alive:
                raise LostArm(f'the simulated arm ended{_told_end(process)}')

    def _look(self) -> None:
        self._require_simulated_arm()
        if time.monotonic() - self._heard_at > self._longest_silence:
            raise LostArm(f'no joint_states for {self._longest_silence:g} s{self._what_came}')
        if self._controller is not None and not self._controller.is_alive:
            raise LostArm(f'the node ended{_told_end(self._controller)}')
        if self._is_watched and self._fault:
            kind = LostArm if self._fault.startswith(OF_STATES) else ArmFault
            raise kind(f'the node reports: {self._fault}')
        if self._is_watched and time.monotonic() > self._looked_for_others + ARM.others_period:
            self._looked_for_others = time.monotonic()
            if others := self._others():
                raise LostArm(f'{COMMANDS}: somebody else commands the arm: {_names(others)}')

    def _await_fault(self) -> None:
        # The node reports once a second.
        self._spin_until(lambda: self._fault, 3.0)
        self._look()

    # -- the node ---------------------------------------------------------------------------

    def start_node(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Start the node with parameters, and wait until it answers states.

        It is an error when somebody else commands the arm.
        """
        # Nor beside another node: of a run that was killed, for instance.
        self.require_only_run()
        if others := self._others():
            raise LostArm(
                f'{COMMANDS}: expected nobody who commands the arm, got {_names(others)}: end it '
                'first, with the brakes engaged'
            )
        self._fault, self._is_watched = '', False
        # A node that nobody knows of would hold the arm for ever.
        with in_one_piece():
            self._controller = self._processes.start(name, NODE_MODULE, dict(parameters))
            self.guard_processes()
        self._answers, self._to_compare, self._answered = {}, [], 0
        self.wait(lambda: self._answers, 'the first command of the node')
        self.wait(self._others, f'the node on {COMMANDS}')
        others = self._others()
        if len(others) > 1:
            raise LostArm(f'{COMMANDS}: somebody else commands the arm too: {_names(others)}')
        # One that was killed is known for a while when it is there no more.
        self._own |= {bytes(each.endpoint_gid) for each in others}
        self.wait(lambda: self._publisher.get_subscription_count() > 0, 'joint_trajectory')
        self.wait(self._holder.service_is_ready, f'{NODE_NAME}/hold')
        self.wait(self._setter.service_is_ready, f'{NODE_NAME}/set_parameters_atomically')
        self.spin(0.2)

    def require_only_run(self) -> None:
        """Refuse an arm that is there and that another run commissions."""
        if self._pace.is_granted:
            return
        own = self.node.get_name(), self.node.get_namespace()
        with in_one_piece():
            runs = self.node.get_node_names_and_namespaces().count(own)
        if runs > 1:
            raise LostArm(
                f'{own[1].rstrip("/")}/{own[0]}: expected no other run on this arm, got '
                f'{runs - 1}; one that was killed is known for up to half a minute'
            )

    def _others(self) -> Sequence[Any]:
        """Return who commands the arm, and was not started here and known before."""
        topic = self.node.resolve_topic_name(COMMANDS)
        with in_one_piece():
            found: Sequence[Any] = self.node.get_publishers_info_by_topic(topic)
        return [each for each in found if bytes(each.endpoint_gid) not in self._own]

    def guard_processes(self) -> None:
        """Tell the watchdog which processes there are: the newest is the node, if it runs."""
        alive = [item.child.pid for item in self._processes.all if item.is_alive]
        self._watchdog.guard(reversed(alive))

    def watch(self) -> None:
        """From now on a fault of the node raises, and so it is while time passes."""
        self._fault, self._is_watched = '', True

    def end_node(self) -> None:
        """End the node; it sends its last command first."""
        controller, self._controller = self._controller, None
        self._is_watched = False
        if controller is not None and controller.is_alive:
            controller.send(2)
            controller.wait()
            self.guard_processes()

    def hold_on(self, longest: float) -> None:
        """Let the node hold the arm for a time, or until somebody ends it [s]."""
        controller = self._controller
        if controller is None:
            return
        say_to_terminal(
            f'nobody answers: the node holds the arm for {longest:g} s, then it ends: engage the '
            f'brakes or support the arm; `kill -INT {controller.child.pid}` ends it before'
        )
        self._spin_until(lambda: not controller.is_alive, longest)

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the node; see :meth:`HeldArm.set_parameters`."""
        with in_one_piece():
            answer = self._setter.call_async(parameters_request(values))
        self.wait(answer.done, f'{NODE_NAME}/set_parameters_atomically')
        result = answer.result().result
        if not result.successful:
            raise ArmFault(f'the node refused a setting: {result.reason}')

    @property
    def _has_node(self) -> bool:
        return self._controller is not None and self._controller.is_alive

    def let_float(self) -> None:
        """Let the node carry the arm's weight, without feedback; no error when it does not."""
        if not self._has_node:
            return
        answer = self._setter.call_async(parameters_request({'mode': 'gravity_compensation'}))
        self._spin_until(answer.done)

    def hold(self) -> None:
        """Ask the node to stop along its motion and hold; no error when it does not answer."""
        if not self._has_node:
            return
        # By the way of the motions too: one that is late comes before it.
        self._publisher.publish(JointTrajectory())
        # An arm that waits is asked where it stands: at the same state in every run.
        self._spin_until(lambda: self._newest >= self._pace.granted)
        answer = self._holder.call_async(Trigger.Request())
        self._spin_until(answer.done)
        stopping_time = 0.3  # for which the node is left alone
        if self._pace.is_granted:
            goal = self._newest + round(stopping_time * NANO)
            self._spin_until(
                lambda: self._reached >= goal,
                turn=lambda: self._pace.go_on(self._reached, goal),
            )
        else:
            self.spin(stopping_time)

    def _send(self, motion: PlannedMotion) -> float:
        rows = zip(
            motion.times, motion.positions, motion.velocities, motion.accelerations, strict=True
        )
        message = trajectory_message(self.joint_names, rows)
        # Last of all: what took time before must not make it late.
        self.catch_up()
        start = self._newest + round(ARM.lead * NANO)
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = divmod(start, NANO)
        self._to_compare.clear()
        with in_one_piece():
            self._publisher.publish(message)
        self.catch_up()
        if self._newest >= start:
            raise LostArm(
                f'the motion was sent {(self._newest - start) / NANO:.2g} s after the '
                'state with which it was to begin: this process was stopped meanwhile'
            )
        return start / NANO

    def _tell_node(self) -> str:
        return '' if self._controller is None else self._controller.tail(4)


def _told_end(process: RosProcess) -> str:
    """Return with what a process has ended, and what it said last; a signal is a number < 0."""
    return f' with exit code {process.child.poll()}: {process.tail(5)}'


def _names(endpoints: Sequence[Any]) -> str:
    names = {f'{each.node_namespace}/{each.node_name}' for each in endpoints}
    return ', '.join(sorted(name.replace('//', '/') for name in names))
