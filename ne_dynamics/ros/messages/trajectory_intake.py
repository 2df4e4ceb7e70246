"""Desired trajectories of any size, taken between the joint states.

A message of ten thousand points is work for some milliseconds, and rclpy's own conversion takes a
hundred times as long, in one call. So trajectories are taken as bytes (see
:mod:`ne_dynamics.ros.messages.trajectory_cdr`) and read in pieces; after each piece the executor
has its turn, and joint states are answered first. What is made of a trajectory goes in pieces,
too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.ros.messages.trajectory_cdr import SerializedTrajectory, TrajectoryReading
from ne_dynamics.ros.running.turns import Turns

MOST_POINTS = 5_000
"""Points of a trajectory; more are refused before they are read. To check so many, which is done
in one turn, takes a millisecond, and to lay them into time another one."""

MOST_AT_ONCE = 2**17
"""Bytes of a message that is read and checked in the turn in which it comes, in ..."""

MOST_JUDGED_AT_ONCE = 2**14
"""Bytes of a message of which more is done in that turn than to read it."""

STEPS_AT_ONCE = 16
"""... so many steps at the most, each of less than a tenth of a millisecond."""

TURN = 0.5e-3
"""Time for which any other is read before others have their turn [s]; it is checked in one more
turn."""


class TrajectoryIntake:
    """Reads trajectories, of which the newest counts.

    Parameters
    ----------
    node : rclpy.node.Node
    deliver : callable
        Called with each trajectory that has been read; returns what is left to be done with it, in
        pieces.
    refuse : callable
        Called with the error when a message cannot be read.
    """

    def __init__(
        self,
        node: Any,
        deliver: Callable[[SerializedTrajectory], Iterator[None]],
        refuse: Callable[[NeDynamicsError], None],
    ) -> None:
        self._node = node
        self._deliver = deliver
        self._refuse = refuse
        self._reading: TrajectoryReading | None = None
        self._guard = node.create_guard_condition(self._go_on)
        self._turns = Turns(node)

    def destroy(self) -> None:
        """Let go of what is being read, and of the node."""
        self.discard()
        self._turns.destroy()
        self._node.destroy_guard_condition(self._guard)

    def discard(self) -> None:
        """Let go of what is being read, or judged: something newer is followed."""
        self._reading = None
        self._turns.discard()

    def take(self, data: bytes) -> None:
        """Begin to read a message; what was being read is of the past.

        Parameters
        ----------
        data : bytes
            As a raw subscription hands it over.
        """
        self.discard()
        try:
            self._reading = TrajectoryReading(data, MOST_POINTS)
        except NeDynamicsError as error:
            self._refuse(error)
            return
        if len(data) > MOST_AT_ONCE:
            # To take it over from DDS was work enough for this turn.
            self._guard.trigger()
        else:
            self._read_at_once(len(data))

    def _read_at_once(self, size: int) -> None:
        """Read and check so many bytes in one turn, unless that is too much: then by turns."""
        for _ in range(STEPS_AT_ONCE):
            if not self._has_more:
                break
            self._read_step()
        if self._has_more or size > MOST_JUDGED_AT_ONCE:
            self._guard.trigger()
        else:
            self._hand_over()

    def _go_on(self) -> None:
        """Read for a turn; what is whole is checked in a turn of its own."""
        if not self._has_more:
            self._hand_over()
            return
        end = time.perf_counter() + TURN
        while self._has_more and time.perf_counter() < end:
            self._read_step()
        self._guard.trigger()

    @property
    def _has_more(self) -> bool:
        """Whether a message is being read that is not whole."""
        return self._reading is not None and not self._reading.is_whole

    def _read_step(self) -> None:
        """Read a step further; refuse what cannot be read, and let go of it."""
        if self._reading is None:
            return
        try:
            self._reading.read_some()
        except NeDynamicsError as error:
            self._reading = None
            self._refuse(error)

    def _hand_over(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            self._turns.begin(self._deliver(reading.result))
