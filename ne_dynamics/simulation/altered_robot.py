"""Robots that are not what a model says: other masses, a load on a link."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.model.robot import Link, Robot


def scale_masses(robot: Robot, scale: float) -> Robot:
    """Return the robot with all masses and inertias multiplied by a factor (a model error).

    Rotor inertia and friction stay.

    Raises
    ------
    InputError
        When `scale` is not a finite number greater than 0.
    """
    if not (math.isfinite(scale) and scale > 0.0):
        raise InputError(f'mass scale: expected a finite number > 0, got {scale}')
    if scale == 1.0:
        return robot
    return robot.with_links(
        replace(link, inertia=link.inertia.scaled(scale)) for link in robot.links
    )


def scale_friction(robot: Robot, scale: float) -> Robot:
    """Return the robot with viscous and Coulomb friction of all joints and drives by a factor.

    Raises
    ------
    InputError
        When `scale` is not a finite number >= 0.
    """
    if not (math.isfinite(scale) and scale >= 0.0):
        raise InputError(f'friction scale: expected a finite number >= 0, got {scale}')
    if scale == 1.0:
        return robot
    drives = tuple(drive.scaled(1.0, scale) for drive in robot.coupled_drives)
    robot = replace(robot, coupled_drives=drives)
    for key in ('viscous_friction', 'coulomb_friction'):
        robot = robot.with_joint_values(key, scale * robot.joint_values(key))
    return robot


def with_hung_mass(
    robot: Robot, mass: float, center_of_mass: ArrayLike, link_name: str = ''
) -> Robot:
    """Return the robot with a point mass fixed to a link, as a link of its own beyond it.

    Beyond it: hung on a sensor's link, the mass is in the sensor's reading.

    Parameters
    ----------
    robot : Robot
    mass : float
        [kg]
    center_of_mass : array-like, shape (3,)
        In the frame of the link [m].
    link_name : str
        Default: the tip.

    Raises
    ------
    ModelError
        When the link is unknown, or none is named and the robot has no tip.
    """
    carrier = robot.link(link_name) if link_name else robot.tip
    name = 'payload'
    while any(link.name == name for link in robot.links):
        name += '_'
    payload = Link(
        name,
        carrier.body,
        carrier.pose_in_body,
        carrier.name,
        Inertia(mass, np.array(center_of_mass, dtype=np.float64), np.zeros((3, 3))),
    )
    return robot.with_links((*robot.links, payload))
