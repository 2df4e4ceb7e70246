"""Fourth stage: the effort of the control law."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.path_hysteresis import PathHysteresis
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.rigid_body import FloatArray


class Law:
    """Computes the effort of the law, with friction that depends on the way.

    Parameters
    ----------
    n : int
        Number of joints.
    """

    def __init__(self, n: int) -> None:
        self._hysteresis = PathHysteresis(n)

    def step(self, tick: Tick) -> None:
        """Set `wanted`, `error`, `hysteresis` and `hysteresis_before`."""
        law, desired = tick.law, tick.desired
        hysteresis = tick.hysteresis = self._hysteresis.follow(law, desired)
        before = tick.changed_from
        if before is not None:
            velocity = (tick.desired_before or desired).velocity
            tick.hysteresis_before = self.effort_at(before.law, velocity)
        effort = law.effort(tick.position, tick.velocity, desired, tick.wrench, tick.base)
        tick.wanted = effort if hysteresis is None else effort + hysteresis
        tick.error = (
            law.error if law.has_feedback else law.position_error(desired.position, tick.position)
        )

    def effort_at(self, law: ControlLaw, velocity: FloatArray) -> FloatArray | None:
        """Return what the way adds at a desired velocity, as :meth:`PathHysteresis.effort_at`."""
        return self._hysteresis.effort_at(law, velocity)

    def effort_at_rest(self, law: ControlLaw) -> FloatArray | None:
        """Return what friction at rest goes on pushing with [N m or N]; None for nothing."""
        effort = self._hysteresis.effort
        return None if effort is None else self.effort_at(law, np.zeros_like(effort))
