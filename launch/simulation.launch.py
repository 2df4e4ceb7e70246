"""Start a simulated robot and the computed-torque node that drives it.

    ros2 launch ne_dynamics simulation.launch.py

The arm stands still under its own weight until a trajectory arrives on `joint_trajectory`.
"""

from launch import Event, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def shut_down(event: Event, context: LaunchContext) -> Shutdown | None:
    """Return what ends the other process when one has ended by itself."""
    return None if context.is_shutdown else Shutdown(reason='a process ended')


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, the robot and the node; when one of them ends, the other one does."""
    share = FindPackageShare('ne_dynamics')
    model = LaunchConfiguration('model')
    namespace = LaunchConfiguration('namespace')
    node = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([share, 'launch', 'computed_torque.launch.py'])
        ),
        launch_arguments={
            'model': model,
            'namespace': namespace,
            'tip_link': LaunchConfiguration('tip_link'),
            'sensor_link': LaunchConfiguration('sensor_link'),
            'mode': LaunchConfiguration('mode'),
            'params_file': LaunchConfiguration('params_file'),
            'log_level': LaunchConfiguration('log_level'),
        }.items(),
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
                'log_level', default_value='info', description='debug, info, warn or error'
            ),
            robot,
            node,
            RegisterEventHandler(OnProcessExit(on_exit=shut_down)),
        ]
    )
