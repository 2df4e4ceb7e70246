"""Paths through random points, limits that they exceed, and plans of how fast they may be gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics import Dynamics
from ne_dynamics.control.desired.path_efforts import PathEfforts
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.time_scaling.path import PathIntervals
from ne_dynamics.motion.time_scaling.time_optimal import find_time_optimal
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints, resting_state


class TimedPath:
    """A spline through random points, gone in the time of its sender.

    Parameters
    ----------
    robot : Robot
    rng : numpy.random.Generator
    segments : int
    largest_way : float
        Of each joint in a segment [rad or m].
    scale : float
        The longer the times, the larger.

    Attributes
    ----------
    trajectory : Motion
    path : PathIntervals
    efforts : PathEfforts
    """

    def __init__(self, robot, rng, *, segments=6, largest_way=0.8, scale=1.0) -> None:
        joints = [replace(joint, lower=-1e3, upper=1e3) for joint in robot.joints]
        n = len(joints)
        steps = rng.uniform(-largest_way, largest_way, (segments + 1, n))
        positions = np.cumsum(steps, axis=0)
        apart = rng.uniform(0.25, 0.5) * scale
        points = [TrajectoryPoint(i * apart, q) for i, q in enumerate(positions)]
        waypoints = Waypoints.from_points(joints, robot.joint_names, points)
        self.trajectory = Motion.through(
            waypoints,
            now=0.0,
            start_state=resting_state(positions[0]),
            interpolation=Interpolation.SPLINES,
        )
        self.segments = self.trajectory.segments()
        self.path = PathIntervals.of(self.segments)
        self.robot = robot
        law = ControlLaw(Dynamics(robot, backend='python'), Mode.GRAVITY_COMPENSATION)
        self.efforts = PathEfforts(law.compensation)

    @property
    def duration(self) -> float:
        """As it was sent [s]."""
        return float(self.trajectory.end_time)

    def limits(self, rng, demand=(0.4, 0.9)) -> DemandLimits:
        """Return limits that leave room for gravity, but for a part of the demand alone."""
        q, way, curve = (each.reshape(-1, each.shape[-1]) for each in self.path[2:])
        asked = np.abs(self.efforts.moving(q, way, curve)).max(axis=0)
        # Friction may be largest where it is slow.
        slowly = [
            np.abs(self.efforts.moving(q, speed * way, np.zeros_like(q))).max(axis=0)
            for speed in (0.0, 0.01, 0.03, 0.1, 0.3)
        ]
        part = rng.uniform(*demand, asked.size)
        least = 1.2 * np.max(slowly, axis=0) + 0.1
        limits = DemandLimits.of(self.robot.joints, np.maximum(least, part * asked))
        velocity = np.abs(way).max(axis=0) * rng.uniform(0.6, 1.2, asked.size)
        unlimited = np.full(asked.size, np.inf)
        return replace(limits, velocity=velocity, acceleration=unlimited, deceleration=unlimited)

    def plan(self, limits, *, fastest=1.0, begin=1.0, end=np.inf):
        """Return what is found, its profile, and the squares of the fastest motion's speeds."""
        found = find_time_optimal(
            self.path, self.efforts.moving, limits, fastest=fastest, begin=begin, end=end
        )
        return found, found.profile, found.squares
