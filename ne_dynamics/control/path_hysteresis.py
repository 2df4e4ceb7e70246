"""Friction with hysteresis along the desired motion, from state to state."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState


class PathHysteresis:
    """What the way to the desired position adds to the friction that a law feeds forward.

    The states follow the desired positions, which have no noise; where the arm is led by hand
    these are the measured ones. Nobody knows the states of the beginning, so they are 0: no joint
    has come from either side.

    Attributes
    ----------
    effort : array, shape (n,), or None
        Of the last desired state, to be added to that of the law [N m or N]; None where the model
        has no hysteresis, or the law feeds no friction forward.
    """

    def __init__(self, n: int) -> None:
        self.effort: FloatArray | None = None
        self._states: FloatArray = np.zeros(n)
        self._position: FloatArray | None = None

    def follow(self, law: ControlLaw, desired: DesiredState) -> FloatArray | None:
        """Go on to a desired state, and return :attr:`effort`.

        Parameters
        ----------
        law : ControlLaw
            By which it is answered.
        desired : DesiredState
        """
        compensation, self.effort = law.compensation, None
        if not compensation.has_hysteresis:
            return None
        if self._position is not None:
            moved = law.position_error(desired.position, self._position)
            self._states = compensation.move_hysteresis(self._states, moved)
        self._position = desired.position.copy()
        self.effort = self.effort_at(law, desired.velocity)
        return self.effort

    def effort_at(self, law: ControlLaw, velocity: FloatArray) -> FloatArray | None:
        """Return what a law adds where the path has come to, at a velocity."""
        compensation = law.compensation
        if not (compensation.has_hysteresis and law.mode.follows and law.terms.friction):
            return None
        return compensation.hysteresis_effort(self._states, velocity)
