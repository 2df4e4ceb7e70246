"""Joint states and commands as they are heard on topics: nothing is ever sent.

The node has no publisher, but for the events of its parameters that rclpy gives every node, and no
service: no arm can be moved by it.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from typing import Any

from ne_dynamics.driver.collecting import COMMAND_TYPES, MessageCollector
from ne_dynamics.errors import InputError, MissingDependencyError, optional_dependency
from ne_dynamics.printable import print_lines

NODE = 'ne_dynamics_whatis'
JOINT_STATE = 'sensor_msgs/msg/JointState'

DISCOVERY_TIME = 5.0
"""How long a topic of commands is looked for [s]."""

DEPTH = 1000
"""Messages that may wait."""


def listen(
    topic: str, command_topic: str | None, command_names: Sequence[str], seconds: float
) -> MessageCollector:
    """Return what is heard for a time; Ctrl-C ends it early.

    Parameters
    ----------
    topic : str
        Of joint states.
    command_topic : str or None
    command_names : sequence of str
        Joints of a command that carries no names, in its order.
    seconds : float

    Returns
    -------
    MessageCollector

    Raises
    ------
    MissingDependencyError
        Without ROS 2 for Python.
    InputError
        When a name is none of a topic, there is no such topic of commands, or nothing that can be
        used is heard.
    """
    with optional_dependency('--live needs ROS 2 for Python', 'ros'):
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from sensor_msgs.msg import JointState
    _check_name('--topic', topic)
    if command_topic is not None:
        _check_name('--command-topic', command_topic)
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
        if command_topic is not None and _is_same(node, topic, command_topic):
            raise InputError(
                f'--command-topic: expected another topic than that of the states, got '
                f'{command_topic}'
            )
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        collector = MessageCollector(command_names, topic)
        quality = _quality()
        node.create_subscription(
            JointState, topic, lambda message: collector.add_state(message, time.time()), quality
        )
        if command_topic is not None:
            node.create_subscription(
                _find_type(node, executor, command_topic),
                command_topic,
                lambda message: collector.add_command(message, time.time()),
                quality,
            )
        print_lines([f'listening to {topic} for {seconds:g} s; Ctrl-C: no longer'], sys.stderr)
        begin = time.monotonic()
        end = begin + seconds
        try:
            while time.monotonic() < end:
                executor.spin_once(timeout_sec=min(0.1, max(end - time.monotonic(), 0.0)))
        except KeyboardInterrupt:
            pass
        if collector.states < 2:
            raise InputError(
                f'{topic}: expected joint states, heard {collector.states} in '
                f'{time.monotonic() - begin:.3g} s'
                f'{_explain_silence(node, topic, collector)}'
            )
        return collector
    finally:
        context.try_shutdown()


def _check_name(option: str, name: str) -> None:
    """Refuse what is no name of a topic."""
    from rclpy.exceptions import InvalidTopicNameException
    from rclpy.expand_topic_name import expand_topic_name
    from rclpy.validate_full_topic_name import validate_full_topic_name
    from rclpy.validate_topic_name import validate_topic_name

    try:
        validate_topic_name(name)
        validate_full_topic_name(expand_topic_name(name, NODE, '/'))
    except InvalidTopicNameException as error:
        reason = ' '.join(str(error).split('\n')[0].split())
        raise InputError(
            f'{option}: expected the name of a topic, got {name!r}: {reason}'
        ) from error


def _is_same(node: Any, first: str, second: str) -> bool:
    return bool(node.resolve_topic_name(first) == node.resolve_topic_name(second))


def _explain_silence(node: Any, topic: str, collector: MessageCollector) -> str:
    """Return why no state was taken: what was refused, or who publishes what."""
    refused = ', '.join(f'{count} {why}' for why, count in collector.refused.items())
    if refused:
        return f'; not used: {refused}'
    others = sorted({info.topic_type for info in node.get_publishers_info_by_topic(topic)})
    if others and JOINT_STATE not in others:
        return f'; it is of {", ".join(others)}; there are {_join(node, (JOINT_STATE,))}'
    if others:
        return ', though it is published: for longer, --seconds'
    return f'; nobody publishes it; there are {_join(node, (JOINT_STATE,))}'


def _join(node: Any, types: Sequence[str]) -> str:
    return ', '.join(_list_topics(node, types)) or 'no such topics'


def _quality() -> Any:
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    # Best effort hears reliable publishers, too.
    return QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)


def _find_type(node: Any, executor: Any, topic: str) -> Any:
    """Return the type of the messages of a topic of commands."""
    full = node.resolve_topic_name(topic)
    end = time.monotonic() + DISCOVERY_TIME
    while True:
        kinds = dict(node.get_topic_names_and_types()).get(full, [])
        found = [kind for kind in kinds if kind in COMMAND_TYPES]
        if found:
            package, _, name = found[0].partition('/msg/')
            try:
                return getattr(importlib.import_module(f'{package}.msg'), name)
            except (ImportError, AttributeError) as error:
                raise MissingDependencyError(f'{topic}: {found[0]}: {error}') from error
        if kinds or time.monotonic() > end:
            able = ', '.join(_list_topics(node, COMMAND_TYPES)) or '(none)'
            raise InputError(
                f'--command-topic: expected one of {able}, of the types '
                f'{", ".join(COMMAND_TYPES)}, got {topic}' + (f' of {kinds[0]}' if kinds else '')
            )
        executor.spin_once(timeout_sec=0.1)


def _list_topics(node: Any, types: Sequence[str]) -> list[str]:
    """Return the topics of some types that somebody publishes."""
    return sorted(
        name
        for name, kinds in node.get_topic_names_and_types()
        if set(kinds) & set(types)
        and any(info.topic_type in types for info in node.get_publishers_info_by_topic(name))
    )
