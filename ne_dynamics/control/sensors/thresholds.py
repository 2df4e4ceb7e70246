"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class SensorThresholds:
    """What wrist sensor, IMU and joint states must say to be used."""

    # imu
    largest_angular_velocity: float = threshold(100.0, 'rad/s', 'No base turns faster.')
    largest_linear_acceleration: float = threshold(
        500.0, 'm/s^2', 'No base has a larger acceleration.'
    )
    quaternion_tolerance: float = threshold(0.1, '', 'Norms of orientations may be off by it.')
    gravity_time: float = threshold(
        1.0,
        's',
        'Time constant of gravity by the measured acceleration; faster turns follow the angular '
        'velocity.',
    )
    size_time: float = threshold(5.0, 's', 'Time constant of the mean size of accelerations.')
    size_tolerance: float = threshold(
        0.05, '', 'Error of that mean, by |g0|: shows a wrong unit, scale or kind of sensor.'
    )

    # low_pass
    latest_stamp: float = threshold(
        0.1, 's', 'A stamp this much older was overtaken; beyond, its clock was set back.'
    )

    # state_effort
    effort_largest_share: float = threshold(
        0.2,
        '',
        'Difference of a reading from the model, by the effort limit: unknown load, friction. '
        'Of 2000 random poses 3 kg at the tip began all (up to 0.16 off), friction of 0.05 all '
        'but 27, a tenth of the torques one (0.018 off). What begins wrongly is off by no more.',
    )
    effort_least_share: float = threshold(
        0.02, '', 'A difference that no one needs to explain, as a share of the effort limit.'
    )
    effort_rounding: float = threshold(1e-6, 'N m or N', 'Gravity below this is none.')

    # state_rate
    period_share: float = threshold(0.02, '', 'Share of the last state in the mean period.')
    least_periods: int = threshold(10, '', 'Periods of which the mean says something.')

    # wrench
    tare_window: float = threshold(
        0.2, 's', 'A tare averages the readings of so many last seconds.'
    )
    tare_readings: int = threshold(100, '', '... but not more than this many.')
    largest_wrench: float = threshold(
        1e6,
        'N, N m',
        'Readings whose six numbers are together larger than this come from no sensor.',
    )

    # wrench_sign
    sign_least_force: float = threshold(2.0, 'N', 'Of a smaller weight nothing is said.')
    sign_opposite_part: float = threshold(
        0.3, '', 'Largest difference of readings that are opposite, as a part of the weight.'
    )
    sign_same_part: float = threshold(0.5, '', 'The same of readings that agree.')
    sign_least_lever: float = threshold(
        0.05,
        'm',
        'Moments may differ by that part of the weight at the lever of its centre of mass, and no '
        'less than at this one.',
    )
    sign_rest_motion: float = threshold(
        0.02, 'rad or m', 'A resting joint is no farther from where it was at the last look.'
    )
    sign_least_turn: float = threshold(
        0.3, 'rad', 'Angle between the weights of two poses, in the frame of the sensor.'
    )


SENSORS = SensorThresholds()
"""Those that count."""
