"""Logs and a model, made to fit each other."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import Log, read_log
from ne_dynamics.logs.names import find_still, with_joints
from ne_dynamics.logs.parts import change_in_parts
from ne_dynamics.logs.recorded_joints import LogRequest, RecordedJoints, Say
from ne_dynamics.logs.work import Work
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class RobotLogs:
    """Logs with the joints of one robot, changed by hand where that was asked for.

    Attributes
    ----------
    robot : Robot
    logs : tuple of Log
    locked : dict of str to float
        Joints that the logs do not move, locked at these places [rad or m].
    """

    robot: Robot
    logs: tuple[Log, ...]
    locked: dict[str, float]

    @classmethod
    def read(
        cls, model: ModelSource, files: Sequence[str], request: LogRequest, work: Work, say: Say
    ) -> RobotLogs:
        """Read logs for a model; joints at its ends that the logs lack are locked.

        Parameters
        ----------
        model : ModelSource
        files : sequence of str
            CSV files and bags.
        request : LogRequest
        work : Work
        say : callable
            Is told what the columns of a file were taken for, where its header does not say so.

        Raises
        ------
        InputError
            When a log is given twice, cannot be read, or has other joints.
        """
        _require_each_once(files)
        robot = model.load()
        found = []
        for file in files:
            found.append(RecordedJoints.find(robot, request, file))
            lines = found[-1].describe_columns(robot, request)
            if lines:
                say(lines)
        robot, locked = found[0].lock_missing(model, robot)
        for other in found[1:]:
            missing = [joint for joint in robot.joint_names if joint not in other.matched]
            if missing and found[0].has_all(robot):
                raise InputError(
                    f'{other.source}: expected the joints of {files[0]}, got none of the name '
                    f'{", ".join(missing)}; {other.explain_misfit(robot)}'
                )
            more = [joint for joint in locked if joint in other.matched]
            if more:
                raise InputError(
                    f'{files[0]}: expected the joint {", ".join(more)}, which {other.source} has'
                )
        return cls(robot, tuple(_read(robot, each, request, work) for each in found), locked)

    def as_json(self) -> dict[str, Any]:
        """Return what was read, and what was locked, as data for JSON."""
        logs = [{'source': log.source, 'summary': log.summary()} for log in self.logs]
        text = '; '.join(log['summary'] for log in logs)
        return {'log': text, 'logs': logs, 'locked': self.locked}

    def lines(self) -> list[str]:
        """Return what was locked, for people."""
        if not self.locked:
            return []
        joints = ', '.join(f'{name} at {place:.4g}' for name, place in self.locked.items())
        who = 'the log does not move' if len(self.logs) == 1 else 'no log moves'
        return [f'locked, since {who} them: {joints}']

    def lock_still(self, model: ModelSource, work: Work) -> RobotLogs:
        """Lock joints at the ends of the arm that stand in all logs, whose efforts no fit uses."""
        still = find_still(self.robot, *self.logs) if model.is_urdf else {}
        if not still:
            return self
        locked = {**self.locked, **still}
        robot = model.load(locked)
        choose = functools.partial(with_joints, names=robot.joint_names)
        logs = tuple(change_in_parts(log, choose, work) for log in self.logs)
        return RobotLogs(robot, logs, locked)


def _read(robot: Robot, joints: RecordedJoints, request: LogRequest, work: Work) -> Log:
    wanted = [joints.matched.get(joint, joint) for joint in robot.joint_names]
    try:
        log = read_log(joints.source, wanted, request.topic, work=work, columns=joints.columns)
    except InputError as error:
        if joints.has_all(robot):
            raise
        raise InputError(f'{error}; {joints.explain_misfit(robot)}') from error
    log = replace(log, joint_names=robot.joint_names, source=joints.source)
    return request.change(robot, log, work)


def _require_each_once(files: Sequence[str]) -> None:
    seen: dict[Path, str] = {}
    for file in files:
        place = Path(file).resolve()
        if place in seen:
            raise InputError(f'logs: expected each once, got {seen[place]!r} and {file!r}')
        seen[place] = file
