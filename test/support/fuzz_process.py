"""The node under fuzz as a process, over DDS, looked at from outside.

What :mod:`fuzz_node` checks at every message is checked here where it can be seen from outside:
at every command that arrives, in the output of the process, by probes with good joint states.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from fault_bench import PATIENCE, AnswerRecord, FaultBench
from fuzz_messages import (
    CANCEL,
    GOAL,
    KNOWN,
    MODELS,
    SCALING,
    MessageSource,
    Plan,
    Step,
    sane_request,
)
from fuzz_node import CLOCK_ROUNDING, SHORTEST_STEP, Violation
from goal_client import GoalClient
from lifecycle_msgs.srv import ChangeState, GetState
from node_probe import LATCHED
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.impl.implementation_singleton import rclpy_implementation
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import Changes
from ne_dynamics.simulation.demo.ros_process import NODE_MODULE, local_discovery

MESSAGES_BETWEEN_FENCES = 4
"""After so many messages the node must have come to an end with them."""

TIMEOUT = float(KNOWN['state_timeout'].default)
"""Between two commands without a gap [s]."""

LONGEST_STEP = TIMEOUT + GUARD_LIMITS.longest_excuse
"""The same, where the node has not listened meanwhile: a busy machine [s]."""

MEMORY_BOUND = 4_096
"""Growth of the process from the second quarter of the messages on [kB]: DDS keeps buffers for
as many messages as a history has, each as large as the largest so far. Of 15,000 messages the
first 3,000 added 3.5 MB and all others 1 MB."""

SERVICES = {
    **dict.fromkeys(('~/hold', '~/clear_fault', '~/tare_wrench', '~/estimate_payload'), Trigger),
    '~/set_parameters': SetParameters,
    '~/set_parameters_atomically': SetParametersAtomically,
    '~/change_state': ChangeState,
    '~/get_state': GetState,
    '~/get_parameters': GetParameters,
    '~/get_parameter_types': GetParameterTypes,
    '~/describe_parameters': DescribeParameters,
    '~/list_parameters': ListParameters,
}
FIXED = {'effort_limits', 'effort_rate_limit', 'state_timeout'} | {
    spec.name for spec in PARAMETERS if spec.changes is not Changes.ANY_TIME
}
"""Parameters that are left alone here: from outside nobody knows what is in force when."""


def _own_messages() -> dict[str, str]:
    """Return what lets the node find `control_msgs` where this process does."""
    found = find_spec('control_msgs')
    if found is None or found.origin is None:
        return {}
    folders = str(Path(found.origin).parents[1]), os.environ.get('PYTHONPATH', '')
    return {'PYTHONPATH': os.pathsep.join(filter(None, folders))}


class FuzzBench(FaultBench):
    """The node as a process, and everything around it.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.counts: Counter[str] = Counter()
        self.worst_step = 0.0
        self.node = self.start(NODE_MODULE, plan.parameters, environment=_own_messages())
        self._begin = self._checked_at = time.monotonic()
        self._silence = 0.0
        self._seen = self.mark()
        self._open: list[AnswerRecord] = []
        self._last: tuple[np.ndarray, int | None] | None = None
        rates = np.array(plan.parameters.get('effort_rate_limit', (0.0,)))
        self._rates = np.where(rates == 0.0, np.inf, rates) + np.zeros(len(self.joint_names))
        publish = self.probe.create_publisher
        self._publishers = {
            'joint_states': self.joint_states,
            'joint_trajectory': self.trajectories,
            'wrench': self.wrenches,
            'imu': self.imus,
            'robot_description': publish(String, 'robot_description', LATCHED),
            '/clock': publish(Clock, '/clock', 100),
        }
        self._goals: list[Any] = []
        if find_spec('control_msgs'):
            from control_msgs.msg import SpeedScalingFactor

            topic = f'computed_torque/{SCALING[2:]}'
            self._publishers[SCALING] = publish(SpeedScalingFactor, topic, LATCHED)
            self._client = GoalClient(self, f'computed_torque/{GOAL[2:]}')

    def ask(self, kind: str, request: Any) -> Any:
        """Call a service of the node."""
        return self.call(SERVICES[kind], kind[2:], request)

    # ---- steps

    def do(self, step: Step) -> None:
        """Do one step.

        Raises
        ------
        AssertionError
            Where something that must always hold did not.
        """
        if step.counts:
            self.counts['sent'] += 1
        if step.kind in self._publishers:
            self._send(step)
            # Of joint states only the newest is kept: each is to be looked at.
            if step.kind == 'joint_states' or not self.counts['sent'] % MESSAGES_BETWEEN_FENCES:
                self.check_arrived()
        elif step.kind in SERVICES:
            self.counts['requests'] += 1
            if step.kind == '~/change_state':
                self.change(step.message)
            else:
                self.ask(step.kind, step.message)
        elif step.kind in (GOAL, CANCEL):
            self.counts['requests'] += 1
            self._send_to_action(step)
        elif step.kind == 'wait':
            time.sleep(min(step.after, 0.15))
        elif step.kind == 'revive':
            self.revive()
        elif step.kind == 'probe':
            self.probe_states(step.message[0])

    def _send(self, step: Step) -> None:
        try:
            self._publishers[step.kind].publish(step.message)
        except rclpy_implementation.RCLError:
            if not isinstance(step.message, bytes):
                raise
            # No bytes at all, or more than any message of its type has: not even DDS takes them.
            self.counts['messages that cannot be sent'] += 1

    def _send_to_action(self, step: Step) -> None:
        if step.kind == CANCEL:
            if step.message < len(self._goals):
                self._client.cancel(self._goals[-1 - step.message])
            return
        handle = self._client.send_goal(step.message)
        self.counts[f'goals {"accepted" if handle.accepted else "rejected"}'] += 1
        if handle.accepted:
            for replaced in self._goals[-1:]:
                self.until(replaced.end.done, 'result of a goal that another has replaced')
            self._goals.append(handle)
            del self._goals[:-10]

    def change(self, request: Any) -> None:
        """Ask for a transition; what comes after it is not compared with what was before."""
        self.check_arrived()
        self.ask('~/change_state', request)
        self.check_arrived()
        self._last = None

    def revive(self) -> None:
        """Make the node active again."""
        self.counts['requests'] += 3
        if self.state == 'unconfigured':
            self.be_sane()
        for label, transition in (('unconfigured', 'configure'), ('inactive', 'activate')):
            if self.state == label:
                request = ChangeState.Request()
                request.transition.label = transition
                self.change(request)
        if self.state != 'active':
            raise Violation('the node can be made active again', self.node.output[-3_000:])
        self.until_ready()

    def be_sane(self) -> None:
        """Set everything that can be set at any time to what works."""
        result = self.ask('~/set_parameters_atomically', sane_request(self.plan)).result
        if not result.successful:
            raise Violation('good parameters can be set', result.reason)

    def probe_states(self, stamp: int) -> None:
        """Let good states come: they must be answered."""
        self.revive()
        self.counts['probes'] += 1
        self.be_sane()
        message = JointState(name=list(self.joint_names), velocity=[0.0] * len(self.joint_names))
        message.position = [
            float(np.clip(0.3, joint.lower, joint.upper)) for joint in self.plan.case.robot.joints
        ]
        answers, deadline = 0, time.monotonic() + PATIENCE
        while answers < 3:
            stamp += round(SHORTEST_STEP * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            before = len(self.commands)
            self.joint_states.publish(message)
            end = time.monotonic() + 0.05
            while len(self.commands) == before and time.monotonic() < end:
                time.sleep(0.001)
            answers = answers + 1 if len(self.commands) > before else 0
            if not answers:
                self.ask('~/clear_fault', Trigger.Request())
            if time.monotonic() > deadline:
                raise Violation('good states are answered again', self.node.output[-3_000:])
        self.check_arrived()

    # ---- what must hold

    def check_arrived(self) -> None:
        """Let the node come to an end with what was sent, and look at the commands since."""
        self.settle()
        before, self._checked_at = self._checked_at, time.monotonic()
        # While this process does not run, the node may take the states to have stopped, and send
        # more than its publisher keeps: what has been lost of it nobody knows.
        self._silence = self._checked_at - before
        seen, self._seen = self._seen, self.mark()
        commands = self.commands[seen.commands : self._seen.commands]
        self._open += self.answers[seen.answers : self._seen.answers]
        self.counts['commands'] += len(commands)
        for command in (record.effort for record in commands):
            if command.shape != self.effort_limits.shape or not np.isfinite(command).all():
                raise Violation('a command is finite and complete', f'{command}')
            if (np.abs(command) > self.effort_limits).any():
                raise Violation('a command is within the limits', f'{command}')
            # The named and stamped effort that goes with it, if it answers a state.
            stamp = None
            for index, answer in enumerate(self._open):
                if np.array_equal(answer.effort, command):
                    stamp = answer.stamp
                    del self._open[: index + 1]
                    break
            self._check_step(command, stamp)
            self._last = command, stamp

    def _check_step(self, command: np.ndarray, stamp: int | None) -> None:
        if self._last is None:
            return
        last, before = self._last
        if not is_timed(before, stamp):
            self.counts['commands not timed'] += 1
        if self._silence > 0.5 * TIMEOUT:
            self.counts['commands after a silence'] += 1
        dt = largest_elapsed(before, stamp, self._silence)
        step = np.maximum(np.abs(command - last) - 1e-9, 0.0)
        ratio = float(np.max(step / (self._rates * (dt + CLOCK_ROUNDING))))
        self.worst_step = max(self.worst_step, ratio)
        if ratio > 1.0 + 1e-9:
            raise Violation('no step beyond the rate limit', f'{last} to {command} in {dt} s')

    def check_output(self) -> None:
        """Look at what the process has printed: no exception, no flood."""
        text = self.node.output
        if 'Traceback' in text:
            raise Violation('no exception escapes a callback', text[-6_000:])
        pattern = r'^\[\w+\] \[[\d.]+\] \[[\w.]*computed_torque\]'
        lines = self.counts['log lines'] = len(re.findall(pattern, text, re.MULTILINE))
        elapsed = time.monotonic() - self._begin
        allowed = 4 * self.counts['requests'] + 40 * (elapsed / 5.0 + 1.0)
        if not 0 < lines <= allowed:
            raise Violation('no log flood', f'{lines} lines, expected at most {allowed:.0f}')

    def memory(self) -> int:
        """Return the process's resident memory [kB], without files and what DDS shares."""
        status = Path(f'/proc/{self.node.child.pid}/status').read_text()
        return int(re.search(r'RssAnon:\s+(\d+)', status)[1])

    def interrupt(self) -> None:
        """End it as a user does; it must end in order."""
        self.check_arrived()
        self.node.send(signal.SIGINT)
        if (code := self.node.wait(PATIENCE)) != 0:
            text = self.node.output[-3_000:]
            raise Violation('the node ends when interrupted', f'exit code {code}: {text}')


def is_timed(before: int | None, stamp: int | None) -> bool:
    """Return whether the stamps of two states say how long after one another they were answered.

    Not so for one of a ramp, where an effort has not arrived, or after a fault, when a state is
    answered whose stamp says nothing: None, or not later.
    """
    return before is not None and stamp is not None and stamp > before


def largest_elapsed(before: int | None, stamp: int | None, silence: float) -> float:
    """Return the longest time [s] that the node may have counted between two commands.

    Parameters
    ----------
    before, stamp : int or None
        Of the states that they answer [ns]; None where that is not known.
    silence : float
        For which the commands were not looked at [s].
    """
    if before is not None and stamp is not None and is_timed(before, stamp):
        elapsed = max(1e-9 * (stamp - before), SHORTEST_STEP)
    else:
        elapsed = LONGEST_STEP
    return max(elapsed, silence + TIMEOUT) if silence > 0.5 * TIMEOUT else elapsed


def is_left_alone(step: Step) -> bool:
    """Return whether a step would change what is not known from outside."""
    if step.kind in ('~/set_parameters', '~/set_parameters_atomically'):
        return any(parameter.name in FIXED for parameter in step.message.parameters)
    return False


def process_plan(chosen: Plan) -> Plan:
    """Return a plan for a process: the shipped arm, by a file."""
    case = Plan(0, MODELS[0]).case
    parameters = {
        name: value
        for name, value in chosen.parameters.items()
        if name not in ('robot_description', 'joints', 'effort_limits', 'use_sim_time')
    }
    if 'effort_rate_limit' in parameters:
        parameters['effort_rate_limit'] = (1000.0,)
    parameters |= case.parameters | {'wrench.sensor_link': 'ft_sensor', 'backend': 'python'}
    return Plan(chosen.seed, MODELS[0], parameters)


def fuzz_process(chosen: Plan, messages: int) -> tuple[str, list[str]]:
    """Fuzz a process.

    Parameters
    ----------
    chosen : Plan
        What it is about is replaced by :func:`process_plan`.
    messages : int

    Returns
    -------
    str
        Figures.
    list of str
        Violations.
    """
    chosen = process_plan(chosen)
    violations: list[str] = []
    memory: list[int] = []
    with local_discovery():
        bench = FuzzBench(chosen)
        try:
            bench.until_ready()
            source = MessageSource(chosen, may_shut_down=False, with_bytes=True)
            for step in source.steps(messages):
                if not is_left_alone(step):
                    bench.do(step)
                if not memory and bench.counts['sent'] > 0.25 * messages:
                    memory.append(bench.memory())
            memory.append(bench.memory())
            if memory[-1] - memory[0] > MEMORY_BOUND:
                raise Violation('memory is flat', f'{memory} kB, bound {MEMORY_BOUND} kB')
            bench.interrupt()
            bench.check_output()
        except AssertionError as found:
            violations.append(f'VIOLATION over DDS: {found}\n{chosen}')
        finally:
            bench.close()
    counts = ', '.join(f'{count} {what}' for what, count in sorted(bench.counts.items()))
    report = (
        f'{counts}; largest step {bench.worst_step:.6f} of what the rate limit allows; '
        f'resident memory {" to ".join(map(str, memory))} kB (bound of growth {MEMORY_BOUND} kB)'
    )
    return report, violations
