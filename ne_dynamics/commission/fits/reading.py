"""What an arm reports: stamps, encoders, and what its efforts are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ne_dynamics.driver import DriverDescription
from ne_dynamics.driver.effort import NOTHING, OTHER_UNIT, TORQUE, WITHOUT_GRAVITY
from ne_dynamics.driver.profile import find_parameters
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion import NANO

UNKNOWN = 'unknown'


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
class EffortReading:
    """What the arm reports as effort: the words of the driver profile, and no others.

    Attributes
    ----------
    meaning : str
        torque, torque_without_gravity, current (or another unit), nothing, or unknown.
    state_effort : str
        The node's parameter for it.
    reversed_joints : tuple of str
    scales : mapping of str to float
        N m (N) of a unit of what is reported, for joints whose efforts are in another unit.
    reason : str
        Why `state_effort` is what it is.
    """

    meaning: str
    state_effort: str
    reversed_joints: tuple[str, ...]
    scales: Mapping[str, float]
    reason: str

    @classmethod
    def of(cls, described: DriverDescription) -> EffortReading:
        """Return what a description says of the efforts."""
        parameters = find_parameters(described)
        value, reason = parameters['state_effort']
        joints = described.joints
        return cls(
            meaning=str(described.effort.value or UNKNOWN),
            state_effort=str(value),
            reversed_joints=tuple(
                joint.name for joint in joints if joint.effort.sign.value == -1.0
            ),
            scales={
                joint.name: float(joint.effort.scale.value or math.nan)
                for joint in joints
                if joint.effort.meaning.value == OTHER_UNIT and joint.effort.scale.is_told
            },
            reason=reason,
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {**asdict(self), 'reversed_joints': list(self.reversed_joints)}

    def sentences(self) -> list[str]:
        """Return what was found, a sentence each."""
        words = {
            TORQUE: 'efforts are torques of the motors, with gravity',
            WITHOUT_GRAVITY: 'efforts are torques less what gravity takes',
            OTHER_UNIT: 'efforts are currents, or in another unit than the model',
            NOTHING: 'no efforts are reported',
            UNKNOWN: 'what is reported as effort cannot be told',
        }
        found = [f'{words[self.meaning]} ({self.reason})']
        found += [
            f'{name}: effort is reported with the sign reversed' for name in self.reversed_joints
        ]
        found += [
            f'{name}: {scale:.3g} N m (N) a unit of what is reported'
            for name, scale in self.scales.items()
        ]
        return found


def read_at(times: FloatArray, table: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the rows of a table at other times [s], on straight lines between its own."""
    return np.column_stack([np.interp(wanted, times, column) for column in table.T])
