"""The controller of one arm: states in, commands out. No ROS, no clock of its own.

It keeps the desired motion. Where the first state after :meth:`Controller.reset` finds the arm is
what is held, then whatever :meth:`Controller.follow` and :meth:`Controller.hold` ask for, from the
present desired state on, so that the desired position never jumps by itself. When states have
stopped, jumped or lost their clock, the motion is over and the arm is held where it is found. What
still moves is brought to rest along its motion; see :mod:`ne_dynamics.motion.stopping`.

Nor does the command jump when its nature changes: at the first command, with another tuning, when
readings of a sensor come or stay away, after a fault, and at the last one. See
:mod:`ne_dynamics.control.transition`.

What the model does not have may be observed, and compensated; see
:mod:`ne_dynamics.control.disturbance`.

Drives that close a loop of their own get the desired motion too; see
:mod:`ne_dynamics.control.drive_setpoint`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.contact import ContactReaction
from ne_dynamics.control.desired.followed_motion import FollowedMotion
from ne_dynamics.control.desired.motion_planner import (
    Circumstances,
    MotionPlan,
    MotionPlanner,
    PlanningSettings,
)
from ne_dynamics.control.desired.time_scaling import Submit, submit_here
from ne_dynamics.control.disturbance import DisturbanceObserver
from ne_dynamics.control.drive_setpoint import (
    REACH_TIME,
    ROUNDING,
    Setpoint,
    SetpointBridge,
    plan_rest,
)
from ne_dynamics.control.fault_damping import FaultDamping, find_damping_rate
from ne_dynamics.control.guards.feasibility import (
    Verdict,
    find_drive_inertias,
    judge_gains_and_drives,
    judge_limits,
    judge_timeout,
    judge_velocities,
    refuse_following_limits,
)
from ne_dynamics.control.guards.motion_guard import MotionGuard
from ne_dynamics.control.guards.standing_joint import AnsweredState
from ne_dynamics.control.guards.state_guard import (
    STATES_STILL_COME,
    Fault,
    FaultKind,
    StateGuard,
    StateRefused,
)
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.limits import EffortLimiter
from ne_dynamics.control.path_hysteresis import PathHysteresis
from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.state_effort import StateEffort, find_beginning
from ne_dynamics.control.sensors.state_rate import StateRate
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.slew import refuse_slow_rates
from ne_dynamics.control.transition import CommandOffset, ramp
from ne_dynamics.control.tuning import LastCommand, OnFault, OnStateLoss, Tuning
from ne_dynamics.dynamics.compensation import Base
from ne_dynamics.errors import InputError, TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.braking import AnsweredStates, Brake, ModelEfforts, plan_brake
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import DesiredState, Waypoints, resting_state

RAMP_PERIOD = 0.002
"""Time between the commands of a ramp [s]."""

LONGEST_RAMP = 0.5
"""A ramp to the last command takes no longer than this [s]."""

LOWERING_TIME = 3.0
"""In which the effort against gravity fades where the arm is to be lowered [s]."""

UNKNOWN_TIME = 0.002
"""For which a rate limit counts from one damped state to the next whose stamp does not advance
[s]."""

LONGEST_STEP = 4.0
"""Of a state so many periods after the last, or before it, the desired position is led there."""

NOT_FOLLOWED = frozenset(
    (FaultKind.FOLLOWING, FaultKind.SATURATED, FaultKind.FROZEN_POSITION, FaultKind.VELOCITY)
)
"""Faults of the motion: the arm is not where it was sent."""


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
    fault : Fault or None
        What has ended the motion before this state.
    velocity : array, shape (n,), or None
        That the law used [rad/s or m/s].
    ahead : float
        How far the state before this one was stamped ahead of its time [s]: it is forgotten. 0
        in the usual case.
    unused_effort : str
        Why the first command does not begin at the measured effort, in a sentence; '' where it
        does, and of any other command.
    place : float
        Time of the state on the path that is followed: that of the state, but for motions that
        go slower than they were sent [s].
    """

    effort: FloatArray
    desired: DesiredState
    saturated: NDArray[np.bool_] | None
    refused: TrajectoryError | None
    fault: Fault | None = None
    velocity: FloatArray | None = None
    ahead: float = 0.0
    unused_effort: str = ''
    place: float = 0.0


class Observed(NamedTuple):
    """What is observed of the world outside.

    Attributes
    ----------
    external_effort : array, shape (n,), or None
        Exerted on the joints from outside [N m or N]; None when that is not observed.
    is_in_contact : bool
        Whether something touches the arm.
    has_reacted : bool
        Whether a contact has just ended the motion.
    """

    external_effort: FloatArray | None = None
    is_in_contact: bool = False
    has_reacted: bool = False


NOTHING_OBSERVED = Observed()


class _Inputs(NamedTuple):
    """What a law is given beside the state.

    Attributes
    ----------
    wrench : array, shape (6,), or None
    base : Base or None
    nature : tuple
        Another one when the readings are of another nature.
    """

    wrench: FloatArray | None = None
    base: Base | None = None
    nature: tuple[int, ...] = ()


NO_INPUTS = _Inputs()


class _Answer(NamedTuple):
    """What is reviewed of an answer.

    Attributes
    ----------
    law : ControlLaw
    position : array, shape (n,)
        [rad or m]
    measured, velocity : array, shape (n,), or None
        The velocity of the state, and the one that the law used [rad/s or m/s].
    error : array, shape (n,)
        Of the position [rad or m].
    desired : DesiredState
    effort, limited : array, shape (n,)
        That the law wants, and the command [N m or N].
    saturated : array, shape (n,), dtype bool, or None
    now : float
        [s]
    elapsed : float
        Since the state before [s]; 0 when that says nothing of the rate.
    hysteresis : array, shape (n,), or None
        Part of the effort that is of the path, which an observer knows nothing of [N m or N].
    """

    law: ControlLaw
    position: FloatArray
    measured: FloatArray | None
    velocity: FloatArray | None
    error: FloatArray
    desired: DesiredState
    effort: FloatArray
    limited: FloatArray
    saturated: NDArray[np.bool_] | None
    now: float
    elapsed: float
    hysteresis: FloatArray | None


