"""The minimum of squared residuals over bodies that can exist and friction that is not negative.

Minimised over pseudo-inertias P_b (4 x 4, positive definite), numbers x_i and, of those, some that
are not negative:

    1/2 |A y - z|^2 + sum_b D(P_b, P0_b) / prior_scale_b^2 + 1/2 sum_i ((x_i - m_i) / s_i)^2

with y the inertial parameters of all P_b, then x, and D the divergence of
:mod:`~ne_dynamics.identification.regression.pseudo_inertia`. The problem is convex. Newton's
method steps to the least on its line; a number that would become negative stops at 0 and stays
there until it pulls away at the minimum of the others. From far away all 1/prior_scale_b^2 are larger
at first, in proportion, and go down. From the minimum of a similar problem it seldom has to.

Divided by the least weight w of the divergences, the function is self-concordant, so that Newton's
decrement L at a point where no number pulls away from 0 proves how far the minimum is: by at most
``w (-l - log(1 - l))``, l = L / sqrt(w) < 1 (Nesterov and Nemirovskii 1994; Boyd and Vandenberghe
2004, section 9.6).

Each step is a least-squares problem in the coordinates ``P = F (1 + E) F^T`` with F the Cholesky
factor of the present P, in which the Hessian of ``-log det`` is the identity: bodies at the edge
of what can exist do no harm, the decrement is a norm and cannot be negative, and F is carried
along by a product of factors and never computed anew from a P that is nearly singular.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.regression.pseudo_inertia import BASIS
from ne_dynamics.identification.regression.reduction import triangle
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.thresholds import SOLVER
from ne_dynamics.model.rigid_body import FloatArray

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
    prior_scales : array, shape (b,)
        How far each body may be from P0, as a part of itself.
    means, scales : array, shape (m - 10 b,)
        m_i and s_i.
    bounded : bool array, shape (m - 10 b,)
        Which x_i are not negative.
    """

    factor: FloatArray
    references: FloatArray
    prior_scales: FloatArray
    means: FloatArray
    scales: FloatArray
    bounded: NDArray[np.bool_]

    @property
    def least_weight(self) -> float:
        """Least weight of a divergence."""
        return float(self.prior_scales.max()) ** -2.0 if self.prior_scales.size else 1.0


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


def minimize(
    problem: Problem, start: Solution | None = None, largest_gap: float = SOLVER.largest_gap
) -> Solution:
    """Return the minimum, with the proof of it: a gap of at most the largest.

    The start is the solution of a similar problem with the same columns.

    Raises
    ------
    IdentificationError
        When the minimum was not reached, or a number is not finite.
    """
    attempts: list[tuple[Solution | None, float, int]] = [
        (None, SOLVER.first_weight, SOLVER.iterations)
    ]
    if start is not None:
        # Mostly the minimum is near: Newton's method alone gets there in a few steps.
        attempts = [
            (start, 0.0, SOLVER.near_steps),
            (start, SOLVER.first_weight, SOLVER.stuck_steps),
            *attempts,
        ]
    for begin, first_weight, longest in attempts:
        found = _follow(problem, _SolverState(problem, begin), first_weight, longest, largest_gap)
        if found is not None:
            return found
    raise IdentificationError(
        f'the fit: expected to be within {largest_gap:g} of its minimum after {SOLVER.iterations} '
        "steps of Newton's method, it is not: the numbers of the log or of the given model "
        'are out of proportion'
    )


def _follow(
    problem: Problem, state: _SolverState, first_weight: float, longest: int, largest_gap: float
) -> Solution | None:
    """Return the minimum, by the path of minima with ever smaller weights; None when it is far."""
    last = problem.least_weight
    # Where the present point is near enough to the minimum for Newton's method.
    weight = last
    if first_weight > 0.0:
        weight = max(first_weight * state.compute_decrement(last) ** 2, last)
    factor, steps = SOLVER.weight_step, 0
    for iteration in range(1, longest + 1):
        decrement, proof = state.step(weight)
        steps += 1
        if not np.isfinite(decrement):
            return None
        if decrement >= SOLVER.centred_decrement * np.sqrt(weight) or state.release():
            continue
        if weight > last:
            if steps > SOLVER.long_stage:
                factor = min(math.sqrt(factor), SOLVER.shortest_weight_step)
            weight, steps = max(weight * factor, last), 0
            continue
        ratio = proof / np.sqrt(last)
        gap = float(last * (-ratio - np.log1p(-ratio))) if ratio < 1.0 else np.inf
        if gap <= largest_gap:
            return state.solution(gap, iteration)
    return None


