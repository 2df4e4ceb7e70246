"""The recursion as it stands in the textbook, in NumPy: what a person writes in an afternoon.

J. J. Craig, "Introduction to Robotics: Mechanics and Control", equations 6.45 to 6.53 (the
outward and inward iterations of Luh, Walker and Paul 1980): 3x3 rotations, `numpy.cross`, full
inertia tensors about the centre of mass, one link after the other. Nothing is prepared but what
does not depend on the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class TextbookLink:
    """One link of a chain; its frame sits on its joint, z along the axis.

    Attributes
    ----------
    rotation : array, shape (3, 3)
        From the link's axes to those of the one before it, at joint position zero.
    position : array, shape (3,)
        Of the frame, in the axes of the one before it [m], at joint position zero.
    mass : float
        [kg]
    center_of_mass : array, shape (3,)
        In the link's frame [m].
    inertia : array, shape (3, 3)
        About the centre of mass, in the link's axes [kg m^2].
    rotor_inertia : float
        As the joint feels it [kg m^2 or kg].
    is_prismatic : bool
    """

    rotation: FloatArray
    position: FloatArray
    mass: float
    center_of_mass: FloatArray
    inertia: FloatArray
    rotor_inertia: float
    is_prismatic: bool


def textbook_links(robot: Robot) -> list[TextbookLink]:
    """Return a chain's links with the z axes on the joints.

    Raises
    ------
    ModelError
        When the robot is not a chain, or has mimic joints.
    """
    if not robot.is_chain or len(robot.bodies) != robot.n:
        raise ModelError(f'robot {robot.name!r}: expected a chain without mimic joints')
    links = []
    body_to_link_before = np.eye(3)
    for body in robot.bodies:
        body_to_link = rotation_to_z(body.axis)
        pose = body.pose_in_parent
        joint = robot.joints[body.coordinate]
        links.append(
            TextbookLink(
                rotation=body_to_link_before @ pose.rotation @ body_to_link.T,
                position=body_to_link_before @ pose.translation,
                mass=body.inertia.mass,
                center_of_mass=body_to_link @ body.inertia.center_of_mass,
                inertia=body_to_link @ body.inertia.inertia_about_com @ body_to_link.T,
                rotor_inertia=joint.reflected_inertia,
                is_prismatic=body.joint_type.is_prismatic,
            )
        )
        body_to_link_before = body_to_link
    return links


def rotation_to_z(axis: FloatArray) -> FloatArray:
    """Return a rotation matrix that takes a unit axis to z; no rotation when it is z."""
    if axis[2] == 1.0:
        return np.eye(3)
    other = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(axis, x), axis])


def inverse_dynamics(
    links: Sequence[TextbookLink],
    gravity: FloatArray,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
) -> FloatArray:
    """Return the joint efforts of a chain, without friction.

    Parameters
    ----------
    links : sequence of TextbookLink
        Of length n.
    gravity : array, shape (3,)
        Acceleration of gravity in base axes [m/s^2].
    q, qd, qdd : array, shape (n,)
        [rad or m], and per second, and per second squared.

    Returns
    -------
    array, shape (n,)
        [N m or N]
    """
    n = len(links)
    rotations, positions, forces, moments = [], [], [], []

    # Outward: velocities and accelerations, then what each link's motion takes.
    w = np.zeros(3)
    wd = np.zeros(3)
    vd = -gravity
    for i, link in enumerate(links):
        if link.is_prismatic:
            rotation = link.rotation
            position = link.position + link.rotation @ (q[i] * Z)
        else:
            cosine, sine = np.cos(q[i]), np.sin(q[i])
            turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
            rotation = link.rotation @ turn
            position = link.position
        to_link = rotation.T
        # (6.47), (6.48): the origin's acceleration, seen from the link before
        vd = to_link @ (np.cross(wd, position) + np.cross(w, np.cross(w, position)) + vd)
        if link.is_prismatic:
            w = to_link @ w
            wd = to_link @ wd
            vd = vd + 2.0 * np.cross(w, qd[i] * Z) + qdd[i] * Z
        else:
            # (6.45), (6.46)
            wd = to_link @ wd + np.cross(to_link @ w, qd[i] * Z) + qdd[i] * Z
            w = to_link @ w + qd[i] * Z
        # (6.49): acceleration of the centre of mass
        com = link.center_of_mass
        vd_com = np.cross(wd, com) + np.cross(w, np.cross(w, com)) + vd
        # (6.50), (6.51): Newton, Euler
        rotations.append(rotation)
        positions.append(position)
        forces.append(link.mass * vd_com)
        moments.append(link.inertia @ wd + np.cross(w, link.inertia @ w))

    # Inward: what each link exerts on the one before.
    tau = np.zeros(n)
    f = np.zeros(3)
    m = np.zeros(3)
    rotation = np.eye(3)
    position = np.zeros(3)
    for i in reversed(range(n)):
        link = links[i]
        # (6.52), (6.53)
        f_next = rotation @ f
        m = (
            moments[i]
            + rotation @ m
            + np.cross(link.center_of_mass, forces[i])
            + np.cross(position, f_next)
        )
        f = f_next + forces[i]
        tau[i] = (f @ Z if link.is_prismatic else m @ Z) + link.rotor_inertia * qdd[i]
        rotation, position = rotations[i], positions[i]
    return tau
