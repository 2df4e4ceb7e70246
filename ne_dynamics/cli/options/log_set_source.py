"""Model and logs of the subcommands that take both, made to fit each other."""

from __future__ import annotations

import argparse
import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options.log_options import change_log, find_columns, show_columns
from ne_dynamics.cli.options.model_file import ModelFile, require_packages
from ne_dynamics.driver import diagnose_log
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Log, LogDiagnosis
from ne_dynamics.logs.log import list_joints, read_log
from ne_dynamics.logs.names import (
    find_still,
    find_unrecorded,
    match_names,
    name_misfit,
    with_joints,
)
from ne_dynamics.logs.parts import change_in_parts, is_long
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.work import Work
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class LogSetSource:
    """Logs with the joints of one robot, changed by hand where that was asked for.

    Joints are locked that the logs do not move, at places [rad or m].
    """

    robot: Robot
    logs: tuple[Log, ...]
    locked: dict[str, float]

    def lines(self) -> list[str]:
        """Return what was locked, for people."""
        if not self.locked:
            return []
        joints = ', '.join(f'{name} at {place:.4g}' for name, place in self.locked.items())
        who = 'the log does not move' if len(self.logs) == 1 else 'no log moves'
        return [f'locked, since {who} them: {joints}']

    def lock_still(self, model: ModelFile, work: Work) -> LogSetSource:
        """Lock joints at the ends of the arm that stand in all logs, whose efforts no fit uses."""
        still = find_still(self.robot, *self.logs) if looks_like_xml(model.text) else {}
        if not still:
            return self
        locked = {**self.locked, **still}
        robot = model.load(locked)
        choose = functools.partial(with_joints, names=robot.joint_names)
        logs = tuple(change_in_parts(log, choose, work) for log in self.logs)
        return LogSetSource(robot, logs, locked)


@dataclass(frozen=True, eq=False)
class DiagnosedLogs:
    """What is wrong with each log, and the logs to be used."""

    diagnoses: tuple[LogDiagnosis, ...]
    logs: tuple[Log, ...]

    @classmethod
    def choose(
        cls, args: argparse.Namespace, diagnoses: tuple[LogDiagnosis, ...], logs: tuple[Log, ...]
    ) -> DiagnosedLogs:
        """Return the given logs, or the repaired ones if those are asked for."""
        repaired = tuple(diagnosis.repaired for diagnosis in diagnoses)
        return cls(diagnoses, repaired if args.repair else logs)

    def list_refused(self, args: argparse.Namespace) -> list[str]:
        """Return the names of logs with an error that is neither repaired nor to be overlooked."""
        return [
            name
            for name, diagnosis in self.named
            if not args.force and (diagnosis.remaining if args.repair else diagnosis.errors)
        ]

    @property
    def named(self) -> list[tuple[str, LogDiagnosis]]:
        """Each log's name, and what is wrong with it."""
        return [(log.source, own) for log, own in zip(self.logs, self.diagnoses, strict=True)]

    @property
    def remedy(self) -> str:
        """What can be done about logs that are wrong."""
        if any(diagnosis.remaining for diagnosis in self.diagnoses):
            return 'not all of it can be repaired: do what each line above says'
        return '--repair takes out what is wrong'

    def as_json(self) -> dict[str, Any]:
        """Return what is wrong as what JSON can hold: of one log, or of each."""
        documents = [diagnosis.as_json() for diagnosis in self.diagnoses]
        return {'diagnosis': documents[0] if len(documents) == 1 else documents}

    def lines(self, args: argparse.Namespace) -> list[str]:
        """Return lines for people; of several logs each has its name before its faults."""
        each = self.describe_each(args)
        if len(each) == 1:
            return each[0]
        named = zip(self.logs, each, strict=True)
        return [line for log, own in named if own for line in (f'  {log.source}:', *own)]

    def describe_each(self, args: argparse.Namespace) -> list[list[str]]:
        """Return for each log the lines on what is wrong, and what was repaired."""
        found = []
        for diagnosis in self.diagnoses:
            lines = [f'  {fault.text}' for fault in diagnosis.faults]
            repaired = [fault.code for fault in diagnosis.faults if fault.is_certain]
            if args.repair and repaired:
                lines.append(f'  repaired: {", ".join(repaired)}')
            if lines:
                lines += [f'  this log does not show {sentence}' for sentence in diagnosis.untold]
            found.append(lines)
        return found


