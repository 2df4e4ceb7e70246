"""What the launch files share: arguments, nodes, and the order in which they start ros2_control.

The order keeps the arm from falling. Broadcasters come first, so that the node has states to
answer; the effort controller claims the joints when the node's first command has been seen. What
fails on the way ends everything, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from launch import Event, LaunchContext, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    RegisterEventHandler,
    Shutdown,
    UnregisterEventHandler,
)
from launch.event_handler import EventHandler
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events.process import ProcessExited, ProcessIO
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import FindPackagePrefix, FindPackageShare
from std_msgs.msg import Float64MultiArray

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.launching.launch_arguments import check_leader, read_leader
from ne_dynamics.ros.settings.parameter_file import full_name as full_node_name
from ne_dynamics.ros.settings.parameter_file import nodes_in

ANNOTATOR = 'annotator'
NODE = 'computed_torque'
JOINT_STATE_BROADCASTER = 'joint_state_broadcaster'
EFFORT_CONTROLLER = 'effort_controller'
COMMANDS = f'{EFFORT_CONTROLLER}/commands'

REFUSAL = b'not configured: '
"""What the node says of a configuration that it refuses."""


CONFIG = PathJoinSubstitution([FindPackageShare('ne_dynamics'), 'config'])
"""The folder of the parameter files, models and worlds of this package."""

Argument: TypeAlias = tuple[SomeSubstitutionsType, str]
"""Default and description of a launch argument."""

LOG_LEVEL: Argument = 'info', 'debug, info, warn or error'
MODE: Argument = '', 'Control law; empty: as the parameter file says'
TIP_LINK: Argument = '', 'Last link of the arm; empty: as the parameter file says'
LEADER: Argument = (
    'false',
    'Hold the arm weightless, to be led by hand: nothing is followed (true or false)',
)
RVIZ: Argument = ('false', 'Show the arm in rviz2, where that is installed (true or false)')


class CommandsFlow(Event):
    """The node has answered a joint state."""

    name = 'ne_dynamics.CommandsFlow'


def declare(arguments: Mapping[str, Argument]) -> list[DeclareLaunchArgument]:
    """Return the declarations of launch arguments, default and description by name."""
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in arguments.items()
    ]


def value_of(context: LaunchContext, argument: str) -> str:
    """Return the text that a launch argument has."""
    return str(LaunchConfiguration(argument).perform(context))


def config_file(name: str) -> PathJoinSubstitution:
    """Return a file in the folder `config` of this package."""
    return PathJoinSubstitution([FindPackageShare('ne_dynamics'), 'config', name])


def include(
    file: str, arguments: Mapping[str, SomeSubstitutionsType], package: str = 'ne_dynamics'
) -> GroupAction:
    """Return a launch file of the folder `launch` of a package that is included in a group.

    Its arguments do not become those of the next one. Arguments that are not named have their
    defaults, or the values which arguments of the same name have in the including file.
    """
    source = PathJoinSubstitution([FindPackageShare(package), 'launch', file])
    return GroupAction(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(source), launch_arguments=arguments.items()
            )
        ]
    )


def passed_on(*arguments: str) -> dict[str, SomeSubstitutionsType]:
    """Return arguments for a launch file that is included: those of the including file."""
    return {argument: LaunchConfiguration(argument) for argument in arguments}


def check_leader_arguments(context: LaunchContext) -> bool:
    """Return whether the arm is led by hand, and refuse arguments that cannot be together.

    Raises
    ------
    ParameterError
        When `leader` is neither true nor false, or `mode` is one that such an arm cannot have.
    """
    leads = read_leader(value_of(context, 'leader'))
    if leads:
        mode = value_of(context, 'mode')
        check_leader(mode, f'argument mode:={mode}')
    return leads


def is_installed(context: LaunchContext, package: str) -> bool:
    """Return whether there is a ROS package of this name."""
    try:
        FindPackagePrefix(package).perform(context)
    except LookupError:
        return False
    return True


def debian_name(package: str) -> str:
    """Return the name that a ROS package has as a Debian package."""
    return f'ros-$ROS_DISTRO-{package.replace("_", "-")}'


def check_packages(context: LaunchContext, packages: Iterable[str], needed_by: str) -> None:
    """Refuse to start a launch file, `needed_by`, where ROS packages are missing.

    Raises
    ------
    RuntimeError
        With their names as Debian has them.
    """
    missing = [package for package in packages if not is_installed(context, package)]
    if missing:
        debian = ' '.join(map(debian_name, missing))
        raise RuntimeError(f'{needed_by} needs packages that are not installed: {debian}')


def controller_parameters(file: Path, name: str) -> dict[str, Any]:
    """Return the parameters of a node in a parameter file, whatever its namespace there.

    Raises
    ------
    ParameterError
        When there are none, or it cannot be read.
    """
    try:
        content = yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f'controllers_file {file}: {error}') from error
    for node, parameters in nodes_in(content):
        if node.rpartition('/')[2] == name and isinstance(parameters, dict):
            return parameters
    raise ParameterError(f'controllers_file {file}: expected parameters of {name!r}, got none')


def effort_joints(file: Path) -> list[str]:
    """Return the joints of the effort controller in a parameter file, in its order.

    Raises
    ------
    ParameterError
        When it has none, or forwards something else than efforts.
    """
    parameters = controller_parameters(file, EFFORT_CONTROLLER)
    joints = parameters.get('joints')
    if not isinstance(joints, list) or not joints or not all(isinstance(j, str) for j in joints):
        raise ParameterError(
            f'controllers_file {file}: {EFFORT_CONTROLLER}: joints: expected names, got {joints!r}'
        )
    if parameters.get('interface_name') != 'effort':
        raise ParameterError(
            f'controllers_file {file}: {EFFORT_CONTROLLER}: interface_name: expected effort, got '
            f'{parameters.get("interface_name")!r}'
        )
    return joints


def read_numbers(text: str, argument: str) -> list[float]:
    """Return the numbers of an argument such as '0 0 1.5'.

    Raises
    ------
    ParameterError
        When a word is no number.
    """
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        raise ParameterError(f'{argument}: expected numbers, got {text!r}') from None


def read_initial_position(text: str, joints: list[str]) -> dict[str, float]:
    """Return where the joints are to stand [rad or m], by name; none for an empty text.

    Raises
    ------
    ParameterError
        When it is not one number for each joint.
    """
    values = read_numbers(text, 'initial_position')
    if values and len(values) != len(joints):
        raise ParameterError(
            f'initial_position: expected {len(joints)} numbers, for {", ".join(joints)}, got '
            f'{len(values)}'
        )
    return dict(zip(joints, values, strict=True)) if values else {}


def full_name(context: LaunchContext, name: str) -> str:
    """Return the name of a topic or a service in the namespace of the arm."""
    if name.startswith('/'):
        return name
    return full_node_name(name, value_of(context, 'namespace'))


def joint_list(joints: list[str]) -> str:
    """Return joints as the text of the launch argument `joints`."""
    return str(yaml.safe_dump(joints, default_flow_style=True, width=10**6)).strip()


def state_publisher(description: str, *, use_sim_time: bool) -> Node:
    """Return robot_state_publisher in the namespace of the arm."""
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            {'robot_description': ParameterValue(description, value_type=str)},
            {'use_sim_time': use_sim_time},
        ],
        output='both',
    )


def spawner(controllers: list[str], file: Path, options: Iterable[str] = ()) -> Node:
    """Return the program that starts controllers by a file of their parameters, and ends.

    `options` are more arguments of it.
    """
    return Node(
        package='controller_manager',
        executable='spawner',
        name=f'spawner_{controllers[0]}',
        namespace=LaunchConfiguration('namespace'),
        arguments=[*controllers, '--param-file', str(file), *options],
        output='both',
    )


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


def end_with_others(temporary: tuple[str, ...]) -> RegisterEventHandler:
    """Return what ends the rest when a process has ended that was to stay.

    `temporary`: beginnings of the names of those that end while the rest goes on.
    """

    def shut_down(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if context.is_shutdown or event.process_name.startswith(temporary):
            return []
        return ending(f'{event.process_name} has ended')

    return RegisterEventHandler(OnProcessExit(on_exit=shut_down))


def end_without_controller() -> RegisterEventHandler:
    """Return what ends the rest when the node has refused its configuration.

    The arm would stand under its brakes, and nobody would look at the node. What the node says is
    read: its changes of state are published before launch can have subscribed to them.
    """

    def shut_down(event: ProcessIO) -> list[LaunchDescriptionEntity] | None:
        if not event.process_name.startswith(NODE) or REFUSAL not in event.text:
            return None
        return ending(f'{event.process_name} is not configured, and nothing else drives')

    return RegisterEventHandler(OnProcessIO(on_stdout=shut_down, on_stderr=shut_down))


def take_over(
    spawn_effort_controller: Node,
    temporary: tuple[str, ...],
    entities: Callable[[], list[Any]] = list,
) -> list[LaunchDescriptionEntity]:
    """Return what starts the effort controller at :class:`CommandsFlow`, and ends all on a fault.

    `temporary` is as for :func:`end_with_others`; `entities` returns what comes when the
    controller has been started.
    """
    refusals = end_without_controller()
    return [
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
        after(spawn_effort_controller, 'start the effort controller', entities),
        end_with_others(temporary),
        refusals,
    ]


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
