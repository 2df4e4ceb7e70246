"""Fourth stage: the effort of the control law."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState


class Law:
    """Computes the effort of the law of n joints, with friction that depends on the way.

    The states of that friction follow the desired positions, which have no noise; where the arm is
    led by hand these are the measured ones. Nobody knows the states of the beginning, so they are
    0: no joint has come from either side.
    """

    def __init__(self, n: int) -> None:
        self._effort: FloatArray | None = None
        self._states: FloatArray = np.zeros(n)
        self._position: FloatArray | None = None

    def step(self, tick: Tick) -> None:
        """Set `wanted`, `error`, `hysteresis` and `hysteresis_before`."""
        law, desired = tick.law, tick.desired
        hysteresis = tick.hysteresis = self.follow(law, desired)
        before = tick.changed_from
        if before is not None:
            velocity = (tick.desired_before or desired).velocity
            tick.hysteresis_before = self._effort_at(before.law, velocity)
        effort = law.effort(tick.position, tick.velocity, desired, tick.wrench, tick.base)
        tick.wanted = effort if hysteresis is None else effort + hysteresis
        tick.error = (
            law.error if law.has_feedback else law.position_error(desired.position, tick.position)
        )

    def follow(self, law: ControlLaw, desired: DesiredState) -> FloatArray | None:
        """Go on to a desired state; return what the way adds to the effort, shape (n,) [N m or N].

        None where the model has no hysteresis, or the law feeds no friction forward.
        """
        compensation, self._effort = law.compensation, None
        if not compensation.has_hysteresis:
            return None
        if self._position is not None:
            moved = law.position_error(desired.position, self._position)
            self._states = compensation.move_hysteresis(self._states, moved)
        self._position = desired.position.copy()
        self._effort = self._effort_at(law, desired.velocity)
        return self._effort

    def _effort_at(self, law: ControlLaw, velocity: FloatArray) -> FloatArray | None:
        """Return what a law adds where the path has come to, at a velocity."""
        compensation = law.compensation
        if not (compensation.has_hysteresis and law.mode.follows and law.terms.friction):
            return None
        return compensation.hysteresis_effort(self._states, velocity)

    def effort_at_rest(self, law: ControlLaw) -> FloatArray | None:
        """Return what friction at rest goes on pushing with [N m or N]; None for nothing."""
        return None if self._effort is None else self._effort_at(law, np.zeros_like(self._effort))
