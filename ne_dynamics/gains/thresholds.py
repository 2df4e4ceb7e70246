"""What the choice of gains takes for small, enough or likely, and how long it seeks."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from ne_dynamics.thresholds import threshold

ROUNDING = math.sqrt(sys.float_info.epsilon)
"""Half of the digits of a double: a smaller part of something is none of it."""


@dataclass(frozen=True)
class GainThresholds:
    """What is refused or negligible, and how models, poses and motions are chosen."""

    # request
    largest_uncertainty: float = threshold(
        0.9, '', 'Largest uncertainty of masses: with more a link might have none.'
    )
    periods_of_delay: int = threshold(
        50, '', 'Largest delay in periods: beyond, the rate does not matter.'
    )
    most_poses: int = threshold(2000, '', 'Most poses of a request.')
    lowest_rate: float = threshold(1.0, '1/s', 'Lowest rate of a loop.')
    highest_rate: float = threshold(1e5, '1/s', 'Highest rate of a loop.')
    effort_reserve: float = threshold(
        0.2, '', 'Part of an effort limit left for the error where gravity takes nearly all.'
    )

    # plants
    candidates_per_pose: int = threshold(
        12, '', 'Poses drawn for each that is wanted: not all can be held.'
    )
    holding_reserve: float = threshold(
        0.1, '', 'Part of the effort limit left in a held pose: without it integrals wind up.'
    )
    sliding_range: float = threshold(0.5, 'm', 'Either way of prismatic joints without limits.')
    least_inertia: float = threshold(1e-10, 'kg m^2 or kg', 'Least inertia that a joint moves.')
    balance_steps: int = threshold(
        60, '', 'Steps of the descent that balances the scales of the joints in a mass matrix.'
    )
    worst_condition: float = threshold(
        1e12, '', 'Largest condition number of a mass matrix scaled to a unit diagonal.'
    )

    # motion
    turning_way: float = threshold(0.5, 'rad', 'Way of a revolute joint there and back ...')
    sliding_way: float = threshold(0.1, 'm', '... and of a prismatic one ...')
    range_share: float = threshold(0.3, '', '... and, of either, the largest part of its range.')
    velocity_share: float = threshold(0.5, '', 'Part of the velocity limits that the motion uses.')
    effort_share: float = threshold(0.7, '', 'Part of the effort limits that the motion uses.')
    usual_velocity: float = threshold(
        1.5, 'rad/s or m/s', 'Velocity limit of a joint without one.'
    )
    shortest_way: float = threshold(0.6, 's', 'Shortest time of one way.')
    longest_way: float = threshold(8.0, 's', 'Longest time of one way.')
    slowdown: float = threshold(
        1.15, '', 'Factor by which the motion slows down until the efforts fit.'
    )
    rest_time: float = threshold(0.2, 's', 'Time at rest after the motion.')
    most_samples: int = threshold(60000, '', 'Most periods of a trajectory that is predicted.')

    # prediction
    step_periods: float = threshold(
        12.0, '', 'Length of a step response, by the inverse of the lowest natural frequency.'
    )
    response_steps: int = threshold(
        250, '', 'Values of a response that are computed near its beginning, and after.'
    )
    step_resolution: float = threshold(
        0.1, '', 'Time between them at first, times the highest crossover frequency.'
    )
    random_models: int = threshold(
        6, '', 'Models beside those with all links too heavy, and all too light.'
    )
    motion_segments: int = threshold(24, '', 'Segments of a motion, each with one mass matrix.')

    # findings
    gain_digits: int = threshold(4, '', 'Digits of the gains that are written.')


GAINS = GainThresholds()
"""Those that count."""


@dataclass(frozen=True)
class GainSearchSettings:
    """What is tried in search of gains, and how finely loops are looked at."""

    # search
    damping_ratios: tuple[float, ...] = threshold(
        (0.7, 0.85, 1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 7.0, 10.0),
        '',
        'Tried, of the direction as heavy as the gains take it for.',
    )
    cutoffs: tuple[float, ...] = threshold(
        (10.0, 20.0, 30.0, 50.0, 80.0, 120.0, 200.0, 320.0),
        'Hz',
        "Tried, of the node's velocity filter ...",
    )
    cutoff_by_rate: float = threshold(0.25, '', '... the highest, by the rate.')
    dead_time_shares: tuple[float, ...] = threshold(
        (0.9, 0.6, 0.3, 0.0),
        '',
        'Tried where there are no gains: parts of the dead time free loops bear.',
    )
    fallen_poses: int = threshold(
        4, '', 'Poses in which an arm falls too early, before there are no gains.'
    )
    integral_shares: tuple[float, ...] = threshold(
        (0.15, 0.05, 0.0),
        '',
        "Tried corners of the integral, by the heaviest direction's natural frequency.",
    )

    # scalar
    frequency_bisections: int = threshold(
        14, '', 'Bisections for the highest frequency: it is found to 0.06 %.'
    )
    lowest_frequency: float = threshold(
        1e-4, '', 'Lowest frequency that is tried, by half of the rate.'
    )

    # fit
    lowering_factor: float = threshold(
        0.7, '', 'Factor by which all frequencies are lowered together ...'
    )
    lowering_bisections: int = threshold(4, '', '... and bisections of the last.')
    look_factor: float = threshold(
        0.97, '', 'Factor of the frequencies between two looks at all poses.'
    )
    hard_poses: int = threshold(
        4, '', 'Poses with the least margins, in which other gains are tried first ...'
    )
    few_frequencies: int = threshold(90, '', '... at so many frequencies ...')
    few_slack: float = threshold(0.985, '', '... which may miss a margin by this factor.')
    largest_rise: float = threshold(
        1.5, '', "First factor by which a joint's frequency is raised ..."
    )
    least_rise: float = threshold(1.08, '', '... down to the least.')
    integral_frequency: float = threshold(
        5.0, '', 'Highest frequency at which an integral is sought, by its crossover.'
    )
    standings: int = threshold(
        12, '', 'How often joints are made stiffer until the arm does not fall.'
    )
    nearly_used: float = threshold(
        0.8, '', 'Part of a bound from which it limits a joint, and not the margins.'
    )

    # falling
    mass_rounds: int = threshold(
        3, '', 'How often masses are chosen for the error that grows with them.'
    )
    random_poses: int = threshold(768, '', 'Random poses from which the worst is sought.')
    improved_poses: int = threshold(24, '', 'Poses that are improved ...')
    drawn_around: int = threshold(12, '', '... by so many drawn around each of them ...')
    first_width: float = threshold(
        0.2, '', '... with this standard deviation, by the range of the joints ...'
    )
    last_width: float = threshold(1e-3, '', '... down to this ...')
    improvements: int = threshold(32, '', '... so often.')
    search_miss: float = threshold(
        0.995, '', 'Part of the least factor of falling that a search may miss.'
    )
    real_share: float = threshold(
        1e-6, '', 'Imaginary part, by the magnitude, up to which a number is real.'
    )

    # loop
    free_part: float = threshold(
        1e-9, '', 'Part of the largest w^2 of an arm up to which a mode is free.'
    )
    lowest_turn: float = threshold(
        5e-6, 'rad', 'Lowest frequency that is looked at, times the period.'
    )
    resonance_points: tuple[float, ...] = threshold(
        (0.98, 0.99, 0.995, 1.0, 1.005, 1.01, 1.02),
        '',
        'Frequencies beside those of the elastic modes, which are narrow.',
    )


GAIN_SEARCH = GainSearchSettings()
"""Those that count."""
