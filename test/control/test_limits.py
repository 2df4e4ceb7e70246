"""Nothing passes that is not finite, beyond the limit, or too fast."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.stages.limits import EffortLimiter
from ne_dynamics.errors import ParameterError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.joint_limits import effort_limits

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
