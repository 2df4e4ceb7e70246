"""Positions of two joints that are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ne_dynamics.driver.hypotheses.swapped_joints import SwappedJoints


@dataclass(frozen=True)
class SwappedPositions(SwappedJoints):
    """The positions of two joints are exchanged."""

    effort: ClassVar[bool] = False
    penalty: float = 1.0

    code = 'positions-swapped'

    def describe(self, names: Sequence[str]) -> tuple[str, str]:
        """See :class:`SwappedJoints`."""
        return 'the positions of the two are exchanged', 'exchange these columns, or --repair'
