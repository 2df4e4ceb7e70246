"""A log as triangles: the same fit, whatever the pieces in which it was read."""

from __future__ import annotations

import numpy as np

from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import Rows

SAMPLES, JOINTS, COLUMNS = 60, 2, 7


def test_the_triangles_have_the_residuals_of_the_rows_whatever_the_pieces():
    """Of the whole, of each sample backwards and of two logs merged: squares and counts."""
    rng = np.random.default_rng(0)
    rows = Rows(
        np.arange(SAMPLES),
        rng.standard_normal((SAMPLES, JOINTS, COLUMNS)),
        rng.standard_normal((SAMPLES, JOINTS)),
    )
    weights = rng.uniform(0.1, 1.0, (SAMPLES, JOINTS)) * (rng.random((SAMPLES, JOINTS)) > 0.2)
    blocks, values = rows.samples * 3 // SAMPLES, rng.standard_normal(COLUMNS)
    left = weights * (rows.effort - rows.matrix @ values) ** 2
    squares, counts = (
        np.array([table[blocks == block].sum(axis=0) for block in range(3)])
        for table in (left, weights)
    )

    def reduce(pieces):
        reduction = Reduction.empty(3, JOINTS, COLUMNS)
        for piece in pieces:
            part = Rows(rows.samples[piece], rows.matrix[piece], rows.effort[piece])
            reduction = reduction.add(part, blocks[piece], weights[piece])
        return reduction

    def compute_squares(reduction):
        residuals = reduction.factors[..., -1] - reduction.factors[..., :-1] @ values
        return (residuals**2).sum(axis=-1)

    even, odd = (np.arange(first, SAMPLES, 2) for first in (0, 1))
    whole = reduce([rows.samples])
    backwards = reduce(rows.samples[::-1, np.newaxis])
    for reduction in (whole, backwards, reduce([even]).merged_at(0, reduce([odd]))):
        np.testing.assert_allclose(compute_squares(reduction), squares, rtol=1e-10)
        np.testing.assert_allclose(reduction.counts, counts, rtol=1e-10)
    chosen = whole.selected([0, 2])
    np.testing.assert_allclose(compute_squares(chosen), squares[[0, 2]].sum(axis=0)[np.newaxis])
    np.testing.assert_allclose(chosen.counts, counts[[0, 2]].sum(axis=0)[np.newaxis])
