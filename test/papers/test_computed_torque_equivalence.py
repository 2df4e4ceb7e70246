"""The computed-torque law: by substitution into a recursion, and explicitly."""

import numpy as np
import pytest
from formulation_cases import GENERAL, GRAVITY, arm_for, relative_error

from ne_dynamics.papers.forms import FORMULATIONS, computed_torque_law


def state_and_gains(rng, n):
    """Return measured and desired state, and full gain matrices."""
    state = [rng.uniform(-2.0, 2.0, n).tolist() for _ in range(5)]
    gains = {
        'kp': rng.uniform(-100.0, 100.0, (n, n)).tolist(),
        'kv': rng.uniform(-20.0, 20.0, (n, n)).tolist(),
    }
    return state, gains


@pytest.mark.parametrize('name', GENERAL)
def test_the_law_by_substitution_is_the_explicit_law(name):
    """With full, unsymmetric gain matrices, substitution into any form equals (4.1) to
    round-off.
    """
    rng = np.random.default_rng(21)
    for index in range(16):
        n = 1 + index % 6
        arm = arm_for(name, rng, n)
        state, gains = state_and_gains(rng, n)
        explicit = computed_torque_law.explicit(arm, *state, **gains, gravity=GRAVITY)
        substituted = computed_torque_law.by_substitution(
            arm, *state, **gains, gravity=GRAVITY, formulation=FORMULATIONS[name].inverse_dynamics
        )
        assert relative_error(substituted, explicit) <= 1e-12
