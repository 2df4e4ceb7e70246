"""Work for longer than joint states may wait: it goes in pieces, and they are answered first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

TURN = 0.5e-3
"""Time after which a work leaves the rest for another turn [s]; the piece that is under way then
is finished."""

PIECES_AT_ONCE = 2
"""Pieces that are done in the turn in which a work begins, whatever they take: what is small is
not left for later."""


class Turns:
    """Does one work at a time, between joint states.

    Parameters
    ----------
    node : rclpy.node.Node
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._work: Iterator[None] | None = None
        self._guard = node.create_guard_condition(self._go_on)

    def destroy(self) -> None:
        """Let go of the work, and of the node."""
        self.discard()
        self._node.destroy_guard_condition(self._guard)

    def discard(self) -> None:
        """Let go of the work."""
        self._work = None

    def begin(self, work: Iterator[None]) -> None:
        """Begin a work in place of the one before, and do what there is time for.

        Parameters
        ----------
        work : iterator of None
            Does a piece with each step, and deals with its own errors.
        """
        self._work = work
        self._go_on(PIECES_AT_ONCE)

    def _go_on(self, at_least: int = 1) -> None:
        work, end = self._work, time.perf_counter() + TURN
        # A work may end in a motion that lets go of the work itself.
        while work is not None and work is self._work:
            try:
                next(work)
            except StopIteration:
                if work is self._work:
                    self._work = None
                return
            at_least -= 1
            if at_least <= 0 and time.perf_counter() >= end:
                self._guard.trigger()
                return
