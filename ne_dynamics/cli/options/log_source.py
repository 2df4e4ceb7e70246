"""Model and log of the subcommands that take both, made to fit each other."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ne_dynamics.cli.options.log_changes import change_log
from ne_dynamics.driver import LogDiagnosis, diagnose_log
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Diagnosis, Log
from ne_dynamics.logs.log import list_joints, read_log
from ne_dynamics.logs.names import (
    find_still,
    find_unrecorded,
    match_names,
    name_misfit,
    with_joints,
    with_names,
)
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import Robot


class ModelText(Protocol):
    """A description, and the robot of it."""

    @property
    def text(self) -> str:
        """URDF, or a DH file."""

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot, with joints locked where they are given [rad or m]."""


@dataclass(frozen=True, eq=False)
class LogSource:
    """What was read.

    Attributes
    ----------
    robot : Robot
    log : Log
        With the joints of the robot, changed by hand where that was asked for.
    locked : mapping of str to float
        Joints that were locked because the log does not move them, and where [rad or m].
    """

    robot: Robot
    log: Log
    locked: dict[str, float]

    def lines(self) -> list[str]:
        """Return what was locked, for people."""
        return describe_locked(self.locked)


def describe_locked(locked: Mapping[str, float], logs: int = 1) -> list[str]:
    """Return what was locked, for people."""
    if not locked:
        return []
    joints = ', '.join(f'{name} at {place:.4g}' for name, place in locked.items())
    who = 'the log does not move' if logs == 1 else 'no log moves'
    return [f'locked, since {who} them: {joints}']


def read_log_source(
    args: argparse.Namespace, model: ModelText, *, lock_still: bool = False
) -> LogSource:
    """Read the log of the options, which is one and short, for their model.

    Joints at the ends of the model that the log lacks are locked; with `lock_still` those too that
    never move in it, whose efforts no fit uses.

    Raises
    ------
    NeDynamicsError
        When model or log cannot be read, or do not go together.
    """
    (name,) = args.log
    robot = model.load()
    recorded = list_joints(name, args.topic)
    matched = match_names(robot, recorded, args.rename, name)
    can_lock = looks_like_xml(model.text)
    locked: dict[str, float] = {}
    if can_lock:
        locked = find_locked(robot, recorded, matched)
        robot = model.load(locked) if locked else robot
    try:
        log = read_log(name, [matched.get(own, own) for own in robot.joint_names], args.topic)
    except InputError as error:
        if all(own in matched for own in robot.joint_names):
            raise
        raise InputError(f'{error}; {name_misfit(robot, recorded, matched)}') from error
    log = change_log(args, robot, with_names(log, robot.joint_names))
    still = find_still(robot, log) if can_lock and lock_still else {}
    if still:
        locked |= still
        robot = model.load(locked)
        log = with_joints(log, robot.joint_names)
    return LogSource(robot, log, locked)


def find_locked(
    robot: Robot, recorded: Sequence[str], matched: Mapping[str, str]
) -> dict[str, float]:
    """Return joints that a log lacks and that are locked, and where [rad or m]."""
    return {name: _zero(robot, name) for name in find_unrecorded(robot, recorded, matched)}


def _zero(robot: Robot, name: str) -> float:
    """Return the position nearest to zero that a joint can have [rad or m]."""
    joint = robot.joints[robot.joint_names.index(name)]
    return min(max(0.0, joint.lower), joint.upper)


def add_repair(parser: argparse.ArgumentParser) -> None:
    """Add the options for what is done about a log that is wrong."""
    parser.add_argument(
        '--repair',
        action='store_true',
        help='take faults of the log out of it, where what is wrong and by how much is certain',
    )


def diagnose(
    args: argparse.Namespace,
    dynamics: Dynamics,
    log: Log,
    *,
    has_free_factors: bool = False,
    has_load: bool = False,
) -> tuple[LogDiagnosis, Log, list[str]]:
    """Return what is wrong with a log, the log to be used, and lines for people.

    The keywords are those of :func:`~ne_dynamics.driver.evidence.diagnosis.diagnose_log`.
    """
    diagnosis = diagnose_log(dynamics, log, has_free_factors=has_free_factors, has_load=has_load)
    used = diagnosis.repaired if args.repair else log
    return diagnosis, used, describe_diagnosis(args, diagnosis)


def describe_remedy(is_certain: bool) -> str:
    """Return what can be done about a log that is wrong; `is_certain`: all of it is repairable."""
    return '--repair takes out what is wrong' if is_certain else 'not all of it can be repaired'


def describe_diagnosis(args: argparse.Namespace, diagnosis: Diagnosis) -> list[str]:
    """Return lines for people on what is wrong with a log, and what was repaired."""
    lines = [f'  {fault.text}' for fault in diagnosis.faults]
    repaired = [fault.code for fault in diagnosis.faults if fault.is_certain]
    if args.repair and repaired:
        lines.append(f'  repaired: {", ".join(repaired)}')
    if lines:
        lines += [f'  this log does not show {sentence}' for sentence in diagnosis.untold]
    return lines
