"""An arm whose gears give: a motor, a spring and a damper before every joint (Spong 1987).

    links of MujocoArm with effort K (theta - q) + D (theta' - q')
    B theta'' = tau - K (theta - q) - D (theta' - q')

The sensors are the motors', as of most arms. At rest the motors are ahead of the joints by what
the springs carry.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.simulation.mujoco_model import MujocoArm

STEP = 0.00025
"""The springs' effort is held for so long [s]."""


class ElasticArm:
    """A :class:`MujocoArm` behind springs, for :class:`OneProcessLoop`.

    Parameters
    ----------
    robot : Robot
        Rigid: its rotor inertias are those of the motors.
    frequencies : array-like, shape (n,)
        Of each joint with its motor locked, the others where they begin [Hz].
    position : array-like, shape (n,)
        Where the joints begin, at rest [rad or m].
    period : float
        [s]
    damping_ratio : float
        Of this vibration.

    Attributes
    ----------
    robot : Robot
    period : float
    links : MujocoArm
        What is behind the springs.

    Raises
    ------
    InputError
        When a motor has no inertia, or a period is not a number of steps.
    """

    sensor_link = None

    def __init__(
        self,
        robot: Robot,
        frequencies: ArrayLike,
        position: ArrayLike,
        period: float = 0.002,
        damping_ratio: float = 0.02,
    ) -> None:
        self._motors = np.array([joint.reflected_inertia for joint in robot.joints])
        if not (self._motors > 0.0).all():
            raise InputError(f'rotor inertia: expected > 0 for all, got {self._motors.tolist()}')
        self._substeps = round(period / STEP)
        if self._substeps < 1 or abs(self._substeps * STEP - period) > 1e-9:
            raise InputError(f'period [s]: expected a multiple of {STEP:g}, got {period}')
        self.robot, self.period = robot, period
        bare = replace(
            robot,
            joints=tuple(replace(joint, rotor_inertia=0.0) for joint in robot.joints),
        )
        self.links = MujocoArm(bare, period=STEP, substeps=1, integrator='implicitfast')
        self.links.reset(position)
        inertia = np.diag(self.links.mass_matrix())
        rate = 2.0 * np.pi * np.asarray(frequencies, dtype=np.float64)
        self.stiffness = inertia * rate**2
        self._damping = 2.0 * damping_ratio * rate * inertia
        self._theta = self.links.position + self.links.data.qfrc_bias / self.stiffness
        self._rate = np.zeros(robot.n)
        self._effort = np.zeros(robot.n)
        self._periods = 0

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.robot.n

    @property
    def time(self) -> float:
        """Since the beginning [s]."""
        return self._periods * self.period

    @property
    def position(self) -> FloatArray:
        """Of the motors [rad or m], shape (n,)."""
        return np.array(self._theta)

    @property
    def velocity(self) -> FloatArray:
        """Of the motors [rad/s or m/s], shape (n,)."""
        return self._rate.copy()

    @property
    def effort(self) -> FloatArray:
        """Held over the last step [N m or N], shape (n,)."""
        return self._effort.copy()

    def step(self, effort: FloatArray, disturbance: FloatArray | float = 0.0) -> None:
        """Advance by one period.

        Parameters
        ----------
        effort : array, shape (n,)
            Of the motors [N m or N].
        disturbance : array, shape (n,)
            What acts on the joints beyond the springs [N m or N].
        """
        self._effort = effort
        for _ in range(self._substeps):
            twist = self._theta - self.links.position
            rate = self._rate - self.links.velocity
            spring = self.stiffness * twist + self._damping * rate
            self._rate = self._rate + STEP / self._motors * (effort - spring)
            self._theta = self._theta + STEP * self._rate
            self.links.step(spring, disturbance)
        self._periods += 1
