"""The controller of one arm: joint states in, commands out. No ROS, no clock of its own.

A joint state goes through a row of stages, each in its file in `control/stages`:

    accept -> sense -> desired -> law -> observer -> transition -> limits

and :class:`ne_dynamics.control.tick.Tick` is all that passes between them. After the command is
sent, the same tick is reviewed. Beside the row stand :mod:`ne_dynamics.control.command_machine`,
with the commands that answer no joint state, and :mod:`ne_dynamics.control.damped_arm`, with the
answers after a fault.
"""

from __future__ import annotations

from ne_dynamics.control.command_machine import CommandMachine
from ne_dynamics.control.damped_arm import DampedArm
from ne_dynamics.control.desired.time_scaling import Submit, submit_here
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.guards.tuning_check import TuningCheck
from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.stages.row import CommandState, StageRow
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray


class Controller(StageRow):
    """Controller of one arm: joint states in, effort commands out.

    Call :meth:`update` for each joint state, or :meth:`answer`, send the command, then
    :meth:`review`. Desired motions are requested of :attr:`motion`. Parameters are those of
    :class:`StageRow`; by default motions are planned in :meth:`review`.

    Attributes
    ----------
    machine : CommandMachine
        Produces the commands that do not answer a joint state.
    damped : DampedArm
        Answers states after a fault.
    check : TuningCheck
        Checks whether a tuning can work.
    """

    def __init__(
        self,
        tuning: Tuning,
        wrist: WristWrench | None = None,
        imu: BaseImu | None = None,
        submit: Submit = submit_here,
    ) -> None:
        super().__init__(tuning, wrist, imu, submit)
        self.machine = CommandMachine(self)
        self.check = TuningCheck(self, self.machine)
        self.damped = DampedArm(self, self.machine)
        if wrist is not None:
            wrist.find_overload = self.check.find_overload

    def update(
        self,
        position: FloatArray,
        velocity: FloatArray | None,
        now: float,
        arrival: float = 0.0,
        measured_effort: FloatArray | None = None,
    ) -> Tick:
        """Answer a state, then review the motion; for callers that need no early command.

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
        """Return the answer to a joint state; send its command, then call :meth:`review`.

        Parameters are those of :class:`Tick`. The velocity may be None if the mode does not need
        it; the measured effort is only used while :attr:`wants_effort` is true.

        Raises
        ------
        StateRefused
            When the state is rejected, or ends the motion. While a fault is latched, states are
            answered nevertheless if `on_fault` of the tuning is damp.
        InputError
            When the mode needs a velocity and there is none, or the effort is not finite.
        """
        if velocity is None:
            self._require_no_velocity()
        self.heard_at = now
        tuning, limits = self.tuning, self.limits
        law, last, before = self.acting_law, limits.last, self._answered
        tick = Tick(tuning, law, position, velocity, now, arrival, measured_effort, before, last)
        if tuning.drives_close_loop:
            tick.last_setpoint = limits.setpoint
        try:
            self.accept.step(tick)
        except StateRefused as refusal:
            if refusal.fault is not None or not self.is_damped:
                raise
            self.damped.answer(tick)
            return tick
        self._run_row(tick)
        if tick.begins:
            self.state = CommandState.COMMANDING
        tick.before = tick.changed_from = None
        self._answered = self._unreviewed = tick
        return tick

    def review(self) -> None:
        """Do the slow checks of the last answer; call it after the command was sent.

        Raises
        ------
        StateRefused
            When the motion is not followed or the velocities are wrong; the motion then ends.
        """
        tick, self._unreviewed = self._unreviewed, None
        if tick is None:
            return
        watch = self.watch
        self.accept.review(tick)
        self._end_on(self.check.find_unstable_loop(), 'gains')
        watch.note(tick)
        observer = self.observer
        if observer.review(tick) and self.machine.react_to_contact():
            observer.observed = observer.observed._replace(has_reacted=True)
        self._end_on(watch.find_wrong_velocity(tick), 'velocity')
        self._end_on(watch.find_lost_motion(tick), 'position')
        self.motion.review()

    def observe(
        self, position: FloatArray, velocity: FloatArray | None, now: float, arrival: float = 0.0
    ) -> None:
        """Record a state that is not answered."""
        self.accept.note(position, velocity, now, arrival)

    def _require_no_velocity(self) -> None:
        law = self.tuning.law
        if self.sense.is_velocity_measured and law.needs_velocity and not self.is_damped:
            raise InputError(
                f'velocity: got none; mode {law.mode.value} needs it', field='velocity'
            )

    # ---- faults

    def damp(self) -> Tick:
        """Return the damping answer to the state that caused a fault; see :attr:`is_damped`.

        Raises
        ------
        StateRefused
            When the effort is not finite.
        """
        tuning, last = self.tuning, self.accept.guard.last
        if last is None:
            raise RuntimeError('no state has come')
        tick = Tick(
            tuning, tuning.law, last.position, None, last.time, last.arrival, before=self._answered
        )
        self.damped.answer(tick)
        return tick

    def trip(self, kind: FaultKind, text: str) -> Fault:
        """End the motion with a fault; the arm is held at the next position that is accepted."""
        self.damping = None
        return self.accept.guard.trip(Fault(kind, text))

    def _end_on(self, fault: Fault | None, field: str) -> None:
        """Give the motion up, and refuse the state that has shown why."""
        if fault is not None:
            fault = self.accept.guard.trip(fault)
            raise StateRefused(field, fault.text, fault)

    @property
    def wants_effort(self) -> bool:
        """Whether the next command may start from the measured effort."""
        limits = self.limits
        return (
            limits.last is None
            and self.tuning.state_effort is not StateEffort.IGNORE
            and (self.transition.duration > 0.0 or limits.wants_start)
        )
