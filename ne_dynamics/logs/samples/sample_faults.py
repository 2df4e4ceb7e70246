"""Faults of a log that its samples show by themselves: units, turns, repetitions, spikes.

Each check takes a robot and a log, and returns the log without the fault and the fault; or the
log itself and None.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.finding import Certainty, Finding
from ne_dynamics.logs.log import Log, keep_samples
from ne_dynamics.logs.samples.effort_faults import list_silent_joints
from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

TURN = 2.0 * math.pi


TIME_UNITS = {'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}


def list_speeds(robot: Robot) -> FloatArray:
    """Return how fast joints may be, shape (n,) [rad/s or m/s]."""
    limits = robot.limits('velocity_limit')
    return np.where(np.isfinite(limits) & (limits > 0.0), limits, FAULTS.fastest_joint)


def _turning(robot: Robot) -> NDArray[np.bool_]:
    return np.array([not joint.type.is_prismatic for joint in robot.joints])


def _frozen(log: Log, **tables: FloatArray | None) -> Log:
    for table in tables.values():
        if table is not None:
            table.setflags(write=False)
    return replace(log, **tables)  # type: ignore[arg-type]


def scale_time(log: Log, factor: float) -> Log:
    """Return a log with its times multiplied."""
    step = log.clock_step
    if step is not None:
        step = replace(step, before=factor * step.before, after=factor * step.after)
    return replace(_frozen(log, times=log.times * factor), clock_step=step)


def scale_positions(log: Log, chosen: NDArray[np.bool_], factor: float) -> Log:
    """Return a log with positions and velocities of some joints multiplied."""
    factors = np.where(chosen, factor, 1.0)
    velocity = None if log.velocity is None else log.velocity * factors
    return _frozen(log, position=log.position * factors, velocity=velocity)


def find_degrees(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find positions that are more than a turn beyond the limits, and within them as degrees.

    Where they are those of less than half of the joints that turn, the others are in radians as
    far as they keep their limits.
    """
    turning = _turning(robot)
    limits = robot.limits('lower'), robot.limits('upper')

    def is_outside(position: FloatArray, turns: float) -> NDArray[np.bool_]:
        lower, upper = (
            np.where(np.isfinite(limit), limit, sign * 2.0 * TURN) + sign * turns * TURN
            for limit, sign in zip(limits, (-1.0, 1.0), strict=True)
        )
        low, high = np.quantile(position, [0.02, 0.98], axis=0)
        result: NDArray[np.bool_] = turning & ((low < lower) | (high > upper))
        return result

    beyond = is_outside(log.position, 1.0)
    if not beyond.any() or is_outside(np.deg2rad(log.position), 1.0).any():
        return log, None
    chosen = turning if 2 * beyond.sum() >= turning.sum() else is_outside(log.position, 0.0)
    largest = float(np.abs(log.position[:, chosen]).max())
    fault = Finding(
        'degrees',
        tuple(np.array(robot.joint_names)[chosen].tolist()),
        f'positions reach {largest:.4g}: more than a turn beyond the limits of '
        f'{", ".join(np.array(robot.joint_names)[beyond])}, within them when they are degrees',
        math.pi / 180.0,
        certainty=Certainty.KNOWN,
        remedy=f'give radians, or {"--degrees" if chosen is turning else "--repair"}',
    )
    return to_radians(log, chosen), fault


def to_radians(log: Log, chosen: NDArray[np.bool_]) -> Log:
    """Return a log in which angles of some joints were degrees.

    Velocities only when they agree better so. The joints are chosen by a mask, shape (n,).
    """
    repaired = scale_positions(log, chosen, math.pi / 180.0)
    if log.velocity is not None:
        # Velocities may be in radians all the same.
        derived = np.gradient(repaired.position, log.times, axis=0)
        errors = [
            np.median(np.nan_to_num(np.abs(velocity - derived), nan=np.inf), axis=0)
            for velocity in (log.velocity, np.deg2rad(log.velocity))
        ]
        as_recorded = ~chosen | (errors[0] < errors[1])
        velocity = np.where(as_recorded, log.velocity, np.deg2rad(log.velocity))
        repaired = _frozen(repaired, velocity=velocity)
    return repaired


