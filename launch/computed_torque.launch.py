"""Start the computed-torque node.

    ros2 launch ne_dynamics computed_torque.launch.py model:=/path/to/arm.urdf

The node starts from the parameter file of the driver. A parameter file that is given comes after
it, and an argument that is given after both. Without a model, in any of these places, the node
waits for the topic `robot_description`.

leader:=true makes the arm the leader of a teleoperation: leader_arm.params.yaml comes after the
file of the driver then. doc/leader_arms.md says more.
"""

from pathlib import Path
from typing import List  # noqa: UP035

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from ne_dynamics.ros.launching.launch_arguments import (
    USE_SIM_TIME,
    check_argument,
    check_file,
    check_leader,
    check_log_level,
    read_leader,
)
from ne_dynamics.ros.settings.drivers import DRIVERS, driver_file, find_changes, find_driver
from ne_dynamics.ros.settings.parameter_file import full_name, read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS as NODE_PARAMETERS

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

# Launch argument -> topic of the node, where neither the argument nor the driver says otherwise.
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


def config_file(name: str) -> PathJoinSubstitution:
    """Return a file that comes with the package."""
    return PathJoinSubstitution([FindPackageShare('ne_dynamics'), 'config', name])


DEFAULTS = config_file('computed_torque.params.yaml')


def check_arguments(context: LaunchContext) -> None:
    """Refuse an argument that cannot be, by its name."""
    for argument, (parameter, _) in PARAMETERS.items():
        spec = NODE_PARAMETERS.by_name.get(parameter, USE_SIM_TIME)
        check_argument(argument, LaunchConfiguration(argument).perform(context), spec)
    check_log_level(LaunchConfiguration('log_level').perform(context))


def computed_torque_node(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the node with the parameters that were given."""
    driver = LaunchConfiguration('driver').perform(context)
    topics = {**TOPICS, **find_driver(driver)}
    check_arguments(context)
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
    files = [config_file(driver_file(driver))]
    mode = LaunchConfiguration('mode').perform(context)
    leads = read_leader(LaunchConfiguration('leader').perform(context))
    if leads:
        check_leader(mode, f'argument mode:={mode}')
        files.append(config_file('leader_arm.params.yaml'))
    remarks = []
    # The file with the defaults sets every parameter: nothing of another driver would be left.
    # Nor may it come before the driver's. Where files name the node in different ways, it is the
    # first of its way that counts for the order.
    params_file = LaunchConfiguration('params_file').perform(context)
    namespace = LaunchConfiguration('namespace').perform(context)
    values = read_parameters(Path(params_file), full_name('computed_torque', namespace))
    check_file(params_file, values, NODE_PARAMETERS)
    is_given = params_file != DEFAULTS.perform(context)
    if leads and is_given:
        check_leader(values.get('mode', ''), f'{params_file}: mode')
    if is_given or (driver == 'generic' and not leads):
        owners = {'driver': f'driver {driver}', 'leader': 'leader:=true'}
        for file, (whose, owner) in zip(files, owners.items()):  # noqa: B905 - not all lead
            changes = find_changes(Path(file.perform(context)), Path(params_file), whose)
            if changes:
                text = f'{params_file} changes what {owner} sets: {", ".join(changes)}'
                remarks.append(LogInfo(msg=text))
        files.append(params_file)
    return [
        *remarks,
        LifecycleNode(
            package='ne_dynamics',
            executable='computed_torque',
            name='computed_torque',
            namespace=LaunchConfiguration('namespace'),
            parameters=[*files, given],
            remappings=[
                (topic, LaunchConfiguration(argument).perform(context) or topics[argument])
                for argument, topic in TOPICS.items()
            ],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='both',
        ),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the node."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'model',
                default_value='',
                description='URDF or DH file of the robot; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'driver',
                default_value='generic',
                description='What drives the robot: which parameters and topics it needs. One of '
                + ', '.join(DRIVERS),
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=DEFAULTS,
                description='Parameters of the node; they win over those of the driver. The '
                'default, which has all of them, counts with the driver generic only',
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
                'leader',
                default_value='false',
                description='Hold the arm weightless, to be led by hand: nothing is followed '
                '(true or false)',
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
                    argument,
                    default_value='',
                    description=f'Topic to use as {topic}; empty: as the driver has it',
                )
                for argument, topic in TOPICS.items()
            ),
            OpaqueFunction(function=computed_torque_node),
        ]
    )
