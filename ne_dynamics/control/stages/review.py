"""After the command is sent: whether the motion is followed."""

from __future__ import annotations

import numpy as np

from ne_dynamics.control.guards.motion_guard import MotionGuard
from ne_dynamics.control.guards.state_guard import Fault
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.motion.braking import AnsweredStates


class Review:
    """Watches the motion, and remembers it.

    Parameters
    ----------
    tuning : Tuning

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
        self._guard = MotionGuard(tuning.law.joints, tuning.motion)

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on."""
        self._guard.configure(tuning.motion)

    def restart(self) -> None:
        """Forget the motion so far: the arm is held anew."""
        self._guard.reset()
        self.answered.clear()
        self.last = None

    def note(self, tick: Tick) -> None:
        """Remember an answer."""
        self.last = tick
        if tick.velocity is not None:
            self.answered.append(tick.now, tick.position, tick.velocity, tick.effort)
        np.maximum(self.peak_error, np.abs(tick.error), out=self.peak_error)

    def find_wrong_velocity(self, tick: Tick) -> Fault | None:
        """Return a fault when the measured velocity is not that of the positions."""
        return self._guard.judge_velocity(tick)

    def find_lost_motion(self, tick: Tick) -> Fault | None:
        """Return a fault when the motion is not followed."""
        return self._guard.judge_motion(tick)
