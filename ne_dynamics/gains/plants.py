"""The arms that gains have to work with: poses of the workspace, masses within an uncertainty.

The mass matrix is a sum over the links and rotors, each a positive semidefinite matrix times the
factor s by which that link is heavier than the model says. With 1 - u <= s <= 1 + u for all of
them, and a payload from m- to m+ at the tip,

    (1 - u) M + m- J^T J  <=  M(s, m)  <=  (1 + u) M + m+ J^T J

in the sense of definite matrices, whatever each s is: the two ends bound the eigenvalues of all.
Gravity is linear in the same factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.gains.thresholds import GAINS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot


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
    gravity : array, shape (N, n)
        Of the model [N m or N].
    body_gravity : array, shape (N, b, n)
        Likewise, body by body.
    load_gravity : array, shape (N, n)
        Of a payload, a kilogram [N m/kg or N/kg].
    slope : array, shape (N, n, n)
        Of the model's gravity by the positions, its potential's second derivative [N m/rad, ...].
    load_slope : array, shape (N, n, n)
        Of that of a payload, a kilogram.
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
    gravity: FloatArray
    body_gravity: FloatArray
    load_gravity: FloatArray
    slope: FloatArray
    load_slope: FloatArray
    scale: FloatArray

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints of the model."""
        return self.robot.joints

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
        least, largest = request.payload_range
        light = (1.0 - u - known) * self.slope + least * self.load_slope
        heavy = (1.0 + u - known) * self.slope + largest * self.load_slope
        return np.concatenate((light, heavy))

    def largest_gravity(self, request: GainRequest) -> FloatArray:
        """Return the largest effort that gravity takes, with all that is wrong, shape (n,)."""
        load = request.payload_range[1] * np.abs(self.load_gravity)
        wrong = request.uncertainty * np.abs(self.body_gravity).sum(axis=1)
        largest: FloatArray = (np.abs(self.gravity) + wrong + load).max(axis=0)
        return largest


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


def _payload_jacobian(dynamics: Dynamics, request: GainRequest, poses: FloatArray) -> FloatArray:
    """Return the Jacobian of the payload's centre of mass, shape (N, 3, n)."""
    n, robot = dynamics.n, dynamics.robot
    if request.payload_range[1] == 0.0:
        return np.zeros((len(poses), 3, n))
    if robot.tip_link is None:
        raise InputError('payload: expected a model with a tip link to carry it, got none')
    jacobian = dynamics.jacobian(poses)
    tip_to_base = dynamics.forward_kinematics(poses)[:, :3, :3]
    arm = tip_to_base @ np.asarray(request.payload_center, dtype=np.float64)
    # v_com = v + w x r
    moved: FloatArray = jacobian[:, :3] - np.cross(arm[:, :, np.newaxis], jacobian[:, 3:], axis=1)
    return moved


def payload_slope(dynamics: Dynamics, request: GainRequest, poses: FloatArray) -> FloatArray:
    """Return by the positions the slope of what a kilogram takes, shape (N, n, n)."""
    n = dynamics.n
    slope = np.zeros((len(poses), n, n))
    if request.payload_range[1] == 0.0:
        return slope
    for joint in range(n):
        step = GAINS.slope_step * np.eye(n)[joint]
        ahead, behind = (
            _payload_jacobian(dynamics, request, poses + way) for way in (step, -step)
        )
        change = (ahead - behind) / (2.0 * GAINS.slope_step)
        slope[:, :, joint] = -np.einsum('kij,i->kj', change, dynamics.gravity)
    return slope


def _find_needed(
    gravity: FloatArray, load_gravity: FloatArray, request: GainRequest
) -> FloatArray:
    """Return the largest effort that holds the lightest and the heaviest arm, shape (N, n)."""
    u = request.uncertainty
    each = [
        np.abs(factor * gravity + payload * load_gravity)
        for factor in (1.0 - u, 1.0 + u)
        for payload in request.payload_range
    ]
    return np.asarray(np.max(each, axis=0), dtype=np.float64)


def _symmetric(matrices: FloatArray) -> FloatArray:
    """Return second derivatives without what rounding leaves of them."""
    symmetric: FloatArray = 0.5 * (matrices + np.swapaxes(matrices, -1, -2))
    return symmetric


def body_slopes(dynamics: Dynamics, poses: FloatArray) -> FloatArray:
    """Return the slope of the model's gravity by the positions, body by body, (N, b, n, n)."""
    n = dynamics.n
    steps = GAINS.slope_step * np.concatenate((np.eye(n), -np.eye(n)))
    around = (poses[:, np.newaxis] + steps).reshape(-1, n)
    gravity = _body_gravity(dynamics, around).reshape(len(poses), 2, n, -1, n)
    change = (gravity[:, 0] - gravity[:, 1]) / (2.0 * GAINS.slope_step)
    # (pose, position, body, effort) -> (pose, body, effort, position)
    return _symmetric(change.transpose(0, 2, 3, 1))


