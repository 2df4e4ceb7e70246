"""What a demo prints: figures, and how far a run has come."""

from __future__ import annotations

import sys
import time

BAR_WIDTH = 24


def figure(value: float) -> str:
    """Return a number with three significant digits, never in powers of ten."""
    if value >= 100.0:
        return f'{value:.0f}'
    return f'{value:.1f}' if value >= 10.0 else f'{value:.2f}' if value >= 1.0 else f'{value:.3f}'


def shortened(name: str, longest: int = 16) -> str:
    """Return a name, its end left out when it is too long for a column."""
    return name if len(name) <= longest else f'{name[: longest - 2]}..'


class ProgressBar:
    """A line on stderr that grows with the time reached; on no terminal, only its end.

    Parameters
    ----------
    label : str
    duration : float
        Of the motion [s].
    """

    def __init__(self, label: str, duration: float) -> None:
        self._label = label
        self._duration = duration
        self._reached = 0.0
        self._is_terminal = sys.stderr.isatty()
        self._last_shown = -1.0
        self._began = time.monotonic()
        self.show(0.0)

    def show(self, reached: float) -> None:
        """Take note of the time reached [s]; draw it now and then."""
        self._reached = reached
        now = time.monotonic()
        if self._is_terminal and (now - self._last_shown > 0.1):
            self._last_shown = now
            self._write()

    def _write(self) -> None:
        done = min(self._reached / self._duration, 1.0)
        filled = round(BAR_WIDTH * done)
        bar = '#' * filled + '.' * (BAR_WIDTH - filled)
        elapsed = time.monotonic() - self._began
        sys.stderr.write(
            f'\r{self._label:<31}{bar} {self._reached:4.1f}/{self._duration:.1f} s '
            f'({elapsed:.0f} s)\x1b[K'
        )
        sys.stderr.flush()

    def close(self) -> None:
        """Draw the end."""
        if self._is_terminal:
            self._write()
            sys.stderr.write('\n')
        else:
            sys.stderr.write(
                f'{self._label}: {self._reached:.1f} of {self._duration:.1f} s, '
                f'{time.monotonic() - self._began:.1f} s real time\n'
            )
        sys.stderr.flush()
