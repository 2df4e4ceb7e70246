"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class MotionThresholds:
    """How motions are read, checked, stopped and annotated."""

    # braking
    longest_brake: float = threshold(0.25, 's', 'A stop without states takes no longer than this.')
    brake_slowing: float = threshold(
        0.25, '', 'A stop that `effort_rate_limit` is too slow for: this part of the deceleration.'
    )
    longest_silence: float = threshold(
        0.5, 's', 'States that stopped longer ago than this are no beginning of a stop.'
    )
    observed_time: float = threshold(
        0.05, 's', 'The last states within this time say what the model does not know.'
    )
    observed_states: int = threshold(64, '', '... but not more than this many.')
    fewest_states: int = threshold(3, '', 'Of fewer nothing is learned.')
    largest_speed: float = threshold(
        3.0, '', 'A prediction beyond this many times the usual speed of a joint is none.'
    )

    # effort_check
    effort_resolution: float = threshold(
        0.01,
        '',
        'Part of an effort limit, or of an effort beyond, that may be missed between samples.',
    )
    most_refined: int = threshold(1_000, '', 'Samples between the first ones, of all segments ...')
    most_of_each: int = threshold(
        64, '', '... and of each on top; what needs more counts as beyond.'
    )
    largest_turn: float = threshold(
        0.1,
        'rad or m',
        'Largest change of all joints together from sample to sample, where that allows.',
    )
    slow_share: float = threshold(0.01, '', 'Slowest motion, by the usual velocities.')

    # joint_limits
    first_step_time: float = threshold(
        0.02,
        's',
        'Farthest first point at time zero: what a joint goes in this at its velocity limit.',
    )

    # limit_violation
    most_violations_named: int = threshold(3, '', 'Violations that a message names.')

    # motion
    most_waiting_motions: int = threshold(
        100, '', 'Motions that wait for their time; each costs a little every state.'
    )

    # position_spline
    first_point_share: float = threshold(
        0.5, '', 'A moving arm skips a first point nearer than this share of the next interval.'
    )

    # stopping
    stop_effort_share: float = threshold(
        0.8, '', 'Part of the effort limits of a stop: feedback has the rest.'
    )
    shortest_forced_stop: float = threshold(
        0.05, 's', 'A stop before a position limit takes no less time than this.'
    )
    usual_stop_time: float = threshold(
        0.1,
        's',
        'Where nothing else limits it, the peak deceleration is the velocity limit in this time.',
    )
    shortest_stop: float = threshold(1e-4, 'rad or m', 'Shorter ones are none: the arm is held.')

    # waypoints
    shortest_segment: float = threshold(1e-6, 's', 'Two waypoints are at least this far apart.')
    longest_motion: float = threshold(
        1e10, 's', 'Farthest waypoint from the start: longer than any message can say.'
    )
    largest_position: float = threshold(
        1e9,
        'rad or m',
        'Farthest waypoint: efforts of the gains stay finite, and an arm asked for it shows a '
        'fault.',
    )
    position_tolerance: float = threshold(
        1e-6, 'rad or m', 'Waypoints may lie this far outside the position limits: planners round.'
    )

    # annotation
    ramp_time: float = threshold(
        1e-4, 's', 'Duration of an effort ramp in place of a step; less in short segments.'
    )
    annotation_largest_turn: float = threshold(
        0.5, 'rad or m', 'Largest change of all joints together over such an interval.'
    )
    step_share: float = threshold(
        0.05, '', 'A jump of the effort by this part of its tolerance is ramped.'
    )


MOTION = MotionThresholds()
"""Those that count."""


@dataclass(frozen=True)
class TimeScalingThresholds:
    """How a path is sampled, and traversed in the shortest time."""

    # path
    largest_way: float = threshold(
        0.05, 'rad or m', 'Change of all joints together over an interval, where that allows.'
    )
    parts_in_all: int = threshold(150, '', 'Of a path that is short, at least.')
    largest_turn: float = threshold(0.1, 'rad', 'By which a path turns between two points.')
    inside_share: float = threshold(
        0.25, '', 'Where a resting path has a direction, by its part from the end.'
    )

    # path_bounds
    spare_effort: float = threshold(
        0.01, '', 'Part of a limit left to move with where holding takes nearly all.'
    )
    nearly_standing_speed: float = threshold(
        0.05, '', 'Speed at which an effort counts as that of a motion that nearly stands.'
    )

    # path_deviation

    # retiming
    retiming_effort_share: float = threshold(
        0.95, '', 'Part of the effort limits of a motion by default: feedback has the rest.'
    )
    path_tolerance: float = threshold(
        1e-4, 'rad or m', 'As far may the motion between the points be from the path.'
    )
    limit_tolerance: float = threshold(
        0.008, '', 'Part of a limit by which samples may exceed it; between them 0.01.'
    )
    acceleration_step_share: float = threshold(
        0.05, '', "A step of the acceleration changes by this part of a joint's largest."
    )

    # time_optimal
    slowest_speed: float = threshold(
        0.01,
        '',
        'Least path speed without a stop, to pass corners; or this part of limits below the '
        'sent speed.',
    )
    corner_velocity_change: float = threshold(
        1e-3,
        'rad/s or m/s',
        'Change of a velocity from segment to segment, and its share, of a corner.',
    )


TIME_SCALING = TimeScalingThresholds()
"""Those that count."""
