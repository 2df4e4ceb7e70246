"""The drivers of robots that the launch files know by name. No ROS.

What the node does differently for one is its file `config/driver_<name>.yaml`. Topics that have
another name cannot be in it: they are here, and their sources are in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ne_dynamics.errors import ParameterError

DRIVERS: Mapping[str, Mapping[str, str]] = {
    'generic': {},
    'franka': {'joint_states': 'franka/joint_states'},
    'ur_direct_torque': {'effort_commands': 'forward_effort_controller/commands'},
    'kinova': {},
    'gazebo': {},
    'mujoco': {},
}
"""Name of the driver -> launch argument of `computed_torque.launch.py` -> topic, where that is not
given."""


def find_driver(name: str) -> Mapping[str, str]:
    """Return the topics of a driver, by launch argument.

    Raises
    ------
    ParameterError
        When there is no driver of that name; the message lists those there are.
    """
    try:
        return DRIVERS[name]
    except KeyError:
        known = ', '.join(DRIVERS)
        raise ParameterError(f'driver: expected one of {known}, got {name!r}') from None


def driver_file(name: str) -> str:
    """Return the name of a driver's parameter file in `config`.

    Raises
    ------
    ParameterError
        When there is no driver of that name.
    """
    find_driver(name)
    return f'driver_{name}.yaml'


def find_changes(
    given: Mapping[str, Any], own: Mapping[str, Any], whose: str = 'driver'
) -> list[str]:
    """Return what the parameters of a user's file change of those given before, by name.

    A full copy of the default file changes all of them back. There is a text for each that both
    have with another value, as `terms.gravity: True (driver: False)`, where `whose` says what the
    ones before are of.
    """
    return [
        f'{name}: {own[name]} ({whose}: {value})'
        for name, value in given.items()
        if name in own and own[name] != value
    ]
