"""The directions of a rigid arm as scalar loops, and the highest frequency that they bear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ne_dynamics.gains.kind import LoopKind
from ne_dynamics.gains.loop import (
    ComplexArray,
    JointGains,
    close_loop,
    frequencies,
    growth,
    open_loop,
    rigid_modes,
)
from ne_dynamics.gains.margins import Margins, find_margins
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.gains.thresholds import GAIN_SEARCH


class ScalarLoops:
    """The directions of an arm as scalar loops, at a damping ratio, for any natural frequency."""

    def __init__(self, kind: LoopKind, damping: float) -> None:
        self._kind = kind
        self._damping = damping
        # What the two ends bear, all between them do.
        values = np.array([kind.heaviest, kind.lightest])
        self._modes = rigid_modes((1.0 / values)[:, np.newaxis, np.newaxis])
        self._at = frequencies(kind.timing)
        # A loop is linear in its gains.
        self._unit = [
            open_loop(self._modes, None, JointGains(*one), kind.timing, self._at)[..., 0, 0]
            for one in np.eye(3)[:, :, np.newaxis]
        ]

    def _gains(self, frequency: float) -> JointGains:
        one = replace(self._kind, scale=np.ones(1))
        return one.gains(np.array([frequency]), np.array([self._damping]))

    def margins(self, frequency: float) -> Margins:
        """Return the margins of the directions."""
        gains = zip(self._gains(frequency), self._unit, strict=True)
        loop: ComplexArray = np.sum([gain * part for gain, part in gains], axis=0)
        return find_margins(loop, self._at)

    def is_stable(self, frequency: float) -> bool:
        """Return whether all directions die out."""
        loop = close_loop(self._modes, None, self._gains(frequency), self._kind.timing)
        return bool(growth(loop, self._kind.has_integral).max() < 1.0)

    def largest_frequency(self, request: GainRequest) -> float:
        """Return the highest natural frequency with all margins [rad/s]; 0 when there is none."""
        found = self._find_largest(lambda frequency: suffices(self.margins(frequency), request))
        # Loops with margins are stable, but for those that turned round: to look once is cheaper.
        if found and not self.is_stable(found):
            found = self._find_largest(lambda frequency: self.has_margins(frequency, request))
        return found

    def _find_largest(self, works: Callable[[float], bool]) -> float:
        """Return the highest natural frequency that works [rad/s]; 0 when the lowest does not."""
        high = np.pi / self._kind.timing.period
        low = GAIN_SEARCH.lowest_frequency * high
        if not works(low):
            return 0.0
        for _ in range(GAIN_SEARCH.frequency_bisections):
            middle = float(np.sqrt(low * high))
            if works(middle):
                low = middle
            else:
                high = middle
        return low

    def has_margins(self, frequency: float, request: GainRequest) -> bool:
        """Return whether a natural frequency keeps what is asked for [rad/s]."""
        return suffices(self.margins(frequency), request) and self.is_stable(frequency)


def suffices(margins: Margins, request: GainRequest, slack: float = 1.0) -> bool:
    """Return whether loops have the margins that are asked for, times a slack."""
    gain = slack * request.gain_margin
    return bool(
        margins.phase.min() >= slack * request.phase_margin
        and margins.gain.min() >= gain
        and margins.reduction.min() >= gain
    )
