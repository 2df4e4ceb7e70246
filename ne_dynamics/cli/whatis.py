"""``ne_dynamics whatis --model MODEL LOG``: what a driver reports, and how late."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from ne_dynamics.cli.options.declaration import declare
from ne_dynamics.cli.options.log_options import (
    COLUMN_READERS,
    find_columns,
    show_columns,
)
from ne_dynamics.cli.options.model_file import ModelFile, require_packages
from ne_dynamics.cli.options.output_file import (
    STANDARD,
    check_files,
    declare_output,
    print_result,
    settle_output,
    write_text,
)
from ne_dynamics.cli.options.thresholds import COMMAND_LINE
from ne_dynamics.driver import DriverRecording, describe_driver
from ne_dynamics.driver.collecting import COMMAND_TYPES, MessageCollector
from ne_dynamics.driver.reading import read_bag, read_csv, write_csv
from ne_dynamics.driver.recording import rename_joints
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, MissingDependencyError, optional_dependency
from ne_dynamics.logs.names import find_unrecorded, match_names, name_misfit, rename
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import Robot
from ne_dynamics.printable import print_lines
from ne_dynamics.simulation.demo.ros_process import terminated_in_order

JOINT_STATES = 'joint_states'

ENDING = '_driver.params.yaml'
WRITTEN = 'parameter file of the node to write; - for standard output'

NODE = 'ne_dynamics_whatis'
JOINT_STATE = 'sensor_msgs/msg/JointState'

OPTIONS = f"""
@model_file
[LOG] > log
    CSV with a header (time, <joint>.position, optionally .velocity, .effort, .command; or t, q1,
    dq1, tau1; UR's RTDE; PlotJuggler; `ros2 topic echo --csv`), or ROS 2 bag
--live
    listen to topics instead of reading a log
--seconds S : positive = 20
    how long to listen
--topic TOPIC
    topic of the joint states (default: the only one of a bag; live: joint_states)
--command-topic TOPIC
    topic of the commands (default: the only array of a bag; live: none)
--command-joints JOINT...
    order of a command array (default: that of the model)
@gravity
@columns
{declare_output('FILE', ENDING, WRITTEN, 'str')}
--save-log FILE.csv
    save what was read or heard
@json
"""

add_parser = declare(
    'whatis',
    'Find for each joint whether a driver reports torques or currents, with or without gravity '
    'and friction, with which sign, scale and offset; the source of its velocities; steps, rate '
    'and gaps; and the delay of commands. Each result is known, likely, or cannot be told, with '
    'what would tell. Sends no commands.',
    OPTIONS,
    **COLUMN_READERS,
)


def run(args: argparse.Namespace) -> int:
    """Describe a driver, print it and write its profile; return 0.

    That no profile would make the node right for the driver is an error once all is printed.
    """
    _check_options(args)
    model = ModelFile(args)
    heard = _listen(args, model) if args.live else None
    robot, recording, notes = _read_recording(args, model, heard)
    # What was heard is not lost if it cannot be described.
    if args.save_log is not None:
        write_csv(args.save_log, recording)
    dynamics = Dynamics(robot, args.gravity, backend='python')
    description = describe_driver(dynamics, recording)
    obstacles = description.obstacles()
    is_written = args.output is not None and not obstacles
    if is_written:
        write_text(args.output, description.profile())
    document = {'model': args.model, 'notes': notes, **description.as_json()}
    lines = [*notes, *description.text().split('\n')]
    lines += ['', f'wrote {args.output}'] * (is_written and args.output != STANDARD)
    print_result(args, document, lines)
    if args.output is not None and obstacles:
        head = f'{args.output}: not written: no parameter of the node makes this right:'
        raise InputError('\n'.join([head, *obstacles]))
    return 0


def _check_options(args: argparse.Namespace) -> None:
    """Refuse what cannot be read or written before anything is heard; name the output."""
    if args.live == (args.log is not None):
        raise InputError(
            f'expected a LOG or --live, got {"both" if args.live else "neither"} of them'
        )
    if args.live and args.columns is not None:
        raise InputError('--columns: expected none with --live')
    require_packages(args, ros=args.live, bag=args.log is not None and is_bag(args.log))
    settle_output(args, ENDING)
    outputs = [('-o', args.output), ('--save-log', args.save_log)]
    check_files(args, outputs, LOG=args.log)


def _read_recording(
    args: argparse.Namespace, model: ModelFile, heard: MessageCollector | None
) -> tuple[Robot, DriverRecording, list[str]]:
    """Return robot and recording of the options, with the same joints, and what is to be said.

    Joints that the recording lacks, and nothing recorded moves beyond, are locked. What was heard
    stands in the place of a file.
    """
    robot = model.load()
    notes: list[str] = []
    columns = None if args.live else find_columns(args, robot, args.log)
    collector = heard
    if columns is None and collector is None:
        # It may be unpacked into temporary files: whatever ends this removes them.
        with terminated_in_order():
            joints = _command_joints(args, robot)
            collector = read_bag(args.log, joints, args.topic, args.command_topic)
    source = args.log if collector is None else collector.source
    recorded = () if columns is None else columns.joints
    if collector is not None:
        recorded = collector.list_joints()
    matched = match_names(robot, recorded, args.rename, source)
    show_columns(args, robot, columns, matched, source)
    if looks_like_xml(model.text):
        locked = find_unrecorded(robot, recorded, matched)
        if locked:
            robot = model.load(locked)
            places = ', '.join(f'{name} at {place:.4g}' for name, place in locked.items())
            notes.append(f'locked, since the recording lacks them: {places}')
    if not all(name in matched for name in robot.joint_names):
        raise InputError(f'{source}: {name_misfit(robot, recorded, matched)}')
    names = [matched[name] for name in robot.joint_names]
    if collector is None:
        for option, value in (('--topic', args.topic), ('--command-topic', args.command_topic)):
            if value is not None:
                raise InputError(f'{source}: {option}: expected none with a CSV file, got {value}')
        recording = read_csv(args.log, robot.joint_names, names, columns)
    else:
        recording = rename_joints(collector.finish(names), robot.joint_names)
        notes += [f'not used: {count} {why}' for why, count in collector.refused.items()]
    return robot, recording, notes


def _command_joints(args: argparse.Namespace, robot: Robot) -> Sequence[str]:
    """Return the joints of a command without names: as given, or in the order of the model.

    By their names in the recording.
    """
    if args.command_joints:
        return tuple(args.command_joints)
    names = {name: name for name in robot.joint_names}
    for old, new in sorted(args.rename, key=lambda pair: '*' in pair[0]):
        names.update({name: found for name in names if (found := rename(new, old, name))})
    return tuple(names.values())


def _listen(args: argparse.Namespace, model: ModelFile) -> MessageCollector:
    """Return what is heard for a time; Ctrl-C ends it early."""
    joints = _command_joints(args, model.load())
    topic = JOINT_STATES if args.topic is None else args.topic
    with optional_dependency('--live needs ROS 2 for Python', 'ros'):
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from sensor_msgs.msg import JointState
    collector = MessageCollector(joints, topic)
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
        _subscribe(node, executor, collector, JointState, args.command_topic)
        _hear(node, executor, collector, args.seconds)
        return collector
    finally:
        context.try_shutdown()


def _subscribe(
    node: Any, executor: Any, collector: MessageCollector, state: type, command_topic: str | None
) -> None:
    """Hand the messages of the topics to a collector, those of states of the given type."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    # Best effort hears reliable publishers, too.
    quality = QoSProfile(
        depth=COMMAND_LINE.waiting_messages, reliability=ReliabilityPolicy.BEST_EFFORT
    )

    def subscribe(kind: Any, topic: str, add: Callable[[Any, float], None]) -> None:
        node.create_subscription(kind, topic, lambda message: add(message, time.time()), quality)

    states = _resolve(node, '--topic', collector.source)
    subscribe(state, states, collector.add_state)
    if command_topic is not None:
        commands = _resolve(node, '--command-topic', command_topic)
        if commands == states:
            raise InputError(
                '--command-topic: expected another topic than that of the states, got '
                f'{command_topic}'
            )
        kind = _find_type(node, executor, commands)
        subscribe(kind, commands, collector.add_command)


def _resolve(node: Any, option: str, name: str) -> str:
    """Return the full name of a topic; refuse what is none."""
    try:
        return str(node.resolve_topic_name(name))
    except RuntimeError as error:
        reason = str(error).partition(', at ')[0]
        raise InputError(
            f'{option}: expected the name of a topic, got {name!r}: {reason}'
        ) from error


def _hear(node: Any, executor: Any, collector: MessageCollector, seconds: float) -> None:
    """Take messages for a time; refuse when there were no states."""
    topic = collector.source
    print_lines([f'listening to {topic} for {seconds:g} s; Ctrl-C: no longer'], sys.stderr)
    begin = time.monotonic()
    end = begin + seconds
    with contextlib.suppress(KeyboardInterrupt):
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=min(0.1, max(end - time.monotonic(), 0.0)))
    if collector.states < 2:
        raise InputError(
            f'{topic}: expected joint states, heard {collector.states} in '
            f'{time.monotonic() - begin:.3g} s{_explain_silence(node, topic, collector)}'
        )


def _explain_silence(node: Any, topic: str, collector: MessageCollector) -> str:
    """Return why no state was taken: what was refused, or who publishes what."""
    refused = ', '.join(f'{count} {why}' for why, count in collector.refused.items())
    if refused:
        return f'; not used: {refused}'
    others = sorted({info.topic_type for info in node.get_publishers_info_by_topic(topic)})
    if JOINT_STATE in others:
        return ', though it is published: for longer, --seconds'
    who = f'it is of {", ".join(others)}' if others else 'nobody publishes it'
    there = ', '.join(_list_topics(node, (JOINT_STATE,))) or 'no such topics'
    return f'; {who}; there are {there}'


def _find_type(node: Any, executor: Any, topic: str) -> Any:
    """Return the type of the messages of a topic of commands."""
    end = time.monotonic() + COMMAND_LINE.discovery_time
    while True:
        kinds = dict(node.get_topic_names_and_types()).get(topic, [])
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