def _body_gravity(dynamics: Dynamics, poses: FloatArray) -> FloatArray:
    """Return the efforts that each body's weight takes, shape (N, b, n)."""
    still = np.zeros_like(poses)
    parameters = dynamics.inertial_parameters().reshape(-1, 10)
    regressor = dynamics.regressor(poses, still, still).reshape(*poses.shape, -1, 10)
    return np.asarray(np.einsum('knbp,bp->kbn', regressor, parameters), dtype=np.float64)


def gather_plants(dynamics: Dynamics, request: GainRequest) -> Plants:
    """Return the arms that gains have to work with, in random poses.

    Raises
    ------
    InputError
        When the motors can hold the arm nearly nowhere, or a joint moves no mass.
    """
    poses, share = _draw_held_poses(dynamics, request)
    return plants_in(dynamics, request, poses, share)


def _draw_held_poses(dynamics: Dynamics, request: GainRequest) -> tuple[FloatArray, float]:
    """Return random poses that the motors hold, and the part of those drawn that they hold."""
    joints, n = dynamics.robot.joints, dynamics.n
    if n == 0:
        raise InputError('model: expected joints that move, got none')
    limits = request.limits(joints)
    drawn = draw_poses(joints, GAINS.candidates_per_pose * request.poses, request.seed)
    load_gravity = _load_gravity(dynamics, _payload_jacobian(dynamics, request, drawn))
    largest = request.payload_range[1]
    gravity = np.atleast_2d(dynamics.gravity_torque(drawn))
    needed = _find_needed(gravity, load_gravity, request)
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
    return drawn[kept], share


def draw_poses(joints: Sequence[Joint], count: int, seed: int) -> FloatArray:
    """Return random poses within the ranges of the joints, shape (count, n) [rad or m]."""
    ends = np.array([pose_range(joint) for joint in joints])
    rng = np.random.default_rng(seed)
    return rng.uniform(ends[:, 0], ends[:, 1], (count, len(joints)))


def _load_gravity(dynamics: Dynamics, jacobian: FloatArray) -> FloatArray:
    """Return the efforts that a kilogram takes, shape (N, n), by its centre's Jacobian."""
    # Falling freely is what gravity accelerates by; an effort carries the opposite.
    return np.asarray(-np.einsum('kij,i->kj', jacobian, dynamics.gravity), dtype=np.float64)


def plants_in(
    dynamics: Dynamics, request: GainRequest, poses: FloatArray, held_share: float
) -> Plants:
    """Return the arms in given poses, shape (N, n); an InputError where a joint moves no mass."""
    still = np.zeros_like(poses)
    model = np.asarray(dynamics.mass_matrix(poses), dtype=np.float64)
    _check_inertia(model, dynamics.robot.joints)
    jacobian = _payload_jacobian(dynamics, request, poses)
    least, largest = request.payload_range
    load = np.swapaxes(jacobian, 1, 2) @ jacobian
    slope = np.asarray(dynamics.inverse_dynamics_derivatives(poses, still, still)[0], np.float64)
    load_slope = payload_slope(dynamics, request, poses)
    u = request.uncertainty
    light, heavy = (1.0 - u) * model + least * load, (1.0 + u) * model + largest * load
    return Plants(
        poses=poses,
        held_share=held_share,
        model=model,
        light=light,
        heavy=heavy,
        robot=dynamics.robot,
        gravity=np.atleast_2d(dynamics.gravity_torque(poses)),
        body_gravity=_body_gravity(dynamics, poses),
        load_gravity=_load_gravity(dynamics, jacobian),
        slope=_symmetric(slope),
        load_slope=_symmetric(load_slope),
        scale=balance_scale(model, np.concatenate((light, heavy))),
    )


def balance_scale(model: FloatArray, masses: FloatArray) -> FloatArray:
    """Return the inertias, shape (n,), that make the eigenvalues of masses by them the most alike.

    From the mean of the diagonal, the quotient of the largest and the smallest eigenvalue of
    D^-1/2 M D^-1/2 is led down: by its slope, the squares of the components of its eigenvectors.
    """
    scale: FloatArray = np.exp(np.log(np.diagonal(model, axis1=1, axis2=2)).mean(axis=0))
    best, spread = scale, np.inf
    for step in range(GAINS.balance_steps):
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
