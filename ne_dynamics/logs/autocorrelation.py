"""How alike the errors of neighbouring samples are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.sums import Sums
from ne_dynamics.model.rigid_body import FloatArray


def find_correlation_time(residuals: FloatArray, used: NDArray[np.bool_]) -> FloatArray:
    """Return how many samples tell as much as one, at least 1: the sum of the autocorrelation.

    Of residuals, shape (M, n), count those that are used, likewise; shape (n,).
    """
    return AutocorrelationSums.of(residuals, used, math.isqrt(residuals.shape[0])).count()


@dataclass(frozen=True, eq=False)
class AutocorrelationSums(Sums):
    """Sums of products of residuals and later ones; those of pieces of a log add up.

    Attributes
    ----------
    used : array, shape (n,)
        Samples that count.
    products : array, shape (lags, n)
        By how many samples the other is later.
    """

    used: FloatArray
    products: FloatArray

    @classmethod
    def of(cls, residuals: FloatArray, used: NDArray[np.bool_], lags: int) -> AutocorrelationSums:
        """Return the sums of one series, as :func:`find_correlation_time` takes it."""
        series = np.where(used, residuals, 0.0)
        products = np.zeros((lags, series.shape[1]))
        for lag in range(min(lags, series.shape[0])):
            products[lag] = (series[lag:] * series[: series.shape[0] - lag]).sum(axis=0)
        return cls(used.sum(axis=0).astype(np.float64), products)

    def count(self) -> FloatArray:
        """Return how many samples tell as much as one, at least 1; shape (n,)."""
        lags, n = self.products.shape
        result = np.ones(n)
        # Bartlett's window keeps the sum from being negative.
        taper = 1.0 - np.arange(1, lags) / max(lags, 1)
        for joint in range(n):
            total = self.products[0, joint] if lags else 0.0
            if total <= 0.0 or self.used[joint] < 4 * lags:
                continue
            sums = self.products[1:, joint] / total
            result[joint] = max(1.0, 1.0 + 2.0 * float(taper @ sums))
        return result