def require_log_packages(args: argparse.Namespace) -> None:
    """Refuse to begin without a package that the logs, or options of their commands, need."""
    logs = [*args.log, *([getattr(args, 'without', None)] if args.command == 'identify' else [])]
    require_packages(
        args,
        bag=any(is_bag(log) for log in logs if log),
        report=args.report is not None,
        plot=getattr(args, 'plot', None) is not None,
        cluster=args.scheduler is not None,
    )


@contextlib.contextmanager
def open_work(args: argparse.Namespace) -> Iterator[Work]:
    """Yield how the work on logs is done: here, in processes, or by a scheduler."""
    from ne_dynamics.logs.executors import open_executor
    from ne_dynamics.progress_bar import show_items

    with open_executor(args.jobs, args.scheduler) as executor:
        yield Work(executor, None if args.json else show_items)


def find_logs(args: argparse.Namespace, model: ModelFile, work: Work) -> LogSetSource:
    """Read the logs of the options, for their model.

    Joints at the ends of the model that the logs lack are locked.
    """
    _require_each_once(args.log)
    robot = model.load()
    names: list[dict[str, str]] = []
    recorded: list[tuple[str, ...]] = []
    columns = [find_columns(args, robot, name) for name in args.log]
    for name, header in zip(args.log, columns, strict=True):
        recorded.append(list_joints(name, args.topic) if header is None else header.joints)
        names.append(match_names(robot, recorded[-1], args.rename, name))
        show_columns(args, robot, header, names[-1], name)
    locked: dict[str, float] = {}
    if looks_like_xml(model.text):
        locked = find_unrecorded(robot, recorded[0], names[0])
        robot = model.load(locked) if locked else robot
    for name, found, own in zip(args.log[1:], recorded[1:], names[1:], strict=True):
        missing = [joint for joint in robot.joint_names if joint not in own]
        if missing and all(joint in names[0] for joint in robot.joint_names):
            raise InputError(
                f'{name}: expected the joints of {args.log[0]}, got none of the name '
                f'{", ".join(missing)}; {name_misfit(robot, found, own)}'
            )
        other = [joint for joint in locked if joint in own]
        if other:
            raise InputError(
                f'{args.log[0]}: expected the joint {", ".join(other)}, which {name} has'
            )
    logs = []
    for name, found, own, header in zip(args.log, recorded, names, columns, strict=True):
        wanted = [own.get(joint, joint) for joint in robot.joint_names]
        try:
            log = read_log(name, wanted, args.topic, work=work, columns=header)
        except InputError as error:
            if all(joint in own for joint in robot.joint_names):
                raise
            raise InputError(f'{error}; {name_misfit(robot, found, own)}') from error
        log = replace(log, joint_names=robot.joint_names, source=name)
        logs.append(change_log(args, robot, log, work))
    return LogSetSource(robot, tuple(logs), locked)


def _require_each_once(names: Sequence[str]) -> None:
    seen: dict[Path, str] = {}
    for name in names:
        place = Path(name).resolve()
        if place in seen:
            raise InputError(f'logs: expected each once, got {seen[place]!r} and {name!r}')
        seen[place] = name


def diagnose_logs(
    args: argparse.Namespace, dynamics: Dynamics, source: LogSetSource, work: Work
) -> DiagnosedLogs:
    """Return what is wrong with logs, and the logs to be used: repaired if that is asked for."""
    if any(map(is_long, source.logs)):
        diagnoses = tuple(diagnose_log(dynamics, log, work=work) for log in source.logs)
    else:
        logs = [(log,) for log in source.logs]
        diagnoses = tuple(work.map('diagnose', _diagnose, logs, dynamics))
    return DiagnosedLogs.choose(args, diagnoses, source.logs)


def _diagnose(log: Log, dynamics: Dynamics) -> LogDiagnosis:
    return diagnose_log(dynamics, log)
