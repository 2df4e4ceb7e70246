"""What an identification takes for negligible, known or wrong, beside the settings of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class IdentificationThresholds:
    """What is reported of a log and of a model, and what is determined."""

    # findings
    poor_excitation: float = threshold(
        1.0 / 3.0, '', 'Part of the identifiable directions below which a log tells too little.'
    )
    noisy_acceleration: float = threshold(0.3, '', 'Part of the acceleration that may be noise.')
    velocity_error: float = threshold(
        0.1, '', "Part of the velocity by which the log's own may differ."
    )
    worse_residual: float = threshold(
        1.2, '', 'A residual so many times larger is worse: noise makes some of it.'
    )
    negligible_residual: float = threshold(
        0.002, '', 'Part of the measured effort by which it must be larger, too.'
    )
    opposed_correlation: float = threshold(
        -0.5, '', 'Correlation of measured and computed effort from which the sign is wrong.'
    )
    opposed_power: float = threshold(
        0.1, '', 'Part of the alternating power a joint of wrong sign must give: ends differ.'
    )

    # base_estimate, quality
    unknown_prior_scale: float = threshold(
        30.0, '', 'Deviation, by a given number, of what no log tells.'
    )
    reference_prior_scale: float = threshold(
        0.5, '', 'Spread of the given inertias by which a log is judged, whatever the fit uses.'
    )
    same_number: float = threshold(
        1e-9, '', 'Relative difference up to which a number is that of the file.'
    )
    reloaded_difference: float = threshold(
        1e-7, '', 'Relative difference that the printed digits may leave.'
    )

    # regression
    friction_prior_scale: float = threshold(
        0.3, '', 'Effort of a term, by that of its joint, before the prior is felt.'
    )

    # report
    noise_floor_times: float = threshold(
        2.0, '', 'A residual is noise up to so many times the noise floor.'
    )
    well_explained: float = threshold(
        0.1, '', 'Part of the measured effort that may be left of a joint explained well.'
    )


@dataclass(frozen=True)
class PlausibilityThresholds:
    """From where an identified value is remarked on."""

    mass_factor: float = threshold(
        3.0, '', 'Between a given mass and the identified one: one of them is not believed.'
    )
    remarked_mass_factor: float = threshold(
        1.5, '', 'From this factor on, it is remarked on: given masses are often 20 % off.'
    )
    center_margin: float = threshold(
        0.1,
        '',
        "Centre of mass farther outside the collision shapes' box than the given one, by its "
        'diagonal: shapes lack flanges and cables.',
    )
    friction_factor: float = threshold(
        10.0, '', 'Between a given dry friction (Coulomb, hysteresis) and the identified one.'
    )
    friction_share: float = threshold(
        0.5, '', 'Of the effort limit: with more dry friction a joint could hardly be driven.'
    )


IDENTIFICATION = IdentificationThresholds()
"""Those that count."""


PLAUSIBILITY = PlausibilityThresholds()
"""Those that count."""


@dataclass(frozen=True)
class LoadThresholds:
    """What is believed of loads, arms and drive gains beforehand, and when a log tells them."""

    # payload
    mass_deviation_share: float = threshold(
        0.2, '', 'A mass is identified when its standard deviation is below this part.'
    )
    com_deviation: float = threshold(
        0.06, 'm', 'A centre of mass is identified when its standard deviation is below this ...'
    )
    moment_deviation: float = threshold(
        0.06, 'kg m', '... or that of the first moment is below this.'
    )
    arm_prior_scales: tuple[float, ...] = threshold(
        (0.1, 0.2, 0.4),
        '',
        "Tried on one log: how far the arm's inertias may be off, by themselves ...",
    )
    arm_shifts: tuple[float, ...] = threshold(
        (0.0, 0.005, 0.01, 0.02), 'm', '... and its centres of mass beside that.'
    )

    # drive_gains
    gain_deviation: float = threshold(
        0.2, '', "A gain is the logs' when its standard deviation is below this part."
    )


LOAD = LoadThresholds()
"""Those that count."""
