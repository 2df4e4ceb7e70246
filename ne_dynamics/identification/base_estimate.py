"""What a log alone says of the base parameters, and how well: least squares without belief.

The model that is written is drawn to the given one, so that its base parameters are nearer to the
given ones than the log says, by what no standard deviation can tell. Here they are estimated anew
from the rows of the fit, each with the standard deviation of that estimate.

Rotor inertia is a parameter like the others: what it does as the inertia of a link does, about
the axis of its own joint, counts with that inertia. Their sum is what the log tells.

The deviations know that the errors of neighbouring samples are alike. The sum of the residuals'
autocorrelation tells by how much, but too low: the fit takes slow errors away as it takes the
slow motion, and of the ``3 M / lags`` degrees of freedom of that sum by Bartlett's window
(Priestley 1981, section 6.2.3) it has taken as many as it has parameters. Errors are never less
alike than the filter makes white ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.friction_terms import Term
from ne_dynamics.identification.regression.pseudo_inertia import compute_width
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray

MISSING = -1
"""Column of a rotor that is not fitted."""


@dataclass(frozen=True, eq=False)
class BaseColumns:
    """Which columns are base parameters, and what of the others is in each.

    Attributes
    ----------
    combinations : array, shape (base, 10 b + n)
        Of the parameters of the bodies that are fitted, then of the rotor inertias at the joints.
    chosen : tuple of int
        The column that names each.
    """

    combinations: FloatArray
    chosen: tuple[int, ...]

    @classmethod
    def of(cls, regressor: FloatArray, acceleration: FloatArray) -> BaseColumns:
        """Return the base parameters, by K random motions.

        The regressor, shape (K n, 10 b), is that of the bodies' parameters; the acceleration,
        shape (K, n), that of the motions [rad/s^2 or m/s^2].
        """
        samples, n = acceleration.shape
        rotors = np.zeros((samples, n, n))
        rotors[:, np.arange(n), np.arange(n)] = acceleration
        rows = np.concatenate([regressor, rotors.reshape(samples * n, n)], axis=1)
        chosen = find_independent(rows, regressor.shape[1])
        combinations = np.linalg.lstsq(rows[:, chosen], rows, rcond=None)[0]
        return cls(np.asarray(combinations, dtype=np.float64), tuple(chosen.tolist()))


def find_independent(rows: FloatArray, inertial: int) -> NDArray[np.intp]:
    """Return the columns that no others make, ascending (Gautier 1991, by QR factorisation).

    From the last body on: what acts like a parameter of a later body is put to that, and what
    acts like an inertia to the inertia. The rows have shape (K, C); the first `inertial` columns
    are those of the bodies.
    """
    sizes = np.linalg.norm(rows, axis=0)
    acting = sizes > 1e-8 * max(float(sizes.max(initial=0.0)), 1e-300)
    places = [*reversed(range(inertial)), *range(inertial, rows.shape[1])]
    order = np.array([place for place in places if acting[place]], dtype=np.intp)
    diagonal = np.abs(np.diag(np.linalg.qr(rows[:, order] / sizes[order], mode='r')))
    return np.sort(order[: diagonal.size][diagonal > 1e-7])


def estimate_base(
    design: Design, columns: BaseColumns, factors: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return each base parameter by the log alone, and its standard deviation, shape (base,).

    Factors, shape (n, C, m + 1), are rows of each joint in the columns of the design, as
    triangles; weights, shape (n,), one over the variance of an independent effort of each joint.
    """
    inertial, places = design.inertial, design.places
    rows = (factors * np.sqrt(weights)[:, np.newaxis, np.newaxis]).reshape(-1, factors.shape[2])
    rotors = [places.get((joint, Term.ROTOR), MISSING) for joint in range(len(design.terms))]
    sources = np.array([*range(inertial), *rotors], dtype=np.intp)[list(columns.chosen)]
    fitted = np.flatnonzero(sources != MISSING)
    n = len(design.terms)
    pairs = [pair for pair in places if pair[1] != Term.ROTOR or pair[0] >= n]
    believed, uncertainty = _describe_belief(design, columns)
    # A rotor that is not fitted is in no column: its part of a sum is known.
    known = design.given[:n, Term.ROTOR] * (np.array(rotors) == MISSING)
    shift = columns.combinations[:, inertial:] @ known
    taken = np.r_[sources[fitted], np.array([places[pair] for pair in pairs], dtype=np.intp)]
    mean = np.r_[(believed - shift)[fitted], [design.given[pair] for pair in pairs]]
    width = np.diag(
        np.r_[
            np.zeros(fitted.size),
            [(IDENTIFICATION.unknown_prior_scale * design.scales[pair]) ** 2 for pair in pairs],
        ]
    )
    width[: fitted.size, : fitted.size] = uncertainty[np.ix_(fitted, fitted)]
    root = _compute_root(width)
    left, sizes, right = np.linalg.svd(rows[:, taken] @ root, full_matrices=False)
    rest = left.T @ (rows[:, -1] - rows[:, taken] @ mean)
    found = mean + root @ (right.T @ (sizes / (1.0 + sizes**2) * rest))
    turned = root @ right.T
    # What no row tells is as wide as is believed.
    unseen = (root**2).sum(axis=1) - (turned**2).sum(axis=1)
    variance = (turned**2 / (1.0 + sizes**2)).sum(axis=1) + np.maximum(unseen, 0.0)
    values, deviations = believed.copy(), np.sqrt(np.diag(uncertainty))
    values[fitted] = found[: fitted.size] + shift[fitted]
    deviations[fitted] = np.sqrt(variance[: fitted.size])
    return values, deviations


