"""What held-out blocks of a log say: how far to trust the given model, and which friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.friction_terms import BY_CHOICE, Term, adopt, candidates
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.solver import Solution, minimize
from ne_dynamics.identification.settings import IdentificationSettings
from ne_dynamics.model.rigid_body import FloatArray

DROPPED = (Term.OFFSET, Term.ROTOR)
"""Terms that may turn out not to be worth fitting."""


@dataclass(frozen=True, eq=False)
class Folds:
    """A log in blocks, each to be predicted from the others.

    Attributes
    ----------
    training, judged : tuple of Reduction
        Of one block each: all blocks but one, and that one.
    whole : Reduction
        Of one block: all of them.
    correlation_time : array, shape (n,)
        Samples that tell as much as one, because the errors of neighbours are alike.
    weights : array, shape (n,)
        Of each joint's squared efforts [1/(N m)^2 or 1/N^2].
    settings : IdentificationSettings
    """

    training: tuple[Reduction, ...]
    judged: tuple[Reduction, ...]
    whole: Reduction
    correlation_time: FloatArray
    weights: FloatArray
    settings: IdentificationSettings

    @classmethod
    def of(
        cls,
        reduction: Reduction,
        correlation_time: FloatArray,
        weights: FloatArray,
        settings: IdentificationSettings,
    ) -> Folds:
        """Return the folds of a reduction in blocks; those without rows are left out."""
        used = [index for index in range(reduction.blocks) if reduction.counts[index].any()]
        folds = used if len(used) > 1 else []
        return cls(
            tuple(
                reduction.selected([other for other in used if other != index]) for index in folds
            ),
            tuple(reduction.selected([index]) for index in folds),
            reduction.selected(list(range(reduction.blocks))),
            correlation_time,
            weights,
            settings,
        )

    def fit(
        self, design: Design, factors: FloatArray, prior_scale: float, start: Solution
    ) -> Solution:
        """Return a fit to factors of some blocks, near enough to be compared with others."""
        problem = design.problem(factors, self.weights, prior_scale)
        return minimize(problem, start, self.settings.fold_gap)

    @property
    def counts(self) -> FloatArray:
        """Rows that are predicted, shape (folds, n)."""
        return np.array([judged.counts[0] for judged in self.judged])

    def predict(
        self, design: Design, prior_scales: Sequence[float], starts: Sequence[Solution]
    ) -> list[Prediction]:
        """Return how well each block is predicted by the fit to the others, for each prior scale.

        With the first prior scale the fits start from `starts`, one each fold; with others from the one
        before.
        """
        training, judged = (
            [design.joint_factors(part) for part in parts]
            for parts in (self.training, self.judged)
        )
        found = []
        for prior_scale in prior_scales:
            solutions = [
                self.fit(design, factors, prior_scale, start)
                for factors, start in zip(training, starts, strict=True)
            ]
            squares = np.array(list(map(sum_squares, judged, solutions)))
            found.append(Prediction(design, prior_scale, squares, solutions))
            starts = solutions
        return found

    def fit_whole(
        self, design: Design, present: Prediction, start: Solution
    ) -> tuple[FloatArray, Solution]:
        """Return the squared residuals of all blocks by the fit to them, (n,), and the fit.

        With the prior scale of the present design, from a solution of that.
        """
        factors = design.joint_factors(self.whole)
        adopted = design.adopt(start, present.design)
        solution = self.fit(design, factors, present.prior_scale, adopted)
        return sum_squares(factors, solution), solution

    def compute_evidence(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """Return by how much the efforts of each joint became likelier, shape (n,).

        That is the logarithm of the ratio of likelihoods, the noise of each fit unknown, by the
        squared residuals of two fits to all blocks, shape (n,) each.
        """
        used = (before > 0.0) & (after > 0.0)
        ratio = np.where(used, before, 1.0) / np.where(used, after, 1.0)
        result: FloatArray = 0.5 * self.whole.counts[0] / self.correlation_time * np.log(ratio)
        return result


@dataclass(frozen=True, eq=False)
class Prediction:
    """How well held-out blocks are predicted.

    Attributes
    ----------
    design : Design
    prior_scale : float
    squares : array, shape (folds, n)
        Squared residuals of each block.
    solutions : list of Solution
        One each fold.
    """

    design: Design
    prior_scale: float
    squares: FloatArray
    solutions: list[Solution]


def sum_squares(factors: FloatArray, solution: Solution) -> FloatArray:
    """Return the squared residuals of each joint, shape (n,)."""
    left = factors[:, :, -1] - factors[:, :, :-1] @ solution.parameters
    result: FloatArray = (left**2).sum(axis=1)
    return result


def choose_prior_scale(
    folds: Folds, design: Design, starts: Sequence[Solution], prior_scales: Sequence[float]
) -> Prediction:
    """Return the prior scale by which held-out blocks are predicted best, and the prediction.

    Every joint counts alike, by the logarithm of its residual. A smaller prior scale that is worse by
    less than `indifferent` is preferred: the model that was given is doubted no further
    than the log says for certain. Fits start from `starts`, one each fold. Prior scales are tried from
    small to large.
    """
    tried = folds.predict(design, prior_scales, starts)
    best = min(tried, key=lambda each: _score(folds, each.squares))
    return next(each for each in tried if each is best or _is_as_good(folds, each, best))


def _is_as_good(folds: Folds, one: Prediction, best: Prediction) -> bool:
    """Return whether a prediction is worse than the best by no more than chance has it."""
    worse = _score(folds, one.squares) - _score(folds, best.squares)
    # The jackknife over the blocks: the difference without each of them.
    count = len(folds.judged)
    without = np.array(
        [
            _score(folds, one.squares, index) - _score(folds, best.squares, index)
            for index in range(count)
        ]
    )
    error = float(np.sqrt((count - 1) * without.var()))
    return worse <= folds.settings.indifferent * error


def choose_terms(folds: Folds, present: Prediction) -> Prediction:
    """Return the prediction with the terms of friction that a log asks for.

    First goes what it does not ask for, which is decided again at the end. Then each term is tried
    in all joints at once, and taken in those where it makes the log likelier by `likelier`,
    takes away `worth` of the squared held-out residual, and does so in most blocks alike or
    makes the log likelier by `overwhelming`. The present prediction is by the design as it is.
    """
    whole = present.design
    simple = present = _drop_terms(folds, present)
    for _ in range(folds.settings.rounds):
        best: dict[int, tuple[float, Design]] = {}
        before, start = folds.fit_whole(present.design, present, present.solutions[0])
        for term in BY_CHOICE:
            option = _with_term(present.design, term)
            changed = _find_changed(option, present.design)
            if not changed:
                continue
            after, fitted = folds.fit_whole(option, present, start)
            evidence = folds.compute_evidence(before, after)
            likelier = evidence >= folds.settings.likelier
            likelier[option.find_inverted(fitted)] = False
            asking = {index: option.terms[index] for index in changed if likelier[index]}
            if not asking:
                continue
            option = present.design.with_terms(asking)
            squares = try_design(folds, present, option).squares
            for index in asking:
                gain = compute_gain(
                    folds,
                    present.squares[:, index],
                    squares[:, index],
                    is_certain=bool(evidence[index] >= folds.settings.overwhelming),
                )
                if gain > max(folds.settings.worth, best.get(index, (0.0, option))[0]):
                    best[index] = gain, option
        chosen = {index: option.terms[index] for index, (_, option) in best.items()}
        better = _change(folds, present, chosen)
        if better is present:
            break
        present = better
    return present if present is simple else _drop_again(folds, present, whole)


def _drop_again(folds: Folds, present: Prediction, whole: Design) -> Prediction:
    """Return the prediction without what a log does not ask for, now that it has other terms.

    Where friction was not explained, nothing else was worth much. The whole design is that before
    any term was left out.
    """
    restored = {
        index: (*own, *missing)
        for index, (own, given) in enumerate(zip(present.design.terms, whole.terms, strict=True))
        if (missing := tuple(term for term in given if term in DROPPED and term not in own))
    }
    if not restored:
        return present
    full = try_design(folds, present, present.design.with_terms(restored))
    return _drop_terms(folds, full)


def _drop_terms(folds: Folds, present: Prediction) -> Prediction:
    """Return the prediction without the terms that a log does not ask for.

    A term is left out where the log is nearly as likely without it and blocks are not predicted
    worse by `worth`.
    """
    chosen: dict[int, tuple[Term, ...]] = {}
    before, start = folds.fit_whole(present.design, present, present.solutions[0])
    for term in DROPPED:
        option = _without_term(present.design, term)
        changed = _find_changed(option, present.design)
        if not changed:
            continue
        after, _ = folds.fit_whole(option, present, start)
        needed = folds.compute_evidence(after, before) >= folds.settings.needed
        doubtful = {index: option.terms[index] for index in changed if not needed[index]}
        if not doubtful:
            continue
        option = present.design.with_terms(doubtful)
        squares = try_design(folds, present, option).squares.sum(axis=0)
        for index in doubtful:
            if squares[index] <= (1.0 + folds.settings.worth) * present.squares[:, index].sum():
                own = chosen.get(index, present.design.terms[index])
                chosen[index] = tuple(item for item in own if item != term)
    if not chosen:
        return present
    return try_design(folds, present, present.design.with_terms(chosen))


def _change(
    folds: Folds, present: Prediction, terms: Mapping[int, tuple[Term, ...]]
) -> Prediction:
    """Return the prediction with other terms of some joints, the present one where it is best."""
    if not terms:
        return present
    changed = try_design(folds, present, present.design.with_terms(terms))
    return changed if _score(folds, changed.squares) < _score(folds, present.squares) else present


def _find_changed(option: Design, present: Design) -> list[int]:
    return [
        index
        for index, (one, other) in enumerate(zip(option.terms, present.terms, strict=True))
        if one != other
    ]


def _with_term(design: Design, term: Term) -> Design:
    """Return the design with a term more in all joints that may have it."""
    changed = {
        index: adopt(term, own) or own
        for index, (joint, own) in enumerate(zip(design.robot.joints, design.terms, strict=True))
        if own and term in candidates(joint) and term not in own
    }
    return design.with_terms(changed)


def _without_term(design: Design, term: Term) -> Design:
    """Return the design without a term in all joints."""
    return design.with_terms(
        {
            index: tuple(item for item in own if item != term)
            for index, own in enumerate(design.terms)
        }
    )


def try_design(folds: Folds, present: Prediction, design: Design) -> Prediction:
    """Return the prediction by another design, with the prior scale and fits of the present one."""
    starts = [design.adopt(solution, present.design) for solution in present.solutions]
    return folds.predict(design, [present.prior_scale], starts)[0]


def compute_gain(
    folds: Folds, before: FloatArray, after: FloatArray, *, is_certain: bool
) -> float:
    """Return the part of the squared residuals, shape (folds,), that is gone.

    0 when that may be by chance, unless it is certain.
    """
    used = before > 0.0
    if used.sum() < 2:
        return 0.0
    part = np.log(before[used] / np.maximum(after[used], 1e-300 * before[used]))
    error = float(part.std(ddof=1)) / np.sqrt(part.size)
    if not is_certain and float(part.mean()) <= folds.settings.certain * error:
        return 0.0
    return float(1.0 - after.sum() / before.sum())


def _score(folds: Folds, squares: FloatArray, left_out: int | None = None) -> float:
    """Return how badly blocks are predicted; all of them, or all but one."""
    kept = np.arange(len(squares)) != (-1 if left_out is None else left_out)
    counts = folds.counts[kept].sum(axis=0)
    used = counts > 0.0
    mean = squares[kept].sum(axis=0)[used] / counts[used]
    return float(np.log(np.maximum(mean, 1e-300)).sum())
