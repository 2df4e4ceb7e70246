"""One joint state on its way through the stages, and the command that answers it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.guards.state_guard import Fault
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.dynamics.compensation import Base
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState


class Tick:
    """One joint state and its answer: all that passes between the stages, and what comes of it.

    Parameters
    ----------
    tuning : Tuning
    law : ControlLaw
        By which the state is answered: that of the tuning, or gravity compensation while the arm
        floats after a contact.
    position : array, shape (n,)
        [rad or m]
    measured_velocity : array, shape (n,), or None
        Of the joint state [rad/s or m/s].
    now, arrival : float
        Stamp of the state, and when it came by a clock that is never set back [s].
    measured_effort : array, shape (n,), or None
        What the joint state reports [N m or N].
    before : Tick or None
        The last state that was answered by the row.
    last_effort : array, shape (n,), or None
        The last command, of whatever kind [N m or N]; None before the first.

    Attributes
    ----------
    last_setpoint : DesiredState or None
        Desired motion that went with the last command, for drives that close a loop.
    fault : Fault or None
        Set by accept: what has ended the motion before this state.
    had_fault : bool
        Set by accept, with `fault`: that fault counted before this state came.
    ahead : float
        Set by accept: how far the state before this one was stamped ahead of its time [s]: it is
        forgotten. 0 in the usual case.
    since_last : float
        Set by accept: time since the last state, 0 where that is of the past [s].
    period : float
        Set by accept, for drives that close a loop: mean time between two states, 0 where it is
        not known [s].
    velocity : array, shape (n,), or None
        Set by sense: the velocity that the law uses [rad/s or m/s].
    wrench : array, shape (6,), or None
        Set by sense: at the wrist.
    base : Base or None
        Set by sense: how the base stands and moves.
    nature : tuple of int
        Set by sense: another one where the readings are of another nature, as after a tare.
    begins : bool
        Set by transition: no law leads to this command; it is the first, or follows a fault.
    elapsed : float
        Set by transition: time since the last command, 0 where it begins [s].
    changed_from : Tick or None
        Set by transition: the tick before, where another law, tuning or kind of reading counts
        since; None in the usual case.
    offset : array, shape (n,), or None
        Set by transition: what is left of transitions before this state [N m or N].
    reported_start : array, shape (n,), or None
        Set by transition: the effort of the motors now, as far as it is known [N m or N].
    unused_effort : str
        Set by transition: why the first command does not begin at the measured effort, in a
        sentence; '' where it does, and of any other command.
    desired : DesiredState
        Set by desired, led over by transition, and paced by pace.
    desired_before : DesiredState or None
        Set by desired: the desired state had nothing changed; None where the same motion goes on.
    may_step : bool
        Set by desired with `desired_before`: the motion is one of steps, by the choice of its
        sender.
    goes_elsewhere : bool
        Set by desired: the motion was given up where the arm was found.
    refused : TrajectoryError or None
        Set by desired: why the trajectory that was waiting for this state is not followed.
    place : float
        Set by desired: time of the state on the path that is followed; that of the state, but for
        motions that go slower than they were sent [s].
    path : DesiredState or None
        Set by desired: the motion by the time of its path, where its pace is to be chosen.
    wanted : array, shape (n,)
        Set by law, changed by observer and pace: effort before transition and limits [N m or N].
    error : array, shape (n,)
        Set by law: of the position [rad or m].
    hysteresis : array, shape (n,), or None
        Set by law: the part of the effort that is of the path [N m or N].
    hysteresis_before : array, shape (n,), or None
        Set by law where something has changed: that part by the law before [N m or N].
    compensation : array, shape (n,), or None
        Set by observer: what it takes out of the effort [N m or N].
    compensation_before : array, shape (n,), or None
        Set by observer where something has changed: what it would take out by the model before;
        None where it has not gone on since [N m or N].
    effort : array, shape (n,)
        Set by transition and limits: the command [N m or N].
    saturated : array, shape (n,), dtype bool, or None
        Set by limits: joints whose effort was limited; None when there is none.
    """

    desired: DesiredState
    wanted: FloatArray
    error: FloatArray
    effort: FloatArray
    last_setpoint: DesiredState | None = None
    fault: Fault | None = None
    had_fault: bool = False
    ahead: float = 0.0
    since_last: float = 0.0
    period: float = 0.0
    velocity: FloatArray | None = None
    wrench: FloatArray | None = None
    base: Base | None = None
    nature: tuple[int, ...] = ()
    begins: bool = False
    elapsed: float = 0.0
    changed_from: Tick | None = None
    offset: FloatArray | None = None
    reported_start: FloatArray | None = None
    unused_effort: str = ''
    desired_before: DesiredState | None = None
    may_step: bool = False
    goes_elsewhere: bool = False
    refused: TrajectoryError | None = None
    place: float = 0.0
    path: DesiredState | None = None
    hysteresis: FloatArray | None = None
    hysteresis_before: FloatArray | None = None
    compensation: FloatArray | None = None
    compensation_before: FloatArray | None = None
    saturated: NDArray[np.bool_] | None = None

    def __init__(
        self,
        tuning: Tuning,
        law: ControlLaw,
        position: FloatArray,
        measured_velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
        measured_effort: FloatArray | None = None,
        before: Tick | None = None,
        last_effort: FloatArray | None = None,
    ) -> None:
        self.tuning = tuning
        self.law = law
        self.position = position
        self.measured_velocity = measured_velocity
        self.now = now
        self.arrival = arrival
        self.measured_effort = measured_effort
        self.before = before
        self.last_effort = last_effort
