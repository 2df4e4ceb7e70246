"""The limits of the guards that no parameter of the node sets: thresholds, times and counts."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class GuardLimits:
    """Thresholds of the guards, which no parameter of the node sets."""

    # StateGuard
    position_slack: float = threshold(
        0.02, 'rad or m', 'A joint may always be this far from where it was: noise, coarse stamps.'
    )
    velocity_slack: float = threshold(
        0.5, '', 'Part by which a motion may differ from the velocities.'
    )
    largest_disorder: float = threshold(1.0, 's', 'A stamp older by this: a clock set back.')
    slowest_clock: float = threshold(
        1e-3,
        '',
        'Stamps that advance less, by message times, are frozen; floating-point ones may tremble.',
    )
    longest_excuse: float = threshold(
        0.5,
        's',
        "Gap of states that the node's own work may cause; after longer, the arm is held.",
    )
    repeats: int = threshold(3, '', 'A fault that comes so often within `repeat_window` latches.')
    repeats_of_any_kind: int = threshold(6, '', 'So many faults of several kinds within it latch.')
    states_to_return: int = threshold(2, '', 'States in a row that must agree to count again.')
    states_after_silence: int = threshold(1, '', 'The same after states that stopped, or a gap.')
    states_after_jump: int = threshold(3, '', 'The same after states that jumped.')

    # VelocityCheck
    segment_shortest: float = threshold(
        0.015, 's', 'Shortest segment: a velocity late by less is not wrong.'
    )
    segment_states: int = threshold(3, '', 'Fewest states of a segment.')
    segment_longest: float = threshold(
        0.15, 's', 'A segment without motion is dropped after this.'
    )
    segment_steps: float = threshold(
        2.0, 'encoder steps', 'Shortest segment in encoder steps: less may be one step.'
    )
    segment_noises: float = threshold(4.0, '', 'Shortest segment by the noise: less may be noise.')
    segment_said: float = threshold(
        0.01, 'rad or m', 'A segment is also a motion when its velocity implies this or more.'
    )
    verdicts: int = threshold(
        4, '', 'So many segments in a row must agree: a spike of the position spoils two.'
    )
    verdicts_opposed: int = threshold(
        3, '', 'The same where the velocity is opposed: that arm runs away.'
    )
    velocity_smallest: float = threshold(
        0.3, '', 'A velocity below this part of the motion is wrong.'
    )
    velocity_largest: float = threshold(
        3.0, '', 'A velocity above so many times the motion is wrong.'
    )
    standing_share: float = threshold(
        0.01, '', 'A position moving less than this part of its velocity stands still.'
    )
    velocity_rounding: float = threshold(
        0.02, 'rad/s or m/s', 'Any velocity may be off by this: drivers round slow ones to zero.'
    )
    finest_step: float = threshold(1e-6, 'rad or m', 'No encoder has finer steps.')
    noise_states: int = threshold(50, '', 'Noise is a running mean over so many states.')
    noise_unknown: int = threshold(
        10, '', 'The first states are not checked: their noise is unknown.'
    )

    # FollowingGuard
    lasting_share: float = threshold(
        0.4, '', 'Part of the limit of the position error that counts when it lasts.'
    )
    lasting_time: float = threshold(1.0, 's', 'Longest time of a position error beyond that part.')
    catching_time: float = threshold(
        0.3,
        's',
        'Initial time without a limit of the position error: an arm found in motion overshoots.',
    )
    velocity_time: float = threshold(
        0.25, 's', 'Longest time of a velocity error beyond its limit: a push passes.'
    )
    braked_share: float = threshold(
        0.6, '', 'A velocity error that falls to this part of what it was is decreasing.'
    )
    swings: int = threshold(
        12, '', 'No desired motion reverses saturated motors so often in a second.'
    )
    frozen_time: float = threshold(0.04, 's', 'Shortest time for a frozen position.')
    frozen_states: int = threshold(10, '', 'Fewest states for a frozen position.')
    frozen_longest: float = threshold(
        0.25,
        's',
        'Where so many states take longer, the joint is unknown between: nothing is frozen.',
    )
    frozen_band: float = threshold(
        0.02, '', 'A position within this part of the limit of a frozen one is the same.'
    )
    frozen_flicker: float = threshold(
        1.5, 'encoder steps', 'So is one within this: the last digit may flicker.'
    )
    frozen_share: float = threshold(
        0.1, '', 'A joint must have moved by this part of that limit; otherwise it may stick.'
    )
    frozen_steps: float = threshold(3.0, 'encoder steps', 'And by this: less is not visible.')
    trembling: float = threshold(
        0.25,
        '',
        'A position reversing in this part of its changes trembles; pushing arms creep or swing.',
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
        0.02, '', 'Joints slower than this part of the velocity limit may stick at once.'
    )

    # StandingJoints
    history_time: float = threshold(0.12, 's', 'States are kept for so long.')
    history_states: int = threshold(24, '', 'Fewest states to keep.')
    friction_interval: float = threshold(0.1, 's', 'Time between observations of the friction.')
    friction_unknown: float = threshold(
        0.16, '', 'Believable friction of a joint that has not moved, by its effort limit.'
    )
    friction_ratio: float = threshold(
        2.0, '', 'Static friction by that of the model, or by that observed in motion.'
    )
    friction_model_error: float = threshold(
        0.1, '', 'Part of the holding effort that is believed beside the friction.'
    )
    friction_acceleration: float = threshold(
        3.0,
        'rad/s^2 or m/s^2',
        'Unknown effect of the other joints, as an acceleration of this one.',
    )
    friction_variation: float = threshold(
        0.2, '', 'Part by which the resistance may grow within a few states of a motion.'
    )
    friction_observations: int = threshold(4, '', 'Fewest observations of the friction.')
    friction_kept: int = threshold(16, '', 'The largest of so many observations counts.')
    steadiness: float = threshold(
        0.8, '', 'A joint that follows by a smaller part of its last motion slows down.'
    )

    # HuntingGuard
    hunting_interval: float = threshold(0.25, 's', 'Time between two checks of the errors.')
    hunting_stuck_share: float = threshold(
        0.03,
        '',
        'An error that changes by less between checks sticks; swings are faster, even where '
        'they reverse.',
    )
    hunting_creep: float = threshold(
        5e-5, 'rad or m', 'Or by less than this: sticking joints creep as their bristles bend.'
    )
    hunting_least: float = threshold(
        2e-4, 'rad or m', 'Smaller errors have no side: encoders come in steps.'
    )
    hunting_away: float = threshold(
        1.0, '', 'An error changing by so many times its last value: pushed or released.'
    )

    # EffortSteps
    large_step: float = threshold(
        0.1, '', 'Part of the effort limit from which a step of the command counts.'
    )
    fewest_turns: int = threshold(
        5, '', 'Steps that reverse before it is reported: a push reverses them once or twice.'
    )

    # Feasibility of a tuning
    periods_of_delay: float = threshold(
        1.5, '', 'From position to effort: one period until the command counts, half of one held.'
    )
    doubtful_product: float = threshold(
        0.5,
        '',
        'kv times delay of a doubtful loop; a compensating observer adds its rate, elastically '
        'twice.',
    )
    largest_product: float = threshold(1.0, '', 'kv times the delay from which a loop is refused.')
    observer_product: float = threshold(
        0.12,
        '',
        "The observer's rate times the delay from which elastic joints may swing, whatever kv is.",
    )
    least_phase_margin: float = threshold(
        5.0, 'degrees', 'Smaller phase margins are refused, whatever the delay.'
    )
    fastest_growth: float = threshold(
        0.01, '1/s', 'Loops that grow faster are refused: slower growth may be rounding.'
    )
    periods_of_silence: float = threshold(
        2.0, '', 'If states count as stopped after fewer periods, one lost state is a fault.'
    )
    fastest_drive: float = threshold(
        160.0,
        'rad/s^2 or m/s^2',
        'Largest believable acceleration of a rotor at its effort limit, for models without '
        'rotors.',
    )
    doubtful_load: float = threshold(
        0.9, '', 'Part of an effort limit that may be needed at rest without a remark.'
    )

    # ContactDetector
    contact_errors: float = threshold(
        1.5, '', 'A residual within so many times the largest one without contact is no contact.'
    )
    contact_least: float = threshold(0.04, '', 'Default threshold, by the effort limit.')
    contact_learning: float = threshold(
        0.5, 's', "Initial time without contacts: the model's error is unknown."
    )
    contact_probation: float = threshold(
        0.25, 's', 'A residual counts as an error of the model after this to twice this.'
    )
    contact_release: float = threshold(
        0.5,
        '',
        'A contact ends when residuals return this part of the way from thresholds to known '
        'errors.',
    )

    # WeightCheck; shares are of the effort limits
    weight_least: float = threshold(0.05, '', 'Smaller shares of the weight are not checked.')
    weight_friction: float = threshold(
        0.05, '', 'Possible share of friction, beside the Coulomb friction of the model.'
    )
    mirrored_part: float = threshold(
        0.5,
        '',
        'Part of the weight that efforts of mirrored gravity have in the opposite direction.',
    )
    mirrored_alignment: float = threshold(
        0.7, '', 'Cosine of the angle between such efforts and the opposite of the weight.'
    )
    mirrored_share: float = threshold(
        0.15, '', 'Least share by which such an effort is off where the weight is largest.'
    )
    far_part: float = threshold(0.5, '', 'An effort is far off from this part of the weight on.')
    payload_least: float = threshold(
        0.05, '', 'Smaller changes of the load, by their largest share, are not checked.'
    )
    payload_confirmed: float = threshold(
        0.25, '', 'Efforts that show less than this part of such a change contradict it.'
    )
    resting_velocity: float = threshold(
        0.1, 'rad/s or m/s', 'A slower joint is at rest; differentiated velocities are coarse.'
    )
    weakest_limit: float = threshold(
        0.25,
        '',
        "Least effort limit, by the largest: loads reverse what a wrist's weakest joints carry.",
    )
    largest_limit: float = threshold(
        4.0, '', 'Effort limits beyond so many times the weight count so: some mean none.'
    )
    limit_poses: int = threshold(64, '', 'Number of random poses.')


GUARD_LIMITS = GuardLimits()
"""Those that count."""
