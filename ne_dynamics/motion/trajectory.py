"""The former place of :mod:`ne_dynamics.motion.motion` and :mod:`ne_dynamics.motion.waypoints`."""

from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import DesiredState as DesiredState
from ne_dynamics.motion.waypoints import TrajectoryPoint as TrajectoryPoint
from ne_dynamics.motion.waypoints import Waypoints as Waypoints

Trajectory = Motion
