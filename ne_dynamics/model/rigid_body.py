"""A rigid body in a frame: the pose of the frame, and how mass is spread in it.

Units are SI; every array is read-only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import Frozen, checked_number, frozen_array

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


def cross_matrix(vector: ArrayLike) -> FloatArray:
    """Return the matrix of the cross product, ``cross_matrix(a) @ b == a x b``, shape (3, 3)."""
    x, y, z = np.asarray(vector, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True, eq=False)
class Transform(Frozen):
    """Pose of a source frame in a target frame: ``p_target = rotation @ p_source + translation``.

    Attributes
    ----------
    rotation : array, shape (3, 3)
        Axes of the source frame in the target frame, as columns; a proper rotation.
    translation : array, shape (3,)
        Origin of the source frame in the target frame [m].
    """

    rotation: FloatArray
    translation: FloatArray

    def __post_init__(self) -> None:
        rotation = frozen_array(self.rotation, (3, 3), 'rotation')
        with np.errstate(all='ignore'):
            # An overflow on the way ends in NaN, which no comparison holds for.
            error = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
            determinant = float(np.linalg.det(rotation))
        if not (error <= 1e-6 and determinant >= 0.0):
            raise ModelError(
                'rotation: expected a proper rotation matrix, got one that is '
                f'{error:.2g} away from orthogonal, determinant {determinant:.3g}'
            )
        object.__setattr__(self, 'rotation', rotation)
        object.__setattr__(
            self, 'translation', frozen_array(self.translation, (3,), 'translation')
        )

    @classmethod
    def identity(cls) -> Transform:
        """Return the identity transform."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_rotation(cls, rotation: ArrayLike) -> Transform:
        """Return a pure rotation."""
        return cls(np.asarray(rotation, dtype=np.float64), np.zeros(3))

    @classmethod
    def from_translation(cls, translation: ArrayLike) -> Transform:
        """Return a pure translation [m]."""
        return cls(np.eye(3), np.asarray(translation, dtype=np.float64))

    @classmethod
    def from_xyz_rpy(cls, xyz: ArrayLike, rpy: ArrayLike) -> Transform:
        """Return the pose of a URDF ``origin``: xyz [m], fixed-axis roll, pitch, yaw [rad]."""
        roll, pitch, yaw = frozen_array(rpy, (3,), 'rpy').tolist()
        rotation = (
            axis_angle_rotation((0.0, 0.0, 1.0), yaw)
            @ axis_angle_rotation((0.0, 1.0, 0.0), pitch)
            @ axis_angle_rotation((1.0, 0.0, 0.0), roll)
        )
        return cls(rotation, np.asarray(xyz, dtype=np.float64))

    def __matmul__(self, other: Transform) -> Transform:
        """Compose: ``(a_to_b @ c_to_a)`` is c_to_b."""
        with np.errstate(all='ignore'):
            translation = self.rotation @ other.translation + self.translation
        return Transform(self.rotation @ other.rotation, translation)

    def inverse(self) -> Transform:
        """Return the inverse transform, from target to source."""
        with np.errstate(all='ignore'):
            translation = -self.rotation.T @ self.translation
        return Transform(self.rotation.T, translation)

    @property
    def matrix(self) -> FloatArray:
        """Homogeneous matrix, shape (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.translation
        return matrix


def axis_angle_rotation(axis: ArrayLike, angle: float) -> FloatArray:
    """Return the rotation about a unit axis (Rodrigues), shape (3, 3).

    A quarter turn comes out to the rounding of its angle (6e-17 for a zero): nothing is snapped.
    """
    cross = cross_matrix(axis)
    turn: FloatArray = np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    return np.eye(3) + turn


def find_principal(tensor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return principal moments of an inertia tensor and the axes that they are about.

    Parameters
    ----------
    tensor : array, shape (3, 3)
        Symmetric [kg m^2].

    Returns
    -------
    moments : array, shape (3,)
        Smallest first [kg m^2].
    axes : array, shape (3, 3)
        One a row, of length one; the largest entry of each is positive.
    """
    scale = float(np.abs(tensor).max()) or 1.0
    # Scaled, so that the largest numbers do not overflow on the way.
    moments, columns = np.linalg.eigh(tensor / scale)
    rows = columns.T
    largest = rows[np.arange(3), np.abs(rows).argmax(axis=1)]
    return moments * scale, rows * np.sign(largest)[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Inertia(Frozen):
    """Mass distribution of a rigid body in a frame.

    Attributes
    ----------
    mass : float
        Mass [kg].
    center_of_mass : array, shape (3,)
        Centre of mass in the frame [m].
    inertia_about_com : array, shape (3, 3)
        Symmetric inertia tensor about the centre of mass, in the axes of the frame [kg m^2].
        Off-diagonal entries are the tensor's (minus the products of inertia), as in URDF.
    """

    mass: float
    center_of_mass: FloatArray
    inertia_about_com: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, 'mass', checked_number(self.mass, 'mass [kg]'))
        com = frozen_array(self.center_of_mass, (3,), 'center_of_mass [m]')
        object.__setattr__(self, 'center_of_mass', com)
        tensor = frozen_array(self.inertia_about_com, (3, 3), 'inertia_about_com [kg m^2]')
        with np.errstate(all='ignore'):
            skew = float(np.abs(tensor - tensor.T).max())
        if skew > 1e-9 * max(float(np.abs(tensor).max()), 1e-300):
            raise ModelError(
                f'inertia_about_com: expected a symmetric tensor, got {tensor.tolist()}'
            )
        object.__setattr__(self, 'inertia_about_com', tensor)
        self._check_products()

    def _check_products(self) -> None:
        """Refuse numbers that are finite alone and overflow in the parameters about the origin."""
        with np.errstate(all='ignore'):
            products = (
                ('first moment [kg m]', self.first_moment),
                ('inertia about the origin [kg m^2]', self.inertia_about_origin),
            )
        for what, product in products:
            if not np.isfinite(product).all():
                raise ModelError(
                    f'mass and center_of_mass: expected a finite {what}, got overflow with '
                    f'{self.mass:g} kg at {self.center_of_mass.tolist()} m'
                )

    @classmethod
    def zero(cls) -> Inertia:
        """Return the inertia without mass and moments."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @classmethod
    def from_parameters(cls, parameters: ArrayLike) -> Inertia:
        """Return the inertia with given :attr:`parameters`, physically consistent or not.

        Parameters
        ----------
        parameters : array-like, shape (10,)
            In the order of :attr:`parameters`. A first moment needs a mass.

        Raises
        ------
        ModelError
            When the shape is wrong, a number is not finite, or there is a first moment without a
            mass.
        """
        numbers = frozen_array(parameters, (10,), 'inertial parameters')
        mass, first = float(numbers[0]), numbers[1:4]
        if mass == 0.0 and first.any():
            raise ModelError(
                f'inertial parameters: expected no first moment without a mass, got '
                f'{first.tolist()} kg m with 0 kg'
            )
        xx, xy, yy, xz, yz, zz = numbers[4:]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        with np.errstate(all='ignore'):
            center = first / mass if mass else np.zeros(3)
            cross = cross_matrix(center)
            return cls(mass, center, tensor + mass * (cross @ cross))

    @property
    def first_moment(self) -> FloatArray:
        """Mass times centre of mass [kg m], shape (3,)."""
        return self.mass * self.center_of_mass

    @property
    def inertia_about_origin(self) -> FloatArray:
        """Inertia tensor about the origin of the frame [kg m^2], shape (3, 3)."""
        cross = cross_matrix(self.center_of_mass)
        return self.inertia_about_com - self.mass * (cross @ cross)

    @property
    def principal_moments(self) -> FloatArray:
        """Moments of inertia about :attr:`principal_axes` [kg m^2], smallest first, shape (3,)."""
        return find_principal(self.inertia_about_com)[0]

    @property
    def principal_axes(self) -> FloatArray:
        """Principal axes of the tensor about the centre of mass, shape (3, 3).

        One unit vector per row, in the axes of the frame, in the order of
        :attr:`principal_moments`. The largest entry of each is positive, so they may form a
        left-handed triple. The semi-axis of the inertia ellipsoid along axis k is
        ``1 / sqrt(principal_moments[k])``: Sasaki (1990), (A.17) and (A.19).
        """
        return find_principal(self.inertia_about_com)[1]

    def moment_about_line(self, direction: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> float:
        """Return the moment of inertia about a line [kg m^2]: Sasaki (1990), (A.13).

        Parameters
        ----------
        direction : array-like, shape (3,)
            Direction of the line in the axes of the frame, of any length but zero.
        point : array-like, shape (3,)
            A point of the line, in the frame [m].

        Raises
        ------
        ModelError
            When a number is not finite, or the direction is zero.
        """
        along = frozen_array(direction, (3,), 'direction')
        through = frozen_array(point, (3,), 'point [m]')
        if not along.any():
            raise ModelError('direction: expected a vector that is not zero, got zeros')
        along = along / np.abs(along).max()  # squares of the smallest and largest are no numbers
        cosines = along / np.linalg.norm(along)
        distance = np.cross(cosines, self.center_of_mass - through)
        return float(
            cosines @ self.inertia_about_com @ cosines + self.mass * (distance @ distance)
        )

    @property
    def parameters(self) -> FloatArray:
        """Inertial parameters about the origin of the frame, in its axes, shape (10,).

        Mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2]: the order of the
        regressor's columns and of the argument `payload` of the inverse dynamics. For another
        frame: ``inertia.transformed(source_to_target).parameters``.
        """
        tensor = self.inertia_about_origin
        rows, columns = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
        return np.concatenate([[self.mass], self.first_moment, tensor[rows, columns]])

    @property
    def is_zero(self) -> bool:
        """True if mass and inertia tensor are zero."""
        return self.mass == 0.0 and not self.inertia_about_com.any()

    def transformed(self, source_to_target: Transform) -> Inertia:
        """Return the inertia of the same body, expressed in the target frame.

        Raises
        ------
        ModelError
            When a number overflows there.
        """
        rotation = source_to_target.rotation
        with np.errstate(all='ignore'):
            com = rotation @ self.center_of_mass + source_to_target.translation
            tensor = rotation @ self.inertia_about_com @ rotation.T
            symmetric = 0.5 * (tensor + tensor.T)
        return Inertia(self.mass, com, symmetric)

    def scaled(self, factor: float) -> Inertia:
        """Return the inertia with mass and tensor multiplied by a factor; same centre of mass."""
        return Inertia(factor * self.mass, self.center_of_mass, factor * self.inertia_about_com)

    def __add__(self, other: Inertia) -> Inertia:
        """Return both bodies lumped into one (same frame).

        Raises
        ------
        ModelError
            When a number of the sum overflows.
        """
        if self.is_zero:
            return other
        if other.is_zero:
            return self
        mass = self.mass + other.mass
        tensor = np.zeros((3, 3))
        with np.errstate(all='ignore'):
            com = np.zeros(3)
            if mass != 0.0:
                com = (self.first_moment + other.first_moment) / mass
            for part in (self, other):
                cross = cross_matrix(part.center_of_mass - com)
                tensor += part.inertia_about_com - part.mass * (cross @ cross)
        return Inertia(mass, com, tensor)
