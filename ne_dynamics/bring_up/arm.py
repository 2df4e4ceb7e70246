"""What a bring-up package is filled with."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.simulation.descriptions.control_description import (
    choose_positions,
    parse_description,
)

PACKAGE_NAME = re.compile('[a-z][a-z0-9]*(_[a-z0-9]+)*')
"""Of a ROS package: REP 144."""

STROKE = 0.2
"""How far the example motion moves each joint, at most [rad or m]."""


@dataclass(frozen=True, eq=False)
class BroughtUpArm:
    """An arm, as the files of its bring-up package name it.

    Attributes
    ----------
    package : str
        Name of the ROS package.
    robot : Robot
    description : str
        Text of its URDF.
    tip_link : str
        Last link of the chain.
    locked_joints : mapping of str to float
        Joints that do not move, and where they are [rad or m].
    """

    package: str
    robot: Robot
    description: str
    tip_link: str
    locked_joints: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_package_name(self.package)

    @property
    def joints(self) -> list[str]:
        """Names of the joints, in the order of the model."""
        return list(self.robot.joint_names)

    @property
    def effort_limits(self) -> list[float] | None:
        """Limits [N m or N]; None where a joint has none."""
        limits = [joint.effort_limit for joint in self.robot.joints]
        return limits if all(0.0 < limit < math.inf for limit in limits) else None

    @property
    def start(self) -> list[float]:
        """Where the simulated arm stands at the start [rad or m]."""
        return [float(position) for position in choose_positions(self.robot, {})]

    @property
    def target(self) -> list[float]:
        """Where the example motion ends [rad or m]: away from the nearer limit."""
        return [
            _move(joint, start) for joint, start in zip(self.robot.joints, self.start, strict=True)
        ]

    @property
    def joints_without_effort(self) -> list[str] | None:
        """Joints that `<ros2_control>` gives no command interface `effort`; None without it."""
        return find_joints_without_effort(self.description, self.joints, 'command_interface')

    @property
    def remarks(self) -> list[str]:
        """What is doubtful, one sentence each."""
        remarks = []
        if self.joints_without_effort:
            names = ', '.join(self.joints_without_effort)
            remarks.append(f'no command interface effort in <ros2_control>: {names}')
        if self.effort_limits is None:
            remarks.append('a joint has no effort limit: set effort_limits before the first trial')
        return remarks


def find_joints_without_effort(
    description: str, joints: Sequence[str], kind: str
) -> list[str] | None:
    """Return the joints that `<ros2_control>` gives no interface `effort`.

    Parameters
    ----------
    description : str
        Text of a URDF.
    joints : sequence of str
    kind : str
        'command_interface' or 'state_interface'.

    Returns
    -------
    list of str or None
        None where the URDF has no `<ros2_control>`.
    """
    tags = parse_description(description).findall('ros2_control')
    has_effort = {
        joint.get('name')
        for tag in tags
        for joint in tag.findall('joint')
        if any(one.get('name') == 'effort' for one in joint.findall(kind))
    }
    return [name for name in joints if name not in has_effort] if tags else None


def check_package_name(name: str) -> None:
    """Raise an error on what is no name of a ROS package.

    Raises
    ------
    InputError
    """
    if not PACKAGE_NAME.fullmatch(name):
        raise InputError(
            'package name: expected lower-case letters, digits and single underscores, '
            f'beginning with a letter, got {name!r}'
        )


def _move(joint: Joint, start: float) -> float:
    up, down = joint.upper - start, start - joint.lower
    stroke = min(STROKE, 0.5 * max(up, down))
    return round(start + (stroke if up >= down else -stroke), 4)
