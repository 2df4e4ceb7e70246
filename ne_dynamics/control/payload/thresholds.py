"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class PayloadThresholds:
    """Thresholds of the payload estimation, which no parameter sets."""

    # effort_equations
    friction_share: float = threshold(
        0.005, '', "Friction of a joint beside the model's, by its effort limit."
    )
    scale_error: float = threshold(
        0.03, '', "What the model's own effort may be off by, as a share of itself."
    )
    viscous_velocity: float = threshold(
        1.0,
        'rad/s or m/s',
        "At this velocity viscous friction beside the model's may be as large as Coulomb "
        'friction.',
    )
    moving_share: float = threshold(
        0.1, '', "Part of a moving joint's friction that direction and velocity do not explain."
    )
    weight_error: float = threshold(
        0.003,
        '',
        'Error of the weight beyond a joint, along its lever and across; larger ones get width.',
    )
    model_share: float = threshold(
        0.01, '', "Of the model's own effort so much is wrong in no regular way."
    )

    # equations
    largest_misfit: float = threshold(
        1.5, '', 'Root mean square of what may be left by the fit, in standard deviations.'
    )
    largest_rest: float = threshold(0.2, '', 'The same, as a share of what the load explains.')
    widening: float = threshold(
        2.0, '', 'Standard deviations of a fit, at least, by what the last one found.'
    )
    largest_scale_error: float = threshold(
        0.1, '', "Share by which the model's own effort may be off before it is refused."
    )

    # estimate
    mass_deviation: float = threshold(
        0.15, 'kg', 'A mass is identified when its standard deviation is below this ...'
    )
    mass_share: float = threshold(0.15, '', '... or below this share of the mass.')
    com_deviation: float = threshold(
        0.03, 'm', 'A centre of mass is identified when its standard deviation is below this ...'
    )
    moment_deviation: float = threshold(0.03, 'kg m', '... or the first moment is to within this.')
    significant_deviations: float = threshold(2.0, '', 'A mass of fewer deviations is none.')
    farthest_com: float = threshold(
        1.0, 'm', 'A centre of mass that is surely farther from its link is none.'
    )

    # motion_windows
    window: float = threshold(0.2, 's', 'Length of a window.')
    sample_period: float = threshold(
        0.005, 's', 'States that come sooner after the last one are passed over: these are enough.'
    )
    largest_gap: float = threshold(
        0.5, '', 'A gap without states of this share of its length ends a window.'
    )
    least_states: int = threshold(5, '', 'A window of fewer states is not used.')
    slow_velocity: float = threshold(0.5, 'rad/s or m/s', 'No joint of a slow window is faster.')
    slow_acceleration: float = threshold(
        1.0, 'rad/s^2 or m/s^2', 'Nor accelerates more: the inertia of a load does not show.'
    )
    longest_window: float = threshold(1.0, 's', 'With longer windows a log is too coarse.')

    # sensor_equations
    force_error: float = threshold(0.2, 'N', "Error of a sensor's force.")
    moment_error: float = threshold(0.02, 'N m', "Error of a sensor's moment.")
    reading_share: float = threshold(0.01, '', 'Error of either as a share of the reading.')
    force_bias: float = threshold(1.0, 'N', 'What the force of a tared sensor may be off by.')
    moment_bias: float = threshold(0.1, 'N m', 'What its moment may be off by.')
    tool_error: float = threshold(0.03, '', "Error of the mass of the model's tool, as a share.")

    # states
    least_time: float = threshold(1.0, 's', 'Time of windows that count, at least.')
    standing_velocity: float = threshold(
        0.005, 'rad/s or m/s', 'A joint that is nowhere faster in a window stands.'
    )
    correlated_windows: int = threshold(
        5, '', 'So many windows in a row count as one while a joint moves: 1 s.'
    )


PAYLOAD = PayloadThresholds()
"""Those that count."""
