"""What an identification takes for large, likely or certain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IdentificationSettings:
    """Thresholds and counts of a fit.

    Attributes
    ----------
    holdout : float
        Part of the samples, at the end, that is held out for validation.
    smallest_holdout : int
        Fewest held-out samples for a validation.
    blocks : int
        Blocks of the cross-validation.
    first_sigma, smallest_sigma : float
        Standard deviation of the noise in the first fit, and the smallest one, as parts of a
        joint's effort.
    first_spread : float
        Prior scale (relative error of the given inertias) in the first fit.
    passes : int
        Number of fits; each uses the residuals of the one before as noise.
    doubt_passes : int
        Number of fits with the doubts of the one before, while a doubt grows.
    doubted : float
        Factor by which it has to, for one more fit.
    steady : float
        Parameters of each body that speak against doubting it.
    huber : float
        Residual, in standard deviations, above which a sample is weighted less (Huber 1964).
    huber_passes : int
        Number of first fits with the weights of the one before, while there are doubtful samples.
    doubtful : float
        Weight below which a sample may have distorted the fit that gave the weight.
    spreads : tuple of float
        Prior scales that are tried, ascending.
    indifferent : float
        Standard errors over the blocks by which a prior scale may be worse than the best one.
    worth : float
        Part of the squared held-out residual that a friction term has to remove.
    certain : float
        Standard errors over the blocks by which that has to differ from zero.
    likelier : float
        Log-likelihood that a term has to add to the fit of all blocks, since many are tried.
    overwhelming : float
        Log-likelihood from which the blocks need not agree: a block that is predicted well
        without a term may be predicted slightly worse with it.
    needed : float
        Log-likelihood below which an offset or a rotor inertia is left out: if the rest of the
        model explains a log nearly as well, such a number makes predictions worse.
    rounds : int
        Largest number of terms that are chosen for a joint.
    fold_gap : float
        Largest distance of the objective from its minimum, as a log-likelihood, for fits that are
        only compared with others.
    wrist : int
        Number of last joints among which two neighbours may share a coupled drive.
    ratio_steps : tuple of float
        Factors between the ratios that are tried of a coupled drive, one search after the other,
        each around the best ratio of the one before.
    ratios_to_either_side : int
        Of that, in each search.
    """

    holdout: float = 0.25
    smallest_holdout: int = 10
    blocks: int = 5
    first_sigma: float = 0.1
    smallest_sigma: float = 1e-4
    first_spread: float = 0.5
    passes: int = 4
    doubt_passes: int = 4
    doubted: float = 1.1
    steady: float = 4.0
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
    ratio_steps: tuple[float, ...] = (1.5, 1.15, 1.05, 1.015)
    ratios_to_either_side: int = 3


SETTINGS = IdentificationSettings()
"""By default."""
