"""Model and logs of the subcommands that take several, or long ones."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options.log_changes import change_log
from ne_dynamics.cli.options.log_source import (
    LogSource,
    ModelText,
    describe_diagnosis,
    describe_locked,
    find_locked,
    read_log_source,
)
from ne_dynamics.driver import diagnose_recording
from ne_dynamics.driver.evidence.recording_diagnosis import RecordingDiagnosis
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification import FilteredLogs
from ne_dynamics.identification.pieces.log_set import as_recordings
from ne_dynamics.logs import Recording
from ne_dynamics.logs.log import list_joints
from ne_dynamics.logs.names import (
    find_still_joints,
    match_names,
    name_misfit,
)
from ne_dynamics.logs.recording import PIECE_BYTES
from ne_dynamics.logs.runner import Runner
from ne_dynamics.logs.samples.sample_faults import TIME_UNITS
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class LogSetSource:
    """Logs of one robot.

    Attributes
    ----------
    robot : Robot
    recordings : tuple of Recording
        With the joints of the robot, changed by hand where that was asked for.
    locked : mapping of str to float
        Joints that were locked because the logs do not move them, and where [rad or m].
    single : LogSource or None
        What was read, where there is one short log.
    """

    robot: Robot
    recordings: tuple[Recording, ...]
    locked: dict[str, float]
    single: LogSource | None = None

    def lines(self) -> list[str]:
        """Return what was locked, for people."""
        return describe_locked(self.locked, len(self.recordings))


@dataclass(frozen=True, eq=False)
class DiagnosedLogs:
    """What is wrong with logs, and the logs to be used.

    Attributes
    ----------
    diagnoses : tuple of RecordingDiagnosis
        One each log.
    recordings : tuple of Recording
    checked_after : int
        How many of their changes were made by hand.
    """

    diagnoses: tuple[RecordingDiagnosis, ...]
    recordings: tuple[Recording, ...]
    checked_after: int

    def is_refused(self, args: argparse.Namespace) -> bool:
        """Tell whether a log has an error that is neither repaired nor to be overlooked."""
        return not args.force and any(
            diagnosis.remaining if args.repair else diagnosis.errors
            for diagnosis in self.diagnoses
        )

    @property
    def named(self) -> list[tuple[str, RecordingDiagnosis]]:
        """Each log's name, and what is wrong with it."""
        sources = [recording.source for recording in self.recordings]
        return list(zip(sources, self.diagnoses, strict=True))

    @property
    def is_certain(self) -> bool:
        """Whether all that is wrong can be repaired."""
        return not any(diagnosis.remaining for diagnosis in self.diagnoses)

    def with_pieces(self, robot: Robot, logs: FilteredLogs) -> DiagnosedLogs:
        """Return what is wrong, with what the samples of all pieces of long logs show."""
        return replace(
            self,
            diagnoses=tuple(
                diagnosis.with_pieces(robot, log)
                for diagnosis, log in zip(self.diagnoses, logs.logs, strict=True)
            ),
        )

    def as_json(self) -> dict[str, Any]:
        """Return what is wrong as what JSON can hold: of one log, or of each."""
        documents = [diagnosis.as_json() for diagnosis in self.diagnoses]
        return {'diagnosis': documents[0] if len(documents) == 1 else documents}

    def lines(self, args: argparse.Namespace) -> list[str]:
        """Return lines for people; of several logs each has its name before its faults."""
        found = []
        for recording, diagnosis in zip(self.recordings, self.diagnoses, strict=True):
            own = describe_diagnosis(args, diagnosis)
            if own and len(self.recordings) > 1:
                own = [f'  {recording.source}:', *own]
            found += own
        return found


