"""The stages of one arm in their row, and what is known of the arm between two joint states."""

from __future__ import annotations

import enum

from ne_dynamics.control.desired.motion_planner import Circumstances
from ne_dynamics.control.desired.time_scaling import Submit
from ne_dynamics.control.fault_damping import FaultDamping
from ne_dynamics.control.guards.state_guard import STATES_STILL_COME, Fault, StateRefused
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.control.sensors.wrench import WristWrench
from ne_dynamics.control.stages.accept import Accept
from ne_dynamics.control.stages.desired import FollowedMotion
from ne_dynamics.control.stages.law import Law
from ne_dynamics.control.stages.limits import EffortLimiter
from ne_dynamics.control.stages.observer import Observer
from ne_dynamics.control.stages.review import Review
from ne_dynamics.control.stages.sense import Sense
from ne_dynamics.control.stages.transition import Transition
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import OnFault, OnStateLoss, Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray


class CommandState(enum.Enum):
    """Where the commands come from."""

    COMMANDING = 'commanding'
    """Joint states are answered by the row of stages."""
    FLOATING = 'floating'
    """So they are, by gravity compensation alone: a contact has ended the motion."""
    DAMPED = 'damped'
    """Joint states are answered by damping, after a fault."""
    BRAKING = 'braking'
    """The arm is brought to rest by the model: no joint states come."""
    HOLDING = 'holding'
    """The command goes over to the last one."""
    LOWERING = 'lowering'
    """The effort against gravity fades, or has."""
    LEFT = 'left'
    """No command is sent: the arm has the last one, or never had any."""


class StageRow:
    """The stages of one arm.

    Parameters
    ----------
    tuning : Tuning
    wrist : WristWrench or None
        Wrist sensor, whose readings enter the dynamics.
    imu : BaseImu or None
        IMU of the base, whose readings give its tilt and motion.
    submit : Submit
        Runs the planning of motions apart from the control loop.

    Attributes
    ----------
    tuning : Tuning
        The tuning in use.
    state : CommandState
    damping : FaultDamping or None
        None while the arm is not damped.
    heard_at : float
        Stamp of the last state that came, believed or not [s].
    accept, sense, motion, law, observer, transition, limits, watch
        The stages; desired motions are requested of `motion`.
    """

    def __init__(
        self, tuning: Tuning, wrist: WristWrench | None, imu: BaseImu | None, submit: Submit
    ) -> None:
        self.tuning = tuning
        self.state = CommandState.LEFT
        self.damping: FaultDamping | None = None
        self.heard_at = 0.0
        self.accept = Accept(tuning)
        self.sense = Sense(tuning, wrist, imu)
        self.limits = EffortLimiter(tuning.effort_limits, tuning.effort_rates)
        self.watch = Review(tuning)
        self.motion = FollowedMotion(tuning, submit, self._find_present, self._end_floating)
        self.law = Law(tuning.effort_limits.size)
        self.observer = Observer(tuning)
        self.transition = Transition(tuning)
        self._row = (
            self.sense.step,
            self.transition.notice,
            self.motion.step,
            self.transition.lead,
            self.law.step,
            self.observer.step,
            self.motion.time_scaling.choose,
            self.transition.step,
            self.limits.step,
        )
        self._answered: Tick | None = None
        self._unreviewed: Tick | None = None

    def adopt(self, tuning: Tuning) -> None:
        """Use another tuning from the next state on; last command and rate limit are kept."""
        # First what may refuse it.
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

    def reset(self) -> None:
        """Forget states, motion and last command; the rate of the states is kept.

        The arm is then held at the position of the next state.
        """
        self.restart()
        for stage in (self.accept, self.sense, self.motion, self.transition, self.limits):
            stage.reset()
        self.state = CommandState.LEFT
        self._answered = self._unreviewed = None

    def restart(self) -> None:
        """Hold where the arm is: the motion, and what was measured before, are of the past."""
        self.damping = None
        for stage in (self.sense, self.motion, self.observer, self.watch):
            stage.restart()
        self.state = CommandState.COMMANDING

    def _run_row(self, tick: Tick) -> None:
        """Answer a state that is believed; a fault that it ends goes on where that fails."""
        if tick.fault is not None:
            self.restart()
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

    # ---- what is known between two states

    @property
    def acting_law(self) -> ControlLaw:
        """The law by which states are answered."""
        is_floating = self.state is CommandState.FLOATING
        return self.tuning.hold_law if is_floating else self.tuning.law

    @property
    def fault(self) -> Fault | None:
        """The fault because of which states are not answered normally; None if there is none."""
        return self.accept.guard.fault

    @property
    def is_damped(self) -> bool:
        """Whether states are answered by damping: after a fault, if `on_fault` is damp.

        This holds while a fault is latched and while states are not accepted again yet.
        """
        tuning, fault = self.tuning, self.fault
        if tuning.on_fault is not OnFault.DAMP:
            return False
        if self.damping is not None or fault is None:
            return self.damping is not None
        is_led = tuning.drives_close_loop or tuning.on_state_loss is OnStateLoss.LOWER
        return fault.latches or (fault.kind in STATES_STILL_COME and not is_led)

    @property
    def position(self) -> FloatArray | None:
        """Position of the last accepted state [rad or m]; None before the first."""
        if self.damping is not None:
            return self.damping.position
        last = self.accept.guard.last
        return None if last is None else last.position

    @property
    def velocity(self) -> FloatArray | None:
        """Velocity of the last accepted state [rad/s or m/s]; None if not measured or not used."""
        last = self.accept.guard.last
        return last.velocity if last is not None and self.sense.is_velocity_measured else None

    @property
    def time(self) -> float | None:
        """Stamp of the last accepted state [s]."""
        last = self.accept.guard.last
        return None if last is None else last.time

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

    def _end_floating(self) -> None:
        """Let the feedback count again, from where the arm is found."""
        if self.state is CommandState.FLOATING:
            self.state = CommandState.COMMANDING
