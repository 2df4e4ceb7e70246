"""The effort as a linear function of the inertial parameters: ``effort = Y @ parameters``.

Two forms. :func:`regressor` writes every entry of Y out by the recursion, which suits few joints.
:func:`regressor_factors` writes out what the entries are products of, a twist for each joint and a
wrench for each parameter, which grows with the number of bodies; :func:`regressor_by_factors`
writes out the products too, and :func:`assemble_regressor` multiplies with NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ne_dynamics.algorithms.kinematics import body_poses, locate_pose
from ne_dynamics.algorithms.link_motion import body_velocities, locate_velocity
from ne_dynamics.algorithms.loads import move_payload
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.mechanism_body import PARAMETERS_PER_BODY
from ne_dynamics.algorithms.newton_euler import angular_matrix, newton_euler
from ne_dynamics.algorithms.scalars.elementary import add, cos, cross, dot, multiply, scale, sin
from ne_dynamics.algorithms.scalars.scalar import AnyScalar, Matrix, Scalar, Vector
from ne_dynamics.model.robot import BASE, FloatArray

_ROUNDING = 2.0**-50
"""Relative size of what products of rotation matrices leave of a zero."""


def regressor(
    plain: Mechanism,
    q: Sequence[AnyScalar],
    qd: Sequence[AnyScalar],
    qdd: Sequence[AnyScalar],
    gravity: Sequence[float],
) -> list[list[AnyScalar | float]]:
    """Return Y with ``Y @ parameters`` = effort without friction and rotor inertia.

    The effort is linear in the inertial parameters, so column k is the recursion for a robot of
    which parameter k alone is one.

    Parameters
    ----------
    plain : Mechanism
        Built with ``regroup=False``.
    q, qd, qdd : sequence of n scalars
    gravity : sequence of 3 float

    Returns
    -------
    list of n rows of 10 * bodies scalars
        Per body mass, first moment (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the
        model's body frame, in its axes (the order of Pinocchio's ``computeJointTorqueRegressor``).
    """
    count = len(plain.bodies)
    nothing = (0.0, (0.0,) * 3, (0.0,) * 6)
    columns = []
    for index in range(count):
        for unit in _make_unit_parameters(plain, index):
            inertias = [unit if other == index else nothing for other in range(count)]
            columns.append(
                newton_euler(
                    plain, q, qd, qdd, gravity=gravity, inertias=inertias, joint_effects=False
                )
            )
    rows = [[column[row] for column in columns] for row in range(plain.n)]
    return cast('list[list[AnyScalar | float]]', rows)


def kinetic_energy_regressor(
    plain: Mechanism, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Vector]:
    """Return the slopes of the kinetic energy by the inertial parameters, ten scalars a body.

    In the order of :func:`regressor`; rotors do not count.
    """
    rows = []
    for pose, motion in zip(plain.body_poses, body_velocities(plain, q, qd), strict=True):
        # In the model's body frame: m v^2 / 2 + c . (v x w) + w^T I w / 2.
        twist = locate_velocity(pose.inverse(), motion)
        v, w = twist[:3], twist[3:]
        half = [0.5 * value for value in w]
        turning = [half[0] * w[0], w[0] * w[1], half[1] * w[1]]
        turning += [w[0] * w[2], w[1] * w[2], half[2] * w[2]]
        rows.append([0.5 * dot(v, v), *cross(v, w), *turning])
    return rows


def potential_energy_regressor(
    plain: Mechanism, q: Sequence[Scalar], gravity: Sequence[float]
) -> list[Vector]:
    """Return the slopes of the potential energy by the inertial parameters, ten scalars a body.

    In the order of :func:`regressor`; zero height is the origin of the base link's frame.
    """
    poses = body_poses(plain, q)
    rows = []
    for index, pose_in_body in enumerate(plain.body_poses):
        axes, origin = locate_pose(poses[index], pose_in_body.inverse())
        rows.append([-dot(gravity, vector) for vector in (origin, *axes)] + [0.0] * 6)
    return rows


def _make_unit_parameters(plain: Mechanism, index: int) -> list[tuple[Scalar, Vector, Vector]]:
    """Return each unit parameter of the model's body frame in the chosen frame."""
    to_chosen = plain.body_poses[index].inverse()
    return [move_payload(to_chosen, unit) for unit in np.eye(PARAMETERS_PER_BODY).tolist()]


# ---- the factored form


@dataclass(frozen=True)
class _BodyGeometry:
    """Constants of one body in the frames of the model.

    The joint turns about the last of three axes, which are the model frame's own in another
    order where the joint's axis is one of them.

    Attributes
    ----------
    from_parent : list of 3 rows
        The three axes before the joint moves, in the axes of the parent's model frame (columns).
    to_model : list of 3 rows
        The three axes in the body's model frame (columns).
    position : list of 3 float
        Origin of the model frame in the parent's, before the joint moves [m].
    """

    from_parent: list[list[float]]
    to_model: list[list[float]]
    position: list[float]


