"""The driver profile of a run: what the arm reports, as parameters of the node."""

from __future__ import annotations

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.driver import CommandLog, DriverDescription, DriverRecording, describe_driver
from ne_dynamics.dynamics import Dynamics

LOOKED_AT = 15.0
"""So much of a record is looked at, from its begin [s]."""


def describe_recorded_driver(dynamics: Dynamics, record: Record) -> DriverDescription:
    """Return what `ne_dynamics whatis` says of a record with commands.

    Parameters
    ----------
    dynamics : Dynamics
        The identified model.
    record : Record
    """
    record = record.part(record.times < record.times[0] + LOOKED_AT)

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
