"""Start ros2_control with an arm that takes efforts, in MuJoCo or behind topics, and the node.

    ros2 launch ne_dynamics ros2_control.launch.py hardware:=mujoco
    ros2 launch ne_dynamics ros2_control.launch.py hardware:=topic model:=/path/to/arm.urdf

The URDF is completed with `<ros2_control>`. First comes joint_state_broadcaster, so that the node
has states to answer; the effort controller claims the joints when the node's first command has
been seen. doc/ros2_control.md says more.

Needs controller_manager, joint_state_broadcaster, forward_command_controller,
robot_state_publisher, and mujoco_ros2_control or joint_state_topic_hardware_interface.
"""

import tempfile
from collections.abc import Callable
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
    Shutdown,
)
from launch.event_handler import EventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import FindPackagePrefix, FindPackageShare
from std_msgs.msg import Float64MultiArray

from ne_dynamics.errors import ParameterError
from ne_dynamics.model.urdf_tree import load_urdf
from ne_dynamics.ros.launch_arguments import (
    check_argument,
    check_leader,
    check_log_level,
    read_leader,
)
from ne_dynamics.ros.parameter_file import nodes_in
from ne_dynamics.ros.parameters import PARAMETERS as NODE_PARAMETERS
from ne_dynamics.settings import ParameterSpec
from ne_dynamics.simulation.hardware_description import (
    hardware_description,
    mjcf_with_motors,
    mujoco_hardware,
    topic_hardware,
)

MANAGERS = {
    'mujoco': ('mujoco_ros2_control', 'mujoco_ros2_control'),
    'topic': ('controller_manager', 'joint_state_topic_hardware_interface'),
}
"""Value of the argument hardware -> packages of ros2_control_node and of the hardware."""

PACKAGES = (
    'controller_manager',
    'forward_command_controller',
    'joint_state_broadcaster',
    'robot_state_publisher',
)

JOINT_STATE_BROADCASTER = 'joint_state_broadcaster'
EFFORT_CONTROLLER = 'effort_controller'
COMMANDS = f'{EFFORT_CONTROLLER}/commands'

TEMPORARY = ('spawner',)
"""What ends while the rest goes on."""

HEADLESS = ParameterSpec('headless', 'bool', True, 'Whether MuJoCo has no window.')


class CommandsFlow(Event):
    """The node has answered a joint state."""

    name = 'ne_dynamics.CommandsFlow'


def check_packages(context: LaunchContext, packages: set[str]) -> None:
    """Refuse to start with ROS packages missing, by their names in Debian."""
    missing = []
    for package in sorted(packages):
        try:
            FindPackagePrefix(package).perform(context)
        except LookupError:
            missing.append(f'ros-$ROS_DISTRO-{package.replace("_", "-")}')
    if missing:
        raise RuntimeError(
            f'ros2_control.launch.py needs packages that are not installed: {" ".join(missing)}'
        )


def checked_joints(file: Path, known: tuple[str, ...]) -> list[str]:
    """Return the joints of the effort controller, in its order."""
    try:
        content = yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f'controllers_file {file}: {error}') from error
    parameters: dict[str, Any] = {}
    for name, values in nodes_in(content):
        if name.rpartition('/')[2] == EFFORT_CONTROLLER and isinstance(values, dict):
            parameters = values
    joints = parameters.get('joints')
    if not isinstance(joints, list) or sorted(map(str, joints)) != sorted(known):
        raise ParameterError(
            f'controllers_file {file}: {EFFORT_CONTROLLER}: joints: expected those of the model, '
            f'{list(known)}, got {joints!r}'
        )
    if parameters.get('interface_name') != 'effort':
        raise ParameterError(
            f'controllers_file {file}: {EFFORT_CONTROLLER}: interface_name: expected effort, got '
            f'{parameters.get("interface_name")!r}'
        )
    return joints


def ending(reason: str) -> list[LaunchDescriptionEntity]:
    """Return what ends everything, and says why."""
    reason = f'ending everything: {reason}'
    return [LogInfo(msg=reason), Shutdown(reason=reason)]


