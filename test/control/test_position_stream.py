"""Streams of positions in chunks of two points and of one: smooth, near the true efforts, safe."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from motion_loop import node_controller
from streamed_motion import RATE, TrueMotion

from ne_dynamics.control.desired.position_stream import (
    end_derivatives,
)
from ne_dynamics.motion.waypoints import DesiredState, TrajectoryPoint

PERIOD = 1.0 / RATE
STATE_PERIOD = 0.002
BEGIN = 10.0
"""Time of the first message by the clock of the states [s]."""

MOTION = TrueMotion()
SPEED = 0.7
SETTLED = 1.0
"""From then on the motion has its speed [s]."""


def true_position(time: float) -> np.ndarray:
    """Return where the sender has the motion, which sets out softly."""
    time = max(time, 0.0)
    soft = time**4 * (2.5 - 3.0 * time + time**2) if time < 1.0 else time - 0.5
    return MOTION(SPEED * soft).position


def true_states(times: np.ndarray) -> DesiredState:
    """Return the states of the sender's motion from `SETTLED` on."""
    rows = [MOTION(SPEED * (time - 0.5)) for time in times]
    position, velocity, acceleration = (np.array(values) for values in zip(*rows, strict=True))
    return DesiredState(position, SPEED * velocity, SPEED**2 * acceleration)


class Stream(NamedTuple):
    """How a motion is sent.

    Attributes
    ----------
    count, every : int
        Points of a message, and intervals between two messages.
    late, jitter : float
        Mean delay, and by how much it differs to either side [s].
    lost : tuple of int
        Messages that do not come.
    is_stamped : bool
    silent_from : float
        Nothing is sent from then on [s].
    """

    count: int
    every: int
    late: float = 0.0
    jitter: float = 0.0
    lost: tuple[int, ...] = ()
    is_stamped: bool = True
    silent_from: float = np.inf


class Followed(NamedTuple):
    """What was desired, a row a state, and which messages were refused."""

    times: np.ndarray
    states: DesiredState
    refused: list[str]

    def effort_error(self) -> float:
        """Return the largest RMS error of a joint's effort, relative to the true one."""
        settled = self.times >= SETTLED
        compute = MOTION.dynamics.inverse_dynamics
        wanted = compute(*true_states(self.times[settled]))
        got = compute(*(values[settled] for values in self.states))
        error = np.sqrt(((got - wanted) ** 2).mean(0)) / np.sqrt((wanted**2).mean(0))
        return float(error.max())


def follow(stream: Stream, *, seconds: float = 2.0, position=true_position, **changes) -> Followed:
    """Stream a motion to a controller as the node has it, of an arm that is where it should be."""
    controller = node_controller(MOTION.dynamics.robot)
    controller.adopt(replace(controller.tuning, **changes))
    rng = np.random.default_rng(1)
    messages = []
    until = min(seconds, stream.silent_from)
    for number in range(math.ceil(until * RATE / stream.every - 1e-9)):
        due = number * stream.every * PERIOD
        arrival = due + stream.late + rng.uniform(-stream.jitter, stream.jitter)
        steps = PERIOD * np.arange(1, stream.count + 1)
        points = [TrajectoryPoint(step, position(due + step)) for step in steps]
        if number not in stream.lost:
            messages.append((arrival, due, MOTION.waypoints(points)))
    times = np.arange(-0.1, seconds, STATE_PERIOD)
    rows, refused = [], []
    arm, speed = position(0.0), np.zeros(6)
    for now in times:
        while messages and now >= max(messages[0][0] - 1e-9, 0.0):
            _, due, waypoints = messages.pop(0)
            try:
                controller.motion.follow(waypoints, BEGIN + due if stream.is_stamped else None)
            except Exception as error:  # whatever it is, the stream goes on
                refused.append(str(error))
        command = controller.update(arm, speed, BEGIN + now)
        if command.refused is not None:
            refused.append(str(command.refused))
        arm, speed = command.desired.position, command.desired.velocity
        rows.append(command.desired)
    states = DesiredState(*(np.array(values) for values in zip(*rows, strict=True)))
    return Followed(times, states, refused)


def check_continuous(followed: Followed, jerk: float = 1000.0) -> None:
    """Check that nothing jumps once it has set out: each derivative is that of the one before."""
    states = DesiredState(*(values[followed.times >= SETTLED] for values in followed.states))
    for values, rates in pairwise(states):
        largest = 1.05 * np.abs(rates).max() * STATE_PERIOD + 1e-9
        assert np.abs(np.diff(values, axis=0)).max() <= largest
    assert np.abs(np.diff(states.acceleration, axis=0)).max() <= jerk * STATE_PERIOD


@pytest.mark.kept(2)
@pytest.mark.parametrize(
    ('count', 'every'), [(2, 2), (2, 1), (1, 1), (4, 4), (16, 8), (50, 25), (8, 1)]
)
@pytest.mark.parametrize('late', [0.0, 0.012])
def test_chunks_have_the_efforts_of_the_true_motion(count, every, late: float) -> None:
    """From 50 points down to one a message, 12 ms late: within 10 % RMS, and nothing jumps."""
    followed = follow(Stream(count, every, late))
    assert followed.refused == []
    assert followed.effort_error() <= 0.1
    check_continuous(followed)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('count', 'every'), [(2, 2), (2, 1), (1, 1)])
