"""States and commands of topics, heard for a time. Nothing is sent."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ne_dynamics.driver.collecting import COMMAND_TYPES, MessageCollector
from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.errors import InputError, MissingDependencyError, optional_dependency
from ne_dynamics.logs.recorded_joints import Say

NODE = 'ne_dynamics_whatis'
JOINT_STATES = 'joint_states'
JOINT_STATE = COMMAND_TYPES[1]


def listen(
    joint_names: Sequence[str],
    seconds: float,
    topic: str | None = None,
    command_topic: str | None = None,
    say: Say = lambda lines: None,
) -> MessageCollector:
    """Return what is heard for a time; Ctrl-C ends it early, and `say` is told that it begins.

    Parameters
    ----------
    joint_names : sequence of str
        Joints of a command that carries no names, in its order.
    seconds : float
    topic, command_topic : str, optional
        Of the states (default: `joint_states`) and of the commands (default: none).

    Raises
    ------
    InputError
        When a topic has no valid name, no commands, or the name of the other; when there were no
        two states.
    MissingDependencyError
        When ROS 2, or the package of the commands, is missing.
    """
    with optional_dependency('--live needs ROS 2 for Python', 'ros'):
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from sensor_msgs.msg import JointState
    collector = MessageCollector(joint_names, JOINT_STATES if topic is None else topic)
    context = Context()
    context.init(args=None)
    try:
        node = Node(
            NODE,
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
            use_global_arguments=False,
        )
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        listener = _Listener(node, executor, collector)
        listener.subscribe(JointState, command_topic)
        say([f'listening to {collector.source} for {seconds:g} s; Ctrl-C: no longer'])
        listener.hear(seconds)
        return collector
    finally:
        context.try_shutdown()


@dataclass(frozen=True, eq=False)
class _Listener:
    node: Any
    executor: Any
    collector: MessageCollector

    def subscribe(self, state: type, command_topic: str | None) -> None:
        """Hand the messages of the topics to the collector, those of states of the given type."""
        from rclpy.qos import QoSProfile, ReliabilityPolicy

        # Best effort hears reliable publishers, too.
        quality = QoSProfile(
            depth=STATES.waiting_messages, reliability=ReliabilityPolicy.BEST_EFFORT
        )

        def add_subscription(kind: Any, topic: str, add: Callable[[Any, float], None]) -> None:
            self.node.create_subscription(
                kind, topic, lambda message: add(message, time.time()), quality
            )

        states = self._resolve('--topic', self.collector.source)
        add_subscription(state, states, self.collector.add_state)
        if command_topic is not None:
            commands = self._resolve('--command-topic', command_topic)
            if commands == states:
                raise InputError(
                    '--command-topic: expected another topic than that of the states, got '
                    f'{command_topic}'
                )
            add_subscription(self._find_type(commands), commands, self.collector.add_command)

    def _resolve(self, option: str, name: str) -> str:
        """Return the full name of a topic; refuse what is none."""
        try:
            return str(self.node.resolve_topic_name(name))
        except RuntimeError as error:
            reason = str(error).partition(', at ')[0]
            raise InputError(
                f'{option}: expected the name of a topic, got {name!r}: {reason}'
            ) from error

    def hear(self, seconds: float) -> None:
        """Take messages for a time; refuse when there were no states."""
        begin = time.monotonic()
        end = begin + seconds
        with contextlib.suppress(KeyboardInterrupt):
            while time.monotonic() < end:
                self.executor.spin_once(timeout_sec=min(0.1, max(end - time.monotonic(), 0.0)))
        if self.collector.states < 2:
            raise InputError(
                f'{self.collector.source}: expected joint states, heard {self.collector.states} '
                f'in {time.monotonic() - begin:.3g} s{self._explain_silence()}'
            )

    def _explain_silence(self) -> str:
        """Return why no state was taken: what was refused, or who publishes what."""
        refused = ', '.join(f'{count} {why}' for why, count in self.collector.refused.items())
        if refused:
            return f'; not used: {refused}'
        infos = self.node.get_publishers_info_by_topic(self.collector.source)
        others = sorted({info.topic_type for info in infos})
        if JOINT_STATE in others:
            return ', though it is published: for longer, --seconds'
        who = f'it is of {", ".join(others)}' if others else 'nobody publishes it'
        there = ', '.join(self._list_topics([JOINT_STATE])) or 'no such topics'
        return f'; {who}; there are {there}'

    def _find_type(self, topic: str) -> Any:
        """Return the type of the messages of a topic of commands."""
        end = time.monotonic() + STATES.discovery_time
        while True:
            kinds = dict(self.node.get_topic_names_and_types()).get(topic, [])
            found = [kind for kind in kinds if kind in COMMAND_TYPES]
            if found:
                package, _, name = found[0].partition('/msg/')
                try:
                    return getattr(importlib.import_module(f'{package}.msg'), name)
                except (ImportError, AttributeError) as error:
                    raise MissingDependencyError(f'{topic}: {found[0]}: {error}') from error
            if kinds or time.monotonic() > end:
                able = ', '.join(self._list_topics(COMMAND_TYPES)) or '(none)'
                raise InputError(
                    f'--command-topic: expected one of {able}, of the types '
                    f'{", ".join(COMMAND_TYPES)}, got {topic}'
                    + (f' of {kinds[0]}' if kinds else '')
                )
            self.executor.spin_once(timeout_sec=0.1)

    def _list_topics(self, types: Sequence[str]) -> list[str]:
        """Return the topics of some types that somebody publishes."""
        publishers = self.node.get_publishers_info_by_topic
        return sorted(
            name
            for name, _ in self.node.get_topic_names_and_types()
            if any(info.topic_type in types for info in publishers(name))
        )