def after(process: Node, what: str, entities: Callable[[], list[Any]]) -> RegisterEventHandler:
    """Return what goes on when a process has done its work, and ends everything if it has not."""

    def on_exit(event: ProcessExited, context: LaunchContext) -> list[Any]:
        if context.is_shutdown:
            return []
        if event.returncode != 0:
            return ending(f'could not {what}: exit code {event.returncode}')
        return entities()

    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=on_exit))


def shut_down(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return what ends the rest when a process has ended that was to stay."""
    if context.is_shutdown or event.process_name.startswith(TEMPORARY):
        return []
    return ending(f'{event.process_name} has ended')


def full_name(context: LaunchContext, topic: str) -> str:
    """Return the name of a topic in the namespace of the arm."""
    if topic.startswith('/'):
        return topic
    namespace = LaunchConfiguration('namespace').perform(context).strip('/')
    return f'/{namespace}/{topic}' if namespace else f'/{topic}'


def watch_commands(context: LaunchContext) -> None:
    """Emit :class:`CommandsFlow` when the first command arrives; wait for no longer."""
    node = get_ros_node(context)
    loop = context.asyncio_loop
    seen = False

    def on_command(message: Float64MultiArray) -> None:
        nonlocal seen
        if not seen:
            seen = True
            node.destroy_subscription(subscription)
            loop.call_soon_threadsafe(lambda: context.emit_event_sync(CommandsFlow()))

    topic = full_name(context, COMMANDS)
    subscription = node.create_subscription(Float64MultiArray, topic, on_command, 1)


def initial_position(text: str, joints: list[str]) -> dict[str, float]:
    """Return where the joints are to stand, in the order of the effort controller."""
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        raise ParameterError(f'initial_position: expected numbers, got {text!r}') from None
    if values and len(values) != len(joints):
        raise ParameterError(
            f'initial_position: expected {len(joints)} numbers, for {", ".join(joints)}, got '
            f'{len(values)}'
        )
    return dict(zip(joints, values))  # noqa: B905 - empty: all at their defaults


def controlled(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return everything, in its order, or raise what is wrong with the arguments."""

    def value(argument: str) -> str:
        return LaunchConfiguration(argument).perform(context)

    kind = value('hardware')
    if kind not in MANAGERS:
        raise ParameterError(
            f'argument hardware:={kind}: expected one of {", ".join(MANAGERS)}, got {kind!r}'
        )
    check_argument('mode', value('mode'), NODE_PARAMETERS.find('mode'))
    check_argument('headless', value('headless'), HEADLESS)
    check_log_level(value('log_level'))
    if read_leader(value('leader')):
        check_leader(value('mode'), f'argument mode:={value("mode")}')
    check_packages(context, {*PACKAGES, *MANAGERS[kind]})

    model = Path(value('model'))
    robot = load_urdf(model)
    controllers_file = Path(value('controllers_file')).resolve()
    led = load_urdf(model, tip_link=value('tip_link') or None)
    joints = checked_joints(controllers_file, led.joint_names)
    if kind == 'mujoco':
        mjcf = value('mjcf')
        if not mjcf:
            folder = Path(tempfile.mkdtemp(prefix='ne_dynamics_mujoco_'))
            mjcf = str(folder / f'{model.stem}.xml')
            Path(mjcf).write_text(mjcf_with_motors(robot), encoding='utf-8')
        elif not Path(mjcf).is_file():
            raise ParameterError(f'argument mjcf:={mjcf}: expected a file, there is none')
        hardware = mujoco_hardware(mjcf, headless=bool(yaml.safe_load(value('headless'))))
    else:
        states_topic = value('joint_states_topic')
        if full_name(context, states_topic) == full_name(context, 'joint_states'):
            raise ParameterError(
                f'argument joint_states_topic:={states_topic}: expected another topic than that '
                f'which {JOINT_STATE_BROADCASTER} publishes, got the same'
            )
        hardware = topic_hardware(value('joint_commands_topic'), states_topic)
    position = initial_position(value('initial_position'), joints)
    description = hardware_description(model, hardware, initial_position=position)

    namespace = LaunchConfiguration('namespace')
    simulates = kind == 'mujoco' or bool(yaml.safe_load(value('use_sim_time')))
    use_sim_time = {'use_sim_time': simulates}

    def spawner(controller: str) -> Node:
        return Node(
            package='controller_manager',
            executable='spawner',
            name=f'spawner_{controller}',
            namespace=namespace,
            arguments=[controller, '--param-file', str(controllers_file)],
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
    manager = Node(
        package=MANAGERS[kind][0],
        executable='ros2_control_node',
        namespace=namespace,
        parameters=[str(controllers_file), use_sim_time],
        output='both',
    )
    source = PathJoinSubstitution(
        [FindPackageShare('ne_dynamics'), 'launch', 'computed_torque.launch.py']
    )
    arguments = {
        'model': '',  # robot_description, as robot_state_publisher has it
        'namespace': namespace,
        'driver': 'mujoco',
        'joints': yaml.safe_dump(joints, default_flow_style=True, width=10**6).strip(),
        'params_file': LaunchConfiguration('params_file'),
        'tip_link': LaunchConfiguration('tip_link'),
        'mode': LaunchConfiguration('mode'),
        'leader': LaunchConfiguration('leader'),
        'use_sim_time': 'true' if simulates else 'false',
        'log_level': LaunchConfiguration('log_level'),
    }
    # In a group: its arguments are not to become those of what comes later.
    node = GroupAction(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(source), launch_arguments=arguments.items()
            )
        ]
    )
    spawn_broadcaster = spawner(JOINT_STATE_BROADCASTER)
    spawn_effort_controller = spawner(EFFORT_CONTROLLER)
    return [
        state_publisher,
        manager,
        node,
        OpaqueFunction(function=watch_commands),
        spawn_broadcaster,
        after(spawn_broadcaster, 'start the broadcaster', list),
        RegisterEventHandler(
            EventHandler(
                matcher=lambda event: isinstance(event, CommandsFlow),
                entities=[spawn_effort_controller],
            )
        ),
        after(spawn_effort_controller, 'start the effort controller', list),
        RegisterEventHandler(OnProcessExit(on_exit=shut_down)),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and what they start."""
    config = PathJoinSubstitution([FindPackageShare('ne_dynamics'), 'config'])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'hardware',
                default_value='mujoco',
                description='mujoco: MuJoCo in the controller manager, by mujoco_ros2_control; '
                'topic: an arm behind topics, by joint_state_topic_hardware_interface',
            ),
            DeclareLaunchArgument(
                'model',
                default_value=PathJoinSubstitution([config, 'six_axis_arm.urdf']),
                description='URDF of the arm; what ros2_control needs is added to it',
            ),
            DeclareLaunchArgument(
                'controllers_file',
                default_value=PathJoinSubstitution([config, 'robot_controllers.yaml']),
                description='Parameters of the controller manager and its controllers',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=PathJoinSubstitution([config, 'computed_torque.params.yaml']),
                description='Parameters of the node; they win over those of driver_mujoco.yaml. '
                'The default does not count',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of everything but /clock'
            ),
            DeclareLaunchArgument(
                'tip_link',
                default_value='',
                description='Last link of the arm; empty: as the parameter file says',
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
                'mjcf',
                default_value='',
                description="mujoco: the arm in MuJoCo's XML, with a motor at each joint; empty: "
                'made of the URDF, without shapes (needs MuJoCo for Python)',
            ),
            DeclareLaunchArgument(
                'headless',
                default_value='true',
                description='mujoco: no window (true or false)',
            ),
            DeclareLaunchArgument(
                'initial_position',
                default_value='',
                description='mujoco: where the joints stand at the start [rad or m], in the order '
                'of the effort controller; empty: at zero',
            ),
            DeclareLaunchArgument(
                'joint_commands_topic',
                default_value='robot_joint_commands',
                description='topic: where the arm listens for efforts, as JointState',
            ),
            DeclareLaunchArgument(
                'joint_states_topic',
                default_value='robot_joint_states',
                description='topic: where it publishes its states',
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false',
                description='topic: take the time from /clock (true or false); mujoco always does',
            ),
            DeclareLaunchArgument(
                'log_level', default_value='info', description='debug, info, warn or error'
            ),
            OpaqueFunction(function=controlled),
        ]
    )
