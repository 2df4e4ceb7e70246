"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class DesiredThresholds:
    """How trajectories and position streams are read, and slowed down on their path."""

    # feasibility_checker
    spline_least_segments: int = threshold(
        3, '', 'From so many segments the last of a spline is but its end, not much motion.'
    )

    # path_parameter
    look_ahead: float = threshold(
        0.01,
        's',
        'A profile counts so far ahead, or for a longer period of the states: between, a chord.',
    )
    profile_excess: float = threshold(
        1.03,
        '',
        "Factor by which a profile may be exceeded to spare a motor: the plan's efforts allow it.",
    )
    swing_time: float = threshold(
        0.025,
        's',
        'Rise time of the path acceleration: efforts do not step unless limits ask for it.',
    )
    scaling_rate: float = threshold(5.0, '1/s', 'Fastest change of speed: 0 to full in 0.2 s.')
    stopping_rate: float = threshold(50.0, '1/s', 'The same of a stop that nothing else limits.')
    standing_speed: float = threshold(1e-3, '', 'Slower, a motion that is given up stands.')
    longest_time_step: float = threshold(
        0.1, 's', 'A motion speeds up for so long without a state at the most.'
    )

    # motion_planner
    latest_begin: float = threshold(
        0.01,
        's',
        'A plan that is later than it was announced by so little begins as announced, where it '
        'has no corner there: what follows departs from what was followed slowly.',
    )

    # position_stream
    points_fitted: int = threshold(
        3, '', 'Points that count beside the last one: more follow noise, fewer lag behind.'
    )
    points_for_acceleration: int = threshold(
        2, '', 'So many points must have been sent before: of fewer no acceleration can be told.'
    )
    longest_gap: float = threshold(
        6.5,
        '',
        'Points that are farther from each other than so many intervals are of two motions.',
    )
    longest_coast: float = threshold(
        0.15, 's', 'Longest motion beyond the last point without a message.'
    )
    gap_growth: float = threshold(
        1.25, '', 'Factor by which the time between messages may grow at each: some are lost.'
    )
    regular_share: float = threshold(0.25, '', 'A regular message is off by this of an interval.')
    regular_before: int = threshold(3, '', 'So many in a row are a pace.')
    most_periods: int = threshold(20, '', 'After a longer silence a pace begins anew.')
    arrivals_of_points: int = threshold(
        100, '', 'What the points say of the period counts as so many arrivals.'
    )
    most_arrivals: int = threshold(
        200, '', 'As if so many arrivals made the line: later ones move it no less.'
    )
    longest_interval: float = threshold(
        0.1, 's', 'Points of a stream are no farther from each other, unless told otherwise.'
    )
    return_share: float = threshold(
        0.5,
        '',
        'Part of the usual velocities and decelerations that the return takes at its peak.',
    )
    shortest_return: float = threshold(0.1, 's', 'Of the way back to the last point.')

    # time_scaling
    planned_share: float = threshold(
        0.94, '', "Part of the effort limits that a plan asks for: the rest is the feedback's."
    )
    measured_share: float = threshold(
        0.98,
        '',
        'Part of the effort limits beyond which the pace gives way, whatever was planned.',
    )
    excess_share: float = threshold(
        0.05, '', 'Part of an effort limit by which an exceeding motor may go farther.'
    )
    changed_share: float = threshold(
        0.02, '', 'A holding effort that changed by this part of its limit has the path replanned.'
    )
    check_period: float = threshold(0.05, 's', 'That is looked at so often.')
    retry_time: float = threshold(
        1.0, 's', 'A plan that did not come about is asked for again after this time.'
    )


DESIRED = DesiredThresholds()
"""Those that count."""
