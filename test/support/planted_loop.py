"""What tests plant into a loop in one process: late and frozen sensors, a wall, refused states."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control import Controller, Fault, StateRefused
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import (
    Answer,
    ControllerAnswers,
    Disturbance,
    Sensor,
    SensorReading,
)


class NodeAnswers(ControllerAnswers):
    """The same as the node gives them: it survives states that have no answer.

    A state that is refused leaves the effort as it is. A fault that latches is answered by
    damping, where the controller has it so; any other by its last commands, one a state.

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

    def __call__(self, reading: SensorReading) -> Answer:
        """Return the answer, or what is done without one."""
        try:
            answer = super().__call__(reading)
        except StateRefused as refusal:
            if refusal.fault is not None:
                self.faults.append((reading.time, refusal.fault))
                controller = self.controller
                is_damped = controller.is_damped
                self._leaving = (
                    iter((controller.damp().effort,))
                    if is_damped
                    else controller.machine.last_commands()
                )
            self._effort = next(self._leaving, self._effort)
        except NeDynamicsError:
            pass
        else:
            self._effort = answer.effort
            return answer
        return Answer(self._effort, np.full_like(self._effort, np.nan))


def delayed(field: str, samples: int) -> Sensor:
    """Return a sensor of which one field of the reading is some samples old."""
    values: deque[Any] = deque(maxlen=samples + 1)

    def sense(reading: SensorReading) -> SensorReading:
        values.append(getattr(reading, field))
        return reading._replace(**{field: values[0]})

    return sense


def frozen_position(
    begin: float, velocity: str = 'true', joint: int | None = None, tremble: float = 0.0
) -> Sensor:
    """Return a sensor whose positions stand still from a time on [s], or that of one joint.

    They may tremble [rad or m]. The velocities are as they are ('true'), none ('zero'), or stand
    still as well ('frozen').
    """
    kept: SensorReading | None = None
    which = slice(None) if joint is None else [joint]
    rng = np.random.default_rng(3)

    def sense(reading: SensorReading) -> SensorReading:
        nonlocal kept
        if reading.time < begin:
            return reading
        kept = reading if kept is None else kept
        positions, velocities = reading.position.copy(), reading.velocity
        positions[which] = kept.position[which]
        positions[which] += tremble * rng.integers(-1, 2, positions[which].shape)
        if velocity != 'true':
            velocities = velocities.copy()
            velocities[which] = 0.0 if velocity == 'zero' else kept.velocity[which]
        return reading._replace(position=positions, velocity=velocities)

    return sense


def wall(joint: int, position: float) -> Disturbance:
    """Return what keeps a joint, by its number, from going beyond a position [rad or m].

    A spring of 5000 N m/rad or N/m with a damper of 100 N m s/rad or N s/m that pulls at nothing.
    """

    def disturb(arm: MujocoArm, effort: FloatArray) -> FloatArray:
        beside = np.zeros(arm.n)
        depth = arm.position[joint] - position
        if depth > 0.0:
            beside[joint] = -5000.0 * depth - 100.0 * max(arm.velocity[joint], 0.0)
        return beside

    return disturb
