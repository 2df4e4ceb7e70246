"""What is wrong with a log that may be long: units and causes in parts of it, samples in all."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.driver.evidence.diagnosis import diagnose_log, weigh_log
from ne_dynamics.driver.evidence.evidence import choose_evidence_cutoff
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.pieces.log_set import FilteredLog
from ne_dynamics.logs import Diagnosis, Log, LogFault, LogReading, Recording
from ne_dynamics.logs.piece_samples import Change
from ne_dynamics.logs.samples.sample_checks import merge_faults, repair_samples
from ne_dynamics.logs.samples.sample_faults import (
    find_degrees,
    find_time_unit,
    scale_time,
    to_radians,
)
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class RecordingDiagnosis(Diagnosis):
    """What is wrong with a recording.

    Attributes
    ----------
    repaired : Recording
        Without the faults whose repair is certain.
    """

    repaired: Recording

    def with_pieces(self, robot: Robot, log: FilteredLog) -> RecordingDiagnosis:
        """Return the diagnosis with what the samples of all pieces show.

        Parameters
        ----------
        robot : Robot
        log : FilteredLog
        """
        return replace(self, faults=merge_faults(robot, log.pieces, self.faults))


def diagnose_recording(dynamics: Dynamics, recording: Recording) -> RecordingDiagnosis:
    """Find what is wrong with a recording, by the parts of it that are looked at.

    Parameters
    ----------
    dynamics : Dynamics
        Of the given model.
    recording : Recording
        With its joints, in its order.

    Raises
    ------
    InputError
        When the log cannot be read.
    """
    robot = dynamics.robot
    if not recording.is_long:
        found = diagnose_log(dynamics, recording.looks[0])
        if recording.held is not None:
            repaired = replace(recording, held=found.repaired)
        else:
            repaired = _repair(recording, robot, found.faults, found.reading)
        return RecordingDiagnosis(found.faults, found.untold, repaired)
    faults: dict[str, LogFault] = {}
    parts = list(recording.looks)
    for check in (find_degrees, find_time_unit):
        _, fault = check(robot, join_parts(parts))
        if fault is None:
            continue
        faults[fault.code] = fault
        for index, part in enumerate(parts):
            parts[index] = (
                to_radians(robot, part)
                if fault.code == 'degrees'
                else scale_time(part, fault.amount)
            )
    joined = join_parts([repair_samples(robot, part) for part in parts])
    cutoff = max(choose_evidence_cutoff(part) for part in parts)
    others, untold, reading = weigh_log(dynamics, joined, cutoff) or (
        (),
        (),
        LogReading.as_recorded(robot.n),
    )
    found_faults = (*faults.values(), *others)
    repaired = _repair(recording, robot, found_faults, reading)
    return RecordingDiagnosis(found_faults, untold, repaired)


def join_parts(parts: Sequence[Log]) -> Log:
    """Return one log of parts of a log, with gaps between them.

    Parameters
    ----------
    parts : sequence of Log
        In their order; what of one is not after all of the one before is left out.
    """
    kept, latest = [], -np.inf
    for part in parts:
        later = part.times > latest
        if later.any():
            kept.append((part, later))
            latest = float(part.times[-1])
    has_velocity = all(part.velocity is not None for part, _ in kept)
    velocities = [part.velocity[later] for part, later in kept if part.velocity is not None]
    return replace(
        parts[0],
        times=np.concatenate([part.times[later] for part, later in kept]),
        position=np.concatenate([part.position[later] for part, later in kept]),
        effort=np.concatenate([part.effort[later] for part, later in kept]),
        velocity=np.concatenate(velocities) if has_velocity else None,
    )


def _repair(
    recording: Recording, robot: Robot, faults: Sequence[LogFault], reading: LogReading
) -> Recording:
    """Return a recording without the faults whose repair is certain."""
    changes: list[Change] = []
    for fault in faults:
        if fault.code == 'time-unit' and fault.is_certain:
            recording = recording.with_time_factor(fault.amount)
        if fault.code == 'degrees' and fault.is_certain:
            changes.append(functools.partial(to_radians, robot))
    changes.append(functools.partial(repair_samples, robot))
    delay = float(np.abs(reading.effort_delay).max())
    return recording.changed(*changes, reading.read_log, longest_delay=delay)
