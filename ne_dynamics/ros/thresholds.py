"""Thresholds, times and counts that no parameter sets, with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.thresholds import threshold


@dataclass(frozen=True)
class NodeThresholds:
    """Sizes of messages, periods and patience of the ROS nodes."""

    # command_repeater
    fresh_share: float = threshold(
        0.5, '', 'A command younger than this share of the period is not sent again.'
    )
    longest_period: float = threshold(
        3600.0, 's', 'Of a timer that is slower, or not to wake: timers count nanoseconds.'
    )

    # configured_arm
    longest_farewell: float = threshold(
        0.5, 's', 'The last command is given this long to reach its subscribers.'
    )

    # control_clock
    longest_clock_step: float = threshold(1e7, 's', 'Stamps farther apart are of two clocks.')

    # follow_joint_trajectory
    most_goal_points: int = threshold(
        2_000, '', 'Most points of a goal: rclpy converts each in 10 to 45 us, answering no state.'
    )
    feedback_period: float = threshold(
        0.05, 's', 'Time between two messages of feedback, by the clock of the joint states.'
    )

    # joint_trajectory
    far_start: float = threshold(
        10.0, 's', 'A later start is named by a warning: its clock may differ.'
    )

    # node
    others_period: float = threshold(
        0.01,
        's',
        'While joint states or sensors stream, services, actions and events are looked at so '
        'often; each state would cost 10 us more if they always were (measured).',
    )
    diagnostics_period: float = threshold(1.0, 's', 'Time between two messages of diagnostics.')

    # trajectory_planning
    most_trajectory_points: int = threshold(
        5_000, '', 'Points of a trajectory; more are refused before they are read.'
    )
    small_message: int = threshold(2**12, 'bytes', 'A shorter message, or ...')
    few_points: int = threshold(20, '', '... a motion of fewer points, is planned at once.')
    lead: float = threshold(
        0.03,
        's',
        'What the worker plans takes over so much later while moving: planning takes less ...',
    )
    lead_per_byte: float = threshold(1.5e-7, 's/byte', '... and so much more a byte of it.')

    # sensor_topics, present
    rest_velocity: float = threshold(
        0.01, 'rad/s or m/s', 'Velocity below which a joint is at rest.'
    )

    # annotation
    most_annotated_points: int = threshold(
        20_000, '', 'Most points of a result; with six joints that is a message of 4 MB.'
    )

    # goal_proxy
    goal_watch_period: float = threshold(0.02, 's', 'Between two looks at a running goal or hold.')
    answer_time: float = threshold(
        2.0, 's', "For which the controller's answer to a question is waited for."
    )
    longest_stop: float = threshold(
        5.0, 's', 'For which the controller may take to end a canceled goal, and to hold the arm.'
    )
    server_period: float = threshold(
        1.0, 's', 'How often it is looked whether the controller is the one that has the goals.'
    )

    # present
    present_age: float = threshold(
        0.5, 's', 'What was heard longer ago than this is not the present.'
    )

    # conversion
    remembered_names: int = threshold(
        8, '', 'Orders of names that a :class:`JointStateReader` remembers (one a publisher).'
    )

    # serialized_trajectory
    most_bytes: int = threshold(2**26, '', 'What is longer is not read.')

    # patient_server
    result_timeout: int = threshold(
        10, 's', 'The result of a goal is kept for so long for those who ask later.'
    )

    # worker_process
    worker_longest_work: float = threshold(
        60.0, 's', 'What takes longer, or to start, is given up, and the process with it.'
    )
    worker_models_kept: int = threshold(8, '', 'Dynamics that the process has ready.')

    # configuration
    jump_margin: float = threshold(
        2.0, '', 'A joint that seems faster than this many times its velocity limit has jumped.'
    )

    # parameters
    largest_parameter: float = threshold(
        1e6,
        '',
        'No mass, length or acceleration is as large as this; efforts overflow long after it.',
    )

    # robot_source
    longest_description: int = threshold(
        2**21, '', 'Characters of a description by topic: of large robots they have a tenth of it.'
    )

    # diagnosis, weight_watch
    state_age: float = threshold(
        1.0,
        's',
        'An older joint state says nothing of the arm now; the diagnostics warn, if the watchdog '
        'does not.',
    )

    # other_commanders
    discovery_time: float = threshold(
        1.0, 's', 'Time after which the publishers of a topic are known to whoever is on it.'
    )

    # reporter
    warning_period: float = threshold(
        5.0, 's', 'A reason is repeated in the log after this time at the earliest.'
    )
    longest_line: int = threshold(1000, '', 'Characters of a line in the log.')


NODE = NodeThresholds()
"""Those that count."""