class Controller:
    """Controls one arm.

    Parameters
    ----------
    tuning : Tuning
    wrist : WristWrench, optional
        Its readings are added to the dynamics.
    imu : BaseImu, optional
        Its readings say how the base stands and moves.
    submit : Submit, optional
        Plans what is followed anew, beside the states: in the node another process; by default
        who reviews a state.

    Attributes
    ----------
    peak_error : array, shape (n,)
        Largest absolute position error of each joint since it was last set to zero [rad or m].
    is_left : bool
        Whether the last ramp of :meth:`last_commands` got to its end.
    is_floating : bool
        Whether, after a contact, the arm is carried against gravity alone, and may be led.
    is_lowered : bool
        Whether the effort against gravity fades, or has: :meth:`lowering_commands`.
    setpoint : DesiredState or None
        Desired motion that goes with the last effort, of an answer, a brake or a last command;
        None before the first.
    observed : Observed
        As of the last review.
    """

    def __init__(
        self,
        tuning: Tuning,
        wrist: WristWrench | None = None,
        imu: BaseImu | None = None,
        submit: Submit = submit_here,
    ) -> None:
        self.wrist = wrist
        self.imu = imu
        self.is_left = True
        n = tuning.effort_limits.size
        self.peak_error = np.zeros(n)
        self._zero = np.zeros(n)
        self._limiter = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        self._guard = StateGuard(tuning.law.joints, tuning.states)
        self._motion = MotionGuard(tuning.law.joints, tuning.motion)
        self._followed = FollowedMotion(tuning, submit)
        self._offset = CommandOffset(tuning.transition_time)
        self._setpoint_bridge = SetpointBridge(tuning.transition_time)
        self._law_before: ControlLaw | None = None
        self._start: FloatArray | None = None
        self._inputs = NO_INPUTS
        self._answered = AnsweredStates()
        self._braked: tuple[FloatArray, FloatArray] | None = None
        self._compensation: FloatArray | None = None
        self._hysteresis = PathHysteresis(n)
        self._rate = StateRate()
        self._disturbance: DisturbanceObserver | None = None
        self._damping: FaultDamping | None = None
        self._damped_at = 0.0, 0.0
        self._heard_at = self._commanded_at = 0.0
        self._leaving: Iterator[FloatArray] | None = None
        self.is_floating = self.is_lowered = False
        self.observed = NOTHING_OBSERVED
        self._is_loop_judged = False
        self._reviewed: _Answer | None = None
        self.tuning = tuning
        self._begins_elsewhere = False
        self.adopt(tuning)
        self.reset()

    def adopt(self, tuning: Tuning) -> None:
        """Let another tuning count from the next state on; command and rate limit go on."""
        limiter = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        self._motion.configure(tuning.motion)
        if self.wrist is not None:
            self.wrist.configure(tuning.wrench)
        if self.imu is not None:
            self.imu.configure(tuning.imu)
        limiter.continue_from(self._limiter)
        self._limiter = limiter
        self._followed.configure(tuning)
        self._guard.configure(tuning.states)
        self._offset.configure(tuning.transition_time)
        self._setpoint_bridge.configure(tuning.transition_time)
        self._note_law()
        if tuning.mode is not self.tuning.mode:
            self._begins_elsewhere = True
        if tuning.disturbance is None or tuning.mode is Mode.FEEDFORWARD:
            # Where the robot closes the loop the command is not all that acts.
            self._disturbance = None
            self.observed = NOTHING_OBSERVED
        elif self._disturbance is None:
            self._disturbance = DisturbanceObserver(tuning.disturbance)
        else:
            self._disturbance.configure(tuning.disturbance)
        if tuning.on_fault is OnFault.LEAVE:
            self._damping = None
        self.tuning = tuning

    @property
    def _law(self) -> ControlLaw:
        """The law by which states are answered."""
        return self.tuning.hold_law if self.is_floating else self.tuning.law

    def _note_law(self) -> None:
        """Let the next command go on from that of the present law: another takes over."""
        if self._offset.duration == 0.0:
            self._law_before = None
        elif self._law_before is None:
            # Of several changes between two states the first is what the last command is of.
            self._law_before = self._law

    def reset(self) -> None:
        """Forget states, motion and last command: the next state is what is held.

        The rate of the states is no matter of who answers them: it is still known.
        """
        self._restart()
        self._guard.reset()
        self._limiter.reset()
        self._offset.clear()
        self._law_before = None
        self._inputs = NO_INPUTS
        self._velocity: FloatArray | None = None
        self._unreviewed: _Answer | None = None
        self.setpoint: DesiredState | None = None
        self._begins_elsewhere = False
        self._setpoint_bridge.clear()

    @property
    def position(self) -> FloatArray | None:
        """The last position that was believed [rad or m]; None before the first."""
        return self._guard.position if self._damping is None else self._damping.position

    @property
    def velocity(self) -> FloatArray | None:
        """Its velocity [rad/s or m/s]; None where none was measured, or it is not used."""
        return self._guard.velocity if self._motion.is_velocity_measured else None

    @property
    def time(self) -> float | None:
        """Its stamp [s]."""
        return self._guard.time

    @property
    def arrival(self) -> float | None:
        """When it came, by a clock that is never set back [s]."""
        return self._guard.arrival

    @property
    def period(self) -> float:
        """Mean time between the states of late [s]; 0 before three states have come."""
        return self._rate.period

    @property
    def fault(self) -> Fault | None:
        """Why no state is answered at present; None in the usual case."""
        return self._guard.fault

    @property
    def is_damped(self) -> bool:
        """Whether states are answered by damping: after a fault, where `on_fault` says so.

        That is while a fault latches, and while states come that are not believed yet.
        """
        if self._damping is not None:
            return True
        fault, tuning = self._guard.fault, self.tuning
        if fault is None or tuning.on_fault is not OnFault.DAMP:
            return False
        is_led = tuning.drives_close_loop or tuning.on_state_loss is OnStateLoss.LOWER
        return fault.latches or (fault.kind in STATES_STILL_COME and not is_led)

    @property
    def wants_effort(self) -> bool:
        """Whether the next command may begin at the measured effort."""
        return (
            self._limiter.last is None
            and self.tuning.state_effort is not StateEffort.IGNORE
            and (self._offset.duration > 0.0 or self._limiter.wants_start)
        )

    @property
    def trajectory(self) -> Motion | None:
        """The motion that is followed; None before the first state and in gravity mode."""
        return self._followed.trajectory

    def present_state(self) -> DesiredState | None:
        """Return where the arm should be, or where it is when nothing is followed.

        None before the first state.
        """
        if self.position is None or self.time is None:
            return None
        return self._followed.desired_at(self.position, self.time)

    def state_at(self, time: float) -> tuple[float, DesiredState]:
        """Return where the motion is at a time, as things stand, and when that is on its path.

        Parameters
        ----------
        time : float
            [s]

        Raises
        ------
        RuntimeError
            When no motion is followed.
        """
        trajectory = self._followed.trajectory
        if trajectory is None:
            raise RuntimeError('no motion is followed')
        scaling = self._followed.time_scaling
        return scaling.place_at(time), scaling.state_at(trajectory, time)

    def observe(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
    ) -> None:
        """Take note of a state that is not answered."""
        before, timeout = self._guard.time, self._guard.limits.timeout
        if before is not None and 0.0 < now - before <= timeout:
            self._rate.learn(now - before)
        self._reviewed = None
        self._guard.believe(position, velocity, now, arrival)

    def trip(self, kind: FaultKind, text: str) -> Fault:
        """Give the motion up; the arm is held where the states, once they agree, find it."""
        self._damping = None
        return self._guard.trip(kind, text)

    def excuse(self, duration: float) -> None:
        """Say that states may have come unheard: so much of the next gap is no fault.

        Parameters
        ----------
        duration : float
            For which nobody listened [s]. What adds up to more than `LONGEST_EXCUSE` is not
            excused.
        """
        self._guard.excuse(duration)

    def clear_fault(self) -> Fault:
        """Let a latched fault be over: the arm is held where the next states find it.

        Returns
        -------
        Fault
            What was cleared.

        Raises
        ------
        StateRefused
            When no fault latches, or no state has come since.
        """
        return self._guard.clear()

    def update(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
        measured_effort: FloatArray | None = None,
    ) -> Command:
        """Answer a state and review the motion, for whom nothing waits.

        Parameters and errors are those of :meth:`answer` and :meth:`review`.
        """
        command = self.answer(position, velocity, now, arrival, measured_effort)
        self.review()
        return command

    def answer(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
        measured_effort: FloatArray | None = None,
    ) -> Command:
        """Answer a state; :meth:`review` is to follow once the command is on its way.

        Parameters
        ----------
        position : array, shape (n,)
            [rad or m]
        velocity : array, shape (n,), or None
            [rad/s or m/s]; None is enough where the mode does not need it.
        now : float
            Time of the state [s].
        arrival : float
            Time at which it came, by a clock that is never set back [s].
        measured_effort : array, shape (n,), optional
            What the joint states report, whatever `state_effort` of the tuning says it is; see
            :attr:`wants_effort`. Zero for all joints says nothing: brakes hold the arm, or nobody
            measures.

        Returns
        -------
        Command

        Raises
        ------
        StateRefused
            When the state is not believed, or ends the motion. While a fault latches it is
            answered all the same where `on_fault` of the tuning is damp.
        InputError
            When the mode needs a velocity and there is none, or the effort is not finite.
        """
        motion, law = self._motion, self.tuning.law
        self._heard_at = now
        needs_velocity = motion.is_velocity_measured and law.needs_velocity
        if velocity is None and needs_velocity and not self.is_damped:
            raise InputError(
                f'velocity: got none; mode {law.mode.value} needs it', field='velocity'
            )
        before, was = self._guard.time, self._guard.fault
        try:
            # What is not used may say all the same that a fast motion is none of a broken sensor.
            fault = self._guard.judge(position, velocity, now, arrival)
        except StateRefused as refusal:
            if refusal.fault is not None or not self.is_damped:
                raise
            return self._damp(position, now, arrival)
        if fault is not None:
            self._restart()
        measured, velocity = velocity, motion.velocity(position, velocity, now)
        inputs = self._read_sensors(now)
        law = self._law
        if self._law_before is not None or inputs.nature != self._inputs.nature:
            self._change_model(position, velocity, now, inputs)
        desired_before = (
            None if self._law_before is None else self._followed.desired_at(position, now)
        )
        goes_on = self._going_on(position, now)
        desired, refused = self._desired(position, velocity, now, inputs)
        scaling = self._followed.time_scaling
        place, path = scaling.place_at(now), None
        followed = self._followed.trajectory
        if scaling.is_needed and scaling.clock is not None and followed is not None:
            path = followed.sample(place)
            desired = scaling.clock.moved(path)
        elapsed = since = 0.0 if before is None or fault is not None else now - before
        begins = fault is not None or self._limiter.last is None
        unused_effort = ''
        if begins:
            # Nobody knows what time the last command was for.
            elapsed = 0.0
            unused_effort = self._begin(position, measured_effort)
        self._offset.decay(elapsed)
        if self.tuning.drives_close_loop:
            self._take_back_step(goes_on, desired)
            desired = self._go_on(desired, elapsed, begins=begins)
        hysteresis_before = self._hysteresis.effort
        hysteresis = self._hysteresis.follow(law, desired)
        try:
            effort = law.effort(position, velocity, desired, inputs.wrench, inputs.base)
            if hysteresis is not None:
                effort = effort + hysteresis
            error = law.error
            if not law.has_feedback:
                error = law.position_error(desired.position, position)
            compensation = self._find_compensation(law)
            if compensation is not None:
                effort = effort - compensation
            if path is not None:
                offset = self._offset.value
                desired, pushing = scaling.choose(
                    law,
                    position,
                    path,
                    desired,
                    effort if offset is None else effort + offset,
                    inputs.wrench,
                    elapsed,
                )
                effort = effort + pushing
            wanted = effort
            if begins:
                self._bridge(self._start, effort)
            elif desired_before is not None:
                past = self._effort_before(position, velocity, desired_before, hysteresis_before)
                self._bridge(past, effort)
            elif inputs.nature != self._inputs.nature:
                past = self._effort_before(position, velocity, desired, hysteresis)
                self._bridge(past, effort)
            if self._offset.value is not None:
                effort = self._limiter.clamp(effort) + self._offset.value
            limited, saturated = self._limiter.apply(effort, elapsed)
        except InputError as refusal:
            if fault is None:
                raise
            # Not answered, so not over.
            self._guard.restore(fault)
            news = fault if was is None else None
            raise StateRefused('effort', str(refusal), news) from refusal
        self._law_before, self._inputs, self._velocity = None, inputs, velocity
        self.setpoint = desired
        self._compensation = compensation
        self._unreviewed = _Answer(
            law,
            position,
            measured,
            velocity,
            error,
            desired,
            wanted,
            limited,
            saturated,
            now,
            since,
            hysteresis,
        )
        return Command(
            limited,
            desired,
            saturated,
            refused,
            fault,
            velocity,
            self._guard.ahead,
            unused_effort,
            place,
        )

    def review(self) -> None:
        """Look at the last answer once more: what costs time, and can wait until it is sent.

        Raises
        ------
        StateRefused
            When the motion is not followed, or its velocities are wrong: it ends.
        """
        answer, self._unreviewed = self._unreviewed, None
        if answer is None:
            return
        self._reviewed = answer
        law, position, velocity, now = answer.law, answer.position, answer.velocity, answer.now
        if answer.elapsed > 0.0:
            self._rate.learn(answer.elapsed)
        if self._rate.is_known and not self._is_loop_judged:
            self._is_loop_judged = True
            refusals = self._judge_loop(self.tuning).refusals
            if refusals:
                fault = Fault(FaultKind.UNSTABLE, '; '.join(refusals), latches=True)
                self._end_on(fault, 'gains')
        if velocity is not None:
            self._answered.append(now, position, velocity, answer.limited)
        np.maximum(self.peak_error, np.abs(answer.error), out=self.peak_error)
        if self._disturbance is not None:
            self._observe(answer, self._disturbance)
        motion = self._motion
        self._end_on(motion.judge_velocity(law, position, answer.measured, now), 'velocity')
        inputs = self._inputs
        answered = AnsweredState(
            law, position, answer.desired, answer.limited, now, inputs.wrench, inputs.base
        )
        found = motion.judge_motion(
            answered, velocity, answer.error, answer.effort, self._limiter.limits
        )
        self._end_on(found, 'position')
        if self._followed.time_scaling.slows_down:
            self._followed.reconsider(self._present)

    def _observe(self, answer: _Answer, disturbance: DisturbanceObserver) -> None:
        """Observe what the model does not have; let a contact end the motion."""
        begins, inputs = False, self._inputs
        if answer.velocity is None:
            # What was seen last is not what there is now.
            disturbance.reset()
        else:
            # Without a finite effort of the model nothing is observed: the law says so of itself.
            with contextlib.suppress(InputError):
                begins = disturbance.observe(
                    answer.law,
                    answer.position,
                    answer.velocity,
                    answer.now,
                    inputs.wrench,
                    inputs.base,
                )
        has_reacted = begins and self._react(disturbance.tuning.reaction)
        command = answer.limited
        if answer.hysteresis is not None:
            command = command - answer.hysteresis
        disturbance.note_command(
            command, answer.saturated, answer.desired.velocity, answer.error, answer.now
        )
        self.observed = Observed(
            disturbance.external_effort, disturbance.is_in_contact, has_reacted
        )

    def _react(self, reaction: ContactReaction) -> bool:
        """Let the next command be that of a contact; return whether another one is."""
        if reaction is ContactReaction.NONE or not self.tuning.mode.follows or self.is_floating:
            return False
        if reaction is ContactReaction.HOLD:
            self.hold(where_found=True)
        else:
            self._note_law()
            self.is_floating = True
        return True

    def _change_model(
        self, position: FloatArray, velocity: FloatArray | None, now: float, inputs: _Inputs
    ) -> None:
        """Let what the model has more, or less, than before be compensated no longer."""
        disturbance, law, before = self._disturbance, self._law, self._inputs
        if disturbance is None or velocity is None:
            return
        law_before = law if self._law_before is None else self._law_before
        desired_velocity = self._followed.desired_at(position, now).velocity
        motion = position, velocity, self._zero, desired_velocity
        try:
            present = law.compensation.effort(*motion, inputs.wrench, inputs.base)
            past = law_before.compensation.effort(*motion, before.wrench, before.base)
        except InputError:
            # The law will say so of itself.
            return
        for each, effort in (law, present), (law_before, past):
            of_path = self._hysteresis.effort_at(each, desired_velocity)
            if of_path is not None:
                effort += of_path
        disturbance.go_on(present - past)

    def _end_floating(self) -> None:
        """Let the feedback count again, from where the arm is found."""
        if self.is_floating:
            self._note_law()
            self.is_floating = False

    def _going_on(self, position: FloatArray, now: float) -> DesiredState | None:
        """Return where drives would be told to be without the motion that waits; None if none."""
        followed = self._followed
        if not (self.tuning.drives_close_loop and followed.has_requests and followed.trajectory):
            return None
        return followed.desired_at(position, now)

    def _take_back_step(self, before: DesiredState | None, desired: DesiredState) -> None:
        """Let drives go over to a motion that begins elsewhere, at a first point due at once."""
        trajectory = self._followed.trajectory
        if before is None or trajectory is None or trajectory.has_steps:
            return
        step = self._law.position_error(before.position, desired.position)
        if np.abs(step).max() > ROUNDING:
            self._setpoint_bridge.shift(step)

    def _go_on(self, desired: DesiredState, elapsed: float, *, begins: bool) -> DesiredState:
        """Return a desired state that goes on from what the drives were told last."""
        sent, law, period = self.setpoint, self._law, self.period
        # The motion goes on while no states come, and with a stamp ahead of its time.
        leaps = period > 0.0 and not 0.0 <= elapsed <= LONGEST_STEP * period
        if sent is not None and (begins or leaps or self._begins_elsewhere):
            gap = law.position_error(sent.position, desired.position)
            if begins:
                self._setpoint_bridge.begin(gap, REACH_TIME * self._followed.stop_limits.speeds)
            else:
                self._setpoint_bridge.change(gap)
            elapsed = 0.0
        self._begins_elsewhere = False
        return self._setpoint_bridge.apply(desired, elapsed)

    def _find_compensation(self, law: ControlLaw) -> FloatArray | None:
        """Return what is taken out of the command: where nothing feeds back it would be felt."""
        if self._disturbance is None:
            return None
        return self._disturbance.compensate(counts=law.has_feedback)

    def _end_on(self, fault: Fault | None, field: str) -> None:
        """Give the motion up, and refuse the state that has shown why."""
        if fault is not None:
            kind, text, latches, joints = fault
            fault = self._guard.trip(kind, text, latches=latches, joints=joints)
            raise StateRefused(field, fault.text, fault)

    def damp(self) -> Command:
        """Answer the state that has shown a fault: see :attr:`is_damped`.

        Raises
        ------
        StateRefused
            When the effort is not finite.
        """
        position, now = self._guard.position, self._guard.time
        if position is None or now is None:
            raise RuntimeError('no state has come')
        return self._damp(position, now, self._guard.arrival or 0.0)

    def _damp(self, position: FloatArray, now: float, arrival: float) -> Command:
        """Answer a state while a fault latches: by gravity compensation and damping."""
        begins = self._damping is None
        damping = self._begin_damping(position) if self._damping is None else self._damping
        elapsed = since = 0.0 if begins else self._damped_time(now, arrival)
        if not begins and now > self._damped_at[0]:
            # The state that has shown the fault may be later than the last that was believed.
            since = min(elapsed, max(now - self._commanded_at, 0.0))
        elif not begins:
            since = min(elapsed, UNKNOWN_TIME)
        self._damped_at, self._commanded_at = (now, arrival), self._heard_at
        last, inputs, tuning = self._limiter.last, self._read_sensors(now), self.tuning
        damping.step(position, elapsed, self._zero if last is None else last)
        if tuning.drives_close_loop:
            return self._lead_drives(damping, elapsed)
        try:
            held, effort = damping.compute_effort(
                tuning.hold_law.compensation, self._limiter.limits, inputs.wrench, inputs.base
            )
        except InputError as refusal:
            raise StateRefused('effort', str(refusal)) from refusal
        is_new = elapsed > tuning.states.timeout or self._law_before is not None
        is_new |= inputs.nature != self._inputs.nature
        # A command that was computed from a measurement that is not believed is not faded.
        if last is not None and (is_new or (begins and damping.believed.all())):
            damping.go_on_from(last, self._limiter.clamp(held))
        offset = damping.fade(elapsed)
        limited, saturated = self._limiter.apply(
            effort if offset is None else effort + offset, since
        )
        self._answered.append(now, damping.position, damping.velocity, limited)
        self._law_before, self._inputs = None, inputs
        self.setpoint = desired = resting_state(damping.position)
        return Command(limited, desired, saturated, None, velocity=damping.velocity)

    def _lead_drives(self, damping: FaultDamping, elapsed: float) -> Command:
        """Bring drives that close the loop to rest while a fault latches; they damp themselves."""
        if self._leaving is None:
            self._leaving = self.last_commands()
        for _ in itertools.islice(self._leaving, max(1, round(elapsed / RAMP_PERIOD))):
            pass
        effort, desired = self._limiter.last, self.setpoint
        return Command(
            self._zero if effort is None else effort,
            resting_state(damping.position) if desired is None else desired,
            None,
            None,
            velocity=damping.velocity,
        )

    def _model_efforts(self) -> ModelEfforts:
        """Return the efforts of the model without the wrench, on the base as it stands now."""
        compensation, base = self.tuning.hold_law.compensation, self._inputs.base
        return lambda q, qd, qdd, qd_friction: compensation.effort(
            q, qd, qdd, qd_friction, None, base
        )

    def _begin_damping(self, position: FloatArray) -> FaultDamping:
        """Give up the motion, and see what of the last states is believed."""
        fault, tuning = self._guard.fault, self.tuning
        damping = FaultDamping(
            tuning.law.joints,
            self._model_efforts(),
            tuning.states.velocities,
            position,
            self._answered,
            () if fault is None else fault.joints,
            self._find_damping_rate(position),
        )
        self._restart()
        self._offset.clear()
        self._damping, self._leaving = damping, None
        return damping

    def _find_damping_rate(self, position: FloatArray) -> float:
        """Return the rate at which velocities are to decay where the arm is [1/s]."""
        tuning = self.tuning
        law = tuning.hold_law
        gravity = law.compensation.gravity(position, self._inputs.base)
        try:
            fall: FloatArray = np.asarray(
                np.linalg.solve(law.dynamics.mass_matrix(position), gravity), np.float64
            )
        except np.linalg.LinAlgError:
            fall = np.zeros_like(gravity)
        return find_damping_rate(law.joints, fall, self.period)

    def _damped_time(self, now: float, arrival: float) -> float:
        """Return the time since the state before.

        Where the stamps do not advance it is the mean period, as far as that is known: states may
        have waited for one another, and come at once.
        """
        before, came = self._damped_at
        elapsed = now - before
        return elapsed if elapsed > 0.0 else self.period or max(arrival - came, 0.0)

    def _restart(self) -> None:
        """Hold where the arm is: the motion, and what was measured before, are of the past."""
        self._damping = None
        self._followed.forget()
        self._is_loop_judged = False
        self._reviewed = None
        self._motion.reset()
        self._answered.clear()
        self._compensation = None
        self.is_floating = self.is_lowered = False
        if self._disturbance is not None:
            self._disturbance.reset()
            self.observed = NOTHING_OBSERVED

    def _begin(self, position: FloatArray, measured_effort: FloatArray | None) -> str:
        """Find where a command begins that no feedback leads to: the first, and after a fault.

        Returns
        -------
        str
            Why that is not at the measured effort, though there is one.
        """
        limiter, tuning = self._limiter, self.tuning
        self._offset.clear()
        self._start = limiter.last
        if measured_effort is None or not self.wants_effort:
            return ''
        if not measured_effort.any():
            if limiter.wants_start:
                limiter.start_from(measured_effort)
            return ''
        compensation = tuning.hold_law.compensation
        try:
            beginning = find_beginning(
                measured_effort,
                tuning.state_effort,
                holding=self._holding_effort(tuning),
                gravity=compensation.gravity(position, self._resting_base()),
                commands_gravity=compensation.terms.gravity,
                limits=limiter.limits,
                joint_names=[joint.name for joint in tuning.law.joints],
            )
        except InputError:
            # The law will say so of itself.
            return ''
        self._start = beginning.effort
        if limiter.wants_start and beginning.effort is not None:
            limiter.start_from(beginning.effort)
        return beginning.refusal

    def _effort_before(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        desired: DesiredState,
        hysteresis: FloatArray | None,
    ) -> FloatArray | None:
        """Return the command of this state, had nothing changed; the last one if there is none."""
        law = self._law if self._law_before is None else self._law_before
        inputs, offset = self._inputs, self._offset.value
        try:
            effort = law.effort(position, velocity, desired, inputs.wrench, inputs.base)
            if hysteresis is not None:
                effort = effort + hysteresis
            if self._compensation is not None:
                effort = effort - self._compensation
            effort = self._limiter.clamp(effort)
            return effort if offset is None else self._limiter.clamp(effort + offset)
        except InputError:
            return self._limiter.last

    def _bridge(self, start: FloatArray | None, effort: FloatArray) -> None:
        """Let the command go on from one that was sent, or would have been."""
        if start is not None:
            self._offset.change(self._limiter.clamp(start) - self._limiter.clamp(effort))

    def _read_sensors(self, now: float) -> _Inputs:
        wrist, imu = self.wrist, self.imu
        if wrist is None and imu is None:
            return NO_INPUTS
        wrench, base = None, None
        nature: tuple[int, ...] = ()
        if wrist is not None:
            wrench = wrist.at(now)
            nature = wrist.tares, wrist.is_stale(now)
        if imu is not None:
            motion = imu.at(now)
            base = None if motion is None else Base(motion, imu.resting_at(now))
            nature = *nature, imu.is_stale(now)
        return _Inputs(wrench, base, nature)

    def _desired(
        self, position: FloatArray, velocity: FloatArray | None, now: float, inputs: _Inputs
    ) -> tuple[DesiredState, TrajectoryError | None]:
        motion = self._followed
        if self.tuning.mode is Mode.GRAVITY_COMPENSATION or self.is_floating:
            # The arm is led by hand: wherever it is left is what another mode will hold.
            motion.forget()
            return resting_state(position), None
        refused = None
        if not motion.is_idle:
            refused = motion.advance(self._circumstances(position, velocity, now, inputs))
        return motion.desired_at(position, now), refused

    def _circumstances(
        self,
        position: FloatArray | None,
        velocity: FloatArray | None,
        now: float | None,
        inputs: _Inputs,
    ) -> Circumstances:
        return Circumstances(
            now, position, velocity, inputs.wrench, inputs.base, self._resting_base()
        )

    @property
    def _present(self) -> Circumstances:
        return self._circumstances(self.position, self._velocity, self.time, self._inputs)

    @property
    def planning_settings(self) -> PlanningSettings:
        """What counts for what is planned now; another object when it has changed."""
        return self._followed.settings

    def planner(self, until: float | None = None) -> MotionPlanner:
        """Return what plans motions for the arm as it is now: to be used, or copied, at once.

        Parameters
        ----------
        until : float, optional
            When they begin; for ever where joints that are left out go on as they do [s].
        """
        return self._followed.planner(self._present, until)

    def follow(self, waypoints: Waypoints, start_time: float | None = None) -> MotionPlan:
        """Plan a motion at once, and follow it from the next state on.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float, optional
            Time from which theirs count [s]; that of the next state when None.

        Returns
        -------
        MotionPlan

        Raises
        ------
        InfeasibleMotionError
            When the motion is not to be followed: nothing changes then.
        """
        plan = self.planner(start_time).plan(waypoints, start_time)
        self.follow_plan(plan)
        return plan

    def follow_plan(self, plan: MotionPlan) -> None:
        """Follow what was planned from the next state on, instead of what is followed now."""
        self._followed.follow(plan, self._present)
        self._end_floating()

    @property
    def speed(self) -> float:
        """Speed at which the motion is followed on its path: 1 as it was sent."""
        clock = self._followed.time_scaling.clock
        return 1.0 if clock is None else clock.speed

    @property
    def speed_scaling(self) -> float:
        """Speed that is asked for; see :meth:`scale_speed`."""
        return self._followed.time_scaling.target

    def scale_speed(self, factor: float) -> None:
        """Follow this motion, and all that come, at another speed along the same path.

        Parameters
        ----------
        factor : float
            1: as they were sent; 0: not at all, until another factor comes.

        Raises
        ------
        InputError
            When it is not finite or negative, or more than 1 where motions are not slowed down:
            nobody has looked whether the arm can do that.
        """
        most = np.inf if self._followed.time_scaling.slows_down else 1.0
        if not (np.isfinite(factor) and 0.0 <= factor <= most):
            to = 'a finite number' if most > 1.0 else '1 (more with when_infeasible slow_down)'
            raise InputError(f'factor: expected from 0 to {to}, got {factor:g}', field='factor')
        self._followed.time_scaling.scale(factor)

    def place_of(self, start_time: float | None) -> float | None:
        """Return a start by the clock of the states as one on the path that is followed [s].

        Parameters
        ----------
        start_time : float or None
            [s]; None for one with the state to come.
        """
        now = self.time
        if now is None:
            return start_time
        return self._followed.time_scaling.path_time.start_of(start_time, now)

    def hold(self, *, where_found: bool = False) -> None:
        """Stop the desired motion: along its path, as soon as the limits allow.

        Parameters
        ----------
        where_found : bool
            The measured one instead: an arm that is kept from where it should be no longer
            pushes.
        """
        self._end_floating()
        self._followed.hold(self._present, where_found=where_found)
        self._begins_elsewhere |= where_found

    def judge(self, tuning: Tuning) -> Verdict:
        """Judge whether a tuning can work where the arm is and at the rate of its states.

        Nothing is said of what is not known yet.
        """
        verdicts = self._judge_each(tuning)
        return Verdict(
            [refusal for verdict in verdicts for refusal in verdict.refusals],
            [remark for verdict in verdicts for remark in verdict.remarks],
        )

    def judge_change(self, tuning: Tuning) -> list[str]:
        """Return why a tuning cannot work where what counts now can.

        What became impossible in one respect may be left by any way, but for one that is
        impossible in another.
        """
        pairs = zip(self._judge_each(tuning), self._judge_each(self.tuning), strict=True)
        refusals = [one for new, old in pairs if not old.refusals for one in new.refusals]
        return refusals + self._refuse_following_limits(tuning)

    def judge_activation(self) -> list[str]:
        """Return why the loop cannot work once states are answered, as far as that is known."""
        return self._judge_loop(self.tuning).refusals

    def _refuse_following_limits(self, tuning: Tuning) -> list[str]:
        """Return why limits of the following error would give the present motion up."""
        answer = self._reviewed
        if answer is None or self.fault is not None or not tuning.mode.follows:
            return []
        velocity = answer.velocity
        return refuse_following_limits(
            [joint.name for joint in tuning.law.joints],
            tuning.motion.following,
            self.tuning.motion.following,
            (answer.error, self.peak_error),
            None if velocity is None else answer.desired.velocity - velocity,
        )

    def _judge_loop(self, tuning: Tuning) -> Verdict:
        """Return whether the feedback is stable where the arm is, at the rate of its states."""
        position, law, period = self.position, tuning.law, self.period
        if position is None or period == 0.0 or not law.has_feedback:
            return Verdict([], [])
        velocity = tuning.motion.velocity
        drives = find_drive_inertias(law.joints)
        verdict = judge_gains_and_drives(
            law.mode,
            law.gains,
            lambda: law.dynamics.mass_matrix(position),
            drives,
            period,
            velocity,
            0.0 if tuning.disturbance is None else tuning.disturbance.feedback_rate,
        )
        if verdict.refusals or not tuning.effort_rates.any():
            return verdict
        inverse = None
        if law.mode is Mode.FEEDFORWARD_PD:
            matrix = law.dynamics.mass_matrix(position) + np.diag(drives)
            inverse = np.diagonal(np.linalg.inv(matrix))
        slow = refuse_slow_rates(
            law,
            tuning.effort_limits,
            tuning.effort_rates,
            [joint.name for joint in law.joints],
            period,
            velocity,
            inverse,
        )
        return Verdict(slow, verdict.remarks)

    def _judge_each(self, tuning: Tuning) -> list[Verdict]:
        """Return what is to be said of each respect, always as many."""
        nothing, position, law = Verdict([], []), self.position, tuning.law
        limits = timeout = velocities = nothing
        if position is not None:
            names = [joint.name for joint in law.joints]
            # Who pushes at the sensor now may let go: the weight is what the motors must carry.
            weight = self._holding_effort(tuning, feels_wrench=False)
            limits = judge_limits(names, weight, tuning.effort_limits)
            velocities = judge_velocities(
                law, tuning.motion.velocity, are_measured=self._guard.velocity is not None
            )
        if position is not None and self.period > 0.0:
            timeout = judge_timeout(tuning.states.timeout, self.period)
        return [limits, velocities, self._judge_loop(tuning), timeout]

    def braking_commands(self, silent_for: float) -> Iterator[FloatArray] | None:
        """Return the commands that bring an arm to rest whose states have stopped.

        Then they are those of :meth:`last_commands` for where it should be by then. Each is for
        `RAMP_PERIOD` after the one before, the first for that long from now.

        Parameters
        ----------
        silent_for : float
            Time since the last state [s].

        Returns
        -------
        iterator of array, shape (n,), or None
            [N m or N]; None when nothing is to be braked, or nothing can be said of the motion.
            Drives that close the loop are always braked: along the desired motion.
        """
        tuning, position = self.tuning, self.position
        if tuning.drives_close_loop:
            moves = self.setpoint is not None and bool(self.setpoint.velocity.any())
            return self.last_commands() if moves else None
        if tuning.on_state_loss is not OnStateLoss.BRAKE or not tuning.mode.has_feedback:
            return None
        try:
            brake = plan_brake(
                self._answered,
                self._model_efforts(),
                self._followed.stop_limits,
                silent_for=silent_for,
                period=RAMP_PERIOD,
            )
        except InputError:
            return None
        last = self._answered.last
        if brake is None or last is None or position is not last.position:
            return None
        self._braked = (position, brake.end)
        return self._brake(brake)

    def lowering_commands(self) -> Iterator[FloatArray]:
        """Return the commands that let an arm down which nobody sees, each after `RAMP_PERIOD`.

        First those of :meth:`last_commands`, then what holds the arm fades to nothing within
        `LOWERING_TIME`: joints sink one by one, as their friction no longer carries the rest.

        Yields
        ------
        array, shape (n,)
            [N m or N]

        Raises
        ------
        InputError
            When the effort is not finite.
        """
        yield from self.last_commands()
        held = self._limiter.last
        if held is not None:
            for effort in ramp(held, self._zero, LOWERING_TIME, RAMP_PERIOD):
                self.is_lowered = True
                yield self._limiter.apply(effort, RAMP_PERIOD).effort

    def _brake(self, brake: Brake) -> Iterator[FloatArray]:
        for effort in brake.efforts:
            yield self._limiter.apply(effort, RAMP_PERIOD).effort
        yield from self.last_commands()

    def last_commands(self, last: LastCommand = LastCommand.GRAVITY) -> Iterator[FloatArray]:
        """Return the commands that leave the arm alone, each `RAMP_PERIOD` after the one before.

        A ramp over the transition time, and no faster than the rate limit, which is given up
        after `LONGEST_RAMP`: see :attr:`is_left`. One command when there is nothing to ramp.
        None when no state has come, so that no command has gone out, or none is asked for.
        An arm that is let down keeps what the effort has faded to, in place of gravity's.
        :attr:`setpoint` is what goes with each: drives that close the loop are brought to rest
        along the desired motion, and where that was not followed, to where the arm was found.

        Parameters
        ----------
        last : LastCommand

        Yields
        ------
        array, shape (n,)
            [N m or N]

        Raises
        ------
        InputError
            When the effort is not finite.
        """
        # How well it was followed is of the past.
        self._reviewed = None
        if self.position is None or self.time is None or last is LastCommand.NONE:
            return
        if self.tuning.drives_close_loop and self.setpoint is not None:
            yield from self._bring_drives_to_rest(self.setpoint, last)
            return
        limiter = self._limiter
        target = self._zero
        if last is LastCommand.GRAVITY and self.is_lowered and limiter.last is not None:
            # It has sunk since: what carried it where it was last seen would throw it.
            target = limiter.last
        elif last is not LastCommand.ZERO:
            target = self._holding_effort(self.tuning)
            path = self._hysteresis.effort_at(self._law, self._zero)
            if path is not None and self._hysteresis.effort is not None:
                # Friction at rest goes on pushing as it did.
                target = target + path
            if self._compensation is not None:
                # What the model lacked is lacking still.
                target = target - self._compensation
        clamped = limiter.clamp(target)
        duration = min(self._offset.duration, LONGEST_RAMP)
        start = clamped if limiter.last is None or duration == 0.0 else limiter.clamp(limiter.last)
        way = ramp(start, clamped, duration, RAMP_PERIOD)
        for index in range(round(LONGEST_RAMP / RAMP_PERIOD)):
            # Another tuning may have come between two commands, and a limiter with it.
            yield self._limiter.apply(way[min(index, len(way) - 1)], RAMP_PERIOD).effort
            self.is_left = index >= len(way) - 1 and not self._limiter.is_on_its_way(clamped)
            if self.is_left:
                return

    def _bring_drives_to_rest(
        self, setpoint: DesiredState, last: LastCommand
    ) -> Iterator[FloatArray]:
        compensation, base = self.tuning.hold_law.compensation, self._resting_base()
        wrench, effort, fault = self._inputs.wrench, self._limiter.last, self._guard.fault

        def compute_efforts(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
            # As the law that has computed what was sent.
            qdd = qdd if compensation.terms.inertia else np.zeros_like(qdd)
            return compensation.effort_or_infinite(q, qd, qdd, wrench, base)

        way = plan_rest(
            Setpoint(self._zero if effort is None else effort, setpoint),
            self._followed.stop_limits,
            compute_efforts,
            duration=min(self._offset.duration, LONGEST_RAMP),
            period=RAMP_PERIOD,
            found=self.position if fault is not None and fault.kind in NOT_FOLLOWED else None,
            position_error=self._law.position_error,
            is_limp=last is LastCommand.ZERO,
        )
        for index in range(round(LONGEST_RAMP / RAMP_PERIOD)):
            wanted = way[min(index, len(way) - 1)]
            limited = self._limiter.apply(wanted.effort, RAMP_PERIOD).effort
            self.setpoint = wanted.desired
            yield limited
            target = self._limiter.clamp(wanted.effort)
            self.is_left = index >= len(way) - 1 and not self._limiter.is_on_its_way(target)
            if self.is_left:
                return

    def _holding_effort(self, tuning: Tuning, *, feels_wrench: bool = True) -> FloatArray:
        """Return the effort that holds the arm where it is left, not limited.

        That is its last position, or where it was braked since. Without the wrench it is that of
        the model with all that it carries.
        """
        position, now = self.position, self.time
        if position is None or now is None:
            raise RuntimeError('no state has come')
        if self._braked is not None and self._braked[0] is position:
            position = self._braked[1]
        wrench = self.wrist.at(now) if self.wrist is not None and feels_wrench else None
        base = self._resting_base()
        return tuning.hold_law.effort(position, None, resting_state(position), wrench, base)

    def _resting_base(self) -> Base | None:
        """Return how the base stands: what moves now is no guide to later, the tilt alone."""
        now = self.time
        if self.imu is None or now is None or self.imu.at(now) is None:
            return None
        resting = self.imu.resting_at(now)
        return Base(resting, resting)
