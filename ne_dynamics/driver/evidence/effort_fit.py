"""How well the efforts of a log can be explained by any arm near the given one.

Efforts are linear in the inertial parameters of the bodies, in a load at the ends of the arm, and
in viscous friction, Coulomb friction, rotor inertia and a constant of each joint; where that is
asked for, in friction that turns round over a displacement, too. Minimised over these and over the
size sigma of each joint's residual is

    sum over joints  count (log(sigma / size) + mean(residual^2) / (2 sigma^2))
      + |step|^2 / 2

with friction and rotor inertia >= 0, where step are the parameters as steps from the given model
by their prior scales, size is the root mean square of the joint's effort, and count is how
many independent values the effort holds: the residual of a real arm is no white noise, and
samples that follow one another repeat one another. What is minimised is the negative logarithm
of a likelihood, so that a difference says how much better one reading of a log is than another.
A factor on an effort alone does not change it; what the factor does to the load on the other
joints, and to the masses of the given model, does.

Of efforts that a driver has taken gravity out of, the same holds without the gravity of the
bodies; what is left of it is that of the difference between the driver's model and the arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.driver.evidence.gravity_columns import compute_gravity_columns
from ne_dynamics.driver.evidence.thresholds import EVIDENCE
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.identification.regression.pseudo_inertia import (
    compute_width,
    nearest_body,
    pseudo_inertia,
)
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import Robot

PER_LOAD = 4


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """Filtered motion of all joints, each of shape (M, n).

    Attributes
    ----------
    position, velocity, acceleration : array
        [rad or m] and their time derivatives.
    direction : array
        Filtered sign of the velocity.
    path : array, shape (M, n, p)
        Filtered states of friction that turns round over a displacement, of each that is tried.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    direction: FloatArray
    path: FloatArray


@dataclass(frozen=True, eq=False)
class Explained:
    """What a fit comes to.

    Attributes
    ----------
    cost : float
        Negative logarithm of the likelihood, but for a constant.
    left : array, shape (n,)
        Root mean square of what is left of each effort, as a part of the effort.
    freedom : float
        Negative logarithm of the part of what was believed that the log leaves: what a reading
        with more unknowns explains better for that alone. In the approximation of Laplace.
    size : array, shape (n,)
        Root mean square of each effort, where it counts [N m or N].
    """

    cost: float
    left: FloatArray
    freedom: float
    size: FloatArray


@dataclass(frozen=True, eq=False)
class JointTerms:
    """What a fit finds of each joint, and the standard deviations, each of shape (n,).

    Attributes
    ----------
    viscous, coulomb : array
        Effort that each friction makes, root mean square [N m or N].
    constant : array
        [N m or N]
    viscous_deviation, coulomb_deviation, constant_deviation : array
    speed : array
        Velocity, root mean square: an effort by it is a coefficient of viscous friction
        [rad/s or m/s].
    moving : array
        The same of the filtered sign of the velocity.
    """

    viscous: FloatArray
    coulomb: FloatArray
    constant: FloatArray
    viscous_deviation: FloatArray
    coulomb_deviation: FloatArray
    constant_deviation: FloatArray
    speed: FloatArray
    moving: FloatArray


@dataclass(frozen=True, eq=False)
class _Solution:
    step: FloatArray
    free: NDArray[np.bool_]
    matrix: FloatArray
    counts: FloatArray
    amount: FloatArray
    sigma: FloatArray
    left: FloatArray