def _compute_root(width: FloatArray) -> FloatArray:
    """Return R with ``R R^T`` a covariance, by its eigenvalues in units of its diagonal."""
    size = np.sqrt(np.maximum(np.diag(width), 1e-300))
    values, vectors = np.linalg.eigh(width / size / size[:, np.newaxis])
    result: FloatArray = size[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 1e-12))
    return result


def _describe_belief(design: Design, columns: BaseColumns) -> tuple[FloatArray, FloatArray]:
    """Return what is believed of the base parameters, and how little, as mean and covariance."""
    bodies, n = len(design.bodies), len(design.terms)
    given = [design.robot.bodies[body].inertia.parameters for body in design.bodies]
    mean = columns.combinations @ np.r_[np.reshape(given, -1), design.given[:n, Term.ROTOR]]
    size = PER_BODY * bodies
    covariance = np.zeros((size + n, size + n))
    for index, reference in enumerate(design.references):
        place = slice(PER_BODY * index, PER_BODY * (index + 1))
        root = compute_width(reference)
        covariance[place, place] = IDENTIFICATION.unknown_prior_scale**2 * root @ root.T
    covariance[range(size, size + n), range(size, size + n)] = (
        IDENTIFICATION.unknown_prior_scale * design.scales[:n, Term.ROTOR]
    ) ** 2
    return mean, columns.combinations @ covariance @ columns.combinations.T


def correct_correlation_time(
    correlation: FloatArray, counts: FloatArray, parameters: FloatArray, rate: float, cutoff: float
) -> FloatArray:
    """Return how many samples tell as much as one, for what the fit has taken; shape (n,).

    By what the residuals say of that, the correlation, and by samples and parameters of each
    joint's fit, shape (n,) all; the rate is that of the log, the cut-off of its low-pass [Hz].
    """
    lags = np.sqrt(np.maximum(counts, 1.0))
    freedom = 3.0 * np.maximum(counts, 1.0) / lags
    most = 0.75
    taken = np.minimum(parameters / freedom, most)
    left = 1.0 - np.minimum(parameters / np.maximum(counts, 1.0), most)
    least = find_filter_correlation(rate, cutoff)
    result: FloatArray = np.maximum(correlation * left / (1.0 - taken), least)
    return result


def find_filter_correlation(rate: float, cutoff: float) -> float:
    """Return how many samples tell as much as one, of white errors through the low-pass."""
    step = max(1, math.floor(rate / (FILTER.kept_samples_per_period * cutoff)))
    frequency = np.linspace(0.0, 0.5 * rate / cutoff, 2001)
    power = (1.0 + frequency ** (2 * FILTER.filter_order)) ** -2.0
    band = float(((power[1:] + power[:-1]) * np.diff(frequency)).sum()) / 2.0
    # The power at 0, and what the thinning folds onto it, over the power of all frequencies.
    kept = rate / step / cutoff
    folded = sum(
        (1.0 + (times * kept) ** (2 * FILTER.filter_order)) ** -2.0 for times in (1.0, 2.0)
    )
    alike: float = kept * (1.0 + 2.0 * folded) / (2.0 * band)
    return max(1.0, alike)
