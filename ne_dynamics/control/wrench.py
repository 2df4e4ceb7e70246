"""The reading of a wrist force/torque sensor, as the inverse dynamics wants it.

A sensor sits between links. What is beyond it is in the reading: its weight, its inertia, and
what touches it. The inverse dynamics takes the wrench [f, n] that the last link of the arm
exerts ON what is beyond, at the frame of the cut, in its axes. Readings come in another frame,
with either sign, with a bias, and late or not at all; :class:`WristWrench` deals with these.
"""

from __future__ import annotations

import enum
from collections import deque
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import ParameterError, WrenchError
from ne_dynamics.model.robot import FloatArray, Inertia, Robot, Transform, cross_matrix

TARE_WINDOW = 0.2
"""A tare averages the readings of this many last seconds."""

TARE_READINGS = 100
"""... but not more than this many."""


class Measures(str, enum.Enum):
    """Which of the two opposite wrenches the sensor reports."""

    ON_TOOL = 'on_tool'
    """What the environment and the tool exert on the arm's side (the habit in ROS): f = -reading.

    A tool that hangs on the sensor reads as a force downwards.
    """
    BY_TOOL = 'by_tool'
    """The opposite: f = reading."""


class OnTimeout(str, enum.Enum):
    """What counts when readings stop."""

    ZERO = 'zero'
    HOLD = 'hold'


def wrench_matrix(source_to_target: Transform) -> FloatArray:
    """Return the matrix that moves a wrench to another frame.

    Parameters
    ----------
    source_to_target : Transform
        Pose of the source frame in the target frame.

    Returns
    -------
    array, shape (6, 6)
        Takes [force, moment about the source's origin] in source axes to [force, moment about
        the target's origin] in target axes.
    """
    rotation = source_to_target.rotation
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = rotation
    matrix[3:, 3:] = rotation
    matrix[3:, :3] = cross_matrix(source_to_target.translation) @ rotation
    return matrix


def inertia_beyond(robot: Robot, link_name: str) -> Inertia:
    """Return what is rigidly attached beyond a link, lumped, in that link's frame.

    Parameters
    ----------
    robot : Robot
        The robot that is not cut.
    link_name : str

    Returns
    -------
    Inertia
        The link itself not included.
    """
    link = robot.link(link_name)
    body_to_link = link.pose_in_body.inverse()
    total = Inertia.zero()
    for name in sorted(robot.descendants(link_name)):
        other = robot.link(name)
        if other.body == link.body:
            total += other.inertia.transformed(body_to_link @ other.pose_in_body)
    return total


