"""Every parameter of the simulated robot, declared once; needs neither ROS nor MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.control import Measures
from ne_dynamics.dynamics import STANDARD_GRAVITY
from ne_dynamics.errors import ParameterError
from ne_dynamics.ros import LockedJoints
from ne_dynamics.settings import Changes, ParameterTable, group, parameter
from ne_dynamics.simulation.integrators import INTEGRATORS

DROPPABLE = ('joint_states', 'wrench', 'imu')
"""Topics that may fall silent."""


@dataclass(frozen=True)
class HungMass:
    """A load that hangs on the arm."""

    mass: float = parameter(0.0, 'Point mass that hangs on the arm.', unit='kg', minimum=0.0)
    com: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0),
        'Where the mass hangs, in the frame of `payload.link`.',
        unit='m',
        lengths=(3,),
    )
    link: str = parameter(
        '',
        'Link that carries the mass. Empty: the tip. On the sensor link it hangs beyond the '
        'sensor.',
    )
    pick_up: float = parameter(
        0.0,
        'When the arm takes the mass up, after its brakes were released. 0: it has it from the '
        'start. The mass moves with the arm already: there is no impact.',
        unit='s',
        minimum=0.0,
    )


@dataclass(frozen=True)
class ModelErrorSettings:
    """How the simulated arm differs from its model."""

    mass_scale: float = parameter(
        1.0,
        'Factor on every mass and inertia of the simulated arm, not on the payload.',
        minimum=0.0,
        above_minimum=True,
    )
    friction_scale: float = parameter(
        1.0, 'Factor on the viscous and the Coulomb friction of its joints.', minimum=0.0
    )
    frictionless: bool = parameter(False, 'Leave all joint friction of the model out.')
    torque_ripple: float = parameter(
        0.0,
        'Ripple of the motor torques, 30 times a turn of the joint, as a share of them; twice as '
        'often, a 25th of that share of the effort limits.',
        minimum=0.0,
    )


@dataclass(frozen=True)
class DriveSettings:
    """What is between the arm and whoever controls it."""

    command_delay: float = parameter(
        0.0, 'Time after which a command acts, in whole periods.', unit='s', minimum=0.0
    )
    encoder_bits: float = parameter(
        0.0,
        'Resolution of the positions, in bits a turn, a whole number. 0: exact.',
        minimum=0.0,
        maximum=52.0,
    )
    velocity_cutoff: float = parameter(
        0.0,
        'Velocities are the differences of the positions behind a first-order low-pass of this '
        'cut-off. 0: exact.',
        unit='Hz',
        minimum=0.0,
    )


@dataclass(frozen=True)
class ForceTorqueSensor:
    """The wrist sensor."""

    sensor_link: str = parameter(
        '', "Last link on the arm's side of a force/torque sensor. Empty: no sensor."
    )
    measures: Measures = parameter(
        Measures.ON_TOOL,
        'Sign: `on_tool`, what environment and tool exert on the arm (a tool reads as a force '
        'downwards), or `by_tool`, the opposite.',
    )


@dataclass(frozen=True)
class Rocking:
    """The base rocks about an axis."""

    axis: tuple[float, ...] = parameter(
        (1.0, 0.0, 0.0),
        'Axis about which the base rocks, in the axes of the base link at rest.',
        lengths=(3,),
    )
    center: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0),
        'A point of this axis, in the frame of the base link at rest.',
        unit='m',
        lengths=(3,),
    )
    amplitude: float = parameter(
        0.0, 'Amplitude to either side. 0: no motion.', unit='rad', minimum=0.0
    )
    frequency: float = parameter(
        0.0, 'Frequency of the motion. 0: no motion.', unit='Hz', minimum=0.0
    )


@dataclass(frozen=True)
class Sway:
    """The base sways along an axis."""

    axis: tuple[float, ...] = parameter(
        (1.0, 0.0, 0.0),
        'Direction in which the base sways, in the axes of the base link at rest.',
        lengths=(3,),
    )
    amplitude: float = parameter(
        0.0, 'Amplitude to either side. 0: no motion.', unit='m', minimum=0.0
    )
    frequency: float = parameter(
        0.0, 'Frequency of the motion. 0: no motion.', unit='Hz', minimum=0.0
    )


@dataclass(frozen=True)
class BaseSettings:
    """How the base stands and moves."""

    orientation: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0),
        'Roll, pitch and yaw of the base link in the world, at rest.',
        unit='rad',
        lengths=(3,),
    )
    rocking: Rocking = group(Rocking)
    sway: Sway = group(Sway)


@dataclass(frozen=True)
class ImuSensor:
    """The inertial measurement unit."""

    link: str = parameter(
        '',
        'Link that carries an inertial measurement unit, whose readings are in its frame. Empty: '
        'no unit.',
    )
    orientation: bool = parameter(
        True, 'Whether the inertial measurement unit reports its orientation.'
    )


@dataclass(frozen=True)
class DropoutSettings:
    """Which topics fall silent, and when."""

    topics: tuple[str, ...] = parameter(
        (), f'What falls silent, of {", ".join(DROPPABLE)}. Empty, with a drop-out: joint_states.'
    )
    start: float = parameter(
        0.0, 'When the topics fall silent, after the brakes were released.', unit='s', minimum=0.0
    )
    duration: float = parameter(
        0.0,
        'For how long the topics are silent. 0: not at all. `.inf`: for good.',
        unit='s',
        minimum=0.0,
        allow_infinity=True,
    )

    @property
    def silenced(self) -> tuple[str, ...]:
        """What falls silent."""
        return self.topics or DROPPABLE[:1]

    def is_due(self, now: float) -> bool:
        """Return whether it is silent at a time after the brakes were released [s]."""
        return self.start <= now < self.start + self.duration


@dataclass(frozen=True)
class SimulatedRobotSettings:
    """All parameters; see :class:`~ne_dynamics.ros.settings.parameters.NodeSettings`."""

    model_file: str = parameter(
        '', 'URDF or DH file of the arm; the content decides which. Empty: `robot_description`.'
    )
    robot_description: str = parameter('', 'URDF as text, when `model_file` is empty.')
    base_link: str = parameter('', 'First link of the arm (URDF). Empty: the root.')
    tip_link: str = parameter(
        '',
        'Last link of the arm (URDF); joints outside the chain are locked. Empty: all joints '
        'move.',
    )
    locked_joints: LockedJoints = group(LockedJoints)
    joints: tuple[str, ...] = parameter((), 'Order of the command. Empty: order of the model.')
    rate: float = parameter(
        500.0, 'Joint states a second.', unit='Hz', minimum=0.0, above_minimum=True
    )
    substeps: float = parameter(
        4.0, 'Integration steps between two states, a whole number.', minimum=1.0
    )
    integrator: str = parameter(
        'rk4',
        'Integrator of the simulation: `rk4`, of fourth order; `implicitfast` and `euler`, of '
        'first order and stable with stiff joint friction.',
        choices=tuple(INTEGRATORS),
    )
    lockstep: bool = parameter(False, 'Wait for the command that answers a state; no real time.')
    patience: float = parameter(
        0.0,
        'In real time, how long the arm stands still at the most, waiting for the command that '
        'answers its state. 0: not at all.',
        unit='s',
        minimum=0.0,
    )
    brake: bool = parameter(False, 'Hold the arm until ~/release_brake is called.')
    time_under_brakes: bool = parameter(
        False, 'Whether the stamps of the states advance while the brakes hold, in lockstep too.'
    )
    paced: bool = parameter(
        False,
        'In lockstep, whether time goes on only as far as the topic ~/run_until says: whoever '
        'moves the arm lets it wait until everything is read.',
    )
    pause_at: tuple[float, ...] = parameter(
        (),
        'In lockstep, when time stands still until ~/resume is called, after the brakes were '
        'released; ascending.',
        unit='s',
        minimum=0.0,
    )
    publish_clock: bool = parameter(False, 'Publish simulated time on /clock.')
    initial_position: tuple[float, ...] = parameter(
        (),
        'Where the joints stand at the start, in the order of the model. Empty: zero, or the '
        'middle of the range of a joint that cannot stand at zero.',
        unit='rad or m',
    )
    gravity: tuple[float, ...] = parameter(
        STANDARD_GRAVITY,
        "Acceleration of free fall in the world's axes: those of the base link when "
        '`base.orientation` is zero.',
        unit='m/s^2',
        lengths=(3,),
    )
    payload: HungMass = group(HungMass)
    model_error: ModelErrorSettings = group(ModelErrorSettings)
    drive: DriveSettings = group(DriveSettings)
    hidden_errors_file: str = parameter(
        '',
        'YAML file of errors of the simulated arm that its model does not have, and of its '
        'reported states; replaces `drive.*` and `model_error.torque_ripple`. Empty: none.',
    )
    joint_limits: bool = parameter(False, 'Stop the joints at the position limits of the model.')
    saturate_effort: bool = parameter(True, 'Clip the command to the effort limits of the model.')
    wrench: ForceTorqueSensor = group(ForceTorqueSensor)
    base: BaseSettings = group(BaseSettings)
    imu: ImuSensor = group(ImuSensor)
    dropout: DropoutSettings = group(DropoutSettings)

    def check(self) -> None:
        """Raise ParameterError where parameters do not fit together."""
        if self.paced and not self.lockstep:
            raise ParameterError('paced: expected `lockstep` with it, got false')
        if list(self.pause_at) != sorted(self.pause_at):
            raise ParameterError(f'pause_at: expected ascending times, got {list(self.pause_at)}')
        for topic in self.dropout.silenced:
            if topic not in DROPPABLE:
                raise ParameterError(
                    f'dropout.topics: expected of {", ".join(DROPPABLE)}, got {topic!r}'
                )


PARAMETERS = ParameterTable(SimulatedRobotSettings, changes=Changes.START)
