"""The node under fuzz in this process: its callbacks called with real messages, nothing sent.

Time passes in a :class:`VirtualWorld` alone: a run depends on its seed, and runs some thousand
messages a second. What must always hold is checked where it shows: at every
command, diagnostic and log line, after every message, and by probes with good joint states.
"""

from __future__ import annotations

import ctypes
import gc
import re
import signal
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import virtual_world
from fuzz_messages import CANCEL, GOAL, START, Plan, Step, parameter_value, sane_request
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.context import Context
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from virtual_world import VirtualWorld

from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.ros.node import ComputedTorqueNode
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.ros.thresholds import NODE

SHORTEST_STEP = 0.002
"""A command may always move on by the rate limit times this [s]."""

CLOCK_ROUNDING = 1e-6
"""What seconds in doubles are worth when stamps have jumped by decades [s]."""

GOOD_STATES = 70
"""Of so many good states in a row the node must answer some: the timeout, and a few more."""

PROBE_STATES = 60
"""Of so many good states the last three must be answered: the timeout, and a few more."""

PROBE_PATIENCE = 1.5
"""Seconds of good states after which they must be in any case: simulated time may stand still."""

STALLED = 60.0
"""Real seconds after which a callback is taken for one that never returns."""

LOG_REPEATS = 3
"""Times that one warning may come in a warning period."""

LONGEST_LINE = 4_000
"""Characters of a line in the log."""

LARGEST_REPORT = 300
"""Entries of a diagnostic status."""

GIVES_UP = 'or the motion is given up'
"""Of the refusal of a limit that the present motion is beyond."""

COMMANDS = 'effort_controller/commands'
real_clock = time.perf_counter


class Violation(AssertionError):
    """Something that must always hold did not.

    Parameters
    ----------
    clause : str
        What must hold, in a few words.
    text : str
        What was found.
    """

    def __init__(self, clause: str, text: str) -> None:
        super().__init__(f'{clause}: {text}')
        self.clause = clause
        self.text = text


class Stalled(BaseException):
    """A callback did not return."""


# ---- what is counted


@dataclass
class Tally:
    """Figures of one or many runs."""

    sent: Counter[str] = field(default_factory=Counter)
    mutated: Counter[str] = field(default_factory=Counter)
    undelivered: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    worst_step: float = 0.0
    worst_effort: float = 0.0
    longest_probe: int = 0
    slowest: tuple[float, str] = (0.0, '')

    def add(self, other: Tally) -> None:
        """Take in the figures of another."""
        for key in ('sent', 'mutated', 'undelivered', 'drops', 'events'):
            getattr(self, key).update(getattr(other, key))
        self.worst_step = max(self.worst_step, other.worst_step)
        self.worst_effort = max(self.worst_effort, other.worst_effort)
        self.longest_probe = max(self.longest_probe, other.longest_probe)
        self.slowest = max(self.slowest, other.slowest)

    @property
    def messages(self) -> int:
        """Messages and requests sent."""
        return self.sent.total()


class GoalHandle(virtual_world.GoalHandle):
    """A goal that was accepted, of which something must hold.

    Parameters
    ----------
    violate : callable
        Called with what must hold and does not.
    server, request, ended
        As of any.
    """

    def __init__(self, violate: Callable[[str, str], None], *arguments: Any) -> None:
        super().__init__(*arguments)
        self._violate = violate
        self.result: Any = None

    def end(self, way: str) -> None:
        """End, once."""
        if self.way:
            self._violate('a goal ends once', f'{self.way}, then {way}')
        super().end(way)

    def finish(self, result: Any) -> None:
        """Take the result."""
        if not self.way or self.result is not None:
            self._violate('a goal that has ended has one result', f'{self.way}: {result}')
        if (self.way == 'aborted') != (result.error_code < 0):
            self._violate('the code says how a goal has ended', f'{self.way}: {result}')
        self.result = result

    def publish_feedback(self, feedback: Any) -> None:
        """Look at the feedback."""
        if self.way:
            self._violate('no feedback of a goal that has ended', self.way)
        for point in (feedback.desired, feedback.actual, feedback.error):
            if not np.isfinite([*point.positions, *point.velocities]).all():
                self._violate('feedback is finite', f'{point}')


