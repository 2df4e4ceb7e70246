"""What users of the package rely on, as what can be stored and compared again.

Names, types and defaults of parameters; topics, services and actions with their types; options
of all commands; arguments of launch files; public names of Python; operation counts and the
printed equations.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import enum
import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from build_control_msgs import ControlMessages, importable
from example_robots import EXAMPLES
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli.main import COMMANDS, build_parser
from ne_dynamics.model.robot import Robot
from ne_dynamics.shipped import shipped_file

ROOT = Path(__file__).resolve().parents[2]

# ---- nodes

OF_ROS = ('use_sim_time', 'start_type_description_service', 'qos_overrides.')
"""What the names of parameters begin with that every node has."""

TYPES_OF_ROS = ('lifecycle_msgs/', 'rcl_interfaces/', 'type_description_interfaces/')
"""What the types of topics and services begin with that every node has."""

_NODES = itertools.count()


def record_computed_torque(messages: ControlMessages) -> dict[str, Any]:
    """Return what the node offers, configured for the shipped arm, all its sensors in use.

    Parameters
    ----------
    messages : ControlMessages
        Which the action needs.
    """
    from ne_dynamics.ros.node import ComputedTorqueNode
    from ne_dynamics.ros.settings.parameters import PARAMETERS
    from ne_dynamics.simulation.demo.node_messages import parameter_of

    values = {
        'backend': 'python',
        'model_file': str(shipped_file('six_axis_arm.urdf')),
        'wrench.enabled': True,
        'wrench.sensor_link': 'ft_sensor',
        'imu.enabled': True,
        'observer.mode': 'estimate',
    }
    with importable(messages), _running(ComputedTorqueNode, {'autostart': False}) as node:
        parameters = _describe_parameters(node)
        parameters['autostart']['default'] = _plain(PARAMETERS.defaults.autostart)
        results = node.set_parameters([parameter_of(*item) for item in values.items()])
        assert all(result.successful for result in results), results
        node.trigger_configure()
        assert node.state_label == 'inactive'
        # Those of the joints are declared with the model.
        parameters = _describe_parameters(node) | parameters
        return {'parameters': parameters, **_describe_connections(node)}


def record_annotator(messages: ControlMessages) -> dict[str, Any]:
    """Return what the annotator offers, with the action, which needs messages."""
    from ne_dynamics.ros.annotator.node import AnnotatorNode
    from ne_dynamics.ros.annotator.settings import ANNOTATOR_PARAMETERS

    values = {
        'model_file': str(shipped_file('six_axis_arm.urdf')),
        'backend': 'python',
        'imu.enabled': True,
        'controller': '/joint_trajectory_controller',
    }
    with importable(messages), _running(AnnotatorNode, values) as node:
        parameters = _describe_parameters(node)
        for spec in ANNOTATOR_PARAMETERS:
            parameters[spec.name]['default'] = _plain(spec.default)
        return {'parameters': parameters, **_describe_connections(node)}


def record_simulated_robot() -> dict[str, Any]:
    """Return what the simulated robot offers, with all its sensors."""
    from ne_dynamics.simulation.simulated_robot import PARAMETERS, SimulatedRobot

    values = {
        'model_file': str(shipped_file('six_axis_arm.urdf')),
        'wrench.sensor_link': 'ft_sensor',
        'imu.link': 'base_link',
        'brake': True,
        'publish_clock': True,
        'lockstep': True,
        'paced': True,
    }
    with _running(SimulatedRobot, values) as node:
        parameters = _describe_parameters(node)
        for spec in PARAMETERS:
            parameters[spec.name]['default'] = _plain(spec.default)
        return {'parameters': parameters, **_describe_connections(node)}


@contextlib.contextmanager
def _running(kind: Callable[..., Any], values: Mapping[str, Any]) -> Iterator[Any]:
    """Make a node in a context of its own; nobody spins it."""
    from rclpy.context import Context

    from ne_dynamics.ros.running.private_domain import private_domain
    from ne_dynamics.simulation.demo.node_messages import parameter_of

    context = Context()
    context.init(domain_id=private_domain())
    try:
        overrides = [parameter_of(name, value) for name, value in values.items()]
        # The graph may still hold a node of that name which an earlier test has destroyed.
        namespace = f'/of_interfaces_{next(_NODES)}'
        node = kind(context=context, parameter_overrides=overrides, namespace=namespace)
        try:
            yield node
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()


def _describe_parameters(node: Any) -> dict[str, dict[str, Any]]:
    """Return type, present value and whether it is read only, of each parameter of a node."""
    result = {}
    for name in sorted(node.list_parameters([], 0).names):
        if name.startswith(OF_ROS):
            continue
        parameter, descriptor = node.get_parameter(name), node.describe_parameter(name)
        result[name] = {
            'type': parameter.type_.name.lower(),
            'default': _plain(parameter.value),
            'read_only': descriptor.read_only,
        }
    return result


def _describe_connections(node: Any) -> dict[str, dict[str, list[str]]]:
    """Return topics, services and actions of a node, by name with their types."""
    from rclpy.action import get_action_server_names_and_types_by_node

    own = node.get_name(), node.get_namespace()
    found = {
        'publishers': node.get_publisher_names_and_types_by_node(*own),
        'subscriptions': node.get_subscriber_names_and_types_by_node(*own),
        'services': node.get_service_names_and_types_by_node(*own),
        'actions': get_action_server_names_and_types_by_node(node, *own),
    }
    return {
        kind: {
            _shorten(name, *own): sorted(types)
            for name, types in sorted(names_and_types)
            # The topics and services of an action are its own.
            if not types[0].startswith(TYPES_OF_ROS) and '/_action/' not in name
        }
        for kind, names_and_types in found.items()
    }


def _shorten(name: str, node: str, namespace: str) -> str:
    """Return a name as the node gives it: private, relative, or absolute."""
    relative = name.removeprefix(f'{namespace}/')
    return re.sub(f'^{node}/', '~/', relative)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    return [_plain(item) for item in value]


# ---- command lines, launch files, Python


def record_options() -> dict[str, Any]:
    """Return the options and arguments of every subcommand, by what is typed."""
    return {
        f'ne_dynamics {command}': _describe_parser(_find_parser(build_parser(command), command))
        for command in sorted(COMMANDS)
    } | {'executables': _list_executables()}


def _find_parser(parser: argparse.ArgumentParser, command: str) -> argparse.ArgumentParser:
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    return commands.choices[command]


def _describe_parser(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """Return what a parser takes: spellings, how many values, and which of them there are."""
    found: dict[str, Any] = {}
    for action in parser._actions:
        if '--help' in action.option_strings:
            continue
        if isinstance(action, argparse._SubParsersAction):
            found |= {name: _describe_parser(item) for name, item in action.choices.items()}
            continue
        takes = {'values': _plain(action.nargs)}
        if action.choices is not None:
            takes['choices'] = [str(choice) for choice in action.choices]
        for spelling in action.option_strings or [f'({action.metavar or action.dest})']:
            found[spelling] = takes
    return found


def _list_executables() -> list[str]:
    """Return the names of the scripts that an installation has."""
    tree = ast.parse((ROOT / 'setup.py').read_text(encoding='utf-8'))
    (scripts,) = (
        value
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == 'console_scripts'
    )
    return sorted(text.partition('=')[0].strip() for text in ast.literal_eval(scripts))


def record_launch_arguments() -> dict[str, Any]:
    """Return the arguments of every launch file; `launch` is not needed."""
    return {
        path.name: sorted(_list_launch_arguments(ast.parse(path.read_text(encoding='utf-8'))))
        for path in sorted((ROOT / 'launch').glob('*.launch.py'))
    }


ARGUMENT_TABLES = ('ARGUMENTS', 'TOPICS')
"""Names of the tables in launch files that have one launch argument a row."""


def _list_launch_arguments(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ARGUMENT_TABLES:
            yield from map(ast.literal_eval, node.value.keys)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == 'DeclareLaunchArgument':
            yield from (item.value for item in node.args if isinstance(item, ast.Constant))


def record_python_names() -> dict[str, Any]:
    """Return what ``ne_dynamics`` and ``Dynamics`` offer, with the arguments and defaults."""
    names = {name: _describe_signature(getattr(ned, name)) for name in sorted(ned.__all__)}
    members = {
        name: _describe_signature(member)
        for name, member in inspect.getmembers(ned.Dynamics)
        if not name.startswith('_')
    }
    return {'ne_dynamics': names, 'Dynamics': members}


def _describe_signature(item: Any) -> dict[str, str] | str:
    """Return the arguments of what users call and their defaults, or what it is."""
    if not callable(item) or (isinstance(item, type) and item is not ned.Dynamics):
        return type(item).__name__
    return {
        name: '' if parameter.default is parameter.empty else repr(parameter.default)
        for name, parameter in inspect.signature(item).parameters.items()
        if name != 'self'
    }


# ---- equations

COUNTED: dict[str, Callable[[], Robot]] = {
    'puma560_standard_dh': lambda: ned.load_dh(shipped_file('puma560_standard_dh.yaml')),
    'puma560_modified_dh': lambda: ned.load_dh(shipped_file('puma560_modified_dh.yaml')),
    'six_link_dh': lambda: ned.load_dh(shipped_file('six_link_dh.yaml')),
    'six_axis_arm': lambda: ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'),
    **{
        name: EXAMPLES[name].load
        for name in ('UR5', 'Panda, fingers locked', 'Kinova j2s6s200 (continuous)', 'xArm7')
    },
}
"""Robots whose operations are counted; those of example-robot-data where it is installed.

