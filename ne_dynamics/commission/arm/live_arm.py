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

from ne_dynamics.commission.arm.arm_session import Progress
from ne_dynamics.commission.arm.followed_plan import FollowedPlan, StrayWatch, turned
from ne_dynamics.commission.arm.guardian import Guardian
from ne_dynamics.commission.arm.pace import MotionPace
from ne_dynamics.commission.arm.undisturbed import in_one_piece, say_to_terminal
from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.control import FaultKind
from ne_dynamics.errors import NeDynamicsError, optional_dependency
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

OF_STATES = tuple(
    kind.value
    for kind in (
        FaultKind.STOPPED,
        FaultKind.JUMPED,
        FaultKind.FROZEN,
        FaultKind.BACKWARDS,
        FaultKind.GAP,
    )
)
"""Faults that the node reports of the states themselves, whatever motion it follows."""

HEARING_ALL = QoSProfile(depth=20000, reliability=ReliabilityPolicy.BEST_EFFORT)

Judge = Callable[[int], None]


class ArmFault(NeDynamicsError, RuntimeError):
    """The arm, the node or a motion is not as it should be; the message says what was seen."""


class LostArm(ArmFault):
    """States, commands or a process are not as they should be: it says nothing of a motion."""


class StrayedArm(ArmFault):
    """A joint goes away from where it is wanted: feedback that holds it would go on with that."""


