"""A controller and a simulated arm in one process: a closed loop, one answer a state, no ROS.

    arm = MujocoArm(scale_masses(robot, 1.2), period=0.002)   # the model error is the arm's
    arm.reset(motion.positions[0])
    loop = OneProcessLoop(
        arm,
        controller,                                           # or a function of the reading
        sensors=[Encoder(bits=16), DifferencedVelocity(30.0)],
        disturbances=[Wall(joint=2, position=0.4)],
        delay=1,
    )
    loop.run(0.1)
    controller.follow(motion.waypoints())
    recording = loop.run(motion.duration)

What is wrong with the model is done to the robot that is simulated; what is wrong with the
sensors, to what is reported (:data:`Sensor`); what acts on the joints beside the motors, ripple of
their torques included, is added to them (:data:`Disturbance`). What happens once is done between
two runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control.controller import Command, Controller
from ne_dynamics.control.state_guard import Fault, StateRefused
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.recording import Recording


class Reading(NamedTuple):
    """What the sensors say of a state.

    Attributes
    ----------
    time : float
        Stamp [s].
    position : array, shape (n,)
        [rad or m]
    velocity : array, shape (n,), or None
        [rad/s or m/s]
    effort : array, shape (n,), or None
        What the motors have applied [N m or N].
    wrench : array, shape (6,), or None
        That the arm exerts on what is beyond its sensor [N, N m]; None without a sensor.
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


Sensor = Callable[[Reading], Reading]
"""Turns what is so, or what the sensor before it says, into what is reported."""

Disturbance = Callable[[MujocoArm, FloatArray], FloatArray]
"""The arm, and the effort of its motors: what acts on the joints beside it, both of shape (n,)."""

Law = Callable[[Reading], 'Answer | FloatArray']
"""A reading: the efforts that answer it, shape (n,)."""


class ControllerAnswers:
    """The answers of a :class:`Controller`, with the wrench where it has a wrist sensor.

    Parameters
    ----------
    controller : Controller

    Attributes
    ----------
    command : Command or None
        The last one.
    """

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.command: Command | None = None

    def __call__(self, reading: Reading) -> Answer:
        """Return the answer.

        Raises
        ------
        NeDynamicsError
            When the controller has none.
        """
        wrist = self.controller.wrist
        if wrist is not None and reading.wrench is not None:
            wrist.update(reading.sensor_link, -reading.wrench, reading.time)
        self.command = self.controller.update(
            reading.position, reading.velocity, reading.time, reading.time, reading.effort
        )
        return Answer(self.command.effort, self.command.desired.position)


class NodeAnswers(ControllerAnswers):
    """The same as the node gives them: it survives states that have no answer.

    A state that is refused leaves the effort as it is; a fault is followed by the controller's
    last commands, one a state.

    Parameters
    ----------
    controller : Controller
    effort : array-like, shape (n,)
        Until the first answer [N m or N].

    Attributes
    ----------
    faults : list of (float, Fault)
        When [s], and what.
    """

    def __init__(self, controller: Controller, effort: ArrayLike) -> None:
        super().__init__(controller)
        self.faults: list[tuple[float, Fault]] = []
        self._effort = np.array(effort, dtype=np.float64)
        self._leaving: Iterator[FloatArray] = iter(())

    def __call__(self, reading: Reading) -> Answer:
        """Return the answer, or what is done without one."""
        try:
            answer = super().__call__(reading)
        except StateRefused as refusal:
            if refusal.fault is not None:
                self.faults.append((reading.time, refusal.fault))
                self._leaving = self.controller.last_commands()
            self._effort = next(self._leaving, self._effort)
        except NeDynamicsError:
            pass
        else:
            self._effort = answer.effort
            return answer
        return Answer(self._effort, np.full_like(self._effort, np.nan))


@dataclass(frozen=True, eq=False)
class LoopRecording(Recording):
    """What was measured in one process.

    Attributes
    ----------
    command : array, shape (N, n)
        What each state was answered by, limited [N m or N].
    """

    command: FloatArray


