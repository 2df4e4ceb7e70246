"""Last stage before the command goes out: finite, within the limits, no faster than allowed."""

from __future__ import annotations

from ne_dynamics.control.limits import EffortLimiter, LimitedEffort
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState


class Limits:
    """Limits commands, and remembers the last one, whoever has made it.

    Attributes
    ----------
    limiter : EffortLimiter
        The limits that count now, and the last command.
    setpoint : DesiredState or None
        Desired motion that goes with the last command; None before the first.
    """

    def __init__(self, tuning: Tuning) -> None:
        self.limiter = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        self.setpoint: DesiredState | None = None

    def configure(self, tuning: Tuning) -> None:
        """Use other limits from the next command on; the rate limit goes on from the last one."""
        limiter = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        limiter.continue_from(self.limiter)
        self.limiter = limiter

    def reset(self) -> None:
        """Forget the last command."""
        self.limiter.reset()
        self.setpoint = None

    def step(self, tick: Tick) -> None:
        """Limit `effort`, and set `saturated`."""
        limiter = self.limiter
        if tick.reported_start is not None and limiter.wants_start:
            limiter.start_from(tick.reported_start)
        tick.effort, tick.saturated = limiter.apply(tick.effort, tick.elapsed)
        self.setpoint = tick.desired

    def apply(
        self, effort: FloatArray, elapsed: float, setpoint: DesiredState | None = None
    ) -> LimitedEffort:
        """Limit a command that answers no state, or one after a fault; see :meth:`step`.

        Parameters
        ----------
        effort : array, shape (n,)
            [N m or N]
        elapsed : float
            Since the last command [s].
        setpoint : DesiredState, optional
            That goes with it.
        """
        limited = self.limiter.apply(effort, elapsed)
        if setpoint is not None:
            self.setpoint = setpoint
        return limited
