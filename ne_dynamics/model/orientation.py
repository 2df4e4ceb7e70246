"""Orientations as quaternions, angles and direction cosines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray


def quaternion_rotation(quaternion: ArrayLike) -> FloatArray:
    """Return the rotation of a quaternion, shape (3, 3).

    Parameters
    ----------
    quaternion : array-like, shape (4,)
        x, y, z, w: the scalar last. Of any length but zero; it is normalised.

    Raises
    ------
    ModelError
        When a number is not finite, there are not four, or all are zero.
    """
    given = frozen_array(quaternion, (4,), 'quaternion')
    largest = float(np.abs(given).max())
    if largest == 0.0:
        raise ModelError('quaternion: expected a length above 0, got 0 0 0 0')
    # Scaled, so that the largest numbers do not overflow on the way.
    scaled = given / largest
    x, y, z, w = (scaled / np.linalg.norm(scaled)).tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def roll_pitch_yaw(rotation: ArrayLike) -> FloatArray:
    """Return fixed-axis roll, pitch, yaw of a rotation, as URDF writes them, shape (3,) [rad].

    Parameters
    ----------
    rotation : array-like, shape (3, 3)
        A proper rotation.

    Returns
    -------
    array, shape (3,)
        With a pitch between -pi/2 and pi/2; :meth:`Transform.from_xyz_rpy` gives the rotation
        back, where roll and yaw turn about the same axis too.
    """
    matrix = np.asarray(rotation, dtype=np.float64)
    yaw = np.arctan2(matrix[1, 0], matrix[0, 0])
    # What the yaw leaves is Ry(pitch) Rx(roll). At a pitch of pi/2 any yaw will do, and the roll
    # that belongs to this one makes up for it.
    sine, cosine = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-matrix[2, 0], cosine * matrix[0, 0] + sine * matrix[1, 0])
    roll = np.arctan2(
        sine * matrix[0, 2] - cosine * matrix[1, 2],
        cosine * matrix[1, 1] - sine * matrix[0, 1],
    )
    return np.array([roll, pitch, yaw])


def angular_velocity_of_axes(rotation: ArrayLike, rotation_rate: ArrayLike) -> FloatArray:
    """Return the angular velocity of axes whose direction cosines change, shape (3,) [rad/s].

    In the moving axes: L, M, N of 000 (B.12), the entries of ``A^T dA/dt`` (B.11).

    Parameters
    ----------
    rotation : array-like, shape (3, 3)
        Direction cosines A of (B.2): column k is moving axis k in the fixed axes.
    rotation_rate : array-like, shape (3, 3)
        Their time derivatives [1/s].

    Raises
    ------
    ModelError
        When a shape is another one or a number is not finite.
    """
    turned = frozen_array(rotation, (3, 3), 'rotation').T @ frozen_array(
        rotation_rate, (3, 3), 'rotation_rate [1/s]'
    )
    return np.array([turned[2, 1], turned[0, 2], turned[1, 0]])
