"""Last stage before the command goes out: finite, within the limits, no faster than allowed."""

from __future__ import annotations

from ne_dynamics.control.limits import EffortLimiter
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.motion.waypoints import DesiredState


class Limits(EffortLimiter):
    """Limits commands, whoever has made them.

    Attributes
    ----------
    setpoint : DesiredState or None
        Desired motion that goes with the last command; None before the first.
    """

    def __init__(self, tuning: Tuning) -> None:
        super().__init__(tuning.effort_limits, tuning.effort_rates)
        self.setpoint: DesiredState | None = None

    def configure(self, tuning: Tuning) -> None:
        """Use other limits from the next command on; the rate limit goes on from the last one."""
        self.use(tuning.effort_limits, tuning.effort_rates)

    def reset(self) -> None:
        """Forget the last command."""
        self.last = self.setpoint = None

    def step(self, tick: Tick) -> None:
        """Limit `effort`, and set `saturated`."""
        if tick.reported_start is not None and self.wants_start:
            self.start_from(tick.reported_start)
        tick.effort, tick.saturated = self.apply(tick.effort, tick.elapsed)
        self.setpoint = tick.desired
