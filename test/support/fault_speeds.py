"""How fast an arm gets after each fault that latches: controller and MuJoCo in one process.

The shipped arm follows the demo's motion, at 500 Hz and with the limits that the node derives,
until something makes a fault. What matters is the 3 s after that: see :class:`AfterFault`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from motion_loop import MotionLoop, demo_motion, shipped_arm, with_coulomb
from planted_loop import frozen_position, wall

from ne_dynamics import Robot
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.observer import DisturbanceTuning
from ne_dynamics.control.sensors.velocity_source import VelocitySettings
from ne_dynamics.control.tuning import OnFault
from ne_dynamics.simulation.altered_robot import scale_masses
from ne_dynamics.simulation.demo.motion import rest_to_rest
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import SensorReading, external_push

UNDER_WAY = 0.8
"""When a sensor fails [s]."""

AFTER = 3.0
"""For so long a fault is looked at [s]."""

FRICTIONS = (0.0, 0.01, 0.05)
"""Coulomb friction of the joints that the model does not know, by the effort limits."""

MASSES = (1.0, 0.9, 1.1)
"""Masses of the arm, by those of the model."""


class AfterFault(NamedTuple):
    """What became of an arm; speeds are absolute, by the velocity limits of the joints.

    Attributes
    ----------
    kind : FaultKind
    at_fault : array, shape (n,)
        Speeds in the state that has shown the fault.
    largest : array, shape (n,)
        Largest in the 3 s after.
    largest_soon : array, shape (n,)
        Largest in the first 0.5 s.
    believed : array, shape (n,), dtype bool
        Joints whose measurements counted.
    at_end : array, shape (n,)
        Speeds 3 s after the fault.
    """

    kind: Any
    at_fault: np.ndarray
    largest: np.ndarray
    largest_soon: np.ndarray
    believed: np.ndarray
    at_end: np.ndarray


@dataclass(frozen=True)
class Scenario:
    """What makes a fault.

    Attributes
    ----------
    row : str
        How the row of the table in doc/failure_behaviour.md begins.
    options : callable
        Returns options of :class:`MotionLoop` for a robot.
    target : tuple of (int, float) or None
        Joint, and the way that it goes in 1 s in place of the demo's motion [rad].
    longest : float
        Time by which the fault has come [s].
    observer : bool
        Whether an observer compensates.
    starts : bool
        Whether a motion is followed.
    """

    row: str
    options: Callable[[Robot, np.ndarray], dict[str, Any]]
    target: tuple[int, float] | None = None
    longest: float = 3.5
    observer: bool = False
    starts: bool = True


def of_one_joint(
    sensor: Callable[[SensorReading], SensorReading], joint: int
) -> Callable[[SensorReading], SensorReading]:
    """Return a sensor that fails at one joint alone."""

    def sense(reading: SensorReading) -> SensorReading:
        failed = sensor(reading)
        position, velocity = reading.position.copy(), reading.velocity.copy()
        position[joint], velocity[joint] = failed.position[joint], failed.velocity[joint]
        return reading._replace(position=position, velocity=velocity)

    return sense


def scaled_velocity(factor: float, begin: float = 0.0) -> Callable[[SensorReading], SensorReading]:
    """Return a sensor whose velocities are off by a factor from a time on [s]."""
    return lambda reading: (
        reading._replace(velocity=factor * reading.velocity) if reading.time >= begin else reading
    )


def spikes(
    joint: int, size: float, begin: float, every: float
) -> Callable[[SensorReading], SensorReading]:
    """Return a sensor whose position of a joint is off by a size in one state now and then."""
    last = [begin - every]

    def sense(reading: SensorReading) -> SensorReading:
        if reading.time < last[0] + every:
            return reading
        last[0] = reading.time
        position = reading.position.copy()
        position[joint] += size
        return reading._replace(position=position)

    return sense


def sensors(*made: Callable[[], Any]) -> Callable[[Robot, np.ndarray], dict[str, Any]]:
    """Return the options of an arm with sensors, which are made anew for each run."""
    return lambda robot, start: {'sensors': [make() for make in made]}


def walled(
    joint: int, way: float, **options: Any
) -> Callable[[Robot, np.ndarray], dict[str, Any]]:
    """Return the options of an arm with a wall in the way of a joint."""
    return lambda robot, start: {
        'disturbances': [wall(joint, start[joint] + way)],
        **options,
    }


def pushed(**options: Any) -> Callable[[Robot, np.ndarray], dict[str, Any]]:
    """Return the options of an arm that is pushed once, at its first joint."""
    return lambda robot, start: {
        'disturbances': [external_push(30.0 * np.eye(robot.n)[0], 0.2, 0.2)],
        **options,
    }


def carried_off(
    joint: int, growth: float, speed: float, lasting: float
) -> Callable[[MujocoArm, np.ndarray], np.ndarray]:
    """Return a growing push that carries a joint off, for so long after it has a speed [s]."""
    fast_since: list[float] = []

    def disturb(arm: MujocoArm, effort: np.ndarray) -> np.ndarray:
        if abs(arm.velocity[joint]) > speed and not fast_since:
            fast_since.append(arm.time)
        if arm.time < 0.3 or (fast_since and arm.time > fast_since[0] + lasting):
            return np.zeros(arm.n)
        return growth * (arm.time - 0.3) * np.eye(arm.n)[joint]

    return disturb


LEAST_SPEED = 0.3
"""Limit of the velocity error in the scenario of a joint that is carried off [rad/s]."""

STIFF_ALONE = {
    'following': FollowingLimits(saturation_timeout=1.0),
    'velocity': VelocitySettings(),
}

# How rows of the table in doc/failure_behaviour.md begin.
POSITION_ERROR = 'a position error beyond'
VELOCITY_ERROR = 'a velocity error beyond'
SATURATED = 'an effort at its limit'
SWINGING = 'an effort that goes from one limit'
UNSTABLE = 'gains, or an'
FROZEN = 'a position that stays the same'
WRONG_VELOCITY = 'velocities that are not those'
REPEATED = 'a fault of one kind'

SCENARIOS = {
    'wall': Scenario(POSITION_ERROR, walled(2, 0.1), (2, 0.7)),
    'wall, stiff gains': Scenario(POSITION_ERROR, walled(2, 0.1, kp=400.0, kv=40.0), (2, 0.7)),
    'wall, shoulder': Scenario(POSITION_ERROR, walled(1, 0.1), (1, 0.9)),
    'wall, observer compensates': Scenario(
        POSITION_ERROR, walled(2, 0.1), (2, 0.7), observer=True
    ),
    'carried off': Scenario(
        VELOCITY_ERROR,
        lambda robot, start: {
            'disturbances': [carried_off(1, 300.0, LEAST_SPEED, 0.26)],
            'limits': {
                'following': FollowingLimits(velocity=np.full(robot.n, LEAST_SPEED)),
                'velocity': VelocitySettings(),
            },
        },
        starts=False,
    ),
    'at its limit in vain': Scenario(
        SATURATED,
        walled(2, 0.1, kp=3000.0, kv=110.0, limits=STIFF_ALONE),
        (2, 0.3),
    ),
    'shaking by a hidden delay': Scenario(
        SWINGING, pushed(kp=1e4, kv=200.0, delay=4), longest=4.0, starts=False
    ),
    'frozen, all joints': Scenario(FROZEN, sensors(lambda: frozen_position(UNDER_WAY, 'zero'))),
    'frozen, true velocities': Scenario(
        FROZEN, sensors(lambda: frozen_position(UNDER_WAY, 'true'))
    ),
    **{
        f'frozen, joint_{joint + 1}': Scenario(
            FROZEN,
            sensors(lambda joint=joint: frozen_position(UNDER_WAY, 'zero', joint)),
        )
        for joint in range(6)
    },
    'gains unstable': Scenario(
        UNSTABLE,
        lambda robot, start: {'kp': 3e4, 'kv': 20.0},
        longest=4.0,
        starts=False,
    ),
    'velocities zero': Scenario(WRONG_VELOCITY, sensors(lambda: scaled_velocity(0.0, UNDER_WAY))),
    'velocities reversed': Scenario(
        WRONG_VELOCITY, sensors(lambda: scaled_velocity(-1.0, UNDER_WAY))
    ),
    'velocities reversed, joint_2': Scenario(
        WRONG_VELOCITY,
        sensors(lambda: of_one_joint(scaled_velocity(-1.0, UNDER_WAY), 1)),
    ),
    'velocities in degrees': Scenario(
        WRONG_VELOCITY, sensors(lambda: scaled_velocity(180.0 / np.pi, UNDER_WAY))
    ),
    'jumps': Scenario(REPEATED, sensors(lambda: spikes(1, 0.3, UNDER_WAY, 0.25))),
}


def compensating(robot: Robot) -> DisturbanceTuning:
    """Return an observer that compensates, as the node has it by default."""
    limits = robot.limits('effort_limit')
    return DisturbanceTuning(True, 1.0, 0.0, 0.0, 0.5 * limits, 10.0, 0.1 * limits)


class FaultArm:
    """The arm, its model and its motions; made once for many runs.

    Parameters
    ----------
    robot : Robot, optional
        The shipped arm when omitted.
    backend : str
    """

    def __init__(self, robot: Robot | None = None, backend: str = 'auto') -> None:
        self.robot = shipped_arm() if robot is None else robot
        self.motion = demo_motion(self.robot)
        self.limits = self.robot.limits('velocity_limit')
        self.backend = backend

    def run(
        self, scenario: Scenario, friction: float, masses: float, on_fault: OnFault
    ) -> AfterFault | None:
        """Return what became of the arm; None when no fault that latches has come."""
        robot, start = self.robot, self.motion.positions[0]
        motion = self.motion
        if scenario.target is not None:
            goal = start.copy()
            goal[scenario.target[0]] += scenario.target[1]
            motion = rest_to_rest(robot, start, goal, 1.0)
        plant = with_coulomb(scale_masses(robot, masses), friction)
        loop = MotionLoop(
            robot, motion, plant=plant, backend=self.backend, **scenario.options(robot, start)
        )
        changes: dict[str, Any] = {'on_fault': on_fault}
        if scenario.observer:
            changes['disturbance'] = compensating(robot)
        controller = loop.controller
        controller.adopt(replace(controller.tuning, **changes))
        loop.run(0.1)
        if scenario.starts:
            loop.follow()
        while controller.fault is None or not controller.fault.latches:
            if loop.arm.time > scenario.longest:
                return None
            loop.step()
        kind = controller.fault.kind
        at_fault = np.abs(loop.arm.velocity)
        speeds = []
        for _ in range(round(AFTER / loop.arm.period)):
            loop.step()
            speeds.append(np.abs(loop.arm.velocity))
            if np.abs(loop.arm.velocity).max() > 1e3:
                break
        found = np.array(speeds)
        soon = found[: round(0.5 / loop.arm.period)]
        damping = controller.damping
        believed = np.ones(robot.n, bool) if damping is None else damping.believed
        limits = self.limits
        return AfterFault(
            kind,
            at_fault / limits,
            found.max(0) / limits,
            soon.max(0) / limits,
            believed,
            found[-1] / limits,
        )
