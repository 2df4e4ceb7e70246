"""The minimum of squared residuals over bodies that can exist and friction that is not negative.

Minimised over pseudo-inertias P_b (4 x 4, positive definite), numbers x_i and, of those, some that
are not negative:

    1/2 |A y - z|^2 + 1/spread^2 sum_b D(P_b, P0_b) + 1/2 sum_i ((x_i - m_i) / s_i)^2

with y the inertial parameters of all P_b, then x, and D the divergence of
:mod:`~ne_dynamics.identification.pseudo_inertia`. The problem is convex. ``x_i >= 0`` is kept by a
barrier ``-mu log x_i``, with mu going to :data:`LAST_BARRIER`. What is then minimised is
self-concordant when it is divided by its smallest weight w of a logarithm, so that Newton's
decrement L proves how far the minimum is: by less than ``w (-l - log(1 - l))``, l = L / sqrt(w)
(Nesterov and Nemirovskii 1994; Boyd and Vandenberghe 2004, section 9.6), and the barrier adds less
than mu for each bound.

Each step is a least-squares problem in the coordinates ``P = F (1 + E) F^T`` with F the Cholesky
factor of the present P, in which the Hessian of ``-log det`` is the identity: bodies at the edge of
what can exist do no harm, the decrement is a norm and cannot be negative, and F is carried along
by a product of factors and never computed anew from a P that is nearly singular.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.pseudo_inertia import BASIS
from ne_dynamics.identification.reduction import triangle
from ne_dynamics.model.rigid_body import FloatArray

PER_BODY = 10

FIRST_BARRIER, LAST_BARRIER, BARRIER_STEP = 1.0, 1e-7, 0.03
"""Weights of the logarithms that keep friction from being negative: the first, the last, and the
factor from one to the next."""

LARGEST_GAP = 1e-4
"""Distance from the minimum, in units of the logarithm of the likelihood, from which a fit has
converged: nothing that is measured tells two models apart by so little."""

ITERATIONS = 400
LINE_ITERATIONS = 60

_PAIRS = [(row, column) for row in range(4) for column in range(row + 1)]


def _symmetric_basis() -> FloatArray:
    """Return an orthonormal basis of the symmetric matrices, shape (10, 4, 4)."""
    basis = np.zeros((10, 4, 4))
    for index, (row, column) in enumerate(_PAIRS):
        basis[index, row, column] = basis[index, column, row] = np.sqrt(
            1.0 if row == column else 0.5
        )
    return basis


_SYMMETRIC = _symmetric_basis()
_TO_PARAMETERS = np.linalg.pinv(BASIS.reshape(10, 16).T)


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised.

    Attributes
    ----------
    factor : array, shape (r, m + 1)
        A and, as its last column, z: weighted with the noise.
    references : array, shape (b, 4, 4)
        P0 of each body.
    spread : float
    means, scales : array, shape (m - 10 b,)
        m_i and s_i.
    bounded : bool array, shape (m - 10 b,)
        Which x_i are not negative.
    """

    factor: FloatArray
    references: FloatArray
    spread: float
    means: FloatArray
    scales: FloatArray
    bounded: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Solution:
    """A minimum.

    Attributes
    ----------
    parameters : array, shape (m,)
        y: ten parameters of each body, then x.
    roots : array, shape (b, 4, 4)
        Cholesky factors of the P_b.
    gap : float
        The minimum is not lower than what was reached by more than this.
    iterations : int
    """

    parameters: FloatArray
    roots: FloatArray
    gap: float
    iterations: int

    @property
    def pseudo_inertias(self) -> FloatArray:
        """P of each body, shape (b, 4, 4)."""
        return np.asarray(self.roots @ self.roots.transpose(0, 2, 1), dtype=np.float64)


def minimize(problem: Problem, start: Solution | None = None) -> Solution:
    """Return the minimum, with the proof of it.

    Parameters
    ----------
    problem : Problem
    start : Solution, optional
        Of a similar problem with the same columns.

    Returns
    -------
    Solution
        With a gap of at most :data:`LARGEST_GAP`.

    Raises
    ------
    IdentificationError
        When the minimum was not reached, or a number is not finite.
    """
    state = _State(problem, start)
    barrier = FIRST_BARRIER if problem.bounded.any() else LAST_BARRIER
    if start is not None:
        barrier = min(barrier, BARRIER_STEP)
    bound, iterations = np.inf, 0
    while iterations < ITERATIONS:
        iterations += 1
        decrement = state.step(barrier)
        if not np.isfinite(decrement):
            raise IdentificationError(
                f'the fit: expected finite numbers, got {decrement} in step {iterations}'
            )
        is_last = barrier <= LAST_BARRIER
        weight = 1.0 / problem.spread**2
        if problem.bounded.any():
            weight = min(weight, barrier)
        # On the way it is enough to be near the path.
        ratio = decrement / np.sqrt(weight)
        near = ratio if is_last else decrement / np.sqrt(max(barrier, 1e-3))
        if near < 0.5 and not is_last:
            barrier = max(barrier * BARRIER_STEP, LAST_BARRIER)
        elif is_last and ratio < 0.5:
            bound = weight * (-ratio - np.log1p(-ratio))
            bound += LAST_BARRIER * float(problem.bounded.sum())
            if bound <= LARGEST_GAP:
                return state.solution(float(bound), iterations)
    raise IdentificationError(
        f'the fit: expected to be within {LARGEST_GAP:g} of its minimum after {ITERATIONS} steps, '
        f'got {bound:.3g}'
    )


