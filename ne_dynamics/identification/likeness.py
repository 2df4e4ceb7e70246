"""How alike the errors of neighbouring samples are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray


def count_alike(residuals: FloatArray, used: NDArray[np.bool_]) -> FloatArray:
    """Return how many samples tell as much as one: the sum of the autocorrelation.

    Parameters
    ----------
    residuals : array, shape (M, n)
    used : bool array, shape (M, n)
        Samples that count.

    Returns
    -------
    array, shape (n,)
        At least 1.
    """
    result = np.ones(residuals.shape[1])
    for joint, use in enumerate(used.T):
        series = np.where(use, residuals[:, joint], 0.0)
        total = float(series @ series)
        lags = math.isqrt(series.size)
        if total <= 0.0 or use.sum() < 4 * lags:
            continue
        sums = np.array([float(series[lag:] @ series[:-lag]) / total for lag in range(1, lags)])
        # Bartlett's window keeps the sum from being negative.
        taper = 1.0 - np.arange(1, lags) / lags
        result[joint] = max(1.0, 1.0 + 2.0 * float(taper @ sums))
    return result
