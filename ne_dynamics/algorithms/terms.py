"""The terms of ``tau = M(q) qdd + C(q, qd) qd + g(q)``, derived from the one recursion.

All functions are written over generic scalars. The Coriolis matrix is not among them: the velocity
products are quadratic in qd, so its Christoffel form is half their derivative, which
:mod:`ne_dynamics.codegen.functions` takes from the traced graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import cast

from ne_dynamics.algorithms.loads import move_payload
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import (
    Rotation,
    joint_rotation,
    newton_euler,
    to_parent,
)
from ne_dynamics.algorithms.scalars.elementary import add, cross
from ne_dynamics.algorithms.scalars.scalar import AnyScalar, Matrix, Scalar, Vector
from ne_dynamics.model.robot import BASE, Link

_NO_GRAVITY = (0.0, 0.0, 0.0)


def gravity_torque(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    gravity: Sequence[float],
    *,
    payload: Sequence[Scalar] | None = None,
    tip: Link | None = None,
) -> Vector:
    """Return the efforts that hold the robot at rest: the recursion at zero rates.

    Payload and tip are as for :func:`~ne_dynamics.algorithms.newton_euler.newton_euler`.
    """
    zeros = [0.0] * mechanism.n
    return bias_torque(mechanism, q, zeros, gravity, payload=payload, tip=tip)


def bias_torque(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    gravity: Sequence[float],
    *,
    payload: Sequence[Scalar] | None = None,
    tip: Link | None = None,
) -> Vector:
    """Return ``C(q, qd) qd + g(q)``: the recursion without acceleration and friction."""
    zeros = [0.0] * mechanism.n
    return newton_euler(
        mechanism, q, qd, zeros, gravity=gravity, payload=payload, tip=tip, joint_effects=False
    )


def velocity_torque(
    mechanism: Mechanism, q: Sequence[AnyScalar], qd: Sequence[AnyScalar]
) -> list[AnyScalar | float]:
    """Return Coriolis and centrifugal efforts: the recursion without acceleration and gravity."""
    return cast('list[AnyScalar | float]', bias_torque(mechanism, q, qd, _NO_GRAVITY))


def mass_matrix(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    *,
    payload: Sequence[Scalar] | None = None,
    tip: Link | None = None,
) -> Matrix:
    """Return M(q) with rotor inertia, shape (n, n), symmetric by construction.

    What lies beyond joint j is rigid while only joint j accelerates, so column j is the
    recursion on a chain that ends in one composite body (Walker and Orin 1982, method 3):
    its force and moment under the unit acceleration, handed inward.
    """
    n, bodies = mechanism.n, mechanism.bodies
    rotations = [joint_rotation(body, q[body.coordinate]) for body in bodies]
    shifts = [
        body.multiplier * q[body.coordinate] + body.offset if body.is_prismatic else 0.0
        for body in bodies
    ]
    masses, firsts, seconds = _own_inertias(mechanism, payload, tip)
    matrix: Matrix = [[0.0] * n for _ in range(n)]
    for outer in reversed(range(len(bodies))):
        body = bodies[outer]
        first, second = firsts[outer], seconds[outer]
        force, moment = _accelerate(body.is_prismatic, masses[outer], first, second)
        inner = outer
        while inner != BASE:
            other = bodies[inner]
            effort = force[2] if other.is_prismatic else moment[2]
            effort = (body.multiplier * other.multiplier) * effort
            row, column = sorted((body.coordinate, other.coordinate))
            if row == column and inner != outer:
                # Two bodies of one coordinate (mimic): the pair stands twice in the sum.
                effort = effort + effort
            matrix[row][column] = matrix[row][column] + effort
            if other.parent != BASE:
                force, moment = _carry_inward(
                    force, moment, rotations[inner], other.position, shifts[inner]
                )
            inner = other.parent
        if body.parent != BASE:
            lumped = _move_to_parent(
                masses[outer], first, second, rotations[outer], body.position, shifts[outer]
            )
            _lump((masses, firsts, seconds), body.parent, lumped)
    _mirror(matrix)
    for row, rotor in enumerate(mechanism.reflected_inertia):
        matrix[row][row] = matrix[row][row] + rotor
    _add_drives(mechanism, matrix)
    return matrix


def _mirror(matrix: Matrix) -> None:
    for row in range(len(matrix)):
        for column in range(row):
            matrix[row][column] = matrix[column][row]


def _add_drives(mechanism: Mechanism, matrix: Matrix) -> None:
    """Add the rotor inertia of drives that turn with several coordinates."""
    for drive in mechanism.drives:
        for (row, ratio), (column, second_ratio) in product(drive.ratios, repeat=2):
            added = drive.reflected_inertia * (ratio * second_ratio)
            matrix[row][column] = matrix[row][column] + added


def _own_inertias(
    mechanism: Mechanism, payload: Sequence[Scalar] | None, tip: Link | None
) -> tuple[Vector, list[Vector], Matrix]:
    """Return masses, first moments and second moments of the bodies, the payload in its own."""
    bodies = mechanism.bodies
    masses: Vector = [body.inertia.mass for body in bodies]
    firsts: list[Vector] = [list(body.inertia.first_moment) for body in bodies]
    seconds: Matrix = [list(body.inertia.second_moments) for body in bodies]
    if payload is not None and tip is not None and tip.body != BASE:
        load = move_payload(mechanism.frame_pose(tip), payload)
        _lump((masses, firsts, seconds), tip.body, load)
    return masses, firsts, seconds


def _lump(
    sums: tuple[Vector, list[Vector], Matrix], body: int, more: tuple[Scalar, Vector, Vector]
) -> None:
    """Add mass, first and second moments to those of a body."""
    masses, firsts, seconds = sums
    masses[body] = masses[body] + more[0]
    firsts[body] = add(firsts[body], more[1])
    seconds[body] = [own + other for own, other in zip(seconds[body], more[2], strict=True)]


def _accelerate(
    is_prismatic: bool, mass: Scalar, first: Vector, second: Vector
) -> tuple[Vector, Vector]:
    """Return force and moment of a body under the unit acceleration of its joint."""
    if is_prismatic:
        return [0.0, 0.0, mass], [first[1], -first[0], 0.0]
    return [-first[1], first[0], 0.0], [-second[4], -second[5], second[0] + second[1]]


def _carry_inward(
    force: Vector, moment: Vector, rotation: Rotation, position: Sequence[float], shift: Scalar
) -> tuple[Vector, Vector]:
    """Return a force and a moment at a body's origin as they act at its parent's."""
    moment = [moment[0] - shift * force[1], moment[1] + shift * force[0], moment[2]]
    force = to_parent(rotation, force)
    return force, add(to_parent(rotation, moment), cross(position, force))


def _move_to_parent(
    mass: Scalar,
    first: Vector,
    second: Vector,
    rotation: Rotation,
    position: Sequence[float],
    shift: Scalar,
) -> tuple[Scalar, Vector, Vector]:
    """Return inertial parameters about a body's origin as parameters about its parent's."""
    xx, yy, zz, xy, xz, yz = second
    first = [first[0], first[1], first[2] + mass * shift]
    # The second moments change by the first moment before and after the shift.
    zz = zz + shift * (first[2] + first[2] - mass * shift)
    second = [xx, yy, zz, xy, xz + shift * first[0], yz + shift * first[1]]
    for axis, c, s in reversed(rotation):
        second = _turn_moments(axis, c, s, second)
    first = to_parent(rotation, first)
    x, y, z = position
    moved = [first[0] + mass * x, first[1] + mass * y, first[2] + mass * z]
    xx, yy, zz, xy, xz, yz = second
    # r r^T with r = position + v: the mixed terms, half with the moment before and after.
    return (
        mass,
        moved,
        [
            xx + x * (first[0] + moved[0]),
            yy + y * (first[1] + moved[1]),
            zz + z * (first[2] + moved[2]),
            xy + x * moved[1] + y * first[0],
            xz + x * moved[2] + z * first[0],
            yz + y * moved[2] + z * first[1],
        ],
    )


def _turn_moments(axis: str, c: Scalar, s: Scalar, second: Vector) -> Vector:
    """Return second moments (xx, yy, zz, xy, xz, yz) after a turn about z or x."""
    xx, yy, zz, xy, xz, yz = second
    if axis == 'z':
        mixed = s * (xx - yy) + c * (xy + xy)
        moved = s * mixed
        return [xx - moved, yy + moved, zz, c * mixed - xy, c * xz - s * yz, s * xz + c * yz]
    mixed = s * (yy - zz) + c * (yz + yz)
    moved = s * mixed
    return [xx, yy - moved, zz + moved, c * xy - s * xz, s * xy + c * xz, c * mixed - yz]
