"""The arms that gains have to work with: poses of the workspace, masses within an uncertainty.

The mass matrix is a sum over the links and rotors, each a positive semidefinite matrix times the
factor s by which that link is heavier than the model says. With 1 - u <= s <= 1 + u for all of
them, and a payload from m- to m+ at the tip,

    (1 - u) M + m- J^T J  <=  M(s, m)  <=  (1 + u) M + m+ J^T J

in the sense of definite matrices, whatever each s is: the two ends bound the eigenvalues of all.
Gravity is linear in the same factors. So are the payload's mass and weight in its mass: it counts
as one more body, of a kilogram, after those of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.gains.thresholds import GAINS
from ne_dynamics.model.rigid_body import FloatArray, Inertia
from ne_dynamics.model.robot import BASE, Joint, Robot

SLOPE_STEP = np.finfo(np.float64).eps ** (1.0 / 3.0)
"""Of a difference that stands for a slope: rounding errs about as much as the third derivative."""


@dataclass(frozen=True, eq=False)
class Plants:
    """What the loops are closed around.

    Attributes
    ----------
    poses : array, shape (N, n)
        That the motors can hold, with the largest payload and masses, and effort to spare; in a
        design, beside them, those in which the arm falls first [rad or m].
    held_share : float
        Part of the poses that were drawn which can be held.
    model : array, shape (N, n, n)
        Mass matrix of the model.
    light, heavy : array, shape (N, n, n)
        Its bounds.
    robot : Robot
        Of the model.
    part_gravity : array, shape (N, b + 1, n)
        Efforts that the model's gravity takes, body by body, and, last, a payload of a kilogram
        [N m or N].
    part_slopes : array, shape (N, b + 1, n, n)
        Of these by the positions, the second derivatives of a potential [N m/rad, ...].
    scale : array, shape (n,)
        Inertias for which a diagonal matrix is as near to all mass matrices as one can be
        [kg m^2 or kg].
    """

    poses: FloatArray
    held_share: float
    model: FloatArray
    light: FloatArray
    heavy: FloatArray
    robot: Robot
    part_gravity: FloatArray
    part_slopes: FloatArray
    scale: FloatArray

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints of the model."""
        return self.robot.joints

    @property
    def gravity(self) -> FloatArray:
        """Efforts that the model's gravity takes, shape (N, n) [N m or N]."""
        return np.asarray(self.part_gravity[:, :-1].sum(axis=1))

    @property
    def load_gravity(self) -> FloatArray:
        """Efforts that a payload of a kilogram takes, shape (N, n) [N m/kg or N/kg]."""
        return self.part_gravity[:, -1]

    @property
    def rotors(self) -> FloatArray:
        """Reflected inertia of the rotors, in all mass matrices, shape (n,) [kg m^2 or kg]."""
        return np.array([joint.reflected_inertia for joint in self.joints])

    @property
    def holding_friction(self) -> FloatArray:
        """The effort below which joints may stay at rest, shape (n,) [N m or N]."""
        own = [
            max(joint.coulomb_friction, joint.friction.static_friction or 0.0)
            + abs(joint.friction.friction_asymmetry)
            + abs(joint.friction.friction_offset)
            + joint.friction.hysteresis_friction
            for joint in self.joints
        ]
        return np.array(own) + self.robot.coupled_friction

    def corners(self) -> FloatArray:
        """Return the bounds of all poses, the light ones first, shape (2 N, n, n)."""
        return np.concatenate((self.light, self.heavy))

    def corner_slopes(self, request: GainRequest, *, is_compensated: bool) -> FloatArray:
        """Return how gravity goes on from each pose, for :meth:`corners`, shape (2 N, n, n).

        What a law compensates where the arm is, and not where it is to be, leaves the part that
        is wrong.
        """
        u, known = request.uncertainty, 1.0 if is_compensated else 0.0
        slope, load = self.part_slopes[:, :-1].sum(axis=1), self.part_slopes[:, -1]
        return np.concatenate(
            [
                (factor - known) * slope + mass * load
                for factor, mass in zip((1.0 - u, 1.0 + u), request.payload_range, strict=True)
            ]
        )

    def largest_gravity(self, request: GainRequest) -> FloatArray:
        """Return the largest effort that gravity takes, with all that is wrong, shape (n,)."""
        parts = self.part_gravity
        wrong = np.einsum('b,kbi->ki', self.compute_mass_errors(request), np.abs(parts))
        largest: FloatArray = (np.abs(self.gravity) + wrong).max(axis=0)
        return largest

    def compute_mass_errors(self, request: GainRequest) -> FloatArray:
        """Return how much heavier than the model's each body and the payload may be, (b + 1,)."""
        bodies = len(self.robot.bodies)
        return np.append(np.full(bodies, request.uncertainty), request.payload_range[1])


