"""What is wrong with an arm, its node or a motion."""

from __future__ import annotations

from ne_dynamics.errors import NeDynamicsError


class ArmFault(NeDynamicsError, RuntimeError):
    """The arm, the node or a motion is not as it should be; the message says what was seen."""


class LostArm(ArmFault):
    """States, commands or a process are not as they should be: it says nothing of a motion."""


class StrayedArm(ArmFault):
    """A joint goes away from where it is wanted: feedback that holds it would go on with that."""