class _SolverState:
    """Where the search is."""

    def __init__(self, problem: Problem, start: Solution | None) -> None:
        self._problem = problem
        self._inertial = PER_BODY * len(problem.references)
        self._matrix, self._target = problem.factor[:, :-1], problem.factor[:, -1]
        self._inverse = np.linalg.inv(problem.references)
        # Of each divergence, by the least weight.
        self._parts = problem.prior_scales**-2.0 / problem.least_weight
        if start is None:
            self._roots: FloatArray = np.array(np.linalg.cholesky(problem.references))
            self._numbers = problem.means.copy()
        else:
            self._roots = start.roots.copy()
            self._numbers = start.parameters[self._inertial :].copy()
        self._numbers = np.where(problem.bounded, np.maximum(self._numbers, 0.0), self._numbers)
        self._held = np.zeros(self._numbers.size, dtype=bool)
        self._pulls = np.zeros(self._numbers.size)
        self._stopped = False

    def step(self, weight: float) -> tuple[float, float]:
        """Make one step of Newton's method to the least on its line; return decrement and proof.

        These are, before the step, Newton's decrement in the numbers that are not held at 0, and
        what it is in all of them, those at 0 taken as at rest.
        """
        change, decrement, proof, line = self._solve(weight)
        if np.isfinite(decrement):
            self._move(change, *line, weight)
        return decrement, proof

    def compute_decrement(self, weight: float) -> float:
        """Return Newton's decrement here."""
        return self._solve(weight)[1]

    def _solve(
        self, weight: float
    ) -> tuple[FloatArray, float, float, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Return Newton's direction, both decrements, and what a step along it needs."""
        problem, inertial = self._problem, self._inertial
        residual = self._target - self._matrix @ self._parameters()
        turns, slopes = self._local()
        local = np.empty_like(self._matrix)
        for index, turn in enumerate(turns):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            local[:, place] = self._matrix[:, place] @ turn
        local[:, inertial:] = self._matrix[:, inertial:] * problem.scales
        size, roots = local.shape[1], np.sqrt(weight * self._parts)
        numbers = size - inertial
        left = (problem.means - self._numbers) / problem.scales
        table = np.zeros((local.shape[0] + size, size + 1))
        table[: local.shape[0], :-1] = local
        table[: local.shape[0], -1] = residual
        # weight (tr(P0^-1 P) - log det P), of which the Hessian is the weight.
        own = table[local.shape[0] :]
        own[np.arange(size), np.arange(size)] = np.r_[np.repeat(roots, PER_BODY), np.ones(numbers)]
        own[:inertial, -1] = -(roots[:, np.newaxis] * slopes).ravel()
        own[inertial:, -1] = left
        gradient = -table[:, :-1].T @ table[:, -1]
        # Of what is held already: what stops at 0 in this step may yet be pushed against it.
        self._pulls = np.where(self._held, gradient[inertial:], 0.0)
        held = np.concatenate([np.zeros(inertial, dtype=bool), self._held])
        # With what is held behind the rest, one triangle holds both problems.
        order, free = np.argsort(held, kind='stable'), slice(size - int(self._held.sum()))
        upper = triangle(table[:, np.append(order, size)])
        decrement = proof = float(np.linalg.norm(upper[free, -1]))
        try:
            found = np.linalg.solve(upper[free, free], upper[free, -1])
            if self._held.any():
                rest = np.where(held, 0.0, gradient)[order]
                proof = float(np.linalg.norm(np.linalg.solve(upper[:-1, :-1].T, rest)))
        except np.linalg.LinAlgError as error:
            raise IdentificationError(f'the fit: a step has no solution: {error}') from error
        change = np.zeros(size)
        change[order[free]] = found
        if not np.isfinite(found).all():
            decrement = math.nan
        return change, decrement, proof, (local, residual, slopes, left)

    def _move(
        self,
        change: FloatArray,
        local: FloatArray,
        residual: FloatArray,
        slopes: FloatArray,
        left: FloatArray,
        weight: float,
    ) -> None:
        """Go along a direction to the least on it, or to the first number that becomes 0."""
        moves = change[self._inertial :]
        coordinates = change[: self._inertial].reshape(-1, PER_BODY)
        steps = np.einsum('bk,kij->bij', coordinates, _SYMMETRIC)
        eigenvalues = np.linalg.eigvalsh(steps) if len(steps) else np.zeros((0, 4))
        weights = weight * self._parts
        along = local @ change
        linear = -float(residual @ along) - float(left @ moves)
        linear += float(weights @ ((slopes * coordinates).sum(axis=1) + eigenvalues.sum(axis=1)))
        square = float(along @ along) + float(moves @ moves)
        length = _search(linear, square, eigenvalues.ravel(), np.repeat(weights, 4))
        problem = self._problem
        falling = problem.bounded & ~self._held & (moves < 0.0)
        reach = np.full(moves.size, np.inf)
        reach[falling] = -self._numbers[falling] / (moves * problem.scales)[falling]
        self._stopped = bool(falling.any()) and float(reach.min()) <= length
        if self._stopped:
            length = float(reach.min())
        self._roots = self._roots @ np.linalg.cholesky(np.eye(4) + length * steps)
        self._numbers = self._numbers + length * moves * problem.scales
        if self._stopped:
            self._held |= falling & (reach <= length)
        self._numbers[self._held] = 0.0

    def release(self) -> bool:
        """Let the number go that pulls hardest away from 0; return whether the search goes on.

        None goes after a step that a number has stopped: two numbers at 0 could take turns for
        ever, each in the way of the other, without a step of any length.
        """
        if self._stopped:
            return True
        pulls = self._pulls
        if not pulls.size:
            return False
        hardest = int(pulls.argmin())
        if pulls[hardest] >= -SOLVER.bound_pull * max(1.0, float(np.abs(pulls).max())):
            return False
        self._held[hardest] = False
        return True

    def _local(self) -> tuple[FloatArray, FloatArray]:
        """Return what the steps of each body do to its parameters, and the prior's slopes."""
        roots = self._roots
        transposed = roots.transpose(0, 2, 1)
        moved = roots[:, np.newaxis] @ _SYMMETRIC @ transposed[:, np.newaxis]
        turns = _TO_PARAMETERS @ moved.reshape(-1, PER_BODY, 16).transpose(0, 2, 1)
        slopes = transposed @ self._inverse @ roots - np.eye(4)
        return turns, np.einsum('bij,kij->bk', slopes, _SYMMETRIC)

    def _parameters(self) -> FloatArray:
        pseudo = self._roots @ self._roots.transpose(0, 2, 1)
        inertial = _TO_PARAMETERS @ pseudo.reshape(-1, 16).T
        return np.concatenate([inertial.T.ravel(), self._numbers])

    def solution(self, gap: float, iterations: int) -> Solution:
        """Return where the search is."""
        return Solution(self._parameters(), np.array(self._roots), gap, iterations)


def _search(linear: float, square: float, logarithms: FloatArray, weights: FloatArray) -> float:
    """Return t > 0 with the least value of a convex function.

    It is ``linear t + square t^2 / 2 - sum weights log(1 + logarithms t)``, and its slope at 0 is
    not positive.
    """

    def slope(length: float) -> float:
        return (
            linear
            + square * length
            - float((weights * logarithms / (1.0 + logarithms * length)).sum())
        )

    lowest = float(logarithms.min()) if logarithms.size else 0.0
    low, high = 0.0, SOLVER.towards_edge / -lowest if lowest < 0.0 else np.inf
    if high > 1.0 and slope(1.0) > 0.0:
        high = 1.0
    elif not np.isfinite(high):
        high = 2.0
        while slope(high) < 0.0 and high < SOLVER.longest_step:
            low, high = high, 2.0 * high
    if slope(high) <= 0.0:
        return high
    while high - low > SOLVER.line_precision * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
    return 0.5 * (low + high)
