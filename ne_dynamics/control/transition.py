"""How a command gets from what it was to what it is to be, when its nature changes.

When another law, other gains or another load count from one state to the next, the command would
step. The step is taken back by an offset that then decays by itself. The feedback is not touched:
to the loop the offset is a disturbance that is known, bounded and soon over. A limit on the rate
of the command is no such thing: it is in the loop, and too slow it makes the loop swing for ever.

The offset is the free response of a critically damped system of second order,

    o'' + 2 w o' + w^2 o = 0,    w = 6.64 / transition time,

which begins flat, is down to 1 % after the transition time and never overshoots. It is linear:
transitions that follow one another before the first is over add up, each decays in its own time,
and however many there are, none keeps the others up.
"""

from __future__ import annotations

from math import ceil, exp

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.model.rigid_body import FloatArray

END = 6.638352067993813
"""Where (1 + x) exp(-x) = 0.01."""


class CommandOffset:
    """What is added to the command of a law so that it goes on from the one before.

    Parameters
    ----------
    duration : float
        Transition time [s]; 0 for none.

    Attributes
    ----------
    value : array, shape (n,), or None
        The offset at present, in the unit of what it is added to; None in the usual case. Not to
        be changed.
    slope : array, shape (n,), or None
        Its rate of change by the second; None as well then.
    """

    def __init__(self, duration: float) -> None:
        self._rate = 0.0
        self.clear()
        self.configure(duration)

    def configure(self, duration: float) -> None:
        """Let another transition time count; what is under way takes no longer than it would.

        With 0 it ends at once.
        """
        self.duration = duration
        if duration <= 0.0:
            self.clear()
        elif self.value is not None:
            # A slower decay from the slope of a faster one would overshoot.
            self._rate = max(END / duration, self._rate)

    def clear(self) -> None:
        """Forget the offset."""
        self.value: FloatArray | None = None
        self.slope: FloatArray | None = None
        self._left = 0.0

    def change(self, value: FloatArray) -> None:
        """Let the offset be another; what of it was decaying goes on to do so.

        Nothing is changed where it, of shape (n,), is not finite.
        """
        if self.duration > 0.0 and np.isfinite(value).all():
            if self.slope is None:
                self.slope, self._rate = np.zeros(value.size), END / self.duration
            self.value = value
            self._left = COMMAND.forgotten_times * self.duration

    def shift(self, change: FloatArray) -> None:
        """Add to the offset, shape (n,), in the unit of what it is added to."""
        self.change(change if self.value is None else self.value + change)

    def drop(self, joints: NDArray[np.bool_]) -> None:
        """End the offset of some joints at once."""
        if self.value is not None and self.slope is not None and joints.any():
            self.value = np.where(joints, 0.0, self.value)
            self.slope = np.where(joints, 0.0, self.slope)

    def restore(self, joints: NDArray[np.bool_], value: FloatArray) -> None:
        """Let the offset of some joints be what it was, at rest."""
        if self.value is not None and self.slope is not None and joints.any():
            self.value = np.where(joints, value, self.value)
            self.slope = np.where(joints, 0.0, self.slope)
            self._left = COMMAND.forgotten_times * self.duration

    def decay(self, elapsed: float) -> None:
        """Let time pass [s]; below 0 counts as 0."""
        value, slope = self.value, self.slope
        if value is None or slope is None or not elapsed > 0.0:
            return
        self._left -= elapsed
        if self._left <= 0.0:
            self.clear()
            return
        x = self._rate * elapsed
        left = exp(-x)
        self.value = (left * (1.0 + x)) * value + (left * elapsed) * slope
        self.slope = (left * (1.0 - x)) * slope - (left * x * self._rate) * value


def ramp(start: FloatArray, end: FloatArray, duration: float, period: float) -> list[FloatArray]:
    """Return the commands on the way from one to another, the last of them exactly the other.

    Without `start`, and monotonic: they begin and end flat, and are steepest, 1.5 times the mean,
    in the middle. Only `end` when the two are the same but for rounding.

    Parameters
    ----------
    start, end : array, shape (n,)
        [N m or N]
    duration, period : float
        Time for all of it, and between two commands [s].
    """
    steps = max(1, ceil(duration / period - 1e-9))
    if np.allclose(start, end, rtol=1e-9, atol=1e-9):
        steps = 1
    shares = np.linspace(0.0, 1.0, steps + 1)[1:-1]
    way = [start + share * share * (3.0 - 2.0 * share) * (end - start) for share in shares]
    return [*way, end]
