"""States of an arm as means over short windows: position, velocity, acceleration, effort.

In a window the position is a quadratic polynomial of time, fitted by least squares: its
coefficients are position, velocity and acceleration in the middle. Over so long a time nothing
is differentiated twice, and encoders of 16 bits leave an error of 1 mrad/s^2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray


class MeasuredState(NamedTuple):
    """One joint state with the measurements of the same time.

    Attributes
    ----------
    time : float
        [s]
    position : array, shape (n,)
        [rad or m]
    effort : array, shape (n,), or None
        Measured effort [N m or N].
    command : array, shape (n,), or None
        Commanded effort, if from a feedback law [N m or N].
    wrench : array, shape (6,), or None
        Reading of a wrist sensor: force [N], then moment [N m], that the arm exerts on everything
        beyond the sensor.
    base : array, shape (9,), or None
        Tilt of the base, as :attr:`ne_dynamics.dynamics.compensation.Base.resting`.
    """

    time: float
    position: FloatArray
    effort: FloatArray | None = None
    command: FloatArray | None = None
    wrench: FloatArray | None = None
    base: FloatArray | None = None


class Window(NamedTuple):
    """A window of joint states, reduced to values at its middle.

    Attributes
    ----------
    time : float
        Middle of the window [s].
    duration : float
        Time from the first state to the last [s].
    position, velocity, acceleration : array, shape (n,)
        [rad or m] and their time derivatives.
    effort, command, wrench, base : array or None
        Means over the states, see :class:`MeasuredState`; None unless all states have them.
    """

    time: float
    duration: float
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray | None
    command: FloatArray | None
    wrench: FloatArray | None
    base: FloatArray | None

    @property
    def largest_speed(self) -> FloatArray:
        """Largest speed of each joint in the window, shape (n,) [rad/s or m/s]."""
        speed: FloatArray = np.abs(self.velocity) + np.abs(self._change_of_velocity)
        return speed

    @property
    def least_speed(self) -> FloatArray:
        """Least speed of each joint, 0 or less where it turns round, shape (n,)."""
        speed: FloatArray = np.abs(self.velocity) - np.abs(self._change_of_velocity)
        return speed

    @property
    def is_slow(self) -> bool:
        """Whether no joint is fast in it, or accelerates much."""
        return bool(
            (self.largest_speed <= PAYLOAD.slow_velocity).all()
            and (np.abs(self.acceleration) <= PAYLOAD.slow_acceleration).all()
        )

    @property
    def _change_of_velocity(self) -> FloatArray:
        return 0.5 * self.duration * self.acceleration


class MotionWindows:
    """Collects joint states into windows for payload estimation, and drops old windows.

    Parameters
    ----------
    span : float
        How long windows are kept, by the stamps of the states [s].
    length : float
        Length of a window, if that is more than the usual length [s].

    Attributes
    ----------
    span : float
        May be changed at any time.
    """

    def __init__(self, span: float = inf, length: float = 0.0) -> None:
        self.span = span
        self._length = max(length, PAYLOAD.window)
        self._states: list[MeasuredState] = []
        self._windows: deque[Window] = deque()

    @classmethod
    def of_log(cls, times: FloatArray, position: FloatArray, effort: FloatArray) -> MotionWindows:
        """Return the windows of a whole log; efforts that are all 0 count as not measured.

        Parameters
        ----------
        times : array, shape (samples,)
            [s]
        position, effort : array, shape (samples, n)
            [rad or m, N m or N]

        Raises
        ------
        InputError
            When the sampling rate is too low.
        """
        step = float(np.median(np.diff(times)))
        states = 2 * PAYLOAD.least_states
        if states * step > PAYLOAD.longest_window:
            raise InputError(
                f'expected at least {states / PAYLOAD.longest_window:g} samples a second, '
                f'got {1.0 / step:.3g}'
            )
        gathered = cls(inf, states * step)
        for time, at, measured in zip(times, position, effort, strict=True):
            if gathered.wants(time):
                # Nobody measures where all are exactly 0, or brakes carry the arm.
                known = measured if measured.any() else None
                gathered.add(MeasuredState(float(time), at, known))
        return gathered

    def clear(self) -> None:
        """Forget everything."""
        self._states = []
        self._windows.clear()

    def wants(self, time: float) -> bool:
        """Return whether a state at this time [s] would be used; most come too early."""
        return not self._states or not 0.0 <= time - self._states[-1].time < PAYLOAD.sample_period

    def add(self, state: MeasuredState) -> None:
        """Add a state. If its time is earlier than the last, the previous states are dropped."""
        if self._states:
            elapsed = state.time - self._states[-1].time
            if elapsed < 0.0:
                self.clear()
            elif elapsed > PAYLOAD.largest_gap * self._length:
                self._states = []
            elif state.time - self._states[0].time > self._length:
                self._close()
        self._states.append(state)

    def windows(self) -> tuple[Window, ...]:
        """Return the windows within `span` before the last state, oldest first."""
        self._forget()
        return tuple(self._windows)

    def _forget(self) -> None:
        if not self._states:
            return
        oldest = self._states[-1].time - self.span
        while self._windows and self._windows[0].time < oldest:
            self._windows.popleft()

    def _close(self) -> None:
        states, self._states = self._states, self._states[-1:]
        if len(states) >= PAYLOAD.least_states:
            self._windows.append(make_window(states))
        self._forget()


def make_window(states: Sequence[MeasuredState]) -> Window:
    """Return what states say of the middle of their time: at least 3, of increasing times."""
    first, last = states[0].time, states[-1].time
    middle = 0.5 * (first + last)
    times = np.array([state.time for state in states]) - middle
    # q(t) = q + qd t + qdd t^2 / 2
    basis = np.stack([np.ones_like(times), times, 0.5 * times * times], axis=1)
    positions = np.array([state.position for state in states])
    # Numbers of any size come in; windows of what overflows are not slow.
    with np.errstate(all='ignore'):
        fitted, *_ = np.linalg.lstsq(basis, positions, rcond=None)
        return Window(
            middle,
            last - first,
            fitted[0],
            fitted[1],
            fitted[2],
            _mean([state.effort for state in states]),
            _mean([state.command for state in states]),
            _mean([state.wrench for state in states]),
            _mean([state.base for state in states]),
        )


def _mean(values: Sequence[FloatArray | None]) -> FloatArray | None:
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return None
    mean: FloatArray = np.mean(present, axis=0)
    return mean
