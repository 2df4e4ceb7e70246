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

    # folder
    free_space: int = threshold(
        100 * 2**20, 'bytes', 'Free space that a run needs: its logs, and some to spare.'
    )

    # self_collision
    link_margin: float = threshold(
        0.01, 'm', 'Distance that links keep from each other; less where they are nearer at first.'
    )
    link_check_period: float = threshold(0.005, 's', 'Between two poses that are looked at.')


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
    kept_off_share: float = threshold(
        0.05, '', "Part of a joint's range that motions keep off its ends, at most 0.1 rad or m."
    )
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
    effort_share: float = threshold(
        0.75, '', "Of the effort limits, that a model's efforts may take."
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
    others_period: float = threshold(
        0.5, 's', 'After which it is seen that somebody else commands the arm, in real time.'
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
    largest_static: float = threshold(
        2.0, '', 'Static friction over Coulomb friction that is believed, at most.'
    )
    friction_standing_share: float = threshold(
        0.01, '', 'Part of its largest velocity below which a joint stands.'
    )
    sign_width: float = threshold(
        0.00125,
        '',
        "Width of the change of sign found, by the joint's largest velocity; at four times "
        'that, feedforward is late where joints turn slowly.',
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
    uneven_share: float = threshold(
        0.1,
        '',
        'Standard deviation over places, by the friction, that is said; of simulated joints '
        'with even friction it was at most 0.03.',
    )


FIT = FitThresholds()
"""Those that count."""
