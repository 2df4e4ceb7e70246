"""Sampled loops with dead time around arms: their response to frequencies, and from step to step.

What is between the efforts u and the positions of the motors is a sum of modes,

    x_k'' + 2 d w_k x_k' + w_k^2 x_k = phi_k^T u(t - delay),    position = sum of phi_k x_k.

Of a rigid arm w^2 is what gravity makes of an error, above 0 where it hangs, below where it stands
upside down. Gears that are springs (Spong 1987) add as many modes, which swing. The efforts are
held from one sample to the next, so each mode is sampled exactly, whatever part of a period the
delay is (the modified z-transform; Åström and Wittenmark, Computer-Controlled Systems, 3.3).

The gains answer with u = -W (kp q + kd v + ki sum of q T), W the model's mass matrix in computed
torque and the identity otherwise, v the measured velocity or that of the filter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control import VelocityFilter
from ne_dynamics.gains.thresholds import GAIN_SEARCH, ROUNDING
from ne_dynamics.model.rigid_body import FloatArray, IndexArray

ComplexArray: TypeAlias = NDArray[np.complex128]


class LoopTiming(NamedTuple):
    """When a loop is closed.

    Attributes
    ----------
    period : float
        [s]
    dead_time : float
        From a sample to the time at which the effort that answers it begins [s].
    velocity : VelocityFilter or None
        Where velocities come from positions.
    """

    period: float
    dead_time: float
    velocity: VelocityFilter | None

    @property
    def periods(self) -> tuple[int, float]:
        """The dead time in whole periods, and the part of one that is left."""
        late = self.dead_time / self.period
        whole = int(np.floor(late + ROUNDING))
        rest = late - whole
        return whole, rest if rest > ROUNDING else 0.0


class JointGains(NamedTuple):
    """Gains of n joints; accelerations per error in computed torque, else efforts per error.

    Attributes
    ----------
    kp, kd, ki : array, shape (n,)
    """

    kp: FloatArray
    kd: FloatArray
    ki: FloatArray

    def scaled(self, factor: float) -> JointGains:
        """Return all of them multiplied."""
        return JointGains(factor * self.kp, factor * self.kd, factor * self.ki)


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes of B arms with n joints, m each.

    Attributes
    ----------
    squares : array, shape (B, m)
        w_k^2 [1/s^2]; below 0 of what falls.
    motors, joints : array, shape (B, n, m)
        phi_k at the motors, and beyond the springs.
    damping : array, shape (m,)
        Damping ratios d.
    """

    squares: FloatArray
    motors: FloatArray
    joints: FloatArray
    damping: FloatArray

    def __getitem__(self, index: slice | IndexArray) -> Modes:
        """Return some of the arms."""
        return replace(
            self,
            squares=self.squares[index],
            motors=self.motors[index],
            joints=self.joints[index],
        )

    def __len__(self) -> int:
        """Return the number of arms."""
        return len(self.squares)

    @property
    def shapes(self) -> FloatArray:
        """The phi_k at the motors and, where there are springs, beyond them, shape (B, m, m)."""
        is_rigid = self.motors.shape[1] == self.motors.shape[2]
        both = self.motors, self.joints
        return self.motors if is_rigid else np.concatenate(both, axis=1)


def rigid_modes(masses: FloatArray, slopes: FloatArray | None = None) -> Modes:
    """Return the modes of rigid arms by their mass matrices, shape (B, n, n).

    And by the slopes of gravity by the positions, likewise; none when omitted.
    """
    n = masses.shape[1]
    # M = L L^T, phi = L^-T: phi phi^T = M^-1
    shapes = np.swapaxes(np.linalg.inv(np.linalg.cholesky(masses)), 1, 2)
    if slopes is None:
        return Modes(np.zeros(shapes.shape[::2]), shapes, shapes, np.zeros(n))
    squares, turned = np.linalg.eigh(np.swapaxes(shapes, 1, 2) @ slopes @ shapes)
    shapes = shapes @ turned
    return Modes(squares, shapes, shapes, np.zeros(n))


