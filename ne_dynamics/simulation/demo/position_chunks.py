"""A motion told in positions alone, a few points a message, as policies do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.demo.motion import WaypointMotion

LEAD = 0.02
"""A chunk is sent so long before its stamp: jitter must not matter [s]."""


@dataclass(frozen=True)
class PositionChunks:
    """How positions are sent.

    Attributes
    ----------
    count : int
        Points of a chunk; the first is due one interval after the chunk's time.
    every : int
        Intervals from one chunk to the next, `count` at the most.
    rate : float
        Positions a second [Hz].
    """

    count: int
    every: int
    rate: float = 30.0

    def times(self, duration: float) -> list[float]:
        """Return the times of the chunks that a motion of a duration takes [s]."""
        count = math.ceil(duration * self.rate / self.every - 1e-9)
        return [number * self.every / self.rate for number in range(count)]

    def pauses(self, duration: float) -> list[float]:
        """Return when time stands still until a chunk is sent [s]; the first ones are before."""
        return [time - LEAD for time in self.times(duration) if time > LEAD]

    def points(self, motion: WaypointMotion, time: float) -> list[tuple[float, FloatArray]]:
        """Return the points of the chunk of a time: from it on [s], and positions.

        Parameters
        ----------
        motion : WaypointMotion
            At whose end the points behind it stay.
        time : float
            [s]
        """
        steps = np.arange(1, self.count + 1) / self.rate
        positions = motion.sample(np.minimum(time + steps, motion.duration))[0]
        return list(zip(steps.tolist(), positions, strict=True))
