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

    # gain_proof
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
    hidden_asymmetry: float = threshold(
        0.15, '', 'By so much of itself Coulomb friction differs with the direction.'
    )
    usual_velocity: float = threshold(
        2.0, 'rad/s or m/s', 'Velocity limit of a joint without one.'
    )
    usual_effort: float = threshold(50.0, 'N m or N', 'Effort limit of a joint without one.')

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


SIMULATION = SimulationThresholds()
"""Those that count."""
