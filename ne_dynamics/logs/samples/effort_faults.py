"""Faults of efforts that samples show: cut off below the limit, standing still, a dead band.

Neither can be repaired: what was not recorded is gone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


def find_dead_bands(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find efforts that are exactly 0 most of the time while their joint moves."""
    moving = _find_moving(log)
    names, parts, number = [], [], 0
    for joint, name in enumerate(robot.joint_names):
        effort = log.effort[moving[:, joint], joint]
        silent = int(np.count_nonzero(effort == 0.0))
        if (
            effort.size - silent >= FAULTS.effort_samples
            and silent > FAULTS.dead_band_share * effort.size
        ):
            names.append(name)
            parts.append(f'{silent / effort.size:.0%}')
            number += silent
    if not names:
        return log, None
    return log, Finding(
        'effort-dead-band',
        tuple(names),
        f'efforts are exactly 0 in {", ".join(parts)} of the samples in which the joint moves: a '
        'dead band of the driver; what is below it is not reported',
        float(number),
        remedy='take the dead band out of the driver, or leave the joint out of the model '
        '(--tip-link)',
    )


def list_silent_joints(robot: Robot, log: Log) -> tuple[str, ...]:
    """Return the joints whose efforts have a dead band: where it is 0 nothing was recorded."""
    _, band = find_dead_bands(robot, log)
    return band.joints if band else ()


def find_cut_efforts(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find efforts that do not go beyond a value below their limit, and are often just there."""
    moving = _find_moving(log).any(axis=1)
    least = max(FAULTS.cut_share * float(moving.sum()), FAULTS.effort_samples)
    names, values, number = [], [], 0
    limits, columns = robot.limits('effort_limit'), (log.position.T, log.effort.T)
    for name, limit, position, effort in zip(robot.joint_names, limits, *columns, strict=True):
        bound = limit if limit > 0.0 else np.inf
        below = max(
            FAULTS.near_share * float(np.ptp(effort)), FAULTS.near_steps * _find_step(effort)
        )
        is_fine = np.unique(effort).size >= FAULTS.effort_levels
        for side in (effort, -effort):
            top = float(side.max())
            near = (side < top) & (side > top - below) & moving
            at_top = (side == top) & moving
            if not is_fine or at_top.sum() <= least:
                continue
            for start, end in _find_runs(np.append(False, at_top[1:] & at_top[:-1])):
                if _is_steady(position, log.times, start, end):
                    at_top[start:end] = False
            count = int(at_top.sum())
            if 0.0 < top < FAULTS.at_limit * bound and count > max(
                least, FAULTS.crowding * near.sum()
            ):
                names.append(name)
                values.append(f'{top:.4g}')
                number += count
    if not names:
        return log, None
    return log, Finding(
        'effort-cut-off',
        tuple(dict.fromkeys(names)),
        f'{number} efforts are exactly the largest of their joint, {", ".join(values)}: what was '
        'beyond is cut off',
        float(number),
        remedy='record anew, without a limit in driver or recorder',
    )


def find_frozen_efforts(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find efforts that have one value for long while their joint moves."""
    moving = _find_moving(log)
    same = np.zeros(log.effort.shape, dtype=bool)
    same[1:] = log.effort[1:] == log.effort[:-1]
    names, first, number = [], np.inf, 0
    silent = list_silent_joints(robot, log)
    for joint, name in enumerate(robot.joint_names):
        position, effort = log.position[:, joint], log.effort[:, joint]
        if not effort.any() or name in silent:
            continue
        frozen = np.zeros(effort.size, dtype=bool)
        # At an end of its range it is cut off.
        ends = effort.min(), effort.max()
        for start, end in _find_runs(same[:, joint]):
            travel = float(np.ptp(position[start:end]))
            if (
                end - start >= FAULTS.effort_samples
                and effort[start] not in ends
                and log.times[end - 1] - log.times[start] > FAULTS.longest_rest
                and travel > FAULTS.stale_travel * float(np.ptp(position))
                and not _is_steady(position, log.times, start, end)
            ):
                frozen[start:end] = True
        others = moving[:, joint] & ~frozen
        fresh = int((~same[others, joint]).sum())
        if frozen.any() and fresh > FAULTS.fresh_share * others.sum():
            names.append(name)
            number += int(frozen.sum())
            first = min(first, float(log.times[frozen.argmax()] - log.times[0]))
    if not names:
        return log, None
    return log, Finding(
        'effort-frozen',
        tuple(names),
        f'{number} efforts have the value of the one before while the joint moves, the first '
        f'{first:.4g} s after the start',
        float(number),
        remedy='record anew, or give the part before',
    )


def _is_steady(position: FloatArray, times: FloatArray, start: int, end: int) -> bool:
    """Tell whether a joint goes at one speed from a sample to before another."""
    # Where a run begins and ends the joint may go faster or slower already.
    borders = np.linspace(start + 1, end - 2, 5).astype(int)  # of four parts
    if (np.diff(borders) < 1).any():
        return False
    speeds = np.diff(position[borders]) / np.diff(times[borders])
    return bool(np.ptp(speeds) <= FAULTS.steady_speed * np.abs(speeds.mean()) > 0.0)


def _find_step(effort: FloatArray) -> float:
    """Return the smallest step between values of an effort; 0 where there is none."""
    steps = np.diff(np.unique(effort))
    return float(steps.min()) if steps.size else 0.0


def _find_moving(log: Log) -> NDArray[np.bool_]:
    """Return in which samples each joint has moved, shape (N, n)."""
    steps: FloatArray = np.zeros(log.position.shape)
    steps[1:] = np.abs(np.diff(log.position, axis=0))
    largest = steps.max(axis=0)
    result: NDArray[np.bool_] = (steps > FAULTS.moving_share * largest) & (largest > 0.0)
    return result


def _find_runs(same: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first sample and the end of each run of equal values."""
    edges = np.diff(np.concatenate([[0], same.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(int(start) - 1, int(end)) for start, end in zip(starts, ends, strict=True)]
