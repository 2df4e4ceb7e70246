"""Whether a joint state is to be believed, checked by what came before it. No ROS, no clock.

States stop, jump, repeat an old stamp, come from a clock that was set back: a controller that
computes on would tear at the arm. :class:`StateGuard` says what each state is good for.

A joint has jumped when it moved faster than it can, unless the velocities that come with the
positions say the same: an arm that falls is to be caught.

A fault is over when states agree again. One that latches is not, whatever the states say, until
:meth:`StateGuard.clear`: those of the motion, and any that comes for the
:attr:`.GuardLimits.repeats`-th time within :attr:`StateLimits.repeat_window`.

One stamp that is ahead of its time is known by the state after it: that one has an earlier stamp,
and lies where the messages before say it should. The state that was ahead is forgotten then.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, remainder
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.waypoints import TURN, continuous_joints


class FaultKind(str, enum.Enum):
    """Kinds of faults of states and motion; the values are the words of the diagnostics."""

    STOPPED = 'joint_states stopped'
    JUMPED = 'joint_states jumped'
    FROZEN = 'joint_states frozen stamp'
    BACKWARDS = 'joint_states clock ran backwards'
    GAP = 'joint_states gap'
    VELOCITY = 'joint_states velocity wrong'
    FROZEN_POSITION = 'joint_states position frozen'
    FOLLOWING = 'following error'
    SATURATED = 'saturated'
    UNSTABLE = 'gains unstable'


STATES_STILL_COME = frozenset((FaultKind.JUMPED, FaultKind.FROZEN, FaultKind.BACKWARDS))
"""Faults in which states come that are not believed."""


class Fault(NamedTuple):
    """A fault that ends the motion.

    Attributes
    ----------
    kind : FaultKind
    text : str
        Description for people.
    latches : bool
        Whether it stays until it is cleared.
    joints : tuple of int
        Indices of the joints whose measured positions are not trusted.
    """

    kind: FaultKind
    text: str
    latches: bool = False
    joints: tuple[int, ...] = ()

    def __str__(self) -> str:
        what_to_do = ' (latched: remove the cause, then call ~/clear_fault)'
        return f'{self.kind.value}: {self.text}{what_to_do if self.latches else ""}'


class StateRefused(NeDynamicsError, ValueError):
    """A joint state is rejected.

    Parameters
    ----------
    field : str
        Field of the message at fault.
    reason : str
    fault : Fault, optional
        The fault, if this state ends the motion.
    """

    def __init__(self, field: str, reason: str, fault: Fault | None = None) -> None:
        super().__init__(f'{field}: {reason}', field=field)
        self.fault = fault


@dataclass(frozen=True, eq=False)
class StateLimits:
    """What is physically possible between two states.

    Attributes
    ----------
    timeout : float
        [s]; a stamp that is farther from the last one, or does not advance for so long, ends the
        motion. Infinite for never.
    velocities : array, shape (n,), or None
        Speeds beyond which a joint has jumped [rad/s or m/s], infinite where there is none; None
        when all are.
    repeat_window : float
        [s]; see :attr:`.GuardLimits.repeats`. 0: no fault latches for coming back.
    """

    timeout: float = np.inf
    velocities: FloatArray | None = None
    repeat_window: float = 0.0


class SeenState(NamedTuple):
    """A state to compare others with."""

    position: FloatArray
    velocity: FloatArray | None
    time: float
    arrival: float
    places: list[float]


class StateGuard:
    """Judges states one after the other.

    Attributes
    ----------
    last : SeenState or None
        The last that was believed.
    ahead : float
        How far the state before the one checked last was stamped ahead of its time [s]; 0 in the
        usual case.
    """

    def __init__(self, joints: Sequence[Joint], limits: StateLimits) -> None:
        self._names = [joint.name for joint in joints]
        self._turns = frozenset(continuous_joints(joints).tolist())
        self.configure(limits)
        self.reset()

    def configure(self, limits: StateLimits) -> None:
        """Let other limits count from the next state on."""
        self.limits = limits
        self._velocities = None if limits.velocities is None else limits.velocities.tolist()

    def reset(self) -> None:
        """Forget everything: the next state is believed."""
        self.last: SeenState | None = None
        self._before: SeenState | None = None
        self.ahead = 0.0
        self.fault: Fault | None = None
        self._anchor: SeenState | None = None
        self._agreeing = 0
        self._candidate: SeenState | None = None
        self._history: list[tuple[FaultKind, float]] = []
        self._has_heard = False
        self._excused = 0.0

    def trip(self, fault: Fault) -> Fault:
        """Take note of a fault; states count again when enough of them agree, or it is cleared."""
        fault = self._counted(fault)
        self.restore(fault)
        return fault

    def excuse(self, duration: float) -> None:
        """Let so much of the time until the next state be no gap: nobody listened [s]."""
        self._excused = min(self._excused + duration, GUARD_LIMITS.longest_excuse)

    def restore(self, fault: Fault) -> None:
        """Let a fault that a state has ended go on: the state could not be answered."""
        self.fault = fault
        self._await_states()

    def clear(self) -> Fault:
        """Let a latched fault be one that is over as soon as states agree; return it.

        Raises
        ------
        StateRefused
            When there is none that latches, or no state has come since.
        """
        fault = self.fault
        if fault is None or not fault.latches:
            raise StateRefused(
                'fault', 'there is no latched fault' if fault is None else str(fault)
            )
        if not self._has_heard:
            raise StateRefused('joint_states', f'no state has come since the fault: {fault}')
        self.fault = fault._replace(latches=False)
        self._history.clear()
        self._await_states()
        return fault

    def _await_states(self) -> None:
        self._agreeing = 0
        self._candidate = None
        self._has_heard = False

    def _counted(self, fault: Fault) -> Fault:
        """Return a fault that latches when it has come too often."""
        window, last = self.limits.repeat_window, self.last
        if fault.latches or not window > 0.0 or last is None:
            return fault
        now = last.arrival
        self._history = [one for one in self._history if now - one[1] <= window]
        self._history.append((fault.kind, now))
        count = sum(kind is fault.kind for kind, _ in self._history)
        bounds = GUARD_LIMITS
        if count < bounds.repeats and len(self._history) < bounds.repeats_of_any_kind:
            return fault
        text = f'{fault.text}; {count} times within {window:g} s'
        if count < bounds.repeats:
            text = f'{fault.text}; the {len(self._history)}th fault within {window:g} s'
        return fault._replace(text=text, latches=True)

    def check(
        self, position: FloatArray, velocity: FloatArray | None, now: float, arrival: float
    ) -> Fault | None:
        """Believe a state or refuse it.

        Parameters
        ----------
        position : array, shape (n,)
            [rad or m]
        velocity : array, shape (n,), or None
            [rad/s or m/s]
        now : float
            Its stamp [s].
        arrival : float
            When it came, by a clock that is never set back [s].

        Returns
        -------
        Fault or None
            None in the usual case; the fault that this state ends (or that it is, for a gap):
            hold where the arm is now.

        Raises
        ------
        StateRefused
            When it is not believed.
        """
        seen = SeenState(position, velocity, now, arrival, position.tolist())
        self.ahead = 0.0
        excused, self._excused = self._excused, 0.0
        if self.fault is not None:
            if self.fault.latches:
                self.last = self._anchor = seen
                self._has_heard = True
                raise StateRefused('fault', str(self.fault))
            return self._reconsider(self.fault, seen)
        if self.last is None:
            self._believe(seen)
            return None
        return self._check_after(self.last, seen, excused)

    def _check_after(self, last: SeenState, seen: SeenState, excused: float) -> Fault | None:
        """Believe a state that follows another, or refuse it."""
        elapsed = seen.time - last.time
        if elapsed < 0.0:
            before = self._before_early(last, seen)
            if before is None:
                self._refuse_old(seen, -elapsed)
            else:
                self.ahead = -elapsed
                last, elapsed = before, seen.time - before.time
        if elapsed - excused > self.limits.timeout:
            return self._believe_after_gap(last, seen, elapsed)
        if seen.arrival - last.arrival > self.limits.timeout:
            # Nothing came, as from a simulation that was paused: that tells of no clock.
            self._anchor = seen
        elif self._anchor is None or seen.arrival - self._anchor.arrival > self.limits.timeout:
            self._check_clock(seen)
        if self._velocities is not None:
            jump = self._jump(last, seen)
            if jump:
                self._refuse('position', jump, FaultKind.JUMPED, seen)
        self._before, self.last = last, seen
        return None

    def _believe_after_gap(self, last: SeenState, seen: SeenState, elapsed: float) -> Fault:
        self._believe(seen)
        self._before = last
        gap = self._counted(Fault(FaultKind.GAP, f'{elapsed:.3g} s between two stamps'))
        if gap.latches:
            self.restore(gap)
            raise StateRefused('header.stamp', gap.text, gap)
        return gap

    def believe(
        self, position: FloatArray, velocity: FloatArray | None, now: float, arrival: float
    ) -> None:
        """Take a state for right, whatever came before; a fault is over then."""
        self._believe(SeenState(position, velocity, now, arrival, position.tolist()))

    def _believe(self, seen: SeenState) -> None:
        self.last = self._anchor = seen
        self._before = None
        self.fault = None

    def _before_early(self, last: SeenState, seen: SeenState) -> SeenState | None:
        """Return the state before the last if the last was early rather than this one late.

        Of the two, the one whose stamp is farther from what the arrivals say is the wrong one.
        """
        before = self._before
        if before is None or not self._advances(before, seen) or seen.arrival <= last.arrival:
            return None
        early = abs(last.time - before.time - (last.arrival - before.arrival))
        late = abs(seen.time - before.time - (seen.arrival - before.arrival))
        if late >= early:
            return None
        if self._anchor is last:
            self._anchor = before
        return before

    def _refuse_old(self, seen: SeenState, behind: float) -> None:
        if behind >= GUARD_LIMITS.largest_disorder:
            self._refuse('header.stamp', f'set back by {behind:.3g} s', FaultKind.BACKWARDS, seen)
        raise StateRefused('header.stamp', f'{behind:.3g} s before the last one')

    def _check_clock(self, seen: SeenState) -> None:
        """Compare the stamps with the time that messages take, once in a timeout."""
        anchor = self._anchor
        if anchor is not None and not self._advances(anchor, seen):
            still = seen.arrival - anchor.arrival
            text = f'the same for {still:.3g} s while messages come'
            self._refuse('header.stamp', text, FaultKind.FROZEN, seen)
        self._anchor = seen

    def _refuse(self, field: str, text: str, kind: FaultKind, seen: SeenState) -> None:
        fault = self.trip(Fault(kind, text))
        self._candidate, self._agreeing = seen, 1
        raise StateRefused(field, text, fault)

    def _reconsider(self, fault: Fault, seen: SeenState) -> Fault:
        """Believe a state again when enough in a row agree."""
        needed = self._states_to_return(fault.kind, seen.time)
        before = self._candidate
        agrees = before is None or (self._advances(before, seen) and not self._jump(before, seen))
        self._agreeing = self._agreeing + 1 if agrees else 1
        self._candidate = seen
        if self._agreeing < needed:
            raise StateRefused(
                'header.stamp' if fault.kind is not FaultKind.JUMPED else 'position',
                f'after {fault}: waiting for {needed} states in a row that agree',
            )
        self._believe(seen)
        return fault

    def _states_to_return(self, kind: FaultKind, now: float) -> int:
        """Return how many states in a row must agree after a fault, the last one at a time [s]."""
        last, bounds = self.last, GUARD_LIMITS
        if kind is FaultKind.JUMPED:
            return bounds.states_after_jump
        is_set_back = last is not None and now <= last.time
        if kind is FaultKind.GAP or (kind is FaultKind.STOPPED and not is_set_back):
            return bounds.states_after_silence
        return bounds.states_to_return

    def _advances(self, before: SeenState, after: SeenState) -> bool:
        """Whether the stamps go on with the messages."""
        elapsed = max(after.arrival - before.arrival, 0.0)
        return after.time - before.time > GUARD_LIMITS.slowest_clock * elapsed

    def _jump(self, before: SeenState, after: SeenState) -> str:
        """Return which joint moved farther than it can, in words; '' when none did."""
        if self._velocities is None:
            return ''
        elapsed, slack = after.time - before.time, GUARD_LIMITS.position_slack
        # A loop over numbers: for a few joints, and a processor that was elsewhere meanwhile, it
        # takes half as long as NumPy.
        for index, (here, there, velocity) in enumerate(
            zip(after.places, before.places, self._velocities, strict=True)
        ):
            if velocity == inf:
                continue
            distance = here - there
            if self._turns and index in self._turns:
                distance = remainder(distance, TURN)
            bound = velocity * elapsed + slack
            if not -bound <= distance <= bound:
                if before.velocity is not None and after.velocity is not None:
                    said = 0.5 * elapsed * float(before.velocity[index] + after.velocity[index])
                    if abs(distance - said) <= slack + GUARD_LIMITS.velocity_slack * abs(said):
                        continue
                return (
                    f'joint {self._names[index]!r}: moved by {distance:.3g} in {elapsed:.3g} s; '
                    f'expected at most {bound:.3g}'
                )
        return ''