class RecordedNode(ComputedTorqueNode):
    """The node; what happens to it that must not is taken note of."""

    errors = 0

    def on_error(self, state: Any) -> Any:
        self.errors += 1
        return super().on_error(state)


def _step_ratio(
    last: np.ndarray, command: np.ndarray, limits: np.ndarray, allowed: np.ndarray
) -> float:
    # Where a limit has been lowered, it goes before the rate.
    beyond = np.maximum(np.abs(last) - limits, 0.0)
    rounding = 1e-12 * (np.abs(command) + np.abs(last)) + 1e-12
    step = np.maximum(np.abs(command - last) - beyond - rounding, 0.0)
    return float(np.max(step / allowed))


# ---- the driver


class Driver:
    """Does the steps of a plan to a node, and checks what must hold.

    Parameters
    ----------
    plan : Plan
    world : VirtualWorld
        Installed.
    context : rclpy.context.Context
        Initialised.
    """

    def __init__(self, plan: Plan, world: VirtualWorld, context: Context) -> None:
        self.plan, self.case = plan, plan.case
        self.world, self.context = world, context
        self.tally = Tally()
        self._cause: Step = Step('start')
        self._is_operator = False
        self._pending: Violation | None = None
        world.heard, world.logged = self._on_published, self._on_logged
        self.node: RecordedNode | None = None
        self._start()

    def _start(self) -> None:
        self._commands = self._commands_before_call = 0
        self._last_command: np.ndarray | None = None
        self._last_command_at = 0
        self._answered_stamp: int | None = None
        self._is_first = True
        self._carried: list[np.ndarray | None] = []
        self._stamp = self._good_states = self._unanswered = 0
        self._is_sane = True
        self._rates: np.ndarray | None = None
        self._delivered: Counter[str] = Counter()
        self._delivered_active = self._answered = 0
        self._accepted = 0
        self._goals: list[GoalHandle] = []
        self._report: dict[str, str] = {}
        self._fault_counts: Counter[str] = Counter()
        self._log_times: dict[str, deque[int]] = {}
        overrides = [
            Parameter.from_parameter_msg(ParameterMessage(name=name, value=parameter_value(value)))
            for name, value in self.plan.parameters.items()
        ]
        self.node = self._guarded(
            lambda: RecordedNode(context=self.context, parameter_overrides=overrides)
        )
        self.node.executor = self.world
        self.tally.events['nodes'] += 1
        self._doubt, self._is_effort_unused = '', False
        self.node.reporter.tell = self._on_told(self.node.reporter.tell)

    def _on_told(self, tell: Callable[..., None]) -> Callable[..., None]:
        """Take note of an effort that the node says it does not begin at."""

        def recorded(text: str, *how: Any) -> None:
            self._is_effort_unused |= text.startswith('joint_states: effort')
            tell(text, *how)

        return recorded

    def close(self) -> None:
        """Destroy the node."""
        if self.node is not None:
            for key, value in self._report.items():
                if key.endswith(' dropped'):
                    self.tally.drops[key] += int(value)
            self.node.executor = None
            self.node.destroy_node()
            self.node = None
            # Until it is collected the log's publisher of its name is taken.
            gc.collect()

    # ---- calling

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """Call into the node: whatever comes out of it would end the process."""

        def stalled(*_: Any) -> None:
            raise Stalled

        label = self.label if self.node is not None else 'none'
        before = signal.signal(signal.SIGALRM, stalled)
        signal.setitimer(signal.ITIMER_REAL, STALLED)
        begin = real_clock()
        self._commands_before_call = self._commands
        try:
            result = call()
        except Stalled:
            raise Violation('a callback returns', f'not after {STALLED} s') from None
        except Exception:
            raise Violation(
                'no exception escapes a callback', traceback.format_exc(limit=-12)
            ) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
            took = real_clock() - begin
            self.tally.slowest = max(
                self.tally.slowest, (took, f'{self._cause.kind} {self._cause.mutations}')
            )
        if self._pending is not None:
            raise self._pending
        if label != 'active' and self.node is not None and self.label == 'active':
            self._is_first, self._answered_stamp, self._carried = True, None, []
        return result

    def _violate(self, clause: str, text: str) -> None:
        """Take note of what was found inside of a callback: the node might catch it there."""
        if self._pending is None:
            self._pending = Violation(clause, text)

    def do(self, step: Step) -> None:
        """Do one step.

        Raises
        ------
        Violation
        """
        self._cause = step
        self._is_operator = step.kind.startswith('~/') or not step.counts
        self._advance(step.after)
        self._cause = step
        if step.kind in ('wait', 'clock', '/clock', '~/change_state', 'revive'):
            self._good_states = 0
        if step.counts:
            self.tally.sent[step.kind] += 1
            self.tally.mutated[step.kind] += bool(step.mutations)
        if step.kind == 'revive':
            self._revive()
        elif step.kind == 'probe':
            self._probe(step)
        elif step.kind == 'clock':
            ahead = self.world.ahead + round(step.message * 1e9)
            self.world.ahead = max(ahead, 10**9 - self.world.now)
        elif step.counts:
            self._deliver(step)
        if step.kind in ('clock', '/clock'):
            self.world.notice_clocks()
        self._finish_work()
        if self.node.errors:
            raise Violation('no transition ends in on_error', f'{step.kind}')
        self._check_goals()

    def _advance(self, seconds: float) -> None:
        was_operator, self._is_operator = self._is_operator, False
        until = self.world.now + round(seconds * 1e9)
        self._guarded(partial(self.world.advance, until))
        self._is_operator = was_operator

    def _deliver(self, step: Step) -> Any:
        """Give a message or a request to whoever in the node takes it."""
        if step.kind in (GOAL, CANCEL):
            self._deliver_to_action(step)
            return None
        name = self._resolve(step.kind)
        for service in self.node.services:
            # Some give the name that was asked for, not the one it became.
            if step.kind.startswith('~/') and service.srv_name.endswith(step.kind[1:]):
                return self._serve(step, partial(self.world.call, service, step.message))
        for subscription in list(self.node.subscriptions):
            if subscription.topic_name == name:
                if step.kind == 'joint_states':
                    self._state(step, subscription)
                else:
                    self._delivered[step.kind.removeprefix('~/')] += 1
                    message = step.message
                    if subscription.raw and not isinstance(message, bytes):
                        message = serialize_message(message)
                    self._guarded(partial(subscription.callback, message))
                return None
        self.tally.undelivered[step.kind] += 1
        return None

    def _deliver_to_action(self, step: Step) -> None:
        goals = self._goals
        if step.kind == GOAL:
            self._delivered['follow_joint_trajectory'] += 1
            make = partial(GoalHandle, self._violate)
            send = partial(self.world.send_goal, step.message, lambda way, code: None, make)
            goal = self._guarded(send)
            self.tally.events[f'goals {"accepted" if goal else "rejected"}'] += 1
            if goal is not None:
                self._accepted += 1
                goals.append(goal)
        elif step.message < len(goals):
            goal = goals[-1 - step.message]
            is_running = not goal.way
            is_granted = self._guarded(partial(self.world.cancel_goal, goal))
            self.tally.events['goals canceled'] += is_granted
            if is_running != is_granted:
                raise Violation('what runs can be canceled', f'{is_granted}: {goal.way}')
            if is_running and goal.way != 'canceled':
                raise Violation('a canceled goal ends', f'{goal.way or "it runs"}')

    def _check_goals(self) -> None:
        """One goal is followed at most, and none when the arm is not commanded."""
        running = [goal for goal in self._goals if not goal.way]
        if len(running) > (self.label == 'active'):
            raise Violation('one goal is followed while active', f'{len(running)}, {self.label}')
        if not all(goal.result for goal in self._goals if goal.way):
            raise Violation('a goal that has ended has a result', '')
        del self._goals[:-10]

    def _finish_work(self) -> None:
        """Wait for what the node has others do, and let it hear of the end."""
        was_operator, self._is_operator = self._is_operator, False
        self._guarded(self.world.wait_until_idle)
        self._is_operator = was_operator

    def _resolve(self, kind: str) -> str:
        if kind.startswith('/'):
            return kind
        return f'/computed_torque/{kind[2:]}' if kind.startswith('~/') else f'/{kind}'

    @property
    def label(self) -> str:
        """Lifecycle state."""
        return str(self.node.state_label)

    def _serve(self, step: Step, call: Callable[[], Any]) -> Any:
        was_active, before = self.label == 'active', self._commands
        on_deactivate = self._value('on_deactivate', 'gravity')
        is_limited = was_active and self._in_force()[2] is not None
        is_answering = was_active and not self._is_first
        held = self._held(step)
        response = self._guarded(call)
        self._rates = None
        self._check_set(step, response, held)
        if was_active and self.label != 'active':
            self.tally.events['deactivations'] += 1
            if on_deactivate == 'none' and self._commands > before:
                raise Violation('on_deactivate: none sends nothing', f'{self._last_command}')
            is_zero = self._commands > before and not self._last_command.any()
            if on_deactivate == 'zero' and is_answering and not is_limited and not is_zero:
                raise Violation('on_deactivate: zero sends zero', f'{self._last_command}')
        return response

    def _held(self, step: Step) -> dict[str, Any]:
        """Return the present values of the parameters that a request is to set."""
        parameters = getattr(step.message, 'parameters', ())
        return {parameter.name: self._value(parameter.name) for parameter in parameters}

    def _check_set(self, step: Step, response: Any, held: dict[str, Any]) -> None:
        """Compare what a request to set parameters is answered with what it has done."""
        if step.kind == '~/set_parameters':
            count = len(step.message.parameters)
            if len(response.results) != count:
                raise Violation(
                    'every parameter gets an answer', f'{len(response.results)} of {count}'
                )
            changed = any(result.successful for result in response.results)
        elif step.kind == '~/set_parameters_atomically':
            changed = response.result.successful
        else:
            return
        if changed:
            self._is_sane = step.message == sane_request(self.plan)
        self.tally.events[f'requests to set parameters {"taken" if changed else "refused"}'] += 1
        if not changed and repr(self._held(step)) != repr(held):
            raise Violation('a refused set changes nothing', f'{held} to {self._held(step)}')

    def _value(self, name: str, default: Any = None) -> Any:
        return self.node.get_parameter(name).value if self.node.has_parameter(name) else default

    def _state(self, step: Step, subscription: Any) -> None:
        """Deliver a joint state: it is answered once, or counted as dropped."""
        message, was_active = step.message, self.label == 'active'
        stamp = message.header.stamp
        self._stamp = stamp.sec * 10**9 + stamp.nanosec
        if self._stamp == 0:
            self._stamp = self.world.time_of(self.node.get_clock())
        before = self._commands
        self._delivered['joint_states'] += 1
        self._delivered_active += was_active
        if was_active and self._is_first:
            self._carried.append(self._carried_effort(message))
        self._doubt, self._is_effort_unused = '', False
        self._guarded(partial(subscription.callback, serialize_message(message)))
        if self._doubt and not self._is_effort_unused:
            raise Violation('the first command begins at the effort of the states', self._doubt)
        count = self._commands - before
        self._check_held(step, count)
        self._answered += count > 0
        self.tally.events['states answered'] += count > 0
        self.tally.events['states while active'] += was_active
        if count and not was_active:
            raise Violation('no command while inactive', f'{count} for a joint state')
        if count > 1 and not self._may_ramp(count):
            raise Violation('one state gives one command', f'{count}')
        if count:
            self._answered_stamp = self._stamp

    @property
    def _is_latched(self) -> bool:
        """Whether states are not answered until somebody has cleared a fault."""
        configured = self.node.configured
        fault = None if configured is None else configured.controller.fault
        return fault is not None and fault.latches

    def _may_ramp(self, count: int) -> bool:
        """Return whether a state may have had so many commands: it was the end of the motion.

        It may have been answered first, then come the last commands.
        """
        configured = self.node.configured
        has_ended = configured is not None and configured.controller.fault is not None
        is_gradual = self._in_force()[2] is not None or self._value('transition_time', 0.0) > 0.0
        most = 1 + (round(COMMAND.longest_ramp / COMMAND.ramp_period) if is_gradual else 1)
        return has_ended and count <= most

    def _check_held(self, step: Step, count: int) -> None:
        """Whatever else comes: good states in a row, under good parameters, are answered."""
        is_good = self.label == 'active' and self._is_sane and not step.mutations
        # The watchdog goes by the node's clock, and that one by /clock then.
        is_good = is_good and not self._value('use_sim_time') and not self._is_latched
        self._good_states = self._good_states + 1 if is_good else 0
        if count:
            self._unanswered = 0
            return
        self._unanswered += 1
        if min(self._good_states, self._unanswered) > GOOD_STATES:
            raise Violation(
                'the arm is held while good states come',
                f'{self._good_states} good states, none of the last {self._unanswered} answered',
            )

    # ---- what comes out

    def _on_published(self, topic: str, message: Any) -> None:
        topic = topic.removeprefix('/')
        if topic == COMMANDS:
            self._on_command(message)
        elif topic == 'diagnostics':
            for status in message.status:
                self._on_status(status)
        elif topic == 'computed_torque/effort':
            for key in ('position', 'velocity', 'effort'):
                values = getattr(message, key)
                if len(values) != len(message.name) or not np.isfinite(values).all():
                    self._violate('~/effort is finite and complete', f'{key}: {values}')

    def _in_force(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return effort limits, and rates in the order of the command (None: none)."""
        if self._rates is None:
            arm = self.node.configured.arm
            n = len(arm.command_names)
            own = {joint.name: joint.effort_limit for joint in arm.robot.joints}
            given = self._value('effort_limits') or [own[name] for name in arm.command_names]
            self._limits = np.broadcast_to(np.array(given, dtype=float), (n,))
            rates = np.array(self._value('effort_rate_limit') or [0.0], dtype=float)
            rates[rates == 0.0] = np.inf
            self._rates = np.array(np.broadcast_to(rates, (n,)))
            self._names = arm.command_names
        return self._limits, self._limits, None if np.isinf(self._rates).all() else self._rates

    def _on_command(self, message: Any) -> None:
        command = np.array(message.data)
        limits, _, rates = self._in_force()
        if command.shape != limits.shape:
            self._violate('a command is complete', f'{command.size} of {limits.size} values')
            return
        if not np.isfinite(command).all():
            self._violate('a command is finite', f'{command}')
            return
        if (np.abs(command) > limits).any():
            self._violate('a command is within the limits', f'{command}, limits {limits}')
        with np.errstate(invalid='ignore'):
            ratio = np.abs(command) / limits
        self.tally.worst_effort = max(self.tally.worst_effort, float(np.nanmax(ratio)))
        if self.label not in ('active', 'deactivating', 'shuttingdown', 'errorprocessing'):
            self._violate('no command while inactive', f'{self.label}, {self._cause.kind}')
        if rates is not None:
            self._check_step(command, limits, rates)
        self._commands += 1
        self._is_first = False
        self.tally.events['commands'] += 1
        self._last_command, self._last_command_at = command, self.world.now

    def _check_step(self, command: np.ndarray, limits: np.ndarray, rates: np.ndarray) -> None:
        is_state = self._cause.kind in ('joint_states', 'probe')
        if self._is_first:
            # From what the motors do, as far as that is known; a state may have been refused.
            starts = self._carried
            if not starts or any(start is None for start in starts):
                return
            dt = SHORTEST_STEP
        else:
            starts, dt = [self._last_command], SHORTEST_STEP
            if is_state and self._answered_stamp is not None:
                dt = max(dt, 1e-9 * (self._stamp - self._answered_stamp))
            if not is_state or self._answered_stamp is None or self._stamp < self._answered_stamp:
                # Of the last command's stamp nothing is known, or that it was wrong.
                dt = max(dt, 1e-9 * (self.world.now - self._last_command_at))
        with np.errstate(over='ignore'):
            allowed = rates * (dt + CLOCK_ROUNDING)
        ratio = min(_step_ratio(start, command, limits, allowed) for start in starts)
        if not self._is_first:
            self.tally.worst_step = max(self.tally.worst_step, ratio)
        if ratio > 1.0 + 1e-9:
            text = (
                f'from {starts[-1]} to {command} in {dt} s at {rates}: {ratio:.3g} of what is '
                f'allowed; first after activation: {self._is_first}; number '
                f'{self._commands - self._commands_before_call} of this callback'
            )
            if self._is_first and is_state:
                self._doubt = text
            else:
                self._violate('no step beyond the rate limit', text)

    def _carried_effort(self, message: JointState) -> np.ndarray | None:
        """Return the effort that a state carries, where it does for all joints.

        Where drives report it without gravity, the motors do more than that: by how much only the
        node's own model says, on a base that may tilt, with the load that it has found.
        """
        limits = self._in_force()[0]
        if len(message.effort) != len(message.name) or self._value('state_effort') != 'torque':
            return None
        by_name = dict(zip(message.name, message.effort, strict=True))
        effort = np.array([by_name.get(name, np.nan) for name in self._names])
        # What is beyond the limits is in another unit.
        return effort if (np.abs(effort) <= limits).all() else None

    def _on_status(self, status: Any) -> None:
        texts = [status.name, status.message, status.hardware_id]
        texts += [text for value in status.values for text in (value.key, value.value)]
        if len(status.values) > LARGEST_REPORT or sum(map(len, texts)) > 50_000:
            self._violate(
                'diagnostics stay small',
                f'{len(status.values)} entries, {sum(map(len, texts))} characters',
            )
        if status.name != self.node.get_fully_qualified_name():
            return
        report = {value.key: value.value for value in status.values}
        self._report = report
        faults = Counter(
            {key: int(text) for key, text in report.items() if key.startswith('faults ')}
        )
        new = faults - self._fault_counts
        if new and ord(status.level) != 2:
            self._violate('every fault is an error in the next diagnostics', f'{new}: {status}')
        self.tally.events.update(new)
        self._fault_counts = faults

    def _on_logged(self, severity: Any, text: str) -> None:
        self.tally.events[f'log lines ({severity.name.lower()})'] += 1
        if 'Traceback' in text:
            self._violate('no traceback in the log', text)
        if len(text) > LONGEST_LINE:
            self._violate('no log flood', f'a line of {len(text)} characters: {text[:200]}')
        if self._is_operator:
            return
        signature = re.sub(r"'[^']*'|\"[^\"]*\"|[-+\d.einfa]+", '#', text)[:60]
        times = self._log_times.setdefault(signature, deque(maxlen=LOG_REPEATS))
        now = self.world.now
        if len(times) == LOG_REPEATS and now - times[0] < 1e9 * NODE.warning_period:
            self._violate(
                'no log flood',
                f'{LOG_REPEATS + 1} times in {1e-9 * (now - times[0]):.3g} s: {text[:300]}',
            )
        times.append(now)
        if len(self._log_times) > 5_000:
            self._violate('no log flood', f'{len(self._log_times)} kinds of lines')

    # ---- recovery

    def _request(self, kind: str, request: Any) -> Any:
        return self._deliver(Step(kind, request))

    def _change(self, label: str) -> bool:
        request = ChangeState.Request()
        request.transition.label = label
        return bool(self._request('~/change_state', request).success)

    def _revive(self) -> None:
        """Make the node active again, in its first configuration, as an operator would."""
        self.tally.events['revivals'] += 1
        if self.label == 'finalized':
            self.close()
            self._start()
        self._advance(0.001)
        if self.label == 'active' and self._is_ours():
            return
        if self.label == 'active':
            self._change('deactivate')
        if self.label == 'inactive' and not self._is_ours():
            self._change('cleanup')
        if self.label == 'unconfigured':
            self._configure()
        if self.label == 'inactive':
            self._change('activate')
        if self.label != 'active':
            raise Violation('the node can be made active again', f'it is {self.label}')

    def _is_ours(self) -> bool:
        configured = self.node.configured
        if configured is None:
            return False
        return configured.arm.robot.joint_names == self.case.robot.joint_names

    def _configure(self) -> None:
        values = {spec.name: spec.default for spec in PARAMETERS if not spec.read_only}
        values |= {name: value for name, value in self.plan.parameters.items() if name in values}
        request = SetParametersAtomically.Request(
            parameters=[
                ParameterMessage(name=name, value=parameter_value(value))
                for name, value in values.items()
            ]
        )
        result = self._request('~/set_parameters_atomically', request).result
        if not result.successful:
            raise Violation('good parameters can be set', result.reason)
        if not (self.plan.parameters.get('model_file') or 'robot_description' in values):
            raise RuntimeError('a plan without a robot')
        if 'model_file' not in self.plan.parameters and 'robot_description' not in (
            self.plan.parameters
        ):
            text = String(data=self.case.description)
            self._deliver(Step('robot_description', text))
        if self.label == 'unconfigured' and not self._change('configure'):
            raise Violation('the node can be configured again', 'configure refused')

    def _good_state(self, stamp: int) -> JointState:
        message = JointState()
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        message.name = list(self.node.configured.arm.robot.joint_names)
        message.position = [
            float(np.clip(0.3, joint.lower, joint.upper))
            for joint in self.node.configured.arm.robot.joints
        ]
        message.velocity = [0.0] * len(message.name)
        return message

    def _probe(self, step: Step) -> None:
        """Let good states come: after whatever was before, they must be answered."""
        self.tally.events['probes'] += 1
        self._revive()
        self._cause = step
        result = self._request('~/set_parameters_atomically', sane_request(self.plan)).result
        if not result.successful and GIVES_UP in result.reason:
            # Who had let the arm be anywhere is told so, and lets go of it first.
            self._change('deactivate')
            result = self._request('~/set_parameters_atomically', sane_request(self.plan)).result
            self._change('activate')
        if not result.successful:
            raise Violation('good parameters can be set', result.reason)
        subscription = next(s for s in self.node.subscriptions if s.topic_name == '/joint_states')
        begin = stamp = step.message[0]
        answers = sent = 0
        while answers < 3:
            self._is_operator = True
            self._advance(SHORTEST_STEP)
            self._is_operator = False
            stamp += round(SHORTEST_STEP * 1e9)
            message = self._good_state(stamp)
            before = self._commands
            self._state(Step('probe', message), subscription)
            answers = answers + 1 if self._commands > before else 0
            sent += 1
            if self._is_latched:
                # Refused when no state has come since: then after the next one.
                self._request('~/clear_fault', Trigger.Request())
            if stamp - begin > 1e9 * PROBE_PATIENCE:
                self._advance(1.0)
                raise Violation(
                    'good states are answered again',
                    f'none of {sent} in {PROBE_PATIENCE} s; last report {self._report}',
                )
        if not self._value('use_sim_time'):
            self.tally.longest_probe = max(self.tally.longest_probe, sent - 3)
            if sent > PROBE_STATES:
                raise Violation('good states are answered again soon', f'after {sent - 3} of them')
        if step.message[1]:
            self._check_counts()

    def _check_counts(self) -> None:
        """Compare what was delivered with what the diagnostics count."""
        self._advance(1.001)
        report = self._report
        for topic, delivered in self._delivered.items():
            received = report.get(f'{topic} received', report.get(f'~/{topic} received'))
            if topic in ('clock', '/clock', 'robot_description'):
                continue
            if received is not None and int(received) != delivered:
                raise Violation(
                    'every message is counted', f'{topic}: {received} of {delivered} received'
                )
        if self._answered + self._dropped('joint_states') < self._delivered_active:
            raise Violation(
                'every state is answered or counted as dropped',
                f'{self._delivered_active} while active, {self._answered} answered, '
                f'{self._dropped("joint_states")} dropped',
            )

        rejected = self._dropped('follow_joint_trajectory')
        if self._accepted + rejected != self._delivered['follow_joint_trajectory']:
            raise Violation(
                'every goal is accepted or counted as dropped',
                f'{self._delivered["follow_joint_trajectory"]}: {self._accepted} accepted, '
                f'{rejected} dropped',
            )

    def _dropped(self, topic: str) -> int:
        """Return how many messages of a topic were dropped, by the last report."""
        return sum(
            int(text)
            for key, text in self._report.items()
            if key.startswith(f'{topic}.') and key.endswith(' dropped')
        )


# ---- runs


def resident_kilobytes() -> int:
    """Return the resident memory of this process [kB], without what is free inside of it."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if trim is not None:
        trim(0)
    with open('/proc/self/status') as status:
        return int(re.search(r'VmRSS:\s+(\d+)', status.read())[1])


def run(
    plan: Plan, steps: Iterable[Step], context: Context
) -> tuple[Tally, Violation | None, int]:
    """Do steps to a new node.

    Returns
    -------
    Tally
    Violation or None
        The first one; the run ends with it.
    int
        Number of steps done.
    """
    world, count, driver = VirtualWorld(), 0, None
    world.now = round(START * 1e9)
    violation: Violation | None = None

    def escaped(arguments: Any) -> None:
        world.logged(LoggingSeverity.FATAL, f'Traceback in a thread: {arguments.exc_value!r}')

    with world.installed(), mock.patch.object(threading, 'excepthook', escaped):
        try:
            driver = Driver(plan, world, context)
            for step in steps:
                count += 1
                driver.do(step)
        except Violation as found:
            violation = found.with_traceback(None)
            # Whose frames keep the node.
            violation.__context__ = None
        finally:
            if driver is not None:
                driver.close()
    return driver.tally if driver else Tally(), violation, count
