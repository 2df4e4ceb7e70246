"""What was measured of a motion in closed loop, in one process or over DDS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class RunRecording:
    """A motion, a row a state.

    Attributes
    ----------
    joint_names : tuple of str
    time : array, shape (N,)
        [s]
    desired : array, shape (N, n)
        Position that is asked for, NaN where none is [rad or m].
    position, velocity : array, shape (N, n)
        As they are, whatever the sensors say [rad or m], [rad/s or m/s].
    effort : array, shape (N, n)
        What the motors have applied up to that time [N m or N].
    """

    joint_names: tuple[str, ...]
    time: FloatArray
    desired: FloatArray
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray

    @property
    def error(self) -> FloatArray:
        """Desired minus measured position [rad or m], shape (N, n)."""
        return self.desired - self.position

    @property
    def rms_error(self) -> FloatArray:
        """Root of the mean square of the error over the run [rad or m], shape (n,)."""
        rms: FloatArray = np.sqrt(np.mean(self.error**2, axis=0))
        return rms

    @property
    def overall_rms_error(self) -> float:
        """The same over all joints [rad, m]."""
        return float(np.sqrt(np.mean(self.error**2)))

    @property
    def peak_error(self) -> FloatArray:
        """Largest absolute error [rad or m], shape (n,)."""
        peak: FloatArray = np.abs(self.error).max(axis=0)
        return peak


@dataclass(frozen=True, eq=False)
class SetParameters:
    """Parameters of the node that are set together while it moves.

    Attributes
    ----------
    time : float
        Since the start of the trajectory [s].
    parameters : mapping
        By name.
    """

    time: float
    parameters: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class NodeDiagnostics:
    """What the node said of itself.

    Attributes
    ----------
    time : float
        Since the start of the trajectory [s].
    level : int
        0 ok, 1 warning, 2 error, 3 stale.
    message : str
    values : mapping of str to str
    """

    time: float
    level: int
    message: str
    values: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class SessionRecording(RunRecording):
    """What was measured over DDS, from the start of the trajectory to its end.

    Desired is what was sent, whether the node heeds it or not.

    Attributes
    ----------
    heeded : array, shape (N, n)
        Desired position by the node; NaN where it did not answer.
    cycles_per_second : float
        States in a second of wall time.
    set_times : tuple of float
        When the node took each of the settings [s].
    diagnoses : tuple of NodeDiagnostics
        From before the start to the end.
    """

    heeded: FloatArray
    cycles_per_second: float
    set_times: tuple[float, ...] = ()
    diagnoses: tuple[NodeDiagnostics, ...] = ()
