"""Where the velocities of a driver come from: measured, differences of the positions, or wrong.

With d_i = (q_i - q_(i-1)) / (t_i - t_(i-1)), a velocity that is made of the reported positions is

    v_i = a_1 v_(i-1) + a_2 v_(i-2) + a_3 v_(i-3) + b_0 d_i + b_1 d_(i-1) + ... + b_3 d_(i-3)

without a rest: a difference over some samples, behind a filter or not. A velocity of its own has
no part in the steps of the encoder that d has, and leaves about as much with d as without.

Whatever it is made of, low-passed it is gain (v(t) - lag dv/dt) of the motion's velocity v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.driver.steps import find_step
from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.driver.verdict import Verdict, unknown
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Certainty, Log, Signals, filtered
from ne_dynamics.logs.autocorrelation import find_correlation_time
from ne_dynamics.model.rigid_body import FloatArray

MEASURED = 'measured'
DIFFERENTIATED = 'differentiated'
FILTERED = 'filtered'
WRONG = 'wrong'
ABSENT = 'absent'
ZERO = 'zero'


ORDER = 3
"""Earlier samples in the equation above."""


UNITS = {180.0 / math.pi: 'degrees a second', 30.0 / math.pi: 'revolutions a minute'}


MOVE = 'move this joint, faster than {speed:g} rad/s or m/s in both directions, and record 10 s'


@dataclass(frozen=True)
class JointVelocity:
    """What the velocity of a joint is.

    Attributes
    ----------
    source : Verdict
        One of the words of this module.
    lag, lag_deviation : float
        By how much it is late behind the positions [s]; NaN where that is not told.
    gain : float
        Over the motion's velocity; NaN where it is not told.
    """

    source: Verdict
    lag: float = math.nan
    lag_deviation: float = math.nan
    gain: float = math.nan

    @property
    def can_be_used(self) -> bool:
        """Whether a law may damp with it."""
        return self.source.value in (MEASURED, DIFFERENTIATED, FILTERED)


def describe_velocities(
    log: Log, has_velocity: NDArray[np.bool_], signals: Signals | None
) -> tuple[JointVelocity, ...]:
    """Return what the velocity of each joint is.

    Parameters
    ----------
    log : Log
        As recorded.
    has_velocity : bool array, shape (n,)
        Where there is any number.
    signals : Signals or None
        The log low-passed; None where it cannot be.

    Returns
    -------
    tuple of JointVelocity
    """
    return tuple(
        _describe(log, joint, bool(has_velocity[joint]), signals)
        for joint in range(len(log.joint_names))
    )


def low_pass_log(log: Log) -> Signals | None:
    """Return a log low-passed without limits of efforts; None where it is too short."""
    try:
        return filtered(log, np.full(len(log.joint_names), np.inf))
    except InputError:
        return None


def _describe(log: Log, joint: int, is_there: bool, signals: Signals | None) -> JointVelocity:
    if log.velocity is None or not is_there:
        return JointVelocity(Verdict(ABSENT, Certainty.KNOWN, 'none is reported'))
    if signals is None:
        return JointVelocity(
            unknown('too few states, or at too low a rate, to tell', 'record 10 s or more')
        )
    if not signals.moves[joint]:
        return JointVelocity(unknown('the joint did not move', MOVE.format(speed=0.2)))
    reported = log.velocity[:, joint]
    if not np.ptp(reported[np.isfinite(reported)]) > 0.0:
        value = float(reported[np.isfinite(reported)][0])
        return JointVelocity(
            Verdict(ZERO, Certainty.KNOWN, f'always {value:g}, while the joint moves')
        )
    if signals.measured_velocity is None:
        return JointVelocity(unknown('values are missing', 'record 10 s in which none is missing'))
    wrong = _find_other_joint(log, signals, joint)
    if wrong is not None:
        return JointVelocity(wrong)
    gain, lag, deviation = _fit_lag(signals, joint)
    wrong = _find_other_unit(gain)
    if wrong is not None:
        return JointVelocity(wrong, lag, deviation, gain)
    return JointVelocity(_find_source(log, joint, lag, deviation), lag, deviation, gain)


def _find_other_joint(log: Log, signals: Signals, joint: int) -> Verdict | None:
    """Return what is said of a velocity that is not this joint's; None where it is."""
    measured = signals.measured_velocity
    assert measured is not None
    column = measured[:, joint]
    related = np.array(
        [
            abs(float(np.corrcoef(column, other)[0, 1])) if moves and np.ptp(column) > 0.0 else 0.0
            for other, moves in zip(signals.velocity.T, signals.moves, strict=True)
        ]
    )
    if related[joint] >= STATES.unrelated:
        return None
    best = int(np.argmax(related))
    if related[best] >= STATES.related:
        return Verdict(WRONG, Certainty.KNOWN, f'it is that of joint {log.joint_names[best]}')
    return Verdict(
        WRONG,
        Certainty.LIKELY,
        f'it has little to do with the motion (correlation {related[joint]:.2f})',
        'move this joint alone, back and forth, and look at its velocity',
    )


