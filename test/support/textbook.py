"""A plain recursive Newton-Euler recursion on numbers, straight from the textbook.

It reads the dataclasses of a robot and nothing else of the package: frames are those of the
description, every inertia stays where the description puts it, and all vectors are in base axes.
"""

import numpy as np


def rotation_about(axis, angle):
    """Return the matrix of a turn by `angle` [rad] about a unit axis."""
    x, y, z = axis
    c, s = np.cos(angle), np.sin(angle)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return c * np.eye(3) + s * skew + (1.0 - c) * np.outer(axis, axis)


def link_pose(robot, q, link):
    """Return the pose of a link's frame in the base link's frame, shape (4, 4)."""
    poses = {-1: np.eye(4)}
    for index, body in enumerate(robot.bodies):
        position = body.multiplier * q[body.coordinate] + body.offset
        axis = body.axis / np.linalg.norm(body.axis)
        motion = np.eye(4)
        if body.joint_type.is_prismatic:
            motion[:3, 3] = position * axis
        else:
            motion[:3, :3] = rotation_about(axis, position)
        poses[index] = poses[body.parent] @ _matrix(body.pose_in_parent) @ motion
    return poses[link.body] @ _matrix(link.pose_in_body)


def _matrix(transform):
    matrix = np.eye(4)
    matrix[:3, :3] = transform.rotation
    matrix[:3, 3] = transform.translation
    return matrix


def inverse_dynamics(robot, q, qd, qdd, gravity, wrench=None, base_motion=None):
    """Return the joint efforts, shape (n,), friction and rotor inertia included.

    Parameters
    ----------
    robot : Robot
    q, qd, qdd : array, shape (n,)
    gravity : array, shape (3,)
        In base axes [m/s^2].
    wrench : array, shape (6,), optional
        Force and moment that the tip link exerts on the environment, in tip axes.
    base_motion : array, shape (9,), optional
        Angular velocity, angular acceleration, linear acceleration of the base, in its axes.
    """
    base = np.zeros(9) if base_motion is None else np.asarray(base_motion, dtype=float)
    # Pose, angular velocity and acceleration, and acceleration of the origin, of every body.
    poses = {-1: (np.eye(3), np.zeros(3))}
    rates = {-1: (base[:3], base[3:6], base[6:] - np.asarray(gravity, dtype=float))}
    axes = []
    for index, body in enumerate(robot.bodies):
        rotation, origin = poses[body.parent]
        w, wd, a = rates[body.parent]
        position = body.multiplier * q[body.coordinate] + body.offset
        rate = body.multiplier * qd[body.coordinate]
        acceleration = body.multiplier * qdd[body.coordinate]
        local_axis = body.axis / np.linalg.norm(body.axis)
        joint_rotation = rotation @ body.pose_in_parent.rotation
        axis = joint_rotation @ local_axis
        arm = rotation @ body.pose_in_parent.translation
        if body.joint_type.is_prismatic:
            turned = joint_rotation
            arm = arm + position * axis
        else:
            turned = joint_rotation @ rotation_about(local_axis, position)
        a = a + np.cross(wd, arm) + np.cross(w, np.cross(w, arm))
        if body.joint_type.is_prismatic:
            a = a + 2.0 * rate * np.cross(w, axis) + acceleration * axis
        else:
            wd = wd + acceleration * axis + rate * np.cross(w, axis)
            w = w + rate * axis
        poses[index] = (turned, origin + arm)
        rates[index] = (w, wd, a)
        axes.append(axis)

    forces = np.zeros((len(robot.bodies) + 1, 3))  # the last row is the base's
    moments = np.zeros_like(forces)  # about each body's own origin
    for link in robot.links:
        if link.body == -1:
            continue
        rotation, _ = poses[link.body]
        w, wd, a = rates[link.body]
        own = link.inertia
        arm = rotation @ (
            link.pose_in_body.rotation @ own.center_of_mass + link.pose_in_body.translation
        )
        to_base = rotation @ link.pose_in_body.rotation
        tensor = to_base @ own.inertia_about_com @ to_base.T
        force = own.mass * (a + np.cross(wd, arm) + np.cross(w, np.cross(w, arm)))
        forces[link.body] += force
        moments[link.body] += tensor @ wd + np.cross(w, tensor @ w) + np.cross(arm, force)
    if wrench is not None and robot.tip.body != -1:
        rotation, _ = poses[robot.tip.body]
        to_base = rotation @ robot.tip.pose_in_body.rotation
        force = to_base @ np.asarray(wrench[:3], dtype=float)
        forces[robot.tip.body] += force
        moments[robot.tip.body] += to_base @ np.asarray(wrench[3:], dtype=float)
        moments[robot.tip.body] += np.cross(rotation @ robot.tip.pose_in_body.translation, force)

    efforts = np.zeros(robot.n)
    for index in reversed(range(len(robot.bodies))):
        body = robot.bodies[index]
        along = forces[index] if body.joint_type.is_prismatic else moments[index]
        efforts[body.coordinate] += body.multiplier * float(axes[index] @ along)
        arm = poses[index][1] - poses[body.parent][1]
        forces[body.parent] += forces[index]
        moments[body.parent] += moments[index] + np.cross(arm, forces[index])
    for coordinate, joint in enumerate(robot.joints):
        efforts[coordinate] += joint.gear_ratio**2 * joint.rotor_inertia * qdd[coordinate]
        efforts[coordinate] += joint.viscous_friction * qd[coordinate]
        efforts[coordinate] += joint.coulomb_friction * np.sign(qd[coordinate])
    return efforts
