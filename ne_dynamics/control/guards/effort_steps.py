"""Commands that step to and fro while the arm is held: velocities that come in coarse steps.

A driver that differences a 12-bit encoder at 500 Hz reports 0 and 0.77 rad/s of a joint that
stands still, and a law that damps with it throws its motor to and fro. A push steps the command as
well, but turns it round once or twice, not from state to state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.model.rigid_body import FloatArray


class SteppingJoint(NamedTuple):
    """A joint whose command steps to and fro.

    Attributes
    ----------
    joint : int
    turns : int
        How often a step went in the other direction than the one before.
    share : float
        Largest step, by the effort limit.
    """

    joint: int
    turns: int
    share: float


class EffortSteps:
    """Counts the large steps of the command of a held arm."""

    def __init__(self, n: int) -> None:
        self._last: FloatArray | None = None
        self._directions = np.zeros(n)
        self._turns = np.zeros(n, dtype=int)
        self._shares = np.zeros(n)

    def note(self, effort: FloatArray, limits: FloatArray, *, is_held: bool) -> None:
        """Take note of a command and of the effort limits, shape (n,) [N m or N].

        `is_held`: whether the desired motion is at rest, and the error is fed back.
        """
        last, self._last = self._last, effort
        if last is None or not is_held:
            return
        large = GUARD_LIMITS.large_step
        rows = zip(effort.tolist(), last.tolist(), limits.tolist(), strict=True)
        # The rule is that none is: for a few joints a loop is quicker than NumPy.
        if all(abs(now - before) <= large * limit for now, before, limit in rows):
            return
        shares = (effort - last) / limits
        is_large = np.abs(shares) > large
        directions = np.sign(shares)
        self._turns += is_large & (directions == -self._directions)
        self._directions[is_large] = directions[is_large]
        self._shares = np.maximum(self._shares, np.abs(shares))

    def take(self) -> SteppingJoint | None:
        """Return the joint that stepped to and fro by the most since this was last asked."""
        shares = np.where(self._turns >= GUARD_LIMITS.fewest_turns, self._shares, 0.0)
        worst = int(shares.argmax())
        found = SteppingJoint(worst, int(self._turns[worst]), float(self._shares[worst]))
        self._turns[:] = 0
        self._shares[:] = 0.0
        return found if shares[worst] > 0.0 else None
