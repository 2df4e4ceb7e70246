"""What the simulated robot moves: an arm as its parameters want it, and what is measured of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.errors import InputError, ParameterError
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.simulation.altered_robot import scale_friction, scale_masses, with_hung_mass
from ne_dynamics.simulation.base_motion import BaseMotion, Oscillation
from ne_dynamics.simulation.hidden_errors import HiddenErrors, read_hidden_errors
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import (
    Sensor,
    SensorReading,
    differenced_velocity,
    encoder,
    pass_on,
    torque_ripple,
)
from ne_dynamics.simulation.robot_parameters import (
    BaseSettings,
    DriveSettings,
    SimulatedRobotSettings,
)
from ne_dynamics.simulation.thresholds import SIMULATION


class SimulatedArm:
    """An arm under brakes, its drives, its sensors, and the load that it takes up.

    Parameters
    ----------
    robot : Robot
        As its model says.
    settings : SimulatedRobotSettings

    Attributes
    ----------
    mujoco : MujocoArm
        The arm of now.
    hidden : HiddenErrors or None
        What it is that its model does not say.

    Raises
    ------
    NeDynamicsError
        When the arm cannot be simulated, or a parameter is out of bounds.
    """

    def __init__(self, robot: Robot, settings: SimulatedRobotSettings) -> None:
        self.hidden: HiddenErrors | None = None
        bits, delay = settings.drive.encoder_bits, settings.drive.command_delay
        ripple = settings.model_error.torque_ripple
        if settings.hidden_errors_file:
            self.hidden = read_hidden_errors(Path(settings.hidden_errors_file))
            robot = self.hidden.apply(robot)
            bits, delay = self.hidden.encoder_bits, self.hidden.delay
            ripple = self.hidden.torque_ripple
        self.mujoco, self._loaded = _build(robot, settings)
        self.mujoco.reset(_initial_position(robot, settings.initial_position))
        self._pick_up = settings.payload.pick_up
        self._sensors = _sensors(settings.drive, bits)
        self._reading = self._sense()
        self._ripples = ripple > 0.0
        self._ripple = torque_ripple(ripple, SIMULATION.cogging * ripple)
        self._under_way: deque[FloatArray] = deque(maxlen=round(delay * settings.rate) + 1)

    @property
    def robot(self) -> Robot:
        """As it is simulated, not as its model says."""
        return self.mujoco.robot

    def stand(self) -> None:
        """Advance by a period under brakes."""
        self.mujoco.stand()

    def drive(self, command: FloatArray) -> None:
        """Let the command that is due act for a period; until there is one, the first does."""
        effort = pass_on(self._under_way, command)
        self.mujoco.step(effort, self._ripple(self.mujoco, effort) if self._ripples else 0.0)

    def engage_brakes(self, is_moving: bool) -> None:
        """Forget the commands that are under way, and stand from now on."""
        self._under_way.clear()
        if is_moving:
            self.mujoco.stand()
            self._reading = self._sense()

    def measure(self, time_free: float) -> None:
        """Take up the load when it is time, and read the sensors: once a period.

        The time counts since the brakes were released [s].
        """
        loaded = self._loaded
        if loaded is not None and time_free >= self._pick_up:
            loaded.continue_from(self.mujoco)
            self.mujoco, self._loaded = loaded, None
        self._reading = self._sense()

    def measured_motion(self) -> tuple[FloatArray, FloatArray] | None:
        """Return position and velocity as measured, shape (n,) each; None where they are exact."""
        reading = self._reading
        if reading is None or reading.velocity is None:
            return None
        return reading.position, reading.velocity

    def _sense(self) -> SensorReading | None:
        """Return what the sensors say, once a period; None where they are exact."""
        if not self._sensors:
            return None
        arm = self.mujoco
        reading = SensorReading(arm.time, arm.position, arm.velocity, None, None, '')
        for sensor in self._sensors:
            reading = sensor(reading)
        return reading


class EffortCommand:
    """Reads a command: its order, and what the motors can do.

    Parameters
    ----------
    robot : Robot
    names : sequence of str
        Joints in the order of the command; none: in the order of the model.
    saturate : bool
        Whether efforts are clipped to the model's limits.

    Raises
    ------
    ParameterError
        When `names` are not the joints of the robot.
    """

    def __init__(self, robot: Robot, names: Sequence[str], saturate: bool) -> None:
        ordered = tuple(names) or robot.joint_names
        if sorted(ordered) != sorted(robot.joint_names):
            raise ParameterError(
                f'joints: expected each of {", ".join(robot.joint_names)} once, '
                f'got {", ".join(ordered)}'
            )
        self._order = np.array([robot.joint_names.index(name) for name in ordered], np.intp)
        largest = robot.limits('effort_limit')
        largest[largest <= 0.0] = np.inf
        self._largest = largest if saturate else np.full(robot.n, np.inf)

    def read(self, numbers: Sequence[float]) -> FloatArray:
        """Return the efforts in the order of the model, shape (n,).

        Raises
        ------
        InputError
            When the count differs or a number is not finite.
        """
        effort = np.array(numbers, dtype=np.float64)
        if effort.shape != self._order.shape:
            raise InputError(f'expected {self._order.size} numbers, got {effort.size}')
        if not np.isfinite(effort).all():
            raise InputError(f'expected finite numbers, got {effort.tolist()}')
        command = np.empty_like(effort)
        command[self._order] = effort
        return np.clip(command, -self._largest, self._largest)


def read_model(settings: SimulatedRobotSettings) -> tuple[Robot, str]:
    """Read the model: (robot, URDF text or '')."""
    selection: dict[str, Any] = {
        'base_link': settings.base_link or None,
        'tip_link': settings.tip_link or None,
        'locked_joints': settings.locked_joints.by_name(),
    }
    if settings.model_file:
        robot = load_model(settings.model_file, **selection)
        text = Path(settings.model_file).read_text(encoding='utf-8')
        return robot, text if text.lstrip().startswith('<') else ''
    if settings.robot_description:
        return load_urdf(settings.robot_description, **selection), settings.robot_description
    raise ParameterError(
        'model_file, robot_description: expected one of them, got two empty strings'
    )


def _build(robot: Robot, settings: SimulatedRobotSettings) -> tuple[MujocoArm, MujocoArm | None]:
    """Return the arm of the start, and what it becomes on picking up the load."""
    if settings.substeps != round(settings.substeps):
        raise ParameterError(f'substeps: expected a whole number, got {settings.substeps}')
    error = settings.model_error
    simulated = scale_friction(scale_masses(robot, error.mass_scale), error.friction_scale)
    if error.frictionless:
        simulated = simulated.without_friction()

    def arm_of(model: Robot) -> MujocoArm:
        return MujocoArm(
            model,
            gravity=settings.gravity,
            period=1.0 / settings.rate,
            substeps=round(settings.substeps),
            integrator=settings.integrator,
            sensor_link=settings.wrench.sensor_link or None,
            joint_limits=settings.joint_limits,
            base=_base_motion(settings.base),
            imu_link=settings.imu.link or None,
        )

    loaded = None
    if settings.payload.mass > 0.0:
        loaded = with_hung_mass(
            simulated, settings.payload.mass, settings.payload.com, settings.payload.link
        )
    is_picked_up = loaded is not None and settings.payload.pick_up > 0.0
    arm = arm_of(simulated if loaded is None or is_picked_up else loaded)
    return arm, arm_of(loaded) if loaded is not None and is_picked_up else None


def _initial_position(robot: Robot, position: tuple[float, ...]) -> FloatArray:
    """Return where the joints begin; by default 0, or the middle of a range without 0."""
    if not position:
        return np.array(
            [
                0.0 if joint.lower <= 0.0 <= joint.upper else 0.5 * (joint.lower + joint.upper)
                for joint in robot.joints
            ]
        )
    if len(position) != robot.n:
        raise ParameterError(
            f'initial_position: expected {robot.n} numbers, one for each of '
            f'{", ".join(robot.joint_names)}, got {len(position)}'
        )
    return np.array(position)


def _sensors(settings: DriveSettings, bits: float) -> list[Sensor]:
    """Return what joint positions and velocities go through."""
    if bits != round(bits):
        raise ParameterError(f'drive.encoder_bits: expected a whole number, got {bits}')
    sensors = [encoder(round(bits))] if bits else []
    if settings.velocity_cutoff > 0.0:
        sensors.append(differenced_velocity(settings.velocity_cutoff))
    return sensors


def _base_motion(settings: BaseSettings) -> BaseMotion:
    return BaseMotion.from_rpy(
        settings.orientation,
        Oscillation.along(settings.sway.axis, settings.sway.amplitude, settings.sway.frequency),
        Oscillation.about(
            settings.rocking.axis,
            settings.rocking.amplitude,
            settings.rocking.frequency,
            settings.rocking.center,
        ),
    )
