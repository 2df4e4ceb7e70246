"""Complete the URDF of any arm for Gazebo: ros2_control, a wrist sensor, a mount to the world.

A URDF says what an arm is, not what moves it. For Gazebo these are added:

- a link ``world`` that the root is fixed to, so that the arm does not fall over;
- ``<ros2_control>`` for gz_ros2_control: every joint that moves by itself takes efforts and gives
  position, velocity and effort; a mimic joint only gives them;
- Gazebo's plugin of gz_ros2_control, which runs the controller manager;
- a force-torque sensor in a fixed joint, which Gazebo then must not dissolve.

Where the joints stand at the start is their ``initial_value`` of `position`. That of `effort` is
what holds the arm there against gravity: the effort interface carries it from the moment a
controller claims it, until the first command. At zero the arm would fall meanwhile.

The sign of the sensor: Gazebo's physics gives the wrench that the parent link of the joint exerts
on the child link; ``measure_direction`` is ``child_to_parent``, its negative, what the tool exerts
on the arm. That is the habit of ROS and `wrench.measures: on_tool` here. ``frame`` is ``child``:
in the axes of the child link, about its origin (the joint's).
"""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

import numpy as np

from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import BASE, Robot
from ne_dynamics.model.urdf_tree import load_urdf

WORLD = 'world'
"""Name of the link that Gazebo takes for the world."""

MOUNT = 'world_mount'
"""Name of the joint that fixes the arm to it."""

HARDWARE_PLUGIN = 'gz_ros2_control/GazeboSimSystem'
GAZEBO_PLUGIN = 'gz_ros2_control::GazeboSimROS2ControlPlugin'
GAZEBO_PLUGIN_FILE = 'gz_ros2_control-system'
CONTROL_PLUGINS = (
    'gz_ros2_control',
    'ign_ros2_control',
    'gazebo_ros2_control',
    'gazebo_ros_control',
)
"""What runs joints in Gazebo, today's and the classic one: by name or file name of a plugin."""

WRENCH_INTERFACES = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')
SENSOR_RATE = 500.0
"""Readings a second of the force-torque sensor [Hz, simulated time]."""

_ZEROS = (0.0, 0.0, 0.0)


def gazebo_description(
    path_or_xml: str | os.PathLike[str] | bytes,
    controllers_file: str | os.PathLike[str],
    *,
    namespace: str = '',
    sensor_joint: str = '',
    initial_position: Mapping[str, float] | None = None,
    mount_xyz: Sequence[float] = _ZEROS,
    mount_rpy: Sequence[float] = _ZEROS,
    gravity: Sequence[float] = STANDARD_GRAVITY,
) -> str:
    """Return the URDF of an arm, completed for Gazebo.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        URDF of the arm: a file name, or the XML itself. What it has of ``<ros2_control>``, of the
        plugins that run joints (gz_ros2_control, and gazebo_ros_control and gazebo_ros2_control
        of the classic Gazebo) and of a force-torque sensor in that joint is replaced.
    controllers_file : str or path
        Parameters of the controller manager and its controllers, as Gazebo is to find them.
    namespace : str, optional
        ROS namespace of the controller manager. Default: none.
    sensor_joint : str, optional
        Fixed joint that holds a force-torque sensor; the sensor is named after the child link.
        Default: no sensor.
    initial_position : mapping of str to float, optional
        Where joints stand at the start [rad or m]. Default: zero, or the nearest limit of a joint
        that cannot stand at zero.
    mount_xyz, mount_rpy : sequence of 3 floats, optional
        Pose of the arm's root in the world [m], [rad], roll-pitch-yaw about fixed axes. Default:
        the world's origin.
    gravity : sequence of 3 floats, optional
        Acceleration of free fall in the axes of the world [m/s^2]: the world file's, for the
        efforts at the start.

    Returns
    -------
    str
        A URDF with the same links and joints, and ``world`` as its root.

    Raises
    ------
    ModelError
        When the description is wrong; when Gazebo could not simulate it as it is meant (a moving
        link or a sensor with no mass beyond it); when the sensor's joint is not there or not
        fixed; when an arm that is already fixed to ``world`` is to be mounted elsewhere.
    InputError
        When an array or a name is wrong, or a position is not within the limits.
    """
    robot = load_urdf(path_or_xml)
    root = _parsed(path_or_xml)
    namespace = _checked_namespace(namespace)
    file = os.fspath(controllers_file)
    if not isinstance(file, str) or not file:
        raise InputError(f'controllers_file: expected a file name, got {file!r}')
    xyz = frozen_array(mount_xyz, (3,), 'mount_xyz')
    rpy = frozen_array(mount_rpy, (3,), 'mount_rpy')
    free_fall = frozen_array(gravity, (3,), 'gravity')
    _remove_control(root)
    _check_masses(robot)
    _mount(root, xyz, rpy)
    positions = _initial_positions(robot, initial_position or {})
    efforts = _holding_efforts(root, positions, free_fall)
    sensor = ''
    if sensor_joint:
        _, sensor = _sensor_links(root, robot, sensor_joint)
    _add_control(root, robot, positions, efforts, sensor)
    if sensor:
        _add_sensor(root, sensor_joint, sensor)
    _add_plugin(root, file, namespace)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding='unicode') + '\n'


