"""Nothing passes that is not finite, beyond the limit, or too fast."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.stages.limits import EffortLimiter
from ne_dynamics.errors import InputError, ParameterError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.joint_limits import effort_limits


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes(bad: float) -> None:
    """A single number that is not finite stops the whole command, whatever the limits."""
    limiter = EffortLimiter(np.array([10.0, np.inf]), [1.0])
    limiter.apply(np.array([1.0, 1.0]), 0.1)
    with pytest.raises(InputError, match='finite'):
        limiter.apply(np.array([1.0, bad]), 0.1)
    np.testing.assert_allclose(limiter.apply(np.array([1.0, 1.05]), 0.1).effort, [1.0, 1.05])


def test_no_step_is_larger_than_the_rate_allows() -> None:
    """Over any course of efforts consecutive commands differ by at most rate times time, and each
    joint is clamped to its own limit; both are reported.
    """
    rng = np.random.default_rng(1)
    limits, rates = np.array([20.0, 10.0, np.inf]), np.array([50.0, 0.0, 200.0])
    limiter = EffortLimiter(limits, rates)
    last = limiter.apply(np.zeros(3), 0.002).effort
    for _ in range(200):
        dt = rng.uniform(0.0, 0.01)
        wanted = rng.uniform(-40.0, 40.0, 3)
        effort, saturated = limiter.apply(wanted, dt)
        assert (np.abs(effort) <= limits).all()
        assert (np.abs(effort - last)[[0, 2]] <= rates[[0, 2]] * dt + 1e-12).all()
        assert effort[1] == np.clip(wanted[1], -10.0, 10.0)
        np.testing.assert_array_equal(False if saturated is None else saturated, effort != wanted)
        last = effort


JOINTS = (Joint('a', effort_limit=10.0), Joint('b', effort_limit=20.0))


def test_the_users_limits_come_before_the_models() -> None:
    """Limits are the parameter's when given, for all joints or each, else the model's."""
    np.testing.assert_array_equal(effort_limits(JOINTS), [10.0, 20.0])
    np.testing.assert_array_equal(effort_limits(JOINTS, [3.0]), [3.0, 3.0])
    np.testing.assert_array_equal(effort_limits(JOINTS, [3.0, np.inf]), [3.0, np.inf])


@pytest.mark.parametrize('limit', [0.0, -1.0])
def test_a_model_that_allows_no_effort_is_refused(limit: float) -> None:
    """Effort limit 0 in the model would drop the arm: refused, unless the user sets limits."""
    joints = (*JOINTS, Joint('c', effort_limit=limit))
    with pytest.raises(ParameterError, match=r"'c' \(-?\d\): nothing could be commanded"):
        effort_limits(joints)
    np.testing.assert_array_equal(effort_limits(joints, [7.0]), [7.0] * 3)


@pytest.mark.parametrize(
    ('override', 'match'),
    [
        ([1.0, 2.0, 3.0], 'expected 1 or 2 values.*got 3'),
        ([0.0, 1.0], '> 0'),
        ([-1.0], '>= 0'),
        ([np.nan], '>= 0'),
    ],
)
def test_bad_limits_are_refused(override, match: str) -> None:
    """Limits of a wrong length, zero, negative or NaN are refused by name."""
    with pytest.raises(ParameterError, match=f'effort_limits.*{match}'):
        effort_limits(JOINTS, override)
    if override != [0.0, 1.0]:
        with pytest.raises(ParameterError, match='effort_rate_limit'):
            EffortLimiter(np.ones(2), override)
