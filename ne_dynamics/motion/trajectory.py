"""The former place of :mod:`ne_dynamics.motion.motion` and :mod:`ne_dynamics.motion.waypoints`."""

from ne_dynamics.motion.motion import MOST_WAITING as MOST_WAITING
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.motion import scaled_coefficients as scaled_coefficients
from ne_dynamics.motion.waypoints import LARGEST_POSITION as LARGEST_POSITION
from ne_dynamics.motion.waypoints import SHORTEST_SEGMENT as SHORTEST_SEGMENT
from ne_dynamics.motion.waypoints import TURN as TURN
from ne_dynamics.motion.waypoints import DesiredState as DesiredState
from ne_dynamics.motion.waypoints import PointFields as PointFields
from ne_dynamics.motion.waypoints import TrajectoryPoint as TrajectoryPoint
from ne_dynamics.motion.waypoints import Waypoints as Waypoints
from ne_dynamics.motion.waypoints import continuous_joints as continuous_joints
from ne_dynamics.motion.waypoints import nearest_turns as nearest_turns
from ne_dynamics.motion.waypoints import resting_state as resting_state

Trajectory = Motion


def segment_coefficients(orders, durations, begin, end):  # type: ignore[no-untyped-def]  # noqa: D103
    import numpy as np

    scaled = scaled_coefficients(orders, durations, begin, end)
    powers = np.asarray(durations) ** np.arange(6.0)[:, np.newaxis]
    return (scaled / powers[..., np.newaxis]).swapaxes(0, 1)