def links_at_sensor(
    path_or_xml: str | os.PathLike[str] | bytes, sensor_joint: str
) -> tuple[str, str]:
    """Return the links on both sides of a force-torque sensor in a fixed joint.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        URDF of the arm.
    sensor_joint : str
        The joint.

    Returns
    -------
    sensor_link : str
        Last link on the arm's side, the node's `wrench.sensor_link`.
    frame : str
        Link that the readings are in the frame of, and the name of the sensor.

    Raises
    ------
    ModelError
        When there is no such joint, when it is not fixed, or nothing with mass is beyond it.
    """
    robot = load_urdf(path_or_xml)
    return _sensor_links(_parsed(path_or_xml), robot, sensor_joint)


def _parsed(path_or_xml: str | os.PathLike[str] | bytes) -> ElementTree.Element:
    """Return the root element of a description that :func:`load_urdf` has accepted."""
    if isinstance(path_or_xml, (str, bytes)) and looks_like_xml(path_or_xml):
        document = (
            path_or_xml.lstrip('\ufeff \t\r\n') if isinstance(path_or_xml, str) else (path_or_xml)
        )
    else:
        document = read_file(path_or_xml)  # type: ignore[arg-type]
    root = ElementTree.fromstring(document)
    for element in root.iter():
        element.tag = element.tag.rpartition('}')[2]
    return root


def _checked_namespace(namespace: str) -> str:
    stripped = namespace.strip('/')
    if stripped and not all(part.isidentifier() for part in stripped.split('/')):
        raise InputError(f'namespace: expected a ROS namespace, got {namespace!r}')
    return stripped


def _remove_control(root: ElementTree.Element) -> None:
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


def _check_masses(robot: Robot) -> None:
    """Refuse what Gazebo would leave out of its model with a warning."""
    for body in robot.bodies:
        if body.inertia.mass <= 0.0:
            raise ModelError(
                f'joint {body.joint_name!r} moves link {body.name!r}: expected a mass on it, '
                f'which Gazebo needs, got {body.inertia.mass:g} kg'
            )


def _joint(root: ElementTree.Element, name: str) -> ElementTree.Element:
    for element in root.findall('joint'):
        if element.get('name') == name:
            return element
    names = ', '.join(repr(element.get('name')) for element in root.findall('joint'))
    raise ModelError(f'sensor_joint: expected one of {names}, got {name!r}')


def _attribute(joint: ElementTree.Element, tag: str) -> str:
    """Return the link that a joint of an accepted description names."""
    element = joint.find(tag)
    return '' if element is None else element.get('link', '')


def _sensor_links(root: ElementTree.Element, robot: Robot, sensor_joint: str) -> tuple[str, str]:
    joint = _joint(root, sensor_joint)
    if joint.get('type') != 'fixed':
        raise ModelError(
            f'sensor_joint: expected a fixed joint, got {sensor_joint!r}, which is '
            f'{joint.get("type")}'
        )
    parent, child = _attribute(joint, 'parent'), _attribute(joint, 'child')
    link = robot.link(child)
    if link.body == BASE:
        raise ModelError(
            f'sensor_joint: expected a joint on a moving link, got {sensor_joint!r} in the base'
        )
    # The joint cuts the body into two of Gazebo's links, and each of them needs a mass.
    beyond = {child, *robot.descendants(child)}
    masses = {True: 0.0, False: 0.0}
    for other in robot.links:
        if other.body == link.body:
            masses[other.name in beyond] += other.inertia.mass
    for name, is_beyond in ((child, True), (parent, False)):
        if masses[is_beyond] <= 0.0:
            raise ModelError(
                f'sensor_joint: {sensor_joint!r}: expected a mass on both sides, which Gazebo '
                f'needs, got {masses[is_beyond]:g} kg on link {name!r} and what is fixed to it'
            )
    return parent, child


