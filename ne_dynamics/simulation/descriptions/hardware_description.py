"""Complete the URDF of any arm for ros2_control: in MuJoCo, or behind topics.

`mujoco_ros2_control` runs MuJoCo inside the controller manager. It needs a model of its own in
MuJoCo's XML, with an actuator of type motor and gear 1 at each joint that takes commands; the
joints of the two are matched by name. :func:`mjcf_with_motors` makes one of the URDF. The state
interface `effort` has an ``initial_value``: the plugin takes it for the command too, which holds
the arm until a controller claims the joint.

`joint_state_topic_hardware_interface` hands commands to whoever listens, and takes states from
there: both are `sensor_msgs/JointState`. ``trigger_joint_command_threshold`` is -1: a command that
is near the measured effort would not be sent.
"""

from __future__ import annotations

import os
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.typing import ArrayLike

from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.errors import InputError, ModelError, optional_dependency
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.simulation.descriptions.control_description import (
    Hardware,
    add_control,
    choose_positions,
    parse_description,
    remove_control,
)

MUJOCO_PLUGIN = 'mujoco_ros2_control/MujocoSystemInterface'
TOPIC_PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'


def mujoco_hardware(model_file: str | os.PathLike[str], *, headless: bool = True) -> Hardware:
    """Return MuJoCo as hardware.

    Parameters
    ----------
    model_file : str or path
        Of the model in MuJoCo's XML, as the controller manager is to find it.
    headless : bool, optional
        Whether there is no window.
    """
    file = os.fspath(model_file)
    if not isinstance(file, str) or not file:
        raise InputError(f'model_file: expected a file name, got {file!r}')
    parameters = {'mujoco_model': file, 'headless': 'true' if headless else 'false'}
    return Hardware('mujoco', MUJOCO_PLUGIN, parameters)


def topic_hardware(commands_topic: str, states_topic: str) -> Hardware:
    """Return hardware behind topics.

    Parameters
    ----------
    commands_topic, states_topic : str
        Of `sensor_msgs/JointState`: efforts to the arm, and its states.

    Raises
    ------
    InputError
        When a topic is empty, or both are one.
    """
    topics = {'joint_commands_topic': commands_topic, 'joint_states_topic': states_topic}
    for name, topic in topics.items():
        if not topic:
            raise InputError(f'{name}: expected a topic, got {topic!r}')
    if commands_topic == states_topic:
        raise InputError(
            f'joint_states_topic: expected another one than that of the commands, '
            f'got {states_topic!r}'
        )
    return Hardware('topics', TOPIC_PLUGIN, {**topics, 'trigger_joint_command_threshold': '-1'})


def hardware_description(
    path_or_xml: str | os.PathLike[str] | bytes,
    hardware: Hardware,
    *,
    initial_position: Mapping[str, float] | None = None,
    gravity: Sequence[float] = STANDARD_GRAVITY,
) -> str:
    """Return the URDF of an arm, completed for ros2_control.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        URDF of the arm: a file name, or the XML itself. What it has of ``<ros2_control>`` is
        replaced.
    hardware : Hardware
    initial_position : mapping of str to float, optional
        Where joints stand at the start [rad or m]; arms behind topics stand where they stand.
        Default: zero, or the nearest limit of a joint that cannot stand at zero.
    gravity : sequence of 3 floats, optional
        Acceleration of free fall in the axes of the root [m/s^2], for the efforts at the start.

    Raises
    ------
    ModelError
        When the description is wrong.
    InputError
        When an array or a name is wrong, a position is not within the limits, or is given for an
        arm behind topics.
    """
    robot = load_urdf(path_or_xml)
    root = parse_description(path_or_xml)
    remove_control(root)
    if hardware.plugin == MUJOCO_PLUGIN:
        positions = choose_positions(robot, initial_position or {})
        efforts = Dynamics(robot, gravity=gravity, backend='python').gravity_torque(positions)
        add_control(root, robot, hardware, positions, efforts)
    else:
        if initial_position:
            raise InputError(
                'initial_position: expected none for an arm behind topics, which stands where it '
                f'stands, got {dict(initial_position)}'
            )
        add_control(root, robot, hardware)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding='unicode') + '\n'


def mjcf_with_motors(robot: Robot, *, gravity: ArrayLike = STANDARD_GRAVITY) -> str:
    """Return a model for MuJoCo with a motor at each joint, without shapes: nothing collides.

    Masses, inertias, viscous and Coulomb friction, rotors, limits and mimic joints are those of
    the robot, to six digits. The base is the world.

    Parameters
    ----------
    robot : Robot
    gravity : array-like, shape (3,), optional
        Acceleration of free fall in the axes of the base [m/s^2].

    Returns
    -------
    str
        In MuJoCo's XML; motors are named after their joints.

    Raises
    ------
    MissingDependencyError
        When MuJoCo is not installed.
    ModelError
        When MuJoCo cannot simulate the robot: a link whose inertia no body can have, for one.
    """
    with optional_dependency('a model for MuJoCo needs MuJoCo', 'sim'):
        import mujoco
    from ne_dynamics.simulation.mujoco_model import MujocoArm

    arm = MujocoArm(
        robot,
        gravity=gravity,
        period=0.001,
        substeps=1,
        integrator='implicitfast',
        joint_limits=True,
    )
    # What was compiled, with the inertias that were written into it since.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'arm.xml'
        mujoco.mj_saveLastXML(str(path), arm.model)
        root = ElementTree.fromstring(path.read_text(encoding='utf-8'))
    _add_motors(root, robot)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding='unicode') + '\n'
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise ModelError(f'robot {robot.name!r}: MuJoCo cannot simulate it: {reason}') from None
    return text


def _add_motors(root: ElementTree.Element, robot: Robot) -> None:
    actuators = ElementTree.SubElement(root, 'actuator')
    for joint in robot.joints:
        limits: dict[str, str] = {}
        if 0.0 < joint.effort_limit < float('inf'):
            limit = float(joint.effort_limit)
            limits = {'ctrllimited': 'true', 'ctrlrange': f'{-limit!r} {limit!r}'}
        names = {'name': joint.name, 'joint': joint.name}
        ElementTree.SubElement(actuators, 'motor', names | limits)
