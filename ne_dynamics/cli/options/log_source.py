"""What is said of a log that was read for a model: what was locked, and what is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Protocol

from ne_dynamics.driver import diagnose_log
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Log, LogDiagnosis
from ne_dynamics.logs.names import find_unrecorded
from ne_dynamics.model.robot import Robot


class ModelText(Protocol):
    """A description, and the robot of it."""

    @property
    def text(self) -> str:
        """URDF, or a DH file."""

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot, with joints locked where they are given [rad or m]."""


def describe_locked(locked: Mapping[str, float], logs: int = 1) -> list[str]:
    """Return what was locked, for people."""
    if not locked:
        return []
    joints = ', '.join(f'{name} at {place:.4g}' for name, place in locked.items())
    who = 'the log does not move' if logs == 1 else 'no log moves'
    return [f'locked, since {who} them: {joints}']


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

    The keywords are those of :func:`~ne_dynamics.driver.diagnosis.diagnose_log`.
    """
    diagnosis = diagnose_log(dynamics, log, has_free_factors=has_free_factors, has_load=has_load)
    used = diagnosis.repaired if args.repair else log
    return diagnosis, used, describe_diagnosis(args, diagnosis)


def describe_remedy(is_certain: bool) -> str:
    """Return what can be done about a log that is wrong; `is_certain`: all of it is repairable."""
    return '--repair takes out what is wrong' if is_certain else 'not all of it can be repaired'


def describe_diagnosis(args: argparse.Namespace, diagnosis: LogDiagnosis) -> list[str]:
    """Return lines for people on what is wrong with a log, and what was repaired."""
    lines = [f'  {fault.text}' for fault in diagnosis.faults]
    repaired = [fault.code for fault in diagnosis.faults if fault.is_certain]
    if args.repair and repaired:
        lines.append(f'  repaired: {", ".join(repaired)}')
    if lines:
        lines += [f'  this log does not show {sentence}' for sentence in diagnosis.untold]
    return lines