The counts of these are the same on every processor. Of SO-101 and Z1 the regressor has numbers at
the tolerance, which one rounds to below it and another does not.
"""

PRINTED = {
    'three_axes': lambda: ned.load_urdf(short_arm()),
    'puma560': COUNTED['puma560_standard_dh'],
}
"""Robots whose equations are kept as text."""

LANGUAGES = {'python': 'py', 'numpy': 'numpy.py', 'array-api': 'array_api.py', 'c': 'c'}

NUMBER = re.compile(r'(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])')
"""A number in a text that is no part of a name."""


def record_counts(name: str) -> dict[str, list[int]]:
    """Return multiplications and additions of every function of a robot."""
    counts = ned.Dynamics(COUNTED[name](), backend='python').operation_counts()
    return {function: list(count) for function, count in counts.items()}


def print_equations(name: str) -> dict[str, str]:
    """Return texts by the names of their files: of one function all languages, others in one."""
    dynamics = ned.Dynamics(PRINTED[name](), backend='python')
    texts = {
        f'{name}_inverse_dynamics.{ending}': dynamics.source('inverse_dynamics', language)
        for language, ending in LANGUAGES.items()
    }
    for function, language in (
        ('gravity_torque', 'c'),
        ('computed_torque', 'c'),
        ('forward_dynamics', 'python'),
        ('jacobian', 'array-api'),
    ):
        texts[f'{name}_{function}.{LANGUAGES[language]}'] = dynamics.source(function, language)
    return texts


def list_text_differences(stored: str, found: str, tolerance: float) -> list[str]:
    """Return lines of a unified diff; numbers may differ by a part of themselves.

    Parameters
    ----------
    stored, found : str
    tolerance : float
    """
    pairs = list(zip(NUMBER.findall(stored), NUMBER.findall(found), strict=False))
    same = NUMBER.sub('#', stored) == NUMBER.sub('#', found) and all(
        abs(float(old) - float(new)) <= tolerance * abs(float(old)) for old, new in pairs
    )
    if same:
        return []
    return list(
        difflib.unified_diff(
            stored.splitlines(), found.splitlines(), 'stored', 'found', lineterm=''
        )
    )
