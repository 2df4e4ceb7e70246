"""The former place of :data:`ne_dynamics.motion.waypoints.NANO`."""

from ne_dynamics.motion.waypoints import NANO as NANO
