"""Whether the arm goes where it is sent. No ROS, no clock.

What the joint states say may be wrong and not look so, and an arm may be kept from its way: what
both have in common is that the measured motion is not the desired one. :class:`FollowingGuard`
says when that has gone on for long enough. Words such as `lasting_share` are fields of
:class:`~.limits.GuardLimits`.

- A joint is farther from its desired position than the limit, or farther than
  `lasting_share` of it for `lasting_time`. In the first `catching_time` the
  former does not count: an arm that is found in motion overshoots.
- Its velocity is off by more than the limit for `velocity_time`, and is not being braked,
  which would have it fall to `braked_share` of what it was in that time: a push passes.
- Its position has been the same for `frozen_time` and `frozen_states` states, in which
  it must have moved by the effort that was commanded, see
  :mod:`ne_dynamics.control.guards.standing_joint`: by more than `frozen_share` of a limit
  and `frozen_steps` steps of its encoder. Where it stood before, the desired position must
  have gone on by more than that limit too. That is a frozen encoder or a brake, and no joint that
  sticks. The same is what stays within `frozen_band` of that limit and turns round in
  `trembling` of its changes or more: a frozen encoder may tremble in its last digits, an arm
  that pushes at something creeps on or swings.
- Its effort has been at the limit for longer than a timeout, in the direction of its error.
- Its effort has gone from one limit to the other `swings` times within that timeout: the
  loop is unstable, and the arm shakes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, inf

import numpy as np

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.standing_joint import StandingJoints
from ne_dynamics.control.guards.state_guard import Fault, FaultKind
from ne_dynamics.control.stages.limits import are_within
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.joint_limits import usual_velocities


class _Lasting:
    """For how long each joint has been beyond a bound.

    The rule is that none is: for a few joints a loop is quicker than NumPy.
    """

    def __init__(self, braked: float = 0.0) -> None:
        self._braked = braked
        self._begins: dict[int, tuple[float, float]] = {}

    def __bool__(self) -> bool:
        """Whether any joint is beyond its bound."""
        return bool(self._begins)

    def longest(
        self, values: Sequence[float], bounds: Sequence[float], now: float, duration: float
    ) -> int | None:
        """Return the first joint that has been beyond its bound for longer; None when none.

        One whose value has fallen to `braked` of what it was begins anew.
        """
        begins, found = self._begins, None
        for index, (value, bound) in enumerate(zip(values, bounds, strict=True)):
            if -bound <= value <= bound:
                if begins:
                    begins.pop(index, None)
                continue
            since, size = begins.setdefault(index, (now, abs(value)))
            if now - since <= duration:
                continue
            if abs(value) <= self._braked * size:
                begins[index] = now, abs(value)
            elif found is None:
                found = index
        return found


@dataclass
class _Same:
    """A position that stays the same.

    Attributes
    ----------
    position, desired : float
        At its beginning [rad or m].
    since : float
        [s]
    last, change : float
        The position in the state before, and its last change [rad or m].
    goal : float
        The desired position in the state before [rad or m].
    states, changes, turns, unchanged : int
        How many there were, how many of them changed the position, how many turned it round, and
        how many at the end did not change it.
    """

    position: float
    desired: float
    since: float
    last: float
    goal: float
    change: float = 0.0
    states: int = 0
    changes: int = 0
    turns: int = 0
    unchanged: int = 0

    def begin(self, position: float, desired: float, now: float) -> None:
        """Begin anew: in place, in half of the time that another one takes in each state."""
        self.position, self.desired, self.since, self.last = position, desired, now, position
        self.goal, self.change = desired, 0.0
        self.states = self.changes = self.turns = self.unchanged = 0

    def go_on(self, position: float, desired: float) -> None:
        """Take note of a position that is the same but for a tremble."""
        self.goal = desired
        self.states += 1
        self.unchanged += 1
        change = position - self.last
        if change != 0.0:
            self.changes += 1
            self.unchanged = 0
            self.turns += change * self.change < 0.0
            self.last, self.change = position, change

    def trembles(self, share: float) -> bool:
        """Whether it does not go anywhere: it turns round in this share of its changes.

        A change or two is not yet a way.
        """
        return self.turns + 1 >= share * self.changes


class _Swings:
    """When the effort of each joint went from one limit to the other, the last `count` times."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._signs: dict[int, float] = {}
        self._times: dict[int, deque[float]] = {}

    def most(
        self, values: Sequence[float], bounds: Sequence[float], now: float, duration: float
    ) -> int | None:
        """Return the first joint that has done so `count` times within a duration; or None."""
        found = None
        for index, (value, bound) in enumerate(zip(values, bounds, strict=True)):
            if -bound <= value <= bound:
                continue
            sign = copysign(1.0, value)
            before, self._signs[index] = self._signs.get(index, sign), sign
            if before == sign:
                continue
            times = self._times.setdefault(index, deque(maxlen=self._count))
            times.append(now)
            if found is None and len(times) == self._count and now - times[0] <= duration:
                found = index
        return found


