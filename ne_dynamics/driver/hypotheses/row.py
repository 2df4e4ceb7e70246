"""The hypotheses, in the order in which they are tested."""

from __future__ import annotations

from ne_dynamics.driver.hypotheses.degrees import Degrees
from ne_dynamics.driver.hypotheses.effort_offset import EffortOffset
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis
from ne_dynamics.driver.hypotheses.late_effort import LateEffort
from ne_dynamics.driver.hypotheses.reversed_axis import ReversedAxis
from ne_dynamics.driver.hypotheses.reversed_effort import ReversedEffort
from ne_dynamics.driver.hypotheses.reversed_position import ReversedPosition
from ne_dynamics.driver.hypotheses.scaled_effort import ScaledEffort
from ne_dynamics.driver.hypotheses.scaled_efforts import ScaledEfforts
from ne_dynamics.driver.hypotheses.shifted_zero import ShiftedZero
from ne_dynamics.driver.hypotheses.swapped_efforts import SwappedEfforts
from ne_dynamics.driver.hypotheses.swapped_joints import SwappedJoints
from ne_dynamics.driver.hypotheses.swapped_positions import SwappedPositions
from ne_dynamics.driver.hypotheses.unexplained import Unexplained

COLUMN_HYPOTHESES: tuple[Hypothesis, ...] = (
    Degrees(),
    ReversedPosition(),
    ReversedAxis(),
    ShiftedZero(),
    SwappedJoints(),
    SwappedEfforts(),
    SwappedPositions(),
)
"""What a driver may do to columns, whatever its efforts mean."""

HYPOTHESES: tuple[Hypothesis, ...] = (
    ReversedEffort(),
    *COLUMN_HYPOTHESES,
    ScaledEffort(),
    LateEffort(),
    EffortOffset(),
)
"""Of which the likeliest is taken, and then the next."""

LAST_HYPOTHESES: tuple[Hypothesis, ...] = (ScaledEfforts(), Unexplained())
"""Of what is left when none of the others is decisive."""
