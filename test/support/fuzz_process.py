"""The node under fuzz as a process, over DDS, looked at from outside.

What :mod:`fuzz_node` checks at every message is checked here where it can be seen from outside:
at every command that arrives, in the output of the process, by probes with good joint states.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
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
from fuzz_node import CLOCK_ROUNDING, COMMANDS, SHORTEST_STEP, Violation
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.settings import Changes
from ne_dynamics.simulation.demo.ros_process import NODE_MODULE, RosProcesses, local_discovery

PATIENCE = 120.0
"""Seconds that an answer may take on a busy machine."""

ASKED_AGAIN = 5.0
"""After which a question without an answer is asked again, in real time [s]."""

MESSAGES_BETWEEN_FENCES = 4
"""After so many messages the node must have come to an end with them."""

LONGEST_STEP = float(KNOWN['state_timeout'].default)
"""Between two commands without a gap [s]."""

MEMORY_BOUND = 4_096
"""Growth of the process from the second quarter of the messages on [kB]: DDS keeps buffers for
as many messages as a history has, each as large as the largest so far. Of 15,000 messages the
first 3,000 added 3.5 MB and all others 1 MB."""

TOPICS = {
    'joint_states': JointState,
    'joint_trajectory': JointTrajectory,
    'wrench': WrenchStamped,
    'imu': Imu,
    'robot_description': String,
    '/clock': Clock,
}
SERVICES = {
    '~/hold': Trigger,
    '~/clear_fault': Trigger,
    '~/tare_wrench': Trigger,
    '~/estimate_payload': Trigger,
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


def _resolve(kind: str) -> str:
    return f'computed_torque/{kind[2:]}' if kind.startswith('~/') else kind


def _own_messages() -> dict[str, str]:
    """Return what lets the node find `control_msgs` where this process does."""
    found = find_spec('control_msgs')
    if found is None or found.origin is None:
        return {}
    folders = str(Path(found.origin).parents[1]), os.environ.get('PYTHONPATH', '')
    return {'PYTHONPATH': os.pathsep.join(filter(None, folders))}


class NodeProcess:
    """The node as a process, and everything around it.

    Parameters
    ----------
    plan : Plan
    domain : int
    """

    def __init__(self, plan: Plan, domain: int) -> None:
        self.plan = plan
        self.robot = plan.case.robot
        self.counts: Counter[str] = Counter()
        self.worst_step = 0.0
        self._commands: list[np.ndarray] = []
        self._efforts: list[tuple[int, np.ndarray]] = []
        self._last: tuple[np.ndarray, int | None] | None = None
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(local_discovery())
        self._processes = RosProcesses(domain)
        log_folder = self._stack.enter_context(tempfile.TemporaryDirectory())
        self.node = self._processes.start(
            'node',
            NODE_MODULE,
            plan.parameters,
            environment={'ROS_LOG_DIR': log_folder, **_own_messages()},
        )
        self._begin = self._checked_at = time.monotonic()
        self._silence = 0.0
        self._action: Any = None
        self._goals: list[tuple[Any, Any]] = []
        self._context = Context()
        self._context.init(domain_id=domain)
        self._node = Node('fuzz', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publishers = {
            kind: self._node.create_publisher(
                message, _resolve(kind), latched if kind == 'robot_description' else 100
            )
            for kind, message in TOPICS.items()
        }
        if find_spec('control_msgs'):
            from control_msgs.msg import SpeedScalingFactor

            self._publishers[SCALING] = self._node.create_publisher(
                SpeedScalingFactor, _resolve(SCALING), latched
            )
        self._clients = {
            kind: self._node.create_client(service, _resolve(kind))
            for kind, service in SERVICES.items()
        }
        listen = self._node.create_subscription
        listen(
            Float64MultiArray, COMMANDS, lambda m: self._commands.append(np.array(m.data)), 1_000
        )
        listen(JointState, 'computed_torque/effort', self._on_effort, 1_000)
        limits = plan.parameters.get('effort_limits')
        names = list(plan.parameters.get('joints', self.robot.joint_names))
        own = dict(zip(self.robot.joint_names, self.robot.limits('effort_limit'), strict=True))
        self._names = names
        self._limits = np.array([own[name] for name in names] if limits is None else limits)
        rates = np.array(plan.parameters.get('effort_rate_limit', (0.0,)))
        self._rates = np.where(rates == 0.0, np.inf, rates) + np.zeros(len(names))

    def _on_effort(self, message: JointState) -> None:
        stamp = message.header.stamp
        self._efforts.append((stamp.sec * 10**9 + stamp.nanosec, np.array(message.effort)))

    # ---- talking

    def spin(self, until: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        """Serve this side until something is so.

        Raises
        ------
        Violation
            When it does not come about, or the node has ended.
        """
        deadline = time.monotonic() + patience
        while not until():
            if not self.node.is_alive:
                raise Violation(
                    'the node does not end',
                    f'exit code {self.node.child.returncode}: {self.end()}',
                )
            if time.monotonic() > deadline:
                raise Violation('the node answers', f'no {what} in {patience} s: {self.end()}')
            self._executor.spin_once(timeout_sec=0.01)

    def said(self) -> str:
        """Return what the node has printed."""
        return self.node.output

    def end(self) -> str:
        """Return the last of what the node has printed."""
        return self.said()[-3_000:]

    def call(self, kind: str, request: Any) -> Any:
        """Call a service of the node.

        A question that changes nothing is asked again: DDS drops the answer to a client that the
        node has not discovered within 0.1 s, as on a busy machine.
        """
        client = self._clients[kind]
        self.spin(client.service_is_ready, f'service {kind}')
        futures = [client.call_async(request)]
        asked = time.monotonic()

        def is_answered() -> bool:
            nonlocal asked
            if kind == '~/get_state' and time.monotonic() - asked > ASKED_AGAIN:
                asked = time.monotonic()
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        self.spin(is_answered, f'answer of {kind}')
        return next(future for future in futures if future.done()).result()

    @property
    def label(self) -> str:
        """Lifecycle state."""
        return str(self.call('~/get_state', GetState.Request()).current_state.label)

    def settle(self) -> None:
        """Let everything arrive, and check it."""
        self.call('~/get_state', GetState.Request())
        for _ in range(5):
            self._executor.spin_once(timeout_sec=0.002)
        self.check()

    def change(self, label: str) -> None:
        """Ask for a transition; what comes after it is not compared with what was before."""
        self.settle()
        request = ChangeState.Request()
        request.transition.label = label
        self.call('~/change_state', request)
        self.settle()

    def close(self) -> None:
        """End the process if it still runs, and everything of this side."""
        self._processes.kill()
        self._executor.shutdown()
        if self._action is not None:
            self._action.destroy()
        self._node.destroy_node()
        self._context.try_shutdown()
        self._stack.close()

    # ---- steps

    def bring_up(self) -> None:
        """Wait until the node is active and all of its topics are connected."""
        self.spin(lambda: self.label == 'active', 'active node')
        self.connect()

    def connect(self) -> None:
        """Wait until the topics of the configured node are connected."""
        states = self._publishers['joint_states']
        self.spin(lambda: states.get_subscription_count() > 0, 'subscription to joint_states')
        self.spin(lambda: self._node.count_publishers(COMMANDS) > 0, 'publisher of commands')

    def do(self, step: Step) -> None:
        """Do one step.

        Raises
        ------
        Violation
        """
        if step.kind in TOPICS or step.kind == SCALING:
            self._send(step)
            self.counts['sent'] += 1
            # Of joint states only the newest is kept: each is to be looked at.
            is_due = self.counts['sent'] % MESSAGES_BETWEEN_FENCES == 0
            if is_due or step.kind == 'joint_states':
                self.call('~/get_state', GetState.Request())
                self.check()
        elif step.kind in SERVICES:
            self.counts['sent'] += 1
            self.counts['requests'] += 1
            if step.kind == '~/change_state':
                self.settle()
                self.call(step.kind, step.message)
                self.settle()
                self._last = None
            else:
                self.call(step.kind, step.message)
        elif step.kind in (GOAL, CANCEL):
            self.counts['sent'] += 1
            self.counts['requests'] += 1
            self._send_to_action(step)
        elif step.kind == 'wait':
            end = time.monotonic() + min(step.after, 0.15)
            while time.monotonic() < end:
                self._executor.spin_once(timeout_sec=0.01)
        elif step.kind == 'revive':
            self.revive()
        elif step.kind == 'probe':
            self.probe(step.message[0])

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
                future = self._goals[-1 - step.message][0].cancel_goal_async()
                self.spin(future.done, 'answer to a cancel')
            return
        if self._action is None:
            from control_msgs.action import FollowJointTrajectory
            from rclpy.action import ActionClient

            self._action = ActionClient(self._node, FollowJointTrajectory, _resolve(GOAL))
        self.spin(self._action.server_is_ready, 'action server')
        future = self._action.send_goal_async(step.message)
        self.spin(future.done, 'answer to a goal')
        handle = future.result()
        self.counts[f'goals {"accepted" if handle.accepted else "rejected"}'] += 1
        if handle.accepted:
            for _, result in self._goals[-1:]:
                self.spin(result.done, 'result of a goal that another has replaced')
            self._goals.append((handle, handle.get_result_async()))
            del self._goals[:-10]

    def revive(self) -> None:
        """Make the node active again."""
        self.counts['requests'] += 3
        if self.label == 'unconfigured':
            self.be_sane()
        for label, transition in (('unconfigured', 'configure'), ('inactive', 'activate')):
            if self.label == label:
                self.change(transition)
                self._last = None
        if self.label != 'active':
            raise Violation('the node can be made active again', self.end())
        self.connect()

    def be_sane(self) -> None:
        """Set everything that can be set at any time to what works."""
        result = self.call('~/set_parameters_atomically', sane_request(self.plan)).result
        if not result.successful:
            raise Violation('good parameters can be set', result.reason)

    def probe(self, stamp: int) -> None:
        """Let good states come: they must be answered."""
        self.revive()
        self.counts['probes'] += 1
        self.be_sane()
        message = JointState()
        message.name = list(self.robot.joint_names)
        message.position = [
            float(np.clip(0.3, joint.lower, joint.upper)) for joint in self.robot.joints
        ]
        message.velocity = [0.0] * len(message.name)
        answers = 0
        deadline = time.monotonic() + PATIENCE
        while answers < 3:
            stamp += round(SHORTEST_STEP * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
            before = len(self._commands)
            self._publishers['joint_states'].publish(message)
            end = time.monotonic() + 0.05
            while len(self._commands) == before and time.monotonic() < end:
                self._executor.spin_once(timeout_sec=0.01)
            answers = answers + 1 if len(self._commands) > before else 0
            if not answers:
                self.call('~/clear_fault', Trigger.Request())
            if time.monotonic() > deadline:
                raise Violation('good states are answered again', self.end())
        self.settle()

    # ---- what must hold

    def check(self) -> None:
        """Look at the commands that have arrived.

        Raises
        ------
        Violation
        """
        commands, self._commands = self._commands, []
        efforts, self._efforts = self._efforts, []
        before, self._checked_at = self._checked_at, time.monotonic()
        # While this process does not run, the node may take the states to have stopped, and send
        # more than its publisher keeps: what has been lost of it nobody knows.
        self._silence = self._checked_at - before
        self.counts['commands'] += len(commands)
        for command in commands:
            if command.shape != self._limits.shape or not np.isfinite(command).all():
                raise Violation('a command is finite and complete', f'{command}')
            if (np.abs(command) > self._limits).any():
                raise Violation('a command is within the limits', f'{command}')
            # The named and stamped effort that goes with it, if it answers a state.
            stamp = None
            for index, (at, effort) in enumerate(efforts):
                if np.array_equal(effort, command):
                    stamp = at
                    del efforts[: index + 1]
                    break
            self._check_step(command, stamp)
            self._last = command, stamp

    def _check_step(self, command: np.ndarray, stamp: int | None) -> None:
        if self._last is None:
            return
        last, before = self._last
        if stamp is None or before is None or stamp <= before:
            # One of a ramp, or its effort has not arrived, or after a fault it answers a state
            # whose stamp says nothing. After more than this there is a gap.
            dt = LONGEST_STEP
            self.counts['commands not timed'] += 1
        else:
            dt = max(1e-9 * (stamp - before), SHORTEST_STEP)
        if self._silence > 0.5 * LONGEST_STEP:
            dt = max(dt, self._silence + LONGEST_STEP)
            self.counts['commands after a silence'] += 1
        dt += CLOCK_ROUNDING
        step = np.abs(command - last)
        ratio = float(np.max(np.maximum(step - 1e-9, 0.0) / (self._rates * dt)))
        self.worst_step = max(self.worst_step, ratio)
        if ratio > 1.0 + 1e-9:
            raise Violation('no step beyond the rate limit', f'{last} to {command} in {dt} s')

    def check_output(self) -> None:
        """Look at what the process has printed: no exception, no flood."""
        text = self.said()
        if 'Traceback' in text:
            raise Violation('no exception escapes a callback', text[-6_000:])
        lines = len(re.findall(r'^\[\w+\] \[[\d.]+\] \[computed_torque\]', text, re.MULTILINE))
        self.counts['log lines'] = lines
        elapsed = time.monotonic() - self._begin
        allowed = 4 * self.counts['requests'] + 40 * (elapsed / 5.0 + 1.0)
        if lines > allowed:
            raise Violation('no log flood', f'{lines} lines, expected at most {allowed:.0f}')

    def memory(self) -> int:
        """Return its own resident memory [kB], without files and without what DDS shares."""
        status = Path(f'/proc/{self.node.child.pid}/status').read_text()
        return int(re.search(r'RssAnon:\s+(\d+)', status)[1])

    def interrupt(self) -> None:
        """End it as a user does; it must end in order."""
        self.settle()
        self.node.send(signal.SIGINT)
        code = self.node.wait(PATIENCE)
        if code != 0:
            raise Violation('the node ends when interrupted', f'exit code {code}: {self.end()}')


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


def fuzz_process(chosen: Plan, messages: int, domain: int) -> tuple[str, list[str]]:
    """Fuzz a process.

    Parameters
    ----------
    chosen : Plan
        What it is about is replaced by :func:`process_plan`.
    messages : int
    domain : int

    Returns
    -------
    str
        Figures.
    list of str
        Violations.
    """
    chosen = process_plan(chosen)
    process = NodeProcess(chosen, domain)
    violations: list[str] = []
    memory: list[int] = []
    try:
        process.bring_up()
        for step in MessageSource(chosen, may_shut_down=False, with_bytes=True).steps(messages):
            if not is_left_alone(step):
                process.do(step)
            if not memory and process.counts['sent'] > 0.25 * messages:
                memory.append(process.memory())
        memory.append(process.memory())
        if memory[-1] - memory[0] > MEMORY_BOUND:
            raise Violation('memory is flat', f'{memory} kB, bound of growth {MEMORY_BOUND} kB')
        process.interrupt()
        process.check_output()
    except Violation as found:
        violations.append(f'VIOLATION over DDS of "{found.clause}": {found.text}\n{chosen}')
    finally:
        process.close()
    counts = ', '.join(f'{count} {what}' for what, count in sorted(process.counts.items()))
    report = (
        f'{counts}; largest step {process.worst_step:.6f} of what the rate limit allows; '
        f'resident memory {" to ".join(map(str, memory))} kB (bound of growth {MEMORY_BOUND} kB)'
    )
    return report, violations