class LiveArm:
    """See the module's docstring; a context manager.

    Parameters
    ----------
    context : rclpy.Context
    namespace : str
        Of arm and node.
    joint_names : tuple of str
    processes : RosProcesses
        Where the node is started.
    guardian : Guardian
        Who ends them when this process is killed.
    granted_rate : float, optional
        States a second of a simulated arm that waits for its commands, and for this process; its
        states come reliably then [Hz]. None: an arm that is there.

    Attributes
    ----------
    joint_names : tuple of str
    node : rclpy.node.Node
    receptions : list of (int, int)
        Stamp and time of reception of every state since they were forgotten [ns].
    """

    def __init__(
        self,
        context: Any,
        namespace: str,
        joint_names: tuple[str, ...],
        processes: RosProcesses,
        guardian: Guardian,
        granted_rate: float | None = None,
    ) -> None:
        is_lockstep = granted_rate is not None
        self.joint_names = joint_names
        self._processes = processes
        self._guardian = guardian
        self._states: dict[int, JointState] = {}
        self._answers: dict[int, JointState] = {}
        self.receptions: list[tuple[int, int]] = []
        self._newest = 0
        self._reader = JointStateReader(joint_names)
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
        self._prompt = prompt = (
            subscribe(
                JointState,
                'joint_states',
                self._on_state,
                RECORDING if is_lockstep else HEARING_ALL,
            ),
            subscribe(JointState, f'{NODE_NAME}/effort', self._on_answer, RECORDING),
        )
        subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, RELIABLE)
        self._publisher = self.node.create_publisher(JointTrajectory, 'joint_trajectory', RELIABLE)
        self._holder = self.node.create_client(Trigger, f'{NODE_NAME}/hold')
        self._setter = self.node.create_client(
            SetParametersAtomically, f'{NODE_NAME}/set_parameters_atomically'
        )
        # So that whoever waits for a state looks around when none comes.
        self.node.create_timer(
            ARM.look_period, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._executor = make_executor(self.node, lambda: prompt)
        self._pace = MotionPace(self.node, granted_rate)
        self._status_name = f'{self.node.get_namespace().rstrip("/")}/{NODE_NAME}'

    def __enter__(self) -> LiveArm:
        return self

    def __exit__(self, *_: object) -> None:
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
        self.receptions.append((stamp, time.monotonic_ns()))
        self._heard_at = time.monotonic()
        self._states[stamp] = message
        self._newest = stamp
        if stamp in self._answers:
            self._on_pair(stamp)

    def _require_later(self, stamp: int) -> None:
        if stamp <= self._newest:
            got = f'{stamp / NANO:.9g} s'
            wanted = f'later than {self.now:.9g} s' if self._newest else 'the time of the state'
            raise MessageError('header.stamp', f'expected {wanted}, got {got}')

    def _on_answer(self, message: JointState) -> None:
        stamp = read_stamp(message)
        self._answers[stamp] = message
        if stamp in self._states:
            self._on_pair(stamp)

    def _on_pair(self, stamp: int) -> None:
        if stamp > self._answered:
            self._answered = stamp
            self._to_compare.append(stamp)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = status.level if isinstance(status.level, int) else ord(status.level)
            if status.name.lstrip('/') == self._status_name.lstrip('/') and level >= ERROR:
                self._fault = self._fault or status.message

    @property
    def now(self) -> float:
        """Stamp of the newest state [s]."""
        return self._newest / NANO

    @property
    def position(self) -> FloatArray:
        """Reported position of the newest state [rad or m]."""
        message = self._states[self._newest]
        order = [list(message.name).index(name) for name in self.joint_names]
        return np.array(message.position)[order]

    def forget(self) -> None:
        """Forget the states before the newest."""
        newest = self._states.get(self._newest)
        self._states = {} if newest is None else {self._newest: newest}
        self._answers, self.receptions, self._to_compare = {}, [], []

    def record(self, since: float = 0.0) -> Record:
        """Return the states from a stamp on [s]."""
        stamps = sorted(stamp for stamp in self._states if stamp >= since * NANO)
        states = [self._states[stamp] for stamp in stamps]
        answers = [self._answers.get(stamp) for stamp in stamps]
        return Record(
            self.joint_names,
            np.array(stamps, dtype=np.float64) / NANO,
            self._table(states, 'position'),
            self._table(states, 'velocity'),
            self._table(states, 'effort'),
            self._table(answers, 'effort'),
            self._table(answers, 'position'),
        )

    def _table(self, messages: Sequence[JointState | None], key: str) -> FloatArray:
        table = np.full((len(messages), len(self.joint_names)), np.nan)
        orders: dict[tuple[str, ...], list[int]] = {}
        for row, message in zip(table, messages, strict=True):
            if message is None:
                continue
            values, names = getattr(message, key), tuple(message.name)
            if len(values) == len(names):
                if names not in orders:
                    orders[names] = [names.index(name) for name in self.joint_names]
                row[:] = np.asarray(values)[orders[names]]
        return table

    def catch_up(self) -> None:
        """Read what waits: while an operator is asked that becomes a lot."""
        for subscription in self._prompt:
            handle, kind = subscription.handle, subscription.msg_type
            with in_one_piece(), handle:
                while (taken := handle.take_message(kind, False)) is not None:
                    subscription.callback(taken[0])

    # -- time -------------------------------------------------------------------------------

    def spin(self, seconds: float) -> None:
        """Let real time pass [s]."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self._turn(left)

    def _turn(self, longest: float | None = None) -> None:
        """Serve what is ready next, and wait for it, so long at most [s]."""
        with in_one_piece():
            self._executor.spin_once(longest)

    def wait(
        self,
        condition: Callable[[], Any],
        what: str,
        patience: float = ARM.patience,
        needs_node: bool = True,
    ) -> None:
        """Wait in real time for something to come about, so long at most [s].

        Parameters are `what`, for the message, and whether it needs a node that has not ended.

        Raises
        ------
        ArmFault
            When it does not.
        """
        deadline = time.monotonic() + patience
        while not condition():
            self._turn(0.05)
            self._require_simulated_arm()
            controller = self._controller
            if needs_node and controller is not None and not controller.is_alive:
                raise LostArm(f'the node ended while waiting for {what}{_told_end(controller)}')
            if time.monotonic() > deadline:
                raise LostArm(f'{what}: nothing within {patience:g} s')

    def wait_for_state(self, patience: float) -> None:
        """Wait for a state that can be used, in real time [s].

        Raises
        ------
        ArmFault
            When none comes; with what is wrong with those that do.
        """
        deadline = time.monotonic() + patience
        while not self._newest:
            self._turn(ARM.look_period)
            self._require_simulated_arm()
            if time.monotonic() > deadline:
                raise LostArm(
                    f'joint_states of {", ".join(self.joint_names)}: nothing within '
                    f'{patience:g} s{self._what_came}'
                )

    @property
    def _what_came(self) -> str:
        """What is wrong with the states that come, for the end of a message."""
        return f'; what came cannot be used: {self._unusable}' if self._unusable else ''

    def pass_time(
        self, until: float, progress: Progress | None = None, judge: Judge | None = None
    ) -> None:
        """Let the arm's time go on until a stamp [s], and watch what is watched.

        Progress is told the newest stamp now and then [s]. The judge is called with the stamp of
        each state that the node has answered, in their order [ns]; an arm that waits goes no
        farther before.

        Raises
        ------
        ArmFault
            When states stop, the node has a fault, or it ended.
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
                self._judge_each(judge, goal)
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

    def _judge_each(self, judge: Judge | None, goal: int) -> None:
        stamps, self._to_compare = self._to_compare, []
        for stamp in stamps:
            if judge is not None:
                judge(stamp)
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
        """Raise the fault that the node reports in its next diagnostics, if it does."""
        deadline = time.monotonic() + ARM.fault_patience
        while not self._fault and (left := deadline - time.monotonic()) > 0.0:
            self._turn(left)
        self._look()

    # -- the node ---------------------------------------------------------------------------

    def start_node(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Start the node with parameters, and wait until it answers states.

        Raises
        ------
        ArmFault
            When it does not, or somebody else commands the arm.
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
        """Refuse an arm that is there and that another run commissions.

        Raises
        ------
        LostArm
            When there is one, or one was killed so short ago that it is still known.
        """
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
        """Tell the guardian which processes there are: the newest is the node, if it runs."""
        alive = [item.child.pid for item in self._processes.all if item.is_alive]
        self._guardian.guard(reversed(alive))

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
        deadline = time.monotonic() + longest
        while controller.is_alive and time.monotonic() < deadline:
            self.spin(ARM.look_period)

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the node.

        Raises
        ------
        ArmFault
            When it refuses.
        """
        with in_one_piece():
            answer = self._setter.call_async(parameters_request(values))
        self.wait(answer.done, f'{NODE_NAME}/set_parameters_atomically')
        result = answer.result().result
        if not result.successful:
            raise ArmFault(f'the node refused a setting: {result.reason}')

    def let_float(self) -> None:
        """Let the node carry the arm's weight, without feedback; no error when it does not."""
        if self._controller is None or not self._controller.is_alive:
            return
        answer = self._setter.call_async(parameters_request({'mode': 'gravity_compensation'}))
        self._spin_until(answer.done)

    def hold(self) -> None:
        """Ask the node to stop along its motion and hold; no error when it does not answer."""
        if self._controller is None or not self._controller.is_alive:
            return
        # By the way of the motions too: one that is late comes before it.
        self._publisher.publish(JointTrajectory())
        # An arm that waits is asked where it stands: at the same state in every run.
        self._spin_until(lambda: self._newest >= self._pace.granted)
        answer = self._holder.call_async(Trigger.Request())
        self._spin_until(answer.done)
        if self._pace.is_granted:
            goal = self._newest + round(ARM.stopping_time * NANO)
            self._spin_until(
                lambda: self._reached >= goal, lambda: self._pace.go_on(self._reached, goal)
            )
        else:
            self.spin(ARM.stopping_time)

    def _spin_until(
        self, condition: Callable[[], bool], turn: Callable[[], object] = lambda: None
    ) -> None:
        """Wait for something in real time, and let it be when it does not come about."""
        deadline = time.monotonic() + ARM.stop_patience
        while not condition() and time.monotonic() < deadline:
            turn()
            self._turn(0.05)

    def follow(
        self,
        motion: PlannedMotion,
        tolerance: FloatArray,
        progress: Progress | None = None,
        astray: FloatArray | None = None,
    ) -> Record:
        """Let the node follow a motion, and return what was heard from its begin to its end.

        It begins where the arm stands. The position error is within the tolerance, shape (n,)
        [rad or m]; progress is told the time reached [s]. A joint may go away from where it is
        wanted by as much as `astray` says, shape (n,) [rad or m], see
        :class:`~ne_dynamics.commission.arm.followed_plan.StrayWatch`.

        Raises
        ------
        ArmFault
            When the motion is not followed within the tolerance, the node aims elsewhere than
            planned, or something else is wrong; the node goes on until it is asked to hold.
        StrayedArm
            When a joint goes away from where it is wanted.
        """
        rows = zip(
            motion.times, motion.positions, motion.velocities, motion.accelerations, strict=True
        )
        start = self._send(trajectory_message(self.joint_names, rows))
        plan = FollowedPlan(self.joint_names, motion, tolerance)
        watch = None if astray is None else StrayWatch(self.joint_names, motion, astray)

        def look(now: float) -> None:
            if progress is not None:
                progress(max(now - start, 0.0))

        def judge(stamp: int) -> None:
            desired = self._table([self._answers[stamp]], 'position')[0]
            measured = self._table([self._states[stamp]], 'position')[0]
            state = stamp / NANO - start, desired, measured
            if watch is not None and (complaint := watch.complain(*state)):
                raise StrayedArm(complaint)
            if complaint := plan.complain(*state):
                if np.array_equal(desired, measured):
                    # So a node answers that damps the arm; it reports why once a second.
                    self._await_fault()
                raise ArmFault(complaint)

        self.pass_time(start + motion.duration + ARM.rest_time, look, judge)
        record = self.record(start)
        self._require_followed(record, motion)
        return record

    def _send(self, message: JointTrajectory) -> float:
        """Send a motion that begins in a while by the newest state, and return when [s]."""
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

    def _require_followed(self, record: Record, motion: PlannedMotion) -> None:
        known = np.isfinite(record.desired).all(axis=1)
        if not known.any():
            raise ArmFault('the node has answered no state of the motion')
        last = record.desired[known][-1]
        if np.abs(turned(last - motion.positions[-1])).max() > 1e-3:
            told = '' if self._controller is None else self._controller.tail(4)
            raise ArmFault(f'the node did not follow the motion to its end: {told}')


def _told_end(process: RosProcess) -> str:
    """Return with what a process has ended, and what it said last; a signal is a number < 0."""
    return f' with exit code {process.child.poll()}: {process.tail(5)}'


def _names(endpoints: Sequence[Any]) -> str:
    names = {f'{each.node_namespace}/{each.node_name}' for each in endpoints}
    return ', '.join(sorted(name.replace('//', '/') for name in names))
