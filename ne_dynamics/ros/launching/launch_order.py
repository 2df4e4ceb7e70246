"""The order in which launch files start ros2_control and the node, so that the arm does not fall.

Broadcasters come first, so that the node has states to answer; the effort controller claims the
joints when the node's first command has been seen. What fails on the way ends everything, and says
why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml
from launch import Event, LaunchContext, LaunchDescriptionEntity
from launch.actions import LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events.process import ProcessExited, ProcessIO
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.ros_adapters import get_ros_node
from launch_ros.substitutions import FindPackagePrefix
from std_msgs.msg import Float64MultiArray

from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.settings.parameter_file import nodes_in

EFFORT_CONTROLLER = 'effort_controller'
COMMANDS = f'{EFFORT_CONTROLLER}/commands'

REFUSAL = b'not configured: '
"""What the node says of a configuration that it refuses."""


class CommandsFlow(Event):
    """The node has answered a joint state."""

    name = 'ne_dynamics.CommandsFlow'


def check_packages(context: LaunchContext, packages: Iterable[str], needed_by: str) -> None:
    """Refuse to start where ROS packages are missing.

    Parameters
    ----------
    context : LaunchContext
    packages : iterable of str
        Names as ROS has them.
    needed_by : str
        The launch file.

    Raises
    ------
    RuntimeError
        With their names as Debian has them.
    """
    missing = []
    for package in packages:
        try:
            FindPackagePrefix(package).perform(context)
        except LookupError:
            missing.append(f'ros-$ROS_DISTRO-{package.replace("_", "-")}')
    if missing:
        debian = ' '.join(missing)
        raise RuntimeError(f'{needed_by} needs packages that are not installed: {debian}')


def read_yaml(file: Path, argument: str) -> Any:
    """Return what is in the file that an argument names.

    Raises
    ------
    ParameterError
        When it cannot be read, or is no YAML.
    """
    try:
        return yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f'{argument} {file}: {error}') from error


def controller_parameters(file: Path, name: str) -> dict[str, Any]:
    """Return the parameters of a node in a parameter file, whatever its namespace there.

    Raises
    ------
    ParameterError
        When there are none.
    """
    for node, parameters in nodes_in(read_yaml(file, 'controllers_file')):
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
    namespace = LaunchConfiguration('namespace').perform(context).strip('/')
    return f'/{namespace}/{name}' if namespace else f'/{name}'


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

    Parameters
    ----------
    temporary : tuple of str
        Beginnings of the names of those that end while the rest goes on.
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
        if not event.process_name.startswith('computed_torque') or REFUSAL not in event.text:
            return None
        return ending(f'{event.process_name} is not configured, and nothing else drives')

    return RegisterEventHandler(OnProcessIO(on_stdout=shut_down, on_stderr=shut_down))


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
