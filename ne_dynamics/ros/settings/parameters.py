"""Every parameter of the node `computed_torque`, declared once; needs no ROS to be read.

A parameter is a field of the frozen dataclass :class:`NodeSettings` or of one of its groups.
Groups of motions stand in :mod:`.motion_parameters`, those that a part of `control` takes as they
are stand there. The node declares them from the table that is made of it, checks every value by
it, and the documentation's table is made of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.control.contact import ContactSettings
from ne_dynamics.control.hand_guiding import HandGuidingSettings
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.observer import ObserverSettings
from ne_dynamics.control.sensors.imu import ImuSettings
from ne_dynamics.control.sensors.state_effort import StateEffort
from ne_dynamics.control.sensors.velocity_source import VelocitySettings
from ne_dynamics.control.sensors.wrench_settings import WrenchSettings
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import LastCommand, OnFault, OnStateLoss
from ne_dynamics.dynamics import BACKENDS
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.ros.settings.command_layout import CommandSettings
from ne_dynamics.ros.settings.locked_joints import LockedJoints
from ne_dynamics.ros.settings.motion_parameters import (
    ConstraintSettings,
    FollowingErrorSettings,
    TrackingErrorSettings,
    TrajectorySettings,
)
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.settings import Changes, ParameterTable, group, parameter

INERTIA_ENTRIES = 6


@dataclass(frozen=True)
class ComputedTorqueGains:
    """Gains of mode computed_torque."""

    kp: tuple[float, ...] = parameter(
        (100.0,),
        'Position gain of computed_torque: one for all joints, one per joint, or the full matrix '
        'by rows.',
        unit='1/s^2',
    )
    kv: tuple[float, ...] = parameter(
        (20.0,), 'Velocity gain of computed_torque; as kp.', unit='1/s'
    )


@dataclass(frozen=True)
class FeedforwardPdGains:
    """Gains of mode feedforward_pd."""

    kp: tuple[float, ...] = parameter(
        (0.0,),
        'Position gain of feedforward_pd: one for all joints, one per joint, or the full matrix '
        'by rows. It depends on the arm; no default is safe for all.',
        unit='N m/rad',
    )
    kv: tuple[float, ...] = parameter(
        (0.0,), 'Velocity gain of feedforward_pd; as kp.', unit='N m s/rad'
    )


@dataclass(frozen=True)
class PayloadSettings:
    """A load that the model does not have."""

    mass: float = parameter(
        0.0,
        'Mass of a load that the model lacks.',
        unit='kg',
        minimum=0.0,
        maximum=NODE.largest_parameter,
    )
    com: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0),
        'Centre of mass of the load, in the frame of `payload.link`.',
        unit='m',
        minimum=-NODE.largest_parameter,
        maximum=NODE.largest_parameter,
        lengths=(3,),
    )
    inertia: tuple[float, ...] = parameter(
        (0.0,) * INERTIA_ENTRIES,
        'Inertia of the load about its centre of mass, in the axes of `payload.link`: xx, xy, '
        'xz, yy, yz, zz.',
        unit='kg m^2',
        minimum=-NODE.largest_parameter,
        maximum=NODE.largest_parameter,
        lengths=(INERTIA_ENTRIES,),
    )
    link: str = parameter(
        '', 'Link that carries the load: the tip, or one rigidly attached to it. Empty: the tip.'
    )


@dataclass(frozen=True)
class ArmSettings:
    """The arm, as every node takes it."""

    # The model
    model_file: str = parameter(
        '',
        'URDF or DH file of the robot; the content decides which. Empty: `robot_description`.',
        changes=Changes.UNCONFIGURED,
    )
    robot_description: str = parameter(
        '',
        'URDF as text, if `model_file` is empty. Both empty: the topic `robot_description`.',
        changes=Changes.UNCONFIGURED,
    )
    model_extras_file: str = parameter(
        '',
        'YAML file with friction, rotor inertias and gear ratios. Empty: `<stem>.extras.yaml` '
        'beside `model_file` (URDF), if it exists; `none`: no file.',
        changes=Changes.UNCONFIGURED,
    )
    base_link: str = parameter(
        '', 'First link of the arm (URDF). Empty: the root.', changes=Changes.UNCONFIGURED
    )
    tip_link: str = parameter(
        '',
        'Last link of the arm (URDF); joints outside the chain are locked. Empty: all joints '
        'move.',
        changes=Changes.UNCONFIGURED,
    )
    locked_joints: LockedJoints = group(LockedJoints)
    joints: tuple[str, ...] = parameter(
        (),
        'Order of the command and of all parameters with one value per joint, as in the effort '
        "controller's `joints`. Empty: order of the model.",
        changes=Changes.UNCONFIGURED,
    )
    gravity: tuple[float, ...] = parameter(
        (0.0, 0.0, -9.80665),
        'Acceleration of free fall in the axes of the base link.',
        unit='m/s^2',
        minimum=-NODE.largest_parameter,
        maximum=NODE.largest_parameter,
        lengths=(3,),
        changes=Changes.UNCONFIGURED,
    )
    backend: str = parameter(
        'auto', 'How the dynamics are computed.', choices=BACKENDS, changes=Changes.UNCONFIGURED
    )
    terms: Terms = group(Terms)
    smoothing_velocity: float = parameter(
        0.001,
        'Velocity within which Coulomb friction changes its sign, for joints whose model gives '
        'none; must be larger than the noise of the desired velocity. 0: a step.',
        unit='rad/s or m/s',
        minimum=0.0,
        maximum=NODE.largest_parameter,
        name='friction.smoothing_velocity',
    )
    effort_limits: tuple[float, ...] = parameter(
        (),
        'Largest command, one for all joints or one per joint. Empty: those of the model. '
        '`.inf`: none.',
        unit='N m or N',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    payload: PayloadSettings = group(PayloadSettings)

    def model(self) -> tuple[object, ...]:
        """Return the parameters of which the model is made, and its order."""
        return (
            self.model_file,
            self.robot_description,
            self.model_extras_file,
            self.base_link,
            self.tip_link,
            self.locked_joints,
            self.joints,
            self.gravity,
            self.backend,
        )


@dataclass(frozen=True)
class NodeSettings(ArmSettings):
    """All parameters of the node; a group has a prefix, the name of its field and a dot."""

    gain_joints: tuple[str, ...] = parameter(
        (),
        'Joints of all gains that have one value per joint, in their order, as `ne_dynamics '
        'gains` writes them. If `joints` differ, the node is not configured. Empty: not checked.',
        changes=Changes.UNCONFIGURED,
    )
    # The law
    mode: Mode = parameter(Mode.COMPUTED_TORQUE, 'Control law.')
    computed_torque: ComputedTorqueGains = group(ComputedTorqueGains)
    robot_closes_loop: bool = parameter(
        False,
        'Set to true if the robot closes the position loop itself. Required by mode feedforward, '
        'which has no feedback, and by modes whose gains are all zero: otherwise the arm falls by '
        'the error of the model.',
        name='feedforward.robot_closes_loop',
    )
    feedforward_pd: FeedforwardPdGains = group(FeedforwardPdGains)
    hand_guiding: HandGuidingSettings = group(HandGuidingSettings)
    effort_rate_limit: tuple[float, ...] = parameter(
        (),
        'Largest rate of change of the command, one for all joints or one per joint. It is '
        'inside the feedback loop: a limit that is too slow for the gains makes the arm swing '
        'for ever (the node warns, or refuses it). Empty or 0: none.',
        unit='N m/s or N/s',
        minimum=0.0,
        allow_infinity=True,
    )
    transition_time: float = parameter(
        COMMAND.transition_time,
        'Time in which the command changes without a step: at the first command (see '
        '`state_effort`) and the last one, when mode, gains, terms or load change, when a sensor '
        'is lost or found, and after a fault. 0: at once.',
        unit='s',
        minimum=0.0,
        maximum=1.0,
    )
    state_effort: StateEffort = parameter(
        StateEffort.TORQUE,
        'Meaning of `effort` in the joint states, from which the first command starts: `torque`, '
        'torque of the motors, gravity included; `torque_without_gravity`, the same less what '
        'the robot compensates itself; `ignore`, not used. Gravity is added or subtracted as '
        '`terms.gravity` needs. With `ignore`, or implausible readings, the command starts at '
        'the effort of the model.',
    )
    command: CommandSettings = group(CommandSettings)
    on_deactivate: LastCommand = parameter(
        LastCommand.GRAVITY,
        'Last command when the node is deactivated or stopped; effort controllers keep it: '
        '`gravity`, the effort that holds the arm where it is; `zero`; `none`. Drives that close '
        'the loop (`command.interfaces`) are brought to rest first, and `zero` applies to their '
        'effort alone.',
    )
    state_timeout: float = parameter(
        0.1,
        'Time without a usable joint state after which the motion is dropped and the node does '
        'what `on_state_loss` says.',
        unit='s',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    on_state_loss: OnStateLoss = parameter(
        OnStateLoss.BRAKE,
        'What is sent when joint states stop (`state_timeout`): `brake`, the efforts of a stop '
        'from the estimated state, for at most 0.25 s, then one command that holds the arm '
        'against gravity at the end of the stop; `gravity`, only that command, for the last '
        'pose; `lower`, the same, fading to zero in 3 s, also on every other fault, for arms led '
        'by hand. Only modes with feedback brake, and not if the last state is older than 0.5 s. '
        'Drives that close the loop are brought to rest along the desired motion, and `lower` is '
        'refused.',
    )
    on_fault: OnFault = parameter(
        OnFault.DAMP,
        'Answer to joint states after a latched fault, until `~/clear_fault`, and to states that '
        'are not believed: `damp`, gravity compensation and damping through the mass matrix, at '
        "10 /s or faster, with the model's prediction in place of a joint that is not believed; "
        '`leave`, one last command against gravity, which does not hold the arm in place, and '
        'then nothing. When states stop, or with `leave` are not believed, `on_state_loss` '
        'applies. Drives that close the loop are brought to rest, and get that command for each '
        'state with `damp`.',
    )
    jump_velocity: tuple[float, ...] = parameter(
        (),
        'A joint that moves faster than this between two states has jumped, and the state is not '
        'believed. One for all joints or one per joint; 0 or `.inf`: any speed. Empty: twice the '
        "model's velocity limit.",
        unit='rad/s or m/s',
        minimum=0.0,
        allow_infinity=True,
    )
    following_error: FollowingErrorSettings = group(FollowingErrorSettings)
    trajectory: TrajectorySettings = group(TrajectorySettings)
    initial_scaling_factor: float = parameter(
        1.0,
        'Speed of all motions on their path, as a share of the speed as sent, until '
        '`~/speed_scaling_input` sets another.',
        minimum=0.0,
        maximum=1.0,
        changes=Changes.UNCONFIGURED,
        name='speed_scaling.initial_scaling_factor',
    )
    stop_deceleration: tuple[float, ...] = parameter(
        (),
        'Largest deceleration when a motion is stopped on its path (`~/hold`, cancel, an empty '
        'trajectory, a goal that ends moving, an arm found in motion), within 0.8 of the effort '
        'limits. One for all joints or one per joint; 0 or `.inf`: the velocity limit in 0.1 s. '
        "Empty: the model's deceleration limit (URDF 1.2), or else the velocity limit in 0.1 s.",
        unit='rad/s^2 or m/s^2',
        minimum=0.0,
        allow_infinity=True,
        name='stop.deceleration',
    )
    saturation_timeout: float = parameter(
        1.0,
        'Time for which a joint may be at its effort limit in the direction of its position '
        'error; longer is a latched fault, as are 12 changes from one limit to the other within '
        'this time. In modes with feedback. 0 or `.inf`: off.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
        name='saturation.timeout',
    )
    velocity: VelocitySettings = group(VelocitySettings, prefix='velocity_')
    repeat_window: float = parameter(
        10.0,
        'Time within which the third fault of one kind, or the sixth of any kind, becomes a '
        'latched fault. 0: never.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
        name='repeated_faults.window',
    )
    interpolation_method: Interpolation = parameter(
        Interpolation.SPLINES,
        'Path between the points of a trajectory: `splines`, polynomials of the positions, '
        'velocities and accelerations that the points have, and a natural spline if they have '
        'positions alone; `linear`, the same, but straight lines without feed-forward if they '
        'have positions alone; `none`, the next point at once, for points as dense as the joint '
        'states.',
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False, 'Accept trajectories whose last point moves; the arm is brought to rest after it.'
    )
    allow_partial_joints_goal: bool = parameter(
        False,
        'Accept trajectories and goals for some of the joints; the others continue, or are held.',
    )
    allow_integration_in_goal_trajectories: bool = parameter(
        False,
        'Accept points without positions: they are integrated from velocities or accelerations, '
        'from the present desired state on.',
    )
    cmd_timeout: float = parameter(
        0.0,
        'Time after the last point of a trajectory within which another trajectory must come; '
        'otherwise the arm is held where it is. 0: off. Not used unless longer than '
        '`constraints.goal_time`.',
        unit='s',
        minimum=0.0,
    )
    # What acts on the arm that the model does not have
    observer: ObserverSettings = group(ObserverSettings)
    contact: ContactSettings = group(ContactSettings)
    # The wrist sensor
    wrench: WrenchSettings = group(WrenchSettings)
    estimate_duration: float = parameter(
        60.0,
        'Span of joint states that ~/estimate_payload uses; the arm must carry the load all the '
        'while. States before a change of `payload.*` are not used.',
        unit='s',
        minimum=1.0,
        maximum=120.0,
        name='payload_estimate.duration',
    )
    # The base
    imu: ImuSettings = group(ImuSettings)
    constraints: ConstraintSettings = group(ConstraintSettings)
    # The node
    state_publish_rate: float = parameter(
        50.0,
        'Rate of `~/controller_state`, by the clock of the joint states and at most their rate. '
        '0: never.',
        unit='1/s',
        minimum=0.0,
        maximum=NODE.largest_parameter,
    )
    tracking_error: TrackingErrorSettings = group(TrackingErrorSettings)
    joint_states_reliability: str = parameter(
        'best_effort',
        'Reliability of the subscription to joint_states: `best_effort` receives from every '
        'publisher; `reliable` only from reliable ones, without losses.',
        choices=('best_effort', 'reliable', 'system_default'),
        changes=Changes.UNCONFIGURED,
    )
    refuse_other_commanders: bool = parameter(
        False,
        'Refuse activation if another node, even an inactive one, publishes on the topic of the '
        'commands; the search takes up to 1 s after configuring. False: the diagnostics warn, '
        'with the name of that node.',
    )
    autostart: bool = parameter(
        True,
        'Configure and activate automatically, as soon as there is a model.',
        changes=Changes.START,
    )


PARAMETERS = ParameterTable(NodeSettings)
