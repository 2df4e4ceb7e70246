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
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from fault_bench import PATIENCE, FaultBench
from fuzz_messages import (
    CANCEL,
    GOAL,
    MODELS,
    SCALING,
    MessageSource,
    Plan,
    Step,
    good_state,
    sane_request,
)
from fuzz_node import SHORTEST_STEP, Violation
from goal_client import GoalClient
from node_probe import LATCHED
from rclpy.impl.implementation_singleton import rclpy_implementation
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from ne_dynamics.motion import NANO
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import Changes
from ne_dynamics.simulation.demo.ros_process import NODE_MODULE, local_discovery

MESSAGES_BETWEEN_FENCES = 4
"""After so many messages the node must have come to an end with them."""

MEMORY_BOUND = 4_096
"""Growth of the process from the second quarter of the messages on [kB]: DDS keeps buffers for
as many messages as a history has, each as large as the largest so far. Of 15,000 messages the
first 3,000 added 3.5 MB and all others 1 MB."""

FIXED = {'effort_limits', 'state_timeout'} | {
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
        self.node = self.start(NODE_MODULE, plan.parameters, environment=_own_messages())
        self._begin = time.monotonic()
        self._looked_at = 0
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

    def do(self, step: Step) -> None:
        """Do one step.

        Raises
        ------
        AssertionError
            Where something that must always hold did not.
        """
        self.counts['sent'] += step.counts
        if step.kind in self._publishers:
            self._send(step)
            # Of joint states only the newest is kept: each is to be looked at.
            if step.kind == 'joint_states' or not self.counts['sent'] % MESSAGES_BETWEEN_FENCES:
                self.check_arrived()
        elif step.kind in (GOAL, CANCEL):
            self.counts['requests'] += 1
            self._send_to_action(step)
        elif step.kind.startswith('~/'):
            self.counts['requests'] += 1
            parameters = getattr(step.message, 'parameters', ())
            if not any(parameter.name in FIXED for parameter in parameters):
                self._ask(step)
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

    def _ask(self, step: Step) -> Any:
        """Call the service whose request it is."""
        kind = type(step.message)
        service = kind.__name__.removesuffix('_Request')
        service_type = getattr(import_module(kind.__module__.rpartition('.')[0]), service)
        return self.call(service_type, step.kind[2:], step.message)

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

    def revive(self) -> None:
        """Make the node active again."""
        self.counts['requests'] += 3
        if self.state == 'unconfigured':
            self.be_sane()
        for label, transition in (('unconfigured', 'configure'), ('inactive', 'activate')):
            if self.state == label:
                self.change_state(transition)
        if self.state != 'active':
            raise Violation('the node can be made active again', self.node.output[-3_000:])
        self.until_ready()

    def be_sane(self) -> None:
        """Set everything that can be set at any time to what works."""
        request = sane_request(self.plan)
        result = self._ask(Step('~/set_parameters_atomically', request)).result
        if not result.successful:
            raise Violation('good parameters can be set', result.reason)

    def probe_states(self, stamp: int) -> None:
        """Let good states come: they must be answered."""
        self.revive()
        self.counts['probes'] += 1
        self.be_sane()
        answers, deadline = 0, time.monotonic() + PATIENCE
        while answers < 3:
            stamp += round(SHORTEST_STEP * NANO)
            before = len(self.commands)
            self.joint_states.publish(good_state(self.plan.case.robot, stamp))
            end = time.monotonic() + 0.05
            while len(self.commands) == before and time.monotonic() < end:
                time.sleep(0.001)
            answers = answers + 1 if len(self.commands) > before else 0
            if not answers:
                self.trigger('clear_fault')
            if time.monotonic() > deadline:
                raise Violation('good states are answered again', self.node.output[-3_000:])
        self.check_arrived()

    # ---- what must hold

    def check_arrived(self) -> None:
        """Let the node come to an end with what was sent, and look at the commands since."""
        self.settle()
        commands = self.commands[self._looked_at :]
        self._looked_at += len(commands)
        self.counts['commands'] += len(commands)
        for command in (record.effort for record in commands):
            if command.shape != self.effort_limits.shape or not np.isfinite(command).all():
                raise Violation('a command is finite and complete', f'{command}')
            if (np.abs(command) > self.effort_limits).any():
                raise Violation('a command is within the limits', f'{command}')

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


def fuzz_process(seed: int, messages: int) -> tuple[str, list[str]]:
    """Fuzz a process with the shipped arm.

    Returns
    -------
    str
        Figures.
    list of str
        Violations.
    """
    chosen = Plan(seed, MODELS[0])
    chosen.parameters = chosen.case.parameters | {
        'backend': 'python',
        'wrench.enabled': True,
        'wrench.sensor_link': 'ft_sensor',
        'imu.enabled': True,
        'effort_rate_limit': (1000.0,),
    }
    violations: list[str] = []
    memory: list[int] = []
    with local_discovery():
        bench = FuzzBench(chosen)
        try:
            bench.until_ready()
            source = MessageSource(chosen, may_shut_down=False, with_bytes=True)
            for step in source.steps(messages):
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
    sizes = ' to '.join(map(str, memory))
    return f'{counts}; resident memory {sizes} kB (bound of growth {MEMORY_BOUND} kB)', violations
