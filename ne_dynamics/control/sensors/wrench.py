"""The reading of a wrist force/torque sensor, as the inverse dynamics wants it.

A sensor sits between links. What is beyond it is in the reading: its weight, its inertia, and
what touches it. The inverse dynamics takes the wrench [f, n] that the last link of the arm
exerts ON what is beyond, at the frame of the cut, in its axes. Readings come in another frame,
with either sign, with a bias, noise and spikes, and late or not at all; :class:`WristWrench`
deals with these, in this order:

1. The reading gets its sign and is moved to the cut. A tare averages these.
2. The bias is taken off.
3. Force and moment are scaled down to the largest that are believed, each as a whole, so that
   the direction stays. After the bias, because the limit is meant for the load, not for the
   offset of the sensor; before the filter, so that no spike in it is larger than a load.
4. A first-order low-pass filter. What is faster than its cut-off may pass in part.
5. The gain. Last, so that it can be changed without disturbing the filter.

What the wrench does in the control loop, and what the filter and the gain do to it there, is in
`doc/wrench.md`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import hypot, inf, isfinite

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control.sensors.attached_frames import AttachedFrames
from ne_dynamics.control.sensors.low_pass import LowPass
from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.control.sensors.wrench_settings import (
    PARAMETERS,
    Measures,
    OnTimeout,
    WrenchSettings,
)
from ne_dynamics.errors import WrenchError
from ne_dynamics.model.rigid_body import FloatArray, Inertia, Transform, cross_matrix
from ne_dynamics.model.robot import Robot


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
    """Return what is rigidly attached beyond a link, lumped, in the frame of that link.

    The link itself is not included; the robot is not cut.
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
    settings : WrenchSettings, optional
        How readings count; `enabled`, `sensor_link`, `includes_tool` and `largest_bias` are for
        who makes and tares this. The filter is a
        :class:`~ne_dynamics.control.sensors.low_pass.LowPass`.

    Attributes
    ----------
    settings : WrenchSettings
    saturated : int
        How many readings were scaled down so far.
    tares : int
        How often :meth:`tare` has moved the readings so far.
    find_overload : callable
        Says which joint could not hold a load, in words; '' where all can. The load is as in
        :meth:`at`.

    Raises
    ------
    ModelError
        When the link is unknown.
    ParameterError
        When a word or a number is not allowed.
    """

    def __init__(
        self, robot: Robot, cut_link: str, settings: WrenchSettings | None = None
    ) -> None:
        settings = WrenchSettings() if settings is None else settings
        self.cut_link = cut_link
        self._frames = AttachedFrames(robot, cut_link)
        self._moves = {name: wrench_matrix(pose) for name, pose in self._frames.poses.items()}
        self._signed_moves = self._moves
        self._bias = np.zeros(6)
        self._readings: deque[tuple[float, FloatArray]] = deque(maxlen=SENSORS.tare_readings)
        self._filter = LowPass(name='wrench.')
        self._wrench: FloatArray | None = None
        self.settings = settings
        self.saturated = 0
        self.tares = 0
        self.find_overload: Callable[[FloatArray], str] = lambda load: ''
        self._reported_saturated = 0
        self.configure(settings)

    def configure(self, settings: WrenchSettings) -> None:
        """Change how readings count.

        A change of the sign forgets the readings kept so far. Of the others, gain and limits
        count at once, for the reading that is held too, and the filter goes on from the value it
        has: with a lower cut-off nothing jumps, without a filter the next reading counts.

        Raises
        ------
        ParameterError
            When a word or a number is not allowed; nothing is changed then.
        """
        settings = PARAMETERS.checked(settings)
        self._filter.configure(settings.cutoff_frequency, settings.timeout)
        if self.settings.measures != settings.measures:
            self.reset()
            self._bias = -self._bias
        self.settings = settings
        sign = -1.0 if settings.measures is Measures.ON_TOOL else 1.0
        self._signed_moves = {name: sign * move for name, move in self._moves.items()}
        self._is_limited = min(settings.max_force, settings.max_torque) < inf
        if self._filter.reading is not None and self._filter.value is not None:
            self._filter.reading = self._within_limits(self._filter.reading)[0]
            held, is_beyond = self._within_limits(self._filter.value)
            if is_beyond:
                self._filter.settle(held)
            self._settle_wrench()

    @property
    def bias(self) -> FloatArray:
        """What the last tare found, in the frame and with the sign of :meth:`at`, shape (6,)."""
        return self._bias.copy()

    def reset(self) -> None:
        """Forget the readings, not the tare."""
        self._readings.clear()
        self._filter.reset()
        self._wrench = None

    def was_saturated(self) -> bool:
        """Return whether a reading was scaled down since this was last asked."""
        since = self.saturated - self._reported_saturated
        self._reported_saturated = self.saturated
        return since > 0

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
            is not finite or beyond anything that is measured, or no motor could hold it. The
            last good reading is kept.
        """
        move = self._signed_moves.get(frame_id)
        if move is None:
            raise WrenchError(self._frames.describe_fault(frame_id), field='header.frame_id')
        values = np.asarray(reading, dtype=np.float64)
        if values.shape != (6,):
            raise WrenchError(
                f'wrench: expected force and moment, 6 values, got {values.size}', field='wrench'
            )
        if not hypot(*values.tolist()) <= SENSORS.largest_wrench:
            raise _value_fault(values)
        moved = move.dot(values)
        load = moved - self._bias
        if self._is_limited:
            load, is_beyond = self._within_limits(load)
            self.saturated += is_beyond
        overload = self.find_overload(load)
        if overload:
            raise WrenchError(
                f'wrench: expected a load that the motors can hold, got {overload}', field='wrench'
            )
        if self._filter.update(load, stamp):
            self._readings.append((stamp, moved))
            self._settle_wrench()

    def _within_limits(self, load: FloatArray) -> tuple[FloatArray, bool]:
        """Return a load no larger than believed, its directions kept; and whether it was."""
        if not self._is_limited:
            return load, False
        fx, fy, fz, nx, ny, nz = load.tolist()
        force, torque = hypot(fx, fy, fz), hypot(nx, ny, nz)
        max_force, max_torque = self.settings.max_force, self.settings.max_torque
        if force <= max_force and torque <= max_torque:
            return load, False
        limited = load.copy()
        if force > max_force:
            limited[:3] *= max_force / force
        if torque > max_torque:
            limited[3:] *= max_torque / torque
        return limited, True

    def _settle_wrench(self) -> None:
        """Work out what :meth:`at` says from the filter."""
        value, reading = self._filter.value, self._filter.reading
        if value is None or reading is None:
            return
        gain, feedthrough = self.settings.gain, self.settings.feedthrough
        if feedthrough and value is not reading:
            value = value + feedthrough * (reading - value)
        self._wrench = value if gain == 1.0 else gain * value

    def is_stale(self, now: float) -> bool:
        """Return whether readings have stopped (or never came, or come from another clock)."""
        return not abs(now - self._filter.stamp) <= self.settings.timeout

    def at(self, now: float) -> FloatArray | None:
        """Return the wrench for the inverse dynamics at a time [s].

        Returns
        -------
        array, shape (6,), or None
            Force [N], then moment [N m], exerted by the arm on what is beyond the cut, at its
            frame, in its axes. None when there is none: no reading yet, or stale and to be
            zero then.
        """
        if self.is_stale(now) and self.settings.on_timeout is OnTimeout.ZERO:
            return None
        return self._wrench

    def measured_at(self, now: float) -> FloatArray | None:
        """Return the last reading by a time [s], with neither filter, limits nor gain, shape (6,).

        As :meth:`at` has it: less the bias, at the cut, of the arm on what is beyond. None where
        readings have stopped.
        """
        if not self._readings or self.is_stale(now):
            return None
        measured: FloatArray = self._readings[-1][1] - self._bias
        return measured

    def mean_reading(self, now: float) -> FloatArray | None:
        """Return the mean of the last readings by a time [s] as they came, shape (6,).

        With the sign that is set, at the cut, with no bias taken off. None where readings have
        stopped, or none came.
        """
        if not self._readings or self.is_stale(now):
            return None
        newest = self._filter.stamp
        recent = [
            moved for stamp, moved in self._readings if abs(newest - stamp) <= SENSORS.tare_window
        ]
        mean: FloatArray = np.mean(recent, axis=0)
        return mean

    def tare(
        self, now: float, expected: ArrayLike | None = None, largest_bias: float = inf
    ) -> FloatArray:
        """Take the mean of the last readings for what is expected; return the bias, shape (6,).

        The readings are averaged as they came, neither limited nor filtered; a filter goes on
        from what is expected.

        Parameters
        ----------
        now : float
            [s]
        expected : array-like, shape (6,), optional
            What :meth:`at` should give at rest [N, N m], e.g. :func:`static_wrench` of the
            tool; zero when omitted.
        largest_bias : float
            Force of a bias from which on the tare is refused [N].

        Raises
        ------
        WrenchError
            When there is no reading recent enough, or the bias is too large. Nothing is changed
            then.
        """
        mean = self.mean_reading(now)
        if mean is None:
            raise self._no_reading(now)
        wanted = np.zeros(6) if expected is None else np.array(expected, dtype=np.float64)
        _refuse_bias(mean, wanted, largest_bias)
        self._bias = mean - wanted
        self.tares += 1
        last = self._readings[-1][1] - self._bias
        is_filtered = self._filter.cutoff_frequency > 0.0
        self._filter.reading = self._within_limits(last)[0]
        self._filter.settle(
            self._within_limits(wanted)[0] if is_filtered else self._filter.reading
        )
        self._settle_wrench()
        return self.bias

    def _no_reading(self, now: float) -> WrenchError:
        """Return why there is nothing to tare."""
        age = now - self._filter.stamp
        return WrenchError(
            'tare: no reading yet'
            if not isfinite(age)
            else f'tare: the last reading is {age:.3g} s old; expected at most '
            f'{self.settings.timeout:g} s',
            field='tare',
        )


