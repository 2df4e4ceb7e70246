"""Fifth stage: what the model does not have is observed, and taken out of the effort.

A momentum observer (:mod:`ne_dynamics.control.observer`) sees it in the answered states, twice:
slowly, for what is taken out of the command, and quickly, for contacts
(:mod:`ne_dynamics.control.contact`).

The compensation is the slow residual, within its bounds. While a joint's command is limited its
compensation may shrink, but neither grow nor change its sign: it would push where nothing more can
be pushed. Nor does the residual wind up, which goes by what was commanded after the limits.
That of a joint that stiction makes hunt stays as it is: see
:mod:`ne_dynamics.control.guards.hunting`.
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.contact import ContactDetector
from ne_dynamics.control.guards.hunting import HuntingGuard
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.observer import DisturbanceTuning, MomentumObserver
from ne_dynamics.control.stages.limits import are_within
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray


class Observed(NamedTuple):
    """What is observed of the world outside.

    Attributes
    ----------
    external_effort : array, shape (n,), or None
        Exerted on the joints from outside [N m or N]; None when that is not observed.
    is_in_contact : bool
        Whether something touches the arm.
    has_reacted : bool
        Whether a contact has just ended the motion.
    """

    external_effort: FloatArray | None = None
    is_in_contact: bool = False
    has_reacted: bool = False


NOTHING_OBSERVED = Observed()


class Observer:
    """Observes disturbances, and compensates them.

    Attributes
    ----------
    observed : Observed
        As of the last review.
    """

    def __init__(self, tuning: Tuning) -> None:
        self.observed = NOTHING_OBSERVED
        self._chosen: DisturbanceTuning | None = None
        self._zero = np.zeros(tuning.effort_limits.size)
        self._momentum, self._hunting = MomentumObserver(), HuntingGuard()
        self._contact = ContactDetector(self._zero)
        self._compensation: FloatArray | None = None
        self._limited: NDArray[np.bool_] | None = None
        # Those that have acted are forgotten, but where the clock stands.
        self._sent: deque[Tick] = deque(maxlen=1024)
        self.configure(tuning)

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on; what is known stays known."""
        before, chosen = self._chosen, tuning.disturbance
        if chosen is None or tuning.mode is Mode.FEEDFORWARD:
            # Where the robot closes the loop the command is not all that acts.
            self._chosen, self.observed = None, NOTHING_OBSERVED
            return
        self._chosen = chosen
        self._bounds = chosen.bounds.tolist()
        self._momentum.configure(chosen.cutoff_frequency, chosen.contact_cutoff_frequency)
        self._contact.configure(chosen.least_contact)
        if before is None:
            self.restart()

    def restart(self) -> None:
        """Forget what was observed: the arm is found anew."""
        self.observed = NOTHING_OBSERVED
        self._momentum.reset()
        self._contact.reset()
        self._hunting.reset()
        self._compensation = self._limited = None
        self._sent.clear()

    def step(self, tick: Tick) -> None:
        """Take `compensation` out of `wanted`, and set it and `compensation_before`."""
        chosen = self._chosen
        if chosen is None:
            return
        before = tick.changed_from
        if before is not None:
            old, feeds_back = before.tuning.disturbance, before.law.has_feedback
            is_kept = feeds_back and tick.law.has_feedback and old is not None and old.compensates
            if old is not None and is_kept and np.array_equal(old.bounds, chosen.bounds):
                tick.compensation_before = self._compensate(chosen, before)
            self._change_model(tick, before)
        compensation = tick.compensation = self._compensate(chosen, tick)
        if compensation is not None:
            tick.wanted = tick.wanted - compensation

    def _compensate(self, chosen: DisturbanceTuning, tick: Tick) -> FloatArray | None:
        """Return what is to be taken out of the command of a tick's law; None for nothing."""
        residuals = self._momentum.residuals
        # Where nothing feeds back it would be felt.
        if residuals is None or not (tick.law.has_feedback and chosen.compensates):
            self._compensation = None
            return None
        wanted: FloatArray = residuals[0]
        if not are_within(wanted.tolist(), self._bounds):
            wanted = np.minimum(np.maximum(wanted, -chosen.bounds), chosen.bounds)
        limited = self._limited
        if limited is not None:
            before = np.zeros_like(wanted) if self._compensation is None else self._compensation
            kept = np.clip(wanted, np.minimum(before, 0.0), np.maximum(before, 0.0))
            wanted = np.where(limited, kept, wanted)
            # When the limit is left it goes on from there, and does not leap.
            self._momentum.settle(np.where(limited, kept, residuals[0]))
        self._compensation = wanted
        return wanted

    def _change_model(self, tick: Tick, before: Tick) -> None:
        """Compensate no longer what the model has more, or less, than before.

        It would count twice until it is unlearned.
        """
        residuals, desired = self._momentum.residuals, tick.desired_before or tick.desired
        if residuals is None or tick.velocity is None:
            return
        motion, efforts = (tick.position, tick.velocity, self._zero, desired.velocity), []
        # Of both the compensation alone: it is the model, whatever the feedback asks for.
        with contextlib.suppress(InputError):
            for each, way in (tick, tick.hysteresis), (before, tick.hysteresis_before):
                effort = each.law.compensation.effort(*motion, each.wrench, each.base)
                efforts.append(effort if way is None else effort + way)
            self._momentum.settle(residuals[0] + (efforts[0] - efforts[1]))

    def review(self, tick: Tick) -> bool:
        """Observe the arm by an answer that was sent; return whether a contact begins."""
        chosen, begins = self._chosen, False
        if chosen is None:
            return False
        if tick.velocity is None:
            # What was seen last is not what there is now.
            self.restart()
        else:
            # Without a finite effort of the model nothing is observed: the law says so of itself.
            with contextlib.suppress(InputError):
                begins = self._observe(tick, tick.velocity, chosen)
        self._sent.append(tick)
        self._limited = tick.saturated
        if self._compensation is not None:
            self._hunting.update(tick.error, tick.desired.velocity, tick.now)
        elif self._hunting.hunts is not None:
            self._hunting.reset()
        residuals = self._momentum.residuals
        external = None if residuals is None else residuals[1]
        self.observed = Observed(external, self._contact.is_in_contact)
        return begins

    def _observe(self, tick: Tick, velocity: FloatArray, chosen: DisturbanceTuning) -> bool:
        """Take a state, by the commands that were sent before; return whether a contact begins."""
        if not self._sent:
            return False
        period = tick.now - self._sent[-1].now
        lag = chosen.velocity_lag + chosen.lag_periods * period
        sent = self._find_acting(tick.now - lag - 0.5 * period)
        # An observer knows nothing of the way.
        effort = sent.effort if sent.hysteresis is None else sent.effort - sent.hysteresis
        motion = tick.position, velocity, sent.desired.velocity, effort
        loads = tick.wrench, tick.base, lag, self._hunting.hunts
        self._momentum.update(tick.law, *motion, tick.now, *loads)
        residuals = self._momentum.residuals
        return residuals is not None and self._contact.update(residuals[1], tick.now)

    def _find_acting(self, moment: float) -> Tick:
        """Return the answer whose command has acted at a moment [s], and forget those before."""
        sent = self._sent
        while len(sent) > 1 and sent[1].now <= moment:
            sent.popleft()
        return sent[0]
