"""The fit's minimum: that of a convex problem, with a proof, or an error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.regression.doubts import find_doubts
from ne_dynamics.identification.regression.pseudo_inertia import BASIS
from ne_dynamics.identification.regression.solver import Problem, minimize


def make_problem(seed, *, spread=0.5, bodies=2, numbers=5, noise=1.0):
    """Return a problem with bodies that differ from what is believed, and their parameters."""
    rng = np.random.default_rng(seed)
    references, truths = [], []
    for _ in range(bodies):
        points = rng.standard_normal((6, 4)) * (0.2, 0.2, 0.2, 0.0) + (0.0, 0.0, 0.2, 1.0)
        reference = points.T @ points / 3.0
        references.append(reference)
        turn = np.eye(4) + 0.3 * rng.standard_normal((4, 4))
        changed = (turn @ reference @ turn.T).ravel()
        truths.append(np.linalg.lstsq(BASIS.reshape(10, 16).T, changed, rcond=None)[0])
    values = np.concatenate([*truths, np.maximum(rng.standard_normal(numbers), 0.0)])
    matrix = 10.0 * rng.standard_normal((40, values.size))
    target = matrix @ values + noise * rng.standard_normal(40)
    bounded = np.arange(numbers) > 0
    return Problem(
        np.column_stack([matrix, target]),
        np.array(references),
        np.broadcast_to(spread, (bodies,)),
        np.zeros(numbers),
        np.ones(numbers),
        bounded,
    )


def test_data_that_no_body_explains():
    """Rows that ask for a negative mass push a body to the edge, never over it, and converge."""
    problem = make_problem(3, bodies=1, numbers=1, spread=10.0)
    rows = np.zeros((1, 12))
    rows[0, 0], rows[0, -1] = 1e4, -1e4
    solution = minimize(replace(problem, factor=np.concatenate([problem.factor, rows])))
    assert solution.gap <= 1e-6
    assert np.linalg.eigvalsh(solution.pseudo_inertias[0])[0] > 0.0


def test_numbers_that_are_not_finite_are_an_error():
    """A problem with NaN ends in an error that says so, not in a result."""
    problem = make_problem(4)
    problem.factor[0, 0] = np.nan
    with pytest.raises(IdentificationError, match='fit'):
        minimize(problem)


@pytest.mark.parametrize('seed', range(4))
def test_numbers_at_zero_do_not_take_turns(seed):
    """With columns nearly alike, as terms of friction have, the minimum is reached in few steps.

    Each of two numbers at 0 used to be in the way of the other, for ever.
    """
    numbers = 12
    problem = make_problem(seed, numbers=numbers, noise=30.0, spread=3.0)
    factor = problem.factor.copy()
    factor[:, 20:-1] = factor[:, 20:21] + 0.1 * factor[:, 20:-1]
    problem = replace(
        problem, factor=factor, scales=np.full(numbers, 10.0), bounded=np.ones(numbers, bool)
    )
    solution = minimize(problem)
    assert solution.gap <= 1e-6
    assert solution.iterations < 150
    assert (solution.parameters[20:] == 0.0).sum() > 2


@pytest.mark.parametrize('seed', [8, 48, 74, 76])
def test_numbers_whose_columns_are_nearly_alike(seed):
    """Numbers at 0 that are let go and stopped again by turns, without a way, come to an end."""
    rng = np.random.default_rng(seed)
    problem = make_problem(seed, bodies=1, numbers=10, spread=0.4)
    factor = problem.factor.copy()
    factor[:, 15:20] = factor[:, 10:15] + 0.5 * rng.standard_normal((40, 5))
    factor[:, -1] += factor[:, 10:20] @ (3.0 * rng.standard_normal(10))
    factor[:, -1] += 100.0 * rng.standard_normal(40)
    degenerate = replace(problem, factor=30.0 * factor, bounded=np.ones(10, dtype=bool))
    solution = minimize(degenerate)
    assert solution.gap <= 1e-6
    assert (solution.parameters[10:] == 0.0).any()


def test_only_the_body_that_is_off_is_doubted():
    """A body of eight times its mass is, one that is off by a tenth is not, nor one of no rows."""
    spread, steady = 0.5, 4.0
    problem = make_problem(5, numbers=0, noise=0.0)
    pseudo = np.array([1.1, 8.0])[:, None, None] * problem.references
    values = np.linalg.lstsq(BASIS.reshape(10, 16).T, pseudo.reshape(2, 16).T, rcond=None)[0]
    matrix = problem.factor[:, :-1]
    told = np.column_stack([matrix, matrix @ values.T.ravel()])
    # Of eight times a matrix of four rows.
    distance = 4.0 * (8.0 - 1.0 - np.log(8.0))
    expected = np.sqrt((2.0 * distance / spread**2 + steady) / (10.0 + steady))
    for information, doubts in ((100.0, [1.0, expected]), (1e-10, [1.0, 1.0])):
        problem = replace(problem, factor=information * told)
        found = find_doubts(problem, minimize(problem), spread, steady)
        assert found == pytest.approx(doubts, rel=1e-3)
