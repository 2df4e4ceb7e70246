"""Start ros2_control with an arm that takes efforts, in MuJoCo or behind topics, and the node.

    ros2 launch ne_dynamics ros2_control.launch.py hardware:=mujoco
    ros2 launch ne_dynamics ros2_control.launch.py hardware:=topic model:=/path/to/arm.urdf

The URDF is completed with `<ros2_control>`. First comes joint_state_broadcaster, so that the node
has states to answer; the effort controller claims the joints when the node's first command has
been seen. doc/ros2_control.md says more.

Needs controller_manager, joint_state_broadcaster, forward_command_controller,
robot_state_publisher, and mujoco_ros2_control or joint_state_topic_hardware_interface.
"""

import tempfile
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node

from ne_dynamics.errors import ParameterError
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.ros.launching.launch_arguments import (
    USE_SIM_TIME,
    check_argument,
    check_efforts_alone,
    check_file,
    check_log_level,
)
from ne_dynamics.ros.launching.launch_files import (
    CONFIG,
    EFFORT_CONTROLLER,
    JOINT_STATE_BROADCASTER,
    LEADER,
    LOG_LEVEL,
    MODE,
    NODE,
    TIP_LINK,
    after,
    check_leader_arguments,
    check_packages,
    declare,
    effort_joints,
    full_name,
    include,
    joint_list,
    passed_on,
    read_initial_position,
    spawner,
    state_publisher,
    take_over,
    value_of,
    watch_commands,
)
from ne_dynamics.ros.settings.locked_joints import LockedJoints
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS as NODE_PARAMETERS
from ne_dynamics.settings import ParameterSpec
from ne_dynamics.simulation.descriptions.hardware_description import (
    hardware_description,
    mjcf_with_motors,
    mujoco_hardware,
    topic_hardware,
)

MANAGERS = {
    'mujoco': ('mujoco_ros2_control', 'mujoco_ros2_control'),
    'topic': ('controller_manager', 'joint_state_topic_hardware_interface'),
}
"""Value of the argument hardware -> packages of ros2_control_node and of the hardware."""

PACKAGES = (
    'controller_manager',
    'forward_command_controller',
    'joint_state_broadcaster',
    'robot_state_publisher',
)

TEMPORARY = ('spawner',)
"""What ends while the rest goes on."""

HEADLESS = ParameterSpec('headless', 'bool', True, 'Whether MuJoCo has no window.')

ARGUMENTS = {
    'hardware': (
        'mujoco',
        'mujoco: MuJoCo in the controller manager, by mujoco_ros2_control; topic: an arm behind '
        'topics, by joint_state_topic_hardware_interface',
    ),
    'model': (
        PathJoinSubstitution([CONFIG, 'six_axis_arm.urdf']),
        'URDF of the arm; what ros2_control needs is added to it',
    ),
    'controllers_file': (
        PathJoinSubstitution([CONFIG, 'robot_controllers.yaml']),
        'Parameters of the controller manager and its controllers',
    ),
    'params_file': (
        PathJoinSubstitution([CONFIG, 'computed_torque.params.yaml']),
        'Parameters of the node; they win over those of driver_mujoco.yaml. The default does not '
        'count',
    ),
    'namespace': ('', 'Namespace of everything but /clock'),
    'tip_link': TIP_LINK,
    'mode': MODE,
    'leader': LEADER,
    'mjcf': (
        '',
        "mujoco: the arm in MuJoCo's XML, with a motor at each joint; empty: made of the URDF, "
        'without shapes (needs MuJoCo for Python)',
    ),
    'headless': ('true', 'mujoco: no window (true or false)'),
    'initial_position': (
        '',
        'mujoco: where the joints stand at the start [rad or m], in the order of the effort '
        'controller; empty: at zero',
    ),
    'joint_commands_topic': (
        'robot_joint_commands',
        'topic: where the arm listens for efforts, as JointState',
    ),
    'joint_states_topic': ('robot_joint_states', 'topic: where it publishes its states'),
    'use_sim_time': (
        'false',
        'topic: take the time from /clock (true or false); mujoco always does',
    ),
    'log_level': LOG_LEVEL,
}


def checked_joints(file: Path, known: tuple[str, ...]) -> list[str]:
    """Return the joints of the effort controller, which are those of the model, in its order."""
    joints = effort_joints(file)
    if sorted(joints) != sorted(known):
        raise ParameterError(
            f'controllers_file {file}: effort_controller: joints: expected those of the model, '
            f'{list(known)}, got {joints}'
        )
    return joints


