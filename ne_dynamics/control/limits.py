"""The last gate before a command goes out: finite, within the limits, no faster than allowed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from sys import float_info
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import InputError, ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint


class LimitedEffort(NamedTuple):
    """A command that may go out.

    Attributes
    ----------
    effort : array, shape (n,)
        [N m or N]
    saturated : array, shape (n,), dtype bool, or None
        Joints that the clamp or the rate limit changed; None when there was none.
    """

    effort: FloatArray
    saturated: NDArray[np.bool_] | None


def per_joint(value: ArrayLike, n: int, name: str) -> FloatArray:
    """Return one number a joint from one for all or one each, shape (n,).

    Raises
    ------
    ParameterError
        When there are neither 1 nor n of them, or one is NaN or negative.
    """
    try:
        numbers = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ParameterError(f'{name}: expected numbers, got {value!r}') from error
    if numbers.shape not in ((1,), (n,)):
        raise ParameterError(
            f'{name}: expected 1 or {n} values (one for all, or one per joint), got {numbers.size}'
        )
    if np.isnan(numbers).any() or (numbers < 0.0).any():
        raise ParameterError(f'{name}: expected numbers >= 0, got {numbers.tolist()}')
    return np.array(np.broadcast_to(numbers, (n,)))


def effort_limits(joints: Sequence[Joint], override: ArrayLike = ()) -> FloatArray:
    """Return the effort limits that hold: those of the user, else those of the model.

    Parameters
    ----------
    joints : sequence of Joint
    override : array-like, shape (0,), (1,) or (n,)
        The parameter `effort_limits` in the order of `joints` [N m or N]; empty: the model's.

    Returns
    -------
    array, shape (n,)
        Infinite where there is none.

    Raises
    ------
    ParameterError
        When the override has a wrong length or a value that is not positive; when there is no
        override and the model limits a joint to zero: descriptions written so mean "not
        filled in", and clamping to it would drop the arm.
    """
    if np.size(override):
        limits = per_joint(override, len(joints), 'effort_limits')
        if (limits == 0.0).any():
            raise ParameterError(f'effort_limits: expected numbers > 0, got {limits.tolist()}')
        return limits
    limits = np.array([joint.effort_limit for joint in joints], dtype=np.float64)
    without = [
        f'{joint.name!r} ({joint.effort_limit:g})' for joint in joints if joint.effort_limit <= 0.0
    ]
    if without:
        raise ParameterError(
            f'effort_limits: the model limits the effort of {", ".join(without)}: nothing could '
            'be commanded; set the parameter effort_limits, or correct the model'
        )
    return limits


def limit_remarks(
    joints: Sequence[Joint], limits: FloatArray, largest_ratio: float = 2.0
) -> list[str]:
    """Return which finite limits are far above those of the model, in words.

    Parameters
    ----------
    joints : sequence of Joint
    limits : array, shape (n,)
        That hold [N m or N].
    largest_ratio : float
        Of a limit to that of the model, from which on it is said.
    """
    above = [
        f'{joint.name} {limit:g} (model: {joint.effort_limit:g})'
        for joint, limit in zip(joints, limits.tolist(), strict=True)
        if isfinite(limit) and 0.0 < largest_ratio * joint.effort_limit < limit
    ]
    if not above:
        return []
    return [
        f'effort_limits: far above what the model allows: {", ".join(above)} N m or N: commands '
        'may be more than the motors can do'
    ]


class EffortLimiter:
    """Clamp and rate limit; remembers the last command.

    Parameters
    ----------
    limits : array, shape (n,)
        Largest effort [N m or N]; infinite for none.
    rates : array-like, shape (0,), (1,) or (n,)
        Largest change [N m/s or N/s]; empty, zero or infinite for none.

    Raises
    ------
    ParameterError
        When a limit is not positive or a length is wrong.
    """

    def __init__(self, limits: FloatArray, rates: ArrayLike = ()) -> None:
        n = limits.size
        if not (limits > 0.0).all():
            raise ParameterError(f'effort limits: expected numbers > 0, got {limits.tolist()}')
        self.limits = limits
        self._lower = -limits
        self._finite_bounds = np.minimum(limits, float_info.max).tolist()
        rate = per_joint(rates, n, 'effort_rate_limit') if np.size(rates) else np.zeros(n)
        rate[rate == 0.0] = np.inf
        self.rates = rate
        self._unlimited_rate = np.isinf(rate)
        self._finite_rates = np.where(self._unlimited_rate, 0.0, rate)
        self._has_rates = not self._unlimited_rate.all()
        self._last: FloatArray | None = None

    def reset(self) -> None:
        """Forget the last command: the next one is not rate limited."""
        self._last = None

    def continue_from(self, other: EffortLimiter) -> None:
        """Take over the last command of another limiter."""
        self._last = other._last

    def start_from(self, effort: FloatArray) -> None:
        """Take what the motors do now for the last command.

        Parameters
        ----------
        effort : array, shape (n,)
            [N m or N]; ignored when it is not possible.
        """
        if self.is_possible(effort):
            self._last = effort

    def is_possible(self, effort: FloatArray) -> bool:
        """Return whether the motors can do it: some drivers report other units, or no number."""
        return bool(np.isfinite(effort).all() and (np.abs(effort) <= self.limits).all())

    def is_on_its_way(self, effort: FloatArray) -> bool:
        """Return whether the last command is not yet what the limits leave of an effort."""
        return self._last is None or bool((self._last != self._clamped(effort)).any())

    def _clamped(self, effort: FloatArray) -> FloatArray:
        return np.minimum(np.maximum(effort, self._lower), self.limits)

    def clamp(self, effort: FloatArray) -> FloatArray:
        """Return what the effort limits leave of an effort; nothing is remembered.

        Raises
        ------
        InputError
            When the effort is not finite.
        """
        _check_finite(effort, effort.tolist())
        return self._clamped(effort)

    @property
    def last(self) -> FloatArray | None:
        """The last command, shape (n,) [N m or N]; None when there is none."""
        return self._last

    @property
    def wants_start(self) -> bool:
        """Whether the rate is limited and there is no last command: see :meth:`start_from`."""
        return self._has_rates and self._last is None

    def apply(self, effort: FloatArray, dt: float) -> LimitedEffort:
        """Return the command that may go out, and remember it.

        Parameters
        ----------
        effort : array, shape (n,)
            What the control law wants [N m or N].
        dt : float
            Time since the last command [s].

        Returns
        -------
        LimitedEffort

        Raises
        ------
        InputError
            When the effort is not finite; nothing is remembered then.
        """
        values = effort.tolist()
        last = self._last
        if not self._has_rates or last is None:
            # The rule is that nothing is limited; for a few joints a loop is quicker than NumPy.
            # What is not a number, or infinite, is not within either.
            for value, bound in zip(values, self._finite_bounds, strict=True):
                if not -bound <= value <= bound:
                    break
            else:
                self._last = effort
                return LimitedEffort(effort, None)
        _check_finite(effort, values)
        limited = effort
        if self._has_rates and last is not None:
            # No time has passed: an infinite rate is still no limit.
            step = np.where(self._unlimited_rate, np.inf, self._finite_rates * max(dt, 0.0))
            limited = np.minimum(np.maximum(limited, last - step), last + step)
        limited = self._clamped(limited)
        self._last = limited
        saturated = limited != effort
        return LimitedEffort(limited, saturated if saturated.any() else None)


def _check_finite(effort: FloatArray, values: list[float]) -> None:
    # Finite when all are, and quick; where it overflows the slow check decides.
    if not isfinite(sum(values)) and not np.isfinite(effort).all():
        raise InputError(f'effort: expected finite numbers, got {values}')
