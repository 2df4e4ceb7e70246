"""Arguments and parameter files of the launch files, checked before anything starts. No ROS.

What launch says of a wrong argument is that "a string could not be converted"; what a node says of
a wrong value comes when everything else is running. Here both are refused, by the name that the
user typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ne_dynamics.control.laws import Mode
from ne_dynamics.errors import ParameterError
from ne_dynamics.ros.settings.command_layout import EFFORT, CommandType
from ne_dynamics.settings import ParameterSpec, ParameterTable, Settings

LEADER = ParameterSpec('leader', 'bool', False, 'Whether the arm is led by hand.')

USE_SIM_TIME = ParameterSpec('use_sim_time', 'bool', False, 'Of every ROS node.')

WITH_ANNOTATOR = ParameterSpec(
    'annotator', 'bool', False, 'Whether the node annotator is started too.'
)

LOG_LEVELS = ('debug', 'info', 'warn', 'error', 'fatal')


def check_argument(argument: str, text: str, spec: ParameterSpec) -> None:
    """Refuse an argument whose text, as it was typed, is not a value that its parameter may have.

    An empty text is no value: nothing was given.

    Raises
    ------
    ParameterError
        With the argument, what was expected and what was found.
    """
    if not text:
        return
    value: Any = text
    if spec.type != 'string':
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text
    try:
        if spec.type.endswith('[]') and not isinstance(value, list):
            raise ParameterError(f'{spec.name}: expected a list ({spec.type}), got {value!r}')
        spec.check(value)
    except ParameterError as error:
        raise ParameterError(f'argument {argument}:={text}: {error}') from None


def read_leader(text: str) -> bool:
    """Return what the argument `leader` says: whether the arm is led by hand.

    Raises
    ------
    ParameterError
        When it is neither true nor false.
    """
    check_argument('leader', text, LEADER)
    return bool(yaml.safe_load(text))


def check_leader(mode: str, what: str) -> None:
    """Refuse a mode that an arm which is led by hand cannot have; empty where none is given.

    `what` says where it was given, for the message.

    Raises
    ------
    ParameterError
        Unless it is gravity_compensation, or empty.
    """
    expected = Mode.GRAVITY_COMPENSATION.value
    if mode not in ('', expected):
        raise ParameterError(
            f'{what}: expected {expected} or none with leader:=true, which follows nothing, got '
            f'{mode!r}'
        )


def check_log_level(text: str) -> None:
    """Refuse what is no log level, `info`, nor one of a logger, `computed_torque:=debug`.

    Raises
    ------
    ParameterError
        With the levels that there are.
    """
    if text.rpartition(':=')[2].lower() not in LOG_LEVELS:
        raise ParameterError(
            f'argument log_level:={text}: expected one of {", ".join(LOG_LEVELS)}, got {text!r}'
        )


def check_file(path: str, values: Mapping[str, Any], table: ParameterTable[Settings]) -> None:
    """Refuse a parameter file that has a value which its parameter may not have.

    `values` are those that it has for the node, by name. Names that the table lacks are the
    node's to warn of.

    Raises
    ------
    ParameterError
        With the path of the file and what is wrong with each.
    """
    faults = []
    for name, value in values.items():
        spec = table.by_name.get(name)
        try:
            if spec is not None and value is not None:
                spec.check(value)
        except ParameterError as error:
            faults.append(str(error))
    if faults:
        raise ParameterError(f'{path}: {"; ".join(faults)}')


def check_efforts_alone(path: str, values: Mapping[str, Any], taker: str) -> None:
    """Refuse a parameter file with commands that those which are started beside the node drop.

    `values` are those that it has for the node, by name; `taker` is who takes the commands.

    Raises
    ------
    ParameterError
        Unless commands are arrays of efforts; with the path of the file.
    """
    array = CommandType.FLOAT64_MULTI_ARRAY.value
    for name, expected in (('command.type', array), ('command.interfaces', [EFFORT])):
        value = values.get(name, expected)
        if value != expected:
            raise ParameterError(
                f'{path}: {name}: expected {expected}, all that {taker} takes, got {value}'
            )
