"""What the choice of an exciting motion takes for enough, near, small or long."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class ExcitationThresholds:
    """What a motion keeps free, what it must tell, and how it is checked."""

    # plan
    least_noise: float = threshold(
        1e-6, '', 'Least such share that may be given: no effort is known better.'
    )
    log_rate: float = threshold(
        100.0, 'Hz', 'Samples with independent noise that the expected deviations count with.'
    )
    shortest_duration: float = threshold(20.0, 's', 'Shortest duration that is chosen.')
    longest_duration: float = threshold(60.0, 's', 'Longest duration that is chosen.')
    sweeps: float = threshold(
        12.0, '', 'Chosen duration, by the time in which the slowest joint crosses its range.'
    )
    highest_frequency: float = threshold(
        0.5, 'Hz', 'Highest frequency of the series that is chosen.'
    )
    points_per_period: int = threshold(
        80, '', 'Points of the trajectory in a period of the highest frequency.'
    )
    most_points: int = threshold(5_000, '', 'As many as the node takes of one trajectory.')
    kept_shares: tuple[float, ...] = threshold(
        (0.01, 0.02, 0.05),
        '',
        'Parts of the limits kept free, one after the other, until the check passes ...',
    )
    kept_distances: tuple[float, ...] = threshold(
        (0.002, 0.01, 0.03), 'm', '... and distances beyond the margins that go with them.'
    )
    shrinking_factors: tuple[float, ...] = threshold(
        (0.98, 0.95, 0.9, 0.8, 0.6),
        '',
        'Factors by which the motion shrinks when none of these passes.',
    )
    window_lead: float = threshold(
        0.1, '', 'Part of the motion in which the window rises, and in which it falls.'
    )

    # text
    most_distances: int = threshold(5, '', 'Distances that are listed.')

    # limits
    acceleration_share: float = threshold(
        0.5,
        '',
        'Part of the effort beyond holding that accelerates a joint without acceleration limit.',
    )
    smallest_limit: float = threshold(
        1e-9,
        'rad/s, rad/s^2, N m, or with m and N',
        'Least limit that may be given: below, motions are rounding.',
    )
    limit_poses: int = threshold(64, '', 'Poses at which the effort of holding is looked at.')

    # columns
    coulomb_width: float = threshold(
        0.02, '', 'Width of the sign of Coulomb friction, by the largest velocity.'
    )
    eigenvalue_power: int = threshold(
        4, '', 'Power of the means that stand for largest and smallest eigenvalue.'
    )

    # clearance
    nearest_share: float = threshold(
        0.8, '', 'Part of its distance at the start that a pair within the margin keeps.'
    )

    # verification
    check_step: float = threshold(0.001, 's', 'Time between checked samples.')
    rest_size: float = threshold(
        1e-6,
        'rad or m, and by s and s^2',
        'Distance, velocity and acceleration up to this are none.',
    )


EXCITATION = ExcitationThresholds()
"""Those that count."""


@dataclass(frozen=True)
class SearchThresholds:
    """How the best motion is sought: samples, weights, iterations."""

    # constraints

    # search
    multiplier_steps: int = threshold(8, '', 'Times that the multipliers are changed ...')
    multiplier_steps_again: int = threshold(3, '', '... and when a motion is improved again.')
    iterations: int = threshold(40, '', 'Iterations of L-BFGS between.')
    random_motions: int = threshold(8, '', 'Random motions of which the best begins the search.')


SEARCH = SearchThresholds()
"""Those that count."""
