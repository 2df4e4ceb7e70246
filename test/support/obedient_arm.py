"""An arm that is where it should be at every state, and the controller that moves it."""

from __future__ import annotations

import numpy as np
from tuned_arm import ZERO, Q, make_waypoints

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.desired.motion_planner import MotionPlan
from ne_dynamics.control.tick import Tick
from ne_dynamics.motion.waypoints import DesiredState, TrajectoryPoint

PERIOD = 0.002
"""Time between two states [s]."""


class ObedientArm:
    """The shipped arm, which does as it is told.

    Attributes
    ----------
    controller : Controller
    now : float
        Stamp of the last state [s]; the first one has come.
    commands : list of Tick
        Answers to the states after the first.
    speeds : list of float
        At which the motion was followed then.
    """

    def __init__(self, controller: Controller, start=Q) -> None:
        self.controller, self.now = controller, 0.0
        self.commands: list[Tick] = []
        self.speeds: list[float] = []
        self._steps, self._state = 0, (start, ZERO)
        controller.update(start, ZERO, 0.0, 0.0)

    def run(self, steps: int) -> Tick:
        """Let so many states come; return the answer to the last."""
        motion = self.controller.motion
        for _ in range(steps):
            self._steps += 1
            self.now = PERIOD * self._steps
            if motion.trajectory is not None:
                self._state = motion.state_at(self.now)[1][:2]
            self.commands.append(self.controller.update(*self._state, self.now, self.now))
            self.speeds.append(motion.speed)
        return self.commands[-1]

    def follow(self, *points: TrajectoryPoint, start_time: float | None = None) -> MotionPlan:
        """Follow points from the next state on; return the plan."""
        return self.controller.motion.follow(make_waypoints(*points), start_time)

    def desired(self) -> DesiredState:
        """Return what was desired: positions, velocities and accelerations, a row a command."""
        rows = zip(*(command.desired for command in self.commands), strict=True)
        return DesiredState(*map(np.array, rows))
