"""Joints that hunt: a compensation of stiction that pushes them to and fro across their position.

A joint that sticks away from where it should rest has a residual that grows with the feedback,
until the joint breaks away. Where friction is larger at rest than in motion it then goes too far,
sticks on the other side, and comes back: the limit cycle of integral action with stiction
(Armstrong-Helouvry, Dupont and Canudas de Wit, Automatica 30(7), 1994). So a joint that has stuck
on one side of its position, and then does on the other, is left there: its compensation stays as
it is until the desired motion goes on, or the joint moves: somebody pushes it, or has let go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.model.rigid_body import FloatArray


class HuntingGuard:
    """Looks at the errors of one arm.

    Attributes
    ----------
    hunts : array, shape (n,), dtype bool, or None
        Joints that are to be left where they are; None for none.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was seen."""
        self.hunts: NDArray[np.bool_] | None = None
        self._errors: list[float] = []
        self._sides: dict[int, bool] = {}
        self._left: dict[int, float] = {}
        self._since = -np.inf

    def update(self, error: FloatArray, desired_velocity: FloatArray, now: float) -> None:
        """Take note of a state at a time [s].

        Position error [rad or m] and desired velocity [rad/s or m/s] have shape (n,).
        """
        if now - self._since < GUARD_LIMITS.hunting_interval and self.hunts is None:
            return
        if desired_velocity.any():
            if self._errors:
                self.reset()
            self._since = now
            return
        if now - self._since < GUARD_LIMITS.hunting_interval:
            return
        before, errors = self._errors, error.tolist()
        self._errors, self._since = errors, now
        if before:
            self._look(before, errors)

    def _look(self, before: list[float], errors: list[float]) -> None:
        """Compare the errors with those of the look before."""
        bounds = GUARD_LIMITS
        for index, (old, new) in enumerate(zip(before, errors, strict=True)):
            left = self._left.get(index)
            if left is not None and abs(new - left) > bounds.hunting_away * abs(left):
                del self._left[index]
                self._sides.pop(index, None)
            stuck = max(bounds.hunting_stuck_share * abs(new), bounds.hunting_creep)
            if abs(new) < bounds.hunting_least or abs(new - old) > stuck:
                continue
            side = new > 0.0
            if self._sides.setdefault(index, side) != side and index not in self._left:
                self._left[index] = new
            self._sides[index] = side
        self.hunts = None
        if self._left:
            self.hunts = np.array([index in self._left for index in range(len(errors))])
