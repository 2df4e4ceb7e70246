"""What may change while an arm is controlled: all of it at once, as one value."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.control.guards.motion_limits import UNCHECKED, FollowingLimits
from ne_dynamics.control.guards.state_guard import StateLimits
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.observer import DisturbanceTuning
from ne_dynamics.control.sensors.imu import ImuSettings
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.control.sensors.velocity_source import VelocitySettings
from ne_dynamics.control.sensors.wrench_settings import WrenchSettings
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.motion.position_spline import Interpolation


class LastCommand(str, enum.Enum):
    """What is sent last; the values are the words of the node's parameter `on_deactivate`."""

    GRAVITY = 'gravity'
    """What holds the arm at its last position."""
    ZERO = 'zero'
    NONE = 'none'


class OnFault(str, enum.Enum):
    """How states are answered while a fault is latched; the words of the node's `on_fault`."""

    DAMP = 'damp'
    """Gravity compensation and damping, for as long as states come."""
    LEAVE = 'leave'
    """Nothing: the arm is left with a last command."""


class OnStateLoss(str, enum.Enum):
    """What is sent when states have stopped; the words of the node's `on_state_loss`."""

    GRAVITY = 'gravity'
    """What holds the arm at its last position."""
    BRAKE = 'brake'
    """What brings it to rest by the model, then what holds it there."""
    LOWER = 'lower'
    """What holds the arm at its last position, fading: it sinks, on any fault."""


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
    wrench : WrenchSettings
    imu : ImuSettings
    states : StateLimits
        What is believed of the states.
    following : FollowingLimits
        How closely the motion is followed; nothing is limited by default.
    velocity : VelocitySettings
        Where its velocity comes from; by default the states', believed.
    transition_time : float
        In which a command of another nature takes over [s]; 0: at once.
    decelerations : array, shape (n,), or None
        With which motions are stopped [rad/s^2 or m/s^2], infinite where a joint has none; those
        of the robot when None.
    state_effort : StateEffort
        What the measured efforts are.
    on_state_loss : OnStateLoss
        Braking is for modes with feedback alone: without it nobody knows where the motion comes
        from. Lowering is for all modes and faults.
    on_fault : OnFault
        What answers joint states after a fault that latches.
    disturbance : DisturbanceTuning or None
        How what the model does not have is observed; not at all when None.
    when_infeasible : WhenInfeasible
        What becomes of a motion that asks for more than the arm can do.
    interpolation_method : Interpolation
        What is between points that carry positions alone.
    longest_interval : float
        Such points are a stream's when they are no farther from each other than this [s].
    drives_close_loop : bool
        Whether the drives get the desired motion with the effort, and close a loop around it; see
        :mod:`ne_dynamics.control.drive_setpoint`.
    """

    law: ControlLaw
    hold_law: ControlLaw
    effort_limits: FloatArray
    effort_rates: FloatArray
    wrench: WrenchSettings = field(default_factory=WrenchSettings)
    imu: ImuSettings = field(default_factory=ImuSettings)
    states: StateLimits = field(default_factory=StateLimits)
    following: FollowingLimits = field(default_factory=FollowingLimits)
    velocity: VelocitySettings = UNCHECKED
    transition_time: float = COMMAND.transition_time
    decelerations: FloatArray | None = None
    state_effort: StateEffort = StateEffort.TORQUE
    on_state_loss: OnStateLoss = OnStateLoss.BRAKE
    on_fault: OnFault = OnFault.DAMP
    disturbance: DisturbanceTuning | None = None
    when_infeasible: WhenInfeasible = WhenInfeasible.REFUSE
    interpolation_method: Interpolation = Interpolation.SPLINES
    longest_interval: float = DESIRED.longest_interval
    drives_close_loop: bool = False

    @property
    def mode(self) -> Mode:
        """The control law's mode."""
        return self.law.mode