def _fit_lag(signals: Signals, joint: int) -> tuple[float, float, float]:
    """Return gain, lag [s] and the lag's standard deviation of a reported velocity."""
    measured = signals.measured_velocity
    assert measured is not None
    speed, change = signals.velocity[:, joint], signals.acceleration[:, joint]
    table = np.stack([speed, -change, np.ones_like(speed)], axis=1)
    solution, *_ = np.linalg.lstsq(table, measured[:, joint], rcond=None)
    left = measured[:, joint] - table @ solution
    alike = find_correlation_time(left[:, np.newaxis], np.ones((left.size, 1), dtype=bool))[0]
    spread = float(left @ left) / max(left.size / alike - 3.0, 1.0) * alike
    # Errors of the acceleration make a lag seem shorter than it is; they are in its deviation.
    variance = spread / max(float(left.size), 1.0) / max(float(np.var(change)), 1e-30)
    gain = float(solution[0])
    if gain == 0.0:
        return 0.0, math.nan, math.inf
    return gain, float(solution[1]) / gain, math.sqrt(variance) / abs(gain)


def _find_other_unit(gain: float) -> Verdict | None:
    """Return what is said of a velocity of another size than the motion; None where it is not."""
    if abs(gain - 1.0) <= STATES.gain_off:
        return None
    if abs(gain + 1.0) <= STATES.gain_off:
        return Verdict(WRONG, Certainty.KNOWN, 'it has the opposite sign')
    sign = 'with the opposite sign, ' if gain < 0.0 else ''
    for factor, unit in UNITS.items():
        if abs(abs(gain) / factor - 1.0) <= STATES.unit_off:
            return Verdict(
                WRONG, Certainty.KNOWN, f'{sign}it is {abs(gain):.3g} times too large: {unit}'
            )
    return Verdict(WRONG, Certainty.KNOWN, f'{sign}it is {abs(gain):.3g} times the motion')


def _find_source(log: Log, joint: int, lag: float, deviation: float) -> Verdict:
    """Return whether a velocity of the right size is made of the positions."""
    assert log.velocity is not None
    velocity, position = log.velocity[:, joint], log.position[:, joint]
    late = f'late by {1e3 * lag:.1f} +- {1e3 * deviation:.1f} ms'
    samples = _find_difference(log.times, position, velocity)
    if samples:
        return Verdict(
            DIFFERENTIATED,
            Certainty.KNOWN,
            f'the difference of the positions over {samples} sample{"s" * (samples > 1)}, {late}',
        )
    past, both = _rests(log.times, position, velocity)
    is_late = lag > max(STATES.lag_deviations * deviation, STATES.shortest_lag)
    step = find_step(velocity)
    own_step = step / math.sqrt(12.0) if math.isfinite(step) else 0.0
    if both <= max(STATES.exact_share * past, 1.5 * own_step) and both < STATES.own_share * past:
        return Verdict(
            DIFFERENTIATED,
            Certainty.KNOWN,
            f'differences of the positions behind a filter, {late}',
        )
    span = find_step(position) / step if 0.0 < step < math.inf else math.nan
    period = float(np.median(np.diff(log.times)))
    if 0.05 * period < span < 50.0 * period and 0.3 * span < lag < 0.7 * span:
        return Verdict(
            DIFFERENTIATED,
            Certainty.LIKELY,
            f'its steps are those of the positions in {1e3 * span:.3g} ms, {late}',
        )
    if is_late:
        return Verdict(
            FILTERED,
            Certainty.LIKELY,
            f'{late}: measured or differentiated, then filtered',
        )
    if math.isfinite(past) and both > STATES.own_share * past:
        return Verdict(
            MEASURED, Certainty.KNOWN, f'independent of the steps of the positions, {late}'
        )
    return Verdict(
        MEASURED,
        Certainty.LIKELY,
        f'{late}; positions are too fine to tell it from their differences',
    )


def _find_difference(times: FloatArray, position: FloatArray, velocity: FloatArray) -> int:
    """Return over how many samples a velocity is the difference of the positions; 0 for none."""
    size = float(rms(velocity[:, np.newaxis])[0])
    for samples in range(1, min(STATES.longest_difference, velocity.size // 4) + 1):
        derived = (position[samples:] - position[:-samples]) / (times[samples:] - times[:-samples])
        off = np.abs(velocity[samples:] - derived)
        noise = float(np.median(np.abs(np.diff(derived))))
        # Stamps that tremble, or a gap, spoil some.
        if np.median(off) < max(0.02 * noise, 1e-6 * size):
            return samples
    return 0


def _rests(times: FloatArray, position: FloatArray, velocity: FloatArray) -> tuple[float, float]:
    """Return what a velocity's own past leaves of it, and what positions leave beside that.

    Root mean squares; NaN where there are too few samples an even time apart.
    """
    steps = np.diff(times)
    period = float(np.median(steps))
    even = np.abs(steps / period - 1.0) < STATES.same_period_share
    derived = np.diff(position) / steps
    rows = np.arange(ORDER + 1, velocity.size)
    # Sample i needs the velocities and differences of itself and of those before.
    usable = np.all([even[rows - 1 - back] for back in range(ORDER + 1)], axis=0)
    rows = rows[usable & np.isfinite(velocity[rows])]
    if rows.size < STATES.fewest_velocities:
        return math.nan, math.nan
    own = np.stack([velocity[rows - back] for back in range(1, ORDER + 1)], axis=1)
    changes = np.stack([derived[rows - 1 - back] for back in range(ORDER + 1)], axis=1)
    kept = np.isfinite(own).all(axis=1)
    return (
        _rest(own[kept], velocity[rows[kept]]),
        _rest(np.hstack([own, changes])[kept], velocity[rows[kept]]),
    )


def _rest(table: FloatArray, values: FloatArray) -> float:
    if values.size < STATES.fewest_velocities:
        return math.nan
    solution, *_ = np.linalg.lstsq(table, values, rcond=None)
    left = values - table @ solution
    return math.sqrt(float(left @ left) / left.size)
