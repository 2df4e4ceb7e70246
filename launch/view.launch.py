"""Show an arm: robot_state_publisher for its frames, and rviz2, each where it is installed.

    ros2 launch ne_dynamics view.launch.py model:=/path/to/arm.urdf

The other launch files include this one. What is not installed is left out, with a message.
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackagePrefix, FindPackageShare

from ne_dynamics.model.description_file import looks_like_xml, read_file


def is_installed(package: str, context: LaunchContext) -> bool:
    """Return whether the ROS package of this name is there."""
    try:
        FindPackagePrefix(package).perform(context)
    except LookupError:
        return False
    return True


def left_out(package: str, why: str) -> LogInfo:
    """Return the line that says what is missing."""
    debian = f'ros-$ROS_DISTRO-{package.replace("_", "-")}'
    return LogInfo(msg=f'{package} is not installed (Debian package {debian}): {why}')


def viewers(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes that are wanted and can be had."""

    def wanted(argument: str) -> bool:
        return IfCondition(LaunchConfiguration(argument)).evaluate(context)

    use_sim_time = {'use_sim_time': wanted('use_sim_time')}
    namespace = LaunchConfiguration('namespace')
    entities: list[LaunchDescriptionEntity] = []
    if wanted('state_publisher'):
        description = read_file(Path(LaunchConfiguration('model').perform(context)))
        if not looks_like_xml(description):
            entities.append(LogInfo(msg='the model is no URDF: no frames are published'))
        elif not is_installed('robot_state_publisher', context):
            entities.append(left_out('robot_state_publisher', 'no frames are published'))
        else:
            text = description.decode('utf-8')
            entities.append(
                Node(
                    package='robot_state_publisher',
                    executable='robot_state_publisher',
                    namespace=namespace,
                    parameters=[
                        {'robot_description': ParameterValue(text, value_type=str)},
                        use_sim_time,
                    ],
                    output='both',
                )
            )
    if wanted('rviz'):
        if not is_installed('rviz2', context):
            entities.append(left_out('rviz2', 'rviz:=true shows nothing'))
        else:
            entities.append(
                Node(
                    package='rviz2',
                    executable='rviz2',
                    namespace=namespace,
                    arguments=['-d', LaunchConfiguration('rviz_config')],
                    parameters=[use_sim_time],
                    remappings=[('wrench', LaunchConfiguration('wrench'))],
                    output='both',
                )
            )
    return entities


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the nodes."""
    config = PathJoinSubstitution([FindPackageShare('ne_dynamics'), 'config'])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'model',
                default_value=PathJoinSubstitution([config, 'six_axis_arm.urdf']),
                description='URDF of the robot',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of the nodes'
            ),
            DeclareLaunchArgument(
                'state_publisher',
                default_value='true',
                description='Start robot_state_publisher (true or false)',
            ),
            DeclareLaunchArgument(
                'rviz', default_value='true', description='Start rviz2 (true or false)'
            ),
            DeclareLaunchArgument(
                'rviz_config',
                default_value=PathJoinSubstitution([config, 'six_axis_arm.rviz']),
                description='What rviz2 shows',
            ),
            DeclareLaunchArgument(
                'wrench', default_value='wrench', description='Topic to show as wrench'
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false',
                description='Take the time from /clock (true or false)',
            ),
            OpaqueFunction(function=viewers),
        ]
    )
