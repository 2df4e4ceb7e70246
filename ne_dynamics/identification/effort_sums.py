"""Sums over the samples of a log that tell what is doubtful, and how good a model is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.identification.evaluation import JointResidual, describe_residuals
from ne_dynamics.logs import Signals
from ne_dynamics.logs.sums import Sums
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class EffortSums(Sums):
    """Sums of squares of measured and computed efforts, and of their difference.

    Attributes
    ----------
    count : int
        Samples.
    measured, computed, difference : array, shape (n,)
        [(N m)^2 or N^2]
    """

    count: int
    measured: FloatArray
    computed: FloatArray
    difference: FloatArray

    @classmethod
    def of(cls, measured: FloatArray, computed: FloatArray) -> EffortSums:
        """Return the sums of efforts, shape (M, n) each."""
        tables = measured, computed, measured - computed
        return cls(measured.shape[0], *((table * table).sum(axis=0) for table in tables))

    def describe(self, robot: Robot) -> tuple[JointResidual, ...]:
        """Return the root mean squares, joint by joint."""
        count = max(self.count, 1)
        return describe_residuals(
            robot,
            *(
                np.sqrt(squares / count)
                for squares in (self.measured, self.computed, self.difference)
            ),
        )


@dataclass(frozen=True, eq=False)
class SignalSums(Sums):
    """Sums over the filtered samples of a log, or of some; shape (n,) each.

    Attributes
    ----------
    count : int
        Samples.
    effort, acceleration : array
        Squares.
    used, used_fitted : array
        Samples of a moving joint with an effort below its limit: of all, and of those that are
        fitted before the others are predicted.
    product, used_measured, used_computed : array
        Products of measured and computed efforts in samples that are used, and their squares.
    power, power_size : array
        Products of measured effort and velocity in samples that are used, and their magnitudes.
    with_velocity : array
        Squares of velocities where the log has its own, too.
    velocity_error : array
        Squares of the difference of both.
    """

    count: int
    effort: FloatArray
    acceleration: FloatArray
    used: FloatArray
    used_fitted: FloatArray
    product: FloatArray
    used_measured: FloatArray
    used_computed: FloatArray
    power: FloatArray
    power_size: FloatArray
    with_velocity: FloatArray
    velocity_error: FloatArray

    @classmethod
    def of(cls, signals: Signals, computed: FloatArray, fitted: int) -> SignalSums:
        """Return the sums of signals, of which the first `fitted` ones are fitted."""
        usable = signals.usable.astype(np.float64)
        measured, computed = signals.effort * usable, computed * usable
        power = measured * signals.velocity
        velocity = np.zeros_like(signals.velocity)
        error = velocity
        if signals.measured_velocity is not None:
            velocity, error = signals.velocity, signals.measured_velocity - signals.velocity
        return cls(
            signals.times.size,
            (signals.effort**2).sum(axis=0),
            (signals.acceleration**2).sum(axis=0),
            usable.sum(axis=0),
            usable[: max(fitted, 0)].sum(axis=0),
            (measured * computed).sum(axis=0),
            (measured**2).sum(axis=0),
            (computed**2).sum(axis=0),
            power.sum(axis=0),
            np.abs(power).sum(axis=0),
            (velocity**2).sum(axis=0),
            (error**2).sum(axis=0),
        )