def elastic_modes(
    masses: FloatArray,
    slopes: FloatArray,
    rotors: FloatArray,
    stiffness: FloatArray,
    damping_ratio: float,
) -> Modes:
    """Return the modes of arms whose motors are before springs.

    Mass matrices, shape (B, n, n), are with the inertia of the rotors, shape (n,) or (B, n);
    slopes are of gravity by the positions, shape (B, n, n); the damping ratio is that of the n
    modes that swing.
    """
    count, n, _ = masses.shape
    behind = np.broadcast_to(rotors, (count, n))
    links = masses - behind[:, :, np.newaxis] * np.eye(n)
    # What is to be diagonal: both mass matrices are, once the coordinates are those of L^T q.
    shapes = np.zeros((count, 2 * n, 2 * n))
    shapes[:, :n, :n] = np.swapaxes(np.linalg.inv(np.linalg.cholesky(links)), 1, 2)
    shapes[:, n:, n:] = np.eye(n) / np.sqrt(behind)[:, :, np.newaxis]
    spring = np.diag(stiffness)
    springs = np.tile(np.block([[spring, -spring], [-spring, spring]]), (count, 1, 1))
    springs[:, :n, :n] += slopes
    squares, turned = np.linalg.eigh(np.swapaxes(shapes, 1, 2) @ springs @ shapes)
    shapes = shapes @ turned
    damping = np.repeat((0.0, damping_ratio), n)
    return Modes(squares, shapes[:, n:], shapes[:, :n], damping)


def _held_response(
    squares: FloatArray, damping: FloatArray, time: float
) -> tuple[FloatArray, FloatArray]:
    """Return what a time does to modes, (..., 2, 2), and an effort held for it, (..., 2)."""
    transition = np.zeros((*squares.shape, 2, 2))
    forced = np.zeros((*squares.shape, 2))
    is_free = np.abs(squares) * time * time < ROUNDING
    # The sine of an imaginary angle by that angle is real: what falls is a case of what swings.
    w = np.sqrt(np.where(is_free, 1.0, squares).astype(np.complex128))
    damped = w * np.sqrt(1.0 - np.minimum(damping, 1.0 - 1e-9) ** 2)
    decay = np.exp(-damping * w * time)
    cosine = (decay * np.cos(damped * time)).real
    sine = (decay * np.sin(damped * time) / damped).real
    friction = (damping * w).real
    lead = cosine + friction * sine
    transition[..., 0, 0] = np.where(is_free, 1.0, lead)
    transition[..., 0, 1] = np.where(is_free, time, sine)
    transition[..., 1, 0] = np.where(is_free, -squares * time, -squares * sine)
    transition[..., 1, 1] = np.where(is_free, 1.0, cosine - friction * sine)
    forced[..., 0] = np.where(
        is_free, 0.5 * time * time, (1.0 - lead) / np.where(is_free, 1.0, squares)
    )
    forced[..., 1] = np.where(is_free, time, sine)
    return transition, forced


