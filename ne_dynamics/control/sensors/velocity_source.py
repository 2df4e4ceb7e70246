"""Where the velocity that the law damps with comes from. No ROS, no clock.

=============== =============================================== ============================
measured        that of the joint states                         as late as the driver's
differentiated  change of position by time, first-order low-pass T / 2 + 1 / (2 pi f_c)
estimated       alpha-beta filter: a double pole at 2 pi f_c     2 / (2 pi f_c)
=============== =============================================== ============================

The last column is by how much it is late in slow motion, T the period of the states: 6.3 ms and
10.6 ms at 500 Hz with the default of 30 Hz. At the same lag `estimated` lets less of the encoder's
steps through. Either costs phase: Kv times the lag should stay below about a half.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, isfinite, pi
from typing import NamedTuple

import numpy as np

from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.waypoints import continuous_joints, wrap_turns
from ne_dynamics.settings import parameter


class VelocitySource(str, enum.Enum):
    """Source of the velocity; the values are those of the node's parameter `velocity_source`."""

    MEASURED = 'measured'
    DIFFERENTIATED = 'differentiated'
    ESTIMATED = 'estimated'


@dataclass(frozen=True)
class VelocitySettings:
    """The parameters `velocity_*`: source, filter and check of the velocities."""

    check: bool = parameter(
        True,
        'Check measured velocities against the positions, in modes that use them: velocities '
        'that contradict them (zeros, the wrong sign, less than 0.3 or more than 3 times the '
        'motion) are a latched fault.',
    )
    source: VelocitySource = parameter(
        VelocitySource.MEASURED,
        'Velocities that the control law uses: `measured`, of the joint states; '
        '`differentiated`, differences of positions with a first-order low-pass filter, late by '
        'half a period and 1 / (2 pi f_c); `estimated`, by an alpha-beta filter, late by 2 / (2 '
        'pi f_c). At 500 Hz and 30 Hz: 6.3 ms and 10.6 ms.',
    )
    cutoff_frequency: float = parameter(
        30.0,
        'Cut-off frequency f_c of the filter of `velocity_source`.',
        unit='Hz',
        minimum=0.0,
        above_minimum=True,
    )

    @property
    def lag(self) -> float:
        """Delay of the source's filter in slow motion [s]; 0 for measured velocities."""
        if self.source is VelocitySource.MEASURED:
            return 0.0
        poles = 2.0 if self.source is VelocitySource.ESTIMATED else 1.0
        return poles / (2.0 * pi * self.cutoff_frequency)


MEASURED = VelocitySettings()
"""Velocities of the joint states."""


class VelocityFilter(NamedTuple):
    """Discrete filter from a joint's position p to its velocity v = d p + c f, f <- b p + a f.

    Attributes
    ----------
    a : array, shape (2, 2)
    b, c : array, shape (2,)
    d : float
    lag : float
        Delay of v in slow motion [s].
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: float
    lag: float


def velocity_filter(settings: VelocitySettings, period: float) -> VelocityFilter | None:
    """Return the filter that computes velocities from positions every `period` [s].

    None for measured velocities.
    """
    rate = 2.0 * pi * settings.cutoff_frequency
    if settings.source is VelocitySource.MEASURED:
        return None
    if settings.source is VelocitySource.DIFFERENTIATED:
        # f: the position and the velocity before.
        share = -expm1(-rate * period)
        c = np.array((-share / period, 1.0 - share))
        a, b = np.array((np.zeros(2), c)), np.array((1.0, share / period))
        return VelocityFilter(a, b, c, share / period, period / 2.0 + settings.lag)
    # f: the position and the velocity that are estimated.
    decay = exp(-rate * period)
    kept, gain = decay * decay, (1.0 - decay) ** 2 / period
    c = np.array((-gain, 1.0 - gain * period))
    a, b = np.array(((kept, kept * period), c)), np.array((1.0 - kept, gain))
    return VelocityFilter(a, b, c, gain, settings.lag)


class PositionVelocity:
    """Computes velocities from measured positions, by one of the filters of this module.

    Parameters
    ----------
    joints : sequence of Joint
        The robot's joints; positions of continuous joints may wrap around.
    source : VelocitySource
        `differentiated` or `estimated`.
    cutoff_frequency : float
        f_c [Hz]
    velocity : array, shape (n,), optional
        Velocity at the first state, if known from another source [rad/s or m/s]; default: zero.

    Raises
    ------
    ParameterError
        When the frequency is not a finite number > 0.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        source: VelocitySource,
        cutoff_frequency: float,
        velocity: FloatArray | None = None,
    ) -> None:
        if not (isfinite(cutoff_frequency) and cutoff_frequency > 0.0):
            raise ParameterError(
                f'velocity_cutoff_frequency: expected a finite number > 0 Hz, '
                f'got {cutoff_frequency}'
            )
        self._n = len(joints)
        self._continuous = continuous_joints(joints)
        self._is_estimate = source is VelocitySource.ESTIMATED
        self._rate = 2.0 * pi * cutoff_frequency
        self.reset()
        if velocity is not None:
            self._velocity = velocity

    def reset(self) -> None:
        """Forget all states; the next one is taken as at rest."""
        self._position: FloatArray | None = None
        self._velocity = np.zeros(self._n)
        self._time = 0.0

    def update(self, position: FloatArray, now: float) -> FloatArray:
        """Return the velocity at a state, shape (n,) [rad/s or m/s]; at the first the initial one.

        Its position has shape (n,) [rad or m]. If its stamp [s] does not advance, the last
        velocity is returned.
        """
        before = self._position
        if before is None:
            self._position, self._time = position, now
            return self._velocity
        elapsed = now - self._time
        if elapsed <= 0.0:
            return self._velocity
        self._time = now
        if not self._is_estimate:
            self._position = position
            raw = wrap_turns(position - before, self._continuous) / elapsed
            self._velocity = self._velocity - expm1(-self._rate * elapsed) * (raw - self._velocity)
            return self._velocity
        decay = exp(-self._rate * elapsed)
        predicted = before + elapsed * self._velocity
        surprise = wrap_turns(position - predicted, self._continuous)
        self._position = predicted + (1.0 - decay * decay) * surprise
        self._velocity = self._velocity + (1.0 - decay) ** 2 / elapsed * surprise
        return self._velocity
