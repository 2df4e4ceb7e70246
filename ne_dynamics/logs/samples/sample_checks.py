"""Faults that samples show by themselves, in a log and piece by piece in a long one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ne_dynamics.logs.fault import LogFault
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.piece_samples import Change, PieceSamples, PieceSummary
from ne_dynamics.logs.samples.effort_faults import find_cut_efforts, find_frozen_efforts
from ne_dynamics.logs.samples.position_jumps import find_clock_restart, find_zero_jumps
from ne_dynamics.logs.samples.sample_faults import (
    RARE,
    find_degrees,
    find_spikes,
    find_stale,
    find_time_unit,
    find_wraps,
)
from ne_dynamics.logs.source_clock import find_recorder_stamps
from ne_dynamics.model.robot import Robot

BESIDE = 64
"""Samples to either side of a piece that are looked at with it, for jumps between two pieces."""

Check = Callable[[Robot, Log], tuple[Log, LogFault | None]]

PIECE_CHECKS: tuple[Check, ...] = (
    find_wraps,
    find_stale,
    find_spikes,
    find_zero_jumps,
    find_cut_efforts,
    find_frozen_efforts,
)
"""Those that have to look at every sample; units are told by any part of a log."""

CHECKS: tuple[Check, ...] = (
    find_degrees,
    find_time_unit,
    find_clock_restart,
    find_recorder_stamps,
    *PIECE_CHECKS,
)
"""In the order in which one needs what another repairs."""


def check_samples(robot: Robot, log: Log) -> tuple[Log, list[LogFault]]:
    """Return a log without the faults that its samples show, and those.

    Parameters
    ----------
    robot : Robot
    log : Log
        With the joints of the robot.
    """
    faults = []
    for check in CHECKS:
        log, fault = check(robot, log)
        if fault is not None:
            faults.append(fault)
    return log, faults


def repair_samples(robot: Robot, log: Log) -> Log:
    """Return a piece of a log without turns, repetitions and spikes."""
    for check in PIECE_CHECKS:
        log, _ = check(robot, log)
    return log


def check_piece(robot: Robot, samples: PieceSamples, changes: tuple[Change, ...]) -> PieceSummary:
    """Return the summary of a piece with the faults that its samples show, once they are changed.

    Parameters
    ----------
    robot : Robot
    samples : PieceSamples
    changes : tuple of Change
        By hand.
    """
    faults = [_find_clock_restart(robot, samples)]
    log = samples.own_log()
    if log is not None:
        for change in changes:
            log = change(log)
        for check in PIECE_CHECKS:
            log, fault = check(robot, log)
            if check is find_zero_jumps:
                fault = _find_zero_jumps(robot, samples, changes)
            faults.append(fault)
    found = tuple(fault for fault in faults if fault is not None)
    return replace(samples.summary, faults=found)


def _find_clock_restart(robot: Robot, samples: PieceSamples) -> LogFault | None:
    """Return a clock that goes back in a piece, or from the one before to it."""
    if samples.log is None:
        return None
    _, fault = find_clock_restart(robot, samples.log)
    # Pieces count how often, not what is lost.
    return None if fault is None else replace(fault, amount=1.0)


def _find_zero_jumps(
    robot: Robot, samples: PieceSamples, changes: tuple[Change, ...]
) -> LogFault | None:
    """Return positions that jump in a piece, or from it to the next one."""
    log = samples.own_log(BESIDE)
    if log is None:
        return None
    for change in changes:
        log = change(log)
    for check in (find_wraps, find_stale, find_spikes):
        log, _ = check(robot, log)
    _, fault = find_zero_jumps(robot, log, samples.summary.first, samples.summary.last)
    return fault


def merge_faults(
    robot: Robot, parts: Sequence[PieceSummary], others: Iterable[LogFault] = ()
) -> tuple[LogFault, ...]:
    """Return the faults of a log that its pieces have, each cause once.

    Parameters
    ----------
    robot : Robot
    parts : sequence of PieceSummary
    others : iterable of LogFault
        That were found before, by other means.
    """
    found: dict[str, list[tuple[LogFault, PieceSummary]]] = {}
    for part in parts:
        for fault in part.faults:
            found.setdefault(fault.code, []).append((fault, part))
    merged = [fault for fault in others if fault.code not in found]
    total = sum(part.count for part in parts)
    for code, items in found.items():
        first, part = items[0]
        if len(parts) == 1:
            merged.append(first)
            continue
        number = sum(fault.amount for fault, _ in items)
        severity = first.severity
        if code == 'samples-stale':
            severity = 'info' if number < RARE * total else 'error'
        names = {name for fault, _ in items for name in fault.joints}
        merged.append(
            replace(
                first,
                severity=severity,
                joints=tuple(name for name in robot.joint_names if name in names),
                amount=number,
                message=f'{number:.0f} times in {len(items)} of {len(parts)} pieces of the log; '
                f'in the one from {part.first:.9g} s on: {first.message}',
            )
        )
    return tuple(merged)
