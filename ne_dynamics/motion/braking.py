"""How an arm is brought to rest whose states have stopped. No ROS, no clock.

Nothing is measured any more, so all of it is the model's: where the arm is by now, under the last
command that the motors keep, and the efforts of a stop from there; see
:mod:`ne_dynamics.motion.stopping`. What the model does not know is seen in the last states: the
effort that was commanded less the effort that the model has for the acceleration that came of it,
such as an unknown load or friction. It is taken to stay as it is until the arm stands.

An open loop only goes on for so long: what is predicted of an arm without friction diverges, and
the arm with it. The gravity command for the predicted end is to follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.stopping import stop
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState

ModelEfforts = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]
"""Efforts of the model for positions, velocities, accelerations, and velocities for which friction
counts, all of shape (N, n) [N m or N]."""


PREDICTION_STEP = 0.005
"""Step in which the motion without states is predicted [s]."""

PARABOLA_END, LINE_END = 192.0**0.5, 2.0
"""Of many states: standard errors of the slope at the end of a parabola, by the noise of one state
and the time, and of the end of a line, by its noise; both by the root of their number."""


class _Answered(NamedTuple):
    """A state and the command that answered it."""

    time: float
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


class AnsweredStates:
    """The last states and what was commanded in them.

    Of those with one stamp the first is kept beside the last: nothing is known of the time between
    them. Those with a later stamp than the one that follows were ahead of their time, and are
    forgotten.
    """

    def __init__(self) -> None:
        self._states: deque[_Answered] = deque(maxlen=MOTION.observed_states)
        self._last: _Answered | None = None

    def clear(self) -> None:
        """Forget them."""
        self._states.clear()
        self._last = None

    def append(
        self, time: float, position: FloatArray, velocity: FloatArray, effort: FloatArray
    ) -> None:
        """Take note of a state at a time [s].

        Position, velocity, effort have shape (n,) [rad or m, rad/s or m/s, N m or N].
        """
        states = self._states
        self._last = _Answered(time, position, velocity, effort)
        while states and states[-1].time > time:
            states.pop()
        if not states or states[-1].time < time:
            states.append(self._last)

    def __len__(self) -> int:
        """How many states there are, each with a stamp of its own."""
        return len(self._states)

    def rows(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the states in the order of their stamps.

        Returns
        -------
        times : array, shape (m,)
            [s]
        positions, velocities, efforts : array, shape (m, n)
            [rad or m, rad/s or m/s, N m or N]
        """
        times, positions, velocities, efforts = (
            np.array(each) for each in zip(*self._states, strict=True)
        )
        return times, positions, velocities, efforts

    @property
    def last(self) -> _Answered | None:
        """The last one; None when there are too few to go by."""
        return self._last if len(self._states) >= MOTION.fewest_states else None

    def observe_motion(self, compute_efforts: ModelEfforts) -> tuple[FloatArray, FloatArray]:
        """Return the velocity of the last state, and what the model does not account for.

        Each joint is taken to accelerate evenly of late. By how much, and its velocity, is that
        of the parabola through its positions or of the line through its velocities, whichever
        its states leave less in doubt: a driver may difference coarse encoders, or measure
        velocities beside them. The last velocity counts where its stamp says nothing, and where
        too few states came within `observed_time`; of those nothing else is learned.

        Returns
        -------
        velocity : array, shape (n,)
            [rad/s or m/s]
        unknown : array, shape (n,)
            Mean effort beside that of the model [N m or N].
        """
        last = self._states[-1] if self._last is None else self._last
        time, position, velocity, effort = self.rows()
        recent = time >= time[-1] - MOTION.observed_time
        if np.count_nonzero(recent) < MOTION.fewest_states:
            return last.velocity, np.zeros_like(last.velocity)
        time, position, velocity, effort = (
            rows[recent] for rows in (time - time[-1], position, velocity, effort)
        )
        # Joints that turn over are shown within one turn.
        way = np.unwrap(position - position[-1], axis=0)
        parabola, line = np.polyfit(time, way, 2), np.polyfit(time, velocity, 1)
        slope = np.array([2.0 * parabola[0], parabola[1]])
        noise = np.linalg.norm(way - np.vander(time, 3) @ parabola, axis=0)
        said_noise = np.linalg.norm(velocity - np.vander(time, 2) @ line, axis=0)
        # What noise makes of the slope at the end of a parabola, and of the end of a line.
        is_said_better = PARABOLA_END * noise > -time[0] * LINE_END * said_noise
        acceleration, speed = np.where(is_said_better, line, slope)
        velocity = speed + time[:, np.newaxis] * acceleration
        accelerations = np.broadcast_to(acceleration, velocity.shape)
        known = compute_efforts(position, velocity, accelerations, velocity)
        unknown: FloatArray = np.mean(effort - known, axis=0)
        return speed if last is self._states[-1] else last.velocity, unknown


class Brake(NamedTuple):
    """How an arm is brought to rest.

    Attributes
    ----------
    efforts : array, shape (m, n)
        Commands, a period apart, not limited [N m or N]. The first is for a period from now.
    end : array, shape (n,)
        Where the arm then is [rad or m].
    """

    efforts: FloatArray
    end: FloatArray