def _mount(root: ElementTree.Element, xyz: FloatArray, rpy: FloatArray) -> None:
    """Fix the root link to the world, unless it is the world."""
    children = {_attribute(joint, 'child') for joint in root.findall('joint')}
    names = [element.get('name', '') for element in root.findall('link')]
    (base,) = (name for name in names if name not in children)
    if base == WORLD:
        if xyz.any() or rpy.any():
            raise ModelError(
                f'mount: expected no pose for an arm that its description fixes to {WORLD!r}, got '
                f'{xyz.tolist()}, {rpy.tolist()}'
            )
        return
    if WORLD in names:
        raise ModelError(f'link {WORLD!r}: expected it to be the root, got {base!r}')
    if any(element.get('name') == MOUNT for element in root.findall('joint')):
        raise ModelError(f'joint {MOUNT!r}: expected another name, this one is added')
    ElementTree.SubElement(root, 'link', name=WORLD)
    joint = ElementTree.SubElement(root, 'joint', name=MOUNT, type='fixed')
    ElementTree.SubElement(joint, 'parent', link=WORLD)
    ElementTree.SubElement(joint, 'child', link=base)
    ElementTree.SubElement(joint, 'origin', xyz=_numbers(xyz), rpy=_numbers(rpy))


def _numbers(values: Sequence[float] | FloatArray) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _initial_positions(robot: Robot, given: Mapping[str, float]) -> FloatArray:
    """Return where the joints stand at the start, shape (n,) [rad or m]."""
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


def _holding_efforts(
    root: ElementTree.Element, positions: FloatArray, gravity: FloatArray
) -> FloatArray:
    """Return what holds the mounted arm, shape (n,) [N m or N], in the order of the robot."""
    mounted = load_urdf(ElementTree.tostring(root))
    return Dynamics(mounted, gravity=gravity, backend='python').gravity_torque(positions)


def _state_interface(parent: ElementTree.Element, name: str, value: float | None) -> None:
    element = ElementTree.SubElement(parent, 'state_interface', name=name)
    if value is not None:
        ElementTree.SubElement(element, 'param', name='initial_value').text = repr(float(value))


def _add_control(
    root: ElementTree.Element,
    robot: Robot,
    positions: FloatArray,
    efforts: FloatArray,
    sensor: str,
) -> None:
    control = ElementTree.SubElement(root, 'ros2_control', name='gazebo', type='system')
    hardware = ElementTree.SubElement(control, 'hardware')
    ElementTree.SubElement(hardware, 'plugin').text = HARDWARE_PLUGIN
    for body in robot.bodies:
        joint = robot.joints[body.coordinate]
        element = ElementTree.SubElement(control, 'joint', name=body.joint_name)
        effort: float | None = None
        if body.joint_name == joint.name:
            effort = efforts[body.coordinate]
            command = ElementTree.SubElement(element, 'command_interface', name='effort')
            if 0.0 < joint.effort_limit < math.inf:
                for name, sign in (('min', -1.0), ('max', 1.0)):
                    ElementTree.SubElement(command, 'param', name=name).text = repr(
                        sign * joint.effort_limit
                    )
        position = body.multiplier * positions[body.coordinate] + body.offset
        _state_interface(element, 'position', position)
        _state_interface(element, 'velocity', None)
        _state_interface(element, 'effort', effort)
    if sensor:
        element = ElementTree.SubElement(control, 'sensor', name=sensor)
        for name in WRENCH_INTERFACES:
            _state_interface(element, name, None)


def _add_sensor(root: ElementTree.Element, joint: str, name: str) -> None:
    for element in root.findall('gazebo'):
        if element.get('reference') == joint:
            for other in element.findall('sensor'):
                if other.get('type') == 'force_torque':
                    element.remove(other)
    extension = ElementTree.SubElement(root, 'gazebo', reference=joint)
    ElementTree.SubElement(extension, 'preserveFixedJoint').text = 'true'
    sensor = ElementTree.SubElement(extension, 'sensor', name=name, type='force_torque')
    ElementTree.SubElement(sensor, 'always_on').text = 'true'
    ElementTree.SubElement(sensor, 'update_rate').text = repr(SENSOR_RATE)
    force_torque = ElementTree.SubElement(sensor, 'force_torque')
    ElementTree.SubElement(force_torque, 'frame').text = 'child'
    ElementTree.SubElement(force_torque, 'measure_direction').text = 'child_to_parent'


def _add_plugin(root: ElementTree.Element, controllers_file: str, namespace: str) -> None:
    extension = ElementTree.SubElement(root, 'gazebo')
    plugin = ElementTree.SubElement(
        extension, 'plugin', filename=GAZEBO_PLUGIN_FILE, name=GAZEBO_PLUGIN
    )
    ElementTree.SubElement(plugin, 'parameters').text = controllers_file
    ElementTree.SubElement(plugin, 'hold_joints').text = 'true'
    if namespace:
        ros = ElementTree.SubElement(plugin, 'ros')
        ElementTree.SubElement(ros, 'namespace').text = f'/{namespace}'
