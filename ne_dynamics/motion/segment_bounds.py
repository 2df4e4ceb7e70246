"""The former name of :mod:`ne_dynamics.motion.segments`."""

from ne_dynamics.motion.segments import *  # noqa: F403
from ne_dynamics.motion.segments import Segments as Segments
