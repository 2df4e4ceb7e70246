"""What an arm reports, by what was sent to it: stamps, encoders, and what its efforts are.

A command is an effort in the units of the model, so it is what the reported efforts are compared
with. With c the command when it acts, g the effort against gravity of the identified model

    reported = a c + b g + constant

by least squares for each joint: a is 1 / scale, negative for a reversed sign; -b / a is 0 for
efforts with gravity, and 1 for those without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion import NANO

TORQUE, WITHOUT_GRAVITY, CURRENT = 'torque', 'torque_without_gravity', 'current'
NOTHING, UNKNOWN = 'nothing', 'unknown'

NEAR_ONE = 0.1
"""A scale within this of 1 is taken for efforts in the units of the model."""

EXPLAINED = 0.6
"""Part of a reported effort's variance that must be explained for a joint to count; the rest may
be noise."""

ENOUGH = 2000
"""Samples by which the lag of the reports is found, about."""

LATEST = 0.05
"""By which efforts may be reported late [s]."""


@dataclass(frozen=True)
class Stamps:
    """How states come.

    Attributes
    ----------
    rate : float
        By the median of the steps between stamps [Hz].
    longest_gap : float
        Between two stamps [s].
    jitter : float
        Standard deviation of the steps between stamps [s].
    """

    rate: float
    longest_gap: float
    jitter: float


def read_stamps(receptions: Sequence[tuple[int, int]]) -> Stamps:
    """Return how states came, from their stamps and the times of reception [ns]."""
    stamps = np.array([stamp for stamp, _ in receptions], dtype=np.float64) / NANO
    if not stamps.any():  # drivers without stamps
        stamps = np.array([heard for _, heard in receptions], dtype=np.float64) / NANO
    steps = np.diff(stamps)
    steps = steps[steps > 0.0]
    if not steps.size:
        return Stamps(0.0, float('inf'), float('nan'))
    return Stamps(1.0 / float(np.median(steps)), float(steps.max()), float(steps.std()))


def find_encoder_steps(position: FloatArray) -> FloatArray:
    """Return the smallest change of each joint's position that was seen, shape (n,); 0: none."""
    steps = np.zeros(position.shape[1])
    for joint, column in enumerate(position.T):
        changes = np.abs(np.diff(np.unique(column)))
        changes = changes[changes > 1e-9]
        if changes.size:
            # Not the smallest: rounding of what is written splits one step into two.
            steps[joint] = np.quantile(changes, 0.05)
    return steps


@dataclass(frozen=True)
class JointEffort:
    """What a joint reports as effort.

    Attributes
    ----------
    name : str
    scale : float
        Effort by what is reported, with its sign; NaN where it cannot be told.
    gravity : float
        Part of gravity that is missing in it, 0 to 1; NaN where gravity does little.
    explained : float
        Part of its variance that the command explains.
    """

    name: str
    scale: float
    gravity: float
    explained: float


