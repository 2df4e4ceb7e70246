"""The former place of :mod:`ne_dynamics.motion.check` and what belongs to it."""

from ne_dynamics.motion.check import check_kinematics as survey_motion
from ne_dynamics.motion.joint_limits import STEP_TIME as STEP_TIME
from ne_dynamics.motion.joint_limits import DemandLimits as DemandLimits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError as InfeasibleMotionError
from ne_dynamics.motion.limit_violation import LimitViolation
from ne_dynamics.motion.limit_violation import Quantity as Quantity
from ne_dynamics.motion.limit_violation import WhenInfeasible as WhenInfeasible
from ne_dynamics.motion.limit_violation import describe as describe
from ne_dynamics.motion.limit_violation import rank as rank

Excess = LimitViolation
__all__ = ['survey_motion']
