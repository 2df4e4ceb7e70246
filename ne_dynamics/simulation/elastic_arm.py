"""An arm whose gears give: motor, play, spring and damper before every joint (Spong 1987).

    links of MujocoArm with effort K (theta - q) + D (theta' - q')
    B theta'' = tau - K (theta - q) - D (theta' - q')

The sensors are the motors', as of most arms. At rest the motors are ahead of the joints by what
the springs carry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.separate_drives import refuse_coupled_drives
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.thresholds import SIMULATION


class ElasticArm(MujocoArm):
    """A :class:`MujocoArm` with elastic joints; position, velocity and effort are the motors'.

    Parameters
    ----------
    robot : Robot
        Rigid robot; its rotor inertias are those of the motors.
    frequencies : array-like, shape (n,)
        Natural frequency of each joint with its motor locked and the other joints at the initial
        position [Hz].
    position : array-like, shape (n,)
        Initial position, at rest [rad or m].
    period : float
        Time of one :meth:`step` [s].
    damping_ratio : float
        Damping ratio of this vibration.
    gap : float
        Play of each joint, from one side to the other, beyond which its spring takes hold [rad
        or m].

    Attributes
    ----------
    stiffness : array, shape (n,)
        Stiffness of the joints [N m/rad or N/m].

    Raises
    ------
    InputError
        When a motor has no inertia, or a period is not a number of steps.
    ModelError
        When the robot has a coupled drive.
    """

    def __init__(
        self,
        robot: Robot,
        frequencies: ArrayLike,
        position: ArrayLike,
        period: float = 0.002,
        damping_ratio: float = 0.02,
        gap: float = 0.0,
    ) -> None:
        self._half_gap = 0.5 * gap
        self._motors = np.array([joint.reflected_inertia for joint in robot.joints])
        if not (self._motors > 0.0).all():
            raise InputError(f'rotor inertia: expected > 0 for all, got {self._motors.tolist()}')
        refuse_coupled_drives(robot.coupled_drives, 'elastic joints')
        self._steps = round(period / SIMULATION.spring_step)
        if self._steps < 1 or abs(self._steps * SIMULATION.spring_step - period) > 1e-9:
            raise InputError(
                f'period [s]: expected a multiple of {SIMULATION.spring_step:g}, got {period}'
            )
        links = robot.with_joint_values('rotor_inertia', np.zeros(robot.n))
        self._motor_periods = 0
        super().__init__(
            links, period=SIMULATION.spring_step, substeps=1, integrator='implicitfast'
        )
        self.reset(position)
        inertia = np.diag(self.mass_matrix())
        rate = 2.0 * np.pi * np.asarray(frequencies, dtype=np.float64)
        self.stiffness = inertia * rate**2
        self._damping = 2.0 * damping_ratio * rate * inertia
        # At rest, under brakes, this is what gravity takes.
        carried = self.data.qfrc_inverse
        wound = carried / self.stiffness + self._half_gap * np.sign(carried)
        self._angle = super().position + wound
        self._rate = np.zeros(robot.n)
        self._motor_effort = np.zeros(robot.n)
        self.period = period

    @property
    def time(self) -> float:
        """Time since the beginning [s]."""
        return self._motor_periods * self.period

    @property
    def position(self) -> FloatArray:
        """Positions of the motors [rad or m], shape (n,); a copy."""
        return np.array(self._angle)

    @property
    def velocity(self) -> FloatArray:
        """Velocities of the motors [rad/s or m/s], shape (n,); a copy."""
        return np.array(self._rate)

    @property
    def effort(self) -> FloatArray:
        """Efforts of the motors over the last step [N m or N], shape (n,); a copy."""
        return np.array(self._motor_effort)

    def step(self, effort: ArrayLike, disturbance: FloatArray | float = 0.0) -> None:
        """Advance by one period; the disturbance acts on the link side of the springs."""
        motor_effort = self._motor_effort = np.array(effort, dtype=np.float64)
        for _ in range(self._steps):
            wound = self._angle - super().position
            twist = np.sign(wound) * np.maximum(np.abs(wound) - self._half_gap, 0.0)
            damped = self._damping * (self._rate - super().velocity)
            spring = self.stiffness * twist + np.where(np.abs(wound) > self._half_gap, damped, 0.0)
            self._rate = self._rate + SIMULATION.spring_step / self._motors * (
                motor_effort - spring
            )
            self._angle = self._angle + SIMULATION.spring_step * self._rate
            super().step(spring, disturbance)
        self._motor_periods += 1