def led_joints(model: Path, tip_link: str, given: dict[str, Any]) -> tuple[str, ...]:
    """Return the joints that the node moves, by the argument and the parameters of its file."""
    names = given.get('locked_joints.names') or ()
    positions = given.get('locked_joints.positions') or ()
    locked = LockedJoints(tuple(names), tuple(positions)).by_name()
    base_link = given.get('base_link') or None
    return load_urdf(
        model, base_link, tip_link or given.get('tip_link') or None, locked
    ).joint_names


def check_topics(context: LaunchContext, topics: dict[str, str]) -> None:
    """Refuse topics of the arm, by argument, by which somebody would hear himself."""
    taken = {full_name(context, 'joint_states'): f'which {JOINT_STATE_BROADCASTER} publishes'}
    for argument, topic in topics.items():
        name = full_name(context, topic)
        if name in taken:
            raise ParameterError(
                f'argument {argument}:={topic}: expected another topic than that {taken[name]}, '
                'got the same'
            )
        taken[name] = f'of {argument}'


def controlled(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return everything, in its order, or raise what is wrong with the arguments."""

    def value(argument: str) -> str:
        return value_of(context, argument)

    kind = value('hardware')
    if kind not in MANAGERS:
        raise ParameterError(
            f'argument hardware:={kind}: expected one of {", ".join(MANAGERS)}, got {kind!r}'
        )
    check_argument('mode', value('mode'), NODE_PARAMETERS.find('mode'))
    check_argument('headless', value('headless'), HEADLESS)
    check_argument('use_sim_time', value('use_sim_time'), USE_SIM_TIME)
    check_log_level(value('log_level'))
    check_leader_arguments(context)
    params_file = value('params_file')
    given = read_parameters(Path(params_file), full_name(context, NODE))
    check_file(params_file, given, NODE_PARAMETERS)
    check_efforts_alone(params_file, given, EFFORT_CONTROLLER)
    check_packages(context, sorted({*PACKAGES, *MANAGERS[kind]}), 'ros2_control.launch.py')

    model = Path(value('model'))
    robot = load_urdf(model)
    controllers_file = Path(value('controllers_file')).resolve()
    joints = checked_joints(controllers_file, led_joints(model, value('tip_link'), given))
    if kind == 'mujoco':
        mjcf = value('mjcf')
        if not mjcf:
            folder = Path(tempfile.mkdtemp(prefix='ne_dynamics_mujoco_'))
            mjcf = str(folder / f'{model.stem}.xml')
            Path(mjcf).write_text(mjcf_with_motors(robot), encoding='utf-8')
        elif not Path(mjcf).is_file():
            raise ParameterError(f'argument mjcf:={mjcf}: expected a file, there is none')
        hardware = mujoco_hardware(mjcf, headless=bool(yaml.safe_load(value('headless'))))
    else:
        topics = {name: value(name) for name in ('joint_commands_topic', 'joint_states_topic')}
        check_topics(context, topics)
        hardware = topic_hardware(*topics.values())
    position = read_initial_position(value('initial_position'), joints)
    description = hardware_description(model, hardware, initial_position=position)

    simulates = kind == 'mujoco' or bool(yaml.safe_load(value('use_sim_time')))
    manager = Node(
        package=MANAGERS[kind][0],
        executable='ros2_control_node',
        namespace=LaunchConfiguration('namespace'),
        parameters=[str(controllers_file), {'use_sim_time': simulates}],
        output='both',
    )
    node = include(
        'computed_torque.launch.py',
        {
            **passed_on('namespace', 'params_file', 'tip_link', 'mode', 'leader', 'log_level'),
            'model': '',  # robot_description, as robot_state_publisher has it
            'driver': 'mujoco',
            'joints': joint_list(joints),
            'use_sim_time': 'true' if simulates else 'false',
        },
    )
    spawn_broadcaster = spawner([JOINT_STATE_BROADCASTER], controllers_file)
    return [
        state_publisher(description, use_sim_time=simulates),
        manager,
        node,
        OpaqueFunction(function=watch_commands),
        spawn_broadcaster,
        after(spawn_broadcaster, 'start the broadcaster', list),
        *take_over(spawner([EFFORT_CONTROLLER], controllers_file), TEMPORARY),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([*declare(ARGUMENTS), OpaqueFunction(function=controlled)])
