"""Recordings of drivers and a model, made to fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.collecting import MessageCollector
from ne_dynamics.driver.reading import read_bag, read_csv
from ne_dynamics.driver.recording import DriverRecording, rename_joints
from ne_dynamics.errors import InputError
from ne_dynamics.logs.names import rename
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.recorded_joints import LogRequest, RecordedJoints, Say
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class RobotRecording:
    """A recording of the joints of a robot.

    Attributes
    ----------
    robot : Robot
        With joints locked that are not recorded and beyond which nothing recorded moves.
    recording : DriverRecording
    notes : tuple of str
        What was locked or left out, one sentence each.
    """

    robot: Robot
    recording: DriverRecording
    notes: tuple[str, ...]

    @classmethod
    def read(
        cls,
        model: ModelSource,
        recorded: str | MessageCollector,
        request: LogRequest,
        say: Say,
        command_topic: str | None = None,
        command_joints: Sequence[str] = (),
    ) -> RobotRecording:
        """Read a CSV file or a bag, or take what was heard.

        Of the request topic, columns and rename count; `say` is told what the columns of a file
        were taken for. A bag may have a topic of commands, and the joints of those without names.

        Raises
        ------
        InputError
            When it cannot be read, or lacks a joint that cannot be locked.
        """
        robot, notes = model.load(), list[str]()
        if isinstance(recorded, str) and is_bag(recorded):
            order = list_command_joints(robot, request, command_joints)
            recorded = read_bag(recorded, order, request.topic, command_topic)
        source = recorded if isinstance(recorded, str) else recorded.source
        names = () if isinstance(recorded, str) else recorded.list_joints()
        joints = RecordedJoints.find(robot, request, source, names)
        lines = joints.describe_columns(robot, request)
        if lines:
            say(lines)
        robot, locked = joints.lock_missing(model, robot)
        if locked:
            places = ', '.join(f'{name} at {place:.4g}' for name, place in locked.items())
            notes.append(f'locked, since the recording lacks them: {places}')
        if not joints.has_all(robot):
            raise InputError(f'{source}: {joints.explain_misfit(robot)}')
        wanted = [joints.matched[name] for name in robot.joint_names]
        if isinstance(recorded, str):
            _refuse_topics(source, request.topic, command_topic)
            recording = read_csv(source, robot.joint_names, wanted, joints.columns)
        else:
            recording = rename_joints(recorded.finish(wanted), robot.joint_names)
            notes += [f'not used: {count} {why}' for why, count in recorded.refused.items()]
        return cls(robot, recording, tuple(notes))


def _refuse_topics(source: str, topic: str | None, command_topic: str | None) -> None:
    for option, value in (('--topic', topic), ('--command-topic', command_topic)):
        if value is not None:
            raise InputError(f'{source}: {option}: expected none with a CSV file, got {value}')


def list_command_joints(
    robot: Robot, request: LogRequest, given: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the joints of a command without names: as given, or in the order of the model.

    By their names in the recording.
    """
    if given:
        return tuple(given)
    names = {name: name for name in robot.joint_names}
    for old, new in sorted(request.rename, key=lambda pair: '*' in pair[0]):
        names.update({name: found for name in names if (found := rename(new, old, name))})
    return tuple(names.values())
