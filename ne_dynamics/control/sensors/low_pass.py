"""A first-order low-pass filter of sensor readings that carry stamps.

Sensors send at their own rate, with jitter, some of them without stamps, and now and then a
reading overtakes another. So the step of the filter is what the stamps say, reading by reading.
"""

from __future__ import annotations

from math import expm1, inf, isfinite, pi

import numpy as np

from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray


class LowPass:
    """Keeps the filtered value of a vector, and its time derivative.

    The step over the time T between two stamps is ``value += (1 - exp(-2 pi f_c T)) (reading -
    value)``, the filter's exact answer to a reading that holds from one stamp to the next.

    - The first reading is taken as it is; so is one that comes more than `gap` after the last,
      or from a clock that was set back by more than `latest_stamp`.
    - A reading with the stamp of the last takes its place.
    - A reading that was overtaken changes nothing.

    Parameters
    ----------
    cutoff_frequency : float
        f_c [Hz]; 0 for no filter.
    gap : float
        [s]; infinite for any.
    name : str
        Prefix of the parameter in the error message.

    Attributes
    ----------
    value : array, shape (m,), or None
        None before the first reading. Never changed in place.
    reading : array, shape (m,), or None
        The newest reading.
    stamp : float
        Of the newest reading [s]; -inf before the first.

    Raises
    ------
    ParameterError
        When the frequency is not a finite number >= 0.
    """

    def __init__(self, cutoff_frequency: float = 0.0, gap: float = inf, name: str = '') -> None:
        self._name = name
        self.configure(cutoff_frequency, gap)
        self.reset()

    def configure(self, cutoff_frequency: float, gap: float) -> None:
        """Let another cut-off count from the next reading on; the value stays."""
        frequency = float(cutoff_frequency)
        if not (isfinite(frequency) and frequency >= 0.0):
            raise ParameterError(
                f'{self._name}cutoff_frequency: expected a finite number >= 0 Hz, '
                f'got {cutoff_frequency}'
            )
        self.cutoff_frequency = frequency
        self._rate = 2.0 * pi * frequency
        self._gap = float(gap)

    def reset(self) -> None:
        """Forget all readings."""
        self.value: FloatArray | None = None
        self.reading: FloatArray | None = None
        self.stamp = -inf
        self._start: FloatArray | None = None
        self._elapsed = 0.0

    def update(self, reading: FloatArray, stamp: float) -> bool:
        """Take a reading at a time [s]; return whether it counts (False: it was overtaken).

        It is finite, of shape (m,), and kept, so not to be changed afterwards.
        """
        elapsed = stamp - self.stamp
        if 0.0 < elapsed <= self._gap:
            self._start, self._elapsed = self.value, elapsed
        elif -SENSORS.latest_stamp <= elapsed < 0.0:
            return False
        elif elapsed != 0.0:  # the first, after a gap, of another clock, or no number
            self._start = None
        self.stamp = stamp
        self.reading = reading
        start = self._start
        if start is None or self._rate == 0.0:
            self.value = reading
        else:
            self.value = start - expm1(-self._rate * self._elapsed) * (reading - start)
        return True

    def settle(self, value: FloatArray) -> None:
        """Take a value for the filtered one; the time of the last reading stays."""
        self.value = self._start = value

    def derivative(self) -> FloatArray | None:
        """Return the time derivative of the filtered value over the last step, shape (m,).

        None where there is none worth having: without a filter a difference of raw readings
        would be their noise, divided by however little time is between them; and before the
        second reading. With the filter it is at most 2 pi f_c times the jump of the reading,
        however close the stamps.
        """
        start = self._start
        if start is None or self.value is None or self._rate == 0.0 or self._elapsed == 0.0:
            return None
        change: FloatArray = np.subtract(self.value, start)
        return change / self._elapsed