class _State:
    """Where the search is."""

    def __init__(self, problem: Problem, start: Solution | None) -> None:
        self._problem = problem
        self._inertial = PER_BODY * len(problem.references)
        self._matrix, self._target = problem.factor[:, :-1], problem.factor[:, -1]
        self._inverse = np.linalg.inv(problem.references)
        if start is None:
            self._roots = np.linalg.cholesky(problem.references)
            self._numbers = problem.means.copy()
            low = problem.bounded & (self._numbers < 0.1 * problem.scales)
            self._numbers[low] = 0.1 * problem.scales[low]
        else:
            self._roots = start.roots.copy()
            self._numbers = start.parameters[self._inertial :].copy()
            low = problem.bounded & (self._numbers < 1e-3 * problem.scales)
            self._numbers[low] = 1e-3 * problem.scales[low]

    def step(self, barrier: float) -> float:
        """Make one step of Newton's method to the least on its line; return the decrement."""
        problem = self._problem
        weight = 1.0 / problem.spread
        bounded = problem.bounded
        root_barrier = np.sqrt(barrier)
        residual = self._target - self._matrix @ self._parameters()
        turns, slopes = self._local()
        unit = np.where(bounded, self._numbers, problem.scales)
        local = np.empty_like(self._matrix)
        for index, turn in enumerate(turns):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            local[:, place] = self._matrix[:, place] @ turn
        local[:, self._inertial :] = self._matrix[:, self._inertial :] * unit
        size = local.shape[1]
        rows = [np.column_stack([local, residual])]
        # 1/spread^2 (tr(P0^-1 P) - log det P), of which the Hessian is 1/spread^2.
        own = np.zeros((self._inertial, size + 1))
        own[:, : self._inertial] = weight * np.eye(self._inertial)
        own[:, -1] = -weight * slopes.ravel()
        rows.append(own)
        numbers = size - self._inertial
        prior = np.zeros((numbers, size + 1))
        prior[:, self._inertial : -1] = np.diag(unit / problem.scales)
        prior[:, -1] = (problem.means - self._numbers) / problem.scales
        rows.append(prior)
        kept_off = np.zeros((numbers, size + 1))
        kept_off[:, self._inertial : -1] = np.diag(np.where(bounded, root_barrier, 0.0))
        kept_off[:, -1] = np.where(bounded, root_barrier, 0.0)
        rows.append(kept_off)
        upper = triangle(np.concatenate(rows))
        try:
            change = np.linalg.solve(upper[:-1, :-1], upper[:-1, -1])
        except np.linalg.LinAlgError as error:
            raise IdentificationError(f'the fit: a step has no solution: {error}') from error
        decrement = float(np.linalg.norm(upper[:-1, -1]))
        if not np.isfinite(change).all():
            return float('nan')
        steps = np.einsum('bk,kij->bij', change[: self._inertial].reshape(-1, 10), _SYMMETRIC)
        moves = change[self._inertial :]
        along = local @ change
        eigenvalues = np.linalg.eigvalsh(steps).ravel() if len(steps) else np.zeros(0)
        prior_move = moves * unit / problem.scales
        prior_left = (problem.means - self._numbers) / problem.scales
        linear = (
            -float(residual @ along)
            - float(prior_left @ prior_move)
            + weight**2 * (float((slopes * change[: self._inertial].reshape(-1, 10)).sum()))
            + weight**2 * float(eigenvalues.sum())
        )
        square = float(along @ along) + float(prior_move @ prior_move)
        logarithms = np.concatenate([eigenvalues, moves[bounded]])
        weights = np.concatenate(
            [np.full(eigenvalues.size, weight**2), np.full(int(bounded.sum()), barrier)]
        )
        length = _search(linear, square, logarithms, weights)
        for index, matrix in enumerate(steps):
            self._roots[index] = self._roots[index] @ np.linalg.cholesky(
                np.eye(4) + length * matrix
            )
        self._numbers = self._numbers + length * moves * unit
        return decrement

    def _local(self) -> tuple[FloatArray, FloatArray]:
        """Return what the steps of each body do to its parameters, and the prior's slopes."""
        turns = np.empty((len(self._roots), PER_BODY, PER_BODY))
        slopes = np.empty((len(self._roots), PER_BODY))
        for index, root in enumerate(self._roots):
            moved = root @ _SYMMETRIC @ root.T
            turns[index] = _TO_PARAMETERS @ moved.reshape(10, 16).T
            slope = root.T @ self._inverse[index] @ root - np.eye(4)
            slopes[index] = np.einsum('ij,kij->k', slope, _SYMMETRIC)
        return turns, slopes

    def _parameters(self) -> FloatArray:
        pseudo = self._roots @ self._roots.transpose(0, 2, 1)
        inertial = _TO_PARAMETERS @ pseudo.reshape(-1, 16).T
        return np.concatenate([inertial.T.ravel(), self._numbers])

    def solution(self, gap: float, iterations: int) -> Solution:
        """Return where the search is."""
        return Solution(self._parameters(), self._roots.copy(), gap, iterations)


def _search(
    linear: float, square: float, logarithms: FloatArray, weights: FloatArray
) -> float:
    """Return t > 0 with the least ``linear t + square t^2 / 2 - weights @ log(1 + logarithms t)``.

    The function is convex; its slope at 0 is negative.
    """
    lowest = float(logarithms.min()) if logarithms.size else 0.0
    high = 0.999 / -lowest if lowest < 0.0 else 1e6
    low = 0.0

    def slope(length: float) -> float:
        return (
            linear
            + square * length
            - float((weights * logarithms / (1.0 + logarithms * length)).sum())
        )

    if high >= 1e6 or slope(high) > 0.0:
        for _ in range(LINE_ITERATIONS):
            middle = 0.5 * (low + high)
            if slope(middle) > 0.0:
                high = middle
            else:
                low = middle
            if high - low < 1e-3 * high:
                break
        return low if low > 0.0 else high
    return high