def _step_modes(
    squares: FloatArray, damping: FloatArray, timing: LoopTiming
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return what a period of a loop does to modes, (..., 2, 2), and efforts in it, (..., 2) each.

    Efforts that are held all of the period, from the dead time on, and before it.
    """
    period, (_, rest) = timing.period, timing.periods
    transition, held = _held_response(squares, damping, period)
    if not rest:
        return transition, held, held, np.zeros_like(held)
    after, late = _held_response(squares, damping, (1.0 - rest) * period)
    _, early = _held_response(squares, damping, rest * period)
    return transition, held, late, np.einsum('...ij,...j->...i', after, early)


def frequencies(timing: LoopTiming, modes: Modes | None = None, count: int = 200) -> FloatArray:
    """Return frequencies to look at, up to the half of the rate, shape (F,) [rad/s].

    Those of elastic modes among them.
    """
    highest = np.pi / timing.period
    grid = [np.geomspace(GAIN_SEARCH.lowest_turn * highest, highest * (1.0 - 1e-6), count)]
    if modes is not None:
        swinging = modes.squares[:, modes.damping > 0.0]
        if swinging.size:
            spread = np.quantile(np.sqrt(swinging), np.linspace(0.0, 1.0, 24))
            grid += [factor * spread for factor in GAIN_SEARCH.resonance_points]
    merged = np.unique(np.concatenate(grid))
    return np.asarray(merged[merged < highest], dtype=np.float64)


def respond(
    squares: FloatArray, damping: FloatArray, timing: LoopTiming, at: FloatArray
) -> tuple[ComplexArray, ComplexArray]:
    """Return the position and the velocity that an effort gives to modes, shape (B, m, F) each.

    At frequencies, shape (F,) [rad/s]; the velocity as it is measured, and not by a filter.
    """
    period, (whole, _) = timing.period, timing.periods
    z = np.exp(1j * period * at)
    transition, _, late, early = _step_modes(squares, damping, timing)
    (a, b), (c, d) = np.moveaxis(transition, (-2, -1), (0, 1))[..., np.newaxis]
    first, second = (
        (late[..., row, np.newaxis] + early[..., row, np.newaxis] / z) * z**-whole
        for row in range(2)
    )
    determinant = (z - a) * (z - d) - b * c
    position = ((z - d) * first + b * second) / determinant
    return position, (c * first + (z - a) * second) / determinant


def _filter_response(filtered: VelocityFilter, z: ComplexArray) -> ComplexArray:
    """Return v by q of a velocity filter: d + c (z - a)^-1 b."""
    (p, q), (r, s) = filtered.a
    determinant = (z - p) * (z - s) - q * r
    inner = (
        ((z - s) * filtered.b[0] + q * filtered.b[1]) / determinant,
        (r * filtered.b[0] + (z - p) * filtered.b[1]) / determinant,
    )
    response: ComplexArray = filtered.d + filtered.c[0] * inner[0] + filtered.c[1] * inner[1]
    return response


def open_loop(
    modes: Modes, weights: FloatArray | None, gains: JointGains, timing: LoopTiming, at: FloatArray
) -> ComplexArray:
    """Return the loops, opened at the efforts, as complex matrices, shape (B, F, n, n).

    At frequencies, shape (F,) [rad/s], with weights W, shape (B, n, n); None for the identity.
    """
    position, velocity = respond(modes.squares, modes.damping, timing, at)
    z = np.exp(1j * timing.period * at)
    right = np.swapaxes(modes.motors, 1, 2)[:, np.newaxis]

    def between(response: ComplexArray) -> ComplexArray:
        left = modes.motors[:, np.newaxis] * np.swapaxes(response, 1, 2)[:, :, np.newaxis]
        path: ComplexArray = left @ right
        return path

    by_position = gains.kp + np.multiply.outer(timing.period / (z - 1.0), gains.ki)
    if timing.velocity is not None:
        filtered = _filter_response(timing.velocity, z)
        by_position = by_position + np.multiply.outer(filtered, gains.kd)
    loop: ComplexArray = by_position[..., np.newaxis] * between(position)
    if timing.velocity is None:
        loop = loop + gains.kd[:, np.newaxis] * between(velocity)
    return loop if weights is None else weights[:, np.newaxis] @ loop


def resting_loop(modes: Modes, weights: FloatArray | None, gains: JointGains) -> FloatArray | None:
    """Return the loops of :func:`open_loop` at 0 Hz, shape (B, n, n); None with an integral.

    That of a mode which falls is negative. A mode that neither falls nor returns counts as one
    that returns slowly.
    """
    if gains.ki.any():
        return None
    floor = GAIN_SEARCH.free_part * np.abs(modes.squares).max(axis=1, keepdims=True)
    is_free = np.abs(modes.squares) <= floor
    squares = np.where(is_free, np.where(floor > 0.0, floor, GAIN_SEARCH.free_part), modes.squares)
    compliance = (modes.motors / squares[:, np.newaxis]) @ np.swapaxes(modes.motors, 1, 2)
    loop: FloatArray = gains.kp[:, np.newaxis] * compliance
    return loop if weights is None else weights @ loop


class ClosedLoop(NamedTuple):
    """B loops from one sample to the next: s <- matrix s + load w.

    The state is that of the modes, the efforts under way, the velocity filters, the integrals.

    Attributes
    ----------
    matrix : array, shape (B, N, N)
    load : array, shape (B, N, n)
        Of efforts on the joints, beyond the springs, held for a period.
    position : array, shape (B, n, N)
        Of the motors, by the state.
    effort : array, shape (B, n, N)
        That answers the state.
    start : array, shape (B, N, n)
        State at rest with a joint and its motor off by 1.
    """

    matrix: FloatArray
    load: FloatArray
    position: FloatArray
    effort: FloatArray
    start: FloatArray


def _lay_out(modes: Modes, timing: LoopTiming) -> tuple[list[slice], list[slice], slice]:
    """Return where a state has its efforts under way, the newest first, velocity filters and sums.

    Before them are the positions of the modes, then their velocities.
    """
    whole, rest = timing.periods
    _, n, m = modes.motors.shape
    queue, filters = whole + bool(rest), 0 if timing.velocity is None else 2
    parts = [
        slice(first, first + n) for first in range(2 * m, 2 * m + (queue + filters + 1) * n, n)
    ]
    return parts[:queue], parts[queue:-1], parts[-1]


def close_loop(
    modes: Modes, weights: FloatArray | None, gains: JointGains, timing: LoopTiming
) -> ClosedLoop:
    """Return the closed loops; arguments as of :func:`open_loop`."""
    (queue, filters, sums), (count, n, m) = _lay_out(modes, timing), modes.motors.shape
    size, states, eye = sums.stop, slice(2 * m), np.eye(n)
    position, effort = _answer_state(modes, weights, gains, timing)
    transition, held, late, early = _step_modes(modes.squares, modes.damping, timing)
    matrix = np.zeros((count, size, size))
    diagonal = np.arange(m)
    for row, column in np.ndindex(2, 2):
        matrix[:, row * m + diagonal, column * m + diagonal] = transition[..., row, column]
    # What acts in the last part of the period was answered `whole` samples ago, what acts before
    # that one sample earlier.
    whole, rest = timing.periods
    newest = _push(late, modes.motors)
    if whole:
        matrix[:, states, queue[whole - 1]] = newest
    else:
        matrix[:, states] += newest @ effort
    if rest:
        matrix[:, states, queue[whole]] = _push(early, modes.motors)
    if queue:
        matrix[:, queue[0]] = effort
    for later, earlier in pairwise(queue):
        matrix[:, earlier, later] = eye
    start = _displaced(modes, size)
    if timing.velocity is not None:
        start[:, filters[0]] = eye
        for index, there in enumerate(filters):
            matrix[:, there] = timing.velocity.b[index] * position
            for other, place in enumerate(filters):
                matrix[:, there, place] += timing.velocity.a[index, other] * eye
    matrix[:, sums] = timing.period * position
    matrix[:, sums, sums] += eye
    load = np.zeros((count, size, n))
    load[:, states] = _push(held, modes.joints)
    return ClosedLoop(matrix, load, position, effort, start)


def _answer_state(
    modes: Modes,
    weights: FloatArray | None,
    gains: JointGains,
    timing: LoopTiming,
) -> tuple[FloatArray, FloatArray]:
    """Return positions of the motors, and efforts that answer, by the state; (B, n, N) each."""
    (_, filters, sums), (count, n, m) = _lay_out(modes, timing), modes.motors.shape
    position = np.zeros((count, n, sums.stop))
    position[:, :, :m] = modes.motors
    velocity = np.zeros_like(position)
    if timing.velocity is None:
        velocity[:, :, m : 2 * m] = modes.motors
    else:
        velocity = timing.velocity.d * position
        for index, place in enumerate(filters):
            velocity[:, :, place] = timing.velocity.c[index] * np.eye(n)
    effort = -gains.kp[:, np.newaxis] * position - gains.kd[:, np.newaxis] * velocity
    effort[:, :, sums] = -np.diag(gains.ki)
    return position, effort if weights is None else weights @ effort


def _push(forced: FloatArray, shapes: FloatArray) -> FloatArray:
    """Return what efforts do to the states of modes, shape (B, 2 m, n)."""
    turned = np.swapaxes(shapes, 1, 2)
    return np.concatenate([forced[..., row, np.newaxis] * turned for row in range(2)], axis=1)


def _displaced(modes: Modes, size: int) -> FloatArray:
    """Return states at rest with one joint, its motor too, off by 1, shape (B, N, n)."""
    count, n, m = modes.motors.shape
    start = np.zeros((count, size, n))
    off = np.tile(np.eye(n), (m // n, 1))
    start[:, :m] = np.linalg.solve(modes.shapes, np.broadcast_to(off, (count, m, n)))
    return start


def growth(loop: ClosedLoop, has_integral: bool) -> FloatArray:
    """Return the largest magnitude of the eigenvalues of each loop, shape (B,): 1 is the edge.

    Without integral gains their states stand for themselves, and are left out.
    """
    matrix = loop.matrix
    if not has_integral:
        size = matrix.shape[1] - loop.load.shape[2]
        matrix = matrix[:, :size, :size]
    return np.asarray(np.abs(np.linalg.eigvals(matrix)).max(axis=1), dtype=np.float64)