class WristWrench:
    """Keeps the last usable reading and says what it means now.

    Parameters
    ----------
    robot : Robot
        The robot that is not cut: its links name the frames readings may come in.
    cut_link : str
        Link whose frame is the frame of the cut, the tip of the model that is compensated.
    measures : Measures or str
        Sign of the readings.
    timeout : float
        Age from which a reading no longer counts [s]; infinite for never.
    on_timeout : OnTimeout or str
        What counts then: no wrench, or the last one.

    Raises
    ------
    ModelError
        When the link is unknown.
    ParameterError
        When a word or the timeout is not allowed.
    """

    def __init__(
        self,
        robot: Robot,
        cut_link: str,
        *,
        measures: Measures | str = Measures.ON_TOOL,
        timeout: float = 0.1,
        on_timeout: OnTimeout | str = OnTimeout.HOLD,
    ) -> None:
        cut = robot.link(cut_link)
        body_to_cut = cut.pose_in_body.inverse()
        self.cut_link = cut_link
        self._moves = {
            link.name: wrench_matrix(body_to_cut @ link.pose_in_body)
            for link in robot.links
            if link.body == cut.body
        }
        self._other_links = frozenset(link.name for link in robot.links) - self._moves.keys()
        self._bias = np.zeros(6)
        self._readings: deque[tuple[float, FloatArray]] = deque(maxlen=TARE_READINGS)
        self._stamp = -np.inf
        self._wrench: FloatArray | None = None
        self.configure(measures, timeout, on_timeout)

    def configure(
        self, measures: Measures | str, timeout: float, on_timeout: OnTimeout | str
    ) -> None:
        """Change sign and timeout; readings kept so far are forgotten when the sign changes."""
        try:
            new_measures, new_on_timeout = Measures(measures), OnTimeout(on_timeout)
        except ValueError as error:
            raise ParameterError(f'wrench: {error}') from None
        if not timeout > 0.0:
            raise ParameterError(f'wrench.timeout: expected > 0 s, got {timeout}')
        if getattr(self, 'measures', new_measures) is not new_measures:
            self.reset()
            self._bias = -self._bias
        self.measures = new_measures
        self._sign = -1.0 if new_measures is Measures.ON_TOOL else 1.0
        self.timeout = float(timeout)
        self.on_timeout = new_on_timeout

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames that readings may come in."""
        return tuple(self._moves)

    @property
    def bias(self) -> FloatArray:
        """What the last tare found, in the frame and with the sign of :meth:`at`, shape (6,)."""
        return self._bias.copy()

    def reset(self) -> None:
        """Forget the readings, not the tare."""
        self._readings.clear()
        self._stamp = -np.inf
        self._wrench = None

    def update(self, frame_id: str, reading: ArrayLike, stamp: float) -> None:
        """Take a reading.

        Parameters
        ----------
        frame_id : str
            Link in whose frame the reading is given.
        reading : array-like, shape (6,)
            Force [N], then moment about that frame's origin [N m], in that frame's axes.
        stamp : float
            Time of the reading [s].

        Raises
        ------
        WrenchError
            When the frame is empty, unknown, or not rigidly attached to the cut; when a value
            is not finite. The last good reading is kept.
        """
        move = self._moves.get(frame_id)
        if move is None:
            raise WrenchError(self._frame_fault(frame_id))
        values = np.asarray(reading, dtype=np.float64)
        if values.shape != (6,):
            raise WrenchError(f'wrench: expected force and moment, 6 values, got {values.size}')
        if not isfinite(sum(values.tolist())) and not np.isfinite(values).all():
            index = int(np.argmin(np.isfinite(values)))
            field = ('force', 'torque')[index // 3] + '.' + 'xyz'[index % 3]
            raise WrenchError(f'wrench.{field}: expected a finite number, got {values[index]}')
        moved = self._sign * (move @ values)
        self._readings.append((stamp, moved))
        self._stamp = stamp
        self._wrench = moved - self._bias

    def _frame_fault(self, frame_id: str) -> str:
        expected = f'expected a link rigidly attached to {self.cut_link!r}: {sorted(self._moves)}'
        if not frame_id:
            return f'header.frame_id: got an empty one; {expected}'
        if frame_id in self._other_links:
            return f'header.frame_id: {frame_id!r} is elsewhere on the robot; {expected}'
        return f'header.frame_id: no link {frame_id!r}; {expected}'

    def is_stale(self, now: float) -> bool:
        """Return whether readings have stopped (or never came, or come from another clock)."""
        return not abs(now - self._stamp) <= self.timeout

    def at(self, now: float) -> FloatArray | None:
        """Return the wrench for the inverse dynamics.

        Parameters
        ----------
        now : float
            [s]

        Returns
        -------
        array, shape (6,), or None
            Force [N], then moment [N m], exerted by the arm on what is beyond the cut, at its
            frame, in its axes. None when there is none: no reading yet, or stale and to be
            zero then.
        """
        if self.is_stale(now) and self.on_timeout is OnTimeout.ZERO:
            return None
        return self._wrench

    def tare(self, now: float, expected: ArrayLike | None = None) -> FloatArray:
        """Take the mean of the last readings for what is expected; return the bias so found.

        Parameters
        ----------
        now : float
            [s]
        expected : array-like, shape (6,), optional
            What :meth:`at` should give at rest [N, N m], e.g. :func:`static_wrench` of the
            tool; zero when omitted.

        Returns
        -------
        array, shape (6,)

        Raises
        ------
        WrenchError
            When there is no reading recent enough.
        """
        if self.is_stale(now):
            age = now - self._stamp
            raise WrenchError(
                'tare: no reading yet'
                if not isfinite(age)
                else f'tare: the last reading is {age:.3g} s old; expected at most '
                f'{self.timeout:g} s'
            )
        recent = [
            moved for stamp, moved in self._readings if abs(self._stamp - stamp) <= TARE_WINDOW
        ]
        mean = np.mean(recent, axis=0)
        self._bias = mean - (0.0 if expected is None else np.asarray(expected, dtype=np.float64))
        self._wrench = self._readings[-1][1] - self._bias
        return self.bias


def static_wrench(
    beyond: Inertia, rotation_cut_to_base: FloatArray, gravity: ArrayLike
) -> FloatArray:
    """Return the wrench that holds a resting load, at the cut.

    Parameters
    ----------
    beyond : Inertia
        The load, in the frame of the cut; see :func:`inertia_beyond`.
    rotation_cut_to_base : array, shape (3, 3)
        Axes of the cut in the base frame.
    gravity : array-like, shape (3,)
        In the base frame [m/s^2].

    Returns
    -------
    array, shape (6,)
        Force [N], then moment [N m], that the arm exerts on the load.
    """
    gravity_cut = rotation_cut_to_base.T @ np.asarray(gravity, dtype=np.float64)
    force = -beyond.mass * gravity_cut
    return np.concatenate((force, np.cross(beyond.center_of_mass, force)))
