"""Paths of the shipped arm that are retimed, and its dynamics without a compiler."""

from __future__ import annotations

import numpy as np

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import Segments
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints
from ne_dynamics.shipped import shipped_file

ROBOT = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
DYNAMICS = Dynamics(ROBOT, backend='python')
START = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
VIA = np.array([1.4, -0.4, 0.5, 0.4, 0.1, 1.1])
END = np.array([0.9, 0.0, 0.8, -0.2, 0.3, 1.5])
REST = np.zeros(6)
MEAN = (END - START) / 0.9


def waypoints_of(*points) -> Waypoints:
    """Return points, each of time, positions and what else it carries, as waypoints."""
    rows = [TrajectoryPoint(*point) for point in points]
    return Waypoints.from_points(ROBOT.joints, ROBOT.joint_names, rows)


def segments_of(waypoints: Waypoints) -> Segments:
    """Return what a controller makes of waypoints."""
    return Motion.between(waypoints.in_nanoseconds()).segments()


CUBICS = waypoints_of((0.0, START, REST), (0.4, VIA, MEAN), (0.9, END, REST))
LINES = waypoints_of((0.0, START), (0.4, VIA), (0.9, END))
