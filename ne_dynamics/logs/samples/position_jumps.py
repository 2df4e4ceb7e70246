"""Zeros of encoders that jump while a log is recorded, and a clock that begins anew.

Both cut a log into two that do not go together.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.finding import Certainty, Finding
from ne_dynamics.logs.log import Log, keep_samples
from ne_dynamics.logs.samples.sample_faults import list_speeds
from ne_dynamics.logs.source_clock import count_steps, find_usual_steps, list_around
from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


def find_clock_restart(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find a clock that is set back in a log: what comes after it is dropped, or out of place."""
    step = log.clock_step
    if step is None:
        return log, None
    fault = Finding(
        'clock-set-back',
        (),
        f'the clock goes back by {step.before - step.after:.4g} s, from {step.before:.10g} to '
        f'{step.after:.10g} s, where it was set or the recording began anew; '
        f'{"" if step.is_whole else "at least "}{step.lost} samples '
        'after that are left out, and later ones are out of place',
        float(step.lost),
        remedy='cut the log into two there, and give both',
    )
    count = int(np.searchsorted(log.times, step.before, side='right'))
    if count < 2:
        return log, fault
    dropped = {**log.dropped, 'after the clock was set back': log.times.size - count}
    kept = log.at(slice(count))
    return replace(kept, received=log.received, dropped=dropped, clock_step=step), fault


