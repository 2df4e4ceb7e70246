"""Velocities from positions alone: how late, how noisy."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.sensors.velocity_source import PositionVelocity, VelocitySource
from ne_dynamics.model.robot import Joint, JointType

JOINTS = [Joint('a', JointType.REVOLUTE), Joint('b', JointType.CONTINUOUS)]
PERIOD = 0.002
CUTOFF = 30.0
LAGS = {
    VelocitySource.DIFFERENTIATED: 0.5 * PERIOD + 1.0 / (2.0 * np.pi * CUTOFF),
    VelocitySource.ESTIMATED: 2.0 / (2.0 * np.pi * CUTOFF),
}
"""As the module says [s]."""


def velocities(source, positions, period=PERIOD):
    """Return the velocities at positions of one joint."""
    filter_ = PositionVelocity(JOINTS, source, CUTOFF)
    return np.array(
        [filter_.update(np.full(2, q), period * k)[0] for k, q in enumerate(positions)]
    )


@pytest.mark.parametrize('source', list(LAGS))
def test_it_is_late_by_what_the_documentation_says(source) -> None:
    """Under constant acceleration the velocity is that of the named lag before, within 5 %.

    The lags are those of continuous time; the states come every 2 ms.
    """
    acceleration = 3.0
    times = PERIOD * np.arange(1000)
    found = velocities(source, 0.5 * acceleration * times**2)
    lag = times[-1] - found[-1] / acceleration
    assert lag == pytest.approx(LAGS[source], abs=0.5 * PERIOD)


@pytest.mark.parametrize('source', list(LAGS))
def test_a_turn_of_a_continuous_joint_is_no_jump(source) -> None:
    """From pi to -pi goes on at the same speed."""
    filter_ = PositionVelocity(JOINTS, source, CUTOFF)
    for k in range(3000):
        angle = 2.0 * PERIOD * k
        found = filter_.update(
            np.array([0.0, (angle + np.pi) % (2.0 * np.pi) - np.pi]), PERIOD * k
        )
        if k > 500:
            np.testing.assert_allclose(found, [0.0, 2.0], atol=1e-6)


@pytest.mark.parametrize('source', list(LAGS))
def test_a_stamp_that_does_not_advance_changes_nothing(source) -> None:
    """The velocity stays; there is no division by no time."""
    filter_ = PositionVelocity(JOINTS, source, CUTOFF)
    for k in range(100):
        before = filter_.update(np.full(2, 0.001 * k), PERIOD * k)
    np.testing.assert_array_equal(filter_.update(np.full(2, 0.3), PERIOD * 99), before)
