"""What a run asks of the arm and of whoever holds it: over ROS 2, or in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from ne_dynamics.commission.motions import PlannedMotion
from ne_dynamics.commission.record import Record
from ne_dynamics.model.rigid_body import FloatArray

Progress = Callable[[float], None]


class HeldArm(Protocol):
    """An arm that reports its states; time is that of their stamps."""

    @property
    def now(self) -> float:
        """Stamp of the newest state [s]."""

    @property
    def position(self) -> FloatArray:
        """Reported position of the newest state, shape (n,) [rad or m]."""

    @property
    def receptions(self) -> list[tuple[int, int]]:
        """Stamp and time of reception of every state since they were forgotten [ns]."""

    def forget(self) -> None:
        """Forget the states before the newest."""

    def record(self, since: float = 0.0) -> Record:
        """Return the states from a stamp on [s]."""

    def pass_time(self, until: float, progress: Progress | None = None) -> None:
        """Let time go on until a stamp [s]."""

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set parameters of the node that holds it."""


class ArmSession(Protocol):
    """Lets a node hold the arm for the time of a motion."""

    @property
    def arm(self) -> HeldArm:
        """The arm."""

    @property
    def is_simulated(self) -> bool:
        """Whether time is a simulation's."""

    def moving(
        self,
        name: str,
        parameters: Mapping[str, Any],
        file: Path,
        look: Progress | None = None,
    ) -> AbstractContextManager[None]:
        """Let a node with these parameters, written to a file, hold the arm in the context.

        `look` is called at every state from the release of the brakes to the begin of the context.
        """

    def follow(
        self,
        motion: PlannedMotion,
        tolerance: FloatArray,
        progress: Progress | None = None,
        astray: FloatArray | None = None,
    ) -> Record:
        """Go to where a motion begins, follow it, and return what was heard of it."""
