"""What an arm reports, as the driver's own estimator has it: stamps, and what its efforts are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.driver import DriverDescription, DriverRecording, describe_driver
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


def read_stamps(receptions: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Return how states came, from their stamps and the times of reception [ns].

    Returns
    -------
    dict
        `rate` by the median of the steps between stamps [Hz], 0 for too few of them;
        `longest_gap` between two stamps [s], the usual step where there is no gap; `jitter`, the
        standard deviation of the steps, gaps apart [s].
    """
    table = np.array(receptions, dtype=np.float64).reshape(-1, 2) / NANO
    # Drivers without stamps have zeros.
    timing = time_stamps(table[:, 0] if table[:, 0].any() else table[:, 1], fewest=1)
    if not math.isfinite(timing.period):
        return {'rate': 0.0, 'longest_gap': math.inf, 'jitter': math.nan}
    longest = max(timing.longest_gap, timing.period)
    return {'rate': 1.0 / timing.period, 'longest_gap': longest, 'jitter': timing.jitter}


def describe_recorded_driver(
    dynamics: Dynamics, record: Record, duration: float = 15.0
) -> DriverDescription:
    """Return what `ne_dynamics whatis` says of a record with commands, by the identified model.

    So much of it is looked at as the duration says, from its begin [s].
    """
    record = record.part(record.times < record.times[0] + duration)
    recording = DriverRecording.from_samples(
        record.joint_names,
        record.times,
        record.position,
        velocity=record.velocity,
        effort=record.effort,
        source='the excitation',
    )
    return describe_driver(dynamics, recording, commands=record.commands)


def read_efforts(described: DriverDescription) -> dict[str, Any]:
    """Return what the arm reports as effort: the words of the driver profile, and no others.

    Returns
    -------
    dict
        `meaning`: torque, torque_without_gravity, current (or another unit), nothing, or unknown;
        `state_effort`: the node's parameter for it, and the `reason`; `reversed_joints`; `scales`:
        N m (N) of a unit of what is reported, for joints whose efforts are in another unit.
    """
    value, reason = find_parameters(described)['state_effort']
    joints = described.joints
    return {
        'meaning': str(described.effort.value or UNKNOWN),
        'state_effort': str(value),
        'reversed_joints': [joint.name for joint in joints if joint.effort.sign.value == -1.0],
        'scales': {
            joint.name: float(joint.effort.scale.value or math.nan)
            for joint in joints
            if joint.effort.meaning.value == OTHER_UNIT and joint.effort.scale.is_identifiable
        },
        'reason': reason,
    }


def tell_efforts(described: DriverDescription) -> list[str]:
    """Return what was found of the efforts, and what is wrong with them, a sentence each."""
    found = read_efforts(described)
    return [
        f'{MEANINGS[found["meaning"]]} ({found["reason"]})',
        *(
            f'{name}: effort is reported with the sign reversed'
            for name in found['reversed_joints']
        ),
        *(
            f'{name}: {scale:.3g} N m (N) a unit of what is reported'
            for name, scale in found['scales'].items()
        ),
        *(
            f'{", ".join(fault.joints)}: {fault.what}; {fault.remedy}'
            for fault in described.faults
            if fault.code in TOLD_FAULTS
        ),
    ]
