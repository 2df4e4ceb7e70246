"""What an arm reports, as the driver's own estimator has it: stamps, and what its efforts are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.driver import CommandLog, DriverDescription, DriverRecording, describe_driver
from ne_dynamics.driver.effort import NOTHING, OTHER_UNIT, TORQUE, WITHOUT_GRAVITY
from ne_dynamics.driver.profile import find_parameters
from ne_dynamics.driver.timing import time_stamps
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.motion import NANO

UNKNOWN = 'unknown'

MEANINGS = {
    TORQUE: 'efforts are torques of the motors, with gravity',
    WITHOUT_GRAVITY: 'efforts are torques less what gravity takes',
    OTHER_UNIT: 'efforts are currents, or in another unit than the model',
    NOTHING: 'no efforts are reported',
    UNKNOWN: 'what is reported as effort cannot be told',
}

TOLD_FAULTS = ('effort-limited', 'effort-weak', 'unsigned')
"""Findings on efforts that the page of a run tells."""


@dataclass(frozen=True)
class Stamps:
    """How states come.

    Attributes
    ----------
    rate : float
        By the median of the steps between stamps [Hz].
    longest_gap : float
        Between two stamps [s]; the usual step where there is no gap.
    jitter : float
        Standard deviation of the steps between stamps, gaps apart [s].
    """

    rate: float
    longest_gap: float
    jitter: float


def read_stamps(receptions: Sequence[tuple[int, int]]) -> Stamps:
    """Return how states came, from their stamps and the times of reception [ns]."""
    table = np.array(receptions, dtype=np.float64).reshape(-1, 2) / NANO
    # Drivers without stamps have zeros.
    timing = time_stamps(table[:, 0] if table[:, 0].any() else table[:, 1])
    if not math.isfinite(timing.period):
        return Stamps(0.0, math.inf, math.nan)
    longest = max(timing.longest_gap, timing.period)
    return Stamps(1.0 / timing.period, longest, timing.jitter)


def describe_recorded_driver(
    dynamics: Dynamics, record: Record, duration: float = 15.0
) -> DriverDescription:
    """Return what `ne_dynamics whatis` says of a record with commands.

    Parameters
    ----------
    dynamics : Dynamics
        The identified model.
    record : Record
    duration : float
        So much of it is looked at, from its begin [s].
    """
    record = record.part(record.times < record.times[0] + duration)

    def told(values: np.ndarray) -> np.ndarray | None:
        return values if np.isfinite(values).any() else None

    recording = DriverRecording.from_samples(
        record.joint_names,
        record.times,
        record.position,
        velocity=told(record.velocity),
        effort=told(record.effort),
        source='the excitation',
    )
    answered = record.answered
    commands = CommandLog.from_samples(record.joint_names, answered.times, answered.command)
    return describe_driver(dynamics, recording, commands=commands)


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
    remarks : tuple of str
        What is wrong with the efforts beside it, a sentence each.
    """

    meaning: str
    state_effort: str
    reversed_joints: tuple[str, ...]
    scales: Mapping[str, float]
    reason: str
    remarks: tuple[str, ...]

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
            remarks=tuple(
                f'{", ".join(fault.joints)}: {fault.what}; {fault.remedy}'
                for fault in described.faults
                if fault.code in TOLD_FAULTS
            ),
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold, but for the remarks."""
        return {
            'meaning': self.meaning,
            'state_effort': self.state_effort,
            'reversed_joints': list(self.reversed_joints),
            'scales': dict(self.scales),
            'reason': self.reason,
        }

    def sentences(self) -> list[str]:
        """Return what was found, a sentence each."""
        return [
            f'{MEANINGS[self.meaning]} ({self.reason})',
            *(
                f'{name}: effort is reported with the sign reversed'
                for name in self.reversed_joints
            ),
            *(
                f'{name}: {scale:.3g} N m (N) a unit of what is reported'
                for name, scale in self.scales.items()
            ),
            *self.remarks,
        ]
