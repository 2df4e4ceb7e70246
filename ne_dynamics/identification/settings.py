"""What an identification takes for large, likely or certain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IdentificationSettings:
    """Settings of a fit.

    Attributes
    ----------
    holdout : float
        Part of the logs, at their end, that is predicted by a fit to the rest.
    smallest_holdout : int
        Samples that are too few to judge by.
    blocks : int
        In which the fitted part is predicted from itself.
    first_sigma, smallest_sigma : float
        Parts of a joint's effort: noise of the first fit, and the least of all.
    first_spread : float
        How far the given inertias may be off in the first fit, as a part of themselves.
    passes : int
        Fits, each with the residuals of the one before as noise.
    huber : float
        Residual, in standard deviations, from which a sample counts less (Huber 1964).
    huber_passes : int
        First fits, each with the weights of the one before, while there are doubtful samples.
    doubtful : float
        Weight below which a sample may have spoilt the fit that gave it.
    spreads : tuple of float
        How far the given inertias may be off: what is tried, from small to large.
    indifferent : float
        Standard errors, over the blocks, by which a spread may be worse than the best one.
    worth : float
        Part of the squared held-out residual that a term of friction has to take away.
    certain : float
        Standard errors, over the blocks, by which it has to be more than nothing.
    likelier : float
        Logarithm of the likelihood that a term has to add to the fit of all blocks: many are
        tried.
    overwhelming : float
        The same from which the blocks need not agree: one that is predicted well without a term
        may be predicted worse with it by much of little.
    needed : float
        The same, below which an offset or a rotor is left out: where the rest of the model
        explains a log nearly as well, such a number only spoils what is predicted.
    rounds : int
        Terms that may be chosen for a joint, one after another.
    fold_gap : float
        Distance from its minimum of a fit that is only compared with others, in units of the
        logarithm of the likelihood.
    wrist : int
        Last joints of an arm, of which two neighbours may share a drive.
    """

    holdout: float = 0.25
    smallest_holdout: int = 10
    blocks: int = 5
    first_sigma: float = 0.1
    smallest_sigma: float = 1e-4
    first_spread: float = 0.5
    passes: int = 4
    huber: float = 2.0
    huber_passes: int = 4
    doubtful: float = 0.3
    spreads: tuple[float, ...] = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
    indifferent: float = 0.5
    worth: float = 0.1
    certain: float = 1.0
    likelier: float = 2.0
    overwhelming: float = 4.0
    needed: float = 3.0
    rounds: int = 2
    fold_gap: float = 1e-3
    wrist: int = 3
