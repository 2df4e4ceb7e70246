"""The simulation of 003 section 5 under both readings of its program."""

import numpy as np
import pytest

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.papers.studies.puma import load_arm
from ne_dynamics.papers.studies.puma_simulation import (
    BIT,
    GRAVITY,
    PERIOD,
    PROFILES,
    LawEvaluation,
    Sensor,
    count_sign_changes,
    ends,
    run,
)


@pytest.fixture(scope='module')
def dynamics():
    """Return the dynamics of the Puma without rotors."""
    return Dynamics(load_arm().rigid().robot(), gravity=GRAVITY)


def largest(motion):
    """Return the largest error of any joint [rad]."""
    return np.abs(motion.error).max()


@pytest.mark.parametrize('reading', LawEvaluation)
@pytest.mark.parametrize('profile', PROFILES)
def test_a_run_goes_from_posture_to_posture(dynamics, reading, profile):
    """It begins at rest in the first posture and ends within 2e-3 rad of the second; the error is
    desired less real.
    """
    motion = run(dynamics, PROFILES[profile], 2.0, reading)
    start, end = ends()
    np.testing.assert_array_equal(motion.position[0], start)
    np.testing.assert_array_equal(motion.velocity[0], 0.0)
    np.testing.assert_allclose(motion.position[-1], end, rtol=0, atol=2e-3)
    np.testing.assert_allclose(motion.time, PERIOD * np.arange(201))
    wanted = PROFILES[profile](start, end, 2.0, motion.time).position
    np.testing.assert_allclose(motion.error, wanted - motion.position, atol=1e-15)


def test_inside_the_integrator_only_its_own_error_is_left(dynamics):
    """On its own model the arm follows the quintic but for the error of the Runge-Kutta step: it
    falls by the fourth power, here by about 16.
    """
    errors = [
        largest(
            run(dynamics, PROFILES['quintic'], 1.0, LawEvaluation.INSIDE, steps_a_period=steps)
        )
        for steps in (1, 2, 4)
    ]
    assert errors[0] < 1e-6
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 14.0).all()
    assert (ratios < 18.0).all()


@pytest.mark.parametrize('sensor', [Sensor.CONVERTER, Sensor.NOISE])
def test_the_converter_makes_the_error_oscillate_within_its_bit(dynamics, sensor):
    """Inside the integrator: about zero, more than six changes of sign, less than a quarter of a
    bit; without it no error that would show.
    """
    motion = run(dynamics, PROFILES['quintic'], 4.0, LawEvaluation.INSIDE, sensor)
    assert 1e-2 * BIT < largest(motion) < 0.25 * BIT
    assert count_sign_changes(motion.error) > 6
    exact = run(dynamics, PROFILES['quintic'], 4.0, LawEvaluation.INSIDE)
    assert count_sign_changes(exact.error) == 0


@pytest.mark.parametrize('duration', [0.0, 0.005, np.nan, np.inf])
def test_a_motion_shorter_than_a_sample_is_refused(dynamics, duration):
    with pytest.raises(InputError, match=r'duration: expected 0\.01 s or more'):
        run(dynamics, PROFILES['quintic'], duration, LawEvaluation.HELD)