@dataclass(frozen=True)
class _BodyMotion:
    """A body's model frame in motion.

    Attributes
    ----------
    axes : list of 3 vectors
        In base axes.
    origin : vector
        In base axes, from the base origin [m].
    rate, rate_change : vector
        Angular velocity and acceleration in the body's own axes.
    acceleration : vector
        Of the origin, in base axes; gravity included.
    fields : list of 3 vectors
        ``A x_k`` for each axis x_k, in base axes: the acceleration of a point one metre along
        it, beyond that of the origin.
    """

    axes: list[Vector]
    origin: Vector
    rate: Vector
    rate_change: Vector
    acceleration: Vector
    fields: list[Vector]


def regressor_factors(
    plain: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gravity: Sequence[float],
) -> tuple[list[Vector], list[Matrix]]:
    """Return twists and wrenches of which the entries of the regressor are products.

    The effort of joint j for parameter k of body i is ``twists[j] . wrenches[i][:, k]`` where
    joint j carries body i (see :func:`supports`), else zero. Everything is in the axes of the
    chosen base frame and about its origin.

    Parameters
    ----------
    plain : Mechanism
        Built with ``regroup=False``.
    q, qd, qdd : sequence of n scalars
    gravity : sequence of 3 float

    Returns
    -------
    twists : list of 6 scalars, one each body
        Velocity of the base origin as a point of the body, then angular velocity, at unit rate
        of the body's own joint.
    wrenches : list of 6 rows of 10 scalars, one each body
        Force, then moment about the base origin, that the motion takes for each unit parameter:
        mass, first moment (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the model's body
        frame, in its axes.
    """
    upward = multiply(plain.base_pose.rotation.T.tolist(), [-value for value in gravity])
    zero: Vector = [0.0, 0.0, 0.0]
    identity: list[Vector] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    motions = {BASE: _BodyMotion(identity, zero, zero, zero, upward, [zero, zero, zero])}
    twists: list[Vector] = []
    wrenches: list[Matrix] = []
    for index, body in enumerate(plain.bodies):
        position: Scalar = body.multiplier * q[body.coordinate] + body.offset
        rate = body.multiplier * qd[body.coordinate]
        acceleration = body.multiplier * qdd[body.coordinate]
        geometry = _compute_geometry(plain, index)
        move = _slide if body.is_prismatic else _turn
        motion, z = move(motions[body.parent], geometry, position, rate, acceleration)
        motions[index] = motion
        # A slide moves every point along z; of a turn about an axis through p the point at the
        # base origin moves by z x (0 - p) = p x z.
        twists.append([*z, *zero] if body.is_prismatic else [*cross(motion.origin, z), *z])
        wrenches.append(_compute_wrenches(motion))
    return twists, wrenches


def regressor_by_factors(
    plain: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gravity: Sequence[float],
) -> list[Vector]:
    """Return the regressor as the products of its factors, entry by entry.

    Arguments and result are those of :func:`regressor`; for many bodies these are fewer
    operations.
    """
    twists, wrenches = regressor_factors(plain, q, qd, qdd, gravity)
    carried = supports(plain)
    rows: list[Vector] = [[0.0] * (PARAMETERS_PER_BODY * len(wrenches)) for _ in range(plain.n)]
    for joint, body in enumerate(plain.bodies):
        row = rows[body.coordinate]
        twist = [body.multiplier * value for value in twists[joint]]
        for other, wrench in enumerate(wrenches):
            if carried[joint, other]:
                for parameter in range(PARAMETERS_PER_BODY):
                    column = [part[parameter] for part in wrench]
                    power = dot(twist[:3], column[:3]) + dot(twist[3:], column[3:])
                    place = PARAMETERS_PER_BODY * other + parameter
                    row[place] = row[place] + power
    return rows


def _turn(
    parent: _BodyMotion, geometry: _BodyGeometry, angle: Scalar, rate: Scalar, acceleration: Scalar
) -> tuple[_BodyMotion, Vector]:
    """Return the motion of a body on a revolute joint, and the joint's axis."""
    c, s = cos(angle), sin(angle)
    first, second, z = _turn_axes(parent.axes, geometry.from_parent)
    axes = [
        add(scale(c, first), scale(s, second)),
        [c * y - s * x for x, y in zip(first, second, strict=True)],
        z,
    ]
    x, y, w_z = _resolve_in_axes(geometry.from_parent, parent.rate)
    w = [c * x + s * y, c * y - s * x, w_z]
    x, y, wd_z = _resolve_in_axes(geometry.from_parent, parent.rate_change)
    # wd + w x z rate + z acceleration, with w of the parent: z x rate adds nothing to itself.
    wd = [c * x + s * y + w[1] * rate, c * y - s * x - w[0] * rate, wd_z + acceleration]
    w = [w[0], w[1], w[2] + rate]
    origin, linear = _carry_point(parent, geometry.position)
    return _compute_motion(axes, geometry, origin, w, wd, linear), z


