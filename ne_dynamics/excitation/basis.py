"""The family of motions among which the best is sought: a Fourier series between two rests.

A joint's position is ``q(t) = start + w(t) (c_0 + sum_k a_k sin(k w_0 t) + b_k cos(k w_0 t))``
(the series of Swevers et al. 1997, "Optimal robot excitation and identification", IEEE T-RA
13(5)), with a window w that rises from 0 to 1 by a quintic in the first part of the motion and
falls by the same in the last. Value, rate and curvature of the window vanish at both ends: the
motion begins and ends at rest, without acceleration, in the start pose, whatever the
coefficients are. It is linear in them, and so are velocity and acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class Series:
    """A window and the frequencies below it.

    Attributes
    ----------
    duration : float
        [s]
    base_frequency : float
        Of the slowest oscillation [Hz].
    harmonics : int
        Multiples of it, the base frequency included.
    lead : float, optional
        In which the window rises, and in which it falls [s]; default: a part of the duration.
    """

    duration: float
    base_frequency: float
    harmonics: int
    lead: float | None = None

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics + 1

    def evaluate(self, times: FloatArray) -> FloatArray:
        """Return what each coefficient adds to position, velocity and acceleration.

        At times from 0 to the duration, shape (N,) [s]: shape (3, N, size), the constant first,
        then sine and cosine of each frequency.
        """
        t = times[:, np.newaxis]
        rates = 2.0 * np.pi * self.base_frequency * np.arange(1, self.harmonics + 1)
        sine, cosine = np.sin(rates * t), np.cos(rates * t)
        waves = np.zeros((3, times.size, self.size))
        waves[0, :, 0] = 1.0
        waves[0, :, 1::2], waves[0, :, 2::2] = sine, cosine
        waves[1, :, 1::2], waves[1, :, 2::2] = rates * cosine, -rates * sine
        waves[2, :, 1::2], waves[2, :, 2::2] = -(rates**2) * sine, -(rates**2) * cosine
        window, slope, curvature = self._evaluate_window(times)[..., np.newaxis]
        return np.stack(
            [
                window * waves[0],
                slope * waves[0] + window * waves[1],
                curvature * waves[0] + 2.0 * slope * waves[1] + window * waves[2],
            ]
        )

    def _evaluate_window(self, times: FloatArray) -> FloatArray:
        """Return the window and its first two derivatives, shape (3, N)."""
        lead = EXCITATION.window_lead * self.duration if self.lead is None else self.lead
        before, after = times / lead, (self.duration - times) / lead
        is_rising = before < after
        x = np.clip(np.where(is_rising, before, after), 0.0, 1.0)
        direction = np.where(is_rising, 1.0, -1.0)
        return np.stack(
            [
                x**3 * (10.0 - 15.0 * x + 6.0 * x**2),
                direction * 30.0 * x**2 * (1.0 - x) ** 2 / lead,
                60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / lead**2,
            ]
        )
