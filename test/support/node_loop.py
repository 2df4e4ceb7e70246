"""The node, told by a robot in MuJoCo, in virtual time: what becomes of the arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from fuzz_run import closed_context
from golden_arms import SHIPPED
from node_session import opened
from plant_loop import STATE_DELAY, Fields, PlantLoop, Scenario
from replay_inputs import EVENT, RESOLUTION


class NodeRun(NamedTuple):
    """What became of it.

    Attributes
    ----------
    time : array, shape (m,)
        Of the rows of the motion [s].
    position, velocity : array, shape (m, n)
        True ones [rad, rad/s].
    command_time : array, shape (k,)
        [s]
    command : array, shape (k, n)
        Efforts, by their limits.
    faults : list of (str, float)
        Name, and when [s].
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    command_time: np.ndarray
    command: np.ndarray
    faults: list[tuple[str, float]]

    def fastest(self, begin: float = 0.0) -> float:
        """Return the speed of the fastest joint from a time on [rad/s]."""
        return float(np.abs(self.velocity[self.time >= begin]).max())

    def largest_step(self, begin: float = 0.0) -> float:
        """Return the largest step from a command to the next, from a time on."""
        steps = np.abs(np.diff(self.command, axis=0))
        return float(steps[self.command_time[1:] >= begin].max())


class NodeLoop(PlantLoop):
    """The loop of the recordings, which keeps the true motion.

    Attributes
    ----------
    second : callable or None
        Returns the fields of the state that another publisher sends between two states, for its
        stamp [s].
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.second: Callable[[float], Fields] | None = None
        self.rows: list[tuple[float, np.ndarray, np.ndarray]] = []

    def _tell_state(self) -> None:
        super()._tell_state()
        if self.second is None:
            return
        fields = self.second(self.time + 0.5 * self._period)
        arrays = {one: np.round(fields[one], 6).tolist() for one in RESOLUTION}
        stamp, half = round(1e9 * fields['stamp']), round(0.5e9 * self._period)
        state = {'stamp': stamp, 'name': fields['name'], **arrays}
        self._tell(self._now + STATE_DELAY + half, EVENT, {'state': state})

    def say_beside(self, away: Any, *, still: bool = False) -> None:
        """Let another one publish all joints from now on, so far from where they are, or were."""
        names, found = list(self.robot.joint_names), self.plant.position

        def make(stamp: float) -> Fields:
            plant = self.plant
            place = (found if still else plant.position) + away
            speed = np.zeros_like(found) if still else plant.velocity
            return {
                'stamp': stamp,
                'name': names,
                'position': place,
                'velocity': speed,
                'effort': plant.effort,
            }

        self.second = make

    def _move(self) -> None:
        super()._move()
        plant = self.plant
        self.rows.append((self.time + self._period, plant.position, plant.velocity))


def run_node(
    script: Any, parameters: dict[str, Any] | None = None, seconds: float = 2.0, **fields: Any
) -> NodeRun:
    """Run the node with the shipped arm; the fields are those of the scenario."""
    scenario = Scenario('', '', SHIPPED, script, parameters or {}, seconds=seconds, **fields)
    context = closed_context(31)
    try:
        with opened(context, SHIPPED, scenario.parameters, scenario.sensor_links) as session:
            loop = NodeLoop(scenario, session)
            loop.run()
            outputs = session.outputs
            outputs.finish()
    finally:
        context.try_shutdown()
    time, position, velocity = (np.array(each) for each in zip(*loop.rows, strict=True))
    times, efforts = zip(*outputs.commands, strict=True)
    command = np.array(efforts) / SHIPPED.robot.limits('effort_limit')
    return NodeRun(time, position, velocity, 1e-9 * np.array(times), command, outputs.faults)
