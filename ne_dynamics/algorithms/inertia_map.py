"""From the inertial parameters of the bodies to those in a mechanism's frames, regrouped or not.

Both are linear in the parameters, and the coefficients follow from the geometry alone. They are
found once, by what each single parameter gives; then other inertias take some products of small
matrices.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.algorithms.loads import move_payload
from ne_dynamics.algorithms.mechanism import Mechanism, Moments, split_moments
from ne_dynamics.algorithms.mechanism_body import MOMENT_ENTRIES, PARAMETERS_PER_BODY, RigidInertia
from ne_dynamics.model.robot import BASE, FloatArray, Transform


class InertiaMap:
    """The linear map of one mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Its geometry counts; its inertias do not.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        bodies = mechanism.bodies
        unit = np.eye(PARAMETERS_PER_BODY)
        self._parents = [body.parent for body in bodies]
        self._own = np.array([_express_units(pose) for pose in mechanism.body_poses])
        kept, moved = [], []
        for body in bodies:
            parts = [split_moments(body, _read(column)) for column in unit]
            kept.append(np.column_stack([_write(part) for part, _ in parts]))
            moved.append(np.column_stack([_write(part) for _, part in parts]))
        self._kept, self._moved = np.array(kept), np.array(moved)

    def express(self, parameters: FloatArray) -> FloatArray:
        """Return each body's own inertia in the mechanism's frames, shape (b, 10).

        Parameters
        ----------
        parameters : array, shape (10 b,)
            :attr:`~ne_dynamics.model.rigid_body.Inertia.parameters` of each body of the model.

        Returns
        -------
        array, shape (b, 10)
            Mass [kg], first moment (3) [kg m], second moments xx, yy, zz, xy, xz, yz [kg m^2]
            about the origin of the frame, as in :class:`RigidInertia`.
        """
        rows = np.asarray(parameters).reshape(-1, PARAMETERS_PER_BODY, 1)
        expressed: FloatArray = (self._own @ rows)[..., 0]
        return expressed

    def regroup(self, expressed: FloatArray) -> FloatArray:
        """Return what the bodies have after regrouping, shape (b, 10).

        Parameters
        ----------
        expressed : array, shape (b, 10)
            From :meth:`express`.
        """
        lumped = expressed.copy()
        for index in reversed(range(len(lumped))):
            parent = self._parents[index]
            if parent != BASE:
                lumped[parent] += self._moved[index] @ lumped[index]
        regrouped: FloatArray = (self._kept @ lumped[..., np.newaxis])[..., 0]
        return regrouped


def _express_units(pose: Transform) -> FloatArray:
    """Return the matrix that takes parameters in the body's frame to the chosen one's moments.

    Parameters
    ----------
    pose : Transform
        Of the chosen frame in the body's frame.
    """
    columns = []
    for unit in np.eye(PARAMETERS_PER_BODY).tolist():
        mass, first, second = move_payload(pose.inverse(), unit)
        columns.append([mass, *first, *second])
    return np.array(columns, dtype=np.float64).T


def _read(numbers: FloatArray) -> Moments:
    first, second = numbers[1:4], numbers[4:]
    pseudo = np.zeros((3, 3))
    for (row, column), value in zip(MOMENT_ENTRIES, second, strict=True):
        pseudo[row, column] = pseudo[column, row] = value
    return Moments(float(numbers[0]), first, pseudo)


def _write(moments: Moments) -> list[float]:
    inertia = RigidInertia.from_arrays(*moments)
    return [inertia.mass, *inertia.first_moment, *inertia.second_moments]
