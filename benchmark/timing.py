"""Time several ways to do the same thing, interleaved, so that noise meets all of them alike."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray

SAMPLE_DURATION = 0.002
"""A contender is called so often that one of its samples takes this long at least [s]."""

SAMPLES_TO_BEGIN = 3
"""Samples by which the number of calls in one is found."""

AGREEMENT = 1e-9
"""Largest difference between contenders, relative to the largest entry of the result."""


class DisagreementError(NeDynamicsError, ArithmeticError):
    """Two contenders do not compute the same: their times would mean nothing."""


@dataclass(frozen=True)
class Contender:
    """One way to compute something, as a user writes it.

    Attributes
    ----------
    name : str
    statement : str
        Python that is timed, e.g. ``'pin.rnea(model, data, q, qd, qdd)'``.
    names : mapping
        What the names in it are; they are local variables where the statement runs.
    result : str
        Expression that holds the outcome once the statement has run; '' when the statement
        itself is the expression.
    samples : int
        Samples that one execution computes.
    friction : bool
        Whether joint friction is part of the outcome.
    """

    name: str
    statement: str
    names: Mapping[str, Any] = field(repr=False)
    result: str = ''
    samples: int = 1
    friction: bool = False

    def value(self) -> FloatArray:
        """Run once and return the outcome."""
        names = dict(self.names)
        if self.result:
            exec(self.statement, names)
        return np.array(eval(self.result or self.statement, names), dtype=np.float64)

    def timer(self) -> timeit.Timer:
        """Return a timer of the statement."""
        setup = '; '.join(f'{name} = _names[{name!r}]' for name in self.names)
        return timeit.Timer(self.statement, setup, globals={'_names': self.names})


@dataclass(frozen=True)
class Ratio:
    """How one series of times compares with another.

    Attributes
    ----------
    value : float
        Ratio of the medians.
    low, high : float
        Quartiles of the ratios round by round.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Times:
    """Times of one contender.

    Attributes
    ----------
    name : str
    seconds : array, shape (rounds,)
        Per sample [s]; entry i was taken in round i, as entry i of every other contender.
    """

    name: str
    seconds: FloatArray

    @property
    def median(self) -> float:
        """Median [s]."""
        return float(np.median(self.seconds))

    def ratio_to(self, other: Times) -> Ratio:
        """Return these times over those of another contender of the same run."""
        by_round = self.seconds / other.seconds
        low, high = np.percentile(by_round, (25, 75))
        return Ratio(self.median / other.median, float(low), float(high))


def require_agreement(
    contenders: Iterable[Contender], expected: FloatArray, friction: FloatArray | float = 0.0
) -> None:
    """Compare what contenders compute.

    Parameters
    ----------
    contenders : iterable of Contender
    expected : array
        The right result.
    friction : array or float
        To be added to the result of contenders without joint friction.

    Raises
    ------
    DisagreementError
        When one differs by more than `AGREEMENT`.
    """
    scale = float(np.abs(expected).max())
    for contender in contenders:
        value = contender.value() + (0.0 if contender.friction else friction)
        if value.shape != expected.shape:
            raise DisagreementError(
                f'{contender.name}: expected a result of shape {expected.shape}, got {value.shape}'
            )
        error = float(np.abs(value - expected).max()) / scale
        if not error <= AGREEMENT:
            raise DisagreementError(
                f'{contender.name}: expected the same result within {AGREEMENT:g} of its largest '
                f'entry, got a difference of {error:.3g}'
            )


def measure(
    contenders: Sequence[Contender],
    rounds: int,
    renew: Callable[[], None] | None = None,
    sample_duration: float = SAMPLE_DURATION,
) -> dict[str, Times]:
    """Time contenders in turns: A B C A B C ...

    Parameters
    ----------
    contenders : sequence of Contender
        Their names differ.
    rounds : int
        Samples of each one.
    renew : callable, optional
        Changes the inputs in place before every round.
    sample_duration : float
        [s]

    Returns
    -------
    dict
        Times by name.
    """
    timers = [contender.timer() for contender in contenders]
    calls = [_calls_that_take(timer, sample_duration) for timer in timers]
    seconds = np.empty((len(contenders), rounds))
    for index in range(rounds):
        if renew is not None:
            renew()
        # Every round starts with the next one, so that no contender always follows the same.
        for turn in range(len(contenders)):
            which = (index + turn) % len(contenders)
            seconds[which, index] = timers[which].timeit(calls[which]) / calls[which]
    return {
        contender.name: Times(contender.name, row / contender.samples)
        for contender, row in zip(contenders, seconds, strict=True)
    }


def _calls_that_take(timer: timeit.Timer, duration: float) -> int:
    """Return how many calls take about so long, after some that warm up.

    The fastest of three samples counts: one that the machine interrupts would be few calls.
    """
    calls = 1
    while True:
        taken = min(timer.repeat(SAMPLES_TO_BEGIN, calls))
        if taken >= 0.5 * duration or calls >= 1 << 20:
            return max(1, round(calls * duration / max(taken, 1e-9)))
        calls *= 2
