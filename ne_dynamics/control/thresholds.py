"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class CommandThresholds:
    """How commands go over from one to the next, and how a loop is checked."""

    # command_machine
    ramp_period: float = threshold(0.002, 's', 'Time between the commands of a ramp.')
    longest_ramp: float = threshold(0.5, 's', 'No ramp to the last command takes longer.')
    lowering_time: float = threshold(
        3.0, 's', 'In which the effort against gravity fades where the arm is to be lowered.'
    )

    # observer
    observer_longest_period: float = threshold(
        0.1, 's', 'Of states that are farther apart nothing is learned: the residuals stay.'
    )
    observer_bound_share: float = threshold(
        0.3, '', 'Bound of the compensation where none is given, as a share of the effort limit.'
    )

    # slew
    slew_least_frequency: float = threshold(
        12.0,
        'rad/s',
        'Commands follow at least this: a pushed arm turns at some rad/s, gravity once, '
        'centrifugal efforts twice a turn.',
    )
    push_share: float = threshold(0.5, '', 'The push to be borne, by the effort limit.')
    refused_push_share: float = threshold(
        0.2, '', 'The push after which a loop must not swing for ever, or it is refused; likewise.'
    )
    push_time: float = threshold(0.2, 's', 'How long the push lasts.')

    # transition
    transition_time: float = threshold(
        0.2,
        's',
        'Default. An offset changes by 12 times its size a second: 36 N m by 440 N m/s. Longer, '
        'a moving arm coasts, by half the time at its velocity.',
    )
    forgotten_times: float = threshold(
        3.0,
        '',
        'An offset is forgotten after this many transition times: 5e-8 of it are left then.',
    )

    # transition
    reach_time: float = threshold(
        0.05, 's', 'Drives are not sent to where an arm goes no more in this at its usual speed.'
    )
    longest_state_gap: float = threshold(
        4.0,
        '',
        'After more periods without a state, or time going back, drives continue from the last '
        'command.',
    )

    # tuning_check
    slower_period: float = threshold(
        1.5,
        '',
        'Times the period for which the loop was checked, from which on it is checked again.',
    )


@dataclass(frozen=True)
class DampingThresholds:
    """How an arm is damped after a fault."""

    rate: float = threshold(10.0, '1/s', 'At which velocities decay.')
    largest_rate: float = threshold(40.0, '1/s', 'At which they decay at most.')
    model_error: float = threshold(0.1, '', 'Part of gravity by which the model may be wrong.')
    drift: float = threshold(
        0.15, '', 'Speed that this may cause, by the velocity limit, before the rate is higher.'
    )
    largest_product: float = threshold(
        0.3, '', 'Rate times the time between two states: where these are slow the rate is lower.'
    )
    cutoff_frequency: float = threshold(
        40.0, 'Hz', 'Of the filter that computes velocities from positions: it is late by 8 ms.'
    )
    velocity_time: float = threshold(
        0.02, 's', 'Before a joint was believed no more, over which its velocity is measured.'
    )
    latest_states: int = threshold(
        4,
        '',
        'Over so many of them the velocities at the fault are measured, where they are not those '
        'reported: an arm that shakes turns round within a few.',
    )
    velocity_share: float = threshold(
        0.3, '', 'Part of the motion by which reported velocities may differ to count at first.'
    )
    still_distance: float = threshold(
        1e-3,
        'rad or m',
        'A position that is not believed has been wrong since it last changed by this.',
    )
    together: float = threshold(
        0.5, '', 'Joints still for this part of that time are not believed either ...'
    )
    sudden_stop: float = threshold(
        4.0, '', '... that would have gone on by so many times that distance.'
    )
    longest_prediction: float = threshold(
        0.5,
        's',
        'From the last believed state on, then a joint counts as standing: without friction a '
        'prediction diverges.',
    )
    places: int = threshold(3, '', 'At which a joint may be shown, each a jump from the others.')
    switch_distance: float = threshold(
        2e-3,
        'rad or m',
        'Where a joint of an arm within its velocity limits jumps, others do that are so far from '
        'where they are expected.',
    )
    most_jumps: int = threshold(5, '', 'States in a row in which a joint may jump to a new place.')
    trust_time: float = threshold(
        0.05,
        's',
        'A joint that has jumped more often is believed when its position has gone on evenly for '
        'so long. For as long a jump is known.',
    )
    trust_states: int = threshold(5, '', 'And in so many states.')
    coriolis_speed: float = threshold(
        3.0,
        '',
        'Speed, by the velocity limits, up to which Coriolis efforts count; at twice that not at '
        'all.',
    )
    fade_time: float = threshold(
        0.5,
        's',
        'In which the difference from the last command fades: an arm that pushes at a wall is not '
        'thrown back by it.',
    )
    longest_fade: float = threshold(3.0, 's', 'In which it fades where a joint is slow to let go.')
    rest_speed: float = threshold(
        0.05,
        'rad/s or m/s',
        'Speed above which a joint moves: that difference counts at rest alone, and ends where it '
        'would drive the joint on.',
    )
    balance_time: float = threshold(0.03, 's', 'Time to find what friction or contacts balance.')
    release_speed: float = threshold(
        0.1, '', 'Speed of a joint, by its velocity limit, above which the difference waits.'
    )


COMMAND, DAMPING = CommandThresholds(), DampingThresholds()
"""Those that count."""
