"""What the classes beside the row of stages know of the controller of an arm."""

from __future__ import annotations

from typing import Protocol

from ne_dynamics.control.guards.state_guard import Fault
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.stages.accept import Accept
from ne_dynamics.control.stages.desired import Desired
from ne_dynamics.control.stages.law import Law
from ne_dynamics.control.stages.limits import Limits
from ne_dynamics.control.stages.review import Review
from ne_dynamics.control.stages.sense import Sense
from ne_dynamics.control.stages.transition import Transition
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.model.rigid_body import FloatArray


class CommandedArm(Protocol):
    """A :class:`~ne_dynamics.control.controller.Controller`, without what is beside its stages."""

    tuning: Tuning
    accept: Accept
    sense: Sense
    motion: Desired
    law: Law
    transition: Transition
    limits: Limits
    watch: Review

    @property
    def acting_law(self) -> ControlLaw:
        """The law by which states are answered."""

    @property
    def position(self) -> FloatArray | None:
        """Position of the last accepted state [rad or m]; None before the first."""

    @property
    def time(self) -> float | None:
        """Stamp of that state [s]."""

    @property
    def fault(self) -> Fault | None:
        """The fault that counts."""

    def restart(self) -> None:
        """Give up the motion."""
