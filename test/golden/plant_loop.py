"""A node in a virtual world and an arm in MuJoCo: a closed loop, and a record of what was told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from golden_arms import GoldenArm
from node_session import NodeSession
from replay_inputs import EVENT, IMU, RESOLUTION, SENSOR_RESOLUTION, STATE, WRENCH, Told, steps_of

from ne_dynamics import Dynamics, Robot
from ne_dynamics.simulation.demo.motion import WaypointMotion, excitation, rest_to_rest
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Disturbance, Sensor, SensorReading

DRIVE_PERIOD = 0.001
"""Of drives that close a loop of their own [s]."""

EVENT_DELAY, WRENCH_DELAY, IMU_DELAY, STATE_DELAY = 50_000, 100_000, 110_000, 200_000
"""After the time of a state these arrive [ns]."""

LARGEST_JITTER = 100_000
"""By which states arrive later than that [ns]."""

ORDINARY = 1e3
"""A state with a larger number is none of the usual ones."""

Fields = dict[str, Any]
"""Of a joint state: stamp [s], name, position, velocity, effort."""


@dataclass(frozen=True)
class Scenario:
    """What happens in a recording.

    Attributes
    ----------
    name : str
        Of its file.
    about : str
        In a sentence.
    arm : GoldenArm
    script : callable
        Called with the loop; yields the times [s] at which it goes on, and changes the loop or
        tells the node something then.
    parameters : dict
        Of the node.
    seconds, rate : float
        How long it takes [s], and states a second.
    start : sequence of float
        Position at first [rad or m]; default: of the motion of the demo.
    plant : callable
        Makes the arm that there is of the model.
    options : dict
        Of `MujocoArm`.
    make_sensors, make_disturbances : callable
        Return those of `OneProcessLoop`.
    without : tuple of str
        Fields that the joint states lack.
    needs_control_msgs : bool
    """

    name: str
    about: str
    arm: GoldenArm
    script: Callable[[PlantLoop], Iterator[float]]
    parameters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 3.0
    rate: float = 250.0
    start: Sequence[float] | None = None
    plant: Callable[[Robot], Robot] = lambda robot: robot
    options: dict[str, Any] = field(default_factory=dict)
    make_sensors: Callable[[], list[Sensor]] = list
    make_disturbances: Callable[[], list[Disturbance]] = list
    without: tuple[str, ...] = ()
    needs_control_msgs: bool = False

    @property
    def end(self) -> int:
        """When a replay ends [ns]."""
        return round(1e9 * self.seconds) + 50_000_000

    @property
    def sensor_links(self) -> dict[str, str]:
        """Frames of the readings."""
        return {kind: self.options.get(f'{key}_link') or '' for kind, key in SENSOR_KEYS}


SENSOR_KEYS = (('wrench', 'sensor'), ('imu', 'imu'))


class PlantLoop:
    """The loop; see :class:`Scenario`.

    Attributes
    ----------
    robot : Robot
        The model.
    plant : MujocoArm
    motion : WaypointMotion
        Of the demo, from the start.
    sensors, disturbances : list
        As of `OneProcessLoop`; may be changed on the way.
    alter : callable
        Makes another one of the fields of a state, or None: it is lost.
    alter_reading : callable
        The same for wrench and IMU: kind and values to values or None.
    told : list of Told
    """

    def __init__(self, scenario: Scenario, session: NodeSession) -> None:
        self.scenario, self._session = scenario, session
        self.robot = robot = scenario.arm.robot
        self.motion = demo_motion(robot)
        self.start = np.array(
            self.motion.positions[0] if scenario.start is None else scenario.start
        )
        self._interfaces = scenario.parameters.get('command.interfaces', ['effort'])
        self._is_driven = 'position' in self._interfaces
        self._period = 1.0 / scenario.rate
        self._steps = round(self._period / DRIVE_PERIOD) if self._is_driven else 1
        self._limits = np.where(
            robot.limits('effort_limit') > 0, robot.limits('effort_limit'), 1e9
        )
        joints = scenario.parameters.get('joints') or list(robot.joint_names)
        self._order = [joints.index(name) for name in robot.joint_names]
        self.plant = self.make_plant(scenario.plant(robot))
        self.plant.reset(self.start)
        self.sensors, self.disturbances = scenario.make_sensors(), scenario.make_disturbances()
        self.alter: Callable[[Fields], Fields | None] = lambda fields: fields
        self.alter_reading: Callable[[str, np.ndarray], Any] = lambda kind, values: values
        self.told: list[Told] = []
        self._rng = np.random.default_rng(7)
        self._cycle = self._used = 0

    def make_plant(self, robot: Robot) -> MujocoArm:
        """Return an arm in MuJoCo with the options of the scenario."""
        return MujocoArm(
            robot,
            period=self._period / self._steps,
            substeps=2 if self._is_driven else 8,
            integrator='implicitfast',
            **self.scenario.options,
        )

    @property
    def time(self) -> float:
        """Time of the next state [s]."""
        return self._cycle * self._period

    # ---- what a script calls

    def tell(self, kind: str, content: Any) -> None:
        """Tell the node of an event, see :mod:`node_session`."""
        self._tell(self._now + EVENT_DELAY, EVENT, {kind: content})

    def set(self, **values: Any) -> None:
        """Set parameters, all or none; names may use '__' for '.'."""
        self.tell('parameters', {name.replace('__', '.'): one for name, one in values.items()})

    def follow(self, motion: WaypointMotion, **fields: Any) -> None:
        """Send a motion as a trajectory."""
        self.tell('trajectory', {'points': points_of(motion), **fields})

    def go(self, way: Any, seconds: float, **fields: Any) -> None:
        """Send the quintic from the measured position over a way [rad or m]."""
        here = np.round(self.plant.position, 4)
        self.follow(rest_to_rest(self.robot, here, here + way, seconds), **fields)

    def carry(self, robot: Robot) -> None:
        """Go on with an arm that carries something else."""
        loaded = self.make_plant(robot)
        loaded.continue_from(self.plant)
        self.plant = loaded

    # ---- the loop

    @property
    def _now(self) -> int:
        return round(1e9 * self.time)

    def _tell(self, arrival: int, kind: int, content: dict[str, Any]) -> None:
        self.told.append(Told(arrival, kind, content))
        self._session.tell(self.told[-1])

    def run(self) -> None:
        """Let the scenario happen."""
        script = self.scenario.script(self)
        due = next(script, np.inf)
        for cycle in range(round(self.scenario.seconds * self.scenario.rate)):
            self._cycle = cycle
            while self.time >= due - 1e-9:
                due = next(script, np.inf)
            # While the node sleeps in a callback nobody takes what comes.
            if self._session.now <= self._now + EVENT_DELAY:
                self._tell_readings()
                self._tell_state()
            self._move()
        self._session.advance(self.scenario.end)

    def _tell_readings(self) -> None:
        plant = self.plant
        if plant.sensor_link is not None:
            self._tell_reading('wrench', WRENCH, -plant.wrench, WRENCH_DELAY)
        if self.scenario.options.get('imu_link'):
            self._tell_reading('imu', IMU, np.concatenate(plant.imu), IMU_DELAY)

    def _tell_reading(self, name: str, kind: int, values: np.ndarray, delay: int) -> None:
        values = self.alter_reading(name, values)
        if values is None:
            return
        content = {'stamp': self._now, name: steps_of(values, SENSOR_RESOLUTION[name])}
        self._tell(self._now + delay, kind, content)

    def _tell_state(self) -> None:
        plant = self.plant
        reading = SensorReading(self.time, plant.position, plant.velocity, plant.effort, None, '')
        for sensor in self.sensors:
            reading = sensor(reading)
        names = list(self.robot.joint_names)
        fields: Fields | None = {
            'stamp': reading.time,
            'name': names,
            'position': reading.position,
            'velocity': reading.velocity,
            'effort': reading.effort,
        }
        for one in RESOLUTION:
            if one in self.scenario.without:
                fields[one] = np.zeros(0)
        fields = self.alter(fields)
        jitter = int(self._rng.integers(0, LARGEST_JITTER))
        if fields is None:
            return
        arrival, stamp = self._now + STATE_DELAY + jitter, round(1e9 * fields['stamp'])
        if fields['name'] == names and self._is_usual(fields):
            steps = {
                one: steps_of(fields[one], step)
                for one, step in RESOLUTION.items()
                if one not in self.scenario.without
            }
            self._tell(arrival, STATE, {'stamp': stamp, **steps})
            return
        arrays = {one: np.round(fields[one], 6).tolist() for one in RESOLUTION}
        self._tell(arrival, EVENT, {'state': {'stamp': stamp, 'name': fields['name'], **arrays}})

    def _is_usual(self, fields: Fields) -> bool:
        for one in RESOLUTION:
            values = np.asarray(fields[one])
            count = 0 if one in self.scenario.without else self.robot.n
            if values.shape != (count,) or not (np.abs(values) < ORDINARY).all():
                return False
        return True

    def _move(self) -> None:
        """Let the motors, or the drives, do for a period what they were told last."""
        for step in range(self._steps):
            plant = self.plant
            data = self._in_force(self._now + STATE_DELAY + LARGEST_JITTER + 1_000_000 * step)
            if data is None:
                plant.stand()
                continue
            effort = self._exerted(data)
            beside = np.zeros(plant.n)
            for disturbance in self.disturbances:
                beside += disturbance(plant, effort)
            plant.step(effort, beside)

    def _in_force(self, time: int) -> np.ndarray | None:
        """Return the command that was sent last up to a time [ns]."""
        commands = self._session.outputs.commands
        while self._used < len(commands) and commands[self._used][0] <= time:
            self._used += 1
        return commands[self._used - 1][1] if self._used else None

    def _exerted(self, data: np.ndarray) -> np.ndarray:
        told = data.reshape(self.robot.n, len(self._interfaces))[self._order]
        by_name = {name: told[:, index] for index, name in enumerate(self._interfaces)}
        effort = by_name['effort']
        if self._is_driven:
            plant = self.plant
            effort = effort + by_name['proportional'] * (by_name['position'] - plant.position)
            effort = effort + by_name['derivative'] * (by_name['velocity'] - plant.velocity)
        return np.clip(effort, -self._limits, self._limits)


def demo_motion(robot: Robot, duration: float = 2.0) -> WaypointMotion:
    """Return the motion of the demo."""
    return excitation(robot, duration, Dynamics(robot, backend='python').inverse_dynamics)


def points_of(motion: WaypointMotion) -> list[list[Any]]:
    """Return the points of a motion as an event has them."""
    columns = motion.positions, motion.velocities, motion.accelerations
    rows = zip(motion.times.tolist(), *(np.round(one, 9).tolist() for one in columns), strict=True)
    points = [list(row) for row in rows]
    return points[1:] if motion.times[0] == 0.0 else points
