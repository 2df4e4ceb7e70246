"""What a controller does about efforts that its model does not have. No ROS, no clock.

A momentum observer (:mod:`ne_dynamics.control.observer`) sees them in the answered states, twice:
slowly, for what is taken out of the command, and quickly, for contacts
(:mod:`ne_dynamics.control.contact`).

The compensation is the slow residual, within its bounds. While a joint's command is limited its
compensation may shrink, but neither grow nor change its sign: it would push where nothing more can
be pushed. Nor does the residual wind up, which goes by what was commanded after the limits.
That of a joint that stiction makes hunt stays as it is: see
:mod:`ne_dynamics.control.guards.hunting`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.contact import ContactDetector, ContactReaction
from ne_dynamics.control.guards.hunting import HuntingGuard
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.observer import MomentumObserver
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.dynamics.compensation import Base
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class DisturbanceTuning:
    """How disturbances are observed, and what is done about them.

    Attributes
    ----------
    compensates : bool
        Whether they are taken out of the command, too.
    cutoff_frequency : float
        Of the compensation [Hz].
    velocity_lag, lag_periods : float
        By how much velocities are late behind positions [s], and by how many periods more.
    bounds : array, shape (n,)
        Of the compensation [N m or N]; infinite for none.
    contact_cutoff_frequency : float
        [Hz]
    least_contact : array, shape (n,)
        Least thresholds of a contact [N m or N].
    reaction : ContactReaction
    """

    compensates: bool
    cutoff_frequency: float
    velocity_lag: float
    lag_periods: float
    bounds: FloatArray
    contact_cutoff_frequency: float
    least_contact: FloatArray
    reaction: ContactReaction = ContactReaction.NONE

    @property
    def feedback_rate(self) -> float:
        """By how much the compensation adds to the gain of velocities [1/s]."""
        return 2.0 * pi * self.cutoff_frequency if self.compensates else 0.0


class _Sent(NamedTuple):
    """A command, and what it was for."""

    time: float
    effort: FloatArray
    friction_qd: FloatArray


class DisturbanceObserver:
    """Observes one arm.

    Attributes
    ----------
    compensation : array, shape (n,), or None
        That the last command has had taken out of it [N m or N].
    """

    def __init__(self, tuning: DisturbanceTuning) -> None:
        self._observer = MomentumObserver(tuning.cutoff_frequency, tuning.contact_cutoff_frequency)
        self._contact = ContactDetector(tuning.least_contact)
        self._hunting = HuntingGuard()
        self.configure(tuning)
        self.reset()

    def configure(self, tuning: DisturbanceTuning) -> None:
        """Let another tuning count from the next state on; what is known stays known."""
        self.tuning = tuning
        self._observer.configure(tuning.cutoff_frequency, tuning.contact_cutoff_frequency)
        self._bounds = tuning.bounds.tolist()
        self._contact.configure(tuning.least_contact)

    def reset(self) -> None:
        """Forget states and residuals: the arm is found anew."""
        self._observer.reset()
        self._contact.reset()
        self._hunting.reset()
        self.compensation: FloatArray | None = None
        self._limited: NDArray[np.bool_] | None = None
        self._sent: deque[_Sent] = deque(maxlen=COMMAND.commands_remembered)

    @property
    def external_effort(self) -> FloatArray | None:
        """Efforts exerted on the joints from outside, shape (n,) [N m or N]; None at first."""
        residuals = self._observer.residuals
        return None if residuals is None else residuals[1]

    @property
    def is_in_contact(self) -> bool:
        """Whether something touches the arm."""
        return self._contact.is_in_contact

    def go_on(self, change: FloatArray) -> None:
        """Let another model count: what it has more, or less, is lacking as much less, or more.

        Without that the compensation would count twice what the model now has, until it is
        unlearned.

        Parameters
        ----------
        change : array, shape (n,)
            By how much more effort the model asks for than before [N m or N].
        """
        residuals = self._observer.residuals
        if residuals is not None:
            self._observer.settle(residuals[0] + change)

    def observe(
        self,
        law: ControlLaw,
        position: FloatArray,
        velocity: FloatArray,
        now: float,
        wrench: FloatArray | None,
        base: Base | None,
    ) -> bool:
        """Take a state, before it is answered; return whether a contact begins.

        Parameters
        ----------
        law : ControlLaw
            By which the last command was made.
        position, velocity : array, shape (n,)
            [rad or m, rad/s or m/s]
        now : float
            [s]
        wrench, base : optional
            As :meth:`ControlLaw.effort` takes them.

        Raises
        ------
        InputError
            When the model has no finite effort for the motion.
        """
        if not self._sent:
            return False
        period = now - self._sent[-1].time
        lag = self.tuning.velocity_lag + self.tuning.lag_periods * period
        sent = self._find_acting(now - lag - 0.5 * period)
        self._observer.update(
            law,
            position,
            velocity,
            sent.friction_qd,
            sent.effort,
            now,
            wrench,
            base,
            lag,
            self._hunting.hunts,
        )
        residuals = self._observer.residuals
        return residuals is not None and self._contact.update(residuals[1], now)

    def _find_acting(self, moment: float) -> _Sent:
        """Return the command that has acted at a moment, and forget those before it."""
        sent = self._sent
        while len(sent) > 1 and sent[1].time <= moment:
            sent.popleft()
        return sent[0]

    def compensate(self, *, counts: bool) -> FloatArray | None:
        """Return what is to be taken out of the next command, shape (n,); None for nothing.

        Parameters
        ----------
        counts : bool
            Whether the law has a use for it.
        """
        residuals, tuning = self._observer.residuals, self.tuning
        if residuals is None or not (counts and tuning.compensates):
            self.compensation = None
            return None
        wanted: FloatArray = residuals[0]
        # The rule is that it is within; for a few joints a loop is quicker than NumPy.
        for value, bound in zip(wanted.tolist(), self._bounds, strict=True):
            if not -bound <= value <= bound:
                wanted = np.minimum(np.maximum(wanted, -tuning.bounds), tuning.bounds)
                break
        limited = self._limited
        if limited is not None:
            before = np.zeros_like(wanted) if self.compensation is None else self.compensation
            kept = np.clip(wanted, np.minimum(before, 0.0), np.maximum(before, 0.0))
            wanted = np.where(limited, kept, wanted)
            # When the limit is left it goes on from there, and does not leap.
            self._observer.settle(np.where(limited, kept, residuals[0]))
        self.compensation = wanted
        return wanted

    def note_command(
        self,
        effort: FloatArray,
        limited: NDArray[np.bool_] | None,
        friction_qd: FloatArray,
        error: FloatArray,
        now: float,
    ) -> None:
        """Take note of a command.

        Parameters
        ----------
        effort : array, shape (n,)
            After all limits [N m or N]; kept, so not to be changed.
        limited : array, shape (n,), dtype bool, or None
            Joints that the limits have changed.
        friction_qd : array, shape (n,)
            Desired velocities, which friction is fed forward for [rad/s or m/s].
        error : array, shape (n,)
            Of the position [rad or m].
        now : float
            Time of the state that it answers [s].
        """
        self._sent.append(_Sent(now, effort, friction_qd))
        self._limited = limited
        if self.compensation is not None:
            self._hunting.update(error, friction_qd, now)
        elif self._hunting.hunts is not None:
            self._hunting.reset()
