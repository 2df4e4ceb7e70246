"""The former place of :mod:`ne_dynamics.motion.time_scaling.path`."""

from ne_dynamics.motion.time_scaling.path import PathIntervals as PathIntervals
