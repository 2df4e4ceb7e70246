"""How the base of a simulated arm stands and moves: tilted, rocking, swaying."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import check_vector
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray, Transform


@dataclass(frozen=True, eq=False)
class Oscillation:
    """A sinusoidal excursion of the base, ``amplitude sin(2 pi frequency t)``.

    Attributes
    ----------
    turns : bool
        About the axis (rocking); otherwise along it (sway).
    axis : array, shape (3,)
        Of length 1, in the axes of the base at rest.
    amplitude : float
        [rad or m]
    frequency : float
        [Hz]
    center : array, shape (3,)
        A point of the axis, in the frame of the base at rest [m].
    """

    turns: bool
    axis: FloatArray
    amplitude: float
    frequency: float
    center: FloatArray

    @classmethod
    def about(
        cls,
        axis: ArrayLike,
        amplitude: float,
        frequency: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Oscillation:
        """Return a rocking motion about an axis of any length; see the class for the units.

        Raises
        ------
        InputError
            When a number is not finite, the axis has no length, or the frequency is below 0.
        """
        return cls._checked('rocking', True, axis, amplitude, frequency, center)

    @classmethod
    def along(cls, axis: ArrayLike, amplitude: float, frequency: float) -> Oscillation:
        """Return a sway along an axis of any length; see :meth:`about`."""
        return cls._checked('sway', False, axis, amplitude, frequency, np.zeros(3))

    @classmethod
    def _checked(
        cls,
        what: str,
        turns: bool,
        axis: ArrayLike,
        amplitude: float,
        frequency: float,
        center: ArrayLike,
    ) -> Oscillation:
        direction = check_vector(axis, f'{what} axis', 3)
        length = float(np.linalg.norm(direction))
        if not length > 0.0:
            raise InputError(f'{what} axis: expected a direction, got {direction.tolist()}')
        for value, name in ((amplitude, 'amplitude'), (frequency, 'frequency [Hz]')):
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f'{what} {name}: expected a finite number >= 0, got {value}')
        unit = direction / length
        point = np.array(check_vector(center, f'{what} center [m]', 3))
        for array in (unit, point):
            array.setflags(write=False)
        return cls(turns, unit, float(amplitude), float(frequency), point)

    @property
    def angular_frequency(self) -> float:
        """2 pi times the frequency [rad/s]."""
        return 2.0 * math.pi * self.frequency

    def at(self, time: float) -> tuple[float, float, float]:
        """Return excursion [rad or m], its rate and its acceleration at a time [s]."""
        rate = self.angular_frequency
        sine, cosine = math.sin(rate * time), math.cos(rate * time)
        return (
            self.amplitude * sine,
            self.amplitude * rate * cosine,
            -self.amplitude * rate**2 * sine,
        )


@dataclass(frozen=True, eq=False)
class BaseMotion:
    """Where the base is in the world, and how it moves there.

    Attributes
    ----------
    base_to_world : array, shape (3, 3)
        Orientation of the base at rest; the world's axes are east, north, up (ENU).
    oscillations : tuple of Oscillation
        Applied one after the other, the first outermost: the axes of each move with those
        before it. Without amplitude or frequency they are left out.
    """

    base_to_world: FloatArray
    oscillations: tuple[Oscillation, ...] = ()

    @classmethod
    def from_rpy(cls, rpy: ArrayLike, *oscillations: Oscillation) -> BaseMotion:
        """Return the motion about an orientation given as URDF gives it.

        Parameters
        ----------
        rpy : array-like, shape (3,)
            Roll, pitch, yaw: turns about the world's x, then y, then z axis [rad].
        *oscillations : Oscillation

        Raises
        ------
        InputError
            When an angle is not finite or there are not three.
        """
        angles = check_vector(rpy, 'base orientation [rad]', 3)
        rotation = Transform.from_xyz_rpy(np.zeros(3), angles).rotation
        moving = tuple(item for item in oscillations if item.amplitude and item.frequency)
        return cls(rotation, moving)

    @property
    def is_level(self) -> bool:
        """Whether the base stands in the world's axes and does not move."""
        return not self.oscillations and bool((self.base_to_world == np.eye(3)).all())
