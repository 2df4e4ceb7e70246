"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class DesiredThresholds:
    """How trajectories and position streams are read, and slowed down on their path."""

    # feasibility_checker
    spline_least_segments: int = threshold(
        3,
        '',
        'Of so many segments of a spline or more the last is but its end, and not much of the '
        'motion.',
    )
    spline_reach: int = threshold(
        10,
        '',
        'So many segments of a spline feel where it begins: another velocity there changes the '
        '10th by a part in a million.',
    )

    # path_parameter
    look_ahead: float = threshold(
        0.01,
        's',
        'A profile counts as far ahead as the motion comes in this time, or in a period of the '
        'states where that is longer: between them it is a chord of the profile.',
    )
    profile_excess: float = threshold(
        1.03,
        '',
        'By so much a profile may be exceeded where that spares a motor: what the efforts of '
        'the plan leave allows it.',
    )
    swing_time: float = threshold(
        0.025,
        's',
        'Time in which the acceleration along the path comes from nothing to all that is '
        'wanted: no effort makes a step by it, unless the limits ask for one.',
    )
    scaling_rate: float = threshold(
        5.0,
        '1/s',
        'Most by which another speed is gone over to: from standing to full speed in 0.2 s.',
    )
    stopping_rate: float = threshold(
        50.0,
        '1/s',
        'The same of a stop that nothing else limits.',
    )
    standing_speed: float = threshold(
        1e-3,
        '',
        'Speed below which a motion that is given up stands.',
    )
    negligible_effort: float = threshold(
        1e-9,
        '',
        'Rows that change by less for an acceleration along the path do not limit it.',
    )
    longest_time_step: float = threshold(
        0.1,
        's',
        'A motion speeds up for so long without a state at the most.',
    )

    # position_stream
    points_fitted: int = threshold(
        3,
        '',
        'Points that count beside the last one: more follow noise, fewer lag behind.',
    )
    points_for_acceleration: int = threshold(
        2,
        '',
        'So many points must have been sent before: of fewer no acceleration can be told.',
    )
    longest_gap: float = threshold(
        6.5,
        '',
        'Points that are farther from each other than so many intervals are of two motions.',
    )
    longest_coast: float = threshold(
        0.15,
        's',
        'Without a message the motion goes on behind the last point for no longer than this.',
    )
    gap_growth: float = threshold(
        1.25,
        '',
        'The time between messages seems to grow by no more than this at each: some are lost.',
    )
    regular_share: float = threshold(
        0.25,
        '',
        'A message comes at a regular time when it is off by no more than this part of an '
        'interval.',
    )
    regular_before: int = threshold(
        3,
        '',
        'So many in a row are a pace.',
    )
    most_periods: int = threshold(
        20,
        '',
        'After a longer silence a pace begins anew.',
    )
    arrivals_of_points: int = threshold(
        100,
        '',
        'What the points say of the period counts as so many arrivals.',
    )
    most_arrivals: int = threshold(
        200,
        '',
        'As if so many arrivals made the line: later ones move it no less.',
    )
    longest_interval: float = threshold(
        0.1,
        's',
        'Points of a stream are no farther from each other, unless told otherwise.',
    )
    return_share: float = threshold(
        0.5,
        '',
        'Part of the usual velocities and decelerations that the return takes at its peak.',
    )
    shortest_return: float = threshold(
        0.1,
        's',
        'Of the way back to the last point.',
    )

    # time_scaling
    planned_share: float = threshold(
        0.94,
        '',
        "Part of the effort limits that a plan asks for: the rest is the feedback's.",
    )
    measured_share: float = threshold(
        0.98,
        '',
        'Part of the effort limits beyond which the pace gives way, whatever was planned.',
    )
    excess_share: float = threshold(
        0.05,
        '',
        'Part of an effort limit by which a motor that is beyond it may be taken farther beyond.',
    )
    changed_share: float = threshold(
        0.02,
        '',
        'Part of an effort limit by which holding the arm must take another effort than it was '
        'planned with for the rest of a path to be planned anew.',
    )
    check_period: float = threshold(
        0.05,
        's',
        'That is looked at so often.',
    )
    retry_time: float = threshold(
        1.0,
        's',
        'A plan that did not come about is asked for again after this time.',
    )


