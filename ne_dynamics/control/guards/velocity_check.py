"""Whether the velocities of the joint states are those of their positions. No ROS, no clock.

Drivers send zeros where they measure none, or another sign, or degrees. A law that damps with such
a velocity shakes the arm or drives it away. Here the motion of each joint is cut into segments,
each long enough to be more than noise, and the velocity's integral over each is set beside the
change of position.

Words such as `segment_shortest` are fields of :class:`~.limits.GuardLimits`.

**Segment.** It ends when it has lasted `segment_shortest` and `segment_states` states, and the
joint has moved by `segment_steps` steps of its encoder or more, or the velocity speaks of
`segment_said` or more. One that lasts for `segment_longest` without either was no motion, and
what was counted is forgotten. So it is by one in which both agree, but for `velocity_rounding`.

**Verdict.** `verdicts` segments in a row of which the velocity says less than
`velocity_smallest` of the motion (zeros, the wrong sign), or in a row more than `velocity_largest`
times it (other units, a position that is frozen), are a fault; `verdicts_opposed` are enough
where it speaks of the opposite and both of `segment_said` or more: that arm runs away. A spike of
the position spoils two segments; a velocity that is late, those in which the motion begins or
turns round. So 64 ms of motion are enough at 500 Hz, 12 states where they come more slowly.

**The encoder's step** is the smallest change of the position that was seen, `finest_step` at
least; the mean second difference of the positions stands for noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.waypoints import continuous_joints, wrap_turns


class _Segment(NamedTuple):
    """How far a joint moved, and how far its velocity says so [rad or m], in what time [s]."""

    moved: float
    said: float
    lasting: float

    @property
    def verdict(self) -> int:
        """-1 where the velocity says too little or the opposite, 1 where too much, else 0."""
        bounds = GUARD_LIMITS
        if abs(self.said - self.moved) <= bounds.velocity_rounding * self.lasting:
            return 0
        largest = bounds.velocity_largest * abs(self.moved)
        if abs(self.said) >= bounds.segment_said and abs(self.said) > largest:
            # The opposite and too much of it is the wrong sign first of all.
            return -1 if self.is_opposed else 1
        agreeing = self.said if self.moved > 0.0 else -self.said
        return -1 if agreeing < bounds.velocity_smallest * abs(self.moved) else 0

    @property
    def is_opposed(self) -> bool:
        """Whether the velocity says much of the opposite of a large motion."""
        least = min(abs(self.said), abs(self.moved))
        return self.said * self.moved < 0.0 and least >= GUARD_LIMITS.segment_said


class _HeardVelocity(NamedTuple):
    """A state."""

    position: FloatArray
    velocity: FloatArray
    time: float


class VelocityCheck:
    """Sets velocities beside positions, state by state.

    States are kept until they last for `segment_shortest`, and looked at together.

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
        self._heard: list[_HeardVelocity] = []
        self._moved, self._said, self._lasting = np.zeros(n), np.zeros(n), np.zeros(n)
        self._segments: list[list[_Segment]] = [[] for _ in range(n)]

    @property
    def encoder_step(self) -> FloatArray:
        """The steps of the encoders as far as they are known, shape (n,) [rad or m]."""
        known = np.where(np.isinf(self._step), 0.0, self._step)
        return np.maximum(known, GUARD_LIMITS.finest_step)

    def update(self, position: FloatArray, velocity: FloatArray, now: float) -> str:
        """Take a state; return which velocity is not that of its position, in words, or ''.

        Parameters
        ----------
        position, velocity : array, shape (n,)
            As measured [rad or m, rad/s or m/s]; kept, so not to be changed afterwards.
        now : float
            Stamp [s].
        """
        heard, bounds = self._heard, GUARD_LIMITS
        if heard:
            elapsed = now - heard[-1].time
            if elapsed <= 0.0:
                return ''
            if elapsed > bounds.segment_longest:
                self.reset()
                heard = self._heard
        heard.append(_HeardVelocity(position, velocity, now))
        if len(heard) <= bounds.segment_states or now - heard[0].time < bounds.segment_shortest:
            return ''
        self._heard = heard[-1:]
        return self._look_at(heard)

    def _look_at(self, heard: Sequence[_HeardVelocity]) -> str:
        """Count the motion of a few states; return what is wrong with it."""
        bounds = GUARD_LIMITS
        positions, velocities, times = (np.array(rows) for rows in zip(*heard, strict=True))
        changes = wrap_turns(np.diff(positions, axis=0), self._continuous)
        self._learn(changes)
        self._moved += changes.sum(axis=0)
        self._said += 0.5 * np.diff(times) @ (velocities[1:] + velocities[:-1])
        self._lasting += times[-1] - times[0]
        if self._learnt < bounds.noise_unknown:
            return ''
        shortest = np.maximum(
            bounds.segment_steps * self.encoder_step, bounds.segment_noises * self._noise
        )
        is_motion = (np.abs(self._moved) >= shortest) | (np.abs(self._said) >= bounds.segment_said)
        is_over = is_motion | (self._lasting >= bounds.segment_longest)
        stands = np.abs(self._moved) < bounds.standing_share * np.abs(self._said)
        self.frozen = tuple(np.flatnonzero(is_motion & stands).tolist())
        found = ''
        for index in np.flatnonzero(is_over).tolist():
            found = self._end_segment(index, bool(is_motion[index])) or found
            self._moved[index] = self._said[index] = self._lasting[index] = 0.0
        return found

    def _learn(self, changes: FloatArray) -> None:
        """Take note of the smallest change and of the noise."""
        sizes = np.abs(changes)
        sizes[sizes == 0.0] = np.inf
        np.minimum(self._step, sizes.min(axis=0), out=self._step)
        self._learnt += len(changes)
        noise = np.abs(np.diff(changes, axis=0)).mean(axis=0)
        weight = min(len(changes) / min(self._learnt, GUARD_LIMITS.noise_states), 1.0)
        self._noise += weight * (noise - self._noise)

    def _end_segment(self, index: int, is_motion: bool) -> str:
        """Count a segment of a joint; return what is wrong, if it is the last that it took."""
        segments = self._segments[index]
        if not is_motion:
            segments.clear()
            return ''
        segment = _Segment(
            float(self._moved[index]), float(self._said[index]), float(self._lasting[index])
        )
        verdict = segment.verdict
        if verdict == 0 or (segments and segments[-1].verdict != verdict):
            segments.clear()
        if verdict == 0:
            return ''
        segments.append(segment)
        fewest = GUARD_LIMITS.verdicts_opposed
        latest = segments[-fewest:]
        is_opposed = len(latest) == fewest and all(one.is_opposed for one in latest)
        if len(segments) < GUARD_LIMITS.verdicts and not is_opposed:
            return ''
        return self._describe(index, segments)

    def _describe(self, index: int, segments: Sequence[_Segment]) -> str:
        moved = sum(abs(segment.moved) for segment in segments)
        agreeing = sum(np.copysign(1.0, one.moved) * one.said for one in segments)
        said = sum(abs(segment.said) for segment in segments)
        if segments[-1].verdict > 0 and moved < GUARD_LIMITS.standing_share * said:
            what = 'the position does not move'
        elif segments[-1].verdict > 0:
            what = f'{said / moved:.3g} times too large: other units?'
        elif said < 0.01 * moved:
            what = 'the velocity is zero'
        elif agreeing < 0.0:
            what = 'the wrong sign'
        else:
            what = f'only {agreeing / moved:.3g} of it'
        return (
            f'joint {self._names[index]!r}: the position moved by {moved:.3g}, by the velocity it '
            f'is {agreeing:.3g} ({what})'
        )
