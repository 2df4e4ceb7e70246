"""What a motion tells of the parameters, and how that changes with the motion."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('coal', reason='coal is missing')

from excitation_arm import START, small_arm, small_limits

from ne_dynamics.excitation.columns import find_columns
from ne_dynamics.excitation.information import (
    MEASURES,
    Information,
    SampledMotion,
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
