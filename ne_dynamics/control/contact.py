"""Whether something touches the arm: a residual beyond what the model has erred by so far.

The residual of a momentum observer (:mod:`ne_dynamics.control.observer`) has pushes in it and the
errors of the model. A push comes quickly; of the errors it is known how large they have been. So a
joint is in contact when its residual r is beyond

    least + `contact_errors` * (largest |r| that was no contact),

where `least` is what is asked for at the least. What is seen counts as an error once
`contact_probation` to twice that have passed without a contact: a push does not raise its own
threshold. A contact is over when all residuals have come back by `contact_release` of the way from
their thresholds to the errors that are known: the model is as wrong after a push as before it.
Words such as `contact_errors` are fields of :class:`~.guards.limits.GuardLimits`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.settings import parameter


class ContactReaction(str, enum.Enum):
    """What follows a contact; the values are the words of `contact.reaction`."""

    NONE = 'none'
    HOLD = 'hold'
    """The motion is given up; the arm is held where it was found."""
    FLOAT = 'float'
    """The motion is given up; the arm is carried against gravity, and can be led."""


@dataclass(frozen=True)
class ContactSettings:
    """The parameters `contact.*`: what is a contact, and what follows."""

    cutoff_frequency: float = parameter(
        30.0,
        'Cut-off frequency of the external efforts in `~/external_torque`, by which contacts are '
        'found.',
        unit='Hz',
        minimum=0.0,
        above_minimum=True,
        maximum=1000.0,
    )
    min_effort: tuple[float, ...] = parameter(
        (),
        'A joint is in contact when its external effort exceeds this plus 1.5 times the largest '
        'one so far without contact. One for all joints or one per joint; `.inf`: never. Empty: '
        '0.04 of the effort limits.',
        unit='N m or N',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    reaction: ContactReaction = parameter(
        ContactReaction.NONE,
        'Reaction to a contact, beside `~/contact`: `none`; `hold`, the motion is dropped and '
        'the arm held where it is; `float`, the motion is dropped and the arm is only carried '
        'against gravity, so that it can be pushed away, until `~/hold` or another motion.',
    )


class ContactDetector:
    """Judges the residuals of one arm.

    Attributes
    ----------
    is_in_contact : bool
    thresholds : list of n float
        At present [N m or N].
    """

    def __init__(self, least: FloatArray) -> None:
        self._least = least
        self.reset()

    def configure(self, least: FloatArray) -> None:
        """Let other thresholds count from the next state on; what was seen stays known."""
        self._least = least
        self._raise_thresholds()

    def reset(self) -> None:
        """Forget what was seen."""
        n = self._least.size
        self.is_in_contact = False
        self._largest, self._none = [0.0] * n, [0.0] * n
        self._begin: float | None = None
        self._start_probation(-inf)
        self._raise_thresholds()

    def _start_probation(self, now: float) -> None:
        self._recent, self._older = self._none.copy(), self._none
        self._since = now

    def _raise_thresholds(self) -> None:
        pairs = zip(self._least.tolist(), self._largest, strict=True)
        factor = GUARD_LIMITS.contact_errors
        self.thresholds = [least + factor * largest for least, largest in pairs]

    def update(self, residual: FloatArray, now: float) -> bool:
        """Take a residual, shape (n,) [N m or N], at a time [s]; return if a contact begins."""
        # For a few joints loops are quicker than NumPy.
        sizes, bounds = [abs(value) for value in residual.tolist()], GUARD_LIMITS
        if self._begin is None:
            self._begin = self._since = now
        if now - self._begin < bounds.contact_learning:
            self._learn(sizes)
            return False
        thresholds = self.thresholds
        if self.is_in_contact:
            triples = zip(sizes, thresholds, self._largest, strict=True)
            if all(
                size < threshold - bounds.contact_release * (threshold - largest)
                for size, threshold, largest in triples
            ):
                self.is_in_contact = False
                self._start_probation(now)
            return False
        recent = self._recent
        for index, (size, threshold) in enumerate(zip(sizes, thresholds, strict=True)):
            if size > threshold:
                self.is_in_contact = True
                return True
            if size > recent[index]:
                recent[index] = size
        if now - self._since >= bounds.contact_probation:
            self._learn(self._older)
            self._older, self._recent = recent, sizes
            self._since = now
        return False

    def _learn(self, sizes: Sequence[float]) -> None:
        """Take errors of the model for known."""
        self._largest = [max(pair) for pair in zip(self._largest, sizes, strict=True)]
        self._raise_thresholds()