def find_frozen_positions(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find positions that stand still for long in full motion and then jump to where they are.

    What stood still is left out.
    """
    if log.times.size <= 4 * FAULTS.steps_around:
        return log, None
    frozen = np.zeros(log.position.shape, dtype=bool)
    steps = np.diff(log.position, axis=0)
    for row, joint in np.argwhere(_find_jumps(robot, log)[0]):
        own = steps[:, joint]
        before = np.flatnonzero(own[:row] != 0.0)
        start = int(before[-1]) + 1 if before.size else 0
        usual = FAULTS.moving_share * np.quantile(np.abs(own), 0.98)
        beside = own[[max(start - 1, 0), min(row + 1, own.size - 1)]]
        if (
            log.times[row] - log.times[start] > FAULTS.longest_rest
            and (np.abs(beside) > usual).all()
        ):
            frozen[start + 1 : row + 1, joint] = True
    rows: NDArray[np.bool_] = np.asarray(frozen.any(axis=1))
    if not rows.any():
        return log, None
    names = tuple(np.array(robot.joint_names)[frozen.any(axis=0)].tolist())
    first = float(log.times[rows.argmax()] - log.times[0])
    fault = Finding(
        'position-frozen',
        names,
        f'{int(rows.sum())} positions have the value of the one before while the joint moves, the '
        f'first {first:.4g} s after the start; then they jump to where it is',
        float(rows.sum()),
        certainty=Certainty.KNOWN,
        remedy='look at the encoder and its line; --repair leaves these samples out',
    )
    return keep_samples(log, np.logical_not(rows), 'frozen'), fault


def find_zero_jumps(
    robot: Robot, log: Log, first: float | None = None, last: float = math.inf
) -> tuple[Log, Finding | None]:
    """Find positions that jump from one sample to the next, and stay, while other joints go on.

    What is passed on is the longest part without a jump: which zero is right is not told. The last
    sample before a jump is to be between the stamps `first` and `last` [s]; default: any.
    """
    if log.times.size <= 4 * FAULTS.steps_around:
        return log, None
    start = float(log.times[0]) if first is None else first
    jumps, off = _find_jumps(robot, log)
    jumps &= jumps.sum(axis=0) <= FAULTS.most_jumps
    before = log.times[:-1]
    jumps &= ((before >= start) & (before <= last))[:, np.newaxis]
    if not jumps.any():
        return log, None
    names = tuple(
        name for name, column in zip(robot.joint_names, jumps.T, strict=True) if column.any()
    )
    rows, joints = np.nonzero(jumps)
    shown = ', '.join(
        f'{_show_jump(robot, int(joint), float(off[row, joint]))} at '
        f'{log.times[row + 1] - start:.4g} s'
        for row, joint in zip(rows[:3], joints[:3], strict=True)
    )
    fault = Finding(
        'zero-jumps',
        names,
        f'the position jumps by {shown} after the start and stays there, while other joints go '
        'on: its encoder was homed anew, or its zero changed',
        float(rows.size),
        remedy='cut the log there, and give the part of which the zeros are right',
    )
    return _keep_longest(log, rows, 'beyond a jump'), fault


def find_lost_samples(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find where all joints go on by many of their steps at once, and the stamps by one.

    What is passed on is the longest part without that.
    """
    if log.times.size <= 4 * FAULTS.steps_around:
        return log, None
    steps, spans = np.diff(log.position, axis=0), np.diff(log.times)
    # The medians of all steps take long: none is needed where no step is larger all at once.
    size = steps.std(axis=0)
    lengths = np.linalg.norm(steps / np.where(size > 0.0, size, 1.0), axis=1)
    if not (
        lengths[1:] > np.maximum(2.0 * lengths[:-1], math.sqrt(float(np.mean(lengths**2))))
    ).any():
        return log, None
    usual = find_usual_steps(steps)
    crossed = count_steps(steps, usual)
    far = (crossed > FAULTS.steps_lost) & (spans < FAULTS.clock_gap * np.median(spans))
    # Of a zero that jumps, or a spike, one joint alone goes far.
    far &= (steps * np.sign(usual) > FAULTS.steps_lost * np.abs(usual)).sum(axis=1) > 1
    away = np.linalg.norm(steps - crossed[:, np.newaxis] * usual, axis=1)
    rows = np.flatnonzero(far & (away < 0.7 * np.linalg.norm(steps, axis=1)))
    if not rows.size:
        return log, None
    where = ', '.join(
        f'{crossed[row]:.0f} at {log.times[row + 1] - log.times[0]:.4g} s' for row in rows[:3]
    )
    fault = Finding(
        'samples-lost',
        (),
        f'all joints go on by many of their steps at once, as many as {where} after the start, '
        'but the time by one: samples were lost, and the times were written as if they were not',
        float(rows.size),
        remedy='give the times of measurement, or cut the log there',
    )
    return _keep_longest(log, rows, 'beyond lost samples'), fault


def _keep_longest(log: Log, rows: NDArray[np.intp], reason: str) -> Log:
    """Return the longest part of a log that none of some steps of time is in."""
    borders = np.concatenate([[0], np.unique(rows) + 1, [log.times.size]])
    longest = int(np.argmax(np.diff(borders)))
    kept = np.zeros(log.times.size, dtype=bool)
    kept[borders[longest] : borders[longest + 1]] = True
    return keep_samples(log, kept, reason)


def _find_jumps(robot: Robot, log: Log) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which steps of time are jumps, and by how much steps are off the usual ones."""
    spans = np.diff(log.times)[:, np.newaxis]
    steps = np.diff(log.position, axis=0)
    around = list_around(steps / spans)
    largest = np.quantile(np.abs(steps), 0.98, axis=0)
    least = np.maximum(FAULTS.jump_steps * largest, FAULTS.smallest_jump)
    # What is far from the median of those around it is as far from one of them.
    if not any((np.abs(steps - rate * spans) > least).any() for rate in around):
        return np.zeros(steps.shape, dtype=bool), np.zeros(steps.shape)
    usual = np.median(around, axis=0) * spans
    off = steps - usual
    noise = 1.4826 * np.median(np.abs(off), axis=0)
    smallest = np.maximum(FAULTS.jump_deviations * noise, least)
    far = np.abs(off) > smallest
    if not far.any():
        return far, off
    # What returns within a few steps is a spike.
    beside = FAULTS.steps_around
    padded = np.pad(off, ((beside, beside), (0, 0)))
    total = sum(padded[k : k + off.shape[0]] for k in range(2 * beside + 1))
    far &= np.abs(total) > FAULTS.jump_stays * np.abs(off)
    far &= spans <= FAULTS.longest_step * np.median(spans)
    # Samples that are lost are a jump of all that moves, each by as many of its steps.
    moving = (np.abs(usual) > FAULTS.jump_moving_share * largest) & (largest > 0.0)
    others = (moving & (np.abs(off) < 0.5 * np.abs(usual))).any(axis=1, keepdims=True)
    too_fast = np.abs(off) > FAULTS.lone_jump_steps * list_speeds(robot) * spans
    far &= others | too_fast & (far.sum(axis=1, keepdims=True) == 1)
    return far, off


def _show_jump(robot: Robot, joint: int, jump: float) -> str:
    if robot.joints[joint].type.is_prismatic:
        return f'{jump:.3g} m'
    return f'{math.degrees(jump):.3g} degrees'
