"""Whether a joint whose position stays the same must have moved. No ROS, no clock.

A joint that sticks stands while its motion goes on, and so does one whose encoder is frozen. What
tells them apart is the effort. With e the effort that was commanded, less what the model needs to
hold the joint while the others move as they should,

    M_ii a  =  e - r

with r the friction and what the model does not know. While the joint slides, r is what it was
before the position became the same, and may be more by `friction_variation`, a field of
:class:`~.limits.GuardLimits`. At rest the joint stays where it is while e is within the largest
friction that can be believed. Integrated twice from the velocity that the joint had, this is how
far it must have gone at least.

The friction that can be believed is a share of the effort limit, or what the model has, until the
joint has moved; then it follows from the efforts that this took, and from those at which the joint
broke away.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, inf, isfinite
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.tick import Tick
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint


class _Range(NamedTuple):
    """Excesses of effort at which a joint may rest.

    Attributes
    ----------
    middle, half : float
        [N m or N]
    """

    middle: float
    half: float


class _ObservedFriction:
    """Excesses of effort at which a joint moved or began to.

    Parameters
    ----------
    kept : int
        So many of each direction count.
    """

    def __init__(self, kept: int) -> None:
        self._upward: deque[float] = deque(maxlen=kept)
        self._downward: deque[float] = deque(maxlen=kept)

    def append(self, direction: float, excess: float) -> None:
        """Take one of a motion in a direction, by its sign."""
        if direction and isfinite(excess):
            (self._upward if direction > 0.0 else self._downward).append(excess)

    def find_range(self, fewest: int) -> _Range | None:
        """Return between which the joint may rest; None where too few are known.

        Where it moved in both directions, what the model lacks is told from the friction.
        """
        up, down = self._upward, self._downward
        if len(up) >= fewest and len(down) >= fewest:
            upper, lower = max(up), min(down)
            return _Range(0.5 * (upper + lower), max(0.5 * (upper - lower), 0.0))
        known = [*up, *down]
        return _Range(0.0, max(map(abs, known))) if len(known) >= fewest else None


@dataclass
class Standing:
    """A joint whose position stays the same.

    Attributes
    ----------
    inertia : float
        [kg m^2 or kg]
    moved : bool
        Whether it moved until then.
    resistance : float
        Excess of the effort before [N m or N]: what it took to move the joint, or what it bears.
    velocity : float
        That it must have [rad/s or m/s].
    slides : bool
        Whether it has not come to rest since.
    way : float
        How far it must have gone [rad or m].
    largest, smallest : float
        Of the excess [N m or N].
    """

    inertia: float
    moved: bool
    resistance: float
    velocity: float
    slides: bool
    way: float = 0.0
    largest: float = -inf
    smallest: float = inf

    def go_on(
        self, excess: float, friction: _Range, variation: float, slow: float, elapsed: float
    ) -> None:
        """Let time pass under an excess of effort."""
        self.largest, self.smallest = max(self.largest, excess), min(self.smallest, excess)
        if self.slides:
            brake = copysign(variation * abs(self.resistance), self.velocity)
            velocity = self.velocity + elapsed * (excess - self.resistance - brake) / self.inertia
            self.slides = velocity * copysign(1.0, self.velocity) > slow
            self.velocity = velocity if self.slides else 0.0
        else:
            upper = max(self.resistance, friction.middle) + friction.half
            lower = min(self.resistance, friction.middle) - friction.half
            push = max(excess - upper, 0.0) + min(excess - lower, 0.0)
            self.velocity = self.velocity + elapsed * push / self.inertia if push else 0.0
        self.way += elapsed * self.velocity


class StandingJoints:
    """Keeps the last states of an arm, and says how far joints that stand must have gone."""

    def __init__(
        self, joints: Sequence[Joint], slow: Sequence[float], coupled_friction: Sequence[float]
    ) -> None:
        bounds = GUARD_LIMITS
        self._history, self._fewest = bounds.history_time, bounds.history_states
        self._slow = list(slow)
        limits = [
            joint.effort_limit if 0.0 < joint.effort_limit < inf else inf for joint in joints
        ]
        known = [
            max(joint.coulomb_friction, joint.friction.static_friction or 0.0) + coupled
            for joint, coupled in zip(joints, coupled_friction, strict=True)
        ]
        self._assumed = [
            max(bounds.friction_ratio * friction, bounds.friction_unknown * limit)
            for friction, limit in zip(known, limits, strict=True)
        ]
        self._observed = [_ObservedFriction(bounds.friction_kept) for _ in joints]
        self.reset()

    def reset(self) -> None:
        """Forget the states, not what the friction is like."""
        self._states: deque[Tick] = deque()
        self._standing: dict[int, Standing] = {}
        self._learnt_at = -inf

    @property
    def indices(self) -> tuple[int, ...]:
        """The joints that stand."""
        return tuple(sorted(self._standing))

    @property
    def are_states_dense(self) -> bool:
        """Whether the last states say what joints must have done between them."""
        states, count = self._states, GUARD_LIMITS.frozen_states
        if len(states) < count:
            return False
        return states[-1].now - states[-count].now <= GUARD_LIMITS.frozen_longest

    def note(self, state: Tick) -> None:
        """Take a state."""
        states = self._states
        if states and not 0.0 <= state.now - states[-1].now <= self._history:
            self.reset()
            states = self._states
        states.append(state)
        oldest = state.now - self._history
        while len(states) > self._fewest and states[0].now < oldest:
            states.popleft()

    def learn(self, least_way: Sequence[float]) -> None:
        """Observe the friction of the joints that move as they should, now and then.

        These have gone at least `least_way` each in the states that are known [rad or m].
        """
        first, last = self._states[0], self._states[-1]
        if last.now - self._learnt_at < self._history or len(self._states) < self._fewest:
            return
        self._learnt_at = last.now
        ways = (last.position - first.position).tolist()
        wanted = (last.desired.position - first.desired.position).tolist()
        moves = [
            abs(way) > least and _are_alike(way, goal)
            for way, goal, least in zip(ways, wanted, least_way, strict=True)
        ]
        if not any(moves):
            return
        mean = np.mean([state.effort for state in self._states], axis=0)
        middle = self._states[len(self._states) // 2]
        held = _find_held(middle, ())
        if held is None:
            return
        for index, moved in enumerate(moves):
            if moved:
                self._observed[index].append(ways[index], float(mean[index] - held[index]))

    def go_on(self, since: dict[int, float], steps: Sequence[float]) -> dict[int, Standing]:
        """Let the last state pass for the joints that stand, and return these, not to be changed.

        `since` has the joints, and since when their positions are the same [s]; `steps`, one a
        joint, are those of the encoders, 0 where they are not known [rad or m].
        """
        for index in [index for index in self._standing if index not in since]:
            # It has broken away: no more than that is its static friction.
            one, direction = self._standing.pop(index), self._direction(index)
            self._observed[index].append(
                direction, one.largest if direction > 0.0 else one.smallest
            )
        going_on = dict(self._standing)
        for index, begin in since.items():
            if index not in going_on:
                self._begin(index, begin, tuple(since), steps[index])
        if going_on:
            self._pass(going_on, self._states[-2], self._states[-1], tuple(since))
        return self._standing

    def forget(self) -> None:
        """Take note that no joint stands any longer."""
        if self._standing:
            self.go_on({}, ())

    def _pass(
        self, standing: dict[int, Standing], before: Tick, state: Tick, indices: Sequence[int]
    ) -> None:
        held = _find_held(before, indices)
        if held is None:
            return
        for index, one in standing.items():
            excess = float(before.effort[index] - held[index])
            friction = self._find_friction(index, float(held[index]), one.inertia)
            elapsed = state.now - before.now
            one.go_on(
                excess, friction, GUARD_LIMITS.friction_variation, self._slow[index], elapsed
            )

    def _find_friction(self, index: int, held: float, inertia: float) -> _Range:
        """Return what can be believed of the friction of a joint at rest."""
        bounds = GUARD_LIMITS
        found = self._observed[index].find_range(bounds.friction_observations)
        middle, half = 0.0, self._assumed[index]
        if found is not None:
            middle, half = found.middle, bounds.friction_ratio * found.half
        return _Range(
            middle,
            half
            + bounds.friction_model_error * abs(held)
            + bounds.friction_acceleration * inertia,
        )

    def _direction(self, index: int) -> float:
        return float(self._states[-1].desired.velocity[index])

    def _begin(self, index: int, since: float, indices: Sequence[int], step: float) -> None:
        """Begin with a joint that has been standing since a time, and let it pass."""
        states = list(self._states)
        first = next(
            (place for place, state in enumerate(states) if state.now >= since), len(states) - 1
        )
        law, position = states[-1].law, states[-1].position
        # Nothing follows from the effort of a joint without inertia.
        inertia = float(law.dynamics.mass_matrix(position)[index, index]) or inf
        velocity, resistance = self._find_motion(index, states[: first + 1], inertia, step)
        slides = abs(velocity) > self._slow[index] and inertia < inf
        if not slides:
            held = _find_held(states[first], indices)
            excess = 0.0 if held is None else float(states[first].effort[index] - held[index])
            velocity, resistance = 0.0, excess
        one = self._standing[index] = Standing(inertia, slides, resistance, velocity, slides)
        for before, state in zip(states[first:], states[first + 1 :], strict=False):
            self._pass({index: one}, before, state, indices)

    def _find_motion(
        self, index: int, states: Sequence[Tick], inertia: float, step: float
    ) -> tuple[float, float]:
        """Return the velocity of a joint at the last of some states, and its resistance then.

        No velocity where it did not follow its motion, or was slowing down: whatever has done that
        may have stopped it.
        """
        recent = sum(state.now >= states[-1].now - 0.5 * self._history for state in states)
        states = states[-max(recent, self._fewest // 3) :]
        if len(states) < 5:
            return 0.0, 0.0
        times = np.array([state.now for state in states]) - states[-1].now
        positions = np.unwrap([state.position[index] for state in states])
        desired = np.array([state.desired.position[index] for state in states])
        if not self._follows_to_the_end(positions, desired, step):
            return 0.0, 0.0
        half_acceleration, velocity, _ = np.polyfit(times, positions, 2)
        middle = states[len(states) // 2]
        held = _find_held(middle, (index,))
        if held is None:
            return 0.0, 0.0
        effort = np.mean([state.effort[index] for state in states])
        return float(velocity), float(effort - held[index] - 2.0 * half_acceleration * inertia)

    def _follows_to_the_end(self, positions: FloatArray, desired: FloatArray, step: float) -> bool:
        """Return whether a joint follows its motion in the last fifth of states as before."""
        place = -max(3, len(positions) // 5) - 1
        before, wanted = positions[place] - positions[0], desired[place] - desired[0]
        last, wanted_last = positions[-1] - positions[place], desired[-1] - desired[place]
        if not (0.0 < before * wanted < 2.0 * wanted**2 and last * wanted_last > 0.0):
            return False
        least = GUARD_LIMITS.steadiness * before / wanted - step / abs(wanted_last)
        return bool(last / wanted_last >= least)


def _are_alike(found: float, wanted: float) -> bool:
    """Return whether a motion is about the one that is wanted."""
    return found * wanted > 0.0 and 0.5 < found / wanted < 2.0


def _find_held(state: Tick, indices: Sequence[int]) -> FloatArray | None:
    """Return the effort of the desired motion without friction, some joints standing.

    None where the model has no finite one.
    """
    velocity, acceleration = state.desired.velocity, state.desired.acceleration
    if indices:
        velocity, acceleration = velocity.copy(), acceleration.copy()
        velocity[list(indices)] = acceleration[list(indices)] = 0.0
    compensation = state.law.compensation
    still = np.zeros_like(velocity)
    try:
        return compensation.effort(
            state.position, velocity, acceleration, still, state.wrench, state.base
        )
    except InputError:
        return None
