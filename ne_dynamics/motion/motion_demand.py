"""The former place of :mod:`ne_dynamics.motion.limit_violation`."""

from ne_dynamics.motion.limit_violation import InfeasibleMotionError as InfeasibleMotionError
