"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class StepThresholds:
    """What the steps of a run ask of an arm."""

    # work
    held_parts: tuple[float, ...] = threshold(
        (0.5, 0.75, 1.0),
        '',
        'Parts of the effort limits, with which the arm is held, one after the other.',
    )
    held_for: float = threshold(1.0, 's', 'With each of them.')
    largest_sag: float = threshold(
        0.1, 'rad', 'While it is held; a fifth of it for joints that slide [m].'
    )
    smallest_probe: float = threshold(
        0.02, 'rad', 'Which a joint must have moved in its probe; likewise.'
    )
    astray: float = threshold(
        0.08,
        'rad',
        'Way off in the probe; likewise. Weight unknown to the model moved joints that friction '
        'held by up to 0.03 rad in 30 runs of ten arms.',
    )
    wary_share: float = threshold(
        0.92,
        '',
        "Part of a motion's tolerance in the probe: a joint at rest, 0.4 of it behind for a "
        'second, is told so.',
    )
    judge_reach: float = threshold(
        6.0 / 7.0,
        '',
        "Reach of the judged motion, by the excitation's: not beyond what was fitted.",
    )
    test_reach: float = threshold(5.0 / 7.0, '', 'The same of the test motion.')
    tremble_reach: float = threshold(
        5.0 / 7.0,
        '',
        'Likewise of the sweeps in which joints tremble: fast enough that they do not stick.',
    )
    worst_left_share: float = threshold(
        0.12, '', 'Of an effort limit that an identified model may leave unexplained (RMS).'
    )

    # offline_steps
    usual_delay: float = threshold(0.005, 's', 'Taken for the delay before it is known.')
    delay_cutoff: float = threshold(
        15.0, 'Hz', 'Up to which the delay is told: above both frequencies of the tremble.'
    )
    model_uncertainty: float = threshold(
        0.1, '', 'What an identified model is taken to be off by at most, for the choice of gains.'
    )

    # folder
    free_space: int = threshold(
        100 * 2**20, 'bytes', 'Free space that a run needs: its logs, and some to spare.'
    )

    # self_collision
    link_margin: float = threshold(
        0.01, 'm', 'Distance that links keep from each other; less where they are nearer at first.'
    )
    link_check_period: float = threshold(0.005, 's', 'Between two poses that are looked at.')

    # telling_motion
    harmonics: int = threshold(5, '', 'Of the excitation that is planned.')


STEPS = StepThresholds()
"""Those that count."""


@dataclass(frozen=True)
class PlannedMotionThresholds:
    """How motions are planned from a pose."""

    # motions
    points_per_second: int = threshold(20, '', 'Between which the node lays quintic polynomials.')
    usual_velocity: float = threshold(
        1.0, 'rad/s or m/s', 'Taken for a velocity limit where a joint has none.'
    )
    ramp_time: float = threshold(1.5, 's', 'Time in which a sum of sines swells, and dies away.')
    kept_off_share: float = threshold(
        0.05, '', "Part of a joint's range that motions keep off its ends, at most 0.1 rad or m."
    )
    tremble_ramp: float = threshold(
        0.15, '', 'Part of a sweep in which the tremble swells, and dies away.'
    )
    shortest_sweep: float = threshold(1.8, 's', 'Shortest time of a sweep that trembles.')
    shortest_way: float = threshold(0.7, 's', 'Shortest time of any other way of a probe.')
    smallest_sweep: float = threshold(
        0.2,
        'rad or m',
        'To either side, of a joint that trembles; a fifth of it for those that slide.',
    )
    largest_share: float = threshold(
        0.95,
        '',
        'Part of the effort limits beyond which sweeps become smaller; the node refuses motions '
        'without effort.',
    )
    least_sweep: float = threshold(0.05, 'rad or m', 'How small they become.')
    probe_points: int = threshold(50, '', 'Of a probe, a second.')
    effort_share: float = threshold(
        0.75, '', "Of the effort limits, that a model's efforts may take."
    )
    looks_between_points: int = threshold(
        8,
        '',
        'Efforts between two points of a probe: friction changes sign there where a tremble '
        'turns round.',
    )
    smallest_scale: float = threshold(
        0.1, '', 'Below this part of its reach a motion is given up.'
    )
    close_way: float = threshold(
        1e-3,
        'rad or m',
        'A nearer motion is followed from where the arm is: its first interval takes effort.',
    )


