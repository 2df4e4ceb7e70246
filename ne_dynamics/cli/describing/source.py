"""The recording of `whatis`: of a file or of topics, with the joints of the model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.cli.options.model_file import ModelFile
from ne_dynamics.driver import DriverRecording
from ne_dynamics.driver.collecting import MessageCollector
from ne_dynamics.driver.reading import list_csv_joints, read_bag, read_csv
from ne_dynamics.driver.recording import rename_joints
from ne_dynamics.errors import InputError
from ne_dynamics.logs.names import find_unrecorded, match_names, name_misfit
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import Robot
from ne_dynamics.simulation.demo.ros_process import terminated_in_order


@dataclass(frozen=True, eq=False)
class DriverSource:
    """What was read or heard.

    Attributes
    ----------
    robot : Robot
        Joints that the recording lacks, and nothing recorded moves beyond, are locked.
    recording : DriverRecording
        With the joints of the robot.
    notes : tuple of str
        What is to be said of it.
    """

    robot: Robot
    recording: DriverRecording
    notes: tuple[str, ...]


def read_driver_source(
    args: argparse.Namespace, model: ModelFile, heard: MessageCollector | None
) -> DriverSource:
    """Return the recording of the options, for their model.

    Parameters
    ----------
    args : argparse.Namespace
    model : ModelFile
    heard : MessageCollector or None
        What was heard; None: the file is read.

    Returns
    -------
    DriverSource

    Raises
    ------
    NeDynamicsError
        When model or recording cannot be read, or do not go together.
    """
    robot = model.load()
    collector = heard
    if collector is None and is_bag(args.log):
        # It may be unpacked into temporary files: whatever ends this removes them.
        with terminated_in_order():
            collector = read_bag(
                args.log, command_joints(args, robot), args.topic, args.command_topic
            )
    source = args.log if collector is None else collector.source
    recorded = list_csv_joints(args.log) if collector is None else collector.list_joints()
    matched = match_names(robot, recorded, args.rename, source)
    notes = []
    if looks_like_xml(model.text):
        locked = {}
        for name in find_unrecorded(robot, recorded, matched):
            joint = robot.joints[robot.joint_names.index(name)]
            locked[name] = min(max(0.0, joint.lower), joint.upper)
        if locked:
            robot = model.load(locked)
            places = ', '.join(f'{name} at {place:.4g}' for name, place in locked.items())
            notes.append(f'locked, since the recording lacks them: {places}')
    missing = [name for name in robot.joint_names if name not in matched]
    if missing:
        raise InputError(f'{source}: {name_misfit(robot, recorded, matched)}')
    names = [matched[name] for name in robot.joint_names]
    if collector is None:
        for option, value in (('--topic', args.topic), ('--command-topic', args.command_topic)):
            if value is not None:
                raise InputError(f'{source}: {option}: expected none with a CSV file, got {value}')
        recording = read_csv(args.log, robot.joint_names, names)
    else:
        recording = rename_joints(collector.finish(names), robot.joint_names)
        notes += [f'not used: {count} {why}' for why, count in collector.refused.items()]
    return DriverSource(robot, recording, tuple(notes))


def command_joints(args: argparse.Namespace, robot: Robot) -> Sequence[str]:
    """Return the joints of a command without names: as given, or in the order of the model.

    By their names in the recording.
    """
    if args.command_joints:
        return tuple(args.command_joints)
    renamed = {new: old for old, new in args.rename if '*' not in old}
    stars = [(old, new) for old, new in args.rename if '*' in old]
    names = []
    for name in robot.joint_names:
        found = renamed.get(name, name)
        for old, new in stars:
            head, _, tail = new.partition('*')
            if name.startswith(head) and name.endswith(tail):
                found = old.replace('*', name[len(head) : len(name) - len(tail)])
        names.append(found)
    return tuple(names)
