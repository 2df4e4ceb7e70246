"""What is checked of a motion beside its states.

:class:`MotionGuard` compares measured velocities with the positions, and watches that the motion
is followed. What it finds latches: only somebody who has looked can say that it is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ne_dynamics.control.guards.following_error import FollowingGuard, FollowingLimits
from ne_dynamics.control.guards.standing_joint import AnsweredState
from ne_dynamics.control.guards.state_guard import Fault, FaultKind
from ne_dynamics.control.guards.velocity_check import VelocityCheck
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.sensors.velocity_source import VelocitySettings, VelocitySource
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint

UNCHECKED = VelocitySettings(check=False)
"""Velocities that are believed."""


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """What is expected of a motion; nothing by default.

    Attributes
    ----------
    following : FollowingLimits
    velocity : VelocitySettings
    """

    following: FollowingLimits = field(default_factory=FollowingLimits)
    velocity: VelocitySettings = UNCHECKED


class MotionGuard:
    """Guards the motion of one arm.

    Parameters
    ----------
    joints : sequence of Joint
    limits : MotionLimits
    """

    def __init__(self, joints: Sequence[Joint], limits: MotionLimits) -> None:
        self._following = FollowingGuard(joints, limits.following)
        self._check = VelocityCheck(joints)
        self._limits = limits

    def configure(self, limits: MotionLimits) -> None:
        """Use other limits from the next state on."""
        self._limits = limits
        self._following.configure(limits.following)

    def reset(self) -> None:
        """Forget the motion so far: the arm is held anew."""
        self._following.reset()
        self._check.reset()

    def judge_velocity(
        self, law: ControlLaw, position: FloatArray, measured: FloatArray | None, now: float
    ) -> Fault | None:
        """Return a fault when a measured velocity that the law uses is not the positions'."""
        chosen = self._limits.velocity
        is_measured = chosen.source is VelocitySource.MEASURED
        if not (chosen.check and is_measured and law.needs_velocity) or measured is None:
            return None
        text = self._check.update(position, measured, now)
        if not text:
            return None
        frozen = {*self._check.frozen, *self._following.frozen_joints}
        return Fault(FaultKind.VELOCITY, text, latches=True, joints=tuple(sorted(frozen)))

    def judge_motion(
        self,
        answered: AnsweredState,
        velocity: FloatArray | None,
        error: FloatArray,
        effort: FloatArray,
        effort_limits: FloatArray,
    ) -> Fault | None:
        """Return a fault when the motion is not followed; see :meth:`FollowingGuard.judge`.

        Nothing is followed in gravity compensation.
        """
        if not answered.law.mode.follows:
            return None
        found = self._following.judge(answered, velocity, error, effort, effort_limits)
        if found is None:
            return None
        return Fault(found.kind, found.text, latches=True, joints=found.joints)

    @property
    def frozen_joints(self) -> tuple[int, ...]:
        """All joints whose position stays the same at present while the desired one goes on."""
        return self._following.frozen_joints
