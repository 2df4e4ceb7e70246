"""How many times of the given model's the efforts of a log are, joint by joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.evidence.thresholds import EVIDENCE
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import LogReading
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class EffortFactors:
    """Measured efforts over those of the given model.

    Attributes
    ----------
    factors : array, shape (n,)
        Negative where they have the opposite sign.
    weights : array, shape (n,)
        By how sharply each is known, and by the part of the effort that the model accounts for;
        0 where there is nothing to compare, or the model expects next to nothing.
    """

    factors: FloatArray
    weights: FloatArray

    @property
    def middle(self) -> float:
        """The middle of the factors that are positive; 1 where none is."""
        return self._summarise()[0]

    @property
    def spread(self) -> float:
        """By which factor joints differ from the middle, in the mean."""
        return self._summarise()[1]

    @property
    def deviation(self) -> float:
        """Standard deviation of the logarithm of the middle, by what the joints tell."""
        weights = self.weights[self.factors > 0.0]
        return 1.0 / max(float(np.linalg.norm(weights)), 1e-9)

    def _summarise(self) -> tuple[float, float]:
        weights = np.where(self.factors > 0.0, self.weights, 0.0)
        if not weights.any():
            return 1.0, 1.0
        logarithms = np.log(np.where(self.factors > 0.0, self.factors, 1.0))
        order = np.argsort(logarithms)
        sums = np.cumsum(weights[order])
        middle = logarithms[order][np.searchsorted(sums, 0.5 * sums[-1])]
        spread = np.average(np.abs(logarithms - middle), weights=weights)
        return math.exp(middle), math.exp(spread)


def compare_with_given(evidence: LogEvidence, reading: LogReading) -> EffortFactors:
    """Return the factors between the efforts of a reading and the given model's.

    Each joint's friction, rotor inertia and constant are left free, and a load at the end of
    the arm.

    Parameters
    ----------
    evidence : LogEvidence
    reading : LogReading

    Returns
    -------
    EffortFactors
    """
    efforts, given = evidence.get_effort(reading), evidence.get_given_effort(reading)
    load, rates = evidence.get_load_columns(reading), evidence.get_rates(reading)
    n, width = efforts.shape[1], load.shape[2]
    normal, right = np.eye(n + width) * 1e-9, np.zeros(n + width)
    normal[n:, n:] += np.eye(width)
    sizes = np.maximum(rms(efforts), 1e-9)
    counts = evidence.count(reading)
    moments = evidence.get_moment_columns(reading)
    parts = np.zeros(n)
    for joint in range(n):
        own = np.stack([*(rate[:, joint] for rate in rates), np.ones(given.shape[0])], axis=1)
        basis, _ = np.linalg.qr(own)
        rows = np.zeros((given.shape[0], n + width + 1))
        rows[:, joint], rows[:, n:-1] = given[:, joint], load[:, joint]
        rows[:, -1] = efforts[:, joint]
        rows -= basis @ (basis.T @ rows)
        moment = moments[:, joint] - basis @ (basis.T @ moments[:, joint])
        if np.linalg.norm(rows[:, joint]) >= EVIDENCE.least_expected_share * np.linalg.norm(
            moment
        ):
            parts[joint] = rms(rows[:, [-1]])[0] / sizes[joint]
        weight = counts[joint] / given.shape[0] / (EVIDENCE.compared_sigma * sizes[joint]) ** 2
        normal += weight * rows[:, :-1].T @ rows[:, :-1]
        right += weight * rows[:, :-1].T @ rows[:, -1]
    factors = np.asarray(np.linalg.solve(normal, right)[:n], dtype=np.float64)
    # How sharply each is known, other unknowns considered.
    weights: FloatArray = parts / np.sqrt(np.diag(np.linalg.inv(normal)))[:n] * np.abs(factors)
    return EffortFactors(factors, weights)