DESIRED = DesiredThresholds()
"""Those that count."""


@dataclass(frozen=True)
class PayloadThresholds:
    """How a payload is estimated, and when the estimate is believed."""

    # effort_equations
    friction_share: float = threshold(
        0.005,
        '',
        'Friction that any joint may have beside that of its model, as a share of its effort '
        'limit.',
    )
    scale_error: float = threshold(
        0.03,
        '',
        "What the model's own effort may be off by, as a share of itself.",
    )
    viscous_velocity: float = threshold(
        1.0,
        'rad/s or m/s',
        "At this velocity viscous friction beside the model's may be as large as Coulomb "
        'friction.',
    )
    moving_share: float = threshold(
        0.1,
        '',
        'Of the friction of a moving joint so much is not explained by its direction and '
        'velocity.',
    )
    weight_error: float = threshold(
        0.003,
        '',
        'What the weight beyond a joint may be off by along its lever and across, as a share of '
        'itself: a little, for where it is more that shows, and is given more width.',
    )
    model_share: float = threshold(
        0.01,
        '',
        "Of the model's own effort so much is wrong in no regular way.",
    )

    # equations
    unknown_width: float = threshold(
        100.0,
        'kg, kg m',
        'Standard deviation of mass and first moment beforehand: no limit, but a number for '
        'what is not identifiable.',
    )
    largest_misfit: float = threshold(
        1.5,
        '',
        'Root mean square of what may be left by the fit, in standard deviations.',
    )
    largest_rest: float = threshold(
        0.2,
        '',
        'The same, as a share of what the load explains.',
    )
    passes: int = threshold(
        5,
        '',
        'So many fits follow one another.',
    )
    widening: float = threshold(
        2.0,
        '',
        'The standard deviations of a fit are at least so many times what the one before has '
        'found.',
    )
    largest_scale_error: float = threshold(
        0.1,
        '',
        "What the model's own effort may be off by, as a share of itself, before it is refused.",
    )
    largest_reading: float = threshold(
        1e9,
        'N m or N',
        'Efforts and readings that are larger come from nowhere.',
    )

    # estimate
    mass_deviation: float = threshold(
        0.15,
        'kg',
        'A mass is identified when its standard deviation is below this ...',
    )
    mass_share: float = threshold(
        0.15,
        '',
        '... or below this share of the mass.',
    )
    com_deviation: float = threshold(
        0.03,
        'm',
        'A centre of mass is identified when its standard deviation is below this ...',
    )
    moment_deviation: float = threshold(
        0.03,
        'kg m',
        '... or the first moment is to within this.',
    )
    significant_deviations: float = threshold(
        2.0,
        '',
        'A mass of fewer standard deviations is none.',
    )
    farthest_com: float = threshold(
        1.0,
        'm',
        'A centre of mass that is surely farther from its link is none.',
    )
    along_axis: float = threshold(
        0.95,
        '',
        'A direction with such a component is called by the name of the axis.',
    )

    # motion_windows
    window: float = threshold(
        0.2,
        's',
        'Length of a window.',
    )
    sample_period: float = threshold(
        0.005,
        's',
        'States that come sooner after the last one are passed over: these are enough.',
    )
    largest_gap: float = threshold(
        0.5,
        '',
        'Time without a state from which on a window is given up, as a share of its length.',
    )
    least_states: int = threshold(
        5,
        '',
        'A window of fewer states is not used.',
    )
    slow_velocity: float = threshold(
        0.5,
        'rad/s or m/s',
        'A window in which no joint is faster is slow.',
    )
    slow_acceleration: float = threshold(
        1.0,
        'rad/s^2 or m/s^2',
        'Nor accelerates more: the inertia of a load does not show.',
    )
    longest_window: float = threshold(
        1.0,
        's',
        'A log is too coarse when a window is longer than this.',
    )
    default_span: float = threshold(
        60.0,
        's',
        'How long windows are kept.',
    )

    # sensor_equations
    force_error: float = threshold(
        0.2,
        'N',
        "Error of a sensor's force.",
    )
    moment_error: float = threshold(
        0.02,
        'N m',
        "Error of a sensor's moment.",
    )
    reading_share: float = threshold(
        0.01,
        '',
        'Error of either as a share of the reading.',
    )
    force_bias: float = threshold(
        1.0,
        'N',
        'What the force of a tared sensor may be off by.',
    )
    moment_bias: float = threshold(
        0.1,
        'N m',
        'What its moment may be off by.',
    )
    tool_error: float = threshold(
        0.03,
        '',
        "What the mass of the model's tool may be off by, as a share of itself.",
    )
    difference_time: float = threshold(
        0.05,
        's',
        'Time to either side over which the pose of the sensor is differenced twice.',
    )

    # states
    least_time: float = threshold(
        1.0,
        's',
        'Time of windows that count, at least.',
    )
    standing_velocity: float = threshold(
        0.005,
        'rad/s or m/s',
        'A joint that is nowhere faster in a window stands.',
    )
    correlated_windows: int = threshold(
        5,
        '',
        'So many windows in a row count as one while a joint moves: 1 s.',
    )