class OneProcessLoop:
    """An arm, and what answers its states.

    Parameters
    ----------
    arm : MujocoArm
        In its initial position; its period is that of the loop.
    law : Controller or callable
        See :data:`Law`; a controller's refusals are raised, see :class:`NodeAnswers`.
    sensors : sequence of Sensor
        One after the other.
    disturbances : sequence of Disturbance
        All at once.
    delay : int
        Periods by which an effort acts late; until then the first one acts.
    effort_limits : array-like, shape (n,), optional
        Of the motors [N m or N].

    Attributes
    ----------
    arm : MujocoArm
    law : callable
    sensors, disturbances : list
        May be changed on the way.
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
    ) -> None:
        self.arm = arm
        self.law: Law = ControllerAnswers(law) if isinstance(law, Controller) else law
        self.sensors = list(sensors)
        self.disturbances = list(disturbances)
        self._limits = np.asarray(effort_limits, dtype=np.float64)
        self._under_way: deque[FloatArray] = deque(maxlen=delay + 1)
        self._rows: list[tuple[float, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]]
        self._rows = []

    def step(self) -> Answer:
        """Read, answer, and let one period pass; return the answer.

        Raises
        ------
        NeDynamicsError
            When the law has no answer, or the motion grew without bound.
        """
        arm = self.arm
        truth = Reading(
            arm.time,
            arm.position,
            arm.velocity,
            arm.effort,
            arm.wrench if arm.sensor_link else None,
            arm.sensor_link or '',
        )
        reading = truth
        for sensor in self.sensors:
            reading = sensor(reading)
        found = self.law(reading)
        unknown = np.full(arm.n, np.nan)
        answer = found if isinstance(found, Answer) else Answer(np.asarray(found), unknown)
        command = np.clip(answer.effort, -self._limits, self._limits)
        self._rows.append(
            (arm.time, answer.desired, arm.position, arm.velocity, arm.effort, command)
        )
        while len(self._under_way) < (self._under_way.maxlen or 0) - 1:
            self._under_way.append(command)
        self._under_way.append(command)
        effort = self._under_way[0]
        beside = np.zeros(arm.n)
        for disturbance in self.disturbances:
            beside += disturbance(arm, effort)
        arm.step(effort, beside)
        return answer

    def run(self, seconds: float) -> LoopRecording:
        """Let a time pass and return what was measured in it.

        Raises
        ------
        NeDynamicsError
            As :meth:`step`.
        """
        first = len(self._rows)
        for _ in range(round(seconds / self.arm.period)):
            self.step()
        return self.recording(first)

    def recording(self, first: int = 0) -> LoopRecording:
        """Return what was measured from a state on, the states counted from 0."""
        columns = [np.array(column) for column in zip(*self._rows[first:], strict=True)]
        if not columns:
            columns = [np.empty(0), *[np.empty((0, self.arm.n))] * 5]
        return LoopRecording(self.arm.robot.joint_names, *columns)

    def pick_up(self, loaded: MujocoArm) -> None:
        """Go on with another arm, which has the same joints and options: it carries a load."""
        loaded.continue_from(self.arm)
        self.arm = loaded


# ---- sensors


class Encoder:
    """Positions in steps, with noise.

    Parameters
    ----------
    bits : int, optional
        A turn is so many powers of two; for sliding joints a metre times 2 pi.
    noise : float
        Standard deviation [rad or m].
    seed : int
    """

    def __init__(self, bits: int | None = None, noise: float = 0.0, seed: int = 4) -> None:
        self._step = 0.0 if bits is None else 2.0 * np.pi / 2**bits
        self._noise = noise
        self._rng = np.random.default_rng(seed)

    def __call__(self, reading: Reading) -> Reading:
        """Return the reading with the position it makes of the true one."""
        position = reading.position + self._noise * self._rng.standard_normal(
            reading.position.size
        )
        if self._step:
            position = np.round(position / self._step) * self._step
        return reading._replace(position=position)


class DifferencedVelocity:
    """Velocities from differences of the reported positions, behind a first-order filter.

    Parameters
    ----------
    cutoff : float
        [Hz]
    """

    def __init__(self, cutoff: float) -> None:
        self._rate = 2.0 * np.pi * cutoff
        self._last: Reading | None = None

    def __call__(self, reading: Reading) -> Reading:
        """Return the reading with this velocity; 0 at first."""
        velocity = np.zeros_like(reading.position)
        if self._last is not None and self._last.velocity is not None:
            period = reading.time - self._last.time
            raw = (reading.position - self._last.position) / period
            share = 1.0 - np.exp(-self._rate * period)
            velocity = self._last.velocity + share * (raw - self._last.velocity)
        self._last = reading._replace(velocity=velocity)
        return self._last


class Late:
    """One field of the reading is some samples older than the rest.

    Parameters
    ----------
    field : str
        Of :class:`Reading`.
    samples : int
    """

    def __init__(self, field: str, samples: int) -> None:
        self._field = field
        self._values: deque[Any] = deque(maxlen=samples + 1)

    def __call__(self, reading: Reading) -> Reading:
        """Return the reading with the old value, at first the first one."""
        self._values.append(getattr(reading, self._field))
        return reading._replace(**{self._field: self._values[0]})


class FrozenPosition:
    """Positions that stand still from a time on.

    Parameters
    ----------
    begin : float
        [s]
    velocity : str
        What becomes of the velocities: 'true' (as they are), 'zero' or 'frozen'.
    """

    def __init__(self, begin: float, velocity: str = 'true') -> None:
        self._begin = begin
        self._velocity = velocity
        self._kept: Reading | None = None

    def __call__(self, reading: Reading) -> Reading:
        """Return the reading with the position of the begin."""
        if reading.time < self._begin:
            return reading
        self._kept = reading if self._kept is None else self._kept
        velocity = {
            'true': reading.velocity,
            'zero': np.zeros_like(reading.position),
            'frozen': self._kept.velocity,
        }[self._velocity]
        return reading._replace(position=self._kept.position, velocity=velocity)


# ---- disturbances


@dataclass(frozen=True, eq=False)
class JointPush:
    """Efforts beside those of the motors, for a time.

    Attributes
    ----------
    effort : array, shape (n,)
        [N m or N]
    begin, duration : float
        [s]
    """

    effort: FloatArray
    begin: float = 0.0
    duration: float = np.inf

    def __call__(self, arm: MujocoArm, effort: FloatArray) -> FloatArray:
        """Return the push while it lasts."""
        is_pushed = self.begin <= arm.time < self.begin + self.duration
        return self.effort if is_pushed else np.zeros(arm.n)


@dataclass(frozen=True, eq=False)
class LinkPush:
    """A force on the origin of a link's frame, for a time.

    Attributes
    ----------
    link : str
    force : array, shape (3,)
        In the axes of the world [N].
    begin, duration : float
        [s]
    """

    link: str
    force: FloatArray
    begin: float = 0.0
    duration: float = np.inf

    def __call__(self, arm: MujocoArm, effort: FloatArray) -> FloatArray:
        """Return the efforts of the push while it lasts."""
        push = JointPush(arm.effort_of_force(self.link, self.force), self.begin, self.duration)
        return push(arm, effort)


@dataclass(frozen=True)
class Wall:
    """What keeps a joint from going beyond a position: a spring with a damper.

    Attributes
    ----------
    joint : int
        In the robot's order.
    position : float
        [rad or m]
    stiffness, damping : float
        [N m/rad, N m s/rad or N/m, N s/m]
    """

    joint: int
    position: float
    stiffness: float = 5000.0
    damping: float = 100.0

    def __call__(self, arm: MujocoArm, effort: FloatArray) -> FloatArray:
        """Return what the wall pushes back with."""
        push = np.zeros(arm.n)
        depth = arm.position[self.joint] - self.position
        if depth > 0.0:
            speed = max(arm.velocity[self.joint], 0.0)
            push[self.joint] = -self.stiffness * depth - self.damping * speed
        return push
