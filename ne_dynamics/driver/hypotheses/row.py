"""The hypotheses, in the order in which they are tested."""

from __future__ import annotations

from ne_dynamics.driver.hypotheses.changed_meanwhile import ChangedMeanwhile
from ne_dynamics.driver.hypotheses.coupled_joints import CoupledJoints
from ne_dynamics.driver.hypotheses.degrees import Degrees
from ne_dynamics.driver.hypotheses.drifting_effort import DriftingEffort
from ne_dynamics.driver.hypotheses.effort_offset import EffortOffset
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis
from ne_dynamics.driver.hypotheses.late_effort import LateEffort, LateJoint
from ne_dynamics.driver.hypotheses.missing_load import MissingLoad
from ne_dynamics.driver.hypotheses.other_model import OtherModel
from ne_dynamics.driver.hypotheses.removed_gravity import RemovedGravity
from ne_dynamics.driver.hypotheses.reversed_sign import (
    AXIS_REVERSED,
    EFFORT_REVERSED,
    POSITION_REVERSED,
    POSITIONS_REVERSED,
)
from ne_dynamics.driver.hypotheses.scaled_effort import ScaledEffort
from ne_dynamics.driver.hypotheses.scaled_efforts import ScaledEfforts
from ne_dynamics.driver.hypotheses.scaled_position import ScaledPosition
from ne_dynamics.driver.hypotheses.shifted_zero import ShiftedZero
from ne_dynamics.driver.hypotheses.swapped_joints import (
    EFFORTS_SWAPPED,
    JOINTS_SWAPPED,
    POSITIONS_SWAPPED,
)
from ne_dynamics.driver.hypotheses.tilted_base import TiltedBase
from ne_dynamics.driver.hypotheses.unexplained import Unexplained
from ne_dynamics.driver.hypotheses.unsigned_effort import UnsignedEffort

UNSIGNED = UnsignedEffort()
"""Tested before all others."""

COLUMN_HYPOTHESES: tuple[Hypothesis, ...] = (
    Degrees(),
    POSITION_REVERSED,
    AXIS_REVERSED,
    ShiftedZero(),
    ScaledPosition(),
    JOINTS_SWAPPED,
    EFFORTS_SWAPPED,
    POSITIONS_SWAPPED,
    CoupledJoints(),
)
"""What a driver may do to columns, whatever its efforts mean."""

BESIDE_MEANING: tuple[Hypothesis, ...] = (
    *COLUMN_HYPOTHESES,
    LateJoint(),
    DriftingEffort(),
)
"""Of single joints: tested where what the efforts mean is found along."""

BEFORE_MEANING: tuple[Hypothesis, ...] = (POSITIONS_REVERSED, TiltedBase(), MissingLoad())
"""Of all joints: tested first where what the efforts mean is found along, beside columns."""

HYPOTHESES: tuple[Hypothesis, ...] = (
    EFFORT_REVERSED,
    *COLUMN_HYPOTHESES,
    ScaledEffort(),
    LateEffort(),
    EffortOffset(),
    DriftingEffort(),
    RemovedGravity(),
    TiltedBase(),
    MissingLoad(),
    ScaledEfforts(has_to_explain=True),
)
"""Of which the likeliest is taken, and then the next."""

COMMON_FACTOR = ScaledEfforts()
"""Tested when none of the others is decisive."""

OTHER_MODEL = OtherModel()
"""Set against all that was found."""

CHANGED_MEANWHILE = ChangedMeanwhile()
"""Tested on the log without all that was found."""

UNEXPLAINED = Unexplained(tuple(hypothesis.code for hypothesis in (*HYPOTHESES, OTHER_MODEL)))
"""Of what is left in the end."""