class FollowingGuard:
    """Judges each answered state."""

    def __init__(
        self, joints: Sequence[Joint], limits: FollowingLimits, coupled_friction: Sequence[float]
    ) -> None:
        self._names = [joint.name for joint in joints]
        slow = GUARD_LIMITS.sticking_share * usual_velocities(joints)
        self._standing = StandingJoints(joints, slow.tolist(), coupled_friction)
        self._steps = [0.0] * len(self._names)
        self.configure(limits)
        self.reset()

    def configure(self, limits: FollowingLimits) -> None:
        """Let other limits count from the next state on."""
        self._limits = limits
        self._position_limits = _as_list(limits.position)
        share = GUARD_LIMITS.lasting_share
        self._lasting_limits = [share * limit for limit in self._position_limits]
        self._velocity_limits = _as_list(limits.velocity)
        self._frozen_limits = _as_list(limits.frozen)
        self._least_ways = [GUARD_LIMITS.frozen_share * limit for limit in self._frozen_limits]
        self._bands = [self._find_band(index) for index in range(len(self._frozen_limits))]

    def reset(self) -> None:
        """Forget what was so."""
        self._far, self._saturated = _Lasting(), _Lasting()
        self._fast = _Lasting(GUARD_LIMITS.braked_share)
        self._swings = _Swings(GUARD_LIMITS.swings)
        self._begin: float | None = None
        self._same: list[_Same] = []
        self._standing.reset()

    @property
    def frozen_joints(self) -> tuple[int, ...]:
        """All joints whose position stays the same at present while the desired one goes on."""
        return self._standing.indices

    def check(self, tick: Tick) -> Fault | None:
        """Return what is wrong with the motion; None when it is followed.

        The tick is kept for a while, and not to be changed.
        """
        has_feedback = tick.law.has_feedback
        if not (has_feedback or self._limits.counts_without_feedback):
            return None
        found = self._check_position(tick.error, tick.now)
        if found is None and has_feedback:
            found = (
                self._check_velocity(tick)
                or self._check_frozen(tick)
                or self._check_saturation(tick)
            )
        return found

    def _check_position(self, error: FloatArray, now: float) -> Fault | None:
        limits = self._position_limits
        if not limits:
            return None
        errors = error.tolist()
        index = self._far.longest(errors, self._lasting_limits, now, GUARD_LIMITS.lasting_time)
        share, duration = GUARD_LIMITS.lasting_share, f' for {GUARD_LIMITS.lasting_time:g} s'
        if self._begin is None:
            self._begin = now
        is_caught = now - self._begin >= GUARD_LIMITS.catching_time
        for joint, (one, limit) in enumerate(zip(errors, limits, strict=True)):
            if is_caught and not -limit <= one <= limit:
                index, share, duration = joint, 1.0, ''
                break
        if index is None:
            return None
        return _lost(
            FaultKind.FOLLOWING,
            f'joint {self._names[index]!r}: {abs(errors[index]):.3g} from the desired '
            f'position{duration}; expected at most {share * limits[index]:.3g} '
            '(following_error.position)',
        )

    def _check_velocity(self, tick: Tick) -> Fault | None:
        limits, velocity = self._velocity_limits, tick.velocity
        if not limits or velocity is None:
            return None
        errors = (tick.desired.velocity - velocity).tolist()
        index = self._fast.longest(errors, limits, tick.now, GUARD_LIMITS.velocity_time)
        if index is None:
            return None
        return _lost(
            FaultKind.FOLLOWING,
            f'joint {self._names[index]!r}: {abs(errors[index]):.3g} from the desired velocity '
            f'for {GUARD_LIMITS.velocity_time:g} s; expected at most {limits[index]:.3g} '
            '(following_error.velocity)',
        )

    def _check_frozen(self, tick: Tick) -> Fault | None:
        limits = self._frozen_limits
        if not limits:
            return None
        self._standing.note(tick)
        self._standing.learn(self._least_ways)
        since = self._find_standing(tick)
        if not since or not self._standing.are_states_dense:
            self._standing.forget()
            return None
        for index, standing in self._standing.go_on(since, self._steps).items():
            limit, same = limits[index], self._same[index]
            went = abs(tick.desired.position[index] - same.desired)
            least = self._least_ways[index] + GUARD_LIMITS.frozen_steps * self._steps[index]
            if abs(standing.way) > least and (standing.moved or went > limit):
                return _lost(
                    FaultKind.FROZEN_POSITION,
                    f'joint {self._names[index]!r}: the same position for '
                    f'{tick.now - same.since:.3g} s while the desired one went on by '
                    f'{went:.3g}; by its effort it must have moved by {abs(standing.way):.3g} at '
                    f'least, expected at most {least:.3g} (following_error.frozen {limit:g})',
                    self.frozen_joints,
                )
        return None

    def _find_band(self, index: int) -> float:
        """Return within which changes a position of a joint is the same [rad or m]."""
        bounds = GUARD_LIMITS
        flicker = min(bounds.frozen_flicker * self._steps[index], 0.5 * self._least_ways[index])
        return max(bounds.frozen_band * self._frozen_limits[index], flicker)

    def _find_standing(self, tick: Tick) -> dict[int, float]:
        """Return joints whose position is the same though the desired one goes on, since when."""
        now, bounds = tick.now, GUARD_LIMITS
        here, there = tick.position.tolist(), tick.desired.position.tolist()
        if not self._same:
            self._same = [
                _Same(one, goal, now, one, goal) for one, goal in zip(here, there, strict=True)
            ]
        found = {}
        for index, (same, least) in enumerate(zip(self._same, self._least_ways, strict=True)):
            one, goal = here[index], there[index]
            band = self._bands[index]
            if not -band <= one - same.position <= band:
                step, known = abs(one - same.last), self._steps[index]
                if step > 0.0 and (step < known or known == 0.0):
                    self._steps[index] = step
                    self._bands[index] = self._find_band(index)
                same.begin(one, goal, now)
                continue
            is_to_stand = goal == same.goal and abs(goal - same.desired) <= least
            if is_to_stand or (
                same.unchanged >= bounds.frozen_states and not same.trembles(bounds.trembling)
            ):
                # Neither counts time in which it was to stand, nor that in which it crept.
                same.begin(one, goal, now)
                continue
            same.go_on(one, goal)
            if (
                same.states >= bounds.frozen_states
                and now - same.since >= bounds.frozen_time
                and abs(goal - same.desired) > least
                and same.trembles(bounds.trembling)
            ):
                found[index] = same.since
        return found

    def _check_saturation(self, tick: Tick) -> Fault | None:
        timeout = self._limits.saturation_timeout
        if timeout == inf:
            return None
        error, effort, now = tick.error, tick.wanted, tick.now
        efforts, bounds = effort.tolist(), tick.tuning.effort_limits.tolist()
        if not self._saturated and are_within(efforts, bounds):
            return None
        pushes = np.where(effort * error > 0.0, effort, 0.0).tolist()
        index = self._saturated.longest(pushes, bounds, now, timeout)
        swings = self._swings.most(efforts, bounds, now, timeout)
        if swings is not None:
            return _lost(
                FaultKind.SATURATED,
                f'joint {self._names[swings]!r}: from one effort limit to the other '
                f'{GUARD_LIMITS.swings} times within {timeout:g} s, '
                f'{bounds[swings]:.4g} each way: the loop is unstable '
                '(gains, delay, noise; saturation.timeout)',
            )
        if index is None:
            return None
        return _lost(
            FaultKind.SATURATED,
            f'joint {self._names[index]!r}: at its effort limit of {bounds[index]:.4g} for '
            f'{timeout:g} s, still {abs(error[index]):.3g} from the desired position '
            '(saturation.timeout)',
        )


def _lost(kind: FaultKind, text: str, joints: tuple[int, ...] = ()) -> Fault:
    """Return a fault that latches, with the joints whose positions are not believed."""
    return Fault(kind, text, latches=True, joints=joints)


def _as_list(limits: FloatArray | None) -> list[float]:
    """Return limits as numbers; none of them where there is none."""
    return [] if limits is None else limits.tolist()
