"""States and commands out of ROS messages, as they come: of a bag, or of topics that are heard.

No ROS: messages are read by the names of their fields.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray

COMMAND_TYPES = (
    'std_msgs/msg/Float64MultiArray',
    'sensor_msgs/msg/JointState',
    'control_msgs/msg/JointCommand',
    'control_msgs/msg/DynamicInterfaceGroupValues',
)
"""Messages of which commands are read, as the node sends them."""

EFFORT = 'effort'


class MessageCollector:
    """Messages of joint states and of commands, one after another.

    Parameters
    ----------
    command_names : sequence of str
        Joints of a command that carries no names, in its order.
    source : str
        For messages.

    Attributes
    ----------
    source : str
    refused : dict of str to int
        Messages that could not be used, by reason.
    """

    def __init__(self, command_names: Sequence[str], source: str) -> None:
        self._command_names, self.source = tuple(command_names), source
        self._states: list[tuple[float, float, tuple[str, ...], tuple[Any, ...]]] = []
        self._commands: list[tuple[float, float, tuple[str, ...], FloatArray]] = []
        self.refused: dict[str, int] = {}

    @property
    def states(self) -> int:
        """How many states were taken."""
        return len(self._states)

    def list_joints(self) -> tuple[str, ...]:
        """Return the joints of the state that has most; a gripper may have states of its own."""
        return max((names for _, _, names, _ in self._states), key=len, default=())

    def add_state(self, message: Any, received: float) -> None:
        """Take a message of the kind of JointState.

        Parameters
        ----------
        message : JointState
        received : float
            By the clock of the recording [s].
        """
        names = tuple(message.name)
        tables = tuple(
            np.array(getattr(message, key), dtype=np.float64)
            for key in ('position', 'velocity', 'effort')
        )
        if not names or len(set(names)) != len(names) or tables[0].size != len(names):
            self._refuse('states whose names and positions do not fit')
            return
        self._states.append((_seconds(message), received, names, tables))

    def add_command(self, message: Any, received: float) -> None:
        """Take a message of one of :data:`COMMAND_TYPES`.

        Parameters
        ----------
        message : ROS message
        received : float
            By the clock of the recording [s].
        """
        found = self._read_command(message)
        if found is None:
            self._refuse('commands without one effort a joint')
            return
        names, efforts = found
        self._commands.append((_seconds(message), received, names, efforts))

    def finish(self, joint_names: Sequence[str]) -> DriverRecording:
        """Return what was taken.

        Parameters
        ----------
        joint_names : sequence of str
            Joints that are wanted, in the order in which they are.

        Returns
        -------
        DriverRecording

        Raises
        ------
        InputError
            When fewer than two states have all joints.
        """
        wanted = tuple(joint_names)
        rows = [state for state in self._states if set(wanted) <= set(state[2])]
        if len(rows) < len(self._states):
            self.refused['states without all joints'] = len(self._states) - len(rows)
        if not rows:
            raise InputError(
                f'{self.source}: expected states of {", ".join(wanted)}, got '
                f'{len(self._states)} states, of {", ".join(self.list_joints()) or "no joint"}'
            )
        tables = [
            np.array([_pick(names, row[key], wanted) for _, _, names, row in rows])
            for key in range(3)
        ]
        stamps = np.array([stamp for stamp, *_ in rows])
        received = np.array([moment for _, moment, *_ in rows])
        is_stamped = bool((stamps != 0.0).any())
        if not is_stamped:
            stamps = received
        return DriverRecording.from_samples(
            wanted,
            stamps,
            tables[0],
            tables[1],
            tables[2],
            received=received if is_stamped else None,
            commands=self._finish_commands(wanted, stamps, received),
            source=self.source,
        )

    def _finish_commands(
        self, wanted: tuple[str, ...], stamps: FloatArray, received: FloatArray
    ) -> CommandLog | None:
        rows = [row for row in self._commands if set(wanted) <= set(row[2])]
        if len(rows) < len(self._commands):
            self.refused['commands without all joints'] = len(self._commands) - len(rows)
        if len(rows) < 2:
            return None
        # Of another clock than the receptions: what came together was together.
        apart = float(np.median(received - stamps))
        shift = apart if abs(apart) > STATES.clock_difference else 0.0
        times = [
            stamp
            if stamp != 0.0 and abs(stamp - moment + apart) < STATES.clock_difference
            else moment - shift
            for stamp, moment, *_ in rows
        ]
        efforts = [_pick(names, values, wanted) for *_, names, values in rows]
        return CommandLog.from_samples(wanted, times, efforts, source=f'{self.source}: commands')

    def _read_command(self, message: Any) -> tuple[tuple[str, ...], FloatArray] | None:
        names: tuple[str, ...] = self._command_names
        if hasattr(message, 'data'):
            values = np.array(message.data, dtype=np.float64)
        elif hasattr(message, 'effort'):
            names, values = tuple(message.name), np.array(message.effort, dtype=np.float64)
        elif hasattr(message, 'interface_groups'):
            names = tuple(message.interface_groups)
            values = np.array([_effort_of(group) for group in message.interface_values])
        else:
            names, values = tuple(message.joint_names), np.array(message.values, dtype=np.float64)
        return (names, values) if names and values.shape == (len(names),) else None

    def _refuse(self, reason: str) -> None:
        self.refused[reason] = self.refused.get(reason, 0) + 1


def _effort_of(group: Any) -> float:
    names = list(group.interface_names)
    return float(group.values[names.index(EFFORT)]) if EFFORT in names else math.nan


def _seconds(message: Any) -> float:
    """Return the stamp of a message [s]; 0 where it has none."""
    header = getattr(message, 'header', None)
    return 0.0 if header is None else float(header.stamp.sec + 1e-9 * header.stamp.nanosec)


def _pick(names: tuple[str, ...], values: FloatArray, wanted: tuple[str, ...]) -> FloatArray:
    """Return the values of some joints; NaN for those that a field lacks."""
    places = {name: index for index, name in enumerate(names)}
    return np.array(
        [values[places[name]] if places[name] < values.size else math.nan for name in wanted]
    )