def pose_range(joint: Joint) -> tuple[float, float]:
    """Return from where to where a joint's positions are drawn [rad or m]."""
    widest = GAINS.sliding_range if joint.type.is_prismatic else np.pi
    lower, upper = joint.lower, joint.upper
    if joint.type.is_prismatic:
        lower = lower if np.isfinite(lower) else min(-widest, upper - 2.0 * widest)
        upper = upper if np.isfinite(upper) else max(widest, lower + 2.0 * widest)
        return lower, upper
    if not (np.isfinite(lower) and np.isfinite(upper)) or upper - lower > 2.0 * np.pi:
        return -widest, widest
    return lower, upper


def compute_part_efforts(
    dynamics: Dynamics, request: GainRequest, q: FloatArray, qd: FloatArray, qdd: FloatArray
) -> FloatArray:
    """Return the efforts that each body takes, and, last, a payload of a kilogram, (N, b + 1, n).

    For motions of shape (N, n) [rad or m, and per second, and per second squared].

    Raises
    ------
    InputError
        When there is a payload, and no tip link to carry it.
    """
    robot = dynamics.robot
    regressor = dynamics.regressor(q, qd, qdd).reshape(*q.shape, -1, 10)
    parts = np.zeros((len(q), len(robot.bodies) + 1, dynamics.n))
    parameters = dynamics.inertial_parameters().reshape(-1, 10)
    parts[:, :-1] = np.einsum('knbp,bp->kbn', regressor, parameters)
    if request.payload_range[1] > 0.0:
        if robot.tip_link is None:
            raise InputError('payload: expected a model with a tip link to carry it, got none')
        if robot.tip.body != BASE:
            center = np.array(request.payload_center, dtype=np.float64)
            load = Inertia(1.0, center, np.zeros((3, 3))).transformed(robot.tip.pose_in_body)
            parts[:, -1] = regressor[:, :, robot.tip.body] @ load.parameters
    return parts


def compute_part_gravity(
    dynamics: Dynamics, request: GainRequest, poses: FloatArray
) -> FloatArray:
    """Return the efforts of :func:`compute_part_efforts` at rest, shape (N, b + 1, n)."""
    still = np.zeros_like(poses)
    return compute_part_efforts(dynamics, request, poses, still, still)


def compute_part_slopes(dynamics: Dynamics, request: GainRequest, poses: FloatArray) -> FloatArray:
    """Return the slopes of :func:`compute_part_gravity` by positions, (N, b + 1, n, n)."""
    n = dynamics.n
    steps = SLOPE_STEP * np.concatenate((np.eye(n), -np.eye(n)))
    around = (poses[:, np.newaxis] + steps).reshape(-1, n)
    gravity = compute_part_gravity(dynamics, request, around).reshape(len(poses), 2, n, -1, n)
    change = (gravity[:, 0] - gravity[:, 1]) / (2.0 * SLOPE_STEP)
    # (pose, position, body, effort) -> (pose, body, effort, position)
    slopes = change.transpose(0, 2, 3, 1)
    # Second derivatives, without what rounding leaves of them.
    return np.asarray(0.5 * (slopes + np.swapaxes(slopes, -1, -2)), dtype=np.float64)


def compute_part_masses(dynamics: Dynamics, request: GainRequest, poses: FloatArray) -> FloatArray:
    """Return the mass matrices of the bodies and a kilogram of payload, (N, b + 1, n, n)."""
    n, count = dynamics.n, len(poses)
    there = np.repeat(poses, n, axis=0)
    units = np.tile(np.eye(n), (count, 1))
    moved = compute_part_efforts(dynamics, request, there, np.zeros_like(there), units)
    at_rest = compute_part_gravity(dynamics, request, poses)
    # (pose, acceleration, body, effort) -> (pose, body, effort, acceleration)
    masses = moved.reshape(count, n, -1, n) - at_rest[:, np.newaxis]
    return np.asarray(masses.transpose(0, 2, 3, 1), dtype=np.float64)


