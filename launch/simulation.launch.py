"""Start a simulated robot and the computed-torque node that drives it.

    ros2 launch ne_dynamics simulation.launch.py

The arm stands still under its own weight until a trajectory arrives on `joint_trajectory`. Where
robot_state_publisher is installed, the frames of the arm are published; rviz:=true shows it, where
rviz2 is installed.
"""

from launch import LaunchContext, LaunchDescription, Substitution
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
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
            'state_timeout': LaunchConfiguration('state_timeout'),
            'params_file': LaunchConfiguration('params_file'),
            'log_level': LaunchConfiguration('log_level'),
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
    robot = Node(
        package='ne_dynamics',
        executable='simulated_robot',
        name='simulated_robot',
        namespace=namespace,
        parameters=[
            LaunchConfiguration('robot_params_file'),
            {
                'model_file': ParameterValue(model, value_type=str),
                'tip_link': ParameterValue(LaunchConfiguration('tip_link'), value_type=str),
                'wrench.sensor_link': ParameterValue(
                    LaunchConfiguration('sensor_link'), value_type=str
                ),
                'payload.mass': ParameterValue(
                    LaunchConfiguration('payload_mass'), value_type=float
                ),
            },
        ],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        output='both',
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
                default_value=PathJoinSubstitution(
                    [share, 'config', 'computed_torque.params.yaml']
                ),
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
                'mode',
                default_value='',
                description='Control law; empty: as the parameter file says',
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
            view,
            robot,
            node,
            RegisterEventHandler(OnProcessExit(on_exit=shut_down)),
        ]
    )
