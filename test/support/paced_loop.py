"""Random motions, motors that are too weak for them, and a controller that slows them down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
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
