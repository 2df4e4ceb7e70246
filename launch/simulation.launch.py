"""Start a simulated robot and the computed-torque node that drives it.

    ros2 launch ne_dynamics simulation.launch.py

The arm stands still under its own weight until a trajectory arrives on `joint_trajectory`. Where
robot_state_publisher is installed, the frames of the arm are published; rviz:=true shows it, where
rviz2 is installed.
"""

from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.launching.launch_arguments import (
    check_argument,
    check_efforts_alone,
    check_file,
    check_leader,
    check_log_level,
)
from ne_dynamics.ros.launching.launch_files import (
    LEADER,
    LOG_LEVEL,
    MODE,
    NODE,
    RVIZ,
    check_leader_arguments,
    config_file,
    declare,
    end_without_controller,
    full_name,
    include,
    passed_on,
    value_of,
)
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS as NODE_PARAMETERS
from ne_dynamics.settings import ParameterTable
from ne_dynamics.simulation.robot_parameters import PARAMETERS as ROBOT_PARAMETERS

# Launch argument -> topic between the two nodes.
TOPICS = {
    'joint_states': 'joint_states',
    'wrench': 'wrench',
    'imu': 'imu',
    'effort_commands': 'effort_controller/commands',
}

DEFAULTS = config_file('computed_torque.params.yaml')

ARGUMENTS = {
    'model': (config_file('six_axis_arm.urdf'), 'URDF or DH file of the robot'),
    'params_file': (DEFAULTS, 'Parameters of the computed-torque node'),
    'robot_params_file': (
        config_file('simulated_robot.params.yaml'),
        'Parameters of the simulated robot',
    ),
    'namespace': ('', 'Namespace of both nodes'),
    'tip_link': ('', 'Last link of the arm (URDF)'),
    'sensor_link': (
        '',
        "Last link on the arm's side of a wrist sensor, which then is simulated and used; empty: "
        'none',
    ),
    'joints': (
        '',
        'Order of the command for both nodes, as in [joint_1, joint_2]; empty: as the parameter '
        'files say',
    ),
    'mode': MODE,
    'leader': LEADER,
    'payload_mass': ('0.0', 'Load at the tip that the node does not know of [kg]'),
    'state_timeout': (
        '0.5',
        'Time without joint states that the node takes for a fault [s]: a simulation on a busy '
        'machine is late at times; empty: as the parameter file says',
    ),
    'rviz': RVIZ,
    'rviz_config': (config_file('six_axis_arm.rviz'), 'What rviz2 shows'),
    'log_level': LOG_LEVEL,
}

ROBOT = 'simulated_robot'


def shut_down(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
    """Return what ends the rest when the robot or the node has ended by itself."""
    if context.is_shutdown or not event.process_name.startswith((ROBOT, NODE)):
        return None
    return Shutdown(reason=f'{event.process_name} ended')


def check_given(context: LaunchContext) -> None:
    """Refuse arguments and files that cannot be: launch leaves running what it has started."""

    def check(argument: str, table: ParameterTable[Any], parameter: str) -> None:
        check_argument(argument, value_of(context, argument), table.find(parameter))

    check('payload_mass', ROBOT_PARAMETERS, 'payload.mass')
    for argument in ('joints', 'mode', 'state_timeout'):
        check(argument, NODE_PARAMETERS, argument)
    leads = check_leader_arguments(context)
    check_log_level(value_of(context, 'log_level'))
    for argument, node, table in (
        ('params_file', NODE, NODE_PARAMETERS),
        ('robot_params_file', ROBOT, ROBOT_PARAMETERS),
    ):
        path = value_of(context, argument)
        values = read_parameters(Path(path), full_name(context, node))
        check_file(path, values, table)
        if argument == 'params_file':
            check_efforts_alone(path, values, ROBOT)
        if leads and argument == 'params_file' and path != DEFAULTS.perform(context):
            check_leader(values.get('mode', ''), f'{path}: mode')
    order_of_the_command(context)


def order_of_the_command(context: LaunchContext) -> list[str]:
    """Return the joints in the order that the node is told, for the robot to be told the same.

    Raises
    ------
    ParameterError
        When the robot's file has another order.
    """

    def given_in(argument: str, node: str) -> list[str]:
        path = Path(value_of(context, argument))
        return list(read_parameters(path, full_name(context, node)).get('joints') or [])

    text = value_of(context, 'joints')
    wanted = yaml.safe_load(text) if text else given_in('params_file', NODE)
    of_the_robot = given_in('robot_params_file', ROBOT)
    if of_the_robot and wanted and of_the_robot != wanted:
        raise ParameterError(
            f'joints: expected one order of the command for both nodes, got {wanted} for '
            f'computed_torque and {of_the_robot} for simulated_robot'
        )
    return wanted or of_the_robot


def simulated_robot(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the robot, with the node's order of joints and its topics."""
    joints = order_of_the_command(context)
    parameters = {
        'model_file': ParameterValue(LaunchConfiguration('model'), value_type=str),
        'tip_link': ParameterValue(LaunchConfiguration('tip_link'), value_type=str),
        'wrench.sensor_link': ParameterValue(LaunchConfiguration('sensor_link'), value_type=str),
        'payload.mass': ParameterValue(LaunchConfiguration('payload_mass'), value_type=float),
    }
    if joints:
        parameters['joints'] = joints
    robot = Node(
        package='ne_dynamics',
        executable=ROBOT,
        name=ROBOT,
        namespace=LaunchConfiguration('namespace'),
        parameters=[LaunchConfiguration('robot_params_file'), parameters],
        remappings=[(topic, LaunchConfiguration(argument)) for argument, topic in TOPICS.items()],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        output='both',
    )
    return [robot]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, the robot and the node; when one of them ends, the other one does."""
    node = include(
        'computed_torque.launch.py',
        passed_on(
            'model',
            'namespace',
            'tip_link',
            'sensor_link',
            'mode',
            'leader',
            'state_timeout',
            'joints',
            'params_file',
            'log_level',
            *TOPICS,
        ),
    )
    view = include('view.launch.py', passed_on('model', 'namespace', 'rviz', 'rviz_config'))
    topics = {argument: (topic, f'Topic to use as {topic}') for argument, topic in TOPICS.items()}
    return LaunchDescription(
        [
            *declare({**ARGUMENTS, **topics}),
            OpaqueFunction(function=check_given),
            view,
            OpaqueFunction(function=simulated_robot),
            node,
            RegisterEventHandler(OnProcessExit(on_exit=shut_down)),
            end_without_controller(),
        ]
    )
