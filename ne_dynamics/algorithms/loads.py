"""Payloads and wrenches, expressed in the chosen frame of the body that they act on."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector
from ne_dynamics.model.robot import Transform


def move_wrench(pose: Transform, wrench: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """Return a force and a moment of a frame as they are at a body's origin, in its axes.

    Parameters
    ----------
    pose : Transform
        Pose of the frame in which the wrench is given in the body's frame.
    wrench : sequence of 6 scalars
        Force [N], then moment [N m].

    Returns
    -------
    tuple of 2 vectors
    """
    rows = pose.rotation.tolist()
    force = multiply(rows, wrench[:3])
    moment = multiply(rows, wrench[3:])
    return force, add(moment, cross(pose.translation.tolist(), force))


def move_payload(pose: Transform, payload: Sequence[Scalar]) -> tuple[Scalar, Vector, Vector]:
    """Return mass, first moment and second moments of a payload about a body's origin.

    Parameters
    ----------
    pose : Transform
        Pose of the frame in which the payload is given in the body's frame.
    payload : sequence of 10 scalars
        As :func:`newton_euler` takes it.

    Returns
    -------
    tuple
        Mass, first moment (3), second moments xx, yy, zz, xy, xz, yz, in the body's axes.
    """
    mass, xx, xy, yy, xz, yz, zz = payload[0], *payload[4:]
    rows, (x, y, z) = pose.rotation.tolist(), pose.translation.tolist()
    first = multiply(rows, payload[1:4])
    moved = [first[0] + mass * x, first[1] + mass * y, first[2] + mass * z]
    # The pseudo-inertia J = trace(I)/2 - I keeps its trace in the half sum, which a rotation
    # leaves alone: only I is turned.
    half = 0.5 * (xx + yy + zz)
    tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    turned = [multiply(tensor, row) for row in rows]
    # r r^T with r = position + v: the mixed terms, half with the moment before and after.
    return (
        mass,
        moved,
        [
            half - dot(rows[0], turned[0]) + x * (first[0] + moved[0]),
            half - dot(rows[1], turned[1]) + y * (first[1] + moved[1]),
            half - dot(rows[2], turned[2]) + z * (first[2] + moved[2]),
            x * moved[1] + y * first[0] - dot(rows[0], turned[1]),
            x * moved[2] + z * first[0] - dot(rows[0], turned[2]),
            y * moved[2] + z * first[1] - dot(rows[1], turned[2]),
        ],
    )
