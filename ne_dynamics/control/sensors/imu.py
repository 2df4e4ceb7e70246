"""What an inertial measurement unit on the base says of gravity and of the base's motion.

The inverse dynamics is built with a constant gravity g0, in base axes, and takes the motion of
the base beside it: angular velocity w, angular acceleration w' and linear acceleration a of the
base frame's origin. What an arm feels is a - g; an accelerometer measures just that, the
specific force f = a - g, upwards and 9.8 m/s^2 at rest. So :class:`BaseImu` hands over::

    acceleration   (w, w', f + g0)     a tilt is an acceleration against the constant gravity
    orientation    (w, w', g0 - g)     g = |g0| downwards; how the base accelerates is not known

The dynamics subtract g0 again, and are left with f, or with -g: its direction comes from the
sensor, and no equation has to be made anew when the base tilts.

Readings are turned into base axes, filtered, and f is moved from the sensor, at p, to the origin
of the base::

    f_base = f_sensor - w' x p - w x (w x p)

The angular acceleration is the derivative of the filtered angular velocity. White noise of
standard deviation s in the angular velocity, read every T seconds, becomes noise of about
``2 pi f_c s`` in it with a first-order filter of cut-off f_c, T much less than 1 / f_c; a
difference of unfiltered readings has ``1.4 s / T``. For 1 mrad/s at 200 Hz that is 0.06 rad/s^2
with 10 Hz, and 0.28 without a filter, and any amount when two readings follow each other
closely. So there is no angular acceleration without a filter: it counts as zero.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import acos, expm1, hypot, inf, isfinite

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.scalars.elementary import cross
from ne_dynamics.control.sensors.attached_frames import AttachedFrames
from ne_dynamics.control.sensors.low_pass import LowPass
from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.errors import ImuError
from ne_dynamics.model.frozen import frozen_array
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.settings import Changes, ParameterTable, parameter


class ImuSource(str, enum.Enum):
    """What is taken from the readings beside the angular velocity."""

    ACCELERATION = 'acceleration'
    """The linear acceleration, gravity in it."""
    ORIENTATION = 'orientation'
    """The direction of gravity alone."""


class OnImuTimeout(str, enum.Enum):
    """What counts when readings stop."""

    HOLD = 'hold'
    """The last direction of gravity, and a base at rest: a rate is not held for ever."""
    LEVEL = 'level'
    """The constant gravity of the dynamics, and a base at rest."""


@dataclass(frozen=True)
class ImuSettings:
    """The parameters `imu.*`: how the readings of the base's IMU count."""

    enabled: bool = parameter(
        False,
        'Take direction of gravity and motion of the base from the topic `imu`, for a base that '
        'is tilted or moves.',
        changes=Changes.UNCONFIGURED,
    )
    source: ImuSource = parameter(
        ImuSource.ACCELERATION,
        'What is used beside the angular velocity: `acceleration`, the linear acceleration, '
        'gravity included; `orientation`, the direction of gravity alone.',
    )
    cutoff_frequency: float = parameter(
        10.0,
        'Cut-off of a first-order low-pass filter on the readings of the IMU. 0: no filter, and '
        'no angular acceleration.',
        unit='Hz',
        minimum=0.0,
    )
    max_acceleration: float = parameter(
        5.0,
        'Largest believable acceleration of the base, gravity not counted. `.inf`: any.',
        unit='m/s^2',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    timeout: float = parameter(
        0.5,
        'Age at which a reading of the IMU is no longer used; then `imu.on_timeout` applies.',
        unit='s',
        minimum=0.0,
        above_minimum=True,
        allow_infinity=True,
    )
    on_timeout: OnImuTimeout = parameter(
        OnImuTimeout.HOLD,
        'What is used when readings of the IMU stop (`imu.timeout`): `hold`, the last direction '
        'of gravity, or `level`, the parameter `gravity`; with both, a base at rest.',
    )


PARAMETERS = ParameterTable(ImuSettings, 'imu.')


class BaseImu:
    """Keeps the last readings and says what they mean for the dynamics now.

    Parameters
    ----------
    robot : Robot
        Its links that do not move against the base link name the frames readings may come in.
    gravity : array-like, shape (3,)
        The constant gravity g0 of the dynamics, in base axes [m/s^2].
    settings : ImuSettings
        How readings count; `enabled` is for who makes this. The filter is a
        :class:`~ne_dynamics.control.sensors.low_pass.LowPass`; without one there is no angular
        acceleration.

    Attributes
    ----------
    settings : ImuSettings

    Raises
    ------
    ModelError
        When gravity is not three finite numbers.
    ParameterError
        When a word or a number is not allowed.
    """

    def __init__(
        self, robot: Robot, gravity: ArrayLike, settings: ImuSettings = ImuSettings()
    ) -> None:
        self.base_link = robot.base_link
        self._frames = AttachedFrames(robot, robot.base_link)
        self._constant_gravity = frozen_array(gravity, (3,), 'gravity [m/s^2]')
        self._strength = float(np.linalg.norm(self._constant_gravity))
        self._filter = LowPass(name='imu.')
        self.reset()
        self.settings = settings
        self.configure(settings)

    def configure(self, settings: ImuSettings) -> None:
        """Change how readings count.

        After a change of the source the base counts as at rest until the next reading, in the
        direction of gravity known by then. A change of the cut-off makes nothing jump.

        Raises
        ------
        ParameterError
            When a word or a number is not allowed; nothing is changed then.
        """
        settings = PARAMETERS.checked(settings)
        self._filter.configure(settings.cutoff_frequency, settings.timeout)
        if self.settings.source != settings.source:
            self._forget_readings()
        self.settings = settings

    def reset(self) -> None:
        """Forget everything that was measured."""
        self._forget_readings()
        self._motion: FloatArray | None = None
        self._resting: FloatArray | None = None
        self._gravity: FloatArray = self._constant_gravity

    def _forget_readings(self) -> None:
        self._filter.reset()
        self._frame = ''
        self._stamp = -inf
        self._mean_gravity: FloatArray | None = None
        self._mean_stamp = -inf
        self._mean_size = 0.0

    def update(
        self,
        frame_id: str,
        angular_velocity: ArrayLike | None,
        linear_acceleration: ArrayLike | None,
        orientation: ArrayLike | None,
        stamp: float,
    ) -> None:
        """Take a reading. What the source does not need is not looked at.

        Parameters
        ----------
        frame_id : str
            Link whose frame is the sensor's: vectors are in its axes, the linear acceleration
            is that of its origin.
        angular_velocity : array-like, shape (3,), or None
            [rad/s]; None when it is not given, as all of these.
        linear_acceleration : array-like, shape (3,), or None
            With gravity in it, the specific force a - g: a resting sensor that stands upright
            reads (0, 0, +9.8) [m/s^2].
        orientation : array-like, shape (4,), or None
            Quaternion x, y, z, w that turns vectors from the sensor's axes into those of a
            world whose z axis points up, as REP 103 has it. Which way its x and y axes point,
            east and north or elsewhere, does not matter.
        stamp : float
            Time of the reading [s].

        Raises
        ------
        ImuError
            When the frame is empty, unknown, or not rigidly attached to the base link; when
            something that the source needs is not given, not finite or larger than such a
            sensor measures; when the orientation is no unit quaternion, the size of the
            acceleration is not that of gravity on the average, or what there is beside gravity
            is larger than `max_acceleration`. The last good reading is kept.
        """
        pose = self._frames.poses.get(frame_id)
        if pose is None:
            raise ImuError(self._frames.describe_fault(frame_id), field='header.frame_id')
        rotation, position = pose.rotation, pose.translation
        reading = np.empty(6)
        reading[:3] = rotation @ _vector(
            angular_velocity, 'angular_velocity', SENSORS.largest_angular_velocity, 'rad/s'
        )
        reading[3:] = rotation @ self._find_specific_force(linear_acceleration, orientation)
        if frame_id != self._frame:  # what was filtered belongs to another place
            self._frame = frame_id
            self._filter.reset()
        if self._filter.update(reading, stamp):
            self._adopt(position, stamp)

    def _find_specific_force(
        self, linear_acceleration: ArrayLike | None, orientation: ArrayLike | None
    ) -> FloatArray:
        """Return what the source says of gravity, in the axes of the sensor [m/s^2]."""
        if self.settings.source is ImuSource.ACCELERATION:
            return _vector(
                linear_acceleration,
                'linear_acceleration',
                SENSORS.largest_linear_acceleration,
                'm/s^2',
            )
        return -self._strength * _upwards(orientation)

    def _adopt(self, position: FloatArray, stamp: float) -> None:
        """Work out what the filtered readings mean."""
        filtered, change = self._filter.value, self._filter.derivative()
        if filtered is None:
            return
        rate, vector = filtered[:3].tolist(), filtered[3:].tolist()
        motion = np.zeros(9)
        motion[:3] = rate
        if change is not None:
            motion[3:6] = change[:3]
        if self.settings.source is ImuSource.ACCELERATION:
            offset = position.tolist()
            turning = cross(motion[3:6].tolist(), offset)
            inwards = cross(rate, cross(rate, offset))
            force = [f - t - i for f, t, i in zip(vector, turning, inwards, strict=True)]
            gravity = self._followed_gravity(rate, force, stamp)
            motion[6:] = self._constant_gravity + force
        else:
            gravity = self._scaled(vector)
            motion[6:] = self._constant_gravity - gravity
        resting = np.zeros(9)
        resting[6:] = self._constant_gravity - gravity
        self._gravity = gravity
        self._motion, self._resting, self._stamp = motion, resting, stamp

    def _followed_gravity(self, rate: list[float], force: list[float], stamp: float) -> FloatArray:
        """Return gravity, turned by the angular velocity and drawn towards -f in the long run."""
        mean, elapsed = self._mean_gravity, stamp - self._mean_stamp
        self._mean_stamp = stamp
        self._follow_size(hypot(*force), elapsed)
        if mean is None or not 0.0 <= elapsed <= self.settings.timeout:
            mean = -np.array(force)
        elif elapsed > 0.0:
            old = mean.tolist()
            turned = [g - elapsed * t for g, t in zip(old, cross(rate, old), strict=True)]
            longer = hypot(*turned) / (hypot(*old) or 1.0)
            turned = [g / (longer or 1.0) for g in turned]
            share = -expm1(-elapsed / SENSORS.gravity_time)
            # What no base does pulls no more than the most that it may do.
            beside = [f + g for f, g in zip(force, turned, strict=True)]
            size = hypot(*beside)
            if size > self.settings.max_acceleration:
                share *= self.settings.max_acceleration / size
            mean = np.array([g - share * a for g, a in zip(turned, beside, strict=True)])
        self._mean_gravity = mean
        if not self._is_of_gravity(self._mean_size):
            raise ImuError(
                f'linear_acceleration: expected gravity in it, {self._strength:.3g} m/s^2 upwards '
                f'at rest, got {self._mean_size:.3g} m/s^2 on the average (a driver that takes '
                'gravity out needs imu.source orientation)',
                field='linear_acceleration',
            )
        gravity = self._scaled(mean.tolist())
        size = hypot(*[f + g for f, g in zip(force, gravity.tolist(), strict=True)])
        if size > self.settings.max_acceleration:
            raise ImuError(
                'linear_acceleration: expected at most imu.max_acceleration = '
                f'{self.settings.max_acceleration:g} m/s^2 beside gravity, got {size:.3g}',
                field='linear_acceleration',
            )
        return gravity

    def _follow_size(self, size: float, elapsed: float) -> None:
        """Follow the mean size; it starts anew when it was wrong and a reading is right."""
        starts = not 0.0 <= elapsed <= self.settings.timeout
        if starts or (self._is_of_gravity(size) and not self._is_of_gravity(self._mean_size)):
            self._mean_size = size
        else:
            self._mean_size += -expm1(-elapsed / SENSORS.size_time) * (size - self._mean_size)

    def _is_of_gravity(self, size: float) -> bool:
        within = abs(size - self._strength) <= SENSORS.size_tolerance * self._strength
        return within or self._strength == 0.0

    def _scaled(self, direction: list[float]) -> FloatArray:
        """Return gravity's strength in a direction; the gravity known so far when it has none."""
        size = hypot(*direction)
        if size < 1e-3 * self._strength or size == 0.0:
            return self._gravity
        return self._strength / size * np.array(direction)

    def is_stale(self, now: float) -> bool:
        """Return whether readings have stopped (or never came, or come from another clock)."""
        return not abs(now - self._stamp) <= self.settings.timeout

    def at(self, now: float) -> FloatArray | None:
        """Return the motion of the base for the inverse dynamics at a time [s].

        Returns
        -------
        array, shape (9,), or None
            Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration
            against the constant gravity [m/s^2], of the base link's frame in its axes; the tilt
            alone when readings have stopped. None when there is nothing to say but the constant
            gravity: no reading yet, or stale and to be level then. Not to be changed.
        """
        if abs(now - self._stamp) <= self.settings.timeout:
            return self._motion
        return None if self.settings.on_timeout is OnImuTimeout.LEVEL else self._resting

    def resting_at(self, now: float) -> FloatArray:
        """Return the part of :meth:`at` that is the tilt alone, shape (9,).

        Zero where :meth:`at` gives None. Not to be changed.
        """
        is_level = self.settings.on_timeout is OnImuTimeout.LEVEL and self.is_stale(now)
        if self._resting is None or is_level:
            return np.zeros(9)
        return self._resting

    def gravity_at(self, now: float) -> FloatArray:
        """Return the gravity of a resting base, in base axes, shape (3,) [m/s^2].

        Its strength is always that of the constant gravity. The direction is that of the
        filtered orientation; from accelerations it is followed over `gravity_time`, so that a
        short acceleration of the base is not taken for a tilt.
        """
        if self.settings.on_timeout is OnImuTimeout.LEVEL and self.is_stale(now):
            return self._constant_gravity.copy()
        return self._gravity.copy()

    def tilt_at(self, now: float) -> float:
        """Return the angle between gravity and the constant gravity [rad]."""
        if self._strength == 0.0:
            return 0.0
        cosine = float(self.gravity_at(now) @ self._constant_gravity) / self._strength**2
        return acos(min(1.0, max(-1.0, cosine)))


def _numbers(value: ArrayLike | None, name: str, axes: str) -> FloatArray:
    """Return finite numbers, or raise an error that names the field."""
    if value is None:
        raise ImuError(
            f'{name}: expected {len(axes)} numbers, got none (covariance -1)', field=name
        )
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (len(axes),):
        raise ImuError(f'{name}: expected {len(axes)} numbers, got {array.size}', field=name)
    for axis, number in zip(axes, array.tolist(), strict=True):
        if not isfinite(number):
            raise ImuError(
                f'{name}.{axis}: expected a finite number, got {number}', field=f'{name}.{axis}'
            )
    return array


def _vector(value: ArrayLike | None, name: str, largest: float, unit: str) -> FloatArray:
    vector = _numbers(value, name, 'xyz')
    size = hypot(*vector.tolist())
    if size > largest:
        raise ImuError(f'{name}: expected at most {largest:g} {unit}, got {size:.4g}', field=name)
    return vector


def _upwards(orientation: ArrayLike | None) -> FloatArray:
    """Return the world's z axis in the sensor's axes, from the sensor's orientation in it."""
    x, y, z, w = _numbers(orientation, 'orientation', 'xyzw').tolist()
    size = hypot(x, y, z, w)
    if not abs(size - 1.0) <= SENSORS.quaternion_tolerance:
        raise ImuError(
            f'orientation: expected a quaternion of norm 1, got norm {size:.4g}',
            field='orientation',
        )
    x, y, z, w = x / size, y / size, z / size, w / size
    return np.array((2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)))
