"""Efforts along a path that is to be followed, by the model and what it feels now."""

from __future__ import annotations

import numpy as np

from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray


class PathEfforts:
    """Efforts along a path that is to be followed, by the model and what it feels now.

    A force at the wrist is taken for one that stays: its direction in the axes of the base, and
    where it acts in those of the tip, as a weight that is held has both. How far along the force
    that is one reading does not tell: the point nearest to the tip is taken.

    Parameters
    ----------
    compensation : Compensation
    base : Base, optional
        How the base stands.
    wrench : array, shape (6,), optional
        As :meth:`~ne_dynamics.dynamics.compensation.Compensation.effort` takes it.
    position : array, shape (n,), optional
        Where it was measured [rad or m].
    """

    def __init__(
        self,
        compensation: Compensation,
        base: Base | None = None,
        wrench: FloatArray | None = None,
        position: FloatArray | None = None,
    ) -> None:
        self._compensation = compensation
        self._base = base
        self._wrench = wrench
        self._force: FloatArray | None = None
        if wrench is None or position is None:
            return
        force, moment = wrench[:3], wrench[3:]
        square = float(force @ force)
        if square > 0.0:
            self._force = compensation.dynamics.forward_kinematics(position)[:3, :3] @ force
            self._arm = np.cross(force, moment) / square
            self._pitch = float(moment @ force) / square

    def moving(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Return the efforts of states, all of shape (N, n) [N m or N]; infinite for too much."""
        compensation = self._compensation
        if not compensation.terms.inertia:
            qdd = np.zeros_like(qdd)
        try:
            wrench = self._wrench_at(q)
        except InputError:
            # Where the positions are beyond all numbers so are the efforts.
            return np.full(q.shape, np.inf)
        return compensation.effort_or_infinite(q, qd, qdd, wrench, self._base)

    def holding(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Return the same without what the wrist feels: it may let go."""
        return self._compensation.effort_or_infinite(q, qd, qdd, None, self._base)

    def _wrench_at(self, q: FloatArray) -> FloatArray | None:
        if self._force is None:
            return self._wrench
        rotation = self._compensation.dynamics.forward_kinematics(q)[:, :3, :3]
        force = self._force @ rotation
        return np.concatenate((force, np.cross(self._arm, force) + self._pitch * force), axis=1)
