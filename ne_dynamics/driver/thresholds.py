"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class DelayThresholds:
    """How much later efforts follow commands, and motion does."""

    # delay
    longest_at_first: float = threshold(0.1, 's', 'Longest delay that is looked for first.')
    longest: float = threshold(0.5, 's', 'Longest delay that is looked for where none is shorter.')
    following_share: float = threshold(
        0.7,
        '',
        "Part of an effort's fast changes, less gravity, that a command explains to be followed.",
    )
    plain_share: float = threshold(
        0.02,
        '',
        'Part a command leaves of an effort, slow changes included, up to which gravity is not '
        'fitted with it.',
    )
    beside_gravity: float = threshold(
        0.2, '', 'Standard deviation of a factor that was fitted beside gravity, as a part of it.'
    )
    earliest: float = threshold(
        0.1, 's', 'How much earlier than the commands efforts are looked for: clocks may differ.'
    )
    exact_share: float = threshold(
        1e-6,
        '',
        'Part that a command leaves unexplained, below which the effort is the command itself.',
    )
    fewest_states: int = threshold(100, '', 'States of which a delay, or its jitter, can be told.')
    telling_change: float = threshold(
        5.0,
        '',
        "A state tells the jitter where a command changes by this, by its effort's noise a "
        'period.',
    )

    # command
    shift_of_commands: float = threshold(
        0.03,
        's',
        'Commands are compared this much late, so that delays lie in the middle of what is tried.',
    )
    longest_by_motion: float = threshold(0.065, 's', 'Longest delay that is told by the motion.')
    known_deviation: float = threshold(
        1.5e-3, 's', 'Standard deviation up to which a delay is known.'
    )
    likely_deviation: float = threshold(4e-3, 's', 'The same up to which it is likely.')
    early_deviations: float = threshold(
        3.0,
        '',
        'Standard deviations by which a motion has to come before its commands to be said to.',
    )
    contradicting_deviations: float = threshold(
        3.0,
        '',
        'Standard deviations by which a delay by the efforts is another than by the motion.',
    )


DELAY = DelayThresholds()
"""Those that count."""


@dataclass(frozen=True)
class EffortThresholds:
    """When something is said of an effort, and how surely."""

    # effort
    unexplained_share: float = threshold(
        0.6, '', 'Part of an effort that stays unexplained from which on nothing is said of it.'
    )
    explained_share: float = threshold(
        0.1, '', "Part that is left of one joint's effort up to which it is a torque as well."
    )
    gravity_share: float = threshold(
        0.1,
        '',
        'Part of an effort that gravity makes, from which on the joint itself tells whether it '
        'is in.',
    )
    friction_deviations: float = threshold(
        4.0, '', 'Friction is in an effort when it is so many standard deviations ...'
    )
    friction_share: float = threshold(0.02, '', '... and such a part of it.')
    disagreeing_deviations: float = threshold(
        2.0,
        '',
        'Factors of joints disagree when one is off their middle by so many standard deviations.',
    )
    known_scale_deviation: float = threshold(
        0.05,
        '',
        'What is reported for one of what is commanded counts from this relative standard '
        'deviation on ...',
    )
    commanded_factor: float = threshold(1.25, '', '... and is in its unit within this factor.')
    model_prior_scale: float = threshold(
        0.3, '', 'What a scale is off beside, as a part: the masses of the given model.'
    )

    # verdict
    known_gain: float = threshold(
        6.0, '', 'Logarithm of how many times likelier than anything else a value is, to be known.'
    )
    likely_gain: float = threshold(3.0, '', 'The same, to be likely.')

    # order
    known_order_gain: float = threshold(
        25.0,
        '',
        'Gain from which another order of commands is known; friction gave wrong ones 10 and 20 '
        'in simulation.',
    )
    likely_order_gain: float = threshold(12.0, '', 'The same, to be likely.')
    order_misfit: float = threshold(
        0.2, '', 'Part of a command of another joint that the order of the names leaves, at least.'
    )


EFFORTS = EffortThresholds()
"""Those that count."""