def test_arrival_matters_little_where_they_bear_none(count: int, every: int) -> None:
    """Unstamped messages at a regular pace are laid by it: within 20 %, not several times off."""
    followed = follow(
        Stream(count, every, late=0.006, jitter=0.005, is_stamped=False), seconds=3.0
    )
    assert followed.refused == []
    assert followed.effort_error() <= 0.2


@pytest.mark.kept(2)
@pytest.mark.parametrize(('count', 'number'), [(4, 10), (2, 20), (1, 40)])
def test_a_lost_chunk_is_bridged(count: int, number: int) -> None:
    """The motion goes on as it was until the next message: no stop, no jump, none is refused."""
    followed = follow(Stream(count, count, lost=(number,)))
    assert followed.refused == []
    true = true_states(followed.times)
    lost = np.abs(followed.times - number * count * PERIOD) < 0.2
    gone = np.abs(followed.states.velocity - true.velocity)[lost]
    # Of four points nobody has known anything for 0.13 s.
    assert gone.max() <= (0.2 if count == 4 else 0.05) * np.abs(true.velocity).max()
    assert followed.effort_error() <= (1.0 if count == 4 else 0.2)
    check_continuous(followed, jerk=4000.0 if count == 4 else 1000.0)


@pytest.mark.parametrize('count', [1, 2, 8])
def test_a_stream_that_ends_stops_at_its_last_point(count: int) -> None:
    """Behind it the arm is stopped, and returns; within the limits of velocity and effort."""
    silent = 1.5
    followed = follow(Stream(count, count, silent_from=silent), seconds=3.0)
    assert followed.refused == []
    sent = math.ceil(silent * RATE / count - 1e-9)
    last = true_position(sent * count * PERIOD)
    np.testing.assert_allclose(followed.states.position[-1], last, atol=1e-12)
    assert not followed.states.velocity[-1].any()
    robot = MOTION.dynamics.robot
    assert (np.abs(followed.states.velocity) <= 1.1 * robot.limits('velocity_limit')).all()
    efforts = MOTION.dynamics.inverse_dynamics(*followed.states)
    assert (np.abs(efforts) <= 1.01 * robot.limits('effort_limit')).all()
    # Stops have no more jerk than this: the usual deceleration, ten times the velocity limit.
    check_continuous(followed, jerk=6000.0)


@pytest.mark.parametrize('count', [1, 2])
def test_a_stream_that_ends_at_a_position_limit_does_not_go_beyond(count: int) -> None:
    """The nearer the limit the slower the last point is passed, down to a rest there."""
    robot = MOTION.dynamics.robot
    upper, speed = robot.limits('upper'), 0.2
    chosen = 2

    def towards_the_limit(time: float) -> np.ndarray:
        position = true_position(0.0).copy()
        gone = speed * (time - 0.5 * (1.0 - np.exp(-2.0 * time)))
        position[chosen] = upper[chosen] - 0.3 + gone
        return position

    gone = np.array([towards_the_limit(t)[chosen] for t in np.arange(0.0, 3.0, count * PERIOD)])
    silent = count * PERIOD * float(np.argmax(gone > upper[chosen] - 0.015)) - 1e-6
    followed = follow(
        Stream(count, count, silent_from=silent), seconds=4.0, position=towards_the_limit
    )
    assert followed.refused == []
    assert followed.states.position[-1, chosen] > upper[chosen] - 0.02
    assert followed.states.position[:, chosen].max() <= upper[chosen] + 1e-6


@pytest.mark.parametrize('count', [2, 3, 4])
def test_the_end_of_a_polynomial_is_known_from_its_points(count: int) -> None:
    """As many uneven points as it has coefficients give velocity and acceleration exactly."""
    rng = np.random.default_rng(count)
    times = 50.0 + np.cumsum(rng.uniform(0.01, 0.06, count))
    polynomials = [np.polynomial.Polynomial(rng.normal(size=count)) for _ in range(3)]
    local = times - times[0]
    positions = np.array([[p(t) for p in polynomials] for t in local])
    velocity, acceleration = end_derivatives(times, positions)
    end = local[-1]
    np.testing.assert_allclose(velocity, [p.deriv(1)(end) for p in polynomials], rtol=1e-7)
    if count > 2:
        expected = [p.deriv(2)(end) for p in polynomials]
        np.testing.assert_allclose(acceleration, expected, rtol=1e-6)
    else:
        np.testing.assert_array_equal(acceleration, 0.0)


def test_streams_may_be_switched_off() -> None:
    """With an interval of 0 each message ends at rest, as it would alone."""
    followed = follow(Stream(2, 2), seconds=1.5, longest_interval=0.0)
    alone = follow(Stream(2, 2), seconds=1.5)
    moving = followed.times > 0.8
    slowest = [np.abs(one.states.velocity[moving]).max(1).min() for one in (followed, alone)]
    assert slowest[0] < 0.1 * slowest[1]
