"""What users of the package rely on, as what can be stored and compared again.

Names, types and defaults of parameters; topics, services and actions with their types; options
of all commands; arguments of launch files; public names of Python; operation counts and the
printed equations.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import enum
import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

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

_COUNT = itertools.count()

ARM = {'model_file': str(shipped_file('six_axis_arm.urdf')), 'backend': 'python'}
NODES: dict[str, tuple[str, str, dict[str, Any]]] = {
    'computed_torque': (
        'ne_dynamics.ros.node:ComputedTorqueNode',
        'ne_dynamics.ros.settings.parameters:PARAMETERS',
        ARM
        | {
            'autostart': False,
            'wrench.enabled': True,
            'wrench.sensor_link': 'ft_sensor',
            'imu.enabled': True,
            'observer.mode': 'estimate',
        },
    ),
    'annotator': (
        'ne_dynamics.ros.annotator.node:AnnotatorNode',
        'ne_dynamics.ros.annotator.settings:ANNOTATOR_PARAMETERS',
        ARM | {'imu.enabled': True, 'controller': '/joint_trajectory_controller'},
    ),
    'simulated_robot': (
        'ne_dynamics.simulation.simulated_robot:SimulatedRobot',
        'ne_dynamics.simulation.simulated_robot:PARAMETERS',
        {
            'model_file': ARM['model_file'],
            'wrench.sensor_link': 'ft_sensor',
            'imu.link': 'base_link',
            **dict.fromkeys(('brake', 'publish_clock', 'lockstep', 'paced'), True),
        },
    ),
}
"""By name: class, its parameters, and those with which all that it offers is in use."""


def record_node(name: str) -> dict[str, Any]:
    """Return what a node offers for the shipped arm, all its sensors in use; nobody spins it.

    The messages of its action must be importable.
    """
    from rclpy.context import Context

    from ne_dynamics.ros.running.private_domain import private_domain
    from ne_dynamics.simulation.demo.node_messages import parameter_of

    kind, specs, values = NODES[name]
    context = Context()
    context.init(domain_id=private_domain())
    try:
        node = resolve_name(kind)(
            context=context,
            parameter_overrides=[parameter_of(*item) for item in values.items()],
            # The graph may still hold a node of that name which an earlier test has destroyed.
            namespace=f'/of_interfaces_{next(_COUNT)}',
        )
        try:
            if not values.get('autostart', True):
                node.trigger_configure()
                assert node.state_label == 'inactive'
            parameters = _describe_parameters(node)
            for spec in resolve_name(specs):
                parameters[spec.name]['default'] = _plain(spec.default)
            return {'parameters': parameters, **_describe_connections(node)}
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
    options: dict[str, Any] = {}
    for command in sorted(COMMANDS):
        of_command = _describe_parser(build_parser(command))[command]
        options[f'ne_dynamics {command}'] = of_command
    return options | {'executables': _list_executables()}


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
    setup = (ROOT / 'setup.py').read_text(encoding='utf-8')
    return sorted(re.findall(r"'(\w+) = ne_dynamics\.", setup))


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
    pairs = zip(NUMBER.findall(stored), NUMBER.findall(found), strict=False)
    if NUMBER.sub('#', stored) == NUMBER.sub('#', found) and all(
        abs(float(old) - float(new)) <= tolerance * abs(float(old)) for old, new in pairs
    ):
        return []
    texts = stored.splitlines(), found.splitlines()
    return list(difflib.unified_diff(*texts, 'stored', 'found', lineterm=''))
