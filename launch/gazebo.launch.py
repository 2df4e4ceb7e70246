"""Start Gazebo with an arm, ros2_control, and the computed-torque node that drives it.

    ros2 launch ne_dynamics gazebo.launch.py

The order matters, or the arm falls. Gazebo runs from the start and holds the joints of the new arm
until a controller claims them. First come the broadcasters, so that the node has states to answer;
the effort controller claims the joints only when the node's first command has been seen. Its first
effort is zero, for one step: an arm that is to float is held until the motion of that has died
away. doc/gazebo.md says more.

Needs gz_ros2_control, ros_gz_sim, ros_gz_bridge, robot_state_publisher and the controllers.
"""

import shlex
from pathlib import Path
from typing import Any

import yaml
from launch import Event, LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    UnregisterEventHandler,
)
from launch.conditions import IfCondition
from launch.event_handler import EventHandler
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import FindPackageShare
from rcl_interfaces.msg import Parameter, ParameterType
from rcl_interfaces.msg import ParameterValue as Value
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState

from ne_dynamics.control.laws import Mode
from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.launching.launch_arguments import (
    check_argument,
    check_efforts_alone,
    check_log_level,
)
from ne_dynamics.ros.launching.launch_order import (
    CommandsFlow,
    after,
    check_packages,
    controller_parameters,
    effort_joints,
    end_with_others,
    end_without_controller,
    full_name,
    read_initial_position,
    read_numbers,
    read_yaml,
    watch_commands,
)
from ne_dynamics.ros.settings.parameter_file import parameters_in_any_namespace, read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS as NODE_PARAMETERS
from ne_dynamics.simulation.descriptions.gazebo_description import (
    gazebo_description,
    links_at_sensor,
)

PACKAGES = (
    'controller_manager',
    'forward_command_controller',
    'gz_ros2_control',
    'joint_state_broadcaster',
    'robot_state_publisher',
    'ros_gz_bridge',
    'ros_gz_sim',
)
SENSOR_PACKAGE = 'force_torque_sensor_broadcaster'

JOINT_STATE_BROADCASTER = 'joint_state_broadcaster'
SENSOR_BROADCASTER = 'force_torque_sensor_broadcaster'
EFFORT_CONTROLLER = 'effort_controller'
WRENCH = f'{SENSOR_BROADCASTER}/wrench'
NODE = 'computed_torque'

# An arm rests when for so long [s] no joint has been faster [rad/s or m/s]; one that does not come
# to rest floats all the same after the longest wait [s]. By the stamps of the joint states.
REST_TIME = 0.5
REST_VELOCITY = 1e-4
LONGEST_HOLD = 10.0

# These end while the rest goes on.
TEMPORARY = ('create', 'spawner', 'rviz2')

# Gazebo may be slow to start; a controller is switched only while simulated time passes.
SPAWNER_ARGUMENTS = ['--controller-manager-timeout', '120', '--switch-timeout', '60']


class ArmRests(Event):
    """The arm has come to rest under the effort controller."""

    name = 'ne_dynamics.ArmRests'


def chosen_mode(context: LaunchContext) -> str:
    """Return the mode of the node by argument or parameter file; '' where neither says any."""
    mode = LaunchConfiguration('mode').perform(context)
    if mode:
        return mode
    content = read_yaml(Path(LaunchConfiguration('params_file').perform(context)), 'params_file')
    return str(parameters_in_any_namespace(content, NODE).get('mode', ''))


def check_sensor(file: Path, frame: str) -> None:
    """Refuse a broadcaster that would wait for another sensor, or name another frame."""
    parameters = controller_parameters(file, SENSOR_BROADCASTER)
    for key in ('sensor_name', 'frame_id'):
        if parameters.get(key) != frame:
            raise ParameterError(
                f'controllers_file {file}: {SENSOR_BROADCASTER}: {key}: expected {frame!r}, the '
                f'link behind the sensor, got {parameters.get(key)!r}'
            )


def watch_rest(context: LaunchContext) -> None:
    """Emit :class:`ArmRests` when the joint states say so; wait for no longer."""
    node = get_ros_node(context)
    loop = context.asyncio_loop
    begin = moved = None
    over = False

    def on_state(message: JointState) -> None:
        nonlocal begin, moved, over
        now = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        begin = now if begin is None else begin
        if moved is None or not all(abs(rate) <= REST_VELOCITY for rate in message.velocity):
            moved = now
        if not over and (now - moved > REST_TIME or now - begin > LONGEST_HOLD):
            over = True
            node.destroy_subscription(subscription)
            loop.call_soon_threadsafe(lambda: context.emit_event_sync(ArmRests()))

    topic = full_name(context, 'joint_states')
    subscription = node.create_subscription(JointState, topic, on_state, 10)


