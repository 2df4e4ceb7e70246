"""What a plan chooses where nothing is given: duration, frequencies, points, limits."""

import numpy as np
import pytest
from excitation_arm import START, small_arm, small_solids

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.excitation.basis import Series
from ne_dynamics.excitation.clearance import Clearance
from ne_dynamics.excitation.columns import compute_friction_columns
from ne_dynamics.excitation.keep_out import FLOOR
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.plan import _check_options, _choose_series, _count_points


def limits_with(speed=None):
    """Return the limits of the small arm, with one velocity limit for all joints."""
    given = None if speed is None else {'': speed}
    return ExcitationLimits.of_robot(small_arm(), START, velocity_limits=given)


@pytest.mark.parametrize(
    ('speed', 'duration'), [(None, 12.0 * 0.95 * 5.6 / (0.7 * 2.5)), (9.0, 20.0), (0.5, 60.0)]
)
def test_the_slowest_joint_crosses_its_range_a_dozen_times(speed, duration):
    """Within 20 s and 60 s; the highest frequency is half a hertz."""
    series = _choose_series(limits_with(speed), None, None, 10)
    assert series.duration == pytest.approx(duration)
    assert series.base_frequency * series.harmonics == pytest.approx(0.5)


def test_a_period_of_the_highest_frequency_has_eighty_points():
    series = Series(40.0, 0.05, 10)
    assert _count_points(series, None) == 40 * 40 + 1
    assert _count_points(series, 124.0) == 40 * 124 + 1
    with pytest.raises(InputError, match='expected at most 5000, got 5041'):
        _count_points(series, 126.0)


def test_noise_and_limits_have_least_values():
    """Below, efforts would be known better than any, and motions be rounding."""
    given = (0.02, None, None, 10, None)
    _check_options(*given, 1.5e-6)
    with pytest.raises(InputError, match='noise share: expected from 1e-06 to 1'):
        _check_options(*given, 0.7e-6)
    assert limits_with(1.5e-9).full_velocity.max() == 1.5e-9
    with pytest.raises(InputError, match='expected a finite number of 1e-09 or more'):
        limits_with(0.7e-9)


def test_coulomb_friction_changes_its_sign_within_a_fiftieth_of_the_largest_velocity():
    columns, _, _ = compute_friction_columns(np.full((1, 1), 0.05), np.zeros((1, 1)), 2.5)
    assert columns[0, 0, 1] == pytest.approx(np.tanh(1.0))


def test_what_is_nearer_than_the_margin_at_the_start_keeps_four_fifths_of_that():
    pytest.importorskip('coal', reason='coal is missing')
    clearance = Clearance(small_arm(), small_solids(), [FLOOR], 0.3, START, limits_with())
    kept = [*clearance.pairs, *clearance.walls]
    near = [each for each in kept if each.margin < 0.3]
    assert 0 < len(near) < len(kept)
    for each in kept:
        assert each.margin == pytest.approx(min(0.3, 0.8 * each.at_start))


def test_half_of_the_effort_accelerates_a_joint_that_has_no_limit():
    """The slide moves the hand, of 0.7 kg, and nothing weighs."""
    floating = ned.Dynamics(small_arm().robot, (0.0, 0.0, 0.0), backend='python')
    limits = ExcitationLimits.of_robot(floating, START, effort_limits={'slide': 2.0})
    assert limits.acceleration[3] == pytest.approx(0.9 * 0.5 * 2.0 / 0.7)
    assert np.isfinite(limits.acceleration).all()


def test_what_weighs_is_the_most_that_it_weighs_in_some_poses():
    """Sixty-four of them; more would find a little more."""
    assert limits_with().acceleration[1] == pytest.approx(12.9671, rel=1e-4)