@dataclass(frozen=True)
class MeaningThresholds:
    """How the four kinds of efforts are fitted and compared."""

    # meaning
    factor_prior_scale: float = threshold(
        2.5, '', 'Standard deviation of the logarithm of a factor that may be any.'
    )
    factor_known: float = threshold(
        0.1,
        '',
        'The same after the log, about: what an unknown factor costs beforehand follows from '
        'both.',
    )
    current_without_gravity: float = threshold(
        4.0,
        '',
        'Prior cost of another unit where gravity is taken out: its torques are known in N m.',
    )
    unlike_drives: float = threshold(
        0.5,
        '',
        'Standard deviation of the logarithm of a factor about those of the other joints: more '
        'is of a model of another robot.',
    )
    hopeless_cost: float = threshold(
        25.0, '', 'A kind in N m that costs so much more is tried in no other unit.'
    )
    passes: int = threshold(3, '', 'How often signs and factors are gone through.')
    factor_step: float = threshold(
        0.03, '', 'How near to its likeliest value the logarithm of a factor is sought.'
    )
    delay_cutoff: float = threshold(
        10.0, 'Hz', 'A delay is told from efforts up to this frequency.'
    )
    reversal_margin: float = threshold(
        2.0,
        '',
        'A delay is told from what is so many periods or more away from a change of direction.',
    )
    delay_inflation: float = threshold(
        2.0,
        '',
        'Errors of a delay, by the deviation of its likelihood, in simulated sticking arms ...',
    )
    delay_floor: float = threshold(1e-3, 's', '... and beside it.')
    position_trust: float = threshold(
        2.0,
        '',
        'Logarithm of the odds that an effort has the wrong sign, not a displayed position.',
    )


MEANING = MeaningThresholds()
"""Those that count."""


@dataclass(frozen=True)
class StateThresholds:
    """What is said of times, steps and velocities, and what follows for the node."""

    # recording
    fewest_states: int = threshold(2, '', 'States, and commands, of which something can be said.')
    discovery_time: float = threshold(5.0, 's', 'A topic of commands is looked for so long.')
    waiting_messages: int = threshold(1000, '', 'Messages that may wait to be recorded.')

    # timing
    gap_periods: float = threshold(
        2.5, '', 'Times between states from this many usual ones on are gaps.'
    )
    burst_share: float = threshold(
        0.3, '', 'Times between states up to this part of the usual one are bursts.'
    )
    clock_difference: float = threshold(
        1.0, 's', 'Stamps that are off the reception by more are of another clock.'
    )
    drift_time: float = threshold(
        5.0, 's', 'Recordings shorter than this tell no drift of a clock.'
    )

    # steps
    step_rounding: float = threshold(
        1e-11, '', 'Part of the largest value below which a change is that of the arithmetic.'
    )
    fewest_changes: int = threshold(30, '', 'Changes of which a step can be told.')
    multiples: tuple[float, ...] = threshold(
        (20.0, 200.0, 2e3, 2e4, 2e5),
        '',
        'How many steps a change may be, one pass after the other: the step gets sharper.',
    )
    step_off: float = threshold(
        0.1, '', 'Part of a step that changes may be off a multiple of it.'
    )
    most_multiples: float = threshold(0.95, '', 'Part of the changes that have to be multiples.')
    bits_off: float = threshold(0.004, '', 'How far off a power of two a step may be, in bits.')
    decimal_off: float = threshold(
        1e-3, '', 'How far off a power of ten a step may be, as a part of it.'
    )

    # velocity
    longest_difference: int = threshold(
        12, '', 'Samples over which a plain difference is looked for.'
    )
    exact_share: float = threshold(
        1e-3,
        '',
        "Part of what the velocity's own past leaves of it, below which positions leave nothing.",
    )
    own_share: float = threshold(0.3, '', 'The same, above which positions have told nothing.')
    fewest_velocities: int = threshold(
        60, '', 'Velocities of which it is told what they are made of.'
    )
    gain_off: float = threshold(0.15, '', 'Gain that may be off 1, as a part.')
    related: float = threshold(
        0.9,
        '',
        'Correlation of a velocity with the motion of a joint from which it is that of the joint.',
    )
    unrelated: float = threshold(0.5, '', 'The same below which it is not.')
    unit_off: float = threshold(
        0.05, '', 'Factor on a velocity that may be off that of a unit, as a part.'
    )
    lag_deviations: float = threshold(
        3.0, '', 'A lag is one from so many standard deviations on ...'
    )
    shortest_lag: float = threshold(5e-4, 's', '... and so long.')
    same_period_share: float = threshold(
        0.2,
        '',
        'Times between samples may be off the usual by this part of it where differences are '
        'compared.',
    )

    # profile
    timeout_periods: float = threshold(
        10.0, '', 'Time without states that is a fault: so many periods ...'
    )
    timeout_gaps: float = threshold(2.0, '', '... or so many times the longest gap.')
    shortest_timeout: float = threshold(0.02, 's', 'It is no less than this.')
    longest_timeout: float = threshold(1.0, 's', 'It is no more than this.')
    velocity_cutoff: float = threshold(30.0, 'Hz', 'Cut-off of velocities that come of positions.')
    velocity_cutoff_share: float = threshold(0.1, '', 'Its part of the rate at most.')
    longest_node_lag: float = threshold(0.1, 's', 'Longest lag of velocities that the node takes.')
    shortest_node_lag: float = threshold(1e-3, 's', 'A lag below this is not set.')


STATES = StateThresholds()
"""Those that count."""