@dataclass(frozen=True)
class EffortReading:
    """What the arm reports as effort.

    Attributes
    ----------
    meaning : str
        torque, torque_without_gravity, current (or another unit), nothing, or unknown.
    reversed_joints : tuple of str
    lag : float
        From the command to the report [s].
    joints : tuple of JointEffort
    """

    meaning: str
    reversed_joints: tuple[str, ...]
    lag: float
    joints: tuple[JointEffort, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {
            'meaning': self.meaning,
            'reversed_joints': list(self.reversed_joints),
            'lag': self.lag,
            'joints': [
                {
                    key: finite_or_none(value) if isinstance(value, float) else value
                    for key, value in asdict(joint).items()
                }
                for joint in self.joints
            ],
        }

    @property
    def state_effort(self) -> str:
        """The node's parameter `state_effort` for it."""
        is_taken = self.meaning in (TORQUE, WITHOUT_GRAVITY) and not self.reversed_joints
        return self.meaning if is_taken else 'ignore'

    def sentences(self) -> list[str]:
        """Return what was found, a sentence each."""
        words = {
            TORQUE: 'efforts are torques of the motors, with gravity',
            WITHOUT_GRAVITY: 'efforts are torques less what gravity takes',
            CURRENT: 'efforts are currents, or in another unit than the model',
            NOTHING: 'no efforts are reported',
            UNKNOWN: 'what is reported as effort does not follow the commands',
        }
        found = [words[self.meaning]]
        found += [
            f'{name}: effort is reported with the sign reversed' for name in self.reversed_joints
        ]
        if self.meaning == CURRENT:
            found += [
                f'{joint.name}: {abs(joint.scale):.3g} N m (N) a unit of what is reported'
                for joint in self.joints
            ]
        return found


def read_efforts(dynamics: Dynamics, record: Record) -> EffortReading:
    """Tell what the efforts are that were reported during a motion.

    Parameters
    ----------
    dynamics : Dynamics
        The identified model.
    record : Record
        With commands.
    """
    record = record.answered
    reported = record.effort
    names = record.joint_names
    if not np.isfinite(reported).all() or not np.ptp(reported, axis=0).any():
        return EffortReading(NOTHING, (), float('nan'), ())
    gravity = dynamics.gravity_torque(record.position)
    lag = _find_lag(record, gravity)
    late = record.times >= record.times[0] + lag
    command = read_at(record.times, record.command, record.times[late] - lag)
    joints = tuple(
        _read_joint(name, reported[late, index], command[:, index], gravity[late, index])
        for index, name in enumerate(names)
    )
    telling = [joint for joint in joints if joint.explained >= EXPLAINED]
    if len(telling) < (len(joints) + 1) // 2:
        return EffortReading(UNKNOWN, (), lag, joints)
    turned = tuple(joint.name for joint in telling if joint.scale < 0.0)
    scales = np.abs([joint.scale for joint in telling])
    missing = [joint.gravity for joint in telling if np.isfinite(joint.gravity)]
    if np.median(np.abs(scales - 1.0)) > NEAR_ONE:
        meaning = CURRENT
    elif missing and np.median(missing) > 0.5:
        meaning = WITHOUT_GRAVITY
    else:
        meaning = TORQUE
    return EffortReading(meaning, turned, lag, joints)


def _find_lag(record: Record, gravity: FloatArray) -> float:
    """Return after what time the reports follow the commands best [s].

    By what the commands explain of all joints, gravity beside them: noise of the reports, and
    gravity that is missing in them, favour no lag.
    """
    times = record.times
    period = float(np.median(np.diff(times)))
    first = int(np.searchsorted(times, times[0] + LATEST))
    chosen = np.arange(first, times.size, max(1, (times.size - first) // ENOUGH))
    if not chosen.size:
        return 0.0
    lags = period * np.arange(round(LATEST / period) + 1)
    explained = []
    for lag in lags.tolist():
        command = read_at(times, record.command, times[chosen] - lag)
        columns = zip(record.effort[chosen].T, command.T, gravity[chosen].T, strict=True)
        explained.append(sum(_regress(*joint)[1] for joint in columns))
    return float(lags[int(np.argmax(explained))])


def read_at(times: FloatArray, table: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the rows of a table at other times [s], on straight lines between its own."""
    return np.column_stack([np.interp(wanted, times, column) for column in table.T])


def _regress(
    reported: FloatArray, command: FloatArray, gravity: FloatArray
) -> tuple[FloatArray, float]:
    """Return factors of command, gravity and 1, and the part of the variance they explain."""
    matrix = np.column_stack([command, gravity, np.ones_like(command)])
    found = np.asarray(np.linalg.lstsq(matrix, reported, rcond=None)[0], dtype=np.float64)
    total = float(np.var(reported))
    rest = float(np.var(reported - matrix @ found))
    return found, 1.0 - rest / total if total > 0.0 else 0.0


def _read_joint(
    name: str, reported: FloatArray, command: FloatArray, gravity: FloatArray
) -> JointEffort:
    found, explained = _regress(reported, command, gravity)
    if found[0] == 0.0 or explained < EXPLAINED:
        return JointEffort(name, float('nan'), float('nan'), explained)
    # Gravity must do something of its own to be missed.
    moves = float(np.std(gravity)) > 0.02 * float(np.std(command))
    missing = -float(found[1] / found[0]) if moves else float('nan')
    return JointEffort(name, 1.0 / float(found[0]), missing, explained)
