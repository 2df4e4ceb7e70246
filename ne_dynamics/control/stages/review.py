"""After the command is sent: whether the motion is followed."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.guards.following_error import FollowingGuard
from ne_dynamics.control.guards.state_guard import Fault, FaultKind
from ne_dynamics.control.guards.velocity_check import VelocityCheck
from ne_dynamics.control.sensors.velocity_source import VelocitySource
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.motion.braking import AnsweredStates


class Review:
    """Watches the motion, and remembers it.

    What it finds latches: only somebody who has looked can say that it is over.

    Attributes
    ----------
    answered : AnsweredStates
        The last states and their commands.
    last : Tick or None
        That was reviewed last, of the present motion.
    peak_error : array, shape (n,)
        Largest absolute position error of each joint since it was last set to zero [rad or m].
    """

    def __init__(self, tuning: Tuning) -> None:
        self.answered = AnsweredStates()
        self.last: Tick | None = None
        self.peak_error = np.zeros(tuning.effort_limits.size)
        joints = tuning.law.joints
        self._following = FollowingGuard(
            joints, tuning.following, tuning.law.dynamics.robot.coupled_friction.tolist()
        )
        self._velocities = VelocityCheck(joints)

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on."""
        self._following.configure(tuning.following)

    def restart(self) -> None:
        """Forget the motion so far: the arm is held anew."""
        self._following.reset()
        self._velocities.reset()
        self.answered.clear()
        self.last = None

    def note(self, tick: Tick) -> None:
        """Remember an answer."""
        self.last = tick
        if tick.velocity is not None:
            self.answered.append(tick.now, tick.position, tick.velocity, tick.effort)
        np.maximum(self.peak_error, np.abs(tick.error), out=self.peak_error)

    def find_wrong_velocity(self, tick: Tick) -> Fault | None:
        """Return a fault when a measured velocity that the law uses is not the positions'."""
        chosen, measured = tick.tuning.velocity, tick.measured_velocity
        is_measured = chosen.source is VelocitySource.MEASURED
        if not (chosen.check and is_measured and tick.law.needs_velocity) or measured is None:
            return None
        text = self._velocities.update(tick.position, measured, tick.now)
        if not text:
            return None
        frozen = {*self._velocities.frozen, *self._following.frozen_joints}
        return Fault(FaultKind.VELOCITY, text, latches=True, joints=tuple(sorted(frozen)))

    def find_lost_motion(self, tick: Tick) -> Fault | None:
        """Return a fault when the motion is not followed; see :meth:`FollowingGuard.check`.

        Nothing is followed in gravity compensation.
        """
        return self._following.check(tick) if tick.law.mode.follows else None
