"""The limits of the guards that no parameter of the node sets: thresholds, times and counts."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class GuardLimits:
    """What the guards take for wrong."""

    # StateGuard
    position_slack: float = threshold(
        0.02, 'rad or m', 'A joint may always be this far from where it was: noise, coarse stamps.'
    )
    velocity_slack: float = threshold(
        0.5, '', 'A motion may differ from what the velocities say by this part of it.'
    )
    largest_disorder: float = threshold(
        1.0, 's', 'A stamp older than the last by this or more is a clock that was set back.'
    )
    slowest_clock: float = threshold(
        1e-3,
        '',
        'Stamps that advance by less than this part of the time that messages take are frozen: '
        'stamps computed in floating point may tremble, and no slower simulation is controlled.',
    )
    longest_excuse: float = threshold(
        0.5,
        's',
        "Time between two states that may be the own thread's doing: an arm that was left alone "
        'for longer is held where it is found.',
    )
    repeats: int = threshold(3, '', 'A fault that comes so often within `repeat_window` latches.')
    repeats_of_any_kind: int = threshold(6, '', 'So do so many faults of several kinds within it.')
    states_to_return: int = threshold(
        2, '', 'States in a row that must agree with one another before they count again.'
    )
    states_after_silence: int = threshold(1, '', 'The same after states that stopped, or a gap.')
    states_after_jump: int = threshold(3, '', 'The same after states that jumped.')

    # VelocityCheck
    stretch_shortest: float = threshold(
        0.015, 's', 'A stretch lasts for this at least: a velocity late by less is not wrong.'
    )
    stretch_states: int = threshold(3, '', 'A stretch has so many states at least.')
    stretch_longest: float = threshold(
        0.15, 's', 'A stretch without motion is given up after this.'
    )
    stretch_steps: float = threshold(
        2.0, 'encoder steps', 'A stretch is so long at least: less may be one step.'
    )
    stretch_noises: float = threshold(
        4.0, '', 'A stretch is so many times as long as the noise: less may be noise.'
    )
    stretch_said: float = threshold(
        0.01, 'rad or m', 'A stretch is also a motion when its velocity speaks of this or more.'
    )
    verdicts: int = threshold(
        4, '', 'So many stretches in a row must agree: a spike of the position spoils two.'
    )
    verdicts_opposed: int = threshold(
        3, '', 'So many are enough where the velocity is opposed: that arm runs away.'
    )
    velocity_smallest: float = threshold(
        0.3, '', 'A velocity that says less than this part of the motion is wrong.'
    )
    velocity_largest: float = threshold(
        3.0, '', 'A velocity that says more than so many times the motion is wrong.'
    )
    standing_share: float = threshold(
        0.01,
        '',
        'A position that moves by less than this part of what the velocity says does not move.',
    )
    velocity_rounding: float = threshold(
        0.02, 'rad/s or m/s', 'Any velocity may be off by this: drivers round slow ones to zero.'
    )
    finest_step: float = threshold(1e-6, 'rad or m', 'No encoder has finer steps.')
    noise_states: int = threshold(50, '', 'Noise is a running mean over so many states.')
    noise_unknown: int = threshold(
        10, '', 'The first states are not judged: their noise is not known.'
    )

    # FollowingGuard
    lasting_share: float = threshold(
        0.4, '', 'Part of the limit of the position error that counts when it lasts.'
    )
    lasting_time: float = threshold(
        1.0, 's', 'A position error beyond that part may last so long.'
    )
    catching_time: float = threshold(
        0.3,
        's',
        'At first the limit of the position error does not count: an arm that is found in motion '
        'overshoots.',
    )
    velocity_time: float = threshold(
        0.25, 's', 'A velocity error beyond its limit may last so long: a push passes.'
    )
    braked_share: float = threshold(
        0.6, '', 'A velocity error that falls to this part of what it was is being braked.'
    )
    swings: int = threshold(
        12,
        '',
        'No motion that is asked for reverses the motors so often, all they have, in a second.',
    )
    frozen_time: float = threshold(
        0.04, 's', 'A position is the same for this at least before it may be frozen.'
    )
    frozen_states: int = threshold(
        10, '', 'A position is the same in so many states before it may be frozen.'
    )
    frozen_longest: float = threshold(
        0.25,
        's',
        'Where so many states take longer, what a joint must have done between them is not known: '
        'no position is frozen.',
    )
    frozen_band: float = threshold(
        0.02, '', 'A position within this part of the limit of a frozen one is the same.'
    )
    frozen_flicker: float = threshold(
        1.5, 'encoder steps', 'So is one within this: the last digit may flicker.'
    )
    frozen_share: float = threshold(
        0.1, '', 'A joint must have moved by this part of that limit, else it may just stick.'
    )
    frozen_steps: float = threshold(
        3.0, 'encoder steps', 'And by this beside it: less is not to be seen.'
    )
    trembling: float = threshold(
        0.25,
        '',
        'A position that turns round in this part of its changes trembles; an arm that pushes at '
        'something creeps on or swings.',
    )
    derived_position_time: float = threshold(
        0.4, 's', 'Derived limit of the position error: the way at the velocity limit in this.'
    )
    derived_frozen_time: float = threshold(
        0.02, 's', 'Derived limit of a frozen position: the way at the velocity limit in this.'
    )
    derived_velocity_share: float = threshold(
        2.0, '', 'Derived limit of the velocity error, by the velocity limit.'
    )
    sticking_share: float = threshold(
        0.02, '', 'Joints that are slower than this part of the velocity limit may stick at once.'
    )

    # StandingJoints
    history_time: float = threshold(0.12, 's', 'States are kept for so long.')
    history_states: int = threshold(24, '', 'And so many of them at least.')
    friction_interval: float = threshold(
        0.1, 's', 'Time between two observations of the friction.'
    )
    friction_unknown: float = threshold(
        0.16, '', 'Friction that is believed of a joint that has not moved, by its effort limit.'
    )
    friction_ratio: float = threshold(
        2.0, '', 'Static friction by that of the model, or by that which was observed in motion.'
    )
    friction_model_error: float = threshold(
        0.1, '', 'Part of the effort that holds the joint which is believed beside the friction.'
    )
    friction_acceleration: float = threshold(
        3.0,
        'rad/s^2 or m/s^2',
        'What the other joints do beside their motion, as an acceleration of this one.',
    )
    friction_variation: float = threshold(
        0.2, '', 'Part of the resistance by which it may grow within a few states of a motion.'
    )
    friction_observations: int = threshold(
        4, '', 'So many observations of the friction are needed.'
    )
    friction_kept: int = threshold(16, '', 'The largest of so many observations counts.')
    steadiness: float = threshold(
        0.8,
        '',
        'A joint that follows its motion by a smaller part of what it did is slowing down.',
    )

    # HuntingGuard
    hunting_interval: float = threshold(0.25, 's', 'Time between two looks at the errors.')
    hunting_stuck_share: float = threshold(
        0.03,
        '',
        'A joint sticks when its error changes by less than this part from one look to the next; '
        'one that swings is not slow enough for that where it turns.',
    )
    hunting_creep: float = threshold(
        5e-5, 'rad or m', 'Or by less than this: joints that stick creep as their bristles bend.'
    )
    hunting_least: float = threshold(
        2e-4, 'rad or m', 'Smaller errors are on no side: encoders come in steps.'
    )
    hunting_away: float = threshold(
        1.0,
        '',
        'A joint whose error changes by more than so many times what it was left at was pushed, '
        'or is pushed no longer: what sticks stays.',
    )

    # EffortSteps
    large_step: float = threshold(
        0.1, '', 'Part of the effort limit by which a command steps to be counted.'
    )
    fewest_turns: int = threshold(
        5, '', 'Steps that turn round before it is said: a push turns them once or twice.'
    )

    # Feasibility of a tuning
    periods_of_delay: float = threshold(
        1.5,
        '',
        'Periods of the states from a position to the effort that answers it: one until the '
        'command counts, and half of the one for which it is held.',
    )
    doubtful_product: float = threshold(
        0.5,
        '',
        'kv times the delay from which on the loop is doubtful. An observer that compensates adds '
        'its rate to kv; where joints are elastic it costs as much again of what is not doubtful.',
    )
    largest_product: float = threshold(
        1.0, '', 'kv times the delay from which on the loop is refused.'
    )
    observer_product: float = threshold(
        0.12,
        '',
        "The observer's rate times the delay from which on elastic joints may swing, whatever kv "
        'is.',
    )
    least_phase_margin: float = threshold(
        5.0, 'degrees', 'A loop with a smaller one is refused, whatever the delay.'
    )
    fastest_growth: float = threshold(
        0.01, '1/s', 'A loop that grows faster is refused: slower growth may be rounding.'
    )
    periods_of_silence: float = threshold(
        2.0, '', 'Where states count as stopped after fewer periods, one that is lost is a fault.'
    )
    fastest_drive: float = threshold(
        160.0,
        'rad/s^2 or m/s^2',
        'No drive is taken to accelerate its own rotor faster at its effort limit: what a model '
        'without rotors leaves out.',
    )
    doubtful_load: float = threshold(
        0.9, '', 'Part of an effort limit that may be needed at rest without a remark.'
    )

    # ContactDetector
    contact_errors: float = threshold(
        1.5, '', 'A residual within so many times the largest that was none is no contact.'
    )
    contact_least: float = threshold(
        0.04, '', 'Least threshold where none is given, by the effort limit.'
    )
    contact_learning: float = threshold(
        0.5, 's', 'At first nothing is a contact: nothing is known of the model yet.'
    )
    contact_probation: float = threshold(
        0.25, 's', 'What is seen counts as an error of the model after this to twice this.'
    )
    contact_release: float = threshold(
        0.5,
        '',
        'A contact is over when all residuals have come back by this part of the way from their '
        'thresholds to the errors that are known.',
    )

    # WeightCheck; shares are of the effort limits
    weight_least: float = threshold(
        0.05, '', 'Nothing is said where the largest share of the weight is less.'
    )
    weight_friction: float = threshold(
        0.05, '', 'Share that friction may make, beside the Coulomb friction of the model.'
    )
    mirrored_part: float = threshold(
        0.5, '', 'Part of the weight that the efforts of a mirrored one have the other way.'
    )
    mirrored_alignment: float = threshold(
        0.7, '', 'Cosine of the angle between such efforts and the opposite of the weight.'
    )
    mirrored_share: float = threshold(
        0.15, '', 'Share by which such an effort is off, at least, where the weight is largest.'
    )
    far_part: float = threshold(0.5, '', 'An effort is far off from this part of the weight on.')
    payload_least: float = threshold(
        0.05, '', 'Nothing is said of a change of the load whose largest share is less.'
    )
    payload_confirmed: float = threshold(
        0.25, '', 'Efforts that show less than this part of such a change contradict it.'
    )
    resting_velocity: float = threshold(
        0.1,
        'rad/s or m/s',
        'A slower joint is at rest. Generous: velocities that are differenced are coarse.',
    )
    weakest_limit: float = threshold(
        0.25,
        '',
        'No effort limit counts as less than this part of the largest: what the weakest joints '
        'of a wrist carry, a load turns round.',
    )
    largest_limit: float = threshold(
        4.0,
        '',
        'Effort limits that are more times the weight in each of some poses count as so many '
        'times it: descriptions have limits that stand for none.',
    )
    limit_poses: int = threshold(64, '', 'So many random poses.')


GUARD_LIMITS = GuardLimits()
"""Those that count."""