PAYLOAD = PayloadThresholds()
"""Those that count."""


@dataclass(frozen=True)
class SensorThresholds:
    """What wrist sensor, IMU and joint states must say to be used."""

    # imu
    largest_angular_velocity: float = threshold(
        100.0,
        'rad/s',
        'No base turns faster.',
    )
    largest_angular_acceleration: float = threshold(
        1e4,
        'rad/s^2',
        'No base has a larger angular acceleration.',
    )
    largest_linear_acceleration: float = threshold(
        500.0,
        'm/s^2',
        'No base has a larger acceleration.',
    )
    quaternion_tolerance: float = threshold(
        0.1,
        '',
        'How far the norm of an orientation may be from 1.',
    )
    gravity_time: float = threshold(
        1.0,
        's',
        'Time constant with which the direction of gravity follows the measured acceleration. '
        'Up to it, a turn is followed by the angular velocity, and an acceleration of the base '
        'does not count.',
    )
    size_time: float = threshold(
        5.0,
        's',
        'Time constant of the mean size of the measured acceleration.',
    )
    size_tolerance: float = threshold(
        0.05,
        '',
        'Share of |g0| by which that mean may be off: it shows a wrong unit, scale or kind of '
        'sensor.',
    )

    # low_pass
    latest_stamp: float = threshold(
        0.1,
        's',
        'A stamp that is older than the newest by up to this was overtaken; by more, its clock '
        'was set back.',
    )

    # state_effort
    effort_largest_share: float = threshold(
        0.2,
        '',
        'What a reading may differ by from the effort of the model, as a share of the effort '
        'limit. Room for a load that the model does not know and for friction. In 2000 random '
        'poses of the shipped arm, 3 kg at the tip were up to 0.16 of a limit and begun at in '
        'all; friction of 0.05 of the limits in all but 27. A tenth of the torques, as for '
        'currents, was begun at in one, off by 0.018. What is wrong and begun at all the same '
        'is off by no more than the share.',
    )
    effort_least_share: float = threshold(
        0.02,
        '',
        'A difference that no one needs to explain, as a share of the effort limit.',
    )
    effort_rounding: float = threshold(
        1e-6,
        'N m or N',
        'Gravity below this is none.',
    )

    # state_rate
    period_share: float = threshold(
        0.02,
        '',
        'How much of the mean period is that of the last state.',
    )
    least_periods: int = threshold(
        10,
        '',
        'Periods of which the mean says something.',
    )

    # wrench
    tare_window: float = threshold(
        0.2,
        's',
        'A tare averages the readings of so many last seconds.',
    )
    tare_readings: int = threshold(
        100,
        '',
        '... but not more than this many.',
    )
    largest_wrench: float = threshold(
        1e6,
        'N, N m',
        'Readings whose six numbers are together larger than this come from no sensor.',
    )


SENSORS = SensorThresholds()
"""Those that count."""


