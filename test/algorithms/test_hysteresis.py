"""Friction that turns round gradually: paths and steps against the equation itself."""

import numpy as np
import pytest

from ne_dynamics.algorithms.hysteresis import follow_hysteresis, move_hysteresis
from ne_dynamics.errors import ModelError
from ne_dynamics.model.friction import FrictionModel

DISPLACEMENT = 0.07
MODEL = FrictionModel(hysteresis_friction=1.3, hysteresis_displacement=DISPLACEMENT)


def random_path(seed, samples):
    """Return positions with turns, rests and leaps."""
    rng = np.random.default_rng(seed)
    steps = rng.standard_normal(samples) * rng.choice([0.0, 1e-4, 0.01, 0.3], samples)
    return np.cumsum(steps)


def integrate(path, state):
    """Return the state at the end of a path, by small steps of the differential equation."""
    for step in np.diff(path):
        pieces = max(int(abs(step) / 1e-4), 1)
        for _ in range(pieces):
            part = step / pieces
            middle = state + 0.5 * (np.sign(part) - state) * abs(part) / DISPLACEMENT
            state += (np.sign(part) - middle) * abs(part) / DISPLACEMENT
    return state


@pytest.mark.parametrize('seed', range(5))
def test_a_path_is_that_of_the_differential_equation(seed):
    """The states follow dz = (sign(dq) - z) |dq| / displacement; one by one, they are the same."""
    path = random_path(seed, 60)
    states = follow_hysteresis(path, DISPLACEMENT, 0.4)
    for end in (1, 7, 33, 60):
        assert states[end - 1] == pytest.approx(integrate(path[:end], 0.4), abs=1e-5)
    state = 0.4
    for index, step in enumerate(np.diff(path).tolist()):
        state = move_hysteresis(MODEL, state, step)
        assert states[index + 1] == pytest.approx(state, abs=1e-12)


@pytest.mark.parametrize(
    ('numbers', 'expected'),
    [
        ({'hysteresis_friction': 1.0}, 'hysteresis_displacement: expected > 0'),
        ({'hysteresis_friction': -1.0, 'hysteresis_displacement': 1.0}, 'expected >= 0, got -1'),
        ({'hysteresis_friction': 1.0, 'hysteresis_displacement': -1.0}, 'expected >= 0, got -1'),
        ({'hysteresis_friction': 1.0, 'hysteresis_displacement': 1e-13}, 'at least 1e-12'),
        ({'hysteresis_friction': float('nan'), 'hysteresis_displacement': 1.0}, 'finite'),
    ],
)
def test_numbers_that_make_no_hysteresis_are_refused(numbers, expected):
    with pytest.raises(ModelError, match=expected):
        FrictionModel(**numbers)