PLANNED = PlannedMotionThresholds()
"""Those that count."""


@dataclass(frozen=True)
class NodeSettingThresholds:
    """What the node is told for the parts of a run."""

    # node_settings
    gentle_stiffness: float = threshold(
        1.5,
        '1/rad',
        'Position gain of gentle motions: effort limits a radian, or a fifth of a metre.',
    )
    gentle_damping_time: float = threshold(0.1, 's', 'Velocity gain over position gain, at least.')
    gentle_tolerance: float = threshold(
        0.6,
        'rad',
        'Position error at which a gentle motion is given up; a fifth of it for slides [m].',
    )
    lenience: float = threshold(
        2.5,
        '',
        "The node's limit of the position error, by that of a run: for sticking joints 0.4 of "
        'it counts a second.',
    )
    sticking_way: float = threshold(
        0.06,
        'rad',
        'By which a joint may stick behind its motion, at least; a fifth of it for slides [m].',
    )
    stuck_share: float = threshold(
        1.0,
        '',
        'Change of the feedback at rest, by static friction: overrun by half, a joint sticks '
        'until as far behind.',
    )
    largest_sticking_way: float = threshold(
        0.15, 'rad', 'By which it may stick behind its motion for that, at most; likewise.'
    )
    states_to_wait: float = threshold(
        20.0,
        '',
        'Periods of the states without which the node leaves the arm, and 0.1 s at least.',
    )


NODE_SETTINGS = NodeSettingThresholds()
"""Those that count."""


@dataclass(frozen=True)
class ArmThresholds:
    """How long is waited for an arm, and what it may do meanwhile."""

    # arm_session
    settling_time: float = threshold(
        0.5, 's', 'From the release of the brakes to the first motion.'
    )

    # followed_plan
    plan_slack: float = threshold(1e-3, 'rad or m', 'By which the node may aim beside the plan.')

    # live_arm
    lead: float = threshold(
        1.0, 's', 'From sending a motion to its begin, by the stamps of the states.'
    )
    rest_time: float = threshold(
        0.5, 's', 'How long is waited, and recorded, behind the end of a motion.'
    )
    silence: float = threshold(
        5.0, 's', 'Without a state for so long, in real time, the arm is taken for silent.'
    )
    silence_in_lockstep: float = threshold(
        30.0, 's', 'The same where an arm waits for its controller, and both for a busy machine.'
    )
    patience: float = threshold(60.0, 's', 'For what has to come about, in real time.')
    look_period: float = threshold(
        0.1,
        's',
        'After which it is seen that states have stopped, or the node has ended, in real time.',
    )
    others_period: float = threshold(
        0.5, 's', 'After which it is seen that somebody else commands the arm, in real time.'
    )
    stop_patience: float = threshold(2.0, 's', 'For each part of stopping a motion, in real time.')
    fault_patience: float = threshold(
        3.0, 's', 'For the diagnostics of a node that damps the arm, in real time.'
    )
    stopping_time: float = threshold(
        0.3, 's', 'For which the node is left alone when it was asked to stop.'
    )

    # one_process
    one_process_rate: float = threshold(
        500.0, 'Hz', 'States a second, as the simulated robot has by default.'
    )
    braked_time: float = threshold(
        0.3, 's', 'For which a new node answers states before the brakes are released.'
    )

    # pace
    states_ahead: int = threshold(
        24,
        '',
        'States a simulated arm may be ahead of what was read: late readers stop nothing, '
        'nothing is lost.',
    )

    # session
    standing_time: float = threshold(
        3600.0,
        's',
        'Real time a simulated arm may stand, before its node takes its stamps for frozen.',
    )
    first_state_time: float = threshold(20.0, 's', 'Longest wait for a first state, in real time.')

    # simulated_arm
    pose_motion_time: float = threshold(
        6.0, 's', 'Duration of the motion that a first pose must leave room for.'
    )

    # signal_masking
    signals_in_a_row: float = threshold(
        1.0,
        's',
        'Signals that come within this time after one that has interrupted are the same wish.',
    )


