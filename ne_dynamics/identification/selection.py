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

WORTH = 0.05
"""Part of the squared held-out residual that a term of friction has to take away."""

CERTAIN = 1.0
"""Standard errors, over the blocks, by which it has to be more than nothing."""

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
        self, design: Design, weights: FloatArray, spread: float, start: Solution | None
    ) -> FloatArray:
        """Return the squared residuals of each block by the fit to the others, (folds, n)."""
        squares = []
        for training, judged in zip(self.training, self.judged, strict=True):
            problem = design.problem(design.joint_factors(training), weights, spread)
            solution = minimize(problem, start)
            squares.append(sum_squares(design.joint_factors(judged), solution))
        return np.array(squares)


def sum_squares(factors: FloatArray, solution: Solution) -> FloatArray:
    """Return the squared residuals of each joint, shape (n,)."""
    left = factors[:, :, -1] - factors[:, :, :-1] @ solution.parameters
    result: FloatArray = (left**2).sum(axis=1)
    return result


def choose_spread(
    folds: Folds,
    design: Design,
    weights: FloatArray,
    start: Solution | None,
    spreads: Sequence[float] = SPREADS,
) -> tuple[float, FloatArray]:
    """Return the spread by which held-out blocks are predicted best, and their residuals.

    Every joint counts alike, by the logarithm of its residual.
    """
    best, found, least = spreads[0], np.zeros((0, 0)), np.inf
    for spread in spreads:
        squares = folds.predict(design, weights, spread, start)
        score = _score(folds, squares)
        if score < least:
            best, found, least = spread, squares, score
    return best, found


def choose_terms(
    folds: Folds,
    design: Design,
    weights: FloatArray,
    spread: float,
    start: Solution | None,
    present: FloatArray,
) -> Design:
    """Return the design with the terms of friction that held-out blocks ask for.

    A term is tried in all joints at once, and taken in those that it helps: where it takes away
    :data:`WORTH` of the squared residual, and does so in most blocks alike.

    Parameters
    ----------
    present : array, shape (folds, n)
        Residuals of the design as it is.
    """
    for _ in range(ROUNDS):
        options: list[tuple[Term, Design]] = []
        for term in Term:
            changed = {}
            for index, joint in enumerate(design.robot.joints):
                own = design.terms[index]
                if not own:
                    continue
                if term in DROPPED and term in own:
                    changed[index] = tuple(item for item in own if item != term)
                elif term in candidates(joint) and term not in own:
                    changed[index] = adopt(term, own)
            changed = {index: terms for index, terms in changed.items() if terms}
            if changed:
                options.append((term, design.with_terms(changed)))
        best: dict[int, tuple[float, Design]] = {}
        for _, option in options:
            squares = folds.predict(option, weights, spread, None)
            for index in range(len(design.terms)):
                if option.terms[index] == design.terms[index]:
                    continue
                gain = _gain(present[:, index], squares[:, index])
                if gain > max(WORTH, best.get(index, (0.0, design))[0]):
                    best[index] = gain, option
        if not best:
            break
        chosen = design.with_terms(
            {index: option.terms[index] for index, (_, option) in best.items()}
        )
        squares = folds.predict(chosen, weights, spread, None)
        if _score(folds, squares) >= _score(folds, present):
            break
        design, present = chosen, squares
    return design


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
