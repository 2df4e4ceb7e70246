"""Poses that are asked for, and how far others are from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray

ROTATION_TOLERANCE = 1e-6
"""How far R R^T may be from the identity, entry by entry: six digits of a file."""

LARGEST_TRANSLATION = 1e100
"""[m]; squares of it do not overflow."""


def check_pose(value: ArrayLike, name: str) -> FloatArray:
    """Return a homogeneous matrix as floats, its rotation orthonormal to round-off.

    Parameters
    ----------
    value : array-like, shape (4, 4)
    name : str
        Of the argument, for messages.

    Returns
    -------
    array, shape (4, 4)
        With the rotation that is nearest to the given one.

    Raises
    ------
    InputError
        When it is not a homogeneous matrix of a rotation and a translation.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f'{name}: expected an array without mask, got a masked array')
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different length
        raise InputError(f'{name}: expected an array of shape (4, 4), got {value!r}') from error
    if array.dtype.kind not in 'fiu':
        raise InputError(f'{name}: expected real numbers, got {array.dtype.name}')
    if array.shape != (4, 4):
        raise InputError(f'{name}: expected shape (4, 4), got {array.shape}')
    with np.errstate(over='ignore'):  # what is too large is not finite then
        pose = array.astype(np.float64)
    if not np.isfinite(pose).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(pose))[0])
        raise InputError(
            f'{name}: expected finite numbers, got {pose[row, column]} at index ({row}, {column})'
        )
    if pose[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise InputError(f'{name}: expected the last row [0, 0, 0, 1], got {pose[3].tolist()}')
    if np.abs(pose[:3, 3]).max() > LARGEST_TRANSLATION:
        raise InputError(
            f'{name}: expected a translation of at most {LARGEST_TRANSLATION:g} m, got '
            f'{pose[:3, 3].tolist()}'
        )
    rotation = pose[:3, :3]
    _check_rotation(rotation, name)
    left, _, right = np.linalg.svd(rotation)
    pose[:3, :3] = left @ right
    return pose


def _check_rotation(rotation: FloatArray, name: str) -> None:
    with np.errstate(over='ignore', invalid='ignore'):
        off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    if not off <= ROTATION_TOLERANCE:
        raise InputError(
            f'{name}: expected a rotation matrix, got rows that are not orthonormal: R R^T is '
            f'{off:.3g} from the identity, at most {ROTATION_TOLERANCE:g} is taken'
        )
    if np.linalg.det(rotation) < 0.0:
        raise InputError(f'{name}: expected a rotation matrix, got a reflection (determinant -1)')


def compute_rotation_vectors(rotations: FloatArray) -> FloatArray:
    """Return the rotation vectors, axis times angle, of rotation matrices.

    Parameters
    ----------
    rotations : array, shape (N, 3, 3)

    Returns
    -------
    array, shape (N, 3)
        [rad], of length 0 to pi. Accurate to round-off at any angle.
    """
    xx, yy, zz = (rotations[:, i, i] for i in range(3))
    sums = {(i, j): rotations[:, i, j] + rotations[:, j, i] for i, j in ((0, 1), (0, 2), (1, 2))}
    # With a unit quaternion p = (w, x, y, z) of the rotation, the entries below are 4 p p^T. The
    # row with the largest diagonal is p without cancellation, up to length and sign.
    products = np.empty((len(rotations), 4, 4))
    products[:, 0, 0] = 1.0 + xx + yy + zz
    products[:, 1, 1] = 1.0 + xx - yy - zz
    products[:, 2, 2] = 1.0 - xx + yy - zz
    products[:, 3, 3] = 1.0 - xx - yy + zz
    for place, (i, j) in enumerate(((2, 1), (0, 2), (1, 0)), start=1):
        products[:, 0, place] = products[:, place, 0] = rotations[:, i, j] - rotations[:, j, i]
    for (i, j), value in sums.items():
        products[:, i + 1, j + 1] = products[:, j + 1, i + 1] = value
    largest = np.argmax(np.diagonal(products, axis1=1, axis2=2), axis=1)
    quaternions = products[np.arange(len(rotations)), largest]
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    quaternions = np.where(quaternions[:, :1] < 0.0, -quaternions, quaternions)
    sines = np.linalg.norm(quaternions[:, 1:], axis=1)
    angles = 2.0 * np.arctan2(sines, quaternions[:, 0])
    # angle / sine of half of it is 2 where both vanish
    ratios = np.divide(angles, sines, out=np.full_like(sines, 2.0), where=sines > 0.0)
    return np.asarray(ratios[:, None] * quaternions[:, 1:])


def compute_pose_errors(poses: FloatArray, target: FloatArray) -> FloatArray:
    """Return the motions that lead from poses to a target.

    Parameters
    ----------
    poses : array, shape (N, 4, 4)
    target : array, shape (4, 4)

    Returns
    -------
    array, shape (N, 6)
        In the axes of each pose: translation [m], then rotation vector [rad].
    """
    rotations = poses[:, :3, :3]
    between = np.swapaxes(rotations, 1, 2) @ target[:3, :3]
    shifts = np.einsum('nji,nj->ni', rotations, target[:3, 3] - poses[:, :3, 3])
    return np.hstack([shifts, compute_rotation_vectors(between)])
