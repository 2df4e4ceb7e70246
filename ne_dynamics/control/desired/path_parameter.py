"""How far a motion has come on its path, and how fast it goes on: a clock of its own.

A trajectory is a path q(s) in the time s that its sender gave it. This clock says which s it is,
and how fast s passes: u = ds/dt, 1 where the motion goes as it was sent. The desired motion is

    q = q(s),   dq/dt = q' u,   d2q/dt2 = q'' u^2 + q' a,   a = du/dt.

At every state a is chosen anew, so that the efforts, feedback and all, stay within the limits of
the motors: they are affine in a (Dahl and Nielsen 1990). One choice makes three things of it. A
motion that asks for too much goes as fast as a profile allows
(:mod:`ne_dynamics.motion.time_scaling.time_optimal`); one that is scaled goes at the speed that
is asked for; one that is given up stops as soon as it can. Whatever the speed, the path is the
same.
"""

from __future__ import annotations

from math import copysign, inf, sqrt
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.time_scaling.time_optimal import TimeOptimalProfile
from ne_dynamics.motion.waypoints import DesiredState


class Band(NamedTuple):
    """Between which accelerations along the path the limits are kept.

    Attributes
    ----------
    low, high : float
        [1/s]; `low` above `high` where they cannot be kept.
    """

    low: float = -np.inf
    high: float = np.inf

    @classmethod
    def of(cls, change: FloatArray, low: FloatArray, high: FloatArray) -> Band:
        """Return the band of ``low <= change a <= high`` for all of several rows."""
        counts = np.abs(change) > 1e-9  # Else rounding.
        if not counts.any():
            return cls()
        change = change[counts]
        one, other = low[counts] / change, high[counts] / change
        return cls(float(np.minimum(one, other).max()), float(np.maximum(one, other).min()))

    @property
    def is_empty(self) -> bool:
        """Whether no acceleration keeps the limits."""
        return self.low > self.high

    def within(self, other: Band) -> Band:
        """Return what is in both."""
        return Band(max(self.low, other.low), min(self.high, other.high))


