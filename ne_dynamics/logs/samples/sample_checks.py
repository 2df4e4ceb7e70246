"""Faults that samples show by themselves, part by part in a long log."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.parts import Part, change_in_parts, cut, is_long, join, look
from ne_dynamics.logs.samples.effort_faults import (
    find_cut_efforts,
    find_dead_bands,
    find_frozen_efforts,
)
from ne_dynamics.logs.samples.position_jumps import (
    find_clock_restart,
    find_frozen_positions,
    find_lost_samples,
    find_zero_jumps,
)
from ne_dynamics.logs.samples.sample_faults import (
    find_degrees,
    find_spikes,
    find_stale,
    find_time_unit,
    find_wraps,
    scale_time,
    to_radians,
)
from ne_dynamics.logs.source_clock import find_recorder_stamps
from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.logs.work import Work
from ne_dynamics.model.robot import Robot

Check = Callable[[Robot, Log], tuple[Log, Finding | None]]

PIECE_CHECKS: tuple[Check, ...] = (
    find_wraps,
    find_stale,
    find_spikes,
    find_frozen_positions,
    find_lost_samples,
    find_zero_jumps,
    find_cut_efforts,
    find_frozen_efforts,
    find_dead_bands,
)
"""Those that have to look at every sample."""

CHECKS: tuple[Check, ...] = (
    find_degrees,
    find_time_unit,
    find_clock_restart,
    find_recorder_stamps,
    *PIECE_CHECKS,
)
"""In the order in which one needs what another repairs."""


def check_samples(robot: Robot, log: Log, work: Work | None = None) -> tuple[Log, list[Finding]]:
    """Return a log without the faults that its samples show, and those.

    Units of a long log are told by some parts of it, other faults by all; `work` looks at them, by
    default this process.
    """
    if not is_long(log):
        return _check(robot, log, CHECKS)
    work = work or Work()
    _, faults = _check(robot, join(look(log)), (find_degrees, find_time_unit))
    for fault in faults:
        if fault.code == 'time-unit':
            log = scale_time(log, fault.amount)
        else:
            chosen = np.isin(robot.joint_names, fault.joints)
            log = change_in_parts(log, functools.partial(to_radians, chosen=chosen), work)
    if log.clock_step is not None:
        log, fault_of_clock = find_clock_restart(robot, log)
        faults += [fault_of_clock] if fault_of_clock is not None else []
    parts = cut(log)
    found = list(work.map('check', _check_part, [(part,) for part in parts], robot))
    merged = _merge_faults(robot, parts, found)
    if merged:
        log = change_in_parts(log, functools.partial(repair_samples, robot), work)
    return log, faults + merged


def repair_samples(robot: Robot, log: Log) -> Log:
    """Return a part of a log without turns, repetitions and spikes."""
    return _check(robot, log, PIECE_CHECKS)[0]


def _check(robot: Robot, log: Log, checks: Sequence[Check]) -> tuple[Log, list[Finding]]:
    faults = []
    for check in checks:
        log, fault = check(robot, log)
        if fault is not None:
            faults.append(fault)
    return log, faults


def _check_part(part: Part, robot: Robot) -> list[Finding]:
    """Return the faults of a part; what is beside it tells whether a zero jumps at its ends."""
    own = part.find_own(part.log).nonzero()[0]
    _, faults = _check(robot, part.log.at(slice(own[0], own[-1] + 1)), PIECE_CHECKS)
    log, _ = _check(robot, part.log, (find_wraps, find_stale, find_spikes, find_frozen_positions))
    _, jumps = find_zero_jumps(robot, log, part.start, float(part.log.times[own[-1]]))
    faults = [fault for fault in faults if fault.code != 'zero-jumps']
    return faults if jumps is None else [*faults, jumps]


def _merge_faults(
    robot: Robot, parts: Sequence[Part], found: Sequence[list[Finding]]
) -> list[Finding]:
    """Return the faults of the parts of a log, each cause once."""
    by_code: dict[str, list[tuple[Finding, Part]]] = {}
    for part, faults in zip(parts, found, strict=True):
        for fault in faults:
            by_code.setdefault(fault.code, []).append((fault, part))
    merged = []
    for code, items in by_code.items():
        first, part = items[0]
        number = sum(fault.amount for fault, _ in items)
        severity = first.severity
        if code == 'samples-stale':
            total = sum(int(own.find_own(own.log).sum()) for own in parts)
            severity = 'info' if number < FAULTS.harmless_share * total else 'error'
        names = {name for fault, _ in items for name in fault.joints}
        merged.append(
            replace(
                first,
                severity=severity,
                joints=tuple(name for name in robot.joint_names if name in names),
                amount=number,
                what=f'{number:.0f} times in {len(items)} of {len(parts)} pieces of the log; '
                f'in the one from {part.start:.9g} s on: {first.what}',
            )
        )
    return merged
