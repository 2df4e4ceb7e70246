"""The least-squares problem of a load on an arm, from logs of efforts in N m or in currents.

With the unknowns of :func:`~.shared_rows.map_unknowns` and, for each joint, g = 1 or the
reciprocal of the unknown gain of its drive ::

    reading = g (arm (body parameters) + load (load parameters)) + friction + error

With g = 1 the problem is linear, and its minimum is one step of the Gauss-Newton method away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.control import Carrier
from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.identification.load.shared_rows import LoadBelief, LogFactors, map_unknowns
from ne_dynamics.identification.regression.reduction import triangle
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.settings import SETTINGS
from ne_dynamics.logs.autocorrelation import find_correlation_time
from ne_dynamics.model.rigid_body import FloatArray


class LoadProblem:
    """Weighted rows of logs, what is believed of the unknowns, and the minimum of both.

    A state is the steps of the unknowns and, where drives have gains, the logarithms of 1/gain,
    joint by joint.

    Parameters
    ----------
    carrier : Carrier
        Of the load, on the arm without it.
    logs : sequence of LogFactors
    load : LoadBelief
    prior_scale, shift : float
        How far the arm may be off, see :func:`~.shared_rows.map_unknowns`.

    Attributes
    ----------
    has_gains : bool
        Whether efforts are in units of drives whose gains are unknown.
    robot : Robot
        Without the load.
    load : LoadBelief
    steps : int
        Number of unknowns beside the gains; the ten of the load are the last.
    weights : list of array, shape (n,)
        Reciprocal standard deviations of the readings, log by log; :meth:`solve` finds them.
    """

    has_gains = False

    def __init__(
        self,
        carrier: Carrier,
        logs: Sequence[LogFactors],
        load: LoadBelief,
        prior_scale: float,
        shift: float = 0.0,
    ) -> None:
        self.robot, self.load = carrier.dynamics.robot, load
        self._means, self._maps = map_unknowns(carrier, logs, load, prior_scale, shift)
        self.steps = int(self._maps.shape[3])
        self.weights = [np.ones(self.robot.n) for _ in logs]
        self._logs = logs
        self._gains = self.robot.n if self.has_gains else 0
        self._first = first = logs[0].rows.columns
        self._parts = []
        for item in logs:
            means, maps = self._columns(item)
            factors = item.reduction.factors[0]
            inertial, friction = factors[:, :, :first], factors[:, :, first:-1]
            self._parts.append(
                (
                    factors[:, :, -1] - np.einsum('jrc,jc->jr', friction, means[:, first:]),
                    np.einsum('jrc,jc->jr', inertial, means[:, :first]),
                    inertial @ maps[:, :first],
                    friction @ maps[:, first:],
                )
            )

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.steps + self._gains

    def find_load(self, state: FloatArray) -> FloatArray:
        """Return the ten parameters of the load in the frame of its link."""
        steps = state[self.steps - PER_BODY : self.steps]
        return np.asarray(self.load.mean + self.load.width * steps)

    def _columns(self, item: LogFactors) -> tuple[FloatArray, FloatArray]:
        """Return means, shape (n, C), and maps, shape (n, C, N), of the columns of a log."""
        return self._means[int(item.is_loaded)], self._maps[int(item.is_loaded)]

    def compute_residuals(self, state: FloatArray, item: LogFactors) -> FloatArray:
        """Return what is left of each sample of a log, shape (M, n), in its unit."""
        means, maps = self._columns(item)
        columns = means + maps @ state[: self.steps]
        columns[:, : self._first] *= self._factors(state)[:, np.newaxis]
        result = np.zeros(item.used.shape)
        for rows in item.rows.generate():
            result[rows.samples] = rows.effort - np.einsum('sjc,jc->sj', rows.matrix, columns)
        return result

    def compute_rms(self, state: FloatArray, item: LogFactors) -> FloatArray:
        """Return the root mean square of what is left of the samples that count, shape (n,)."""
        left = self.compute_residuals(state, item)
        squares = np.where(item.used, left**2, 0.0).sum(axis=0)
        return np.asarray(np.sqrt(squares / np.maximum(item.used.sum(axis=0), 1)))

    def solve(self, state: FloatArray) -> FloatArray:
        """Return the state at the minimum from a first one, with the noise that is left at it.

        The weights are found along: the noise of each joint, and how many samples tell as much as
        one.

        Raises
        ------
        IdentificationError
            When there is no minimum.
        """
        n = self.robot.n
        sizes = [np.maximum(rms(item.signals.effort), 1e-9) for item in self._logs]
        alike = [np.ones(n) for _ in self._logs]
        self.weights = [1.0 / (SETTINGS.first_sigma * size) for size in sizes]
        state = self._find_minimum(state)
        for turn in range(2 * SETTINGS.passes):
            if turn == SETTINGS.passes:
                alike = [
                    find_correlation_time(self.compute_residuals(state, item), item.used)
                    for item in self._logs
                ]
            for place, item in enumerate(self._logs):
                left = np.square(self._left(state, place)).sum(axis=1)
                counts = item.reduction.counts[0]
                free = np.maximum(counts - self.size / n / len(self._logs), 4.0)
                sigma = np.maximum(np.sqrt(left / free), SETTINGS.smallest_sigma * sizes[place])
                self.weights[place] = 1.0 / (sigma * np.sqrt(alike[place]))
            state = self._find_minimum(state)
        return state

    def compute_triangle(self, state: FloatArray) -> FloatArray:
        """Return the triangle R of the Jacobian and, last, of the residuals.

        Its shape is (N + 1, N + 1) with N unknowns; R^T R of these is their information.
        """
        steps, factors = state[: self.steps], self._factors(state)
        believed = np.diag([*np.ones(self.steps), *np.full(self._gains, 1.0 / 3.0)])
        # Gains, of which hardly anything is believed, are not drawn to where they begin.
        rows = [np.c_[believed, np.r_[-steps, np.zeros(self._gains)]]]
        for place, (_, mean, inertial, friction) in enumerate(self._parts):
            columns = [factors[:, np.newaxis, np.newaxis] * inertial + friction]
            if self.has_gains:
                own = factors[:, np.newaxis] * (mean + inertial @ steps)
                columns.append(own[:, :, np.newaxis] * np.eye(self._gains)[:, np.newaxis])
            columns.append(self._left(state, place)[:, :, np.newaxis])
            table = (
                np.concatenate(columns, axis=2) * self.weights[place][:, np.newaxis, np.newaxis]
            )
            rows.append(table.reshape(-1, self.size + 1))
        return triangle(np.concatenate(rows))

    def compute_information(self, state: FloatArray) -> FloatArray:
        """Return the inverse of the covariance of a state."""
        upper = self.compute_triangle(state)[:-1, :-1]
        return np.asarray(upper.T @ upper)

    def _factors(self, state: FloatArray) -> FloatArray:
        """Return the factor of what the bodies make of the efforts of each joint, shape (n,)."""
        if not self.has_gains:
            return np.ones(self.robot.n)
        return np.asarray(np.exp(state[self.steps :]))

    def _left(self, state: FloatArray, place: int) -> FloatArray:
        """Return what is left of a log's triangles, shape (n, C + 1)."""
        right, mean, inertial, friction = self._parts[place]
        steps, factors = state[: self.steps], self._factors(state)[:, np.newaxis]
        return np.asarray(right - factors * (mean + inertial @ steps) - friction @ steps)

    def _cost(self, state: FloatArray) -> float:
        steps = state[: self.steps]
        squares = float(steps @ steps)
        for place, weights in enumerate(self.weights):
            squares += float(np.square(weights[:, np.newaxis] * self._left(state, place)).sum())
        return 0.5 * squares

    def _find_minimum(self, state: FloatArray) -> FloatArray:
        """Return the minimum by the Gauss-Newton method with line search."""
        cost, iterations = self._cost(state), 400
        for _ in range(iterations):
            upper = self.compute_triangle(state)
            change = np.linalg.solve(upper[:-1, :-1], upper[:-1, -1])
            if not self.has_gains:
                moved: FloatArray = state + change
                return moved
            length = 1.0
            while True:
                trial = state + length * change
                value = self._cost(trial)
                if value <= cost:
                    break
                length *= 0.5
                if length < 1e-8:
                    return state
            is_done = cost - value <= 1e-8 * max(cost, 1.0)
            state, cost = trial, value
            if is_done:
                return state
        raise IdentificationError(
            f'the gains of the drives: expected a minimum after {iterations} steps of '
            "Gauss and Newton's method, got none: the readings or the model are out of proportion"
        )