def _slide(
    parent: _BodyMotion, geometry: _BodyGeometry, shift: Scalar, rate: Scalar, acceleration: Scalar
) -> tuple[_BodyMotion, Vector]:
    """Return the motion of a body on a prismatic joint, and the joint's axis."""
    axes = _turn_axes(parent.axes, geometry.from_parent)
    z = axes[2]
    w = _resolve_in_axes(geometry.from_parent, parent.rate)
    wd = _resolve_in_axes(geometry.from_parent, parent.rate_change)
    origin, linear = _carry_point(parent, geometry.position)
    moved = _compute_motion(axes, geometry, origin, w, wd, linear)
    # a + shift A z + 2 rate w x z + acceleration z; w x (0, 0, 1) = (w_y, -w_x, 0).
    outward = _combine(_get_column(geometry.to_model, 2), moved.fields)
    coriolis = _combine([w[1], -w[0]], axes[:2])
    linear = add(linear, add(scale(shift, outward), scale(rate + rate, coriolis)))
    linear = add(linear, scale(acceleration, z))
    origin = add(origin, scale(shift, z))
    return (
        _BodyMotion(moved.axes, origin, moved.rate, moved.rate_change, linear, moved.fields),
        z,
    )


def _compute_motion(
    axes: list[Vector], geometry: _BodyGeometry, origin: Vector, w: Vector, wd: Vector, a: Vector
) -> _BodyMotion:
    """Return the motion of the model frame from that of the joint's axes."""
    model_axes = [_combine(row, axes) for row in geometry.to_model]
    rate, rate_change = multiply(geometry.to_model, w), multiply(geometry.to_model, wd)
    matrix = angular_matrix(rate, rate_change)
    # A in base axes is R A R^T, and its product with the axes R is R A.
    fields = [_combine(_get_column(matrix, k), model_axes) for k in range(3)]
    return _BodyMotion(model_axes, origin, rate, rate_change, a, fields)


def _carry_point(parent: _BodyMotion, position: Sequence[float]) -> tuple[Vector, Vector]:
    """Return position and acceleration of a point of the parent."""
    return (
        add(parent.origin, _combine(position, parent.axes)),
        add(parent.acceleration, _combine(position, parent.fields)),
    )


def _compute_wrenches(motion: _BodyMotion) -> Matrix:
    """Return force and moment about the base origin for each unit parameter, 6 rows of 10."""
    a, p, axes = motion.acceleration, motion.origin, motion.axes
    # Mass: f = a at the origin.
    columns = [[*a, *cross(p, a)]]
    # First moment along x: f = A x, and the moment x x a about the body's origin.
    for axis, field in zip(axes, motion.fields, strict=True):
        columns.append([*field, *add(cross(axis, a), cross(p, field))])
    # Inertia: no force, and n = I wd + w x I w; with the unit tensors, in the body's axes:
    x, y, z = motion.rate
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    d_x, d_y, d_z = motion.rate_change
    moments = [
        [d_x, xz, -xy],
        [d_y - xz, d_x + yz, xx - yy],
        [-yz, d_y, xy],
        [d_z + xy, zz - xx, d_x - yz],
        [yy - zz, d_z - xy, d_y + xz],
        [yz, -xz, d_z],
    ]
    columns += [[0.0, 0.0, 0.0, *_combine(moment, axes)] for moment in moments]
    return [[column[row] for column in columns] for row in range(6)]


def _combine(factors: Sequence[Scalar], vectors: Sequence[Vector]) -> Vector:
    """Return the sum of factor times vector."""
    result = scale(factors[0], vectors[0])
    for factor, vector in zip(factors[1:], vectors[1:], strict=True):
        result = add(result, scale(factor, vector))
    return result


def _turn_axes(axes: list[Vector], columns: list[list[float]]) -> list[Vector]:
    """Return constant axes, given in a frame by columns, in the axes of the frame's own parent."""
    return [_combine(_get_column(columns, k), axes) for k in range(3)]


def _resolve_in_axes(columns: list[list[float]], vector: Vector) -> Vector:
    """Return a vector in axes that are given by columns."""
    return multiply([_get_column(columns, k) for k in range(3)], vector)


def _get_column(matrix: Sequence[Sequence[Scalar]], column: int) -> Vector:
    return [row[column] for row in matrix]


