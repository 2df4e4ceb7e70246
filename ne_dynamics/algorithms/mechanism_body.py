"""One body of a mechanism: its frame in its parent's, and its inertial parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.scalars.rotation_split import Pair
from ne_dynamics.model.robot import FloatArray

MOMENT_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Row and column of the second moments xx, yy, zz, xy, xz, yz."""

PARAMETERS_PER_BODY = 10
"""Mass, three first moments, six entries of the inertia tensor."""


@dataclass(frozen=True)
class RigidInertia:
    """Inertial parameters about the origin of a frame.

    Attributes
    ----------
    mass : float
        [kg]
    first_moment : tuple of 3 float
        Mass times centre of mass [kg m].
    second_moments : tuple of 6 float
        Integrals of xx, yy, zz, xy, xz, yz over the mass [kg m^2] (the pseudo-inertia; the
        inertia tensor is ``trace(J) * 1 - J``).
    """

    mass: float
    first_moment: tuple[float, float, float]
    second_moments: tuple[float, float, float, float, float, float]

    @classmethod
    def from_arrays(cls, mass: float, first: FloatArray, pseudo: FloatArray) -> RigidInertia:
        """Return the parameters of a mass, a first moment (3,) and a pseudo-inertia (3, 3)."""
        x, y, z = (float(value) for value in first)
        xx, yy, zz, xy, xz, yz = (float(pseudo[entry]) for entry in MOMENT_ENTRIES)
        return cls(float(mass), (x, y, z), (xx, yy, zz, xy, xz, yz))

    @property
    def pseudo_inertia(self) -> FloatArray:
        """The second moments as a symmetric matrix [kg m^2], shape (3, 3)."""
        xx, yy, zz, xy, xz, yz = self.second_moments
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class MechanismBody:
    """One moving body in its chosen frame.

    The frame's axes in those of the parent's frame are ``Rz(turn) Rx(twist) Rz(angle)``, its
    origin is ``position + displacement * z``, where for a revolute joint
    ``angle = spin + multiplier * q + offset`` and for a prismatic one ``angle = spin`` and
    ``displacement = multiplier * q + offset``.

    Attributes
    ----------
    parent : int
        Index of the parent body, -1 for the base.
    is_prismatic : bool
    coordinate : int
    multiplier, offset : float
    turn, twist, spin : tuple of 2 float
        Cosine and sine of the constant angles.
    position : tuple of 3 float
        [m]
    inertia : RigidInertia
        Regrouped.
    """

    parent: int
    is_prismatic: bool
    coordinate: int
    multiplier: float
    offset: float
    turn: Pair
    twist: Pair
    spin: Pair
    position: tuple[float, float, float]
    inertia: RigidInertia

    @property
    def tilt(self) -> FloatArray:
        """``Rz(turn) Rx(twist)``: its last column is the joint's axis in the parent's frame."""
        (cg, sg), (ca, sa) = self.turn, self.twist
        return np.array([[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0.0, sa, ca]])

    @property
    def constant_rotation(self) -> FloatArray:
        """``Rz(turn) Rx(twist) Rz(spin)``: the body's axes in the parent's, without the joint."""
        cb, sb = self.spin
        spin = np.array([[cb, -sb, 0.0], [sb, cb, 0.0], [0.0, 0.0, 1.0]])
        return np.asarray(self.tilt @ spin)
