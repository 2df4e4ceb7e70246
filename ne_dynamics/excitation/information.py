"""What a motion tells of the parameters: the information matrix, its measures, their gradients.

Efforts with white noise of standard deviation ``s_i`` on joint i give the information
``M = sum over samples of Z^T W Z``, with the columns Z of the parameters and
``W = diag(1 / s^2)``. Its inverse is the covariance of the parameters. ``-log det M`` is what the
best motion has least of (D-optimal; Swevers et al. 1997); the condition number is that of
``W^(1/2) Z`` with each column in units of the error that the identification expects of its
parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.excitation.columns import TERMS, ParameterColumns, compute_friction_columns
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.model.rigid_body import FloatArray


class SampledMotion(NamedTuple):
    """Samples of a motion, or what an objective changes by with each of them.

    Attributes
    ----------
    position, velocity, acceleration : array, shape (N, n)
        [rad or m] and their time derivatives.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

    def __add__(self, other: tuple[FloatArray, ...]) -> SampledMotion:  # type: ignore[override] # sums
        """Return the sum, entry by entry."""
        return SampledMotion(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, eq=False)
class Measure:
    """A number that is to be small, and its derivative.

    Attributes
    ----------
    value : float
    slope : array, shape (p, p)
        By the information matrix, symmetric.
    """

    value: float
    slope: FloatArray


def measure_determinant(information: FloatArray) -> Measure:
    """Return ``-log det M``, of a matrix M of shape (p, p)."""
    values, axes = _decompose(information)
    return Measure(-float(np.log(values).sum()), -(axes / values) @ axes.T)


def measure_condition(information: FloatArray) -> Measure:
    """Return the logarithm of a smooth bound of the condition number.

    Means of a high power stand for the largest eigenvalue and for that of the inverse.
    """
    values, axes = _decompose(information)
    high, low = values / values[-1], values[0] / values
    power = EXCITATION.eigenvalue_power
    upper, lower = (high**power).sum(), (low**power).sum()
    value = 0.5 * (np.log(values[-1] / values[0]) + np.log(upper) / power + np.log(lower) / power)
    slope = 0.5 * (high**power / upper - low**power / lower) / values
    return Measure(float(value), (axes * slope) @ axes.T)


def _decompose(information: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, axes = np.linalg.eigh(information)
    return np.maximum(values, _find_rounding(float(values[-1]))), axes


def _find_rounding(largest: float) -> float:
    """Return the size below which an eigenvalue is none, by the largest one."""
    return 1e-14 * max(largest, 1e-300)


MEASURES = {'log-det': measure_determinant, 'condition': measure_condition}
"""What can be asked for, by name."""


class Information:
    """The information of motions of one robot.

    Parameters
    ----------
    dynamics : Dynamics
    columns : ParameterColumns
    limits : ExcitationLimits
    noise : array, shape (n,)
        Standard deviation of the effort of each joint [N m or N].
    """

    def __init__(
        self,
        dynamics: Dynamics,
        columns: ParameterColumns,
        limits: ExcitationLimits,
        noise: FloatArray,
    ) -> None:
        self._dynamics, self.columns = dynamics, columns
        self._largest = np.where(limits.moves, limits.velocity, 1.0)
        # A joint that stands may stick: its effort says nothing.
        self._weights = np.where(limits.moves, 1.0 / noise, 0.0)
        self._rows: FloatArray | None = None

    def compute(self, motion: SampledMotion) -> FloatArray:
        """Return the mean information of the samples in units of the columns' scales, (p, p)."""
        rows = self._compute_rows(motion)
        self._rows = rows
        flat = rows.reshape(-1, self.columns.size)
        matrix: FloatArray = flat.T @ flat / motion.position.shape[0]
        return matrix

    def _compute_rows(self, motion: SampledMotion) -> FloatArray:
        """Return the weighted and scaled columns, shape (N, n, p)."""
        columns = self.columns
        samples, n = motion.position.shape
        rows = np.zeros((samples, n, columns.size))
        inertial = columns.inertial.size
        rows[:, :, :inertial] = self._dynamics.regressor(*motion)[:, :, columns.inertial]
        friction, _, _ = compute_friction_columns(
            motion.velocity, motion.acceleration, self._largest
        )
        places = np.arange(inertial, columns.size)
        rows[:, columns.joints, places] = friction[:, columns.joints, columns.terms]
        rows *= self._weights[:, np.newaxis] * columns.scales
        return rows

    def pull_back(self, motion: SampledMotion, slope: FloatArray) -> SampledMotion:
        """Return what a measure of the mean information changes by with each sample.

        The motion is that :meth:`compute` was called with last; the slope, shape (p, p), that of
        the measure by the information.
        """
        assert self._rows is not None
        columns, n = self.columns, motion.position.shape[1]
        samples = motion.position.shape[0]
        # One product, not one a sample.
        by_rows = (self._rows.reshape(-1, columns.size) @ slope).reshape(self._rows.shape)
        by_rows *= (2.0 / samples) * self._weights[:, np.newaxis] * columns.scales
        inertial = columns.inertial.size
        bodies = len(self._dynamics.robot.bodies)
        weights = np.zeros((samples, n, 10 * bodies))
        weights[:, :, columns.inertial] = by_rows[:, :, :inertial]
        gradient = SampledMotion(*self._dynamics.regressor_gradient(*motion, weights))
        own = np.zeros((samples, n, len(TERMS)))
        places = np.arange(inertial, columns.size)
        own[:, columns.joints, columns.terms] = by_rows[:, columns.joints, places]
        _, by_velocity, by_acceleration = compute_friction_columns(
            motion.velocity, motion.acceleration, self._largest
        )
        return SampledMotion(
            gradient.position,
            gradient.velocity + (own * by_velocity).sum(axis=2),
            gradient.acceleration + (own * by_acceleration).sum(axis=2),
        )


def compute_condition_number(information: FloatArray) -> float:
    """Return the condition number of the weighted columns; infinite when one is dependent."""
    values = np.linalg.eigvalsh(information)
    if not values[0] > _find_rounding(float(values[-1])):
        return float('inf')
    return float(np.sqrt(values[-1] / values[0]))
