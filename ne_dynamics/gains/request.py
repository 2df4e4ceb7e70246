"""What gains are asked for: the loop's timing and sensors, and what is not known of the arm."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.control import VelocitySettings, VelocitySource
from ne_dynamics.errors import InputError
from ne_dynamics.gains.thresholds import GAINS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, JointType


class GainMode(str, enum.Enum):
    """Control law, and the program or drive that closes the loop."""

    COMPUTED_TORQUE = 'computed_torque'
    """The node: M (Kp e + Kv e'), gains that are accelerations per error."""
    FEEDFORWARD_PD = 'feedforward_pd'
    """The node: Kp e + Kv e', gains that are efforts per error."""
    JTC = 'jtc'
    """joint_trajectory_controller with effort: a PID a joint."""
    MIT = 'mit'
    """Drives that close the loop themselves: a PD a joint, in the drive."""

    @property
    def is_of_node(self) -> bool:
        """Whether the node closes the loop."""
        return self in (GainMode.COMPUTED_TORQUE, GainMode.FEEDFORWARD_PD)


ALL_MODES = tuple(GainMode)


@dataclass(frozen=True, eq=False)
class GainRequest:
    """Conditions and requirements for a gain design; everything has a default.

    Attributes
    ----------
    rate : float
        Rate of states and commands [1/s].
    delay : float, optional
        Dead time from a state to the effort that answers it [s]; default: one period. The hold
        of efforts over a period is added to it.
    delay_jitter : float
        By how much the dead time may occasionally be longer [s].
    position_step : float or sequence of n float
        Resolution of the encoders at the joints, one for all or one each [rad or m]; 0 for none.
    velocity_source : VelocitySource or str
        Source of the node's velocities. If it is not `measured`, JTC and drives use the
        difference of the last two positions.
    velocity_cutoff_frequency : float, optional
        Cut-off frequency of the node's velocity filter [Hz]; default: chosen.
    uncertainty : float
        Relative error of mass and inertia of each link and rotor.
    payload : float, or two floats
        Mass at the tip that the model does not have, from the smallest (0 if one number is
        given) to the largest [kg].
    payload_center : sequence of 3 float
        Its centre of mass in the frame of the tip [m].
    modes : sequence of GainMode or str
    stiffness : sequence of n float, or one, optional
        Stiffness of the gears, between the motors, whose positions are fed back, and the links,
        one for all or one each [N m/rad or N/m]; default: rigid.
    elastic_damping_ratio : float
        Damping ratio of the vibrations with these gears.
    phase_margin : float
        Phase margin [degrees].
    gain_margin : float
        Factor by which gains may be larger (and, with an integral, smaller).
    relaxed_margins : sequence of (float, float)
        Phase and gain margins that are tried in turn if there are no useful gains with those
        above; empty to refuse at once.
    noise_share : float
        Largest change of the effort by one encoder step, as a part of the effort limit.
    position_error, sliding_error : float
        Error up to which the effort, with gravity, stays within its limits [rad], [m].
    least_frequency : float
        Natural frequency below which gains are useless [rad/s].
    integral : bool
        Whether JTC gets an integral.
    drive_rate : float
        Rate at which MIT-mode drives close their loop [1/s].
    drive_delay : float, optional
        Dead time of that loop [s]; default: one of its periods.
    drive_kp_range : two floats
        Range of kp that the drives accept [N m/rad or N/m].
    drive_kd_range : two floats
        Range of kd that the drives accept [N m s/rad or N s/m].
    effort_limits : sequence of n float, or one, optional
        Effort limits instead of the model's, one for all or one each [N m or N].
    poses : int
        Number of random poses that are examined.
    seed : int
        Seed of these poses.

    Raises
    ------
    InputError
        Naming the invalid value.
    """

    rate: float = 500.0
    delay: float | None = None
    delay_jitter: float = 0.0
    position_step: float | Sequence[float] = 0.0
    velocity_source: VelocitySource | str = VelocitySource.DIFFERENTIATED
    velocity_cutoff_frequency: float | None = None
    uncertainty: float = 0.3
    payload: float | Sequence[float] = 0.0
    payload_center: Sequence[float] = (0.0, 0.0, 0.0)
    modes: Sequence[GainMode | str] = ALL_MODES
    stiffness: float | Sequence[float] | None = None
    elastic_damping_ratio: float = 0.02
    phase_margin: float = 45.0
    gain_margin: float = 2.0
    relaxed_margins: Sequence[tuple[float, float]] = ((30.0, 1.5),)
    noise_share: float = 0.02
    position_error: float = 0.05
    sliding_error: float = 0.02
    least_frequency: float = 2.0
    integral: bool = True
    drive_rate: float = 1000.0
    drive_delay: float | None = None
    drive_kp_range: Sequence[float] = (0.0, inf)
    drive_kd_range: Sequence[float] = (0.0, inf)
    effort_limits: float | Sequence[float] | None = None
    poses: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        for key in ('rate', 'drive_rate'):
            value = getattr(self, key)
            _check(key, value, above=0.0)
            _check(key, value, least=GAINS.lowest_rate, most=GAINS.highest_rate)
        for key in ('noise_share', 'position_error', 'sliding_error', 'least_frequency'):
            _check(key, getattr(self, key), above=0.0)
        for key in ('delay_jitter', 'elastic_damping_ratio'):
            _check(key, getattr(self, key), least=0.0)
        for key in ('delay', 'drive_delay'):
            if getattr(self, key) is not None:
                _check(key, getattr(self, key), least=0.0)
        if self.velocity_cutoff_frequency is not None:
            _check('velocity_cutoff_frequency', self.velocity_cutoff_frequency, above=0.0)
        _check('uncertainty', self.uncertainty, least=0.0, most=GAINS.largest_uncertainty)
        _check('phase_margin', self.phase_margin, above=0.0, most=80.0)
        _check('gain_margin', self.gain_margin, above=1.0, most=100.0)
        for phase, gain in self.relaxed_margins:
            _check('relaxed_margins: phase', phase, above=0.0, most=80.0)
            _check('relaxed_margins: gain', gain, above=1.0, most=100.0)
        _check('elastic_damping_ratio', self.elastic_damping_ratio, least=0.0, most=1.0)
        if not 1 <= self.poses <= GAINS.most_poses:
            raise InputError(f'poses: expected 1 to {GAINS.most_poses}, got {self.poses}')
        if self.seed < 0:
            raise InputError(f'seed: expected at least 0, got {self.seed}')
        try:
            source = VelocitySource(self.velocity_source)
        except ValueError:
            words = ', '.join(each.value for each in VelocitySource)
            raise InputError(
                f'velocity_source: expected one of {words}, got {self.velocity_source!r}'
            ) from None
        object.__setattr__(self, 'velocity_source', source)
        object.__setattr__(self, 'modes', _read_modes(self.modes))
        object.__setattr__(self, 'payload', self.payload_range)
        for key in ('drive_kp_range', 'drive_kd_range'):
            object.__setattr__(self, key, _read_range(key, getattr(self, key)))
        _read_vector('payload_center', self.payload_center, 3)
        for delay, rate in ((self.dead_time, self.rate), (self.drive_dead_time, self.drive_rate)):
            if delay * rate > GAINS.periods_of_delay:
                raise InputError(
                    f'delay: expected at most {GAINS.periods_of_delay} periods of '
                    f'{1e3 / rate:.4g} ms, got {1e3 * delay:.4g} ms'
                )

    @property
    def payload_range(self) -> tuple[float, float]:
        """Smallest and largest mass at the tip [kg]."""
        values = np.atleast_1d(_read_vector('payload', self.payload, None))
        ends = (0.0, float(values[0])) if values.size == 1 else tuple(values.tolist())
        if len(ends) != 2 or not 0.0 <= ends[0] <= ends[1]:
            raise InputError(
                f'payload [kg]: expected a mass, or the least and the largest, got {self.payload}'
            )
        return ends[0], ends[1]

    def part_factors(self, bodies: int) -> FloatArray:
        """Return the ends of the masses, shape (2, bodies + 1): the smallest, then the largest.

        Of each body by the model's, and, last, of the payload [kg].
        """
        ends = zip(
            (1.0 - self.uncertainty, 1.0 + self.uncertainty), self.payload_range, strict=True
        )
        return np.array([[*[factor] * bodies, mass] for factor, mass in ends])

    @property
    def period(self) -> float:
        """Period of states and commands [s]."""
        return 1.0 / self.rate

    @property
    def dead_time(self) -> float:
        """Longest dead time from a state to its effort [s]."""
        return (self.period if self.delay is None else self.delay) + self.delay_jitter

    @property
    def drive_dead_time(self) -> float:
        """Dead time of the drives [s]."""
        return 1.0 / self.drive_rate if self.drive_delay is None else self.drive_delay

    def velocity_settings(self, cutoff: float) -> VelocitySettings:
        """Return the velocity settings of the node with a cut-off frequency [Hz]."""
        return VelocitySettings(
            source=VelocitySource(self.velocity_source), cutoff_frequency=cutoff
        )

    def position_steps(self, n: int) -> FloatArray:
        """Return the resolution of the encoders, shape (n,) [rad or m]."""
        steps = _spread('position_step', self.position_step, n)
        if not (steps >= 0.0).all() or not np.isfinite(steps).all():
            raise InputError(f'position_step: expected finite numbers >= 0, got {steps.tolist()}')
        return steps

    def joint_stiffness(self, joints: Sequence[Joint]) -> FloatArray | None:
        """Return the stiffness of the gears, shape (n,) [N m/rad or N/m]; None if rigid.

        Raises
        ------
        InputError
            When one is not a finite number > 0, or a motor before a gear has no inertia.
        """
        if self.stiffness is None:
            return None
        stiffness = _spread('stiffness', self.stiffness, len(joints))
        for joint, value in zip(joints, stiffness.tolist(), strict=True):
            if not (isfinite(value) and value > 0.0):
                raise InputError(
                    f'stiffness: joint {joint.name!r}: expected a finite number > 0, got {value}'
                )
            if not joint.reflected_inertia > 0.0:
                raise InputError(
                    f'stiffness: joint {joint.name!r}: expected a rotor_inertia > 0 (in the file '
                    'of extras), without which a motor before a spring has no mass; got 0'
                )
        return stiffness

    def limits(self, joints: Sequence[Joint]) -> FloatArray:
        """Return the effort limits, shape (n,) [N m or N]; infinite for no limit.

        Raises
        ------
        InputError
            When one is 0 or less, for which there are no gains.
        """
        if self.effort_limits is None:
            limits = np.array([joint.effort_limit for joint in joints])
        else:
            limits = _spread('effort_limits', self.effort_limits, len(joints))
        for joint, value in zip(joints, limits.tolist(), strict=True):
            if isnan(value) or value <= 0.0:
                raise InputError(
                    f'joint {joint.name!r}: effort limit: expected > 0, got {value:g}; '
                    'effort_limits takes the place of those of the model'
                )
        return limits

    def largest_errors(self, joints: Sequence[Joint]) -> FloatArray:
        """Return the errors up to which efforts stay within limits, shape (n,) [rad or m]."""
        slides = [joint.type is JointType.PRISMATIC for joint in joints]
        return np.where(slides, self.sliding_error, self.position_error)


def _check(
    key: str,
    value: float,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> None:
    expected = 'a finite number'
    is_right = isfinite(value)
    if above is not None:
        expected, is_right = f'{expected} > {above:g}', is_right and value > above
    if least is not None:
        expected, is_right = f'{expected} >= {least:g}', is_right and value >= least
    if most is not None:
        expected, is_right = f'{expected}, at most {most:g}', is_right and value <= most
    if not is_right:
        raise InputError(f'{key}: expected {expected}, got {value}')


def _read_numbers(key: str, value: ArrayLike) -> FloatArray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f'{key}: expected numbers, got {value!r}') from None


def _read_vector(key: str, value: ArrayLike, size: int | None) -> FloatArray:
    vector = _read_numbers(key, value)
    if vector.ndim > 1 or (size is not None and vector.shape != (size,)):
        wanted = 'numbers' if size is None else f'{size} numbers'
        raise InputError(f'{key}: expected {wanted}, got {value!r}')
    if not np.isfinite(vector).all():
        raise InputError(f'{key}: expected finite numbers, got {vector.tolist()}')
    return vector


def _spread(key: str, value: ArrayLike, n: int) -> FloatArray:
    """Return one number for all, or one each, as shape (n,); they may be infinite."""
    vector = _read_numbers(key, value)
    if vector.size == 1:
        return np.full(n, float(vector.reshape(())))
    if vector.shape != (n,):
        raise InputError(f'{key}: expected 1 or {n} numbers, got {vector.size}')
    return vector


def _read_modes(modes: Sequence[GainMode | str]) -> tuple[GainMode, ...]:
    try:
        read = tuple(GainMode(mode) for mode in modes)
    except ValueError:
        read = ()
    if not read or isinstance(modes, str):
        words = ', '.join(mode.value for mode in GainMode)
        raise InputError(f'modes: expected one or more of {words}, got {modes!r}')
    return tuple(dict.fromkeys(read))


def _read_range(key: str, value: Sequence[float]) -> tuple[float, float]:
    try:
        least, largest = (float(end) for end in value)
    except (TypeError, ValueError):
        least, largest = inf, -inf
    if not (0.0 <= least < largest):
        raise InputError(f'{key}: expected two numbers, 0 <= least < largest, got {value!r}')
    return least, largest