def find_time_unit(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find times that are not in seconds: steps too long, and an arm too slow for its limits."""
    steps = np.diff(log.times)
    step = float(np.median(steps))
    if step < FAULTS.unlikely_step:
        return log, None
    rates = np.abs(np.diff(log.position, axis=0)) / steps[:, np.newaxis]
    usage = float((np.quantile(rates, 0.98, axis=0) / list_speeds(robot)).max())
    for unit, factor in TIME_UNITS.items():
        if step * factor <= FAULTS.unlikely_step and 0.0 < usage <= 1.5 * factor:
            fault = Finding(
                'time-unit',
                (),
                f'a step of time of {step:.4g} s, in which no joint is faster than '
                f'{usage:.2g} of its velocity limit; as {unit} it is {step * factor:.4g} s',
                factor,
                certainty=Certainty.KNOWN,
                remedy=f'give seconds, or --time-unit {unit}',
            )
            return scale_time(log, factor), fault
    return log, None


def find_wraps(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find angles that jump by whole turns from one sample to the next.

    Over a gap, at which a log is cut into pieces, a joint may have turned: such a step shows no
    jump. Where the joint jumps elsewhere it is taken for the shorter way.
    """
    if log.times.size < 2:
        return log, None
    step, spans = np.diff(log.position, axis=0), np.diff(log.times)
    turns = np.round(step / TURN) * _turning(robot)
    rest = np.abs(step - TURN * turns)
    allowed = 0.2 + FAULTS.spike_steps * list_speeds(robot) * spans[:, np.newaxis]
    turns = np.where(rest <= np.minimum(allowed, 0.5 * math.pi), turns, 0.0)
    wrapped = turns[spans <= FAULTS.largest_gap * np.median(spans)].any(axis=0)
    if not wrapped.any():
        return log, None
    turns = turns * wrapped
    position = unwrap_positions(robot, log.position, turns)
    names = tuple(np.array(robot.joint_names)[wrapped].tolist())
    number = int(np.count_nonzero(turns))
    fault = Finding(
        'angles-wrapped',
        names,
        f'positions jump by a turn between samples, {number} times in all',
        float(number),
        certainty=Certainty.KNOWN,
        remedy='give angles that go on, or --unwrap',
    )
    return _frozen(log, position=position), fault


def unwrap_positions(
    robot: Robot, position: FloatArray, turns: FloatArray | None = None
) -> FloatArray:
    """Return positions without jumps by whole turns, within the limits as far as turns allow.

    Of positions of shape (N, n) [rad or m] each step jumps by so many turns, shape (N - 1, n);
    default: by what brings it nearest to none.
    """
    turning = _turning(robot)
    if turns is None:
        turns = np.round(np.diff(position, axis=0) / TURN) * turning
    result = position.copy()
    result[1:] -= TURN * np.cumsum(turns, axis=0)
    lower, upper = robot.limits('lower'), robot.limits('upper')
    for joint in np.flatnonzero(turns.any(axis=0)):
        middle = 0.5 * (lower[joint] + upper[joint])
        if math.isfinite(middle):
            present = 0.5 * (result[:, joint].min() + result[:, joint].max())
            result[:, joint] -= TURN * round((present - middle) / TURN)
    return result


def find_stale(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find samples that repeat the one before in all joints while the arm moves."""
    kinds, moving = _find_repeated(log)
    stale = np.logical_or.reduce(list(kinds.values()))
    number = int(stale.sum())
    if not number:
        return log, None
    kept = np.concatenate([[True], ~stale])
    if kept.sum() < 2:
        return log, None
    part = number / max(int(moving.sum()), 1)
    what = ', '.join(
        f'{int(chosen.sum())} of {kind}' for kind, chosen in kinds.items() if chosen.any()
    )
    fault = Finding(
        'samples-stale',
        (),
        f'{number} of {moving.sum()} samples of the moving arm repeat the one before ({what}) '
        'under a new stamp',
        float(number),
        certainty=Certainty.KNOWN,
        remedy='record each measurement once, with its own stamp; --repair leaves them out',
        severity='info' if part < FAULTS.harmless_share else 'error',
    )
    return keep_samples(log, kept, 'repeated'), fault


def count_stale(log: Log) -> tuple[int, int]:
    """Return how many samples repeat the one before, and in how many the arm moves."""
    kinds, moving = _find_repeated(log)
    return int(np.logical_or.reduce(list(kinds.values())).sum()), int(moving.sum())


def _find_repeated(log: Log) -> tuple[dict[str, NDArray[np.bool_]], NDArray[np.bool_]]:
    """Return which steps of time repeat something, by what, and in which the arm moves."""
    same_position = (np.diff(log.position, axis=0) == 0.0).all(axis=1)
    same_effort = (np.diff(log.effort, axis=0) == 0.0).all(axis=1) & log.effort[1:].any(axis=1)
    moving = _is_moving_around(log, same_position)
    kinds: dict[str, NDArray[np.bool_]] = {
        'positions and efforts': same_position & same_effort & moving,
        'positions': _keep_resolved(same_position & ~same_effort & moving, log.position),
        'efforts': _keep_resolved(same_effort & ~same_position & moving, log.effort),
    }
    return kinds, moving


def _keep_resolved(chosen: NDArray[np.bool_], table: FloatArray) -> NDArray[np.bool_]:
    """Return of steps of time those about which values are resolved."""
    return chosen & _is_resolved(table) if chosen.any() else chosen


def _is_resolved(table: FloatArray) -> NDArray[np.bool_]:
    """Tell for each step of time whether values change by more than their resolution about it.

    A coarse encoder repeats itself where an arm is slow.
    """
    change = np.abs(np.diff(table, axis=0))
    resolved = np.zeros(change.shape[0], dtype=bool)
    for column in change.T:
        if not column.any():
            continue
        resolution = np.quantile(column[column > 0.0], 0.01)  # the smallest, but for outliers
        padded = np.pad(column, FAULTS.spike_window, mode='edge')
        around = np.stack(
            [padded[k : k + column.size] for k in range(2 * FAULTS.spike_window + 1)]
        )
        resolved |= np.quantile(around, 0.8, axis=0) > FAULTS.resolved_steps * resolution
    return resolved


def _is_moving_around(log: Log, same: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell for each step of time whether the arm moves before and after what stands still."""
    changed = np.flatnonzero(~same)
    if changed.size < 3:
        return np.zeros(same.size, dtype=bool)
    # Where positions are new: the speed between such samples, repetitions included.
    ends = np.concatenate([[0], changed + 1])
    speed = np.abs(np.diff(log.position[ends], axis=0)) / np.diff(log.times[ends])[:, np.newaxis]
    fast = speed.max(axis=1) > FAULTS.crawling_speed
    both = fast & np.concatenate([[fast[0]], fast[:-1]])
    # The step of time i belongs to the first change at or after it.
    place = np.minimum(np.searchsorted(changed, np.arange(same.size)), changed.size - 1)
    result: NDArray[np.bool_] = both[place]
    result[changed[-1] + 1 :] = False
    return result


def find_spikes(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Find single samples far from those around them."""
    if log.times.size <= 4 * FAULTS.spike_window:
        return log, None
    step = float(np.median(np.diff(log.times)))
    effort_range = np.subtract(*np.quantile(log.effort, [0.97, 0.03], axis=0))
    settled = (log.times > log.times[0] + FAULTS.settling_time) & (
        log.times < log.times[-1] - FAULTS.settling_time
    )
    smallest = {
        'position': FAULTS.spike_steps * step * list_speeds(robot),
        'effort': np.maximum(FAULTS.spike_range * effort_range, _find_flicker(robot, log.effort)),
    }
    found = {
        key: _single_outliers(getattr(log, key), size, settled) for key, size in smallest.items()
    }
    # Between zeros of a dead band every effort stands alone.
    found['effort'] &= ~np.isin(robot.joint_names, list_silent_joints(robot, log))
    spikes = found['position'] | found['effort']
    rows = np.asarray(spikes.any(axis=1))
    number = int(rows.sum())
    if not 0 < number <= FAULTS.most_spikes * rows.size:
        return log, None
    names = tuple(np.array(robot.joint_names)[spikes.any(axis=0)])
    what = ' and '.join(key for key, table in found.items() if table.any())
    first = float(log.times[np.flatnonzero(rows)[0]] - log.times[0])
    fault = Finding(
        'spikes',
        names,
        f'{number} samples with a spike of {what}, the first {first:.4g} s after the start',
        float(number),
        certainty=Certainty.KNOWN,
        remedy='record anew, or --repair, which leaves these samples out',
    )
    return keep_samples(log, np.logical_not(rows), 'spikes'), fault


def _find_flicker(robot: Robot, effort: FloatArray) -> FloatArray:
    """Return by how much efforts may change as they are rounded, shape (n,) [N m or N].

    That of a joint that stands goes up and down by a step now and then.
    """
    limits = robot.limits('effort_limit')
    bounds = np.where(np.isfinite(limits) & (limits > 0.0), limits, np.abs(effort).max())
    steps = [np.diff(np.unique(column)) for column in effort.T]
    smallest = np.array([step.min() if step.size else 0.0 for step in steps])
    result: FloatArray = np.maximum(
        FAULTS.resolved_steps * np.minimum(smallest, FAULTS.coarsest_step * bounds), 1e-6
    )
    return result


def _single_outliers(
    table: FloatArray, smallest: FloatArray, settled: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return where single samples, or two in a row, are off those around them.

    Where the log has not settled, only samples that are alone within two to either side count:
    the others may ring.
    """
    half = FAULTS.spike_window // 2
    # What is far from the median of those around it is as far from one of them.
    if not any(
        (np.abs(table[lag:] - table[:-lag]) > smallest).any() for lag in range(1, half + 1)
    ):
        return np.zeros(table.shape, dtype=bool)
    padded = np.pad(table, ((half, half), (0, 0)), mode='edge')
    around = np.stack([padded[k : k + table.shape[0]] for k in range(FAULTS.spike_window)])
    off = table - np.median(around, axis=0)
    noise = 1.4826 * np.median(np.abs(off), axis=0)
    far = np.abs(off) > np.maximum(FAULTS.spike_deviations * noise, smallest)
    size = np.abs(off)
    padded = np.pad(size, ((half, half), (0, 0)))
    near = [padded[k : k + table.shape[0]] for k in range(FAULTS.spike_window) if k != half]
    # What has a step stays off on one side.
    single = np.minimum(near[half - 1], near[half]) < FAULTS.spike_beside * size
    lonely = np.max(near, axis=0) < FAULTS.spike_beside_ringing * size
    result: NDArray[np.bool_] = far & single & (lonely | settled[:, np.newaxis])
    # The first and last ones have too little around them, and no fit uses them.
    result[:half] = result[result.shape[0] - half :] = False
    return result
