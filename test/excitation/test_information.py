"""What a motion tells of the parameters, and how that changes with the motion."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('coal', reason='coal is missing')

from excitation_arm import START, small_arm, small_limits

from ne_dynamics.excitation.columns import TERMS, find_columns
from ne_dynamics.excitation.information import (
    MEASURES,
    Information,
    SampledMotion,
    compute_condition_number,
    measure_determinant,
)


@pytest.fixture(scope='module')
def subject():
    """Return the arm's columns, its information, and a random motion."""
    dynamics, limits = small_arm(), small_limits()
    columns = find_columns(dynamics, limits, START)
    noise = np.array([0.5, 0.4, 0.3, 0.8])
    rng = np.random.default_rng(5)
    motion = SampledMotion(*rng.uniform(-1.0, 1.0, (3, 60, 4)))
    return columns, Information(dynamics, columns, limits, noise), noise, motion


def test_columns_are_as_many_as_the_efforts_tell_apart(subject):
    """Their number is the rank of all columns, by singular values; each has a name."""
    columns, _, _, _ = subject
    dynamics, rng = small_arm(), np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 400, 4))
    rows = dynamics.regressor(q, qd, qdd)
    friction = np.stack([qd, np.tanh(qd / 0.03), qdd, np.ones_like(qd)], axis=2)
    own = np.einsum('sit,ij->sijt', friction, np.eye(4)).reshape(400, 4, -1)
    stacked = np.concatenate([rows, own], axis=2).reshape(1600, -1)
    sizes = np.linalg.norm(stacked, axis=0)
    stacked = stacked[:, sizes > 1e-9 * sizes.max()] / sizes[sizes > 1e-9 * sizes.max()]
    assert columns.size == np.linalg.matrix_rank(stacked, tol=1e-6)
    assert len(set(columns.names)) == columns.size == len(columns.units)
    assert len(TERMS) == 4


@pytest.mark.parametrize('name', MEASURES)
def test_gradients_are_those_of_finite_differences(subject, name):
    """The adjoint through regressor and friction agrees with central differences."""
    _, information, _, motion = subject
    measure = MEASURES[name]
    slope = measure(information.compute(motion)).slope
    gradient = information.pull_back(motion, slope)

    def compute(moved):
        # By singular values of the rows: nothing is squared, and small ones keep their digits.
        rows = information._compute_rows(moved)
        values = np.linalg.svd(rows.reshape(-1, rows.shape[2]), compute_uv=False) ** 2 / len(rows)
        if name == 'log-det':
            return -np.log(values).sum()
        largest = values[0] * ((values / values[0]) ** 4).sum() ** 0.25
        smallest = values[-1] / ((values[-1] / values) ** 4).sum() ** 0.25
        return 0.5 * np.log(largest / smallest)

    assert compute(motion) == pytest.approx(measure(information.compute(motion)).value, abs=1e-3)
    rng = np.random.default_rng(3)
    for _ in range(4):
        direction = rng.normal(size=(3, *motion.position.shape))
        step = 1e-5
        ahead, behind = (
            compute(SampledMotion(*(v + s * d for v, d in zip(motion, direction, strict=True))))
            for s in (step, -step)
        )
        expected = (ahead - behind) / (2.0 * step)
        found = sum((g * d).sum() for g, d in zip(gradient, direction, strict=True))
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_condition_number_is_that_of_the_weighted_columns(subject):
    """It is numpy's, of the stacked rows; the smooth bound is near and not below it."""
    columns, information, _, motion = subject
    matrix = information.compute(motion)
    rows = information._compute_rows(motion).reshape(-1, columns.size)
    assert compute_condition_number(matrix) == pytest.approx(np.linalg.cond(rows), rel=1e-6)
    bound = np.exp(MEASURES['condition'](matrix).value)
    assert np.linalg.cond(rows) <= bound < 2.5 * np.linalg.cond(rows)
    assert measure_determinant(matrix).value == pytest.approx(-np.linalg.slogdet(matrix)[1])
