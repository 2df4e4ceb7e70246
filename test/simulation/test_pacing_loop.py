"""Motions that the motors are too weak for go slower on their path: in closed loop with MuJoCo.

Random motions, and what comes on the way of one with a pace of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import PERIOD, SETTLE, HeldArmLoop, shipped_arm

from ne_dynamics import Dynamics
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import DesiredState, TrajectoryPoint, Waypoints, resting_state
from ne_dynamics.simulation.demo.path_distance import SampledPath

MODEL = shipped_arm()
DYNAMICS = Dynamics(MODEL, backend='python')
START = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])
REACH = np.array([1.0, 0.5, 0.7, 1.0, 1.0, 1.0])
"""Largest way of a joint from point to point [rad]."""

UNWATCHED = {
    'computed_torque.kp': (400.0,),
    'computed_torque.kv': (40.0,),
    'following_error.position': (0.0,),
    'following_error.velocity': (0.0,),
    'saturation.timeout': 0.0,
}


class Task(NamedTuple):
    """A motion, and motors that are too weak for it."""

    waypoints: Waypoints
    interpolation: Interpolation
    path: SampledPath
    duration: float
    limits: np.ndarray


def random_points(kind, rng):
    """Return random points whose segments are of a kind."""
    count = int(rng.integers(2, 6))
    times = np.cumsum(rng.uniform(0.4, 0.8, count))
    positions = START + np.cumsum(rng.uniform(-1.0, 1.0, (count, 6)) * REACH, axis=0)
    velocities, accelerations = rng.uniform(-1.0, 1.0, (2, count, 6)) * [[[1.0]], [[4.0]]]
    velocities[-1] = accelerations[-1] = 0.0
    fields = {'quintic': 2, 'cubic': 1}.get(kind, 0)
    motion = zip(velocities, accelerations, strict=True)
    return [
        TrajectoryPoint(float(time), position, *some[:fields])
        for time, position, some in zip(times, positions, motion, strict=True)
    ]


def path_through(points, interpolation):
    """Return waypoints, and the motion through them from the start at rest."""
    waypoints = Waypoints.from_points(MODEL.joints, MODEL.joint_names, points)
    start = resting_state(START)
    trajectory = Motion.through(waypoints, now=0.0, start_state=start, interpolation=interpolation)
    return waypoints, trajectory


def make_task(kind, seed):
    """Return a random motion of a kind, and motors that lack up to half of what it takes."""
    rng = np.random.default_rng(seed)
    interpolation = Interpolation.LINEAR if kind == 'linear' else Interpolation.SPLINES
    points = random_points(kind, rng)
    waypoints, trajectory = path_through(points, interpolation)
    if kind == 'planner':
        times = np.linspace(0.0, trajectory.end_time, 301)[1:]
        motion = [trajectory.sample(time) for time in times.tolist()]
        points = [
            TrajectoryPoint(*row)
            for row in zip(times.tolist(), *zip(*motion, strict=True), strict=True)
        ]
        points[-1] = points[-1]._replace(velocities=np.zeros(6), accelerations=np.zeros(6))
        waypoints, trajectory = path_through(points, interpolation)
    duration = trajectory.end_time
    motion = [trajectory.sample(time) for time in np.linspace(0.0, duration, 1000).tolist()]
    columns = [np.array(column) for column in zip(*motion, strict=True)]
    if kind == 'linear':
        # Lines ask for none; these motors come to their speed in half a second.
        columns[2] = 2.0 * columns[1]
    asked = np.abs(DYNAMICS.inverse_dynamics(*columns)).max(axis=0)
    held = np.abs(DYNAMICS.gravity_torque(columns[0])).max(axis=0)
    limits = np.maximum(asked / rng.uniform(1.1, 2.0, 6), 1.1 * held + 0.05 * asked)
    path = SampledPath.of(trajectory.sample, 0.0, duration, 2e-4)
    return Task(waypoints, interpolation, path, duration, limits)


class PacedLoop(HeldArmLoop):
    """The shipped arm at rest at the begin of a task, and a controller that slows down."""

    def __init__(self, task, limits=None, *, when_infeasible='slow_down', **changes) -> None:
        limits = task.limits if limits is None else limits
        self.task, self.limits = task, limits
        self.speeds: list[float] = []
        self.desired: list[DesiredState] = []
        parameters = {
            **UNWATCHED,
            'trajectory.when_infeasible': when_infeasible,
            'interpolation_method': task.interpolation.value,
            'effort_limits': tuple(limits),
            **changes,
        }
        super().__init__(MODEL, START, parameters, effort_limits=limits)
        self.run(SETTLE)

    def step(self):
        answer = super().step()
        self.speeds.append(self.controller.motion.speed)
        self.desired.append(self.law.command.desired)
        return answer

    def off_path(self, found):
        """Return how far the arm is off its path, in each row [rad]."""
        return self.task.path.distances(found.position)

    def longest_saturation(self, found):
        """Return how long a motor was at its limit at once [s]."""
        is_limited = (np.abs(found.command) >= (1.0 - 1e-9) * self.limits).any(axis=1)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], is_limited.astype(int), [0]))))
        return PERIOD * (edges[1::2] - edges[::2]).max(initial=0)


# ---- motors that are too weak


HARDEST = (0, 1, 3, 8, 15, 19)
"""Those that were hardest among the first twenty."""
STRONG = np.full(6, 1e4)
NEAR = 2e-3
"""What an arm may be off its path beside what sampling costs [rad]."""

CUBIC_NEAR = 5e-3
"""The same where accelerations make steps, as cubic segments have them at their points [rad]."""


def nominal(task):
    """Return how far strong motors get off the path, due to states that come now and then."""
    loop = PacedLoop(task, STRONG, when_infeasible='follow')
    loop.controller.motion.follow(task.waypoints)
    return loop.off_path(loop.run(task.duration + 0.3)).max()


@pytest.mark.kept(1)
@pytest.mark.parametrize('kind', ['quintic', 'cubic', 'splines', 'planner', 'linear'])
@pytest.mark.parametrize('seed', HARDEST)
def test_weak_motors_cost_time_and_no_path(seed, kind) -> None:
    task = make_task(kind, seed)
    loop = PacedLoop(task)
    planned = loop.controller.motion.follow(task.waypoints).duration or task.duration
    found = loop.run(1.5 * planned + 0.5)
    off = loop.off_path(found).max()
    near = CUBIC_NEAR if kind == 'cubic' else NEAR
    assert off <= near or off <= near + nominal(task)
    assert loop.longest_saturation(found) <= (0.02 if kind == 'cubic' else 0.01)
    assert np.abs(found.position[-1] - task.path.points[-1]).max() <= NEAR


# ---- what comes on the way


SEEDS = range(4)
NEAR_WHEN_NEW = 5e-3
"""What an arm may be off its path when that is new to the controller, sampling and all [rad]."""

EVERY_MOTION = ['quintic', 'splines', 'linear']


def on_its_way(task, share=0.4, **changes):
    """Return a loop that has followed a task for a share of the time that it takes."""
    loop = PacedLoop(task, **changes)
    plan = loop.controller.motion.follow(task.waypoints)
    loop.run(share * (plan.duration or task.duration))
    return loop


def goes_on(loop, seconds=8.0, speed=1e-3):
    """Return what is recorded of the whole way, once the arm has arrived."""
    for _ in range(round(seconds / PERIOD)):
        loop.step()
        if np.abs(loop.arm.position - loop.task.path.points[-1]).max() < speed:
            break
    loop.run(0.1)
    return loop.recording()


def keeps_to_its_path(loop, found) -> None:
    """Require that the arm stays on its path and arrives, with no motor at its limit for long."""
    assert loop.off_path(found).max() <= NEAR_WHEN_NEW
    assert loop.longest_saturation(found) <= 0.01
    assert np.abs(found.position[-1] - loop.task.path.points[-1]).max() < 1e-3


# ---- the model, and what it feels


@pytest.mark.long
@pytest.mark.parametrize('seed', SEEDS)
def test_a_limit_that_is_lowered_slows_the_rest_of_the_path(seed) -> None:
    """Motors that had a tenth more when the motion was planned: nearer than by the clock.

    It was as fast as they let it then: what they cannot brake in time is off the path.
    """
    task = make_task('quintic', seed)
    off = {}
    for how in ('slow_down', 'follow'):
        loop = on_its_way(task._replace(limits=1.1 * task.limits), when_infeasible=how)
        loop.limits = task.limits
        loop.adopt(effort_limits=tuple(task.limits))
        off[how] = loop.off_path(goes_on(loop, 4.0)).max()
    assert off['slow_down'] < 0.1 * off['follow']


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', SEEDS)
def test_a_path_waits_for_a_joint_that_is_held(seed) -> None:
    off = {}
    for how in ('slow_down', 'follow'):
        task = make_task('quintic', seed)
        loop = on_its_way(task, when_infeasible=how)
        place, until = loop.arm.position[1], loop.arm.time + 0.5

        def hold(arm, effort, place=place, until=until):
            held = np.zeros(6)
            if arm.time < until:
                held[1] = -2e4 * (arm.position[1] - place) - 400.0 * arm.velocity[1]
            return held

        loop.disturbances.append(hold)
        first = len(loop.speeds)
        loop.run(0.5)
        slowest = min(loop.speeds[first:])
        found = goes_on(loop, 4.0)
        off[how] = loop.off_path(found).max()
        if how == 'slow_down':
            assert slowest < 0.5
        assert np.abs(found.position[-1] - task.path.points[-1]).max() < 1e-3
    assert off['slow_down'] < 0.3 * off['follow']


# ---- scaling


@pytest.mark.long
@pytest.mark.parametrize('kind', EVERY_MOTION)
@pytest.mark.parametrize('seed', SEEDS)
def test_a_scaled_motion_stays_on_its_path(seed, kind) -> None:
    task = make_task(kind, seed)
    loop = on_its_way(task, 0.2)
    for factor, seconds in ((0.5, 0.4), (0.0, 0.5), (1.0, 0.0)):
        loop.controller.motion.scale_speed(factor)
        loop.run(seconds)
        if factor == 0.0:
            assert loop.controller.motion.speed < 1e-6
            assert np.abs(loop.arm.velocity).max() < 5e-3
    found = goes_on(loop)
    keeps_to_its_path(loop, found)


# ---- holds


STOPS = [(seed, state) for state in ('full', 'slowed', 'scaled', 'paused') for seed in range(10)]


@pytest.mark.kept(1)
@pytest.mark.parametrize(('seed', 'state'), STOPS)
def test_a_motion_that_is_given_up_stops_on_its_path(seed, state) -> None:
    task = make_task('quintic', seed)
    limits = task.limits if state == 'slowed' else 3.0 * task.limits
    loop = on_its_way(task, limits=limits)
    if state in ('scaled', 'paused'):
        loop.controller.motion.scale_speed(0.5 if state == 'scaled' else 0.0)
        loop.run(0.4 if state == 'scaled' else 0.1)
    before = loop.recording().command[-1]
    loop.controller.motion.hold()
    found = loop.run(1.0)
    steps = np.abs(np.diff(np.vstack((before, found.command)), axis=0))
    assert loop.off_path(found).max() <= NEAR
    # Where braking asks for more effort than going on it has to wait, with all there is.
    at_most = (np.abs(found.command) > 0.981 * loop.limits).any(axis=1)
    assert PERIOD * at_most.sum() <= 0.05
    # A tenth of what is between the limits of a motor.
    assert (steps <= 0.2 * loop.limits).all()
    assert np.abs(found.velocity[-1]).max() < 1e-3
