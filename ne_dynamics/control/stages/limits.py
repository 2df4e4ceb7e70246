"""Last stage before the command goes out: finite, within the limits, no faster than allowed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from sys import float_info
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError, ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import per_joint
from ne_dynamics.motion.waypoints import DesiredState


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


class EffortLimiter:
    """Clamp and rate limit of commands, whoever has made them; remembers the last one.

    Parameters
    ----------
    limits : array, shape (n,)
        Largest effort [N m or N]; infinite for none.
    rates : array-like, shape (0,), (1,) or (n,)
        Largest change [N m/s or N/s]; empty, zero or infinite for none.

    Attributes
    ----------
    limits, rates : array, shape (n,)
        Infinite for none.
    last : array, shape (n,), or None
        The last command [N m or N]; without one, None, the next is not rate limited.
    setpoint : DesiredState or None
        Desired motion that goes with it; None before the first.

    Raises
    ------
    ParameterError
        When a limit is not positive or a length is wrong.
    """

    def __init__(self, limits: FloatArray, rates: ArrayLike = ()) -> None:
        self.reset()
        self._use(limits, rates)

    def reset(self) -> None:
        """Forget the last command."""
        self.last: FloatArray | None = None
        self.setpoint: DesiredState | None = None

    def configure(self, tuning: Tuning) -> None:
        """Use other limits from the next command on; the rate limit goes on from the last one."""
        self._use(tuning.effort_limits, tuning.effort_rates)

    def step(self, tick: Tick) -> None:
        """Limit `effort`, and set `saturated`."""
        if tick.reported_start is not None and self.wants_start:
            self._start_from(tick.reported_start)
        tick.effort, tick.saturated = self.apply(tick.effort, tick.elapsed)
        self.setpoint = tick.desired

    def _use(self, limits: FloatArray, rates: ArrayLike) -> None:
        if not (limits > 0.0).all():
            raise ParameterError(f'effort limits: expected numbers > 0, got {limits.tolist()}')
        n = limits.size
        rate = per_joint(rates, n, 'effort_rate_limit') if np.size(rates) else np.zeros(n)
        rate[rate == 0.0] = np.inf
        self.limits, self.rates = limits, rate
        self._finite_bounds = np.minimum(limits, float_info.max).tolist()
        self._unlimited_rate = np.isinf(rate)
        self._finite_rates = np.where(self._unlimited_rate, 0.0, rate)
        self._has_rates = not self._unlimited_rate.all()

    def _start_from(self, effort: FloatArray) -> None:
        """Take what the motors do now, shape (n,), for the last command, where that is possible.

        Some drivers report other units than [N m or N], or no number.
        """
        if np.isfinite(effort).all() and (np.abs(effort) <= self.limits).all():
            self.last = effort

    def clamp(self, effort: FloatArray) -> FloatArray:
        """Return what the effort limits leave of an effort; nothing is remembered."""
        return clamp_effort(effort, self.limits)

    @property
    def wants_start(self) -> bool:
        """Whether the rate is limited and there is no last command: it starts as reported."""
        return self._has_rates and self.last is None

    def apply(self, effort: FloatArray, dt: float) -> LimitedEffort:
        """Return the command that may go out, and remember it.

        Parameters
        ----------
        effort : array, shape (n,)
            What the control law wants [N m or N].
        dt : float
            Time since the last command [s].

        Raises
        ------
        InputError
            When the effort is not finite; nothing is remembered then.
        """
        values = effort.tolist()
        last = self.last
        is_free = not self._has_rates or last is None
        # The rule; what is not a number, or infinite, is not within either.
        if is_free and are_within(values, self._finite_bounds):
            self.last = effort
            return LimitedEffort(effort, None)
        _check_finite(effort, values)
        limited = effort
        if self._has_rates and last is not None:
            # No time has passed: an infinite rate is still no limit.
            step = np.where(self._unlimited_rate, np.inf, self._finite_rates * max(dt, 0.0))
            limited = np.minimum(np.maximum(limited, last - step), last + step)
        limited = _clamp(limited, self.limits)
        self.last = limited
        saturated = limited != effort
        return LimitedEffort(limited, saturated if saturated.any() else None)


def are_within(values: Sequence[float], bounds: Sequence[float]) -> bool:
    """Return whether no value is beyond its bound: for a few joints quicker than NumPy."""
    # A loop, and not all() of a generator, which takes three times as long.
    for value, bound in zip(values, bounds, strict=True):  # noqa: SIM110
        if not -bound <= value <= bound:
            return False
    return True


def clamp_effort(effort: FloatArray, limits: FloatArray) -> FloatArray:
    """Return what effort limits leave of an effort."""
    _check_finite(effort, effort.tolist())
    return _clamp(effort, limits)


def _clamp(effort: FloatArray, limits: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(effort, -limits), limits)


def _check_finite(effort: FloatArray, values: list[float]) -> None:
    # Finite when all are, and quick; where it overflows the slow check decides.
    if not isfinite(sum(values)) and not np.isfinite(effort).all():
        raise InputError(f'effort: expected finite numbers, got {values}')
