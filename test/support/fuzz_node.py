"""The node under fuzz in this process: its callbacks called with real messages, nothing sent.

Time passes in a :class:`VirtualWorld` alone: a run depends on its seed, and runs some thousand
messages a second. What must always hold is checked where it shows: at every
command, diagnostic and log line, after every message, and by probes with good joint states.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import re
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
from fuzz_messages import (
    CANCEL,
    GOAL,
    START,
    Plan,
    Step,
    good_state,
    parameter_messages,
    sane_request,
)
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.context import Context
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import Trigger
from virtual_world import VirtualWorld

from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.motion import NANO
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
"""Real seconds after which a callback is taken for one that never returns: all ends then."""

LOG_REPEATS = 3
"""Times that one warning may come in a warning period."""

LONGEST_LINE, LARGEST_REPORT, LONGEST_REPORT = 4_000, 300, 50_000
"""Characters of a line in the log; entries of a diagnostic status, and characters of it."""

GIVES_UP = 'or the motion is given up'
"""Of the refusal of a limit that the present motion is beyond."""

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


@dataclass
class Tally:
    """Figures of one or many runs."""

    sent: Counter[str] = field(default_factory=Counter)
    mutated: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    largest: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Take in the figures of another."""
        for key in ('sent', 'mutated', 'drops', 'events'):
            getattr(self, key).update(getattr(other, key))
        self.largest |= other.largest

    def note_largest(self, **values: float) -> None:
        """Keep the largest values."""
        self.largest |= Counter(values)

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
        self._commands = 0
        self._last_command: np.ndarray | None = None
        self._last_command_at = 0
        self._answered_stamp: int | None = None
        self._is_first = True
        self._stamp = self._good_states = self._unanswered = 0
        self._is_sane = True
        self._limits = self._rates = None
        self._delivered: Counter[str] = Counter()
        self._delivered_active = self._answered = self._accepted = 0
        self._goals: list[GoalHandle] = []
        self._report: dict[str, str] = {}
        self._fault_counts: Counter[str] = Counter()
        self._log_times: dict[str, deque[int]] = {}
        overrides = list(
            map(Parameter.from_parameter_msg, parameter_messages(self.plan.parameters))
        )
        self.node = self._guarded(
            lambda: RecordedNode(context=self.context, parameter_overrides=overrides)
        )
        self.node.executor = self.world
        self.tally.events['nodes'] += 1
        self._doubt, self._is_effort_unused = '', False
        tell = self.node.reporter.tell

        def recorded(text: str, *how: Any) -> None:
            # An effort that the node says it does not begin at.
            self._is_effort_unused |= text.startswith('joint_states: effort')
            tell(text, *how)

        self.node.reporter.tell = recorded

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

    def _guarded(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call into the node: whatever comes out of it would end the process."""
        label = self.label if self.node is not None else 'none'
        begin = real_clock()
        faulthandler.dump_traceback_later(STALLED, exit=True)
        try:
            result = call(*arguments)
        except Exception:
            text = traceback.format_exc(limit=-12)
            raise Violation('no exception escapes a callback', text) from None
        finally:
            faulthandler.cancel_dump_traceback_later()
            self.tally.note_largest(**{'seconds of a callback': real_clock() - begin})
        if self._pending is not None:
            raise self._pending
        if label != 'active' and self.node is not None and self.label == 'active':
            self._is_first, self._answered_stamp = True, None
        return result

    def _let(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Let the node do something that no operator has asked for."""
        was_operator, self._is_operator = self._is_operator, False
        self._guarded(call, *arguments)
        self._is_operator = was_operator

    def _advance(self, seconds: float) -> None:
        self._let(self.world.advance, self.world.now + round(seconds * NANO))

    def _violate(self, clause: str, text: str) -> None:
        """Take note of what was found inside of a callback: the node might catch it there."""
        if self._pending is None:
            self._pending = Violation(clause, text)

    @property
    def label(self) -> str:
        """Lifecycle state."""
        return str(self.node.state_label)

    def _value(self, name: str, default: Any = None) -> Any:
        return self.node.get_parameter(name).value if self.node.has_parameter(name) else default

    # ---- steps

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
            self._deliver(step)
        elif step.kind == 'revive':
            self._revive()
        elif step.kind == 'probe':
            self._probe(*step.message)
        elif step.kind == 'clock':
            ahead = self.world.ahead + round(step.message * NANO)
            self.world.ahead = max(ahead, NANO - self.world.now)
        if step.kind in ('clock', '/clock'):
            self.world.notice_clocks()
        # What the node has others do comes to its end, and it hears of that.
        self._let(self.world.wait_until_idle)
        if self.node.errors:
            raise Violation('no transition ends in on_error', f'{step.kind}')
        self._check_goals()

    def _deliver(self, step: Step) -> Any:
        """Give a message or a request to whoever in the node takes it."""
        kind = step.kind
        if kind in (GOAL, CANCEL):
            self._deliver_to_action(step)
            return None
        if type(step.message).__name__.endswith('_Request'):
            return self._serve(step)
        if kind == 'joint_states':
            self._state(step)
        else:
            self._delivered[kind.removeprefix('~/')] += self._publish(kind, step.message)
        return None

    def _publish(self, kind: str, message: Any) -> bool:
        """Publish a message; return whether the node listens."""
        name = f'/computed_torque/{kind[2:]}' if kind.startswith('~/') else f'/{kind.lstrip("/")}'
        return self._guarded(self.world.publish, self.node, name, message)

    def _deliver_to_action(self, step: Step) -> None:
        goals = self._goals
        if step.kind == GOAL:
            self._delivered['follow_joint_trajectory'] += 1
            make = partial(GoalHandle, self._violate)
            goal = self._guarded(self.world.send_goal, step.message, lambda way, code: None, make)
            self.tally.events[f'goals {"accepted" if goal else "rejected"}'] += 1
            if goal is not None:
                self._accepted += 1
                goals.append(goal)
        elif step.message < len(goals):
            goal = goals[-1 - step.message]
            is_running = not goal.way
            is_granted = self._guarded(self.world.cancel_goal, goal)
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

    def _serve(self, step: Step) -> Any:
        held = self._held(step)
        response = self._guarded(self.world.call, self.node, step.kind[2:], step.message)
        self._rates = None
        self._check_set(step, response, held)
        return response

    def _held(self, step: Step) -> dict[str, Any]:
        """Return the present values of the parameters that a request is to set."""
        parameters = getattr(step.message, 'parameters', ())
        return {parameter.name: self._value(parameter.name) for parameter in parameters}

    def _check_set(self, step: Step, response: Any, held: dict[str, Any]) -> None:
        """Compare what a request to set parameters is answered with what it has done."""
        if step.kind not in ('~/set_parameters', '~/set_parameters_atomically'):
            return
        is_atomic = step.kind == '~/set_parameters_atomically'
        results = [response.result] if is_atomic else response.results
        count = 1 if is_atomic else len(step.message.parameters)
        if len(results) != count:
            raise Violation('every parameter gets an answer', f'{len(results)} of {count}')
        changed = any(result.successful for result in results)
        if changed:
            self._is_sane = step.message == sane_request(self.plan)
        self.tally.events[f'requests to set parameters {"taken" if changed else "refused"}'] += 1
        if not changed and repr(self._held(step)) != repr(held):
            raise Violation('a refused set changes nothing', f'{held} to {self._held(step)}')

    def _state(self, step: Step) -> None:
        """Deliver a joint state: it is answered once, or counted as dropped."""
        message, was_active = step.message, self.label == 'active'
        stamp = message.header.stamp
        self._stamp = stamp.sec * NANO + stamp.nanosec
        if self._stamp == 0:
            self._stamp = self.world.time_of(self.node.get_clock())
        before = self._commands
        if not self._publish('joint_states', message):
            return
        self._delivered['joint_states'] += 1
        self._delivered_active += was_active
        count = self._commands - before
        self._check_held(step, count)
        self._answered += count > 0
        self.tally.events['states answered'] += count > 0
        if count and not was_active:
            raise Violation('no command while inactive', f'{count} for a joint state')
        if count > 1 and not self._may_ramp(count):
            raise Violation('one state gives one command', f'{count}')
        if count:
            self._answered_stamp = self._stamp

    @property
    def _fault(self) -> Any:
        configured = self.node.configured
        return None if configured is None else configured.controller.fault

    @property
    def _is_latched(self) -> bool:
        """Whether states are not answered until somebody has cleared a fault."""
        return self._fault is not None and self._fault.latches

    def _may_ramp(self, count: int) -> bool:
        """Return whether a state may have had so many commands: it was the end of the motion.

        It may have been answered first, then come the last commands.
        """
        is_gradual = self._is_limited or self._value('transition_time', 0.0) > 0.0
        most = 1 + (round(COMMAND.longest_ramp / COMMAND.ramp_period) if is_gradual else 1)
        return self._fault is not None and count <= most

    def _check_held(self, step: Step, count: int) -> None:
        """Whatever else comes: good states in a row, under good parameters, are answered."""
        is_good = self.label == 'active' and self._is_sane and not step.mutations
        # The watchdog goes by the node's clock, and that one by /clock then.
        is_good = is_good and not self._value('use_sim_time') and not self._is_latched
        self._good_states = self._good_states + 1 if is_good else 0
        self._unanswered = 0 if count else self._unanswered + 1
        if min(self._good_states, self._unanswered) > GOOD_STATES:
            raise Violation(
                'the arm is held while good states come',
                f'{self._good_states} good states, none of the last {self._unanswered} answered',
            )

    # ---- what comes out

    def _on_published(self, topic: str, message: Any) -> None:
        topic = topic.removeprefix('/')
        if topic == 'effort_controller/commands':
            self._on_command(np.array(message.data))
        elif topic == 'diagnostics':
            for status in message.status:
                self._on_status(status)
        elif topic == 'computed_torque/effort':
            for key in ('position', 'velocity', 'effort'):
                values = getattr(message, key)
                if len(values) != len(message.name) or not np.isfinite(values).all():
                    self._violate('~/effort is finite and complete', f'{key}: {values}')

    def _learn_limits(self) -> None:
        """Take the limits and rates that are in force, in the order of the command."""
        if self._rates is not None:
            return
        arm = self.node.configured.arm
        n = len(arm.command_names)
        own = {joint.name: joint.effort_limit for joint in arm.robot.joints}
        given = self._value('effort_limits') or [own[name] for name in arm.command_names]
        self._limits = np.broadcast_to(np.array(given, dtype=float), (n,))
        rates = np.array(self._value('effort_rate_limit') or [0.0], dtype=float)
        self._rates = np.broadcast_to(np.where(rates == 0.0, np.inf, rates), (n,))

    @property
    def _is_limited(self) -> bool:
        """Whether there are rate limits."""
        self._learn_limits()
        return not np.isinf(self._rates).all()

    def _on_command(self, command: np.ndarray) -> None:
        self._learn_limits()
        limits = self._limits
        if command.shape != limits.shape:
            self._violate('a command is complete', f'{command.size} of {limits.size} values')
            return
        if not np.isfinite(command).all():
            self._violate('a command is finite', f'{command}')
            return
        if (np.abs(command) > limits).any():
            self._violate('a command is within the limits', f'{command}, limits {limits}')
        if self.label not in ('active', 'deactivating', 'shuttingdown', 'errorprocessing'):
            self._violate('no command while inactive', f'{self.label}, {self._cause.kind}')
        if self._is_limited:
            self._check_step(command)
        self._commands += 1
        self._is_first = False
        self.tally.events['commands'] += 1
        self._last_command, self._last_command_at = command, self.world.now

    def _check_step(self, command: np.ndarray) -> None:
        if self._is_first:
            # What the motors did before, only the states have told.
            return
        is_state = self._cause.kind in ('joint_states', 'probe')
        last, answered, dt = self._last_command, self._answered_stamp, SHORTEST_STEP
        if is_state and answered is not None:
            dt = max(dt, (self._stamp - answered) / NANO)
        if not is_state or answered is None or self._stamp < answered:
            # Of the last command's stamp nothing is known, or that it was wrong.
            dt = max(dt, (self.world.now - self._last_command_at) / NANO)
        with np.errstate(over='ignore'):
            allowed = self._rates * (dt + CLOCK_ROUNDING)
        # Where a limit has been lowered, it goes before the rate.
        beyond = np.maximum(np.abs(last) - self._limits, 0.0)
        rounding = 1e-12 * (np.abs(command) + np.abs(last)) + 1e-12
        steps = np.maximum(np.abs(command - last) - beyond - rounding, 0.0)
        ratio = float(np.max(steps / allowed))
        self.tally.note_largest(**{'step by what the rate limit allows': ratio})
        if ratio > 1.0 + 1e-9:
            text = f'from {last} to {command} in {dt} s at {self._rates}: {ratio:.3g} times that'
            self._violate('no step beyond the rate limit', text)

    def _on_status(self, status: Any) -> None:
        texts = [status.name, status.message, status.hardware_id]
        texts += [text for value in status.values for text in (value.key, value.value)]
        count, size = len(status.values), sum(map(len, texts))
        if count > LARGEST_REPORT or size > LONGEST_REPORT:
            self._violate('diagnostics stay small', f'{count} entries, {size} characters')
        if status.name != self.node.get_fully_qualified_name():
            return
        self._report = report = {value.key: value.value for value in status.values}
        faults = Counter({key: int(report[key]) for key in report if key.startswith('faults ')})
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
        if len(times) == LOG_REPEATS and now - times[0] < NANO * NODE.warning_period:
            within = f'{LOG_REPEATS + 1} times in {(now - times[0]) / NANO:.3g} s'
            self._violate('no log flood', f'{within}: {text[:300]}')
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

    def _set(self, request: SetParametersAtomically.Request) -> str:
        """Set parameters; return why not."""
        result = self._request('~/set_parameters_atomically', request).result
        return '' if result.successful else result.reason or 'refused'

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
        given = self.plan.parameters
        values = {
            spec.name: given.get(spec.name, spec.default)
            for spec in PARAMETERS
            if not spec.read_only
        }
        request = SetParametersAtomically.Request(parameters=parameter_messages(values))
        if reason := self._set(request):
            raise Violation('good parameters can be set', reason)
        if 'model_file' not in given and 'robot_description' not in given:
            self._deliver(Step('robot_description', String(data=self.case.description)))
        if self.label == 'unconfigured' and not self._change('configure'):
            raise Violation('the node can be configured again', 'configure refused')

    def _probe(self, begin: int, with_report: bool) -> None:
        """Let good states come: after whatever was before, they must be answered."""
        self.tally.events['probes'] += 1
        cause = self._cause
        self._revive()
        self._cause = cause
        reason = self._set(sane_request(self.plan))
        if GIVES_UP in reason:
            # Who had let the arm be anywhere is told so, and lets go of it first.
            self._change('deactivate')
            reason = self._set(sane_request(self.plan))
            self._change('activate')
        if reason:
            raise Violation('good parameters can be set', reason)
        stamp, answers, sent = begin, 0, 0
        while answers < 3:
            self._advance(SHORTEST_STEP)
            stamp += round(SHORTEST_STEP * NANO)
            before = self._commands
            message = good_state(self.node.configured.arm.robot, stamp)
            self._state(Step('probe', message))
            answers = answers + 1 if self._commands > before else 0
            sent += 1
            if self._is_latched:
                # Refused when no state has come since: then after the next one.
                self._request('~/clear_fault', Trigger.Request())
            if stamp - begin > NANO * PROBE_PATIENCE:
                self._advance(1.0)
                raise Violation(
                    'good states are answered again',
                    f'none of {sent} in {PROBE_PATIENCE} s; last report {self._report}',
                )
        if not self._value('use_sim_time'):
            self.tally.note_largest(**{'good states before an answer': sent - 3})
            if sent > PROBE_STATES:
                raise Violation('good states are answered again soon', f'after {sent - 3} of them')
        if with_report:
            self._check_counts()

    def _check_counts(self) -> None:
        """Compare what was delivered with what the diagnostics count."""
        self._advance(1.001)
        report = self._report
        for topic, delivered in self._delivered.items():
            received = report.get(f'{topic} received', report.get(f'~/{topic} received'))
            is_counted = received is not None and topic not in ('/clock', 'robot_description')
            if is_counted and int(received) != delivered:
                text = f'{topic}: {received} of {delivered} received'
                raise Violation('every message is counted', text)
        dropped = self._dropped('joint_states')
        if self._answered + dropped < self._delivered_active:
            raise Violation(
                'every state is answered or counted as dropped',
                f'{self._delivered_active} while active, {self._answered} answered, '
                f'{dropped} dropped',
            )
        action = 'follow_joint_trajectory'
        sent, rejected = self._delivered[action], self._dropped(action)
        if self._accepted + rejected != sent:
            raise Violation(
                'every goal is accepted or counted as dropped',
                f'{sent}: {self._accepted} accepted, {rejected} dropped',
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
    world.now = round(START * NANO)
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
