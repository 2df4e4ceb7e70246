"""The robot that the parameters name, or a topic brings. No ROS."""

from __future__ import annotations

from dataclasses import replace

from ne_dynamics.errors import ModelError, NeDynamicsError
from ne_dynamics.model.extras import choose_extras
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.ros.settings.model_file import load_model_file
from ne_dynamics.ros.settings.parameters import ArmSettings
from ne_dynamics.ros.thresholds import NODE


def has_model_parameter(settings: ArmSettings) -> bool:
    """Return whether a parameter names the robot, so that the topic is not used."""
    return bool(settings.model_file or settings.robot_description)


def load_robot(settings: ArmSettings, description: str = '') -> Robot:
    """Return the robot that the parameters name, not cut.

    Where they name none it is `description`, a URDF as text.

    Raises
    ------
    ModelError
        When there is no robot, or it is wrong.
    ParameterError
        When the parameters contradict each other.
    """
    locked = settings.locked_joints.by_name()
    base_link, tip_link = settings.base_link or None, settings.tip_link or None
    extras = choose_extras(settings.model_extras_file)
    if settings.model_file:
        return load_model_file(settings.model_file, base_link, tip_link, locked, extras)
    text = settings.robot_description or description
    if not text:
        raise ModelError(
            'no robot: expected model_file, robot_description or a message on the topic '
            'robot_description, got none'
        )
    return load_urdf(text, base_link, tip_link, locked, extras)


def require_short(text: str) -> None:
    """Raise when a URDF that came by topic is too long to be read."""
    if len(text) > NODE.longest_description:
        raise ModelError(
            f'expected a URDF of at most {NODE.longest_description} characters, got {len(text)}'
        )


def check_description(settings: ArmSettings, text: str) -> None:
    """Raise when no parameters could make a robot of this URDF.

    Raises
    ------
    ModelError, ParameterError
        What is wrong with the text as the parameters have it read.
    """
    by_topic = replace(settings, model_file='', robot_description='')
    try:
        load_robot(by_topic, text)
    except NeDynamicsError as error:
        # Sound by itself: then a parameter is wrong, and configuring will say which.
        try:
            load_urdf(text)
        except NeDynamicsError:
            raise error from None
