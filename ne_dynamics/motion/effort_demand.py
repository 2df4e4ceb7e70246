"""The former place of :mod:`ne_dynamics.motion.check`."""

from ne_dynamics.motion.check import find_rests as find_rests
from ne_dynamics.motion.check import find_unholdable as find_unholdable
from ne_dynamics.motion.check import find_unpassable as find_unpassable
from ne_dynamics.motion.effort_check import check_efforts as survey_efforts

__all__ = ['survey_efforts']