def let_float(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Let the node that has held the arm until now compensate gravity alone."""
    node = get_ros_node(context)
    mode = Mode.GRAVITY_COMPENSATION.value
    value = Value(type=ParameterType.PARAMETER_STRING, string_value=mode)
    client = node.create_client(SetParameters, full_name(context, f'{NODE}/set_parameters'))
    # It answers, for its first command has been seen.
    client.call_async(SetParameters.Request(parameters=[Parameter(name='mode', value=value)]))
    return [LogInfo(msg=f'mode {mode}: the arm floats')]


def gazebo(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return everything, in its order, or raise what is wrong with the arguments."""

    def value(argument: str) -> str:
        return LaunchConfiguration(argument).perform(context)

    check_argument('mode', value('mode'), NODE_PARAMETERS.find('mode'))
    check_log_level(value('log_level'))
    params_file = value('params_file')
    given = read_parameters(Path(params_file), full_name(context, NODE))
    check_efforts_alone(params_file, given, EFFORT_CONTROLLER)
    # An argument on the command line cannot be empty.
    sensor_joint = '' if value('sensor_joint') == 'none' else value('sensor_joint')
    needed = (*PACKAGES, SENSOR_PACKAGE) if sensor_joint else PACKAGES
    check_packages(context, needed, 'gazebo.launch.py')

    controllers_file = Path(value('controllers_file')).resolve()
    namespace = LaunchConfiguration('namespace')
    joints = effort_joints(controllers_file)
    model = Path(value('model'))
    description = gazebo_description(
        model,
        controllers_file,
        namespace=value('namespace'),
        sensor_joint=sensor_joint,
        initial_position=read_initial_position(value('initial_position'), joints),
        mount_xyz=read_numbers(value('mount_xyz'), 'mount_xyz'),
        mount_rpy=read_numbers(value('mount_rpy'), 'mount_rpy'),
    )
    broadcasters = [JOINT_STATE_BROADCASTER]
    if sensor_joint:
        check_sensor(controllers_file, links_at_sensor(model, sensor_joint)[1])
        broadcasters.append(SENSOR_BROADCASTER)
    use_sim_time = {'use_sim_time': True}
    floats = chosen_mode(context) == Mode.GRAVITY_COMPENSATION.value

    def spawner(*controllers: str) -> Node:
        return Node(
            package='controller_manager',
            executable='spawner',
            name=f'spawner_{controllers[0]}',
            namespace=namespace,
            arguments=[*controllers, '--param-file', str(controllers_file), *SPAWNER_ARGUMENTS],
            output='both',
        )

    def included(package: str, file: str, arguments: dict[str, Any]) -> GroupAction:
        # In a group: the arguments of one launch file are not to become those of the next.
        source = PathJoinSubstitution([FindPackageShare(package), 'launch', file])
        return GroupAction(
            [
                IncludeLaunchDescription(
                    PythonLaunchDescriptionSource(source), launch_arguments=arguments.items()
                )
            ]
        )

    has_gui = IfCondition(LaunchConfiguration('gui')).evaluate(context)
    simulator = included(
        'ros_gz_sim',
        'gz_sim.launch.py',
        {
            'gz_args': ' '.join(
                filter(
                    None,
                    ['-r', '' if has_gui else '-s', value('gz_args'), shlex.quote(value('world'))],
                )
            ),
            # It would shut down a second time after Ctrl-C, which launch_ros takes for a fault.
            'on_exit_shutdown': '',
        },
    )
    clock = Node(
        package='ros_gz_bridge',
        executable='parameter_bridge',
        name='clock_bridge',
        namespace=namespace,
        arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'],
        output='both',
    )
    state_publisher = Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=namespace,
        parameters=[
            {'robot_description': ParameterValue(description, value_type=str)},
            use_sim_time,
        ],
        output='both',
    )
    create = Node(
        package='ros_gz_sim',
        executable='create',
        name='create_arm',
        namespace=namespace,
        arguments=['-topic', 'robot_description', '-name', value('name')],
        output='both',
    )
    node = included(
        'ne_dynamics',
        'computed_torque.launch.py',
        {
            'model': '',  # robot_description: the arm as it is mounted
            'namespace': namespace,
            'driver': 'gazebo',
            'params_file': LaunchConfiguration('params_file'),
            'joints': yaml.safe_dump(joints, default_flow_style=True, width=10**6).strip(),
            'tip_link': LaunchConfiguration('tip_link'),
            'sensor_link': LaunchConfiguration('sensor_link'),
            'mode': Mode.COMPUTED_TORQUE.value if floats else LaunchConfiguration('mode'),
            'wrench': WRENCH,
            'use_sim_time': 'true',
            'log_level': LaunchConfiguration('log_level'),
        },
    )
    view = included(
        'ne_dynamics',
        'view.launch.py',
        {
            'namespace': namespace,
            'state_publisher': 'false',
            'rviz': LaunchConfiguration('rviz'),
            'wrench': WRENCH,
            'use_sim_time': 'true',
        },
    )
    spawn_broadcasters = spawner(*broadcasters)
    spawn_effort_controller = spawner(EFFORT_CONTROLLER)
    refusals = end_without_controller()
    return [
        simulator,
        clock,
        state_publisher,
        node,
        create,
        view,
        after(create, 'put the arm into Gazebo', lambda: [spawn_broadcasters]),
        after(
            spawn_broadcasters,
            'start the broadcasters',
            lambda: [OpaqueFunction(function=watch_commands)],
        ),
        RegisterEventHandler(
            EventHandler(
                matcher=lambda event: isinstance(event, CommandsFlow),
                entities=[
                    # From now on a refusal is no matter of the start.
                    UnregisterEventHandler(refusals.event_handler),
                    spawn_effort_controller,
                ],
            )
        ),
        after(
            spawn_effort_controller,
            'start the effort controller',
            lambda: [OpaqueFunction(function=watch_rest)] if floats else [],
        ),
        RegisterEventHandler(
            EventHandler(
                matcher=lambda event: isinstance(event, ArmRests),
                entities=[OpaqueFunction(function=let_float)],
            )
        ),
        end_with_others(TEMPORARY),
        refusals,
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    config = PathJoinSubstitution([FindPackageShare('ne_dynamics'), 'config'])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'model',
                default_value=PathJoinSubstitution([config, 'six_axis_arm.urdf']),
                description='URDF of the arm; what Gazebo needs is added to it',
            ),
            DeclareLaunchArgument(
                'controllers_file',
                default_value=PathJoinSubstitution([config, 'gazebo_controllers.yaml']),
                description='Parameters of the controller manager and its controllers',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=PathJoinSubstitution([config, 'gazebo.params.yaml']),
                description='Parameters of the computed-torque node',
            ),
            DeclareLaunchArgument(
                'world',
                default_value=PathJoinSubstitution([config, 'gazebo_world.sdf']),
                description='World of Gazebo; needs the force-torque system for a sensor, and the '
                'gravity that the node reckons with',
            ),
            DeclareLaunchArgument(
                'gui', default_value='true', description="Show Gazebo's window (true or false)"
            ),
            DeclareLaunchArgument(
                'gz_args', default_value='', description='More arguments of `gz sim`, as -v 4'
            ),
            DeclareLaunchArgument(
                'rviz',
                default_value='false',
                description='Show the arm in rviz2, where that is installed (true or false)',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of everything but /clock'
            ),
            DeclareLaunchArgument(
                'name', default_value='arm', description='Name of the arm in Gazebo'
            ),
            DeclareLaunchArgument(
                'mount_xyz', default_value='0 0 0', description='Place of the arm in the world [m]'
            ),
            DeclareLaunchArgument(
                'mount_rpy',
                default_value='0 0 0',
                description='Its roll, pitch and yaw there [rad]',
            ),
            DeclareLaunchArgument(
                'initial_position',
                default_value='',
                description='Where the joints stand at the start [rad or m], in the order of the '
                'effort controller; empty: at zero',
            ),
            DeclareLaunchArgument(
                'tip_link',
                default_value='',
                description='Last link of the arm; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'sensor_joint',
                default_value='ft_sensor_joint',
                description='Fixed joint with a force-torque sensor; none: no sensor',
            ),
            DeclareLaunchArgument(
                'sensor_link',
                default_value='',
                description='The link in front of it, flange with ft_sensor_joint: the node then '
                'uses the wrench; empty: as the parameter file says',
            ),
            DeclareLaunchArgument(
                'mode',
                default_value='',
                description='Control law; empty: as the parameter file says; with '
                'gravity_compensation the arm is held until it rests, then it floats',
            ),
            DeclareLaunchArgument(
                'log_level', default_value='info', description='debug, info, warn or error'
            ),
            OpaqueFunction(function=gazebo),
        ]
    )