@dataclass(frozen=True)
class CommandThresholds:
    """How commands go over from one to the next, and how a loop is checked."""

    # command_machine
    ramp_period: float = threshold(
        0.002,
        's',
        'Time between the commands of a ramp.',
    )
    longest_ramp: float = threshold(
        0.5,
        's',
        'A ramp to the last command takes no longer than this.',
    )
    lowering_time: float = threshold(
        3.0,
        's',
        'In which the effort against gravity fades where the arm is to be lowered.',
    )

    # damped_arm
    unknown_state_time: float = threshold(
        0.002,
        's',
        'For which a rate limit counts from one damped state to the next whose stamp does not '
        'advance.',
    )

    # disturbance
    commands_remembered: int = threshold(
        1024,
        '',
        'Commands of which it is known when they act.',
    )

    # drive_setpoint
    setpoint_rounding: float = threshold(
        1e-9,
        '',
        'What changes by less is the same, whatever its unit.',
    )

    # hand_guiding
    largest_damping_rate: float = threshold(
        100.0,
        '1/s',
        'Damping and braking beyond this would shake arms at the usual rates of states.',
    )
    largest_friction_share: float = threshold(
        0.9,
        '',
        'No model knows friction to within a tenth: more of it could drive the arm.',
    )

    # observer
    observer_largest_cutoff: float = threshold(
        1000.0,
        'Hz',
        'Largest cutoff frequency of the observer.',
    )
    observer_longest_period: float = threshold(
        0.1,
        's',
        'Of states that are farther apart nothing is learned: the residuals stay.',
    )
    same_period: float = threshold(
        1e-8,
        's',
        'Periods that differ by less are the same: times are counted in nanoseconds.',
    )
    observer_largest_lag: float = threshold(
        0.1,
        's',
        'Largest delay of the commands that the observer is told.',
    )
    observer_bound_share: float = threshold(
        0.3,
        '',
        'Bound of the compensation where none is given, as a share of the effort limit.',
    )

    # slew
    slew_least_frequency: float = threshold(
        12.0,
        'rad/s',
        'However slow the loop, the command must be able to follow something as fast as this: '
        'an arm that is pushed away turns at some rad/s, and gravity and centrifugal efforts '
        'turn with it, once and twice in a turn.',
    )
    push_share: float = threshold(
        0.5,
        '',
        'The push that must be borne, as a share of the effort limit.',
    )
    refused_push_share: float = threshold(
        0.2,
        '',
        'The push after which a loop must not swing for ever, or it is refused; likewise.',
    )
    push_time: float = threshold(
        0.2,
        's',
        'How long the push lasts.',
    )
    swings_watched: float = threshold(
        20.0,
        '',
        'For so many of its own times the pushed joint is watched, in `steps_watched` steps or '
        'in more that last for a period of the states.',
    )
    steps_watched: int = threshold(
        1_500,
        '',
        'So many steps.',
    )
    rest_share: float = threshold(
        0.02,
        '',
        'A joint is at rest at this part of its largest velocity ...',
    )
    calmed_share: float = threshold(
        0.9,
        '',
        '... and gets there when each third of the time leaves this part of the velocity of the '
        'last.',
    )
    smallest_gain_share: float = threshold(
        0.05,
        '',
        'Gains are looked for down to this part of those that were given.',
    )

    # transition
    transition_time: float = threshold(
        0.2,
        's',
        'Default of the parameter. The offset then changes by at most 12 times its size in a '
        "second: the 36 N m that an arm's shoulder carries come with 440 N m/s. Much longer and "
        'an arm that moves when it is found coasts on for long: by half the time, times its '
        'velocity.',
    )
    longest_transition: float = threshold(
        1.0,
        's',
        'Largest value of the parameter.',
    )
    forgotten_times: float = threshold(
        3.0,
        '',
        'An offset is forgotten after this many transition times: 5e-8 of it are left then.',
    )

    # transition
    reach_time: float = threshold(
        0.05,
        's',
        'An arm that is found farther from what was sent than it goes in this time at its usual '
        'speed was moved: its drives did not hold it there, and are not to be sent there.',
    )
    longest_state_gap: float = threshold(
        4.0,
        '',
        'After more than so many periods without a state, or where the time goes back, the '
        'desired position that drives are sent goes on from the one that was sent last.',
    )

    # tuning_check
    slower_period: float = threshold(
        1.5,
        '',
        'Times the period for which the loop was checked, from which on it is checked again.',
    )


COMMAND = CommandThresholds()
"""Those that count."""
