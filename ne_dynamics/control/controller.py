"""The controller of one arm: states in, commands out. No ROS, no clock of its own.

It keeps the desired motion. The first state after :meth:`Controller.reset` is what is held, then
whatever :meth:`Controller.follow` and :meth:`Controller.hold` ask for, from the present desired
state on, so that the desired position never jumps by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.limits import EffortLimiter
from ne_dynamics.control.trajectory import DesiredState, Trajectory, Waypoints, resting_state
from ne_dynamics.control.wrench import Measures, OnTimeout, WristWrench
from ne_dynamics.errors import InputError, TrajectoryError
from ne_dynamics.model.robot import FloatArray


@dataclass(frozen=True, eq=False)
class WrenchTuning:
    """How the readings of the wrist sensor count; see :class:`WristWrench`."""

    measures: Measures = Measures.ON_TOOL
    timeout: float = 0.1
    on_timeout: OnTimeout = OnTimeout.HOLD


@dataclass(frozen=True, eq=False)
class Tuning:
    """What may change while the arm is controlled.

    Attributes
    ----------
    law : ControlLaw
    hold_law : ControlLaw
        Gravity compensation of the same robot, for the last command.
    effort_limits : array, shape (n,)
        [N m or N]
    effort_rates : array, shape (0,), (1,) or (n,)
        [N m/s or N/s]; empty or 0 for none.
    wrench : WrenchTuning
    """

    law: ControlLaw
    hold_law: ControlLaw
    effort_limits: FloatArray
    effort_rates: FloatArray
    wrench: WrenchTuning = WrenchTuning()

    @property
    def mode(self) -> Mode:
        """The control law's mode."""
        return self.law.mode


class Command(NamedTuple):
    """What one state is answered by.

    Attributes
    ----------
    effort : array, shape (n,)
        Limited effort [N m or N].
    desired : DesiredState
    saturated : array, shape (n,), dtype bool, or None
        Joints whose effort was limited.
    refused : TrajectoryError or None
        Why the trajectory that was waiting for this state is not followed.
    """

    effort: FloatArray
    desired: DesiredState
    saturated: NDArray[np.bool_] | None
    refused: TrajectoryError | None


class Controller:
    """Controls one arm.

    Parameters
    ----------
    tuning : Tuning
    wrist : WristWrench, optional
        Its readings are added to the dynamics.
    """

    def __init__(self, tuning: Tuning, wrist: WristWrench | None = None) -> None:
        self.wrist = wrist
        self._limiter = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        self.adopt(tuning)
        self.reset()

    def adopt(self, tuning: Tuning) -> None:
        """Let another tuning count from the next state on; the rate limit goes on."""
        limiter = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        if self.wrist is not None:
            wrench = tuning.wrench
            self.wrist.configure(wrench.measures, wrench.timeout, wrench.on_timeout)
        limiter.continue_from(self._limiter)
        self._limiter = limiter
        self.tuning = tuning

    def reset(self) -> None:
        """Forget state, motion and last command: the next state is what is held."""
        self.position: FloatArray | None = None
        self.time: float | None = None
        self._trajectory: Trajectory | None = None
        self._request: tuple[Waypoints, float | None] | None = None
        self._limiter.reset()

    @property
    def trajectory(self) -> Trajectory | None:
        """The motion that is followed; None before the first state and in gravity mode."""
        return self._trajectory

    def observe(self, position: FloatArray, now: float) -> None:
        """Take note of a state that is not answered."""
        self.position, self.time = position, now

    def update(self, position: FloatArray, velocity: FloatArray | None, now: float) -> Command:
        """Answer a state.

        Parameters
        ----------
        position : array, shape (n,)
            [rad or m]
        velocity : array, shape (n,), or None
            [rad/s or m/s]; None is enough where the mode does not need it.
        now : float
            Time of the state [s], not before the one of the last.

        Returns
        -------
        Command

        Raises
        ------
        InputError
            When the mode needs a velocity and there is none, or the effort is not finite. The
            state is not taken note of then.
        """
        law = self.tuning.law
        if velocity is None and law.mode.needs_velocity:
            raise InputError(f'velocity: got none; mode {law.mode.value} needs it')
        desired, refused = self._desired(position, now)
        wrench = None if self.wrist is None else self.wrist.at(now)
        effort = law.effort(position, velocity, desired, wrench)
        dt = 0.0 if self.time is None else now - self.time
        limited, saturated = self._limiter.apply(effort, dt)
        self.position, self.time = position, now
        return Command(limited, desired, saturated, refused)

    def _desired(
        self, position: FloatArray, now: float
    ) -> tuple[DesiredState, TrajectoryError | None]:
        if self.tuning.mode is Mode.GRAVITY_COMPENSATION:
            # The arm is led by hand: wherever it is left is what another mode will hold.
            self._trajectory = self._request = None
            return resting_state(position), None
        trajectory = self._trajectory
        if trajectory is None:
            trajectory = self._trajectory = Trajectory.hold(position, now=now)
        desired = trajectory.sample(now)
        if self._request is None:
            return desired, None
        (waypoints, start_time), self._request = self._request, None
        try:
            self._trajectory = Trajectory.through(
                waypoints, now=now, start_state=desired, start_time=start_time
            )
        except TrajectoryError as error:
            return desired, error
        return self._trajectory.sample(now), None

    def follow(self, waypoints: Waypoints, start_time: float | None = None) -> None:
        """Follow waypoints from the next state on, instead of what is followed now.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float, optional
            Time from which theirs count [s]; that of the next state when None.
        """
        self._request = (waypoints, start_time)

    def hold(self) -> None:
        """Stop at the present desired position."""
        self._request = None
        if self._trajectory is not None and self.time is not None:
            desired = self._trajectory.sample(self.time)
            self._trajectory = Trajectory.hold(desired.position, now=self.time)

    def last_command(self) -> FloatArray | None:
        """Return the effort that holds the arm at its last position, shape (n,) [N m or N].

        None when no state has come, and so no command has gone out. The rate limit does not
        apply: nothing follows that could make up for it.

        Raises
        ------
        InputError
            When it is not finite.
        """
        if self.position is None or self.time is None:
            return None
        wrench = None if self.wrist is None else self.wrist.at(self.time)
        state = resting_state(self.position)
        effort = self.tuning.hold_law.effort(state.position, None, state, wrench)
        self._limiter.reset()
        return self._limiter.apply(effort, 0.0).effort
