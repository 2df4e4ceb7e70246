"""What is checked of a motion beside its states.

:class:`MotionGuard` compares measured velocities with the positions, and watches that the motion
is followed. What it finds latches: only somebody who has looked can say that it is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.control.guards.following_error import FollowingGuard
from ne_dynamics.control.guards.motion_limits import MotionLimits
from ne_dynamics.control.guards.state_guard import Fault, FaultKind
from ne_dynamics.control.guards.velocity_check import VelocityCheck
from ne_dynamics.control.sensors.velocity_source import VelocitySource
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.robot import Joint


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

    def judge_velocity(self, tick: Tick) -> Fault | None:
        """Return a fault when a measured velocity that the law uses is not the positions'."""
        chosen, measured = self._limits.velocity, tick.measured_velocity
        is_measured = chosen.source is VelocitySource.MEASURED
        if not (chosen.check and is_measured and tick.law.needs_velocity) or measured is None:
            return None
        text = self._check.update(tick.position, measured, tick.now)
        if not text:
            return None
        frozen = {*self._check.frozen, *self._following.frozen_joints}
        return Fault(FaultKind.VELOCITY, text, latches=True, joints=tuple(sorted(frozen)))

    def judge_motion(self, tick: Tick) -> Fault | None:
        """Return a fault when the motion is not followed; see :meth:`FollowingGuard.judge`.

        Nothing is followed in gravity compensation.
        """
        return self._following.judge(tick) if tick.law.mode.follows else None
