"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class EvidenceThresholds:
    """How efforts are explained by arms near the given one."""

    # effort_fit
    turns_round: tuple[float, ...] = threshold(
        (0.03, 0.3, 3.0),
        '',
        'Displacements over which friction turns round, as parts of that of the model of '
        'friction.',
    )
    inertia_prior_scale: float = threshold(
        0.5, '', 'How far the given inertias may be off, as a part of themselves.'
    )
    joint_prior_scales: tuple[float, ...] = threshold(
        (0.3, 0.3, 0.3, 0.1),
        '',
        'Viscous and Coulomb friction, rotor inertia and constant, as parts of an effort.',
    )
    path_prior_scale: float = threshold(
        0.3,
        '',
        'The same of friction of the path, for each displacement, where it is among the '
        'explanations.',
    )
    load_prior_scale: float = threshold(
        0.1, '', "Mass of an unknown load at an end of the arm, as a part of the arm's."
    )
    load_lever: float = threshold(0.1, 'm', 'Distance of its centre of mass from the end.')
    carried_prior_scale: float = threshold(
        0.5, '', "Mass of a load that is said to be there, as a part of the arm's."
    )
    carried_lever: float = threshold(
        0.2, 'm', 'Distance of its centre of mass from the end; that of its inertia too.'
    )
    first_sigma: float = threshold(
        0.1, '', 'Residual that is expected at first, as a part of an effort.'
    )
    smallest_sigma: float = threshold(
        0.01, '', 'The least of all: below it no model of a real arm is better than another.'
    )
    gravity_left: float = threshold(
        0.5,
        '',
        "Error of a driver's gravity, as a part of `inertia_prior_scale` and of an unknown load.",
    )
    passes: int = threshold(4, '', 'Solutions, each with the residuals of the one before.')
    sign_passes: int = threshold(3, '', 'Solutions, each with the signs of the one before.')

    # evidence
    samples: int = threshold(600, '', 'Filtered samples that are looked at, at most: about.')
    cutoff_factor: float = threshold(
        4.0, '', 'Cut-off frequency: this many times the highest frequency of the motion ...'
    )
    cutoff_range: tuple[float, ...] = threshold((2.0, 10.0), 'Hz', '... within these.')
    motion_power: float = threshold(
        0.98,
        '',
        'Part of the power of the velocities that is below the highest frequency of the motion.',
    )
    samples_per_cutoff: float = threshold(
        5.0, '', 'Rate of a log at least, in samples a period of the cut-off frequency.'
    )
    velocity_count: float = threshold(
        10.0, '', 'Weight of a velocity that the log holds, in independent values.'
    )
    clear_share: float = threshold(
        0.5, '', "Part of an effort that the model must make to tell the effort's factor."
    )
    expected_share: float = threshold(
        0.1, '', 'What is expected to be left of an effort then, as a part of it.'
    )
    anchor_share: float = threshold(
        0.1,
        '',
        "Model's effort, by that of a load's first moments, from which a joint tells these.",
    )
    moment_prior_scale: float = threshold(
        0.2,
        '',
        'First moment of the load, as a part of its prior scale, while factors are free.',
    )
    any_constant: float = threshold(
        3.0, '', 'Constant, by an effort of which nothing else is believed.'
    )
    turns: int = threshold(12, '', "In which factors and the load's centre of mass are found.")
    negative_share: float = threshold(
        0.02, '', 'Negative effort over the largest positive one, up to which it is noise about 0.'
    )
    smallest_mismatch: float = threshold(
        0.05, '', 'Part of a velocity by which it may differ from the derivative of the position.'
    )

    # effort_factors
    compared_sigma: float = threshold(
        0.1,
        '',
        "What is expected to be left of an effort when it is compared with the given model's.",
    )
    least_expected_share: float = threshold(
        0.01,
        '',
        "Model's effort, by that of an unknown load's first moments, from which a joint votes; "
        'below, quotients are arbitrary.',
    )


EVIDENCE = EvidenceThresholds()
"""Those that count."""
