"""What a fit leaves of the samples, in sums that those of pieces of a log add up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.likeness import LikenessSums
from ne_dynamics.model.rigid_body import FloatArray

FINENESS = 64
"""Bins of the histogram in a factor of two: the median is known to 0.5 %."""

SMALLEST, LARGEST = 1e-12, 1e12
"""Sizes that the histogram tells apart [N m or N]."""

BINS = round(FINENESS * np.log2(LARGEST / SMALLEST))


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """Sizes of what a fit leaves of the samples that count.

    Attributes
    ----------
    largest : array, shape (n,)
        [N m or N]
    bins : int array, shape (n, BINS)
        How many residuals are of which size.
    median : array, shape (n,), or None
        Of the sizes; None when they are those of several pieces [N m or N].
    likeness : LikenessSums
    """

    largest: FloatArray
    bins: NDArray[np.int64]
    median: FloatArray | None
    likeness: LikenessSums

    @classmethod
    def of(cls, residuals: FloatArray, used: NDArray[np.bool_], lags: int) -> ResidualSums:
        """Return the sums of one piece; for the autocorrelation over some lags.

        Of residuals, shape (M, n) [N m or N], count those that are used, likewise.
        """
        n = residuals.shape[1]
        largest, median = np.zeros(n), np.zeros(n)
        bins = np.zeros((n, BINS), dtype=np.int64)
        for joint in range(n):
            sizes = np.abs(residuals[used[:, joint], joint])
            if sizes.size:
                largest[joint], median[joint] = sizes.max(), np.median(sizes)
                octaves = np.log2(np.clip(sizes, SMALLEST, LARGEST) / SMALLEST)
                places = np.minimum((FINENESS * octaves).astype(np.intp), BINS - 1)
                bins[joint] = np.bincount(places, minlength=BINS)
        return cls(largest, bins, median, LikenessSums.of(residuals, used, lags))

    def merged(self, other: ResidualSums) -> ResidualSums:
        """Return the sums of two pieces."""
        return ResidualSums(
            np.maximum(self.largest, other.largest),
            self.bins + other.bins,
            None,
            self.likeness.merged(other.likeness),
        )

    def find_median(self) -> FloatArray:
        """Return the median of the sizes, 0 where there are none, shape (n,) [N m or N]."""
        if self.median is not None:
            return self.median
        sums = np.cumsum(self.bins, axis=1)
        places = [np.searchsorted(row, 0.5 * row[-1]) for row in sums]
        sizes = SMALLEST * 2.0 ** ((np.array(places) + 0.5) / FINENESS)
        return np.where(sums[:, -1] > 0, sizes, 0.0)
