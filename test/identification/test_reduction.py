"""A log as triangles: the same fit, whatever the pieces in which it was read."""

from __future__ import annotations

import numpy as np

from ne_dynamics.identification.regression.reduction import Reduction, triangle
from ne_dynamics.identification.regression.regression_rows import Rows

SAMPLES, JOINTS, COLUMNS = 60, 2, 7


def make_rows(seed=0):
    """Return rows of some samples, their blocks and weights."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((SAMPLES, JOINTS, COLUMNS))
    effort = rng.standard_normal((SAMPLES, JOINTS))
    rows = Rows(np.arange(SAMPLES), matrix, effort)
    weights = rng.uniform(0.1, 1.0, (SAMPLES, JOINTS)) * (rng.random((SAMPLES, JOINTS)) > 0.2)
    return rows, np.arange(SAMPLES) * 3 // SAMPLES, weights


def part_of(rows, chosen):
    """Return some samples of rows."""
    return Rows(rows.samples[chosen], rows.matrix[chosen], rows.effort[chosen])


def compute_squares(reduction, values):
    """Return the squared residuals of some parameters, (blocks, joints)."""
    left = reduction.factors[..., -1] - reduction.factors[..., :-1] @ values
    return (left**2).sum(axis=-1)


def test_the_triangles_have_the_residuals_of_the_rows():
    """For any parameters the weighted squares of rows and triangles agree, in each block."""
    rows, blocks, weights = make_rows()
    reduction = Reduction.empty(3, JOINTS, COLUMNS).add(rows, blocks, weights)
    values = np.random.default_rng(1).standard_normal(COLUMNS)
    left = weights * (rows.effort - rows.matrix @ values) ** 2
    expected = np.array([left[blocks == block].sum(axis=0) for block in range(3)])
    assert np.allclose(compute_squares(reduction, values), expected, rtol=1e-12)
    counts = [weights[blocks == block].sum(axis=0) for block in range(3)]
    assert np.allclose(reduction.counts, counts, rtol=1e-12)


def test_pieces_and_their_order_do_not_matter():
    """Read one by one, backwards, or as two logs that are merged, the triangles say the same."""
    rows, blocks, weights = make_rows()
    empty = Reduction.empty(3, JOINTS, COLUMNS)
    whole = empty.add(rows, blocks, weights)
    piecewise = empty
    for index in reversed(range(SAMPLES)):
        chosen = np.array([index])
        piecewise = piecewise.add(part_of(rows, chosen), blocks[chosen], weights[chosen])
    halves = [np.arange(0, SAMPLES, 2), np.arange(1, SAMPLES, 2)]
    one, other = (empty.add(part_of(rows, half), blocks[half], weights[half]) for half in halves)
    values = np.random.default_rng(2).standard_normal(COLUMNS)
    expected = compute_squares(whole, values)
    for each in (piecewise, one.merged_at(0, other)):
        assert np.allclose(compute_squares(each, values), expected, rtol=1e-10)


def test_chosen_blocks_are_put_together():
    """The reduction of some blocks has the sum of their squares."""
    rows, blocks, weights = make_rows()
    reduction = Reduction.empty(3, JOINTS, COLUMNS).add(rows, blocks, weights)
    values = np.random.default_rng(3).standard_normal(COLUMNS)
    chosen = compute_squares(reduction.selected([0, 2]), values)
    assert chosen.shape == (1, JOINTS)
    assert np.allclose(chosen[0], compute_squares(reduction, values)[[0, 2]].sum(axis=0))


def test_a_triangle_is_square_however_few_the_rows():
    """Fewer rows than columns leave rows of zeros."""
    table = np.random.default_rng(4).standard_normal((2, 5))
    factor = triangle(table)
    assert factor.shape == (5, 5)
    assert np.allclose(factor.T @ factor, table.T @ table)
