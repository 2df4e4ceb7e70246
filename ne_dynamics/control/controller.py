"""The controller of one arm: joint states in, commands out. No ROS, no clock of its own.

A joint state goes through a row of stages, each in its file in `control/stages`:

    accept -> sense -> desired -> law -> observer -> pace -> transition -> limits

and :class:`ne_dynamics.control.tick.Tick` is all that passes between them. After the command is
sent, the same tick is reviewed. Beside the row stand :mod:`ne_dynamics.control.command_machine`,
with the commands that answer no joint state, and :mod:`ne_dynamics.control.damped_arm`, with the
answers after a fault.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ne_dynamics.control.command_machine import CommandMachine, CommandState, LastKnown
from ne_dynamics.control.contact import ContactReaction
from ne_dynamics.control.damped_arm import DampedArm
from ne_dynamics.control.desired.motion_planner import Circumstances
from ne_dynamics.control.desired.time_scaling import Submit, submit_here
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.guards.tuning_check import TuningCheck
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.stages.accept import Accept
from ne_dynamics.control.stages.desired import Desired
from ne_dynamics.control.stages.law import Law
from ne_dynamics.control.stages.limits import Limits
from ne_dynamics.control.stages.observer import Observer
from ne_dynamics.control.stages.pace import Pace
from ne_dynamics.control.stages.review import Review
from ne_dynamics.control.stages.sense import Sense
from ne_dynamics.control.stages.transition import Transition
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray


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
    tuning : Tuning
        That counts.
    accept, sense, motion, law, observer, pace, transition, limits, watch
        The stages. :class:`Desired`, the motion, is also where motions are asked for.
    machine : CommandMachine
        Has the commands that answer no joint state.
    damped : DampedArm
        Answers states after a fault.
    check : TuningCheck
        Says whether a tuning can work.
    """

    def __init__(
        self,
        tuning: Tuning,
        wrist: WristWrench | None = None,
        imu: BaseImu | None = None,
        submit: Submit = submit_here,
    ) -> None:
        n = tuning.effort_limits.size
        self.tuning = tuning
        self.accept = Accept(tuning)
        self.sense = Sense(tuning, wrist, imu)
        self.limits = Limits(tuning)
        self.watch = Review(tuning)
        self.machine = CommandMachine(
            self.sense, self.limits, self.watch.answered, self._find_known
        )
        self.motion = Desired(tuning, submit, self._find_present, self.machine)
        self.law = Law(n)
        self.observer = Observer(tuning)
        self.pace = Pace(self.motion.followed.time_scaling)
        self.transition = Transition(tuning)
        self.check = TuningCheck(self.accept, self.watch, self.machine, self._find_known)
        self.damped = DampedArm(
            self.accept,
            self.sense,
            self.limits,
            self.machine,
            self.watch.answered,
            self._restart,
        )
        self._row = self._wire()
        self._zero = np.zeros(n)
        if wrist is not None:
            wrist.find_overload = self._find_overload
        self._heard_at = 0.0
        self._answered: Tick | None = None
        self._unreviewed: Tick | None = None

    def adopt(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on; command and rate limit go on."""
        for stage in (
            self.sense,
            self.limits,
            self.accept,
            self.motion,
            self.observer,
            self.transition,
            self.watch,
        ):
            stage.configure(tuning)
        self.tuning = tuning
        self._row = self._wire()

    def _wire(self) -> tuple[Callable[[Tick], None], ...]:
        """Return the row after accept; stages that this tuning does not need are left out."""
        transition, tuning = self.transition, self.tuning
        steps = (
            self.sense.step,
            transition.notice,
            self.motion.step,
            transition.lead if tuning.drives_close_loop else None,
            self.law.step,
            self.observer.step if self.observer.is_on else None,
            self.pace.step,
            transition.step,
            self.limits.step,
        )
        return tuple(step for step in steps if step is not None)

    def reset(self) -> None:
        """Forget states, motion and last command: the arm is held where the next state finds it.

        The rate of the states is no matter of who answers them: it is still known.
        """
        self._restart()
        for stage in (self.accept, self.sense, self.motion, self.transition, self.limits):
            stage.reset()
        self.machine.state = CommandState.LEFT
        self._answered = self._unreviewed = None

    def _restart(self) -> None:
        """Hold where the arm is: the motion, and what was measured before, are of the past."""
        self.damped.end()
        for stage in (self.sense, self.motion, self.observer, self.watch, self.check):
            stage.restart()
        self.machine.state = CommandState.COMMANDING

    # ---- one joint state

    def update(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
        measured_effort: FloatArray | None = None,
    ) -> Tick:
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
    ) -> Tick:
        """Answer a state; :meth:`review` is to follow once the command is on its way.

        Parameters are those of :class:`Tick`. A velocity of None is enough where the mode needs
        none, and the measured effort counts where :attr:`wants_effort` says so.

        Raises
        ------
        StateRefused
            When the state is not believed, or ends the motion. While a fault latches it is
            answered all the same where `on_fault` of the tuning is damp.
        InputError
            When the mode needs a velocity and there is none, or the effort is not finite.
        """
        if velocity is None:
            self._require_no_velocity()
        self._heard_at = now
        tuning, limits = self.tuning, self.limits
        law, last, before = self._law, limits.limiter.last, self._answered
        tick = Tick(tuning, law, position, velocity, now, arrival, measured_effort, before, last)
        if tuning.drives_close_loop:
            tick.last_setpoint = limits.setpoint
        try:
            self.accept.step(tick)
        except StateRefused as refusal:
            if refusal.fault is not None or not self.is_damped:
                raise
            self._damp(tick)
            return tick
        self._run_row(tick)
        if tick.begins:
            self.machine.state = CommandState.COMMANDING
        tick.before = tick.changed_from = None
        self._answered = self._unreviewed = tick
        return tick

    def _run_row(self, tick: Tick) -> None:
        """Answer a state that is believed; a fault that it ends goes on where that fails."""
        if tick.fault is not None:
            self._restart()
            tick.law = tick.tuning.law
        try:
            for step in self._row:
                step(tick)
        except InputError as refusal:
            if tick.fault is None:
                raise
            self.accept.guard.restore(tick.fault)
            news = None if tick.had_fault else tick.fault
            raise StateRefused('effort', str(refusal), news) from refusal

    def review(self) -> None:
        """Look at the last answer once more: what costs time, and can wait until it is sent.

        Raises
        ------
        StateRefused
            When the motion is not followed, or its velocities are wrong: it ends.
        """
        tick, self._unreviewed = self._unreviewed, None
        if tick is None:
            return
        watch = self.watch
        self.accept.review(tick)
        self._end_on(self.check.find_unstable_loop(), 'gains')
        watch.note(tick)
        if self.observer.review(tick):
            self._react()
        self._end_on(watch.find_wrong_velocity(tick), 'velocity')
        self._end_on(watch.find_lost_motion(tick), 'position')
        self.motion.review()

    def observe(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
    ) -> None:
        """Take note of a state that is not answered."""
        self.accept.note(position, velocity, now, arrival)

    @property
    def _law(self) -> ControlLaw:
        """The law by which states are answered."""
        is_floating = self.machine.state is CommandState.FLOATING
        return self.tuning.hold_law if is_floating else self.tuning.law

    def _require_no_velocity(self) -> None:
        law = self.tuning.law
        if self.sense.is_velocity_measured and law.needs_velocity and not self.is_damped:
            raise InputError(
                f'velocity: got none; mode {law.mode.value} needs it', field='velocity'
            )

    def _react(self) -> None:
        """Let a contact end the motion, where the next command is to be another one."""
        disturbance, tuning = self.tuning.disturbance, self.tuning
        if disturbance is None or not tuning.mode.follows or self.machine.is_floating:
            return
        if disturbance.reaction is ContactReaction.NONE:
            return
        if disturbance.reaction is ContactReaction.HOLD:
            self.motion.hold(where_found=True)
        else:
            self.machine.state = CommandState.FLOATING
        self.observer.note_reaction()

    # ---- faults

    @property
    def fault(self) -> Fault | None:
        """Why no state is answered by the row of stages at present; None in the usual case."""
        return self.accept.guard.fault

    @property
    def is_damped(self) -> bool:
        """Whether states are answered by damping: after a fault, where `on_fault` says so.

        That is while a fault latches, and while states come that are not believed yet.
        """
        return self.damped.is_due(self.tuning)

    def damp(self) -> Tick:
        """Answer the state that has shown a fault: see :attr:`is_damped`.

        Raises
        ------
        StateRefused
            When the effort is not finite.
        """
        guard = self.accept.guard
        if guard.position is None or guard.time is None:
            raise RuntimeError('no state has come')
        tuning, arrival = self.tuning, guard.arrival or 0.0
        tick = Tick(
            tuning, tuning.law, guard.position, None, guard.time, arrival, before=self._answered
        )
        self._damp(tick)
        return tick

    def _damp(self, tick: Tick) -> None:
        if self.damped.damping is None:
            self.transition.end_effort()
        self.damped.answer(tick, self._heard_at)

    def trip(self, kind: FaultKind, text: str) -> Fault:
        """Give the motion up; the arm is held where the states, once they agree, find it."""
        self.damped.end()
        return self.accept.guard.trip(kind, text)

    def _end_on(self, fault: Fault | None, field: str) -> None:
        """Give the motion up, and refuse the state that has shown why."""
        if fault is not None:
            kind, text, latches, joints = fault
            fault = self.accept.guard.trip(kind, text, latches=latches, joints=joints)
            raise StateRefused(field, fault.text, fault)

    def _find_overload(self, load: FloatArray) -> str:
        """Return which joint could not hold a load at the wrist, in words; '' where all can."""
        position, dynamics, zero = self.position, self.tuning.law.dynamics, self._zero
        if position is None:
            return ''
        loaded = dynamics.inverse_dynamics(position, zero, zero, load)
        effort = np.abs(loaded - dynamics.inverse_dynamics(position, zero, zero))
        limits = self.tuning.effort_limits
        if (effort <= limits).all():
            return ''
        worst = int((effort / limits).argmax())
        return (
            f'{effort[worst]:.3g} N m or N at joint {dynamics.robot.joint_names[worst]!r}, whose '
            f'limit is {limits[worst]:.3g}'
        )

    # ---- what is known between two states

    @property
    def position(self) -> FloatArray | None:
        """The last position that was believed [rad or m]; None before the first."""
        damping = self.damped.damping
        return self.accept.guard.position if damping is None else damping.position

    @property
    def velocity(self) -> FloatArray | None:
        """Its velocity [rad/s or m/s]; None where none was measured, or it is not used."""
        return self.accept.guard.velocity if self.sense.is_velocity_measured else None

    @property
    def time(self) -> float | None:
        """Its stamp [s]."""
        return self.accept.guard.time

    @property
    def arrival(self) -> float | None:
        """When it came, by a clock that is never set back [s]."""
        return self.accept.guard.arrival

    @property
    def wants_effort(self) -> bool:
        """Whether the next command may begin at the measured effort."""
        limiter = self.limits.limiter
        return (
            limiter.last is None
            and self.tuning.state_effort is not StateEffort.IGNORE
            and (self.transition.duration > 0.0 or limiter.wants_start)
        )

    def _find_present(self) -> Circumstances:
        sense, time, tick = self.sense, self.time, self._answered
        return Circumstances(
            time,
            self.position,
            None if tick is None else tick.velocity,
            sense.wrench,
            sense.base,
            sense.resting_base(time),
        )

    def _find_known(self) -> LastKnown:
        tuning, last = self.tuning, self.watch.last
        # That of the last command, whatever has become of the observer since.
        lacking = None if last is None else last.compensation
        law = self._law
        correction = self.law.effort_at_rest(law, self._zero)
        if lacking is not None:
            # What the model lacked is lacking still.
            correction = -lacking if correction is None else correction - lacking
        return LastKnown(
            tuning,
            law,
            self.position,
            self.time,
            self.fault,
            correction,
            self.motion.settings.stop_limits,
            self.transition.duration,
        )