ARM = ArmThresholds()
"""Those that count."""


@dataclass(frozen=True)
class FitThresholds:
    """How the records of a run are fitted."""

    # fitting
    holdout: float = threshold(
        0.2, '', 'Part of the records that is predicted by a fit to the rest.'
    )

    # static_friction
    rise_parts: tuple[float, ...] = threshold(
        (1.0, 0.7, 0.5),
        '',
        'Of the rise, that are tried one after the other; more than 1/e: see `with_part_of_rise`.',
    )
    lagging_share: float = threshold(
        0.15,
        '',
        'Mean lag of a slow joint, by its RMS error, from which it needs all of the rise: wide '
        'swings average out.',
    )
    helping_share: float = threshold(
        0.95, '', 'Error that the first part may leave, by that with all, to try the second.'
    )
    worthwhile_share: float = threshold(
        0.85,
        '',
        'Error that a part of the rise may leave, by that with all: joints, encoders, ripple '
        'make some per cent.',
    )
    parts_between: int = threshold(
        101, '', 'Parts that are compared by the errors of those that were tried.'
    )
    standing_share: float = threshold(
        1e-3,
        '',
        "Part of a joint's largest velocity at which its motion stands: there is no ahead.",
    )

    # friction
    friction_cutoffs: tuple[float, ...] = threshold(
        (10.0, 14.0, 20.0, 28.0, 40.0),
        'Hz',
        'Cut-off frequencies: the highest that the encoder of a joint allows.',
    )
    samples_a_period: float = threshold(
        6.0, '', 'Of the cut-off frequency, that a log has at least.'
    )
    noise_share: float = threshold(
        0.1,
        '',
        "Of Coulomb friction, that the noise of the encoder may be by the joint's inertia.",
    )
    speed_noise_share: float = threshold(
        0.011, '', "Of the joint's largest velocity, that the noise of the encoder may be."
    )
    most_swinging: float = threshold(
        5.0, '', 'Noise of a swinging joint, at most, by that of its encoder.'
    )
    stribeck_widths: int = threshold(12, '', 'Stribeck velocities that are tried.')
    narrowest_width: float = threshold(
        0.02,
        '',
        'The first of them, by the largest velocity; none is narrower than a standing velocity.',
    )
    widest_width: float = threshold(0.3, '', 'The last of them, likewise.')
    largest_static: float = threshold(
        2.0, '', 'Static friction over Coulomb friction that is believed, at most.'
    )
    friction_standing_share: float = threshold(
        0.01, '', 'Part of its largest velocity below which a joint stands.'
    )
    longest_turn: float = threshold(0.03, 's', 'A joint that stands for longer sticks.')
    filter_reach: float = threshold(
        0.6,
        '',
        'How far the filter carries what was while it stuck, in periods of the cut-off frequency.',
    )
    sign_width: float = threshold(
        0.00125,
        '',
        "Width of the change of sign found, by the joint's largest velocity; at four times "
        'that, feedforward is late where joints turn slowly.',
    )
    fewest_of_friction: int = threshold(
        100, '', 'Samples in motion that tell the friction of a joint, at least.'
    )

    # lost_motion
    lost_motions: tuple[float, ...] = threshold(
        (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.12),
        'rad',
        'Displacements over which friction may turn round; a fifth of them for slides [m].',
    )
    lost_motion_share: float = threshold(
        0.9,
        '',
        'RMS effort that the best of them may leave, by that of friction that turns at once; of '
        'rigid simulated joints it was 1.04 and more.',
    )

    # uneven_friction
    place: float = threshold(0.1, 'rad', 'Width of a place; a fifth of it for slides [m].')
    passing_share: float = threshold(
        0.1, '', 'Part of its largest velocity from which a joint passes a place.'
    )
    fewest_of_place: int = threshold(30, '', 'Samples of each direction that tell of a place.')
    fewest_places: int = threshold(4, '', 'Places by which friction is told to differ.')
    uneven_share: float = threshold(
        0.1,
        '',
        'Standard deviation over places, by the friction, that is said; of simulated joints '
        'with even friction it was at most 0.03.',
    )


FIT = FitThresholds()
"""Those that count."""
