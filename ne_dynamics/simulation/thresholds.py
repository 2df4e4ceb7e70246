"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class SimulationThresholds:
    """Periods, patience and sizes of the simulated arms."""

    # elastic_arm
    spring_step: float = threshold(0.00025, 's', "The springs' effort is held for so long.")

    # friction_levels
    turning_velocity: float = threshold(
        1e-3,
        'rad/s or m/s',
        'Width of the change of friction with direction, for models without one.',
    )

    # gain_plots
    largest_margin_drawn: float = threshold(
        20.0, '', 'Gain margins beyond this stand at the edge of the picture.'
    )

    # gain_proof
    trial_steps_a_period: int = threshold(
        4, '', 'Steps of the physics in a period; the dead time is rounded up to one.'
    )
    shortest_trial: float = threshold(0.6, 's', 'A trial lasts for so long at least.')
    longest_trial: float = threshold(5.0, 's', 'A trial lasts for so long at most.')
    trial_effort_share: float = threshold(
        0.3, '', 'Of the effort limits that the feedback of the first error takes at the most.'
    )
    trial_largest_offset: float = threshold(0.02, 'rad or m', 'First error of a trial.')
    trial_last_part: float = threshold(0.25, '', 'Of a trial in which it has settled.')
    diverged_times: float = threshold(
        10.0, '', 'An error grows when so many times its first, and the sag.'
    )
    swinging_share: float = threshold(
        0.15, '', 'Most of the first error, and the sag, that is left in the last part.'
    )
    shaking_share: float = threshold(
        0.05, '', 'Part of the effort limit that efforts may alternate by at last ...'
    )
    noisy_steps: float = threshold(6.0, '', '... and times what a step of the encoders moves.')
    trial_least_error: float = threshold(1e-4, 'rad or m', 'Errors below this are none.')

    # hidden_errors
    hidden_ripple: float = threshold(
        0.02, '', 'Ripple of the torques, as a share of the effort limit.'
    )
    hidden_asymmetry: float = threshold(
        0.15, '', 'By so much of itself Coulomb friction differs with the direction.'
    )
    hidden_largest_friction: float = threshold(
        0.3, '', 'Friction as a share of the effort limit, at most.'
    )
    usual_velocity: float = threshold(
        2.0, 'rad/s or m/s', 'Velocity limit of a joint without one.'
    )
    usual_effort: float = threshold(50.0, 'N m or N', 'Effort limit of a joint without one.')

    # mujoco_model
    driven_inertia: float = threshold(
        1e9,
        'kg m^2 or kg',
        'Rotor inertia of base joints: 1 kN m disturbs 1e-6 rad/s^2; the excursion is set each '
        'period.',
    )

    # one_process_loop
    cogging: float = threshold(
        0.04, '', 'Torque ripple without load, by the effort limit and the ripple.'
    )

    # simulated_robot
    republish_period: float = threshold(
        0.1, 's', 'Between two publications of a state that waits for its first answer.'
    )
    standing_period: float = threshold(
        0.5,
        's',
        'Between publications of an answered state at rest: the last answer precedes the '
        "brakes' release.",
    )
    states_at_once: int = threshold(
        10,
        '',
        'States under brakes that follow one grant, or come 0.1 s apart: short queues keep them.',
    )
    silence_before_start: float = threshold(
        0.2, 's', 'Without a command before an arm in lockstep is let go.'
    )
    latest_answer: float = threshold(
        1.0,
        's',
        'Longest wait for the answer to the last state under brakes; later, it answers the next.',
    )
    command_timeout: float = threshold(
        10.0, 's', 'Lockstep arms without a command for this continue with the last one.'
    )
    largest_catch_up: float = threshold(
        0.1, 's', 'A simulation farther behind real time skips that.'
    )
    coasting_pace: float = threshold(
        1.0 / 3.0, '', 'Simulated time to real time while nobody answers in lockstep.'
    )
    answers_to_resume: int = threshold(
        5,
        '',
        'Commands after a drop-out until states count as answered: watchdogs send one, doubting '
        'controllers none.',
    )
    warning_period: float = threshold(
        5.0, 's', 'A warning is repeated after this time at the earliest.'
    )

    # gazebo_description
    sensor_rate: float = threshold(
        500.0, 'Hz', 'Readings of the force-torque sensor, in simulated time.'
    )

    # hardware_description
    mjcf_period: float = threshold(0.001, 's', 'Integration step of the model for MuJoCo.')


SIMULATION = SimulationThresholds()
"""Those that count."""


@dataclass(frozen=True)
class DemoThresholds:
    """What the demo's motions take of the limits, and how long its processes are waited for."""

    # motion
    segments_per_second: int = threshold(4, '1/s', 'Segments of the motion.')
    share_of_range: float = threshold(0.3, '', 'Part of the position range that the motion uses.')
    share_of_velocity: float = threshold(0.6, '', 'Part of the velocity limits that it uses.')
    share_of_effort: float = threshold(0.8, '', 'Part of the effort limits that it uses.')
    stretch_factor: float = threshold(
        1.25, '', 'A motion beyond them is made longer by this factor, again and again.'
    )
    longest_stretch: float = threshold(4.0, '', 'It is made longer by no more than this in all.')

    # path_distance
    positions_at_once: int = threshold(
        256, '', 'Positions whose distances from all points of the path are in memory at once.'
    )
    farthest_step: float = threshold(
        0.05, 's', 'Longest piece of a path that is passed from one position to the next.'
    )

    # position_chunks
    chunk_lead: float = threshold(
        0.02, 's', 'A chunk is sent this long before its stamp: jitter must not matter.'
    )
    chunk_largest_error: float = threshold(
        0.2,
        'rad or m',
        "The node's desired position is no farther from the motion while it follows the chunks.",
    )

    # ros_process
    start_timeout: float = threshold(
        60.0, 's', 'Longest time until something comes about; a first start may compile.'
    )
    stop_timeout: float = threshold(
        10.0, 's', 'Longest time that a process may take to end before it is killed.'
    )

    # scenarios
    gear_friction: float = threshold(
        0.05, '', 'Coulomb friction of geared joints, as a share of their effort limits.'
    )

    # session
    diagnostics_timeout: float = threshold(
        5.0, 's', 'Longest wait for what the node says of a run it gave up.'
    )
    lockstep_state_timeout: float = threshold(
        10.0,
        's',
        "The node's watchdog in lockstep, where time stands still while a busy machine does else.",
    )
    stall_timeout: float = threshold(20.0, 's', 'Longest time without a state from the robot.')
    settling_time: float = threshold(
        0.2, 's', 'Time for what is under way between the processes to arrive.'
    )
    desired_tolerance: float = threshold(
        1e-6, 'rad or m', "The node's desired position may differ this much from the trajectory."
    )

    # weak_motors
    asked_share: float = threshold(
        1.5, '', "Part of the motors' efforts of the motion, followed as sent."
    )
    holding_share: float = threshold(
        0.85, '', "Largest part of the motors' efforts that holds the arm on its way."
    )
    path_step: float = threshold(1e-4, 's', "Distance of the path's points.")

    # demo_plots
    plot_columns: int = threshold(3, '', 'Columns of a picture.')
    smallest_demo_error: float = threshold(1e-3, 'mrad or mm', 'Smaller errors are not drawn.')

    # scenario_plots
    smallest_scenario_error: float = threshold(1e-2, 'mrad or mm', 'Smaller errors are not drawn.')


DEMO = DemoThresholds()
"""Those that count."""
