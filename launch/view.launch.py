"""Show an arm: robot_state_publisher for its frames, and rviz2, each where it is installed.

    ros2 launch ne_dynamics view.launch.py model:=/path/to/arm.urdf

The other launch files include this one. What is not installed is left out, with a message.
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node

from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.ros.launching.launch_files import (
    CONFIG,
    debian_name,
    declare,
    is_installed,
    state_publisher,
    value_of,
)

ARGUMENTS = {
    'model': (PathJoinSubstitution([CONFIG, 'six_axis_arm.urdf']), 'URDF of the robot'),
    'namespace': ('', 'Namespace of the nodes'),
    'state_publisher': ('true', 'Start robot_state_publisher (true or false)'),
    'rviz': ('true', 'Start rviz2 (true or false)'),
    'rviz_config': (PathJoinSubstitution([CONFIG, 'six_axis_arm.rviz']), 'What rviz2 shows'),
    'wrench': ('wrench', 'Topic to show as wrench'),
    'use_sim_time': ('false', 'Take the time from /clock (true or false)'),
}


def left_out(package: str, why: str) -> LogInfo:
    """Return the line that says what is missing."""
    debian = debian_name(package)
    return LogInfo(msg=f'{package} is not installed (Debian package {debian}): {why}')


def viewers(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes that are wanted and can be had."""

    def wanted(argument: str) -> bool:
        return IfCondition(LaunchConfiguration(argument)).evaluate(context)

    use_sim_time = wanted('use_sim_time')
    entities: list[LaunchDescriptionEntity] = []
    if wanted('state_publisher'):
        description = read_file(Path(value_of(context, 'model')))
        if not looks_like_xml(description):
            entities.append(LogInfo(msg='the model is no URDF: no frames are published'))
        elif not is_installed(context, 'robot_state_publisher'):
            entities.append(left_out('robot_state_publisher', 'no frames are published'))
        else:
            text = description.decode('utf-8')
            entities.append(state_publisher(text, use_sim_time=use_sim_time))
    if wanted('rviz'):
        if not is_installed(context, 'rviz2'):
            entities.append(left_out('rviz2', 'rviz:=true shows nothing'))
        else:
            entities.append(
                Node(
                    package='rviz2',
                    executable='rviz2',
                    namespace=LaunchConfiguration('namespace'),
                    arguments=['-d', LaunchConfiguration('rviz_config')],
                    parameters=[{'use_sim_time': use_sim_time}],
                    remappings=[('wrench', LaunchConfiguration('wrench'))],
                    output='both',
                )
            )
    return entities


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the nodes."""
    return LaunchDescription([*declare(ARGUMENTS), OpaqueFunction(function=viewers)])
