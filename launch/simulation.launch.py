"""Start a simulated robot and the computed-torque node that drives it.

    ros2 launch ne_dynamics simulation.launch.py

The arm stands still under its own weight until a trajectory arrives on `joint_trajectory`. Where
robot_state_publisher is installed, the frames of the arm are published; rviz:=true shows it, where
rviz2 is installed.
"""

from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity, Substitution
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.launching.launch_arguments import (
    check_argument,
    check_efforts_alone,
    check_file,
    check_leader,
    check_log_level,
    read_leader,
)
from ne_dynamics.ros.launching.launch_order import end_without_controller
from ne_dynamics.ros.settings.parameter_file import full_name, read_parameters
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

DEFAULTS = PathJoinSubstitution(
    [FindPackageShare('ne_dynamics'), 'config', 'computed_torque.params.yaml']
)

EXECUTABLES = ('simulated_robot', 'computed_torque')


def shut_down(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
    """Return what ends the rest when the robot or the node has ended by itself."""
    if context.is_shutdown or not event.process_name.startswith(EXECUTABLES):
        return None
    return Shutdown(reason=f'{event.process_name} ended')


def included(file: Substitution, arguments: dict[str, LaunchConfiguration]) -> GroupAction:
    """Return a launch file in a group: its arguments are not to become those of the next one."""
    source = PythonLaunchDescriptionSource(file)
    return GroupAction([IncludeLaunchDescription(source, launch_arguments=arguments.items())])


def check_given(context: LaunchContext) -> None:
    """Refuse arguments and files that cannot be: launch leaves running what it has started."""

    def check(argument: str, table: ParameterTable[Any], parameter: str) -> None:
        text = LaunchConfiguration(argument).perform(context)
        check_argument(argument, text, table.find(parameter))

    check('payload_mass', ROBOT_PARAMETERS, 'payload.mass')
    for argument in ('joints', 'mode', 'state_timeout'):
        check(argument, NODE_PARAMETERS, argument)
    leads = read_leader(LaunchConfiguration('leader').perform(context))
    if leads:
        mode = LaunchConfiguration('mode').perform(context)
        check_leader(mode, f'argument mode:={mode}')
    check_log_level(LaunchConfiguration('log_level').perform(context))
    namespace = LaunchConfiguration('namespace').perform(context)
    for argument, node, table in (
        ('params_file', 'computed_torque', NODE_PARAMETERS),
        ('robot_params_file', 'simulated_robot', ROBOT_PARAMETERS),
    ):
        path = LaunchConfiguration(argument).perform(context)
        values = read_parameters(Path(path), full_name(node, namespace))
        check_file(path, values, table)
        if argument == 'params_file':
            check_efforts_alone(path, values, 'simulated_robot')
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
        path = Path(LaunchConfiguration(argument).perform(context))
        namespace = LaunchConfiguration('namespace').perform(context)
        return list(read_parameters(path, full_name(node, namespace)).get('joints') or [])

    text = LaunchConfiguration('joints').perform(context)
    wanted = yaml.safe_load(text) if text else given_in('params_file', 'computed_torque')
    of_the_robot = given_in('robot_params_file', 'simulated_robot')
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
        executable='simulated_robot',
        name='simulated_robot',
        namespace=LaunchConfiguration('namespace'),
        parameters=[LaunchConfiguration('robot_params_file'), parameters],
        remappings=[(topic, LaunchConfiguration(argument)) for argument, topic in TOPICS.items()],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        output='both',
    )
    return [robot]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, the robot and the node; when one of them ends, the other one does."""
    share = FindPackageShare('ne_dynamics')
    launch_files = PathJoinSubstitution([share, 'launch'])
    model = LaunchConfiguration('model')
    namespace = LaunchConfiguration('namespace')
    node = included(
        PathJoinSubstitution([launch_files, 'computed_torque.launch.py']),
        {
            'model': model,
            'namespace': namespace,
            'tip_link': LaunchConfiguration('tip_link'),
            'sensor_link': LaunchConfiguration('sensor_link'),
            'mode': LaunchConfiguration('mode'),
            'leader': LaunchConfiguration('leader'),
            'state_timeout': LaunchConfiguration('state_timeout'),
            'joints': LaunchConfiguration('joints'),
            'params_file': LaunchConfiguration('params_file'),
            'log_level': LaunchConfiguration('log_level'),
            **{argument: LaunchConfiguration(argument) for argument in TOPICS},
        },
    )
    view = included(
        PathJoinSubstitution([launch_files, 'view.launch.py']),
        {
            'model': model,
            'namespace': namespace,
            'rviz': LaunchConfiguration('rviz'),
            'rviz_config': LaunchConfiguration('rviz_config'),
        },
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'model',
                default_value=PathJoinSubstitution([share, 'config', 'six_axis_arm.urdf']),
                description='URDF or DH file of the robot',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=DEFAULTS,
                description='Parameters of the computed-torque node',
            ),
            DeclareLaunchArgument(
                'robot_params_file',
                default_value=PathJoinSubstitution(
                    [share, 'config', 'simulated_robot.params.yaml']
                ),
                description='Parameters of the simulated robot',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of both nodes'
            ),
            DeclareLaunchArgument(
                'tip_link', default_value='', description='Last link of the arm (URDF)'
            ),
            DeclareLaunchArgument(
                'sensor_link',
                default_value='',
                description="Last link on the arm's side of a wrist sensor, which then is "
                'simulated and used; empty: none',
            ),
            DeclareLaunchArgument(
                'joints',
                default_value='',
                description='Order of the command for both nodes, as in [joint_1, joint_2]; '
                'empty: as the parameter files say',
            ),
            DeclareLaunchArgument(
                'mode',
                default_value='',
                description='Control law; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'leader',
                default_value='false',
                description='Hold the arm weightless, to be led by hand: nothing is followed '
                '(true or false)',
            ),
            DeclareLaunchArgument(
                'payload_mass',
                default_value='0.0',
                description='Load at the tip that the node does not know of [kg]',
            ),
            DeclareLaunchArgument(
                'state_timeout',
                default_value='0.5',
                description='Time without joint states that the node takes for a fault [s]: a '
                'simulation on a busy machine is late at times; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'rviz',
                default_value='false',
                description='Show the arm in rviz2, where that is installed (true or false)',
            ),
            DeclareLaunchArgument(
                'rviz_config',
                default_value=PathJoinSubstitution([share, 'config', 'six_axis_arm.rviz']),
                description='What rviz2 shows',
            ),
            DeclareLaunchArgument(
                'log_level', default_value='info', description='debug, info, warn or error'
            ),
            *(
                DeclareLaunchArgument(
                    argument, default_value=topic, description=f'Topic to use as {topic}'
                )
                for argument, topic in TOPICS.items()
            ),
            OpaqueFunction(function=check_given),
            view,
            OpaqueFunction(function=simulated_robot),
            node,
            RegisterEventHandler(OnProcessExit(on_exit=shut_down)),
            end_without_controller(),
        ]
    )
