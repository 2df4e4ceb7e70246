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
    independent_column: float = threshold(
        1e-7, '', 'Part of a column that others must leave for it to be a parameter.'
    )
    acting_column: float = threshold(
        1e-8, '', 'Part of the largest column from which a parameter acts on the efforts.'
    )
    least_variance: float = threshold(1e-12, '', 'Least variance of a direction, by the diagonal.')
    most_freedom_taken: float = threshold(
        0.75, '', "Part of a sum's degrees of freedom that a fit hides at most."
    )
    reference_prior_scale: float = threshold(
        0.5, '', 'Spread of the given inertias by which a log is judged, whatever the fit uses.'
    )
    acting_direction: float = threshold(
        1e-8, '', 'Part of the largest singular value from which a direction acts.'
    )
    same_number: float = threshold(
        1e-9, '', 'Relative difference up to which a number is that of the file.'
    )
    reloaded_difference: float = threshold(
        1e-7, '', 'Relative difference that the printed digits may leave.'
    )

    # pieces
    samples_at_once: int = threshold(
        4000, '', 'Samples whose rows are computed, or put together, at once.'
    )
    outlier_weight: float = threshold(
        0.5, '', 'Weight below which an effort is called an outlier.'
    )

    # report
    noise_floor_times: float = threshold(
        2.0, '', 'A residual is noise up to so many times the noise floor.'
    )
    well_explained: float = threshold(
        0.1, '', 'Part of the measured effort that may be left of a joint explained well.'
    )
    most_dots: int = threshold(400, '', 'Most samples of a cloud: more hide one another.')
    difference_order: int = threshold(
        3, '', 'Order of the differences that leave an effort without its motion.'
    )
    spectrum_bands: int = threshold(
        60, '', 'Bands of equal ratio over which a spectrum is averaged.'
    )
    curve_points: int = threshold(
        201, '', 'Points of a friction curve; odd, so that rest is one of them.'
    )
    plot_columns: int = threshold(3, '', 'Most columns of a picture.')


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
    slow_share: float = threshold(
        0.5, '', "Part of a log's windows that is slow where the log counts as slow."
    )
    ball_prior_scale: float = threshold(3.0, '', 'Spread of the load about a ball of its mass ...')
    ball_density: float = threshold(2700.0, 'kg/m^3', '... of aluminium ...')
    center_prior_scale: float = threshold(0.3, 'm', '... with its centre so far from the link.')
    mass_deviation_share: float = threshold(
        0.2, '', 'A mass is told when its standard deviation is below this part.'
    )
    com_deviation: float = threshold(
        0.06, 'm', 'A centre of mass is told when its standard deviation is below this ...'
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
    determined_share: float = threshold(
        0.5, '', "A number is the log's when its deviation falls below this part."
    )

    # drive_gains
    load_radius: float = threshold(
        0.3, 'm', 'Believed distance of the load from its link, and radius of its inertia.'
    )
    clear_reading: float = threshold(
        0.5, '', 'Part of a reading that the model must make to tell its gain roughly.'
    )
    prior_scale_passes: int = threshold(
        3, '', 'How often the spread of the arm of one log is found anew.'
    )
    unlike_arm: float = threshold(
        2.0, '', 'So many times farther than believed, the arm of two logs is not its model.'
    )
    gain_deviation: float = threshold(
        0.2, '', "A gain is the logs' when its standard deviation is below this part."
    )

    # problem
    gain_prior_scale: float = threshold(
        3.0, '', 'Width of the logarithm of a gain beforehand: nothing is believed of it.'
    )
    noise_passes: int = threshold(
        4, '', 'Fits, each with the noise of the last; then as many with alike samples counted.'
    )
    iterations: int = threshold(400, '', 'Most steps of Gauss and Newton.')
    first_sigma: float = threshold(
        0.1, '', 'Noise in the first fit, by the reading of a joint ...'
    )
    smallest_sigma: float = threshold(1e-4, '', '... and the least of all fits.')
    converged_decrease: float = threshold(
        1e-8, '', 'Relative decrease of the cost below which a fit is done.'
    )

    # shared_rows
    friction_prior_scale: float = threshold(
        0.3, '', 'What friction may be off by, as part of the effort of its joint.'
    )
    prior_scale_alone: float = threshold(
        0.2, '', "How far the arm's inertias may be off by themselves: of one log ..."
    )
    prior_scale_of_pair: float = threshold(1.0, '', '... and of two.')
    friction_change: float = threshold(
        0.03, '', 'What friction may change by from log to log, alike.'
    )


LOAD = LoadThresholds()
"""Those that count."""


@dataclass(frozen=True)
class RegressionThresholds:
    """What is believed of bodies and friction beforehand."""

    friction_prior_scale: float = threshold(
        0.3, '', 'Effort of a term, by that of its joint, before the prior is felt.'
    )
    unmoved: float = threshold(
        1e-4, '', 'A body that moved by less than this part of itself stays as given.'
    )
    stribeck_velocities: tuple[float, ...] = threshold(
        (0.04, 0.12, 0.8),
        '',
        "Tried, by a joint's largest velocity; by the last, friction falls throughout.",
    )
    hysteresis_angle: float = threshold(
        0.1, 'rad', 'Displacement over which hysteresis turns round, of joints that turn ...'
    )
    hysteresis_distance: float = threshold(0.01, 'm', '... and that slide.')
    narrowest_smoothing: float = threshold(
        0.005,
        '',
        "Width of Coulomb's change of sign, by the largest velocity: less chatters with noise.",
    )
    least_second_moment: float = threshold(
        1e-4, '', 'Least second moment of a given body, by its largest.'
    )
    point_radius: float = threshold(
        0.01, 'm', 'Radius of gyration that a point mass is taken to have.'
    )


REGRESSION = RegressionThresholds()
"""Those that count."""


@dataclass(frozen=True)
class SolverThresholds:
    """How the weights of the divergences fall, and when a fit has converged or is stuck."""

    first_weight: float = threshold(
        4.0, '', "First weight of the divergences, by the square of Newton's decrement there."
    )
    weight_step: float = threshold(0.3, '', 'Factor from one weight to the next, at first ...')
    shortest_weight_step: float = threshold(0.85, '', '... and nearest to 1 ...')
    long_stage: int = threshold(
        8, '', '... after so many steps with one weight: its last step was too long.'
    )
    towards_edge: float = threshold(
        0.7, '', 'Part of the way to impossible bodies that a step may go: nearer is slow.'
    )
    centred_decrement: float = threshold(
        0.5, '', "Newton's decrement, by the root of the weight, from which the weight falls."
    )
    bound_pull: float = threshold(
        1e-9, '', 'Slope that pulls a number from 0, by the largest at a bound.'
    )
    near_steps: int = threshold(
        25, '', "Steps from a similar problem in which Newton's method alone must end."
    )
    stuck_steps: int = threshold(
        150, '', 'Steps without an end from which such a search begins anew.'
    )
    largest_gap: float = threshold(
        1e-6,
        'logarithm of the likelihood',
        'Distance from the minimum of a converged fit: no measurement tells it.',
    )
    iterations: int = threshold(1000, '', 'Most steps of a search.')
    longest_step: float = threshold(1e6, '', 'Longest step of a line search without an edge.')
    line_precision: float = threshold(1e-4, '', 'Part of a step to which a line search finds it.')


SOLVER = SolverThresholds()
"""Those that count."""