def _refuse_bias(mean: FloatArray, wanted: FloatArray, largest: float) -> None:
    """Refuse a bias whose force is too large, of what was read and what is wanted."""
    force = hypot(*(mean - wanted)[:3].tolist())
    if not force > largest:
        return
    seen, known = np.round(mean[:3], 2).tolist(), np.round(wanted[:3], 2).tolist()
    doubt = ''
    if hypot(*(mean + wanted)[:3].tolist()) < 0.5 * force:
        doubt = '; they are opposite: is wrench.measures right?'
    raise WrenchError(
        f'tare: expected a bias of at most wrench.largest_bias = {largest:g} N, got '
        f'{force:.3g} N: {seen} N was read where the model expects {known} N{doubt}',
        field='tare',
    )


def _value_fault(values: FloatArray) -> WrenchError:
    """Return the error that names the number at fault."""
    finite = np.isfinite(values)
    is_finite = bool(finite.all())
    index = int(np.abs(values).argmax() if is_finite else finite.argmin())
    field = 'wrench.' + ('force', 'torque')[index // 3] + '.' + 'xyz'[index % 3]
    expected = f'at most {SENSORS.largest_wrench:g} together' if is_finite else 'a finite number'
    return WrenchError(f'{field}: expected {expected}, got {values[index]}', field=field)


def static_wrench(
    beyond: Inertia, rotation_cut_to_base: FloatArray, gravity: ArrayLike
) -> FloatArray:
    """Return the wrench that holds a resting load, at the cut, shape (6,).

    Force [N], then moment [N m], that the arm exerts on the load, which is in the frame of the
    cut; see :func:`inertia_beyond`. The axes of the cut are in the base frame, shape (3, 3); so
    is gravity, shape (3,) [m/s^2].
    """
    gravity_cut = rotation_cut_to_base.T @ np.asarray(gravity, dtype=np.float64)
    force = -beyond.mass * gravity_cut
    return np.concatenate((force, np.cross(beyond.center_of_mass, force)))
