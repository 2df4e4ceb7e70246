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

from launch import Event, LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import LogInfo, OpaqueFunction, RegisterEventHandler
from launch.conditions import IfCondition
from launch.event_handler import EventHandler
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.ros_adapters import get_ros_node
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
from ne_dynamics.ros.launching.launch_files import (
    CONFIG,
    EFFORT_CONTROLLER,
    JOINT_STATE_BROADCASTER,
    LOG_LEVEL,
    NODE,
    RVIZ,
    TIP_LINK,
    after,
    check_packages,
    controller_parameters,
    declare,
    effort_joints,
    full_name,
    include,
    joint_list,
    passed_on,
    read_initial_position,
    read_numbers,
    spawner,
    state_publisher,
    take_over,
    value_of,
    watch_commands,
)
from ne_dynamics.ros.settings.parameter_file import read_parameters
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

SENSOR_BROADCASTER = 'force_torque_sensor_broadcaster'
WRENCH = f'{SENSOR_BROADCASTER}/wrench'

# An arm rests when for so long [s] no joint has been faster [rad/s or m/s]; one that does not come
# to rest floats all the same after the longest wait [s]. By the stamps of the joint states.
REST_TIME = 0.5
REST_VELOCITY = 1e-4
LONGEST_HOLD = 10.0

# These end while the rest goes on.
TEMPORARY = ('create', 'spawner', 'rviz2')

# Gazebo may be slow to start; a controller is switched only while simulated time passes.
SPAWNER_ARGUMENTS = ['--controller-manager-timeout', '120', '--switch-timeout', '60']

ARGUMENTS = {
    'model': (
        PathJoinSubstitution([CONFIG, 'six_axis_arm.urdf']),
        'URDF of the arm; what Gazebo needs is added to it',
    ),
    'controllers_file': (
        PathJoinSubstitution([CONFIG, 'gazebo_controllers.yaml']),
        'Parameters of the controller manager and its controllers',
    ),
    'params_file': (
        PathJoinSubstitution([CONFIG, 'gazebo.params.yaml']),
        'Parameters of the computed-torque node',
    ),
    'world': (
        PathJoinSubstitution([CONFIG, 'gazebo_world.sdf']),
        'World of Gazebo; needs the force-torque system for a sensor, and the gravity that the '
        'node reckons with',
    ),
    'gui': ('true', "Show Gazebo's window (true or false)"),
    'gz_args': ('', 'More arguments of `gz sim`, as -v 4'),
    'rviz': RVIZ,
    'namespace': ('', 'Namespace of everything but /clock'),
    'name': ('arm', 'Name of the arm in Gazebo'),
    'mount_xyz': ('0 0 0', 'Place of the arm in the world [m]'),
    'mount_rpy': ('0 0 0', 'Its roll, pitch and yaw there [rad]'),
    'initial_position': (
        '',
        'Where the joints stand at the start [rad or m], in the order of the effort controller; '
        'empty: at zero',
    ),
    'tip_link': TIP_LINK,
    'sensor_joint': (
        'ft_sensor_joint',
        'Fixed joint with a force-torque sensor; none: no sensor',
    ),
    'sensor_link': (
        '',
        'The link in front of it, flange with ft_sensor_joint: the node then uses the wrench; '
        'empty: as the parameter file says',
    ),
    'mode': (
        '',
        'Control law; empty: as the parameter file says; with gravity_compensation the arm is '
        'held until it rests, then it floats',
    ),
    'log_level': LOG_LEVEL,
}


class ArmRests(Event):
    """The arm has come to rest under the effort controller."""

    name = 'ne_dynamics.ArmRests'


def chosen_mode(context: LaunchContext) -> str:
    """Return the mode of the node by argument or parameter file; '' where neither says any."""
    mode = value_of(context, 'mode')
    if mode:
        return mode
    file = Path(value_of(context, 'params_file'))
    return str(read_parameters(file, full_name(context, NODE)).get('mode', ''))


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
        return value_of(context, argument)

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
    floats = chosen_mode(context) == Mode.GRAVITY_COMPENSATION.value
    has_gui = IfCondition(LaunchConfiguration('gui')).evaluate(context)
    simulator = include(
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
        'ros_gz_sim',
    )
    clock = Node(
        package='ros_gz_bridge',
        executable='parameter_bridge',
        name='clock_bridge',
        namespace=namespace,
        arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'],
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
    node = include(
        'computed_torque.launch.py',
        {
            **passed_on(
                'namespace', 'params_file', 'tip_link', 'sensor_link', 'mode', 'log_level'
            ),
            'model': '',  # robot_description: the arm as it is mounted
            'driver': 'gazebo',
            'joints': joint_list(joints),
            'mode': Mode.COMPUTED_TORQUE.value if floats else LaunchConfiguration('mode'),
            'wrench': WRENCH,
            'use_sim_time': 'true',
        },
    )
    view = include(
        'view.launch.py',
        {
            **passed_on('namespace', 'rviz'),
            'state_publisher': 'false',
            'wrench': WRENCH,
            'use_sim_time': 'true',
        },
    )
    spawn_broadcasters = spawner(broadcasters, controllers_file, SPAWNER_ARGUMENTS)
    spawn_effort_controller = spawner([EFFORT_CONTROLLER], controllers_file, SPAWNER_ARGUMENTS)
    return [
        simulator,
        clock,
        state_publisher(description, use_sim_time=True),
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
                matcher=lambda event: isinstance(event, ArmRests),
                entities=[OpaqueFunction(function=let_float)],
            )
        ),
        *take_over(
            spawn_effort_controller,
            TEMPORARY,
            lambda: [OpaqueFunction(function=watch_rest)] if floats else [],
        ),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    return LaunchDescription([*declare(ARGUMENTS), OpaqueFunction(function=gazebo)])
