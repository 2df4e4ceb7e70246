"""A controller and a simulated arm in one process: a closed loop, one answer a state, no ROS.

    arm = MujocoArm(scale_masses(robot, 1.2), period=0.002)   # the model error is the arm's
    arm.reset(motion.positions[0])
    loop = OneProcessLoop(
        arm,
        controller,                                           # or a function of the reading
        sensors=[encoder(bits=16), differenced_velocity(30.0)],
        disturbances=[external_push([0.0, 0.0, 30.0], link='tcp')],
        delay=1,
    )
    loop.run(0.1)
    controller.motion.follow(motion.waypoints())
    recording = loop.run(motion.duration)

What is wrong with the model is done to the robot that is simulated; what is wrong with the
sensors, to what is reported (:data:`Sensor`); what acts on the joints beside the motors, ripple of
their torques included, is added to them (:data:`Disturbance`). What happens once is done between
two runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control import Controller, Tick
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.recording import RunRecording


class SensorReading(NamedTuple):
    """The readings of all sensors at one time.

    Attributes
    ----------
    time : float
        Stamp [s].
    position : array, shape (n,)
        [rad or m]
    velocity : array, shape (n,), or None
        [rad/s or m/s]
    effort : array, shape (n,), or None
        Effort of the motors [N m or N].
    wrench : array, shape (6,), or None
        Wrench that the arm exerts on everything beyond its sensor [N, N m]; None without sensor.
    sensor_link : str
        Frame of the wrench.
    """

    time: float
    position: FloatArray
    velocity: FloatArray | None
    effort: FloatArray | None
    wrench: FloatArray | None
    sensor_link: str


class Answer(NamedTuple):
    """What a state is answered by.

    Attributes
    ----------
    effort : array, shape (n,)
        [N m or N]
    desired : array, shape (n,)
        Position that is aimed at, for the recording [rad or m].
    """

    effort: FloatArray
    desired: FloatArray


Sensor = Callable[[SensorReading], SensorReading]
"""Turns what is so, or what the sensor before it says, into what is reported."""

Disturbance = Callable[[MujocoArm, FloatArray], FloatArray]
"""The arm, and the effort of its motors: what acts on the joints beside it, both of shape (n,)."""

Law = Callable[[SensorReading], 'Answer | FloatArray']
"""A reading: the efforts that answer it, shape (n,)."""


class ControllerAnswers:
    """The answers of a :class:`Controller`, with the wrench where it has a wrist sensor.

    Parameters
    ----------
    controller : Controller

    Attributes
    ----------
    command : Tick or None
        The last one.
    """

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.command: Tick | None = None

    def __call__(self, reading: SensorReading) -> Answer:
        """Return the answer; raise NeDynamicsError when the controller has none."""
        wrist = self.controller.sense.wrist
        if wrist is not None and reading.wrench is not None:
            wrist.update(reading.sensor_link, -reading.wrench, reading.time)
        self.command = self.controller.update(
            reading.position, reading.velocity, reading.time, reading.time, reading.effort
        )
        return Answer(self.command.effort, self.command.desired.position)


@dataclass(frozen=True, eq=False)
class LoopRecording(RunRecording):
    """What was measured in one process.

    Attributes
    ----------
    command : array, shape (N, n)
        What each state was answered by, limited [N m or N].
    """

    command: FloatArray


class OneProcessLoop:
    """Control loop of a simulated arm in one process, without ROS.

    Parameters
    ----------
    arm : MujocoArm
        In its initial position; its period is that of the loop.
    law : Controller or callable
        See :data:`Law`. A state that a controller refuses raises its error.
    sensors : sequence of Sensor
        Applied in this order.
    disturbances : sequence of Disturbance
        Their sum acts on the joints.
    delay : int
        Delay of the efforts in periods.
    effort_limits : array-like, shape (n,), optional
        Limits of the motors [N m or N].
    first_effort : array, shape (n,), optional
        What acts until the first command does [N m or N]; default: that command.

    Attributes
    ----------
    arm : MujocoArm
    law : callable
    sensors, disturbances : list
        May be changed between steps.
    """

    def __init__(
        self,
        arm: MujocoArm,
        law: Controller | Law,
        *,
        sensors: Sequence[Sensor] = (),
        disturbances: Sequence[Disturbance] = (),
        delay: int = 0,
        effort_limits: ArrayLike = np.inf,
        first_effort: FloatArray | None = None,
    ) -> None:
        self.arm = arm
        self.law: Law = ControllerAnswers(law) if isinstance(law, Controller) else law
        self.sensors = list(sensors)
        self.disturbances = list(disturbances)
        self._limits = np.asarray(effort_limits, dtype=np.float64)
        under_way = [] if first_effort is None else delay * [first_effort]
        self._under_way: deque[FloatArray] = deque(under_way, maxlen=delay + 1)
        self._rows: list[tuple[Any, ...]] = []

    def step(self) -> Answer:
        """Read the sensors, compute the answer, advance by one period; return the answer.

        Raises
        ------
        NeDynamicsError
            When the law has no answer, or the simulation diverges.
        """
        arm = self.arm
        truth = SensorReading(
            arm.time,
            arm.position,
            arm.velocity,
            arm.effort,
            arm.wrench if arm.sensor_link is not None else None,
            arm.sensor_link or '',
        )
        reading = truth
        for sensor in self.sensors:
            reading = sensor(reading)
        found = self.law(reading)
        answer = found if isinstance(found, Answer) else Answer(found, np.full(arm.n, np.nan))
        command = np.clip(answer.effort, -self._limits, self._limits)
        self._rows.append(
            (truth.time, answer.desired, truth.position, truth.velocity, truth.effort, command)
        )
        effort = pass_on(self._under_way, command)
        beside = np.zeros(arm.n)
        for disturbance in self.disturbances:
            beside += disturbance(arm, effort)
        arm.step(effort, beside)
        return answer

    def run(self, seconds: float) -> LoopRecording:
        """Run for a time [s] and return the recording of it.

        Raises
        ------
        NeDynamicsError
            As for :meth:`step`.
        """
        first = len(self._rows)
        for _ in range(round(seconds / self.arm.period)):
            self.step()
        return self.recording(first)

    def recording(self, first: int = 0) -> LoopRecording:
        """Return the recording from a state on; states are counted from 0."""
        columns = [np.array(column) for column in zip(*self._rows[first:], strict=True)]
        if not columns:
            columns = [np.empty(0), *[np.empty((0, self.arm.n))] * 5]
        return LoopRecording(self.arm.robot.joint_names, *columns)

    def pick_up(self, loaded: MujocoArm) -> None:
        """Continue with another arm, of the same joints and options, that carries a load."""
        loaded.continue_from(self.arm)
        self.arm = loaded


# ---- sensors


def encoder(bits: int | None = None, noise: float = 0.0, seed: int = 4) -> Sensor:
    """Return a sensor whose positions come in steps, a turn in two to the power of `bits`.

    Before that they get noise, of a standard deviation [rad or m].
    """
    rounded = stepped_positions(0.0 if bits is None else 2.0 * np.pi / 2**bits)
    rng = np.random.default_rng(seed)

    def sense(reading: SensorReading) -> SensorReading:
        position = reading.position + noise * rng.standard_normal(reading.position.size)
        return rounded(reading._replace(position=position))

    return sense


def stepped_positions(steps: ArrayLike) -> Sensor:
    """Return a sensor whose positions come in steps, one or each joint's [rad or m]; 0: exact."""
    size = np.asarray(steps, dtype=np.float64)
    divisor = np.where(size > 0.0, size, 1.0)

    def sense(reading: SensorReading) -> SensorReading:
        stepped = np.round(reading.position / divisor) * size
        return reading._replace(position=np.where(size > 0.0, stepped, reading.position))

    return sense


