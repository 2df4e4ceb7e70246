"""The tag ``<ros2_control>`` of any arm: what runs its joints, for simulators and for topics."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Body, Robot
from ne_dynamics.model.urdf.xml_document import read_root

CONTROL_PLUGINS = (
    'gz_ros2_control',
    'ign_ros2_control',
    'gazebo_ros2_control',
    'gazebo_ros_control',
)
"""What runs joints in Gazebo, today's and the classic one: by name or file name of a plugin."""

WRENCH_INTERFACES = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')


@dataclass(frozen=True)
class Hardware:
    """What ros2_control is to load.

    Attributes
    ----------
    name : str
        Of the tag.
    plugin : str
    parameters : mapping of str to str
        Of the hardware.
    """

    name: str
    plugin: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def parse_description(path_or_xml: str | os.PathLike[str] | bytes) -> ElementTree.Element:
    """Return the root element of an accepted description, without namespaces in its tags."""
    root, _ = read_root(path_or_xml)
    for element in root.iter():
        element.tag = element.tag.rpartition('}')[2]
    return root


def remove_control(root: ElementTree.Element) -> None:
    """Remove what would run joints beside what is added: other hardware, the plugin itself."""
    for element in root.findall('ros2_control'):
        root.remove(element)
    for element in root.findall('gazebo'):
        for plugin in element.findall('plugin'):
            names = f'{plugin.get("name")} {plugin.get("filename")}'
            if any(known in names for known in CONTROL_PLUGINS):
                element.remove(plugin)
        if not element.attrib and not len(element):
            root.remove(element)


def choose_positions(robot: Robot, given: Mapping[str, float]) -> FloatArray:
    """Return where the joints stand at the start, shape (n,) [rad or m].

    Parameters
    ----------
    robot : Robot
    given : mapping of str to float
        By joint; the others stand at zero, or at the nearest limit.

    Raises
    ------
    InputError
        When a joint is unknown, or a position is not within its limits.
    """
    unknown = sorted(set(given) - set(robot.joint_names))
    if unknown:
        raise InputError(
            f'initial_position: expected joints out of {", ".join(robot.joint_names)}, got '
            f'{", ".join(map(repr, unknown))}'
        )
    positions = np.zeros(robot.n)
    for index, joint in enumerate(robot.joints):
        value = float(given.get(joint.name, min(max(0.0, joint.lower), joint.upper)))
        if not math.isfinite(value) or not joint.lower <= value <= joint.upper:
            raise InputError(
                f'initial_position: {joint.name}: expected a number from {joint.lower:g} to '
                f'{joint.upper:g}, got {value}'
            )
        positions[index] = value
    return positions


def _state_interface(parent: ElementTree.Element, name: str, value: float | None) -> None:
    element = ElementTree.SubElement(parent, 'state_interface', name=name)
    if value is not None:
        ElementTree.SubElement(element, 'param', name='initial_value').text = repr(float(value))


def add_control(
    root: ElementTree.Element,
    robot: Robot,
    hardware: Hardware,
    positions: FloatArray | None = None,
    efforts: FloatArray | None = None,
    sensor: str = '',
) -> None:
    """Add ``<ros2_control>``: every joint that moves by itself takes efforts, all give states.

    Joints that take commands come first: where commands are sent as one array, it then has the
    order of the names.

    Parameters
    ----------
    root : Element
        Of the URDF.
    robot : Robot
        What the URDF describes.
    hardware : Hardware
    positions : array, shape (n,), optional
        Where the joints stand at the start [rad or m]; not said where omitted.
    efforts : array, shape (n,), optional
        What holds them there [N m or N].
    sensor : str, optional
        Name of a force-torque sensor. Default: none.
    """
    control = ElementTree.SubElement(root, 'ros2_control', name=hardware.name, type='system')
    element = ElementTree.SubElement(control, 'hardware')
    ElementTree.SubElement(element, 'plugin').text = hardware.plugin
    for key, value in hardware.parameters.items():
        ElementTree.SubElement(element, 'param', name=key).text = value
    is_driven = [body.joint_name == robot.joints[body.coordinate].name for body in robot.bodies]
    for wanted in (True, False):
        for body, driven in zip(robot.bodies, is_driven, strict=True):
            if driven is wanted:
                effort = efforts[body.coordinate] if driven and efforts is not None else None
                position = None
                if positions is not None:
                    position = body.multiplier * positions[body.coordinate] + body.offset
                _add_joint(control, robot, body, position, effort, is_driven=driven)
    if sensor:
        element = ElementTree.SubElement(control, 'sensor', name=sensor)
        for name in WRENCH_INTERFACES:
            _state_interface(element, name, None)


def _add_joint(
    control: ElementTree.Element,
    robot: Robot,
    body: Body,
    position: float | None,
    effort: float | None,
    *,
    is_driven: bool,
) -> None:
    element = ElementTree.SubElement(control, 'joint', name=body.joint_name)
    limit = robot.joints[body.coordinate].effort_limit
    if is_driven:
        command = ElementTree.SubElement(element, 'command_interface', name='effort')
        if 0.0 < limit < math.inf:
            for name, sign in (('min', -1.0), ('max', 1.0)):
                ElementTree.SubElement(command, 'param', name=name).text = repr(sign * limit)
    _state_interface(element, 'position', position)
    _state_interface(element, 'velocity', None)
    _state_interface(element, 'effort', effort)
