"""Whether a tuning can work on the arm as it stands: can the motors hold it, is the loop stable.

A loop of double integrators, as computed torque makes of every joint, with a delay t between a
position and the effort that answers it::

    s^2 + exp(-s t) (kv s + kp) = 0

crosses over at w^2 = (kv^2 + sqrt(kv^4 + 4 kp^2)) / 2 with a phase margin of
atan(kv w / kp) - w t. With kp = kv^2 / 4, critically damped, it is 47 degrees at kv t = 0.5,
17 degrees at 1.0, and zero at 1.29.

That is for one joint. The loop of all of them, sampled and with the filter that the velocity comes
from, is a linear map from one state to the next, whose largest eigenvalue says how fast it grows.

A compensation by a momentum observer of the rate K feeds back as well. What it takes out of the
command is K / (s + K) of the effort that the motion has taken less the one that was commanded, so
that the loop has

    s^2 + exp(-s t) ((kv + K) s + (kp + K kv) + K kp / s) = 0,

kv larger by K: at the gains that are allowed K is small beside kv, and the last term has gone by
where the loop crosses over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan2, degrees, hypot, inf, isinf, log, sqrt
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.feedback_gains import Gains, as_matrix
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.sensors.velocity_source import (
    MEASURED,
    VelocityFilter,
    VelocitySettings,
    VelocitySource,
    velocity_filter,
)
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint


class TuningVerdict(NamedTuple):
    """Result of the check of a tuning.

    Attributes
    ----------
    refusals : sequence of str
        Reasons why it cannot work; empty if it can.
    remarks : sequence of str
        Doubts that do not prevent its use.
    """

    refusals: Sequence[str] = ()
    remarks: Sequence[str] = ()


SOUND = TuningVerdict()


def check_effort_limits(
    joint_names: Sequence[str], holding: FloatArray, limits: FloatArray
) -> TuningVerdict:
    """Check whether the motors can hold the arm where it is.

    `holding` is the effort that does, shape (n,), as the limits [N m or N].
    """
    ratios = np.abs(holding) / limits
    worst = int(ratios.argmax())
    effort = f'{abs(holding[worst]):.4g} of {limits[worst]:.4g}'
    name = joint_names[worst]
    if ratios[worst] > 1.0:
        refusal = (
            f'effort_limits, payload: expected that joint {name!r} can hold the arm where it is, '
            f'which takes {effort} N m or N'
        )
        return TuningVerdict([refusal])
    if ratios[worst] > GUARD_LIMITS.doubtful_load:
        remark = f'joint {name!r} takes {effort} N m or N to hold the arm where it is'
        return TuningVerdict(remarks=[remark])
    return SOUND


def check_timeout(timeout: float, period: float) -> TuningVerdict:
    """Check whether states that come every `period` are no gap [s]."""
    if timeout > GUARD_LIMITS.periods_of_silence * period:
        return SOUND
    seen = f'state_timeout: {timeout:g} s, and states come every {period:.3g} s'
    if timeout <= period:
        return TuningVerdict([f'{seen}: expected more: each state would be a gap'])
    return TuningVerdict(remarks=[f'{seen}: one lost state ends the motion'])


def refuse_following_limits(
    joint_names: Sequence[str],
    wanted: FollowingLimits,
    present: FollowingLimits,
    position_errors: tuple[FloatArray, FloatArray],
    velocity_error: FloatArray | None,
) -> list[str]:
    """Return why limits of the following error would give the arm up as it moves at present.

    A limit that is not lowered is not checked. Position errors are those of the last state, and
    the largest of late, (n,) [rad or m]; the velocity error is that of the last state, (n,)
    [rad/s or m/s], None where no velocity is used.
    """
    error, peak = (np.abs(one) for one in position_errors)
    needed = {
        'position': (np.maximum(peak, error / GUARD_LIMITS.lasting_share), np.maximum(peak, error))
    }
    if velocity_error is not None:
        needed['velocity'] = (np.abs(velocity_error), np.abs(velocity_error))
    found = []
    for what, (least, errors) in needed.items():
        new, old = getattr(wanted, what), getattr(present, what)
        if new is None:
            continue
        is_lowered = new < (np.inf if old is None else old)
        excess = np.where(is_lowered, least / new, 0.0)
        worst = int(excess.argmax())
        if excess[worst] > 1.0:
            found.append(
                f'following_error.{what}: joint {joint_names[worst]!r} is {errors[worst]:.3g} '
                f'from the desired {what} at present; expected more than {least[worst]:.3g}, or '
                f'the motion is given up, got {new[worst]:.3g}'
            )
    return found


def check_velocity_source(
    law: ControlLaw, velocity: VelocitySettings, *, are_measured: bool
) -> TuningVerdict:
    """Check whether a law has the velocities that it needs."""
    if are_measured or not law.needs_velocity or velocity.source is not VelocitySource.MEASURED:
        return SOUND
    refusal = (
        f'mode, velocity_source: {law.mode.value} needs velocities, and joint_states have none; '
        'expected velocity_source to be differentiated or estimated'
    )
    return TuningVerdict([refusal])


def phase_margin(kp: float, kv: float, delay: float) -> float:
    """Return the phase margin of the loop of one joint [degrees].

    Parameters
    ----------
    kp, kv : float
        Accelerations per error [1/s^2, 1/s], not both zero.
    delay : float
        Dead time of the loop [s].
    """
    crossover = sqrt(0.5 * (kv * kv + hypot(kv * kv, 2.0 * kp)))
    if isinf(crossover):
        return -inf
    return degrees(atan2(kv * crossover, kp) - crossover * delay)


def growth_rate(
    kp: FloatArray, kv: FloatArray, period: float, velocity: VelocityFilter | None = None
) -> float:
    """Return how fast a sampled loop grows; below 0 it dies out [1/s].

    An effort counts a period [s] after its state, and is held for one. The gains, shape
    (k, m, m), are accelerations per error of k loops of m joints [1/s^2, 1/s]; `velocity` is the
    filter where velocities are not measured.
    """
    if not (np.isfinite(kp).all() and np.isfinite(kv).all()):
        return inf
    loops, m, _ = kp.shape
    one = np.eye(m)
    parts = 3 if velocity is None else 5
    step = np.zeros((loops, parts, m, parts, m))
    step[:, 0, :, 0], step[:, 0, :, 1] = one, period * one
    step[:, 0, :, 2] = 0.5 * period**2 * one
    step[:, 1, :, 1], step[:, 1, :, 2] = one, period * one
    step[:, 2, :, 0] = -kp
    if velocity is None:
        step[:, 2, :, 1] = -kv
    else:
        step[:, 2, :, 0] -= velocity.d * kv
        for index in range(2):
            step[:, 2, :, 3 + index] = -velocity.c[index] * kv
            step[:, 3 + index, :, 0] = velocity.b[index] * one
            for other in range(2):
                step[:, 3 + index, :, 3 + other] = velocity.a[index, other] * one
    matrix = step.reshape(loops, parts * m, parts * m)
    if not np.isfinite(matrix).all():
        return inf
    return log(np.abs(np.linalg.eigvals(matrix)).max()) / period


def check_hand_guiding(
    rate: float, period: float, velocity: VelocitySettings = MEASURED
) -> TuningVerdict:
    """Check whether what slows down an arm that is led by hand does not shake it.

    `rate` is the largest at which velocities decay [1/s], `period` the time between states [s].
    """
    still, source = np.zeros((1, 1, 1)), velocity_filter(velocity, period)
    if growth_rate(still, still + rate, period, source) <= GUARD_LIMITS.fastest_growth:
        return SOUND
    refusal = (
        'hand_guiding.damping, hand_guiding.braking: expected rates that are slow beside the '
        f'states, which come every {1e3 * period:.3g} ms, got {rate:g} /s together: the arm would '
        'shake'
    )
    return TuningVerdict([refusal])


def largest_damping_rate(period: float) -> float:
    """Return the largest kv [1/s] that gets no remark, for a period of the states [s]."""
    return GUARD_LIMITS.doubtful_product / (GUARD_LIMITS.periods_of_delay * period)


def find_drive_inertias(joints: Sequence[Joint]) -> FloatArray:
    """Return the least inertia of each drive for which the model has none, shape (n,).

    Computed as the effort limit divided by :attr:`.GuardLimits.fastest_drive`; 0 if the model has
    a rotor inertia or no effort limit [kg m^2 or kg]. Descriptions of geared arms often lack the
    rotors, which are most of the inertia at a wrist.
    """
    limits = [0.0 if joint.rotor_inertia > 0.0 else joint.effort_limit for joint in joints]
    return np.array(
        [limit / GUARD_LIMITS.fastest_drive if 0.0 < limit < inf else 0.0 for limit in limits]
    )


def check_gains_and_drives(
    mode: Mode,
    gains: Gains | None,
    mass_matrix: Callable[[], FloatArray],
    drives: FloatArray,
    period: float,
    velocity: VelocitySettings = MEASURED,
    observer_rate: float = 0.0,
) -> TuningVerdict:
    """Check the stability of the loop as :func:`check_gains` does, for models without rotors.

    Gains that are efforts per error are not refused for a small inertia that the drives make up
    for; that is a remark.

    Parameters
    ----------
    mode, gains, mass_matrix, period, velocity, observer_rate
        As for :func:`check_gains`.
    drives : array, shape (n,)
        Inertias that the model lacks, from :func:`find_drive_inertias` [kg m^2 or kg].
    """
    rest = period, velocity, observer_rate
    verdict = check_gains(mode, gains, mass_matrix, *rest)
    if mode is not Mode.FEEDFORWARD_PD or not (verdict.refusals and drives.any()):
        return verdict
    with_drives = check_gains(mode, gains, lambda: mass_matrix() + np.diag(drives), *rest)
    if with_drives.refusals:
        return verdict
    remark = (
        f'{verdict.refusals[0]}; the model has no rotors: with rotors of at least '
        f'{[float(f"{one:.2g}") for one in drives]} kg m^2 or kg at the joints these gains are '
        'possible; better is a model that has them (rotor_inertia)'
    )
    return TuningVerdict(remarks=[remark])


def check_gains(
    mode: Mode,
    gains: Gains | None,
    mass_matrix: Callable[[], FloatArray],
    period: float,
    velocity: VelocitySettings = MEASURED,
    observer_rate: float = 0.0,
) -> TuningVerdict:
    """Check whether the sampled loop is stable with its delay.

    Parameters
    ----------
    mode : Mode
    gains : Gains or None
        Gains of the mode.
    mass_matrix : callable
        Returns the mass matrix at the present position, shape (n, n), for gains that are efforts
        per error.
    period : float
        Time between two states [s].
    velocity : VelocitySettings
        Source of the velocities.
    observer_rate : float
        Rate of the compensation by an observer, 2 pi times its cut-off [1/s]; 0 for none.
    """
    if gains is None or not mode.has_feedback:
        return SOUND
    kp, kv = _find_loops(gains, mass_matrix() if mode is Mode.FEEDFORWARD_PD else None)
    if not (kp.any() or kv.any()):
        return SOUND
    return _check_loops(mode, kp, kv, period, velocity, observer_rate)


def _check_loops(
    mode: Mode,
    kp: FloatArray,
    kv: FloatArray,
    period: float,
    velocity: VelocitySettings,
    observer_rate: float,
) -> TuningVerdict:
    """Check loops, as of :func:`_find_loops`, by what is the worst of each."""
    bounds, source = GUARD_LIMITS, velocity_filter(velocity, period)
    delay = bounds.periods_of_delay * period
    lag = delay if source is None else delay + source.lag
    late = f'{1e3 * delay:.3g} ms (states every {1e3 * period:.3g} ms)'
    if source is not None:
        late += f', and velocities {velocity.source.value}, {1e3 * source.lag:.3g} ms late,'
    softest = min(_largest(kv))
    kp, kv = kp + observer_rate * kv, kv + observer_rate * np.eye(kv.shape[-1])
    pairs = list(zip(_largest(kp), _largest(kv), strict=True))
    # Without feedback a joint is as stable as can be.
    margins = [phase_margin(*pair, delay) if max(pair) > 0.0 else inf for pair in pairs]
    worst, stiffest = int(np.argmin(margins)), max(one for _, one in pairs)
    margin = margins[worst]
    with_observer = ', with observer.cutoff_frequency' if observer_rate else ''
    seen = (
        f'{mode.value}.kp, {mode.value}.kv{with_observer}: kv = {pairs[worst][1]:.4g} /s and '
        f'kp = {pairs[worst][0]:.4g} /s^2 '
        f'with a delay of {late} make kv * delay = {stiffest * lag:.2f} and a phase margin of '
        f'{margin:.0f} degrees'
    )
    if stiffest * delay > bounds.largest_product or margin < bounds.least_phase_margin:
        allowed = f'at most {bounds.largest_product:g} and a margin of at least'
        refusal = f'{seen}; expected kv * delay of {allowed} {bounds.least_phase_margin:g}'
        return TuningVerdict([refusal])
    growth = growth_rate(kp, kv, period, source)
    if growth > bounds.fastest_growth:
        return TuningVerdict([f'{seen}; with all joints the loop grows by {growth:.3g} /s'])
    if (stiffest + observer_rate) * lag > bounds.doubtful_product:
        beside = f' less {observer_rate * lag:.2f} for the observer' if observer_rate else ''
        remark = f'{seen}; better is kv * delay below {bounds.doubtful_product:g}{beside}'
        return TuningVerdict(remarks=[remark])
    return TuningVerdict(remarks=_remark_on_observer(observer_rate, softest, lag, late))


def _remark_on_observer(rate: float, softest: float, lag: float, late: str) -> list[str]:
    """Return what is doubtful of an observer's rate, by the smallest kv [1/s] and the lag [s]."""
    product = GUARD_LIMITS.observer_product
    fastest = min(softest, product / lag)
    if rate <= fastest:
        return []
    return [
        f'observer.cutoff_frequency: 2 pi times it is {rate:.4g} /s; better is at most '
        f'{fastest:.4g} /s, of kv and of {product:g} by a delay of {late}'
    ]


def _largest(gains: FloatArray) -> list[float]:
    """Return the largest gain of each loop in any direction."""
    return [
        float(np.abs(np.linalg.eigvals(gain)).max()) if np.isfinite(gain).all() else inf
        for gain in gains
    ]


def _find_loops(gains: Gains, mass_matrix: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return gains as accelerations per error, for each loop that is by itself, shape (k, m, m).

    Each joint is one, or one for all where they have the same gains; all joints together are where
    gains or masses couple them.
    """
    given = gains.kp, gains.kv
    if mass_matrix is None and max(gain.ndim for gain in given) < 2:
        kp, kv = np.broadcast_arrays(*(np.atleast_1d(gain) for gain in given))
        return kp[:, np.newaxis, np.newaxis], kv[:, np.newaxis, np.newaxis]
    n = max(len(matrix) for matrix in (*given, mass_matrix) if matrix is not None and matrix.ndim)
    full = [as_matrix(gain, n) for gain in given]
    if mass_matrix is not None:
        full = [np.asarray(np.linalg.solve(mass_matrix, gain), np.float64) for gain in full]
    kp, kv = full
    return kp[np.newaxis], kv[np.newaxis]
