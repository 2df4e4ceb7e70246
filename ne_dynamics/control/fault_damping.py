"""How an arm is carried after a fault that latches, while its joint states still come. No ROS.

A constant effort in a gravity field is unstable: an arm that is left with its last command falls,
faster and faster. So every state is answered by the inverse dynamics of a motion that slows down,

    tau = M(q) (-k qd) + C(q, qd) qd + g(q),

by which the velocity of each joint decays at the rate k, whatever the others do. All of it but
gravity is less where the effort of a joint would be beyond its limit: the others would be thrown
by what that joint lacks. Far beyond the velocity limits C is left out: limited efforts could not
follow it. No position is held: where gravity in the model is wrong by dg, a joint drifts at
M^-1 dg / k; see :func:`find_damping_rate`.

**Velocities** are computed from the positions, by an alpha-beta filter. The velocities that the
driver reports may be the reason for the fault: they count at its beginning, where they are those
of the positions.

**A jump** of a position is taken out of it, then and from there on. Up to `places` jumps of the
last `trust_time` are known: each position is taken less the one that brings it nearest to where
the joint is expected. So an encoder that goes to and fro tells of one motion, and so do two
publishers of joint states in turns. Of those, a position that is the same as before does not count
while the other one tells of motion. A joint that jumps to a new place in several states in a row
is not believed any more, until its position has gone on without a jump for that time.

**A joint that is not believed**, as one with a frozen encoder, is where the model predicts it,
from its last believed state on and with the efforts that were sent; see
:func:`ne_dynamics.motion.braking.predict`. After `longest_prediction` it counts as standing at the
end of the prediction. Words such as these are fields of :class:`~.thresholds.DampingThresholds`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.sensors.velocity_source import PositionVelocity, VelocitySource
from ne_dynamics.control.thresholds import DAMPING
from ne_dynamics.control.transition import CommandOffset
from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.braking import AnsweredStates, ModelEfforts, predict
from ne_dynamics.motion.joint_limits import usual_velocities
from ne_dynamics.motion.waypoints import continuous_joints, wrap_turns


def find_damping_rate(joints: Sequence[Joint], fall: FloatArray, period: float) -> float:
    """Return the rate at which velocities decay [1/s].

    It is higher where joints are light or slow: what the model lacks of gravity would let them
    drift too fast.

    Parameters
    ----------
    joints : sequence of Joint
    fall : array, shape (n,)
        Acceleration by gravity alone, M^-1 g [rad/s^2 or m/s^2].
    period : float
        Mean time between two states [s]; 0 where it is not known.
    """
    error = DAMPING.model_error * np.abs(fall)
    needed = float((error / (DAMPING.drift * usual_velocities(joints))).max())
    rate = min(max(DAMPING.rate, needed), DAMPING.largest_rate)
    return min(rate, DAMPING.largest_product / period) if period > 0.0 else rate


class FaultDamping:
    """The states that damping acts on, from a fault on.

    Parameters
    ----------
    joints : sequence of Joint
    compute_efforts : callable
        Efforts of the model with friction, as :func:`ne_dynamics.motion.braking.predict` takes
        them.
    jump_speeds : array, shape (n,), or None
        A joint that moves faster between two states has jumped [rad/s or m/s]; None for no limit.
    position : array, shape (n,)
        Measured in the state that has shown the fault [rad or m].
    states : AnsweredStates
        The last states before the fault, with their commands.
    disbelieved : collection of int
        Joints whose measurements do not count.
    rate : float
        At which velocities decay [1/s]; see :func:`find_damping_rate`.

    Attributes
    ----------
    position, velocity : array, shape (n,)
        Measured where the joint is believed, else predicted [rad or m, rad/s or m/s].
    believed : array, shape (n,), dtype bool
    offset : CommandOffset
        The difference from the command before, which fades.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        compute_efforts: ModelEfforts,
        jump_speeds: FloatArray | None,
        position: FloatArray,
        states: AnsweredStates,
        disbelieved: Collection[int],
        rate: float,
    ) -> None:
        self._rate = rate
        self._fade_left = DAMPING.longest_fade
        n = len(joints)
        self._joints = joints
        self.offset = CommandOffset(DAMPING.fade_time)
        self._continuous = continuous_joints(joints)
        self._compute_efforts = compute_efforts
        self._usual_speeds = usual_velocities(joints)
        self._jump_speeds = np.inf if jump_speeds is None else jump_speeds
        self._time = 0.0
        self.position = position
        self._begin_places(position)
        self.velocity = np.zeros(n)
        self.believed: NDArray[np.bool_] = np.ones(n, dtype=bool)
        self.believed[list(disbelieved)] = False
        self._balanced: FloatArray | None = None
        self._standing_from = np.full(n, DAMPING.longest_prediction)
        if len(states) > 1:
            self._look_back(states)
        self._filter = PositionVelocity(
            joints, VelocitySource.ESTIMATED, DAMPING.cutoff_frequency, self.velocity
        )
        self._filter.update(self.position, 0.0)

    def _begin_places(self, position: FloatArray) -> None:
        """Let each joint be shown where it is, and none have jumped."""
        n = position.size
        self._measured = self._place = position
        self._jumps = np.zeros(n, dtype=int)
        self._lost: NDArray[np.bool_] = np.zeros(n, dtype=bool)
        self._rate_before = np.zeros(n)
        self._even_from, self._even_states = np.zeros(n), np.zeros(n, dtype=int)
        self._even_place = np.zeros(n)
        # Of the places of each joint: the jump, the last position there and its time.
        places = DAMPING.places, n
        self._shifts, self._said = np.zeros(places), np.full(places, np.nan)
        self._used = np.full(places, -np.inf)
        self._used[0], self._said[0] = 0.0, position
        self._moved_since: NDArray[np.bool_] = np.zeros(places, dtype=bool)

    def _look_back(self, states: AnsweredStates) -> None:
        """Find motion and balance at the fault by the states before it."""
        times, positions, velocities, efforts = states.rows()
        if not self.believed.all():
            self._predict_present(times, positions, efforts)
        self._balanced = self._find_balanced(times, positions, efforts)
        measured = self._first_velocity(times, positions, velocities)
        self.velocity = np.where(self.believed, measured, self.velocity)

    def step(self, position: FloatArray, elapsed: float, effort: FloatArray) -> None:
        """Take a state; nothing changes where the time since the one before is not above 0 [s].

        The position is the measured one, the effort what was sent in that time, both (n,)
        [rad or m, N m or N].
        """
        if not elapsed > 0.0:
            return
        self._time += elapsed
        where = self._without_jumps(position, elapsed)
        if self._lost.any():
            self._trust_again(where)
        speed = self.velocity
        if not self.believed.all():
            where, speed = self._predict(where, elapsed, effort)
        filtered = self._filter.update(where, self._time)
        self.position = where
        self.velocity = np.where(self.believed, filtered, speed)

    def compute_effort(
        self,
        compensation: Compensation,
        limits: FloatArray,
        wrench: FloatArray | None = None,
        base: Base | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return what carries the arm at rest, and that with what slows it down, within limits.

        `limits` of the efforts have shape (n,) [N m or N]; wrench and base are as
        :meth:`Compensation.effort` takes them.

        Raises
        ------
        InputError
            When the effort is not finite.
        """
        still = np.zeros_like(self.position)
        excess = float(self._speeds.max())
        counted = min(max(2.0 - excess / DAMPING.coriolis_speed, 0.0), 1.0)
        speed, slowing = counted * self.velocity, -self._rate * self.velocity
        held = compensation.effort(self.position, still, still, still, wrench, base)
        effort = compensation.effort(self.position, speed, slowing, still, wrench, base)
        change = effort - held
        room = np.where(change > 0.0, limits - held, limits + held)
        is_short = (np.abs(change) > room) & (room > 0.0)
        if is_short.any():
            change = float((room[is_short] / np.abs(change[is_short])).min()) * change
        return held, np.clip(held + change, -limits, limits)

    def go_on_from(self, last: FloatArray, held: FloatArray) -> None:
        """Let the command go on from one before, at the joints that are at rest.

        Of the difference from what carries the arm, `held`, shape (n,) [N m or N], counts what
        friction or a contact has balanced so far: the rest has moved the arm, or goes with what
        brakes the other joints now.
        """
        self._fade_left = DAMPING.longest_fade
        difference = last - held
        if self._balanced is not None:
            lower, upper = np.minimum(difference, 0.0), np.maximum(difference, 0.0)
            difference = np.clip(self._balanced, lower, upper)
            self._balanced = None
        self.offset.change(np.where(self._moves, 0.0, difference))

    def fade(self, elapsed: float) -> FloatArray | None:
        """Return what is left of the difference from the command before, shape (n,) [N m or N].

        None when nothing is left. It ends at once for a joint that it drives on too fast, and
        waits while it lets a joint go too fast. `elapsed`: time since the state before [s].
        """
        offset = self.offset
        self._fade_left -= elapsed
        before = offset.value
        offset.decay(elapsed)
        if offset.value is not None and before is not None:
            is_fast, along = self._speeds > DAMPING.release_speed, before * self.velocity
            if self._fade_left > 0.0:
                offset.restore(is_fast & (along < 0.0), before)
            offset.drop(is_fast & (along > 0.0))
        return offset.value

    @property
    def _speeds(self) -> FloatArray:
        """Absolute velocities by the velocity limits, shape (n,)."""
        return np.abs(self.velocity) / self._usual_speeds

    @property
    def _moves(self) -> NDArray[np.bool_]:
        return np.abs(self.velocity) > DAMPING.rest_speed

    def _turned(self, change: FloatArray) -> FloatArray:
        return wrap_turns(change, self._continuous)

    def _without_jumps(self, position: FloatArray, elapsed: float) -> FloatArray:
        """Return a measured position less the jump to the place at which the joint is shown."""
        moved = self._turned(position - self._measured)
        # Of a joint that is lost the velocity is not known: it goes on as it did.
        rate = np.where(self._lost, self._rate_before, self.velocity)
        self._measured, self._rate_before = position, moved / elapsed
        expected = self._place + elapsed * rate
        surprises = self._turned(position - self._shifts - expected)
        # An old jump does not count: a thrown joint jumps here and there.
        is_old = self._used < self._time - DAMPING.trust_time
        surprises[is_old & (self._used < self._used.max(axis=0))] = np.inf
        slot = np.abs(surprises).argmin(axis=0), np.arange(position.size)
        surprise = surprises[slot]
        leapt = np.abs(surprise) > self._jump_speeds * elapsed + GUARD_LIMITS.position_slack
        # Another publisher says another position of every joint, here and there a near one. An arm
        # that is thrown surprises by itself.
        is_other = leapt.any() and self._speeds.max() < 1.0
        jumped = leapt | (is_other & (np.abs(surprise) > DAMPING.switch_distance))
        slot = np.where(jumped, self._used.argmin(axis=0), slot[0]), slot[1]
        # Of two publishers, one may repeat itself while the other tells of motion.
        stays = ~jumped & (position == self._said[slot])
        is_stale = stays & self._moved_since[slot]
        self._moved_since |= ~jumped & ~stays
        self._moved_since[slot] = False
        self._used[slot], self._said[slot] = self._time, position
        # Where the joint is shown still while it moves, its place there goes with it.
        is_led = jumped | is_stale
        self._shifts[slot] = np.where(is_led, position - expected, self._shifts[slot])
        self._place = np.where(is_led, expected, position - self._shifts[slot])
        self._jumps = np.where(leapt, self._jumps + 1, 0)
        lost = self.believed & (self._jumps > DAMPING.most_jumps)
        if lost.any():
            self.believed = self.believed & ~lost
            self._standing_from[lost] = self._time + DAMPING.longest_prediction
            self._lost = self._lost | lost
        begins = self._lost & (jumped | lost)
        self._even_from[begins], self._even_place[begins] = self._time, self._place[begins]
        self._even_states = np.where(begins, 0, self._even_states + 1)
        return self._place

    def _trust_again(self, place: FloatArray) -> None:
        """Believe joints again whose positions have gone on evenly; places are less the jumps."""
        since = self._time - self._even_from
        again = self._lost & (since >= DAMPING.trust_time)
        again &= self._even_states >= DAMPING.trust_states
        if not again.any():
            return
        self._lost = self._lost & ~again
        self.believed = self.believed | again
        moved = self._turned(place - self._even_place)
        self.velocity = np.where(again, moved / np.where(again, since, 1.0), self.velocity)
        self.position = np.where(again, place, self.position)
        self._filter = PositionVelocity(
            self._joints, VelocitySource.ESTIMATED, DAMPING.cutoff_frequency, self.velocity
        )
        self._filter.update(self.position, self._time)

    def _predict(
        self, position: FloatArray, elapsed: float, effort: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return positions and velocities of which those that are not believed are predicted."""
        moving = ~self.believed & (self._time < self._standing_from)
        speed = np.where(self.believed, self.velocity, 0.0)
        where = np.where(self.believed, position, self.position)
        if not moving.any() or elapsed > DAMPING.longest_prediction:
            return where, speed
        try:
            ahead = predict(self.position, self.velocity, effort, self._compute_efforts, elapsed)
        except (InputError, np.linalg.LinAlgError):
            return where, speed
        return (np.where(moving, ahead.position, where), np.where(moving, ahead.velocity, speed))

    def _predict_present(
        self, times: FloatArray, positions: FloatArray, efforts: FloatArray
    ) -> None:
        """Find where joints that are not believed are by now, by the m states before the fault.

        Times have shape (m,) [s], positions and efforts (m, n) [rad or m, N m or N].
        """
        count = len(times)
        away = np.abs(self._turned(positions - positions[-1])) > DAMPING.still_distance
        # The first state from which on each position has stayed the same.
        same_from = np.where(away.any(axis=0), count - np.argmax(away[::-1], axis=0), 0)
        still = times[-1] - times[np.minimum(same_from, count - 1)]
        speed = self._mean_velocity(times, positions, same_from)
        stopped = still >= DAMPING.together * still[~self.believed].min()
        stopped &= np.abs(speed) * still > DAMPING.sudden_stop * DAMPING.still_distance
        self.believed = self.believed & ~stopped
        # Of several frozen encoders, that of the fastest joint says when.
        begin = int(min(same_from[~self.believed].max(), count - 2))
        self.velocity = self._mean_velocity(times, positions, begin)
        self.position = positions[begin]
        self._standing_from -= times[-1] - times[begin]
        marks = np.linspace(begin, count - 1, 9).astype(int)
        for first, last in pairwise(marks):
            if first == last:
                continue
            self._time, before = times[first] - times[-1], self.position
            elapsed, effort = times[last] - times[first], efforts[first:last].mean(axis=0)
            self.position, predicted = self._predict(positions[last], elapsed, effort)
            measured = self._turned(self.position - before) / elapsed
            self.velocity = np.where(self.believed, measured, predicted)
        self._time = 0.0

    def _find_balanced(
        self, times: FloatArray, positions: FloatArray, efforts: FloatArray
    ) -> FloatArray | None:
        """Return the efforts that the motion does not account for, shape (n,) [N m or N].

        None where there are too few states to tell.
        """
        recent = times >= times[-1] - DAMPING.balance_time - 1e-9
        if recent.sum() < 5:
            return None
        time = times[recent] - times[recent].mean()
        way = self._turned(positions[recent] - positions[-1])
        half_acceleration, speed, place = np.polyfit(time, way, 2)
        still = np.zeros_like(speed)
        try:
            motion = self._compute_efforts(
                (positions[-1] + place)[np.newaxis],
                speed[np.newaxis],
                2.0 * half_acceleration[np.newaxis],
                still[np.newaxis],
            )[0]
        except InputError:
            return None
        found: FloatArray = efforts[recent].mean(axis=0) - motion
        return found

    def _first_velocity(
        self, times: FloatArray, positions: FloatArray, velocities: FloatArray
    ) -> FloatArray:
        """Return the velocity at the fault: the reported one where it is that of the positions."""
        moved = self._turned(np.diff(positions, axis=0))
        said = 0.5 * np.diff(times)[:, np.newaxis] * (velocities[1:] + velocities[:-1])
        wrong = np.abs(moved - said).sum(axis=0)
        agrees = wrong <= DAMPING.velocity_share * np.abs(moved).sum(axis=0)
        latest = slice(-DAMPING.latest_states, None)
        times, positions = times[latest], positions[latest]
        measured = self._mean_velocity(times, positions, len(times) - 1)
        moved, elapsed = moved[latest][1 - len(times) :], np.diff(times)[:, np.newaxis]
        jumps = np.abs(moved) > self._jump_speeds * elapsed
        turns = jumps[1:] & jumps[:-1] & (moved[1:] * moved[:-1] < 0.0)
        # A single position that is wrong, or a joint that shakes, turns once.
        alternates = (turns[1:] & turns[:-1]).any(axis=0)
        if alternates.any():
            # As those of two publishers in turns: the means of each two say how both move.
            means = positions[:-1] + 0.5 * moved
            between = 0.5 * (times[1:] + times[:-1])
            measured = np.where(
                alternates, self._mean_velocity(between, means, len(between) - 1), measured
            )
            agrees &= ~alternates
        return np.where(agrees, velocities[-1], measured)

    def _mean_velocity(
        self, times: FloatArray, positions: FloatArray, last: int | NDArray[np.intp]
    ) -> FloatArray:
        """Return the mean velocity of the positions up to a state, or to one each, shape (n,)."""
        joints = np.arange(positions.shape[1])
        last = np.broadcast_to(last, joints.shape)
        first = np.searchsorted(times, times[last] - DAMPING.velocity_time - 1e-9)
        first = np.minimum(first, np.maximum(last - 1, 0))
        moved = self._turned(positions[last, joints] - positions[first, joints])
        return np.divide(moved, times[last] - times[first], np.zeros_like(moved), where=last > 0)
