"""How far a body is doubted: as far as the rows move it, and none for rows that say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.identification.regression.doubts import compute_covariance, find_doubts
from ne_dynamics.identification.regression.pseudo_inertia import BASIS
from ne_dynamics.identification.regression.solver import Problem, minimize

SPREAD, STEADY = 0.5, 4.0


def make_problem(factors, spreads, information=1e3):
    """Return a problem of bodies that the rows say to be so many times what is believed."""
    rng = np.random.default_rng(5)
    references, values = [], []
    for factor in factors:
        points = rng.standard_normal((6, 4)) * (0.2, 0.2, 0.2, 0.0) + (0.0, 0.0, 0.2, 1.0)
        references.append(points.T @ points / 3.0)
        pseudo = factor * references[-1]
        values.append(np.linalg.lstsq(BASIS.reshape(10, 16).T, pseudo.ravel(), rcond=None)[0])
    matrix = information * rng.standard_normal((60, 10 * len(factors)))
    target = matrix @ np.concatenate(values)
    nothing = np.zeros(0)
    return Problem(
        np.column_stack([matrix, target]),
        np.array(references),
        np.array(spreads),
        nothing,
        nothing,
        np.zeros(0, dtype=bool),
    )


def test_only_the_body_that_is_off_is_doubted():
    """A body of eight times its mass is doubted, one that is off by a tenth is not."""
    problem = make_problem((1.1, 8.0), (SPREAD, SPREAD))
    doubts = find_doubts(problem, minimize(problem), SPREAD, STEADY)
    # Of eight times a matrix of four rows.
    distance = 4.0 * (8.0 - 1.0 - np.log(8.0))
    expected = np.sqrt((2.0 * distance / SPREAD**2 + STEADY) / (10.0 + STEADY))
    assert doubts[0] == 1.0
    assert doubts[1] == pytest.approx(expected, rel=1e-3)


def test_rows_that_say_nothing_raise_no_doubt():
    """Where no parameter is told, bodies stay as given and are doubted no more than others."""
    problem = make_problem((8.0, 8.0), (SPREAD, SPREAD), information=1e-9)
    assert find_doubts(problem, minimize(problem), SPREAD, STEADY) == pytest.approx(1.0, abs=1e-6)


def test_without_bodies_there_are_no_doubts():
    """A problem of numbers alone has doubts of shape (0,)."""
    rows = np.array([[1.0, 2.0]])
    problem = Problem(
        rows, np.zeros((0, 4, 4)), np.zeros(0), np.zeros(1), np.ones(1), np.zeros(1, dtype=bool)
    )
    assert find_doubts(problem, minimize(problem), SPREAD, STEADY).shape == (0,)


def test_a_body_of_a_wider_spread_is_known_less_well():
    """Where the rows say nothing, deviations are in proportion to the spreads."""
    problem = make_problem((1.0, 1.0), (0.1, 2.0), information=1e-9)
    covariance = compute_covariance(problem, minimize(problem), problem.prior_scales)
    deviations = np.sqrt(np.diag(covariance)).reshape(2, 10)
    alike = compute_covariance(problem, minimize(problem), np.array([SPREAD, SPREAD]))
    by_spread = np.sqrt(np.diag(alike)).reshape(2, 10) / SPREAD
    assert deviations == pytest.approx(by_spread * np.array([[0.1], [2.0]]), rel=1e-6)
