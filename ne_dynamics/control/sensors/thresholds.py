"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class SensorThresholds:
    """What wrist sensor, IMU and joint states must say to be used."""

    # imu
    largest_angular_velocity: float = threshold(100.0, 'rad/s', 'No base turns faster.')
    largest_angular_acceleration: float = threshold(
        1e4, 'rad/s^2', 'No base has a larger angular acceleration.'
    )
    largest_linear_acceleration: float = threshold(
        500.0, 'm/s^2', 'No base has a larger acceleration.'
    )
    quaternion_tolerance: float = threshold(
        0.1, '', 'How far the norm of an orientation may be from 1.'
    )
    gravity_time: float = threshold(
        1.0,
        's',
        'Time constant with which the direction of gravity follows the measured acceleration. '
        'Up to it, a turn is followed by the angular velocity, and an acceleration of the base '
        'does not count.',
    )
    size_time: float = threshold(
        5.0, 's', 'Time constant of the mean size of the measured acceleration.'
    )
    size_tolerance: float = threshold(
        0.05,
        '',
        'Share of |g0| by which that mean may be off: it shows a wrong unit, scale or kind of '
        'sensor.',
    )

    # low_pass
    latest_stamp: float = threshold(
        0.1,
        's',
        'A stamp that is older than the newest by up to this was overtaken; by more, its clock '
        'was set back.',
    )

    # state_effort
    effort_largest_share: float = threshold(
        0.2,
        '',
        'What a reading may differ by from the effort of the model, as a share of the effort '
        'limit. Room for a load that the model does not know and for friction. In 2000 random '
        'poses of the shipped arm, 3 kg at the tip were up to 0.16 of a limit and begun at in '
        'all; friction of 0.05 of the limits in all but 27. A tenth of the torques, as for '
        'currents, was begun at in one, off by 0.018. What is wrong and begun at all the same '
        'is off by no more than the share.',
    )
    effort_least_share: float = threshold(
        0.02, '', 'A difference that no one needs to explain, as a share of the effort limit.'
    )
    effort_rounding: float = threshold(1e-6, 'N m or N', 'Gravity below this is none.')

    # state_rate
    period_share: float = threshold(
        0.02, '', 'How much of the mean period is that of the last state.'
    )
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


SENSORS = SensorThresholds()
"""Those that count."""
