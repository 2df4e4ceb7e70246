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
    """One joint state and its answer: the data that the stages pass on, and the command.

    Parameters
    ----------
    tuning : Tuning
    law : ControlLaw
        Law that answers the state: that of the tuning, or gravity compensation while the arm
        floats after a contact.
    position : array, shape (n,)
        [rad or m]
    measured_velocity : array, shape (n,), or None
        Velocity of the joint state [rad/s or m/s].
    now, arrival : float
        Stamp of the state, and its arrival time by a monotonic clock [s].
    measured_effort : array, shape (n,), or None
        Effort of the joint state [N m or N].
    before : Tick or None
        The last state that was answered by the stages.
    last_effort : array, shape (n,), or None
        The last command of any kind [N m or N]; None before the first.

    Attributes
    ----------
    last_setpoint : DesiredState or None
        Desired motion sent with the last command, for drives that close a loop.
    fault : Fault or None
        Set by accept: the fault that ended the motion before this state.
    had_fault : bool
        Set by accept, with `fault`: whether that fault existed before this state arrived.
    ahead : float
        Set by accept: by how much the previous state was stamped too late, because of which it
        is forgotten; normally 0 [s].
    since_last : float
        Set by accept: time since the last state, 0 if that one is forgotten [s].
    period : float
        Set by accept, for drives that close a loop: mean time between two states, 0 if unknown
        [s].
    velocity : array, shape (n,), or None
        Set by sense: the velocity that the law uses [rad/s or m/s].
    wrench : array, shape (6,), or None
        Set by sense: at the wrist.
    base : Base or None
        Set by sense: tilt and motion of the base.
    nature : tuple of int
        Set by sense: changes when the kind of the readings changes, as after a tare.
    begins : bool
        Set by transition: the command is the first, or the first after a fault.
    elapsed : float
        Set by transition: time since the last command, 0 if `begins` [s].
    changed_from : Tick or None
        Set by transition: the previous tick, if law, tuning or kind of readings differ from it;
        otherwise None.
    offset : array, shape (n,), or None
        Set by transition: remaining offset of transitions before this state [N m or N].
    reported_start : array, shape (n,), or None
        Set by transition: present effort of the motors as far as known [N m or N].
    unused_effort : str
        Set by transition: reason why the first command does not start from the measured effort,
        as a sentence; '' if it does, and for all other commands.
    desired : DesiredState
        Set by desired, blended by transition, and slowed again by desired.
    desired_before : DesiredState or None
        Set by desired: the desired state of the previous motion; None if the motion is the same.
    may_step : bool
        Set by desired with `desired_before`: the sender chose a motion of steps.
    goes_elsewhere : bool
        Set by desired: the motion was given up at the present position of the arm.
    refused : TrajectoryError or None
        Set by desired: why the trajectory that was waiting for this state is not followed.
    place : float
        Set by desired: time on the followed trajectory, which is that of the state unless the
        motion is slowed [s].
    path : DesiredState or None
        Set by desired: the motion by the trajectory's time, if its speed is to be chosen.
    wanted : array, shape (n,)
        Set by law, changed by observer and desired: effort before the transition [N m or N].
    error : array, shape (n,)
        Set by law: position error [rad or m].
    hysteresis : array, shape (n,), or None
        Set by law: the part of the effort that depends on the path [N m or N].
    hysteresis_before : array, shape (n,), or None
        Set by law after a change: that part by the previous law [N m or N].
    compensation : array, shape (n,), or None
        Set by observer: the effort that it subtracts [N m or N].
    compensation_before : array, shape (n,), or None
        Set by observer after a change: what it would subtract with the previous model, None if
        that observer was not updated [N m or N].
    effort : array, shape (n,)
        Set by transition and limits: the command [N m or N].
    saturated : array, shape (n,), dtype bool, or None
        Set by limits: joints whose effort was limited; None if no joint.
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
