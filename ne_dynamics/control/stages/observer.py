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
from ne_dynamics.control.thresholds import COMMAND
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


class _Sent(NamedTuple):
    """A command, and what it was for."""

    time: float
    effort: FloatArray
    friction_qd: FloatArray


class Observer:
    """Observes disturbances, and compensates them.

    Attributes
    ----------
    observed : Observed
        As of the last review.
    """

    _momentum: MomentumObserver
    _contact: ContactDetector
    _hunting: HuntingGuard

    def __init__(self, tuning: Tuning) -> None:
        self.observed = NOTHING_OBSERVED
        self._chosen: DisturbanceTuning | None = None
        self._zero = np.zeros(tuning.effort_limits.size)
        self._compensation: FloatArray | None = None
        self._limited: NDArray[np.bool_] | None = None
        self._sent: deque[_Sent] = deque(maxlen=COMMAND.commands_remembered)
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
        cutoffs = chosen.cutoff_frequency, chosen.contact_cutoff_frequency
        if before is None:
            self._momentum = MomentumObserver(*cutoffs)
            self._contact = ContactDetector(chosen.least_contact)
            self._hunting = HuntingGuard()
            self.restart()
        else:
            self._momentum.configure(*cutoffs)
            self._contact.configure(chosen.least_contact)

    def restart(self) -> None:
        """Forget what was observed: the arm is found anew."""
        if self._chosen is None:
            return
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
        if before is not None and _goes_on(before, tick):
            tick.compensation_before = self._compensate(chosen, before)
        if before is not None and tick.velocity is not None:
            self._change_model(tick, tick.velocity, before)
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
        # The rule is that it is within; for a few joints a loop is quicker than NumPy.
        for value, bound in zip(wanted.tolist(), self._bounds, strict=True):
            if not -bound <= value <= bound:
                wanted = np.minimum(np.maximum(wanted, -chosen.bounds), chosen.bounds)
                break
        limited = self._limited
        if limited is not None:
            before = np.zeros_like(wanted) if self._compensation is None else self._compensation
            kept = np.clip(wanted, np.minimum(before, 0.0), np.maximum(before, 0.0))
            wanted = np.where(limited, kept, wanted)
            # When the limit is left it goes on from there, and does not leap.
            self._momentum.settle(np.where(limited, kept, residuals[0]))
        self._compensation = wanted
        return wanted

    def _change_model(self, tick: Tick, velocity: FloatArray, before: Tick) -> None:
        """Compensate no longer what the model has more, or less, than before.

        It would count twice until it is unlearned.
        """
        desired = tick.desired if tick.desired_before is None else tick.desired_before
        motion = tick.position, velocity, self._zero, desired.velocity
        efforts = []
        # Of both the compensation alone: it is the model, whatever the feedback asks for.
        for each, way in (tick, tick.hysteresis), (before, tick.hysteresis_before):
            try:
                effort = each.law.compensation.effort(*motion, each.wrench, each.base)
            except InputError:
                # The law will say so of itself.
                return
            efforts.append(effort if way is None else effort + way)
        change, residuals = efforts[0] - efforts[1], self._momentum.residuals
        if residuals is not None and change.any():
            self._momentum.settle(residuals[0] + change)

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
        hysteresis = tick.hysteresis
        # An observer knows nothing of the way.
        effort = tick.effort if hysteresis is None else tick.effort - hysteresis
        self._sent.append(_Sent(tick.now, effort, tick.desired.velocity))
        self._limited = tick.saturated
        if self._compensation is not None:
            self._hunting.update(tick.error, tick.desired.velocity, tick.now)
        elif self._hunting.hunts is not None:
            self._hunting.reset()
        residuals = self._momentum.residuals
        self.observed = Observed(
            None if residuals is None else residuals[1], self._contact.is_in_contact
        )
        return begins

    def _observe(self, tick: Tick, velocity: FloatArray, chosen: DisturbanceTuning) -> bool:
        """Take a state, by the commands that were sent before; return whether a contact begins."""
        if not self._sent:
            return False
        period = tick.now - self._sent[-1].time
        lag = chosen.velocity_lag + chosen.lag_periods * period
        sent = self._find_acting(tick.now - lag - 0.5 * period)
        self._momentum.update(
            tick.law,
            tick.position,
            velocity,
            sent.friction_qd,
            sent.effort,
            tick.now,
            tick.wrench,
            tick.base,
            lag,
            self._hunting.hunts,
        )
        residuals = self._momentum.residuals
        return residuals is not None and self._contact.update(residuals[1], tick.now)

    def _find_acting(self, moment: float) -> _Sent:
        """Return the command that has acted at a moment, and forget those before it."""
        sent = self._sent
        while len(sent) > 1 and sent[1].time <= moment:
            sent.popleft()
        return sent[0]

    def note_reaction(self) -> None:
        """Say in `observed` that the contact of this review has ended the motion."""
        self.observed = self.observed._replace(has_reacted=True)


def _goes_on(before: Tick, tick: Tick) -> bool:
    """Return whether feedback and compensation go on, within the same bounds."""
    old, new = before.tuning.disturbance, tick.tuning.disturbance
    if old is None or new is None or not (before.law.has_feedback and tick.law.has_feedback):
        return False
    return old.compensates and bool(np.array_equal(old.bounds, new.bounds))
