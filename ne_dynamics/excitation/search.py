"""The best motion of the family: random motions first, then an augmented Lagrangian method.

What must be kept enters by multipliers (Nocedal and Wright 2006, "Numerical optimization",
section 17.4); each of the problems without constraints that result is solved by L-BFGS of SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import optional_dependency
from ne_dynamics.excitation.basis import Series
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.constraints import Constraints
from ne_dynamics.excitation.information import Information, Measure, SampledMotion
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.thresholds import SEARCH
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class Task:
    """What is sought.

    Attributes
    ----------
    dynamics : Dynamics
    start : array, shape (n,)
        [rad or m]
    series : Series
    limits : ExcitationLimits
    clearance : Clearance
    information : Information
    measure : callable
        Of the information; it is to be small.
    """

    dynamics: Dynamics
    start: FloatArray
    series: Series
    limits: ExcitationLimits
    clearance: Clearance
    information: Information
    measure: Callable[[FloatArray], Measure]


class Search:
    """Motions of a task, as vectors of coefficients in units of what the limits allow.

    Parameters
    ----------
    task : Task
    tightening : float
        Part of every limit that is kept free.
    extra : float
        Distance that is aimed at beyond the margins [m].
    """

    def __init__(self, task: Task, tightening: float, extra: float = 0.0) -> None:
        self._task = task
        series, limits = task.series, task.limits
        # In a period of the fastest oscillation 24, and 16 where the window rises.
        rate = 24.0 * series.base_frequency * series.harmonics
        samples = max(int(np.ceil(rate * series.duration)), 160) + 1
        self._times = np.linspace(0.0, series.duration, samples)
        self._waves = series.evaluate(self._times)
        self._moving = np.flatnonzero(limits.moves)
        self._scales = self._find_scales()
        self._constraints = Constraints(
            task.dynamics, limits, task.clearance, samples, tightening, extra
        )
        self._shape = samples, len(task.clearance.pairs)

    def _find_scales(self) -> FloatArray:
        """Return the coefficients that by themselves reach a limit, shape (m, size)."""
        limits, series = self._task.limits, self._task.series
        moving = self._moving
        half = 0.5 * (limits.upper - limits.lower)[moving, np.newaxis]
        rates = (
            2.0 * np.pi * series.base_frequency * np.repeat(np.arange(1, series.harmonics + 1), 2)
        )
        waves = np.minimum(
            np.minimum(half, limits.velocity[moving, np.newaxis] / rates),
            limits.acceleration[moving, np.newaxis] / rates**2,
        )
        return np.hstack([half, waves])

    def make_coefficients(self, x: FloatArray) -> FloatArray:
        """Return coefficients of all joints, shape (n, size) [rad or m]."""
        result = np.zeros((self._task.start.size, self._task.series.size))
        result[self._moving] = self._scales * x.reshape(self._scales.shape)
        return result

    def make_motion(self, x: FloatArray) -> SampledMotion:
        """Return the samples of a motion."""
        parts = self._waves @ self.make_coefficients(x).T
        return SampledMotion(self._task.start + parts[0], parts[1], parts[2])

    def _pull_back(self, gradient: SampledMotion) -> FloatArray:
        result = np.zeros(self._scales.shape)
        for values, waves in zip(gradient, self._waves, strict=True):
            result += values[:, self._moving].T @ waves
        result *= self._scales
        return result.ravel()

    def measure(self, x: FloatArray) -> float:
        """Return what is to be small, whatever the motion violates."""
        return self._task.measure(self._task.information.compute(self.make_motion(x))).value

    def is_feasible(self, x: FloatArray) -> bool:
        """Return whether a motion keeps all limits and distances; distances last, and if need be.

        Of a hundred motions that are looked at for a random one, most violate something: nothing
        is measured beyond what tells.
        """
        motion = self.make_motion(x)
        return all(
            (group.values <= 0.0).all() for group in self._constraints.evaluate_limits(motion)
        ) and self._constraints.keeps_distances(motion)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return a random motion, as large as it may be; nothing but rest always may.

        Its coefficients are normal, joint by joint larger or smaller. All of them are made
        smaller together until nothing is violated, then those of each joint larger while nothing
        is.
        """
        joints, count = self._scales.shape
        x = rng.normal(size=self._scales.shape) / np.sqrt(count)
        x *= rng.uniform(0.3, 1.0, (joints, 1))
        x *= self._find_largest(lambda factor: factor * x, 0.0, 2.0, halvings=10)
        for joint in rng.permutation(joints).tolist():
            row = np.arange(joints)[:, np.newaxis] == joint
            x = self._enlarge(x, row)
        result: FloatArray = x.ravel()
        return result

    def _enlarge(self, x: FloatArray, row: NDArray[np.bool_]) -> FloatArray:
        def change(factor: float) -> FloatArray:
            return np.where(row, factor * x, x)

        return change(self._find_largest(change, 1.0, 5.0, halvings=4))

    def _find_largest(
        self, change: Callable[[float], FloatArray], low: float, high: float, halvings: int
    ) -> float:
        """Return the largest factor found that violates nothing, when the lowest does not."""
        for _ in range(halvings):
            middle = 0.5 * (low + high)
            if self.is_feasible(change(middle).ravel()):
                low = middle
            else:
                high = middle
        return low

    def improve(
        self, x: FloatArray, report: Callable[[float], None], turns: int | None = None
    ) -> FloatArray:
        """Return a better motion than x, which may violate its limits a little.

        What is done of the work is reported, as a part, now and then. The multipliers are changed
        in so many turns; default: `SEARCH.multiplier_steps`.
        """
        with optional_dependency('the best motion is sought with SciPy', 'excite'):
            from scipy.optimize import minimize
        state, turn_steps = _Multipliers(), SEARCH.iterations
        turns = SEARCH.multiplier_steps if turns is None else turns
        for turn in range(turns):
            found = minimize(
                lambda point: self._evaluate(point, state),
                x,
                jac=True,
                method='L-BFGS-B',
                options={'maxiter': turn_steps, 'maxfun': 2 * turn_steps, 'maxcor': 20},
            )
            x = np.asarray(found.x, dtype=np.float64)
            self._update(x, state)
            report((turn + 1.0) / turns)
        return x

    def _needed(self, state: _Multipliers) -> FloatArray:
        if not state.values:
            return np.zeros(self._shape)
        return -state.values[4] / state.weights[4]

    def _evaluate(self, x: FloatArray, state: _Multipliers) -> tuple[float, FloatArray]:
        task, motion = self._task, self.make_motion(x)
        measure = task.measure(task.information.compute(motion))
        gradient = task.information.pull_back(motion, measure.slope)
        count = task.information.columns.size
        value = measure.value / count
        total = SampledMotion(*(part / count for part in gradient))
        groups = self._constraints.evaluate(motion, self._needed(state))
        if not state.values:
            state.values = [np.zeros_like(group.values) for group in groups]
            state.weights = [3.0] * len(groups)
        for group, multipliers, weight in zip(groups, state.values, state.weights, strict=True):
            force = np.maximum(multipliers + weight * group.values, 0.0)
            value += 0.5 * float((force**2 - multipliers**2).sum()) / weight
            if force.any():
                total += group.pull_back(force)
        return value, self._pull_back(total)

    def _update(self, x: FloatArray, state: _Multipliers) -> None:
        groups = self._constraints.evaluate(self.make_motion(x), self._needed(state))
        worst = []
        for index, group in enumerate(groups):
            weight = state.weights[index]
            state.values[index] = np.maximum(state.values[index] + weight * group.values, 0.0)
            worst.append(max(float(group.values.max(initial=0.0)), 0.0))
            if state.worst and worst[-1] > 0.5 * state.worst[index]:
                # Violations shrink too slowly.
                state.weights[index] *= 3.0
        state.worst = worst


@dataclass
class _Multipliers:
    """Multipliers and weights of the groups, and the largest violation of each before."""

    values: list[FloatArray] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)
