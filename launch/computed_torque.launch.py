"""Start the computed-torque node.

    ros2 launch ne_dynamics computed_torque.launch.py model:=/path/to/arm.urdf

The node starts from the parameter file; an argument given here wins over it. Without a model, in
either place, the node waits for the topic `robot_description`.
"""

from typing import List  # noqa: UP035

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# Launch argument -> (parameter, type): passed on only when given.
PARAMETERS = {
    'model': ('model_file', str),
    'tip_link': ('tip_link', str),
    'joints': ('joints', List[str]),  # noqa: UP006 - launch_ros does not take list[str]
    'mode': ('mode', str),
    'use_imu': ('imu.enabled', bool),
    'state_timeout': ('state_timeout', float),
    'autostart': ('autostart', bool),
    'use_sim_time': ('use_sim_time', bool),
}

# Launch argument -> topic of the node.
TOPICS = {
    'joint_states': 'joint_states',
    'joint_trajectory': 'joint_trajectory',
    'wrench': 'wrench',
    'imu': 'imu',
    'robot_description': 'robot_description',
    'annotate': '~/annotate',
    'effort_commands': 'effort_controller/commands',
    'annotated': '~/annotated',
}


def computed_torque_node(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the node with the parameters that were given."""
    given = {
        parameter: ParameterValue(LaunchConfiguration(argument), value_type=value_type)
        for argument, (parameter, value_type) in PARAMETERS.items()
        if LaunchConfiguration(argument).perform(context)
    }
    if LaunchConfiguration('sensor_link').perform(context):
        given['wrench.enabled'] = True
        given['wrench.sensor_link'] = ParameterValue(
            LaunchConfiguration('sensor_link'), value_type=str
        )
    return [
        LifecycleNode(
            package='ne_dynamics',
            executable='computed_torque',
            name='computed_torque',
            namespace=LaunchConfiguration('namespace'),
            parameters=[LaunchConfiguration('params_file'), given],
            remappings=[
                (topic, LaunchConfiguration(argument)) for argument, topic in TOPICS.items()
            ],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='both',
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the node."""
    default_params_file = PathJoinSubstitution(
        [FindPackageShare('ne_dynamics'), 'config', 'computed_torque.params.yaml']
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'model',
                default_value='',
                description='URDF or DH file of the robot; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=default_params_file,
                description='Parameters of the node',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of the node and its topics'
            ),
            DeclareLaunchArgument(
                'tip_link',
                default_value='',
                description='Last link of the arm (URDF); empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'sensor_link',
                default_value='',
                description="Last link on the arm's side of a wrist sensor, whose wrench then is "
                'used; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'joints',
                default_value='',
                description='Order of the command, as in [joint_1, joint_2]; empty: as the '
                'parameter file says',
            ),
            DeclareLaunchArgument(
                'use_imu',
                default_value='',
                description='Take gravity and motion of the base from an IMU (true or false); '
                'empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'mode',
                default_value='',
                description='Control law; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'state_timeout',
                default_value='',
                description='Time without joint states that is taken for a fault [s]; empty: as '
                'the parameter file says',
            ),
            DeclareLaunchArgument(
                'autostart',
                default_value='',
                description='Configure and activate the node (true or false); empty: as the '
                'parameter file says',
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='',
                description='Take the time from /clock (true or false); empty: as the '
                'parameter file says',
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
            OpaqueFunction(function=computed_torque_node),
        ]
    )
