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

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import BASE, Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.simulation.descriptions.control_description import (
    Hardware,
    add_control,
    choose_positions,
    parse_description,
    remove_control,
)

WORLD = 'world'
"""Name of the link that Gazebo takes for the world."""

MOUNT = 'world_mount'
"""Name of the joint that fixes the arm to it."""

HARDWARE_PLUGIN = 'gz_ros2_control/GazeboSimSystem'
GAZEBO_PLUGIN = 'gz_ros2_control::GazeboSimROS2ControlPlugin'
GAZEBO_PLUGIN_FILE = 'gz_ros2_control-system'

SENSOR_RATE = 500.0
"""Readings of the force-torque sensor a second of simulated time [Hz]."""

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
    root = parse_description(path_or_xml)
    namespace = _checked_namespace(namespace)
    file = os.fspath(controllers_file)
    if not isinstance(file, str) or not file:
        raise InputError(f'controllers_file: expected a file name, got {file!r}')
    xyz = frozen_array(mount_xyz, (3,), 'mount_xyz')
    rpy = frozen_array(mount_rpy, (3,), 'mount_rpy')
    free_fall = frozen_array(gravity, (3,), 'gravity')
    remove_control(root)
    _check_masses(robot)
    _mount(root, xyz, rpy)
    positions = choose_positions(robot, initial_position or {})
    efforts = _holding_efforts(root, positions, free_fall)
    sensor = ''
    if sensor_joint:
        _, sensor = _sensor_links(root, robot, sensor_joint)
    hardware = Hardware('gazebo', HARDWARE_PLUGIN)
    add_control(root, robot, hardware, positions, efforts, sensor)
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
    return _sensor_links(parse_description(path_or_xml), robot, sensor_joint)


def _checked_namespace(namespace: str) -> str:
    stripped = namespace.strip('/')
    if stripped and not all(part.isidentifier() for part in stripped.split('/')):
        raise InputError(f'namespace: expected a ROS namespace, got {namespace!r}')
    return stripped


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
    origin = {'xyz': xyz, 'rpy': rpy}
    texts = {key: ' '.join(map(repr, value.tolist())) for key, value in origin.items()}
    ElementTree.SubElement(joint, 'origin', texts)


def _holding_efforts(
    root: ElementTree.Element, positions: FloatArray, gravity: FloatArray
) -> FloatArray:
    """Return what holds the mounted arm, shape (n,) [N m or N], in the order of the robot."""
    mounted = load_urdf(ElementTree.tostring(root))
    return Dynamics(mounted, gravity=gravity, backend='python').gravity_torque(positions)


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