class EffortFit:
    """The fit for one motion; efforts may be exchanged.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    motion : FittedMotion
    used : bool array, shape (M, n)
        Samples of each joint that count.
    has_load : bool
        Whether the arm is said to carry something, which is larger than what may be forgotten.
    without_gravity : bool
        Whether the efforts are those that are left when gravity is taken out.
    gravity : array, shape (3,), optional
        In base axes, where it is another one than that of the given model [m/s^2].
    doubt : float
        How many times farther off than `inertia_prior_scale` the given inertias are taken to be.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        motion: FittedMotion,
        used: NDArray[np.bool_],
        has_load: bool = False,
        without_gravity: bool = False,
        gravity: FloatArray | None = None,
        doubt: float = 1.0,
    ) -> None:
        robot = dynamics.robot
        self._n, self._used = robot.n, used
        *first, last = EVIDENCE.joint_prior_scales
        self._prior_scales = (*first, *[EVIDENCE.path_prior_scale] * motion.path.shape[2], last)
        self._samples = np.maximum(used.sum(axis=0), 1)
        links, weights = _find_links(dynamics, motion, without_gravity, gravity)
        self.load_columns = _load_columns(links, robot, has_load)
        per_end = PER_BODY if has_load else PER_LOAD
        places = np.arange(self.load_columns.shape[2]) % per_end
        self._moments = np.flatnonzero((places > 0) & (places < PER_LOAD))
        blocks = [doubt * self.load_columns]
        if weights is not None:
            blocks.append(EVIDENCE.gravity_left * _load_columns(weights, robot))
        self._given = np.zeros((len(links), self._n))
        for index, body in enumerate(robot.bodies):
            if not body.inertia.mass > 0.0:
                continue
            parameters, width = _describe_body(body.inertia)
            scale = doubt * EVIDENCE.inertia_prior_scale * width
            blocks.append(links[:, :, index] @ scale)
            if weights is not None:
                blocks.append(EVIDENCE.gravity_left * weights[:, :, index] @ scale)
            self._given += links[:, :, index] @ parameters
        shared = np.concatenate(blocks, axis=2)
        shared = shared @ _find_seen(shared[used])
        own, (self._speed, self._moving, *_) = _own_columns(motion)
        self._tables = [
            np.hstack([shared[use, joint], own[use, joint]]) for joint, use in enumerate(used.T)
        ]
        self._width = width = shared.shape[2]
        normals = np.array([table.T @ table for table in self._tables])
        self._shared = np.ascontiguousarray(normals[:, :width, :width])
        self._mixed = np.ascontiguousarray(normals[:, :width, width:])
        self._own = np.ascontiguousarray(normals[:, width:, width:])
        # Which unknowns the last fit left at no bound: the next one begins with them.
        self._free = np.ones(width + self._n * own.shape[2], dtype=bool)

    @property
    def moment_columns(self) -> FloatArray:
        """Those of `load_columns` that are first moments, shape (M, n, columns)."""
        return self.load_columns[:, :, self._moments]

    @property
    def given_effort(self) -> FloatArray:
        """Effort of the given model without friction, shape (M, n) [N m or N]."""
        return self._given

    def explain(self, effort: FloatArray, counts: FloatArray) -> Explained:
        """Fit efforts.

        Parameters
        ----------
        effort : array, shape (M, n)
            [N m or N]
        counts : array, shape (n,)
            Independent values in the effort of each joint.

        Returns
        -------
        Explained
        """
        found = self._solve(effort, counts, self._prior_scales)
        terms = np.log(found.sigma / found.amount) + 0.5 * (found.left / found.sigma) ** 2
        cost = found.counts @ terms + 0.5 * found.step @ found.step
        chosen = np.flatnonzero(found.free)
        _, freedom = np.linalg.slogdet(found.matrix[chosen][:, chosen])
        return Explained(
            float(cost), found.left / found.amount, 0.5 * float(freedom), found.amount
        )

    def find_signs(self, sizes: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the signs that efforts have in the fit, shape (M, n), where sizes are all.

        Parameters
        ----------
        sizes : array, shape (M, n)
            Absolute values of the efforts [N m or N].
        counts : array, shape (n,)
            Independent values in the effort of each joint.
        """
        signs = np.sign(self._given)
        for _ in range(EVIDENCE.sign_passes):
            found = self._solve(sizes * signs, counts, self._prior_scales)
            common, own = found.step[: self._width], found.step[self._width :]
            scales = found.amount[:, np.newaxis] * np.array(self._prior_scales)
            for joint, (table, single) in enumerate(
                zip(self._tables, own.reshape(scales.shape) * scales, strict=True)
            ):
                use = self._used[:, joint]
                signs[use, joint] = np.sign(
                    self._given[use, joint] + table @ np.concatenate([common, single])
                )
        return signs

    def find_joint_terms(
        self,
        effort: FloatArray,
        counts: FloatArray,
        constant_prior_scale: float = EVIDENCE.joint_prior_scales[-1],
    ) -> JointTerms:
        """Return friction and constant of each joint in the fit of efforts.

        Parameters
        ----------
        effort : array, shape (M, n)
            [N m or N]
        counts : array, shape (n,)
            Independent values in the effort of each joint.
        constant_prior_scale : float
            How large the constants may be, as parts of the efforts.

        Returns
        -------
        JointTerms
        """
        prior_scales = (*self._prior_scales[:-1], constant_prior_scale)
        found = self._solve(effort, counts, prior_scales)
        chosen = np.flatnonzero(found.free)
        # Of what is held at its bound: as far as it could move by itself.
        variances = 1.0 / np.diag(found.matrix)
        variances[chosen] = np.diag(np.linalg.inv(found.matrix[chosen][:, chosen]))
        sizes = found.amount[:, np.newaxis] * np.array(prior_scales)
        values = found.step[self._width :].reshape(self._n, len(prior_scales)) * sizes
        deviations = np.sqrt(variances[self._width :].reshape(self._n, len(prior_scales))) * sizes
        viscous, coulomb, constant = (values[:, term] for term in (0, 1, -1))
        return JointTerms(
            viscous,
            coulomb,
            constant,
            deviations[:, 0],
            deviations[:, 1],
            deviations[:, -1],
            self._speed,
            self._moving,
        )

    def _solve(
        self, effort: FloatArray, counts: FloatArray, prior_scales: tuple[float, ...]
    ) -> _Solution:
        n, width, per_joint = self._n, self._width, len(prior_scales)
        # What was not measured says nothing.
        counts = np.where(effort.any(axis=0) & self._used.any(axis=0), counts, 0.0)
        amount, squares, rights = self._compare(effort)
        scales = amount[:, np.newaxis] * np.array(prior_scales)
        rights[:, width:] *= scales
        # Joint beside joint: row k belongs to shared parameter k, column to a term of a joint.
        mixed = np.moveaxis(self._mixed * scales[:, np.newaxis], 0, 1).reshape(width, -1)
        own = self._own * scales[:, :, np.newaxis] * scales[:, np.newaxis]
        size = width + per_joint * n
        bounded = np.zeros(size, dtype=bool)
        bounded[width:] = np.arange(per_joint * n) % per_joint < per_joint - 1
        terms = np.arange(width, size).reshape(n, per_joint)
        blocks = terms[:, :, np.newaxis], terms[:, np.newaxis]
        diagonal = np.arange(size)
        sigma, left = EVIDENCE.first_sigma * amount, np.zeros(n)
        step, free = np.zeros(size), self._free
        matrix = np.zeros((size, size))
        for _ in range(EVIDENCE.passes):
            weights = counts / self._samples / sigma**2
            matrix[:width, :width] = (weights @ self._shared.reshape(n, -1)).reshape(width, width)
            matrix[:width, width:] = mixed * np.repeat(weights, per_joint)
            matrix[width:, :width] = matrix[:width, width:].T
            matrix[blocks] = weights[:, np.newaxis, np.newaxis] * own
            matrix[diagonal, diagonal] += 1.0
            weighted = weights[:, np.newaxis] * rights
            right = np.concatenate([weighted[:, :width].sum(axis=0), weighted[:, width:].ravel()])
            step, free = _minimum(matrix, right, bounded, free)
            common, single = step[:width], step[width:].reshape(n, per_joint)
            pulls = 2.0 * (common @ mixed - rights[:, width:].ravel()).reshape(n, per_joint)
            pulls += (own @ single[:, :, np.newaxis])[:, :, 0]
            rest = squares + (self._shared @ common - 2.0 * rights[:, :width]) @ common
            rest += (pulls * single).sum(axis=1)
            left = np.sqrt(np.maximum(rest, 0.0) / self._samples)
            sigma = np.maximum(left, EVIDENCE.smallest_sigma * amount)
        self._free = free
        return _Solution(step, free, matrix, counts, amount, sigma, left)

    def _compare(self, effort: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what efforts are beside the given model, joint by joint.

        Returns
        -------
        amount, squares : array, shape (n,)
            Root mean square of the effort, and sum of squares of what the given model leaves.
        rights : array, shape (n, columns)
            What the given model leaves, along each column.
        """
        amount, squares = np.full(self._n, 1e-9), np.zeros(self._n)
        rights = np.empty((self._n, self._tables[0].shape[1]))
        for joint, table in enumerate(self._tables):
            use = self._used[:, joint]
            values = effort[use, joint]
            if values.any():
                amount[joint] = np.sqrt(np.mean(values * values))
            rest = values - self._given[use, joint]
            rights[joint] = rest @ table
            squares[joint] = rest @ rest
        return amount, squares, rights


def _find_links(
    dynamics: Dynamics, motion: FittedMotion, without_gravity: bool, gravity: FloatArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """Return the regressor of each body, shape (M, n, bodies, 10), and gravity's part of it.

    Without gravity that part is taken out; else it is None.
    """
    full = dynamics.without_friction().regressor(
        motion.position, motion.velocity, motion.acceleration
    )
    links = full.reshape(*full.shape[:2], -1, PER_BODY)
    if without_gravity:
        weights = compute_gravity_columns(dynamics, motion.position, dynamics.gravity)
        return links - weights, weights
    if gravity is not None:
        links = links + compute_gravity_columns(
            dynamics, motion.position, gravity - dynamics.gravity
        )
    return links, None


def _own_columns(motion: FittedMotion) -> tuple[FloatArray, list[FloatArray]]:
    """Return friction, rotor, paths and a constant of each joint by their sizes, and those.

    Shapes (M, n, columns) and (n,) each.
    """
    paths = np.moveaxis(motion.path, 2, 0)
    rates = (motion.velocity, motion.direction, motion.acceleration, *paths)
    sizes = [np.maximum(rms(part), 1e-6) for part in rates]
    own = np.stack([part / size for part, size in zip(rates, sizes, strict=True)], axis=2)
    return np.concatenate([own, np.ones((*own.shape[:2], 1))], axis=2), sizes


@lru_cache(maxsize=256)
def _describe_body(inertia: Inertia) -> tuple[FloatArray, FloatArray]:
    """Return the parameters that a body is believed to have, and the width of that belief."""
    parameters = nearest_body(inertia).parameters
    return parameters, compute_width(pseudo_inertia(parameters))


def _load_columns(links: FloatArray, robot: Robot, has_load: bool = False) -> FloatArray:
    """Return the columns of a load at the ends of the arm, by the prior scale of its parameters.

    Mass and first moment; of a load that is said to be there, its inertia too.
    """
    parents = {body.parent for body in robot.bodies}
    ends = [index for index in range(len(robot.bodies)) if index not in parents]
    mass = sum(body.inertia.mass for body in robot.bodies)
    sizes = (
        EVIDENCE.load_prior_scale * mass * np.array([1.0, *[EVIDENCE.load_lever] * (PER_LOAD - 1)])
    )
    if has_load:
        levers = [1.0, *[EVIDENCE.carried_lever] * 3, *[EVIDENCE.carried_lever**2] * 6]
        sizes = EVIDENCE.carried_prior_scale * mass * np.array(levers)
    return np.concatenate([links[:, :, end, : sizes.size] * sizes for end in ends], axis=2)


def _find_seen(rows: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the combinations of columns that change a row at all.

    Unknowns that no row depends on stay at 0, and cost nothing.
    """
    values, vectors = np.linalg.eigh(rows.T @ rows)
    seen: FloatArray = vectors[:, values > values.size * np.finfo(float).eps * values[-1]]
    return seen


def _minimum(
    matrix: FloatArray, right: FloatArray, bounded: NDArray[np.bool_], free: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the minimum of a quadratic form with some unknowns >= 0, and which are free.

    An active set, in which each unknown may change twice; `free` is what was free before.
    """
    step = np.zeros(right.size)
    for _ in range(2 * right.size + 1):
        step = np.zeros(right.size)
        if free.all():
            step[:] = np.linalg.solve(matrix, right)
        else:
            chosen = np.flatnonzero(free)
            step[chosen] = np.linalg.solve(matrix[np.ix_(chosen, chosen)], right[chosen])
        below = bounded & (step < 0.0)
        if below.any():
            free = free & ~below
            continue
        released = ~free & (matrix @ step - right < 0.0)
        if not released.any():
            break
        free = free | released
    return np.where(bounded, np.maximum(step, 0.0), step), free


def count_independent(efforts: FloatArray) -> FloatArray:
    """Return how many independent values evenly sampled columns hold, shape (n,).

    The number of samples over the sum of the autocorrelation up to its first zero.
    """
    samples = efforts.shape[0]
    centred = efforts - efforts.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, 2 * samples, axis=0)) ** 2
    correlation = np.fft.irfft(spectrum, axis=0)[:samples]
    return np.array([_count(column) for column in correlation.T])


def _count(correlation: FloatArray) -> float:
    if not correlation[0] > 0.0:
        return 1.0
    negative = np.flatnonzero(correlation < 0.0)
    end = int(negative[0]) if negative.size else correlation.size
    length = 1.0 + 2.0 * float(correlation[1:end].sum() / correlation[0])
    return correlation.size / length
