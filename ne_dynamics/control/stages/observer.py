"""Fifth stage: what the model does not have is observed, and taken out of the effort."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.disturbance import DisturbanceObserver
from ne_dynamics.control.laws import Mode
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
        self._disturbance: DisturbanceObserver | None = None
        self._zero = np.zeros(tuning.effort_limits.size)
        self.configure(tuning)

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on; what is known stays known."""
        if tuning.disturbance is None or tuning.mode is Mode.FEEDFORWARD:
            # Where the robot closes the loop the command is not all that acts.
            self._disturbance = None
            self.observed = NOTHING_OBSERVED
        elif self._disturbance is None:
            self._disturbance = DisturbanceObserver(tuning.disturbance)
        else:
            self._disturbance.configure(tuning.disturbance)

    def restart(self) -> None:
        """Forget what was observed: the arm is found anew."""
        if self._disturbance is not None:
            self._disturbance.reset()
            self.observed = NOTHING_OBSERVED

    def step(self, tick: Tick) -> None:
        """Take `compensation` out of `wanted`, and set it and `compensation_before`."""
        disturbance = self._disturbance
        if disturbance is None:
            return
        before = tick.changed_from
        if before is not None and _goes_on(before, tick):
            tick.compensation_before = disturbance.compensate(counts=before.law.has_feedback)
        if before is not None and tick.velocity is not None:
            self._change_model(tick, tick.velocity, before, disturbance)
        # Where nothing feeds back it would be felt.
        compensation = disturbance.compensate(counts=tick.law.has_feedback)
        if compensation is not None:
            tick.compensation = compensation
            tick.wanted = tick.wanted - compensation

    def _change_model(
        self, tick: Tick, velocity: FloatArray, before: Tick, disturbance: DisturbanceObserver
    ) -> None:
        """Compensate no longer what the model has more, or less, than before."""
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
        change = efforts[0] - efforts[1]
        if change.any():
            disturbance.go_on(change)

    def review(self, tick: Tick) -> bool:
        """Observe the arm by an answer that was sent; return whether a contact begins."""
        disturbance, begins = self._disturbance, False
        if disturbance is None:
            return False
        if tick.velocity is None:
            # What was seen last is not what there is now.
            disturbance.reset()
        else:
            # Without a finite effort of the model nothing is observed: the law says so of itself.
            with contextlib.suppress(InputError):
                begins = disturbance.observe(
                    tick.law, tick.position, tick.velocity, tick.now, tick.wrench, tick.base
                )
        hysteresis = tick.hysteresis
        disturbance.note_command(
            # An observer knows nothing of the way.
            tick.effort if hysteresis is None else tick.effort - hysteresis,
            tick.saturated,
            tick.desired.velocity,
            tick.error,
            tick.now,
        )
        self.observed = Observed(disturbance.external_effort, disturbance.is_in_contact)
        return begins

    def note_reaction(self) -> None:
        """Say in `observed` that the contact of this review has ended the motion."""
        self.observed = self.observed._replace(has_reacted=True)


def _goes_on(before: Tick, tick: Tick) -> bool:
    """Return whether feedback and compensation go on, within the same bounds."""
    old, new = before.tuning.disturbance, tick.tuning.disturbance
    if old is None or new is None or not (before.law.has_feedback and tick.law.has_feedback):
        return False
    return old.compensates and bool(np.array_equal(old.bounds, new.bounds))