def plan_brake(
    states: AnsweredStates,
    compute_efforts: ModelEfforts,
    limits: DemandLimits,
    *,
    silent_for: float,
    period: float,
    rates: FloatArray | None = None,
) -> Brake | None:
    """Return how an arm is brought to rest from where it should be by now.

    Parameters
    ----------
    states : AnsweredStates
    compute_efforts : callable
    limits : DemandLimits
    silent_for : float
        Time since the last state, in which the motors went on with its command [s].
    period : float
        Time between two commands [s].
    rates : array, shape (n,), optional
        Largest rates of the commands, infinite for none [N m/s or N/s]: a stop that would ask for
        more is slower, as far as `longest_brake` allows.

    Returns
    -------
    Brake or None
        None when there are too few states, they are too old, the arm is at rest, or it should by
        now be faster than it can be.

    Raises
    ------
    InputError
        When the efforts of the model are not finite.
    """
    last = states.last
    if last is None or not 0.0 <= silent_for <= MOTION.longest_silence:
        return None
    try:
        velocity, unknown = states.observe_motion(compute_efforts)
        state = predict(
            last.position, velocity, last.effort - unknown, compute_efforts, silent_for
        )
    except np.linalg.LinAlgError:
        return None
    if not (np.abs(state.velocity) <= MOTION.largest_speed * limits.usual).all():
        return None
    for _ in range(5):
        way = stop(
            state,
            limits,
            lambda q, qd, qdd: compute_efforts(q, qd, qdd, qd) + unknown,
            now=0.0,
            longest=MOTION.longest_brake,
        )
        count = round(way.end_time / period)
        if count == 0:
            return None
        motion = way.sample_many(period * np.arange(1, count + 1))
        efforts = compute_efforts(*motion, motion[1]) + unknown
        steps = np.abs(np.diff(efforts, axis=0, prepend=last.effort[np.newaxis]))
        if rates is None or (steps <= rates * period).all():
            break
        slower = MOTION.brake_slowing * limits.decelerations_from(state.velocity)
        limits = replace(limits, stop_deceleration=slower)
    return Brake(efforts, way.final.position)


def predict(
    position: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    compute_efforts: ModelEfforts,
    duration: float,
) -> DesiredState:
    """Return where an effort that stays takes the model of an arm.

    Parameters
    ----------
    position, velocity, effort : array, shape (n,)
        [rad or m, rad/s or m/s, N m or N]
    compute_efforts : callable
    duration : float
        [s]

    Returns
    -------
    DesiredState
        The acceleration is that of the end.

    Raises
    ------
    numpy.linalg.LinAlgError
        When a joint moves no mass.
    InputError
        When the efforts of the model are not finite.

    Notes
    -----
    Midpoint rule; friction takes no joint past rest, whatever the step.
    """
    steps = max(1, round(duration / PREDICTION_STEP))
    step = duration / steps
    for _ in range(steps):
        half = _velocity_after(position, velocity, velocity, effort, compute_efforts, step / 2.0)
        middle = position + step / 2.0 * velocity
        later = _velocity_after(middle, half, velocity, effort, compute_efforts, step)
        position = position + step / 2.0 * (velocity + later)
        velocity = later
    ahead = _velocity_after(
        position, velocity, velocity, effort, compute_efforts, PREDICTION_STEP / 2.0
    )
    return DesiredState(position, velocity, 2.0 * (ahead - velocity) / PREDICTION_STEP)


def _velocity_after(
    position: FloatArray,
    velocity: FloatArray,
    begin: FloatArray,
    effort: FloatArray,
    compute_efforts: ModelEfforts,
    step: float,
) -> FloatArray:
    """Return `begin` after a step with the acceleration at a position and a velocity.

    A joint that friction would turn round stands.
    """
    n = velocity.size
    # The effort without acceleration, then with that of one joint after the other.
    accelerations = np.concatenate((np.zeros((1, n)), np.eye(n)))
    positions, velocities = np.tile(position, (n + 1, 1)), np.tile(velocity, (n + 1, 1))
    rows = compute_efforts(positions, velocities, accelerations, np.zeros((n + 1, n)))
    bias, mass_matrix = rows[0], (rows[1:] - rows[0]).T
    free = begin + step * np.linalg.solve(mass_matrix, effort - bias)
    # Friction is against the motion, or against the one that there would be without it.
    direction = np.where(velocity == 0.0, free, velocity)
    still = accelerations[:1]
    resisted = compute_efforts(positions[:1], velocities[:1], still, direction[np.newaxis])[0]
    impulse = step * (effort - resisted)
    after, stands = begin, np.zeros(n, dtype=bool)
    for _ in range(n + 1):
        after, moves = np.zeros(n), ~stands
        # What stands loses its velocity at once, and the others feel it.
        felt = mass_matrix[np.ix_(moves, stands)] @ begin[stands]
        within = mass_matrix[np.ix_(moves, moves)]
        after[moves] = begin[moves] + np.linalg.solve(within, impulse[moves] + felt)
        turned = after * direction < 0.0
        if not turned.any():
            break
        stands |= turned
    return after
