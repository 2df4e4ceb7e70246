"""The family of motions."""

import numpy as np

from ne_dynamics.excitation.basis import Series

SERIES = Series(12.0, 0.1, 4)


def test_every_motion_begins_and_ends_at_rest():
    """Position, velocity and acceleration of each coefficient vanish at both ends, to rounding."""
    waves = SERIES.evaluate(np.array([0.0, SERIES.duration]))
    assert waves.shape == (3, 2, 9)
    np.testing.assert_allclose(waves, 0.0, atol=1e-12)


def test_velocities_and_accelerations_are_the_derivatives():
    step = 1e-5
    times = np.linspace(0.1, SERIES.duration - 0.1, 97)
    before, here, after = (SERIES.evaluate(times + shift) for shift in (-step, 0.0, step))
    for order in (0, 1):
        slopes = (after[order] - before[order]) / (2.0 * step)
        np.testing.assert_allclose(slopes, here[order + 1], atol=1e-7)
