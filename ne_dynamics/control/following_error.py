"""Whether the arm goes where it is sent. No ROS, no clock.

What the joint states say may be wrong and not look so, and an arm may be kept from its way: what
both have in common is that the measured motion is not the desired one. :class:`FollowingGuard`
says when that has gone on for long enough.

- A joint is farther from its desired position than the limit, or farther than
  :data:`LASTING_SHARE` of it for :data:`LASTING_TIME`.
- Its velocity is off by more than the limit for :data:`VELOCITY_TIME`: a push passes.
- Its position has been the same to the last bit for :data:`FROZEN_TIME` and
  :data:`FROZEN_STATES` states, in which the desired one went on by more than a limit: a frozen
  encoder, a brake, a joint that sticks. The arm moves on unseen until then.
- Its effort has been at the limit for longer than a timeout, in the direction of its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.state_guard import FaultKind
from ne_dynamics.control.trajectory import DesiredState
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, JointType

LASTING_SHARE = 0.5
LASTING_TIME = 1.0
"""[s]"""

VELOCITY_TIME = 0.1
"""[s]"""

FROZEN_TIME = 0.05
"""[s]"""

FROZEN_STATES = 10

POSITION_TIME_SHARE = 0.25
"""Derived limit of the position error: the way at the velocity limit in this time [s]."""

FROZEN_TIME_SHARE = 0.02
"""Derived limit of a frozen position: likewise [s]."""

USUAL_SPEED = {JointType.PRISMATIC: 1.0}
"""[m/s]"""

USUAL_TURNING_SPEED = 3.0
"""Velocity limits of joints whose model has none [rad/s]."""


def usual_velocities(joints: Sequence[Joint]) -> FloatArray:
    """Return the velocity limits that other limits are derived from, shape (n,)."""
    return np.array(
        [
            joint.velocity_limit
            if 0.0 < joint.velocity_limit < inf
            else USUAL_SPEED.get(joint.type, USUAL_TURNING_SPEED)
            for joint in joints
        ]
    )


@dataclass(frozen=True, eq=False)
class FollowingLimits:
    """How far the measured motion may be from the desired one; nothing is limited by default.

    Attributes
    ----------
    position, velocity : array, shape (n,), or None
        Largest errors [rad or m, rad/s or m/s]; infinite where there is none.
    frozen : array, shape (n,), or None
        How far the desired position may go on while the measured one stays the same [rad or m].
    saturation_timeout : float
        [s]; infinite for any time.
    counts_without_feedback : bool
        Whether the position error counts in `feedforward`, where nothing makes it small.
    """

    position: FloatArray | None = None
    velocity: FloatArray | None = None
    frozen: FloatArray | None = None
    saturation_timeout: float = inf
    counts_without_feedback: bool = False

    @classmethod
    def derived(cls, joints: Sequence[Joint], saturation_timeout: float = inf) -> FollowingLimits:
        """Return the limits that come of the velocity limits of an arm."""
        speeds = usual_velocities(joints)
        return cls(
            POSITION_TIME_SHARE * speeds, speeds, FROZEN_TIME_SHARE * speeds, saturation_timeout
        )


class Following(NamedTuple):
    """What was found.

    Attributes
    ----------
    kind : FaultKind
    text : str
        Joint, what was found and what was expected.
    """

    kind: FaultKind
    text: str


class _Lasting:
    """For how long something has been so, joint by joint."""

    def __init__(self, n: int) -> None:
        self._since = np.full(n, np.nan)
        self._is_quiet = True

    def longest(self, is_so: np.ndarray, now: float, duration: float) -> int | None:
        """Return the first joint of which it has been so for longer; None when none."""
        if not is_so.any():
            if not self._is_quiet:
                self._since[:] = np.nan
                self._is_quiet = True
            return None
        self._is_quiet = False
        begins = is_so & np.isnan(self._since)
        self._since[begins] = now
        self._since[~is_so] = np.nan
        found = np.flatnonzero(now - self._since > duration)
        return int(found[0]) if found.size else None


class FollowingGuard:
    """Judges each answered state.

    Parameters
    ----------
    joints : sequence of Joint
    limits : FollowingLimits
    """

    def __init__(self, joints: Sequence[Joint], limits: FollowingLimits) -> None:
        self._names = [joint.name for joint in joints]
        self.configure(limits)
        self.reset()

    def configure(self, limits: FollowingLimits) -> None:
        """Let other limits count from the next state on."""
        self._limits = limits

    def reset(self) -> None:
        """Forget what was so."""
        n = len(self._names)
        self._far, self._fast, self._saturated = _Lasting(n), _Lasting(n), _Lasting(n)
        self._position: FloatArray | None = None
        self._same_since = np.zeros(n)
        self._same_states = np.zeros(n)
        self._same_desired = np.zeros(n)

    def judge(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        error: FloatArray,
        desired: DesiredState,
        effort: FloatArray,
        effort_limits: FloatArray,
        now: float,
        *,
        has_feedback: bool,
    ) -> Following | None:
        """Return what is wrong with the motion; None when it is followed.

        Parameters
        ----------
        position : array, shape (n,)
            Measured [rad or m].
        velocity : array, shape (n,), or None
            That the law uses [rad/s or m/s].
        error : array, shape (n,)
            Desired minus measured position, by the nearest turn [rad or m].
        desired : DesiredState
        effort, effort_limits : array, shape (n,)
            Effort before it is limited, and the limits [N m or N].
        now : float
            [s]
        has_feedback : bool
            Of the law.
        """
        limits = self._limits
        if not (has_feedback or limits.counts_without_feedback):
            return None
        found = self._judge_position(error, now)
        if found is None and has_feedback:
            found = (
                self._judge_velocity(velocity, desired, now)
                or self._judge_frozen(position, desired, now)
                or self._judge_saturation(error, effort, effort_limits, now)
            )
        return found

    def _judge_position(self, error: FloatArray, now: float) -> Following | None:
        limits = self._limits.position
        if limits is None:
            return None
        size = np.abs(error)
        for duration, share, index in (
            ('', 1.0, _first(size > limits)),
            (
                f' for {LASTING_TIME:g} s',
                LASTING_SHARE,
                self._far.longest(size > LASTING_SHARE * limits, now, LASTING_TIME),
            ),
        ):
            if index is not None:
                return Following(
                    FaultKind.FOLLOWING,
                    f'joint {self._names[index]!r}: {size[index]:.3g} from the desired '
                    f'position{duration}; expected at most {share * limits[index]:.3g} '
                    '(following_error.position)',
                )
        return None

    def _judge_velocity(
        self, velocity: FloatArray | None, desired: DesiredState, now: float
    ) -> Following | None:
        limits = self._limits.velocity
        if limits is None or velocity is None:
            return None
        size = np.abs(desired.velocity - velocity)
        index = self._fast.longest(size > limits, now, VELOCITY_TIME)
        if index is None:
            return None
        return Following(
            FaultKind.FOLLOWING,
            f'joint {self._names[index]!r}: {size[index]:.3g} from the desired velocity for '
            f'{VELOCITY_TIME:g} s; expected at most {limits[index]:.3g} '
            '(following_error.velocity)',
        )

    def _judge_frozen(
        self, position: FloatArray, desired: DesiredState, now: float
    ) -> Following | None:
        limits = self._limits.frozen
        if limits is None:
            return None
        before, self._position = self._position, position
        moves = np.ones(position.size, bool) if before is None else position != before
        self._same_states += 1.0
        if moves.any():
            self._same_since[moves] = now
            self._same_states[moves] = 0.0
            self._same_desired[moves] = desired.position[moves]
            if moves.all():
                return None
        went = np.abs(desired.position - self._same_desired)
        is_frozen = (
            (went > limits)
            & (now - self._same_since >= FROZEN_TIME)
            & (self._same_states >= FROZEN_STATES)
        )
        index = _first(is_frozen)
        if index is None:
            return None
        return Following(
            FaultKind.FROZEN_POSITION,
            f'joint {self._names[index]!r}: the same position for '
            f'{now - self._same_since[index]:.3g} s while the desired one went on by '
            f'{went[index]:.3g}; expected a motion after {limits[index]:.3g} '
            '(following_error.frozen)',
        )

    def _judge_saturation(
        self, error: FloatArray, effort: FloatArray, effort_limits: FloatArray, now: float
    ) -> Following | None:
        timeout = self._limits.saturation_timeout
        if timeout == inf:
            return None
        pushes = (np.abs(effort) > effort_limits) & (effort * error > 0.0)
        index = self._saturated.longest(pushes, now, timeout)
        if index is None:
            return None
        return Following(
            FaultKind.SATURATED,
            f'joint {self._names[index]!r}: at its effort limit of {effort_limits[index]:.4g} for '
            f'{timeout:g} s, still {abs(error[index]):.3g} from the desired position '
            '(saturation.timeout)',
        )


def _first(is_so: np.ndarray) -> int | None:
    """Return the first index at which it is so."""
    return int(is_so.argmax()) if is_so.any() else None
