"""How runs are drawn: colours and lines, without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ne_dynamics.simulation.recording import SessionRecording

GREY, ORANGE, BLUE, RED = '#8c8c8c', '#e69f00', '#0072b2', '#d1495b'


@dataclass(frozen=True)
class Style:
    """How a run is drawn.

    Attributes
    ----------
    label : str
    colour : str
    width : float
        Of the line [pt].
    dashes : tuple of float
        Lengths of dashes and gaps in line widths; empty for a solid line. Dashed lines are
        drawn over solid ones.
    """

    label: str
    colour: str
    width: float = 1.3
    dashes: tuple[float, ...] = ()

    def drawn(self) -> dict[str, Any]:
        """Return what matplotlib's `plot` takes."""
        return {
            'color': self.colour,
            'linewidth': self.width,
            'linestyle': (0.0, self.dashes) if self.dashes else '-',
            'label': self.label,
            'zorder': 3.0 if self.dashes else 2.0,
        }


Drawn = Sequence[tuple[Style, SessionRecording]]
"""Runs in the order of the legend."""