def gather_plants(dynamics: Dynamics, request: GainRequest) -> Plants:
    """Return the arms that gains have to work with, in random poses.

    Raises
    ------
    InputError
        When the motors can hold the arm nearly nowhere, or a joint moves no mass.
    """
    joints, n = dynamics.robot.joints, dynamics.n
    if n == 0:
        raise InputError('model: expected joints that move, got none')
    limits = request.limits(joints)
    drawn = draw_poses(joints, GAINS.candidates_per_pose * request.poses, request.seed)
    parts = compute_part_gravity(dynamics, request, drawn)
    largest = request.payload_range[1]
    gravity = parts[:, :-1].sum(axis=1)
    needed = np.max(
        [
            np.abs(factor * gravity + payload * parts[:, -1])
            for factor in (1.0 - request.uncertainty, 1.0 + request.uncertainty)
            for payload in request.payload_range
        ],
        axis=0,
    )
    is_held = (needed <= (1.0 - GAINS.holding_reserve) * limits).all(axis=1)
    if not np.isfinite(gravity).all():
        raise InputError('model: expected finite efforts against gravity, got others')
    share = float(is_held.mean())
    kept = np.flatnonzero(is_held)[: request.poses]
    if kept.size < min(request.poses, max(1, request.poses // 4)):
        ratios = np.median(needed / limits, axis=0)
        worst = int(ratios.argmax())
        raise InputError(
            f'payload, effort_limits: expected motors that can hold the arm, with '
            f'{largest:g} kg at its tip and masses {100.0 * request.uncertainty:g} % too large, '
            f'with {100.0 * GAINS.holding_reserve:g} % of their limits to spare; in '
            f'{100.0 * (1.0 - share):.0f} % of the poses they cannot: '
            f'joint {joints[worst].name!r} needs {np.median(needed[:, worst]):.4g} of '
            f'{limits[worst]:.4g} N m or N in half of them'
        )
    return plants_in(dynamics, request, drawn[kept], share)


def draw_poses(joints: Sequence[Joint], count: int, seed: int) -> FloatArray:
    """Return random poses within the ranges of the joints, shape (count, n) [rad or m]."""
    ends = np.array([pose_range(joint) for joint in joints])
    rng = np.random.default_rng(seed)
    return rng.uniform(ends[:, 0], ends[:, 1], (count, len(joints)))


def plants_in(
    dynamics: Dynamics, request: GainRequest, poses: FloatArray, held_share: float
) -> Plants:
    """Return the arms in given poses, shape (N, n); an InputError where a joint moves no mass."""
    model = np.asarray(dynamics.mass_matrix(poses), dtype=np.float64)
    _check_inertia(model, dynamics.robot.joints)
    load, u = compute_part_masses(dynamics, request, poses)[:, -1], request.uncertainty
    least, largest = request.payload_range
    light, heavy = (1.0 - u) * model + least * load, (1.0 + u) * model + largest * load
    return Plants(
        poses=poses,
        held_share=held_share,
        model=model,
        light=light,
        heavy=heavy,
        robot=dynamics.robot,
        part_gravity=compute_part_gravity(dynamics, request, poses),
        part_slopes=compute_part_slopes(dynamics, request, poses),
        scale=balance_scale(model, np.concatenate((light, heavy)), GAINS.balance_steps),
    )


def balance_scale(model: FloatArray, masses: FloatArray, steps: int) -> FloatArray:
    """Return the inertias, shape (n,), that make the eigenvalues of masses by them the most alike.

    From the mean of the diagonal, the quotient of the largest and the smallest eigenvalue of
    D^-1/2 M D^-1/2 is led down: by its slope, the squares of the components of its eigenvectors.
    """
    scale: FloatArray = np.exp(np.log(np.diagonal(model, axis1=1, axis2=2)).mean(axis=0))
    best, spread = scale, np.inf
    for step in range(steps):
        root = 1.0 / np.sqrt(scale)
        values, vectors = np.linalg.eigh(masses * root[:, np.newaxis] * root)
        least, most = int(values[:, 0].argmin()), int(values[:, -1].argmax())
        found = values[most, -1] / values[least, 0]
        if found < spread:
            best, spread = scale, found
        slope = vectors[most, :, -1] ** 2 - vectors[least, :, 0] ** 2
        scale = scale * np.exp(0.5 / (1.0 + 0.1 * step) * slope)
    return best


def _check_inertia(model: FloatArray, joints: tuple[Joint, ...]) -> None:
    diagonal = np.diagonal(model, axis1=1, axis2=2)
    if not np.isfinite(model).all():
        raise InputError('model: expected a finite mass matrix, got others')
    weakest = int(diagonal.min(axis=0).argmin())
    if not diagonal.min() > GAINS.least_inertia:
        raise InputError(
            f'joint {joints[weakest].name!r}: expected an inertia to be moved, got '
            f'{diagonal[:, weakest].min():.3g}: the links that it moves have no mass'
        )
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(model * scale[:, :, np.newaxis] * scale[:, np.newaxis])
    pose = int((values[:, 0] / values[:, -1]).argmin())
    if values[pose, 0] < values[pose, -1] / GAINS.worst_condition:
        joint = joints[int(np.abs(vectors[pose, :, 0]).argmax())]
        raise InputError(
            f'joint {joint.name!r}: expected a positive definite mass matrix, got the eigenvalue '
            f'{values[pose, 0]:.3g} of one that is scaled to a diagonal of ones: links that have '
            'no mass'
        )
