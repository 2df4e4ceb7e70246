"""A trajectory with efforts, as it is written and sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import NANO, IntArray, TrajectoryPoint


@dataclass(frozen=True, eq=False)
class AnnotatedTrajectory:
    """A trajectory with feed-forward efforts, in the order of the sender's joints.

    Attributes
    ----------
    joint_names : tuple of str, length n
    nanoseconds : array, shape (m,), dtype int
        Times from the start, strictly increasing [ns].
    positions, velocities, accelerations : array, shape (m, n)
        [rad or m], [rad/s or m/s], [rad/s^2 or m/s^2]; zero if the point has none.
    orders : array, shape (m,), dtype int
        Highest derivative that each point has: 0, 1 or 2.
    efforts : array, shape (m, n)
        [N m or N]
    deviation : array, shape (n,)
        Largest difference found between the linear interpolation of the efforts and the inverse
        dynamics, ramps excluded [N m or N].
    steps : int
        Number of steps of the effort that were replaced by ramps.
    remarks : tuple of str
        Remarks on what is valid but may not be intended, one sentence each.
    """

    joint_names: tuple[str, ...]
    nanoseconds: IntArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    orders: NDArray[np.intp]
    efforts: FloatArray
    deviation: FloatArray
    steps: int
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.nanoseconds.size

    @property
    def points(self) -> list[TrajectoryPoint]:
        """The points, in the form of :meth:`Waypoints.from_points`."""
        nothing = np.zeros(0)
        return [
            TrajectoryPoint(
                nanoseconds / NANO,
                self.positions[i],
                self.velocities[i] if self.orders[i] >= 1 else nothing,
                self.accelerations[i] if self.orders[i] >= 2 else nothing,
                self.efforts[i],
            )
            for i, nanoseconds in enumerate(self.nanoseconds.tolist())
        ]