def differenced_velocity(cutoff: float) -> Sensor:
    """Return a sensor that differences the reported positions behind a low-pass [Hz].

    The velocity is 0 at first.
    """
    last: SensorReading | None = None

    def sense(reading: SensorReading) -> SensorReading:
        nonlocal last
        velocity = np.zeros_like(reading.position)
        if last is not None and last.velocity is not None:
            period = reading.time - last.time
            raw = (reading.position - last.position) / period
            share = 1.0 - np.exp(-2.0 * np.pi * cutoff * period)
            velocity = last.velocity + share * (raw - last.velocity)
        last = reading._replace(velocity=velocity)
        return last

    return sense


# ---- disturbances


def external_push(
    effort_or_force: ArrayLike, begin: float = 0.0, duration: float = np.inf, link: str = ''
) -> Disturbance:
    """Return a push for a time [s].

    Efforts of the joints, shape (n,) [N m or N]; with a link the force on the origin of its frame,
    shape (3,), in the axes of the world [N].
    """
    pushed = np.array(effort_or_force, dtype=np.float64)

    def disturb(arm: MujocoArm, effort: FloatArray) -> FloatArray:
        if not begin <= arm.time < begin + duration:
            return np.zeros(arm.n)
        return arm.effort_of_force(link, pushed) if link else pushed

    return disturb


def pass_on(under_way: deque[FloatArray], command: FloatArray) -> FloatArray:
    """Put a command on its way, and return the one that arrives: until one does, the first."""
    under_way.append(command)
    while len(under_way) < (under_way.maxlen or 1):
        under_way.append(command)
    return under_way[0]


def torque_ripple(share: float, cogging: float = 0.0, cycles: float = 30.0) -> Disturbance:
    """Return what motors do beside their torque, `cycles` times a turn of the joint.

    A share of the torque, and twice as often a share of the effort limit.
    """

    def disturb(arm: MujocoArm, effort: FloatArray) -> FloatArray:
        angle = cycles * arm.position
        limits = arm.robot.limits('effort_limit')
        ripple: FloatArray = share * effort * np.sin(angle) + cogging * limits * np.sin(
            2.0 * angle
        )
        return ripple

    return disturb
