"""Efforts of two joints that are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ne_dynamics.driver.hypotheses.swapped_joints import SwappedJoints


@dataclass(frozen=True)
class SwappedEfforts(SwappedJoints):
    """The efforts of two joints are exchanged."""

    position: ClassVar[bool] = False

    code = 'efforts-swapped'

    def describe(self, names: Sequence[str]) -> tuple[str, str]:
        """See :class:`SwappedJoints`."""
        return 'the efforts of the two are exchanged', 'exchange these columns, or --repair'