def _compute_geometry(plain: Mechanism, index: int) -> _BodyGeometry:
    body = plain.bodies[index]
    own = plain.body_poses[index]
    if body.parent == BASE:
        parent_rotation, parent_translation = np.eye(3), np.zeros(3)
    else:
        parent = plain.body_poses[body.parent]
        parent_rotation, parent_translation = parent.rotation, parent.translation
    constant = parent_rotation @ body.constant_rotation
    to_model = _choose_joint_axes(own.rotation)
    # The model's origin lies on the joint's axis: only z of it in the chosen frame is not zero.
    along = -float(own.rotation[:, 2] @ own.translation)
    if body.is_prismatic:
        shift = constant @ (-own.rotation.T @ own.translation)
    else:
        shift = constant[:, 2] * along
    turned = parent_rotation @ np.array(body.position)
    size = np.abs(parent_translation).max() + np.abs(turned).max() + np.abs(shift).max()
    return _BodyGeometry(
        _clean_rounding(constant @ own.rotation.T @ to_model, 1.0),
        _clean_rounding(to_model, 1.0),
        _clean_rounding((parent_translation + turned + shift)[None], float(size))[0],
    )


def _choose_joint_axes(rotation: FloatArray) -> FloatArray:
    """Return three axes of which the last is the joint's, in the model frame (columns)."""
    axis = rotation[:, 2]
    k = int(np.argmax(np.abs(axis)))
    if abs(abs(axis[k]) - 1.0) > _ROUNDING or np.abs(np.delete(axis, k)).max() > _ROUNDING:
        return rotation
    result = np.zeros((3, 3))
    sign = float(np.sign(axis[k]))
    result[(k + 1) % 3, 0], result[(k + 2) % 3, 1], result[k, 2] = 1.0, sign, sign
    return result


def _clean_rounding(values: FloatArray, size: float) -> list[list[float]]:
    """Return rows of numbers without what rounding left of zeros and ones."""
    result = np.where(np.abs(values) <= _ROUNDING * size, 0.0, values)
    if size == 1.0:
        near = np.abs(np.abs(result) - 1.0) <= _ROUNDING
        result = np.where(near, np.sign(result), result)
    rows: list[list[float]] = result.tolist()
    return rows


def supports(mechanism: Mechanism) -> np.typing.NDArray[np.bool_]:
    """Return which joint carries which body.

    Returns
    -------
    array of bool, shape (bodies, bodies)
        Entry (j, i): body j is body i or one of those before it, so body i moves with joint j.
    """
    count = len(mechanism.bodies)
    result = np.eye(count, dtype=bool)
    for index, body in enumerate(mechanism.bodies):
        if body.parent != BASE:
            result[:, index] |= result[:, body.parent]
    return result


def get_coordinate_multipliers(mechanism: Mechanism) -> FloatArray:
    """Return how much each body's joint moves with each coordinate, shape (n, bodies).

    The effort of a coordinate is the sum of its joints' efforts, each times its multiplier.
    """
    result = np.zeros((mechanism.n, len(mechanism.bodies)))
    for index, body in enumerate(mechanism.bodies):
        result[body.coordinate, index] = body.multiplier
    return result


@dataclass(frozen=True)
class RegressorStructure:
    """Which products of twists and wrenches count.

    Attributes
    ----------
    carried : array, shape (b, 10 b)
        One where the joint of the row carries the body of the column, else zero.
    multipliers : array, shape (n, b), or None
        How much each body's joint moves with each coordinate; None for the identity.
    """

    carried: FloatArray
    multipliers: FloatArray | None


def find_structure(mechanism: Mechanism) -> RegressorStructure:
    """Return which products of twists and wrenches count for a mechanism."""
    count = len(mechanism.bodies)
    carried = np.repeat(supports(mechanism), PARAMETERS_PER_BODY, axis=1).astype(np.float64)
    multipliers = get_coordinate_multipliers(mechanism)
    is_identity = multipliers.shape == (count, count) and np.array_equal(
        multipliers, np.eye(count)
    )
    return RegressorStructure(carried, None if is_identity else multipliers)


def assemble_regressor(
    twists: FloatArray, wrenches: FloatArray, structure: RegressorStructure
) -> FloatArray:
    """Return the regressor from its factors.

    Parameters
    ----------
    twists : array, shape (..., b, 6)
        From :func:`regressor_factors`, for any number of samples.
    wrenches : array, shape (..., 6, 10 b)
        The wrenches of all bodies side by side.
    structure : RegressorStructure
        Of the mechanism of the factors.

    Returns
    -------
    array, shape (..., n, 10 b)
    """
    joints: FloatArray = np.matmul(twists, wrenches)
    joints *= structure.carried
    if structure.multipliers is None:
        return joints
    return np.asarray(structure.multipliers @ joints)
