"""Half-spaces that no part of an arm may enter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.model.frozen import Frozen, frozen_array
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class KeepOut(Frozen):
    """Forbidden half-space: the points p with ``dot(normal, p) < distance`` in base axes.

    Attributes
    ----------
    normal : array, shape (3,)
        Normal of the plane, towards the permitted side; scaled to a unit vector, and `distance`
        with it.
    distance : float
        Distance of the plane from the origin of the base frame, along the normal [m].

    Raises
    ------
    InputError
        When a number is not finite or the normal is zero.
    """

    normal: FloatArray
    distance: float

    def __post_init__(self) -> None:
        given = np.array(self.normal, dtype=np.float64)
        if given.shape != (3,) or not np.isfinite([*given, self.distance]).all():
            raise InputError(
                'keep-out plane: expected a normal and a distance, four finite numbers, got '
                f'{given.tolist()} and {self.distance}'
            )
        largest = float(np.abs(given).max())
        if not 1e-9 < largest < 1e9:
            raise InputError(
                'keep-out plane: expected a normal other than zero, of a length from 1e-09 to '
                f'1e+09, got {given.tolist()}'
            )
        length = float(np.linalg.norm(given))
        object.__setattr__(self, 'normal', frozen_array(given / length, (3,), 'normal'))
        object.__setattr__(self, 'distance', float(self.distance) / length)

    def __str__(self) -> str:
        x, y, z = self.normal.tolist()
        return f'{x:g} x + {y:g} y + {z:g} z < {self.distance:g} m'


FLOOR = KeepOut(np.array([0.0, 0.0, 1.0]), 0.0)
"""What is below the origin of the base frame."""