class PathParameter:
    """The clock of one motion.

    Parameters
    ----------
    time : float
        Of the caller [s].
    place : float
        That of the path then [s].

    Attributes
    ----------
    time, place : float
        As of the last state [s].
    speed, change : float
        Of the place by the caller's time, and of the speed [1/s].
    target : float
        Speed that is asked for.
    is_stopping : bool
        Whether the motion is given up: it goes no farther than it must.
    profile : TimeOptimalProfile or None
        How fast the path may be followed.
    """

    def __init__(self, time: float, place: float) -> None:
        self.time = time
        self.place = place
        self.speed = 1.0
        self.change = 0.0
        self.target = 1.0
        self.is_stopping = False
        self.profile: TimeOptimalProfile | None = None
        self._first_band: Band | None = None
        self._is_chosen_ahead = False

    @property
    def is_idle(self) -> bool:
        """Whether the motion goes as it was sent, and nothing asks for another speed."""
        return (
            self.profile is None
            and not self.is_stopping
            and self.target == self.speed == 1.0
            and self.change == 0.0
        )

    @property
    def has_stopped(self) -> bool:
        """Whether a motion that was given up stands."""
        return self.is_stopping and self.speed <= DESIRED.standing_speed

    def ahead(self, time: float) -> tuple[float, float]:
        """Return place [s] and speed at a time of the caller [s], as things stand.

        Of times before the last state nothing is remembered.
        """
        if time < self.time:
            return self.place + (time - self.time), self.speed
        elapsed, rest = time - self.time, 0.0
        if self.change > 0.0 and elapsed > DESIRED.longest_time_step:
            elapsed, rest = DESIRED.longest_time_step, elapsed - DESIRED.longest_time_step
        speed = self.speed + self.change * elapsed
        if speed < 0.0:
            return self.place - 0.5 * self.speed**2 / self.change, 0.0
        if self.change > 0.0:
            most = self.target if self.speed < self.target else max(self.target, 1.0)
            speed = min(speed, max(self.speed, most))
        return self.place + 0.5 * (self.speed + speed) * elapsed + speed * rest, speed

    def advance(self, time: float) -> None:
        """Go on to a time of the caller [s]."""
        first, self._first_band = self._first_band, None
        if first is not None:
            # The state before was the first of the stop, but nobody knew how long it would be.
            self.choose(first, time - self.time)
            self._is_chosen_ahead = True
        self.place, self.speed = self.ahead(time)
        self.time = time

    def moved(self, state: DesiredState) -> DesiredState:
        """Return the motion at a point of the path, as it is gone without `change`.

        `state` is the path with its derivatives there.
        """
        speed = self.speed
        return DesiredState(
            state.position, state.velocity * speed, state.acceleration * (speed * speed)
        )

    def choose(self, band: Band, elapsed: float) -> float:
        """Return the acceleration along the path from this state on [1/s], and keep it.

        `elapsed` is the time since the state before [s].
        """
        low, high = band
        planned, most = self._planned(max(DESIRED.look_ahead, elapsed))
        wanted, swing = self._wanted(low, high)
        if low > high:
            # Less speed is the one thing that helps where nothing does.
            wanted = max(min(0.0, 0.5 * (low + high)), -DESIRED.stopping_rate)
            low, high = (-inf, inf) if self.is_stopping else (wanted, wanted)
            swing = max(swing, abs(wanted) / DESIRED.swing_time)
        # To go faster than is planned spares no effort for long.
        low = min(low, max(min(wanted, planned), most, 0.0))
        if self._is_chosen_ahead:
            elapsed, self._is_chosen_ahead = 0.0, False
        step = swing * min(elapsed, DESIRED.swing_time)
        change = min(max(wanted, self.change - step), self.change + step)
        # Of what is planned nothing is left for later.
        change = min(max(min(change, planned), low), high)
        if self.speed <= 0.0:
            change = max(change, 0.0)
        self.change = change
        return change

    def stop(self, band: Band) -> None:
        """Begin to stop at the last state, where the band is this one."""
        self.is_stopping = True
        self._first_band = band

    def go_on(self) -> None:
        """Give nothing up any more."""
        self.is_stopping = False
        self._first_band = None

    def _wanted(self, low: float, high: float) -> tuple[float, float]:
        """Return the acceleration to the speed that is wanted, and how fast to go over to it.

        At the most it swings out in `swing_time`, and back in time to be at rest there.
        """
        # Nobody knows whether a path that was not planned may be gone faster than it was sent.
        target = min(self.target, 1.0) if self.profile is None else self.target
        gap = (0.0 if self.is_stopping else target) - self.speed
        most = DESIRED.stopping_rate if self.is_stopping else DESIRED.scaling_rate
        most = max(min(most, -low if gap < 0.0 else high), 0.0)
        swing = max(most, abs(self.change)) / DESIRED.swing_time
        # Half of what would do is what a motion in steps keeps to.
        return copysign(min(most, sqrt(abs(gap) * swing)), gap), swing

    def _planned(self, ahead: float) -> tuple[float, float]:
        """Return the acceleration that follows the profile, and the most that may spare a motor.

        Where a motor is at its limit with whatever acceleration, the profile has a kink, behind
        which it rises steeply: who looks beyond it alone is too fast at it. And there the motor
        may need the motion to speed up. `ahead`: for how long the profile is looked ahead [s].
        """
        profile, speed, place = self.profile, self.speed, self.place
        if profile is None:
            return inf, 0.0
        here, there = (profile.speed_at(place + speed * time) for time in (0.0, ahead))
        wanted = (there - speed) / ahead
        if here == inf or self.is_stopping:
            return wanted, 0.0
        near = 0.5 * ahead
        slope = (profile.speed_at(place + speed * near) - here) / near
        wanted = min(wanted, slope + (here - speed) / ahead)
        # Who is to slow down may have to wait for it, but goes no faster than was sent for that.
        may_speed_up = speed < max(self.target, 1.0)
        return wanted, slope + (
            DESIRED.profile_excess * here - speed
        ) / ahead if may_speed_up else 0.0
