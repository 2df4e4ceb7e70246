"""What held-out blocks of a log say: how far to trust the given model, and which friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.identification.design import Design
from ne_dynamics.identification.friction_terms import Term, adopt, candidates
from ne_dynamics.identification.reduction import Reduction
from ne_dynamics.identification.solver import Solution, minimize
from ne_dynamics.model.rigid_body import FloatArray

SPREADS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""How far the given inertias may be off, as a part of themselves: what is tried."""

WORTH = 0.1
"""Part of the squared held-out residual that a term of friction has to take away."""

CERTAIN = 2.0
"""Standard errors, over the blocks, by which it has to be more than nothing: many are tried."""

ROUNDS = 2
"""Terms that may be chosen for a joint, one after another."""

DROPPED = (Term.OFFSET, Term.ROTOR)
"""Terms that may turn out not to be worth fitting."""


@dataclass(frozen=True, eq=False)
class Folds:
    """A log in blocks, each to be predicted from the others.

    Attributes
    ----------
    training, judged : tuple of Reduction
        Of one block each: all blocks but one, and that one.
    """

    training: tuple[Reduction, ...]
    judged: tuple[Reduction, ...]

    @classmethod
    def of(cls, reduction: Reduction) -> Folds:
        """Return the folds of a reduction in blocks; those without rows are left out."""
        used = [index for index in range(reduction.blocks) if reduction.counts[index].any()]
        if len(used) < 2:
            return cls((), ())
        return cls(
            tuple(
                reduction.selected([other for other in used if other != index]) for index in used
            ),
            tuple(reduction.selected([index]) for index in used),
        )

    @property
    def counts(self) -> FloatArray:
        """Rows that are predicted, shape (folds, n)."""
        return np.array([judged.counts[0] for judged in self.judged])

    def predict(
        self,
        design: Design,
        weights: FloatArray,
        spread: float,
        starts: Sequence[Solution | None],
    ) -> tuple[FloatArray, list[Solution]]:
        """Return the squared residuals of each block by the fit to the others, and the fits.

        Parameters
        ----------
        design : Design
        weights : array, shape (n,)
        spread : float
        starts : sequence of Solution or None
            To start from, one each fold.

        Returns
        -------
        squares : array, shape (folds, n)
        solutions : list of Solution
        """
        squares, solutions = [], []
        for training, judged, start in zip(self.training, self.judged, starts, strict=True):
            problem = design.problem(design.joint_factors(training), weights, spread)
            solution = minimize(problem, start)
            solutions.append(solution)
            squares.append(sum_squares(design.joint_factors(judged), solution))
        return np.array(squares), solutions


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well held-out blocks are predicted.

    Attributes
    ----------
    design : Design
    spread : float
    squares : array, shape (folds, n)
        Squared residuals of each block.
    solutions : list of Solution
        One each fold.
    """

    design: Design
    spread: float
    squares: FloatArray
    solutions: list[Solution]


def sum_squares(factors: FloatArray, solution: Solution) -> FloatArray:
    """Return the squared residuals of each joint, shape (n,)."""
    left = factors[:, :, -1] - factors[:, :, :-1] @ solution.parameters
    result: FloatArray = (left**2).sum(axis=1)
    return result


def choose_spread(
    folds: Folds,
    design: Design,
    weights: FloatArray,
    starts: Sequence[Solution | None],
    spreads: Sequence[float] = SPREADS,
) -> Prediction:
    """Return the spread by which held-out blocks are predicted best, and the prediction.

    Every joint counts alike, by the logarithm of its residual.

    Parameters
    ----------
    folds : Folds
    design : Design
    weights : array, shape (n,)
    starts : sequence of Solution or None
        To start from, one each fold.
    spreads : sequence of float
        That are tried, from small to large.
    """
    best: Prediction | None = None
    for spread in spreads:
        squares, solutions = folds.predict(design, weights, spread, starts)
        starts = solutions
        if best is None or _score(folds, squares) < _score(folds, best.squares):
            best = Prediction(design, spread, squares, solutions)
    assert best is not None
    return best


def choose_terms(folds: Folds, weights: FloatArray, present: Prediction) -> Prediction:
    """Return the prediction with the terms of friction that held-out blocks ask for.

    A term is tried in all joints at once, and taken in those that it helps: where it takes away
    :data:`WORTH` of the squared residual, and does so in most blocks alike.

    Parameters
    ----------
    folds : Folds
    weights : array, shape (n,)
    present : Prediction
        By the design as it is.
    """
    for _ in range(ROUNDS):
        best: dict[int, tuple[float, Design]] = {}
        for option in _options(present.design):
            squares = _try(folds, weights, present, option).squares
            for index, terms in enumerate(option.terms):
                if terms == present.design.terms[index]:
                    continue
                gain = _gain(present.squares[:, index], squares[:, index])
                if gain > max(WORTH, best.get(index, (0.0, option))[0]):
                    best[index] = gain, option
        if not best:
            break
        chosen = {index: option.terms[index] for index, (_, option) in best.items()}
        changed = _try(folds, weights, present, present.design.with_terms(chosen))
        if _score(folds, changed.squares) >= _score(folds, present.squares):
            break
        present = changed
    return present


def _options(design: Design) -> list[Design]:
    """Return the designs with one term more, or less, in all joints that may have it so."""
    options = []
    for term in Term:
        changed = {}
        for index, joint in enumerate(design.robot.joints):
            own = design.terms[index]
            terms: tuple[Term, ...] = ()
            if own and term in DROPPED and term in own:
                terms = tuple(item for item in own if item != term)
            elif own and term in candidates(joint) and term not in own:
                terms = adopt(term, own)
            if terms:
                changed[index] = terms
        if changed:
            options.append(design.with_terms(changed))
    return options


def _try(folds: Folds, weights: FloatArray, present: Prediction, design: Design) -> Prediction:
    starts = [design.adopt(solution, present.design) for solution in present.solutions]
    squares, solutions = folds.predict(design, weights, present.spread, starts)
    return Prediction(design, present.spread, squares, solutions)


def _gain(before: FloatArray, after: FloatArray) -> float:
    """Return the part of the squared residuals that is gone; 0 when that may be by chance."""
    used = before > 0.0
    if used.sum() < 2:
        return 0.0
    part = np.log(before[used] / np.maximum(after[used], 1e-300 * before[used]))
    error = float(part.std(ddof=1)) / np.sqrt(part.size)
    if float(part.mean()) <= CERTAIN * error:
        return 0.0
    return float(1.0 - after.sum() / before.sum())


def _score(folds: Folds, squares: FloatArray) -> float:
    counts = folds.counts.sum(axis=0)
    used = counts > 0.0
    mean = squares.sum(axis=0)[used] / counts[used]
    return float(np.log(np.maximum(mean, 1e-300)).sum())