def find_recordings(args: argparse.Namespace, model: ModelText) -> LogSetSource:
    """Find the logs of the options, for their model; none of them is read yet.

    Joints at the ends of the model that the logs lack are locked.

    Raises
    ------
    NeDynamicsError
        When model or logs cannot be opened, or do not go together.
    """
    robot = model.load()
    names: list[dict[str, str]] = []
    recorded: list[tuple[str, ...]] = []
    for name in args.log:
        recorded.append(list_joints(name, args.topic))
        names.append(match_names(robot, recorded[-1], args.rename, name))
    locked: dict[str, float] = {}
    if looks_like_xml(model.text):
        locked = find_locked(robot, recorded[0], names[0])
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
    recordings = []
    for name, found, own in zip(args.log, recorded, names, strict=True):
        wanted = [own.get(joint, joint) for joint in robot.joint_names]
        try:
            recording = Recording.of_file(name, wanted, robot.joint_names, args.topic)
        except InputError as error:
            if all(joint in own for joint in robot.joint_names):
                raise
            raise InputError(f'{error}; {name_misfit(robot, found, own)}') from error
        recordings.append(_change(args, robot, recording))
    return LogSetSource(robot, as_recordings(recordings), locked)


def _change(args: argparse.Namespace, robot: Robot, recording: Recording) -> Recording:
    """Return a recording with what the options say."""
    if args.time_unit != 's':
        recording = recording.with_time_factor(TIME_UNITS[args.time_unit])
    keys = (
        'degrees',
        'position_sign',
        'zero',
        'sign',
        'scale',
        'delay',
        'unwrap',
    )
    # Times are multiplied where they are read: overlaps of pieces are times.
    asked = argparse.Namespace(time_unit='s', **{key: getattr(args, key) for key in keys})
    longest = max((abs(delay) for _, delay in args.delay), default=0.0)
    change = functools.partial(change_log, asked, robot)
    return recording.changed(change, longest_delay=longest)


def diagnose_recordings(
    args: argparse.Namespace, dynamics: Dynamics, recordings: Sequence[Recording]
) -> DiagnosedLogs:
    """Return what is wrong with logs, by the parts that are looked at."""
    diagnoses = []
    for recording in recordings:
        diagnoses.append(diagnose_recording(dynamics, recording))
        if len(recordings) > 1:
            recording.forget_looks()
    used = tuple(diagnosis.repaired for diagnosis in diagnoses) if args.repair else recordings
    return DiagnosedLogs(tuple(diagnoses), tuple(used), len(recordings[0].changes))


def read_filtered(
    args: argparse.Namespace, robot: Robot, found: DiagnosedLogs, runner: Runner
) -> tuple[FilteredLogs, DiagnosedLogs]:
    """Read and filter logs; return them, and what is wrong with all of their samples."""
    logs = FilteredLogs.read(
        robot, found.recordings, runner, args.cutoff, checked_after=found.checked_after
    )
    return logs, found.with_pieces(robot, logs)


def lock_still(
    model: ModelText, source: LogSetSource, logs: FilteredLogs
) -> tuple[LogSetSource, FilteredLogs]:
    """Lock joints at the ends of the arm that stand in all logs, whose efforts no fit uses."""
    robot = source.robot
    still = find_still_joints(robot, *logs.find_ranges()) if looks_like_xml(model.text) else {}
    if not still:
        return source, logs
    locked = {**source.locked, **still}
    chosen = [index for index, name in enumerate(robot.joint_names) if name not in still]
    return replace(source, robot=model.load(locked), locked=locked), logs.of_joints(chosen)


def is_one_short_log(args: argparse.Namespace) -> bool:
    """Tell whether there is one log that is small enough to be read at once, whatever it is."""
    if len(args.log) > 1:
        return False
    place = Path(args.log[0])
    try:
        files = [item for item in place.iterdir() if item.is_file()] if place.is_dir() else [place]
        return sum(item.stat().st_size for item in files) <= 2 * PIECE_BYTES
    except OSError:
        return True  # which is said where it is read


def find_logs(
    args: argparse.Namespace, model: ModelText, *, lock_still: bool = False
) -> LogSetSource:
    """Find the logs of the options, for their model; one short log is read.

    Parameters
    ----------
    args : argparse.Namespace
    model : ModelText
    lock_still : bool
        Whether joints at the ends of the arm are locked that never move in it.

    Raises
    ------
    NeDynamicsError
        When model or logs cannot be read, or do not go together.
    """
    if not is_one_short_log(args):
        return find_recordings(args, model)
    source = read_log_source(args, model, lock_still=lock_still)
    recording = replace(Recording.of_log(source.log), source=args.log[0])
    return LogSetSource(source.robot, (recording,), source.locked, source)
