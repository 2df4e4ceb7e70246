"""First stage: whether a joint state is believed."""

from __future__ import annotations

from ne_dynamics.control.guards.state_guard import StateGuard
from ne_dynamics.control.sensors.state_rate import StateRate
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.model.rigid_body import FloatArray


class Accept:
    """Believes states or refuses them, and knows their rate.

    Attributes
    ----------
    guard : StateGuard
        Has the last state that was believed, and the fault that counts.
    rate : StateRate
        Of the states, whoever answers them: it stays known.
    """

    def __init__(self, tuning: Tuning) -> None:
        self.guard = StateGuard(tuning.law.joints, tuning.states)
        self.rate = StateRate()

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on."""
        self.guard.configure(tuning.states)

    def reset(self) -> None:
        """Forget the states; their rate stays known."""
        self.guard.reset()

    def note(
        self, position: FloatArray, velocity: FloatArray | None, now: float, arrival: float
    ) -> None:
        """Take a state that is not answered: as :meth:`Controller.observe`."""
        before, timeout = self.guard.last, self.guard.limits.timeout
        if before is not None and 0.0 < now - before.time <= timeout:
            self.rate.learn(now - before.time)
        self.guard.believe(position, velocity, now, arrival)

    def step(self, tick: Tick) -> None:
        """Set `fault`, `had_fault`, `ahead`, `period` and `since_last`.

        Raises
        ------
        StateRefused
            When the state is not believed, or ends the motion.
        """
        guard = self.guard
        before, fault = guard.last, guard.fault
        tick.fault = guard.check(tick.position, tick.measured_velocity, tick.now, tick.arrival)
        tick.ahead = guard.ahead
        if tick.tuning.drives_close_loop:
            tick.period = self.rate.period
        if tick.fault is not None:
            tick.had_fault = fault is not None
        elif before is not None:
            tick.since_last = tick.now - before.time

    def review(self, tick: Tick) -> None:
        """Learn the rate of the states."""
        if tick.since_last > 0.0:
            self.rate.learn(tick.since_last)
