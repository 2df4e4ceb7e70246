"""Whether the velocities of the joint states are those of their positions. No ROS, no clock.

Drivers send zeros where they measure none, or another sign, or degrees. A law that damps with such
a velocity shakes the arm or drives it away. Here the motion of each joint is cut into stretches,
each long enough to be more than noise, and the velocity's integral over each is set beside the
change of position.

**Stretch.** It ends when it has lasted :data:`SHORTEST` and :data:`FEWEST` states, and the joint
has moved by :data:`STEPS` steps of its encoder or more, or the velocity speaks of :data:`SAID` or
more. One that lasts for :data:`LONGEST` without either was no motion, and what was counted is
forgotten. So it is by one in which both agree, but for :data:`SLACK`.

**Verdict.** :data:`VERDICTS` stretches in a row of which the velocity says less than
:data:`SMALLEST` of the motion (zeros, the wrong sign), or in a row more than :data:`LARGEST`
times it (other units, a position that is frozen), are a fault; :data:`VERDICTS_OPPOSED` are enough
where it speaks of the opposite and both of :data:`SAID` or more: that arm runs away. A spike of
the position spoils two stretches; a velocity that is late, those in which the motion begins or
turns round. So 64 ms of motion are enough at 500 Hz, 12 states where they come more slowly.

**The encoder's step** is the smallest change of the position that was seen, :data:`FINEST` at
least; the mean second difference of the positions stands for noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.waypoints import TURN, continuous_joints

SHORTEST = 0.015
"""A stretch lasts for this at least [s]: a velocity that is late by less is not wrong."""

FEWEST = 3
"""... and for so many states."""

LONGEST = 0.15
"""A stretch without motion is given up after this [s]."""

STEPS = 2.0
"""Steps of the encoder that a stretch is long, at least."""

NOISES = 4.0
"""... and so many times the noise."""

SAID = 0.01
"""... or so long by the velocity [rad or m]."""

VERDICTS = 4
"""Stretches in a row that must agree."""

VERDICTS_OPPOSED = 3
"""... and where an arm runs away."""

SMALLEST, LARGEST = 0.3, 3.0
"""Part of the motion that a velocity may speak of."""

STANDING = 0.01
"""A position that moves by less than this part of what the velocity says does not move."""

SLACK = 0.02
"""Any velocity may be off by this [rad/s or m/s]: drivers round slow ones to zero."""

FINEST = 1e-6
"""No encoder has finer steps [rad or m]."""

NOISE_STATES = 50
"""Noise is a running mean over this many states; the first :data:`UNKNOWN` are not judged."""

UNKNOWN = 10


class _Stretch(NamedTuple):
    """How far a joint moved, and how far its velocity says so [rad or m], in what time [s]."""

    moved: float
    said: float
    lasting: float

    @property
    def verdict(self) -> int:
        """-1 where the velocity says too little or the opposite, 1 where too much, else 0."""
        if abs(self.said - self.moved) <= SLACK * self.lasting:
            return 0
        if abs(self.said) >= SAID and abs(self.said) > LARGEST * abs(self.moved):
            # The opposite and too much of it is the wrong sign first of all.
            return -1 if self.is_opposed else 1
        agreeing = self.said if self.moved > 0.0 else -self.said
        return -1 if agreeing < SMALLEST * abs(self.moved) else 0

    @property
    def is_opposed(self) -> bool:
        """Whether the velocity says much of the opposite of a large motion."""
        return self.said * self.moved < 0.0 and min(abs(self.said), abs(self.moved)) >= SAID


class _Heard(NamedTuple):
    """A state."""

    position: FloatArray
    velocity: FloatArray
    time: float


class VelocityCheck:
    """Sets velocities beside positions, state by state.

    States are kept until they last for :data:`SHORTEST`, and looked at together.

    Parameters
    ----------
    joints : sequence of Joint
        Of the robot; continuous ones may turn over.

    Attributes
    ----------
    frozen : tuple of int
        Joints whose velocities speak of a motion, of late, and whose positions do not move.
    """

    def __init__(self, joints: Sequence[Joint]) -> None:
        self._names = [joint.name for joint in joints]
        self._continuous = continuous_joints(joints)
        n = len(joints)
        self._step = np.full(n, np.inf)
        self._noise = np.zeros(n)
        self._learnt = 0
        self.reset()

    def reset(self) -> None:
        """Forget the states, not what the encoders are like."""
        n = len(self._names)
        self.frozen: tuple[int, ...] = ()
        self._heard: list[_Heard] = []
        self._moved, self._said, self._lasting = np.zeros(n), np.zeros(n), np.zeros(n)
        self._stretches: list[list[_Stretch]] = [[] for _ in range(n)]

    @property
    def encoder_step(self) -> FloatArray:
        """The steps of the encoders as far as they are known, shape (n,) [rad or m]."""
        return np.maximum(np.where(np.isinf(self._step), 0.0, self._step), FINEST)

    def update(self, position: FloatArray, velocity: FloatArray, now: float) -> str:
        """Take a state.

        Parameters
        ----------
        position, velocity : array, shape (n,)
            As measured [rad or m, rad/s or m/s]; kept, so not to be changed afterwards.
        now : float
            Stamp [s].

        Returns
        -------
        str
            Which joint's velocity is not that of its position, in words; '' when none.
        """
        heard = self._heard
        if heard:
            elapsed = now - heard[-1].time
            if elapsed <= 0.0:
                return ''
            if elapsed > LONGEST:
                self.reset()
                heard = self._heard
        heard.append(_Heard(position, velocity, now))
        if len(heard) <= FEWEST or now - heard[0].time < SHORTEST:
            return ''
        self._heard = heard[-1:]
        return self._look_at(heard)

    def _look_at(self, heard: Sequence[_Heard]) -> str:
        """Count the motion of a few states; return what is wrong with it."""
        positions, velocities, times = (np.array(rows) for rows in zip(*heard, strict=True))
        changes = np.diff(positions, axis=0)
        if self._continuous.size:
            turns = changes[:, self._continuous]
            changes[:, self._continuous] = turns - TURN * np.round(turns / TURN)
        self._learn(changes)
        self._moved += changes.sum(axis=0)
        self._said += 0.5 * np.diff(times) @ (velocities[1:] + velocities[:-1])
        self._lasting += times[-1] - times[0]
        if self._learnt < UNKNOWN:
            return ''
        shortest = np.maximum(STEPS * self.encoder_step, NOISES * self._noise)
        is_motion = (np.abs(self._moved) >= shortest) | (np.abs(self._said) >= SAID)
        is_over = is_motion | (self._lasting >= LONGEST)
        stands = np.abs(self._moved) < STANDING * np.abs(self._said)
        self.frozen = tuple(np.flatnonzero(is_motion & stands).tolist())
        found = ''
        for index in np.flatnonzero(is_over).tolist():
            found = self._end_stretch(index, bool(is_motion[index])) or found
            self._moved[index] = self._said[index] = self._lasting[index] = 0.0
        return found

    def _learn(self, changes: FloatArray) -> None:
        """Take note of the smallest change and of the noise."""
        sizes = np.abs(changes)
        sizes[sizes == 0.0] = np.inf
        np.minimum(self._step, sizes.min(axis=0), out=self._step)
        self._learnt += len(changes)
        noise = np.abs(np.diff(changes, axis=0)).mean(axis=0)
        weight = min(len(changes) / min(self._learnt, NOISE_STATES), 1.0)
        self._noise += weight * (noise - self._noise)

    def _end_stretch(self, index: int, is_motion: bool) -> str:
        """Count a stretch of a joint; return what is wrong, if it is the last that it took."""
        stretches = self._stretches[index]
        if not is_motion:
            stretches.clear()
            return ''
        stretch = _Stretch(
            *(float(one[index]) for one in (self._moved, self._said, self._lasting))
        )
        verdict = stretch.verdict
        if verdict == 0 or (stretches and stretches[-1].verdict != verdict):
            stretches.clear()
        if verdict == 0:
            return ''
        stretches.append(stretch)
        latest = stretches[-VERDICTS_OPPOSED:]
        is_opposed = len(latest) == VERDICTS_OPPOSED and all(one.is_opposed for one in latest)
        if len(stretches) < VERDICTS and not is_opposed:
            return ''
        return self._describe(index, stretches)

    def _describe(self, index: int, stretches: Sequence[_Stretch]) -> str:
        moved = sum(abs(stretch.moved) for stretch in stretches)
        agreeing = sum(np.copysign(1.0, one.moved) * one.said for one in stretches)
        said = sum(abs(stretch.said) for stretch in stretches)
        if stretches[-1].verdict > 0 and moved < STANDING * said:
            what = 'the position does not move'
        elif stretches[-1].verdict > 0:
            what = f'{said / moved:.3g} times too large: other units?'
        elif said < 0.01 * moved:
            what = 'the velocity is zero'
        elif agreeing < 0.0:
            what = 'the wrong sign'
        else:
            what = f'only {agreeing / moved:.3g} of it'
        return (
            f'joint {self._names[index]!r}: the positions moved by {moved:.3g}, the velocities '
            f'speak of {agreeing:.3g} ({what})'
        )
