"""Controller and MuJoCo's arm in one process: a closed loop whose sensors and joints can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ne_dynamics import Dynamics, Robot, load_model
from ne_dynamics.control.controller import Controller, Tuning
from ne_dynamics.control.following_error import FollowingLimits
from ne_dynamics.control.laws import ControlLaw, Gains, Mode, Terms
from ne_dynamics.control.motion_guard import MotionLimits
from ne_dynamics.control.state_guard import Fault, StateLimits, StateRefused
from ne_dynamics.control.trajectory import TrajectoryPoint, Waypoints
from ne_dynamics.control.velocity_source import VelocitySettings
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo_arm import fair_gains
from ne_dynamics.simulation.demo_motion import Motion, excitation
from ne_dynamics.simulation.mujoco_model import MujocoArm, with_hung_mass

PERIOD = 0.002
SETTLE = 0.1
"""The arm is held for so long before it sets out [s]."""

Sensor = Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, 'np.ndarray | None']]
"""Time [s], true position and velocity: what the joint states say."""

Push = Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Time, true position, true velocity and effort: what acts on the joints [N m]."""


def honest(time, position, velocity):
    """Return what is so."""
    return position, velocity


def unhindered(time, position, velocity, effort):
    """Return the effort of the motors."""
    return effort


class Run(NamedTuple):
    """What became of it; rows are times.

    Attributes
    ----------
    time : array, shape (m,)
        [s]
    speed, error : array, shape (m, n)
        True, absolute [rad/s, rad].
    fault : Fault or None
        The first.
    fault_time : float
        [s]
    """

    time: np.ndarray
    speed: np.ndarray
    error: np.ndarray
    fault: Fault | None
    fault_time: float


def shipped_arm() -> Robot:
    """Return the six-axis arm."""
    return load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


def demo_motion(robot: Robot, duration: float = 2.0) -> Motion:
    """Return the motion of the demo, with its load of 3 kg in mind."""
    loaded = Dynamics(with_hung_mass(robot, 3.0, np.zeros(3)), backend='python')
    return excitation(robot, duration, loaded.inverse_dynamics)


class OneProcessLoop:
    """A controller as the node has it by default, and an arm.

    Parameters
    ----------
    robot : Robot
    motion : Motion
    plant : Robot, optional
        The arm that there is, where it is another.
    mode, terms, kp, kv
        Of the law; gains in 1/s^2 and 1/s, for PD times the diagonal of the mass matrix.
    limits : MotionLimits, optional
        Those that the node derives unless given.
    period : float
        [s]
    backend : str
        Of the dynamics that the law has.
    """

    def __init__(
        self,
        robot: Robot,
        motion: Motion,
        *,
        plant: Robot | None = None,
        mode: Mode = Mode.COMPUTED_TORQUE,
        terms: Terms | None = None,
        kp: float = 100.0,
        kv: float = 20.0,
        limits: MotionLimits | None = None,
        period: float = PERIOD,
        backend: str = 'python',
    ) -> None:
        self.robot, self.motion, self.period = robot, motion, period
        dynamics = Dynamics(robot, backend=backend)
        gains = fair_gains(robot, motion, kp, kv) if mode is Mode.FEEDFORWARD_PD else (kp, kv)
        if limits is None:
            limits = MotionLimits(FollowingLimits.derived(robot.joints, 1.0), VelocitySettings())
        self.controller = Controller(
            Tuning(
                ControlLaw(dynamics, mode, Gains.from_values(*gains, robot.n), terms),
                ControlLaw(dynamics, Mode.GRAVITY_COMPENSATION, terms=terms),
                robot.limits('effort_limit'),
                np.zeros(0),
                states=StateLimits(0.1, 2.0 * robot.limits('velocity_limit'), 10.0),
                motion=limits,
            )
        )
        self.arm = MujocoArm(plant or robot, period=period, integrator='implicitfast')
        self.arm.reset(motion.positions[0])
        self.effort = dynamics.gravity_torque(motion.positions[0])

    def follow(self) -> None:
        """Let the motion begin."""
        motion = self.motion
        points = [
            TrajectoryPoint(*row)
            for row in zip(
                motion.times.tolist(),
                motion.positions,
                motion.velocities,
                motion.accelerations,
                strict=True,
            )
        ]
        joints = self.robot.joints
        self.controller.follow(Waypoints.from_points(joints, self.robot.joint_names, points))

    def run(
        self,
        seconds: float,
        sensor: Sensor = honest,
        push: Push = unhindered,
        *,
        start: bool = True,
    ) -> Run:
        """Run for a while; a refused state leaves the effort, a fault the last command."""
        arm, controller = self.arm, self.controller
        speeds, errors, times = [], [], []
        fault, fault_time = None, np.inf
        leaving = iter(())
        begin = arm.time
        for step in range(round(seconds / self.period)):
            if start and step == round(SETTLE / self.period):
                self.follow()
            now = arm.time
            position, velocity = sensor(now - begin, arm.position.copy(), arm.velocity.copy())
            try:
                command = controller.update(position, velocity, now, now)
            except StateRefused as error:
                if error.fault is not None:
                    if fault is None:
                        fault, fault_time = error.fault, now - begin
                    leaving = controller.last_commands()
                # A ramp, one command a state.
                self.effort = next(leaving, self.effort)
            except NeDynamicsError:
                pass
            else:
                self.effort = command.effort
                errors.append(np.abs(command.desired.position - arm.position))
            times.append(now - begin)
            speeds.append(np.abs(arm.velocity))
            arm.step(push(now - begin, arm.position, arm.velocity, self.effort))
        return Run(np.array(times), np.array(speeds), np.array(errors), fault, fault_time)
