"""The recursive Newton-Euler inverse dynamics, written once over generic scalars.

Luh, Walker and Paul's two passes (1980; equations 3.15-3.21 of Turney, Mudge and Lee 1980) in the
arrangement that needs the fewest operations when it is traced: the angular terms of a link are
gathered in the matrix ``A = [wd]x + [w]x [w]x``, which gives the acceleration of any point of the
link as ``a + A r``, and the mass distribution enters by its moments about the frame's origin, so
that force and moment are

    f = m a + A (m c)                n = vee(A J - (A J)^T) + (m c) x a

with the pseudo-inertia J (integral of r r^T over the mass). The scalars may be floats, NumPy
arrays (one entry a sample) or symbols; constants are always floats, so that with symbols zeros
and ones fold away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ne_dynamics.algorithms.coupled_drives import distribute_efforts, inertial_efforts
from ne_dynamics.algorithms.joint_friction import friction_efforts
from ne_dynamics.algorithms.loads import move_payload, move_wrench
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.mechanism_body import MechanismBody
from ne_dynamics.algorithms.scalars.elementary import add, cos, cross, label, multiply, sin
from ne_dynamics.algorithms.scalars.scalar import Matrix, Scalar, Vector
from ne_dynamics.model.robot import BASE, Link, Transform

Rotation = list[tuple[str, Scalar, Scalar]]
"""Elementary rotations (axis, cosine, sine), applied right to left from child to parent."""


def joint_rotation(body: MechanismBody, q: Scalar) -> Rotation:
    """Return the rotation of a body's frame in its parent's: Rz(turn) Rx(twist) Rz(angle)."""
    turn, twist, spin = body.turn, body.twist, body.spin
    if body.is_prismatic:
        return [('z', *turn), ('x', *twist), ('z', *spin)]
    angle = q if body.multiplier == 1.0 else body.multiplier * q
    if body.offset != 0.0:
        angle = angle + body.offset
    if spin[0] != 0.0 and spin[1] != 0.0:
        angle = angle + _compute_angle(spin)
        return [('z', *turn), ('x', *twist), ('z', cos(angle), sin(angle))]
    # A quarter turn swaps sine and cosine and costs nothing.
    cosine, sine = cos(angle), sin(angle)
    if spin[1] == 0.0:
        cosine, sine = spin[0] * cosine, spin[0] * sine
    else:
        cosine, sine = -(spin[1] * sine), spin[1] * cosine
    return [('z', *turn), ('x', *twist), ('z', cosine, sine)]


def _compute_angle(pair: tuple[float, float]) -> float:
    return math.atan2(pair[1], pair[0])


def _turn_vector(axis: str, c: Scalar, s: Scalar, v: Sequence[Scalar]) -> Vector:
    if axis == 'z':
        return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]
    return [v[0], c * v[1] - s * v[2], s * v[1] + c * v[2]]


def to_parent(rotation: Rotation, vector: Sequence[Scalar]) -> Vector:
    """Return a vector of the child's axes in the parent's axes."""
    result = list(vector)
    for axis, c, s in reversed(rotation):
        result = _turn_vector(axis, c, s, result)
    return result


def to_child(rotation: Rotation, vector: Sequence[Scalar]) -> Vector:
    """Return a vector of the parent's axes in the child's axes."""
    result = list(vector)
    for axis, c, s in rotation:
        result = _turn_vector(axis, c, -s, result)
    return result


def angular_matrix(w: Sequence[Scalar], wd: Sequence[Scalar]) -> Matrix:
    """Return ``A = [wd]x + [w]x [w]x`` as rows."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return [
        [-(yy + zz), xy - wd[2], xz + wd[1]],
        [xy + wd[2], -(xx + zz), yz - wd[0]],
        [xz - wd[1], yz + wd[0], -(xx + yy)],
    ]


def _compute_moment(matrix: Matrix, w: Sequence[Scalar], moments: Sequence[Scalar]) -> Vector:
    """Return vee(A J - (A J)^T) for J given by its moments xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = moments
    w_xx, w_yy, w_zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    return [
        matrix[2][1] * yy
        - matrix[1][2] * zz
        + (w_zz - w_yy) * yz
        + matrix[2][0] * xy
        - matrix[1][0] * xz,
        matrix[0][2] * zz
        - matrix[2][0] * xx
        + (w_xx - w_zz) * xz
        + matrix[0][1] * yz
        - matrix[2][1] * xy,
        matrix[1][0] * xx
        - matrix[0][1] * yy
        + (w_yy - w_xx) * xy
        + matrix[1][2] * xz
        - matrix[0][2] * yz,
    ]


def newton_euler(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    base_motion: Sequence[Scalar] | None = None,
    wrench: Sequence[Scalar] | None = None,
    payload: Sequence[Scalar] | None = None,
    external_wrenches: Sequence[Scalar] | None = None,
    tip: Link | None = None,
    inertias: Sequence[tuple[Scalar, Sequence[Scalar], Sequence[Scalar]]] | None = None,
    joint_effects: bool = True,
    friction_qd: Sequence[Scalar] | None = None,
    smoothing_velocity: Scalar | None = None,
    wrenches: list[tuple[Vector, Vector]] | None = None,
) -> Vector:
    """Return the joint efforts that a motion takes.

    Parameters
    ----------
    mechanism : Mechanism
    q, qd, qdd : sequence of n scalars
        Joint position [rad or m], velocity and acceleration.
    gravity : sequence of 3 scalars
        Acceleration of gravity in the base link's axes [m/s^2], e.g. (0, 0, -9.80665). It enters
        as an upward acceleration of the base.
    base_motion : sequence of 9 scalars, optional
        Angular velocity [rad/s], angular acceleration [rad/s^2] and linear acceleration [m/s^2]
        (without gravity) of the base link's frame, in its axes.
    wrench : sequence of 6 scalars, optional
        Force [N], then moment [N m] about the tip frame's origin, which the tip link exerts on
        the environment, in the tip frame's axes: f_{n+1}, n_{n+1}.
    payload : sequence of 10 scalars, optional
        Inertial parameters of a load rigidly attached to the tip link's body, about the tip
        frame's origin in its axes: mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz,
        Izz [kg m^2].
    external_wrenches : sequence of 6 scalars each body, optional
        Force [N], then moment [N m], which the environment exerts on each body, at the origin of
        its frame in the model and in the axes of that: the opposite sign of `wrench`.
    tip : Link, optional
        Where the wrench acts and whose frame the payload is given in; needed with either.
    inertias : sequence of (mass, first moment, second moments), optional
        One each body, in place of the mechanism's (for the regressor).
    joint_effects : bool
        Whether friction and rotor inertia are included.
    friction_qd : sequence of n scalars, optional
        Velocities for which friction counts, in place of `qd`; its load stays that at `qd`.
    smoothing_velocity : scalar, optional
        As :func:`~.joint_friction.compute_friction` takes it.
    wrenches : list, optional
        Empty; is given the force [N] and the moment [N m], about the origin of its chosen frame
        and in its axes, onto each body through its joint. For a mechanism that is not regrouped.

    Returns
    -------
    list of n scalars
        Efforts [N m or N], positive along the joint's positive direction.
    """
    if tip is None and not (wrench is None and payload is None):
        raise TypeError('newton_euler: a wrench or a payload needs the tip it belongs to')
    w_base, wd_base, a_base = _compute_base_state(mechanism, gravity, base_motion)
    matrix_base = angular_matrix(w_base, wd_base)
    count = len(mechanism.bodies)
    rotations: list[Rotation] = []
    w: list[Vector] = []
    matrices: list[Matrix] = []
    wds: list[Vector] = []
    forces: list[Vector] = []
    moments: list[Vector] = []
    accelerations: list[Vector] = []
    displacements: Vector = []
    for index, body in enumerate(mechanism.bodies):
        name = str(index + 1)
        rate = body.multiplier * qd[body.coordinate]
        acceleration = body.multiplier * qdd[body.coordinate]
        rotation = joint_rotation(body, q[body.coordinate])
        rotations.append(rotation)
        parent = body.parent
        if parent == BASE:
            w_parent, wd_parent, a_parent, matrix = w_base, wd_base, a_base, matrix_base
        else:
            w_parent, wd_parent = w[parent], wds[parent]
            a_parent, matrix = accelerations[parent], matrices[parent]
        # (3.15), (3.16): the rate is added after turning into the link's own axes.
        w_link = to_child(rotation, w_parent)
        wd_link = to_child(rotation, wd_parent)
        # (3.17): the origin's acceleration, first as a point of the parent.
        a_link = to_child(rotation, add(a_parent, multiply(matrix, body.position)))
        displacement: Scalar = 0.0
        if body.is_prismatic:
            displacement = body.multiplier * q[body.coordinate] + body.offset
        else:
            wd_link = [
                wd_link[0] + w_link[1] * rate,
                wd_link[1] - w_link[0] * rate,
                wd_link[2] + acceleration,
            ]
            w_link = [w_link[0], w_link[1], w_link[2] + rate]
        w_link = label(w_link, 'w' + name)
        wd_link = label(wd_link, 'wd' + name)
        matrix = angular_matrix(w_link, wd_link)
        if body.is_prismatic:
            twice = rate + rate
            a_link = [
                a_link[0] + matrix[0][2] * displacement + w_link[1] * twice,
                a_link[1] + matrix[1][2] * displacement - w_link[0] * twice,
                a_link[2] + matrix[2][2] * displacement + acceleration,
            ]
        a_link = label(a_link, 'a' + name)
        w.append(w_link)
        wds.append(wd_link)
        matrices.append(matrix)
        accelerations.append(a_link)
        displacements.append(displacement)
        if inertias is None:
            inertia = body.inertia
            mass: Scalar = inertia.mass
            first: Sequence[Scalar] = inertia.first_moment
            second: Sequence[Scalar] = inertia.second_moments
        else:
            mass, first, second = inertias[index]
        if payload is not None and tip is not None and tip.body == index:
            load = move_payload(mechanism.frame_pose(tip), payload)
            mass, first = mass + load[0], add(first, load[1])
            second = [own + more for own, more in zip(second, load[2], strict=True)]
        # (3.18), (3.19) with the moments about the frame's origin.
        forces.append(add(multiply(matrix, first), [mass * value for value in a_link]))
        moments.append(add(_compute_moment(matrix, w_link, second), cross(first, a_link)))

    exerted: list[tuple[int, Transform, Sequence[Scalar]]] = []
    if wrench is not None and tip is not None and tip.body != BASE:
        exerted.append((tip.body, mechanism.frame_pose(tip), wrench))
    if external_wrenches is not None:
        for index, pose in enumerate(mechanism.body_poses):
            given = external_wrenches[6 * index : 6 * index + 6]
            exerted.append((index, pose.inverse(), [-value for value in given]))
    for index, pose, given in exerted:
        force, moment = move_wrench(pose, given)
        forces[index] = add(forces[index], force)
        moments[index] = add(moments[index], moment)

    # (3.20), (3.21): inward; each link hands its force and moment to its parent.
    efforts: Vector = [0.0] * mechanism.n
    for index in reversed(range(count)):
        body = mechanism.bodies[index]
        name = str(index + 1)
        force = label(forces[index], 'f' + name)
        moment = label(moments[index], 'n' + name)
        effort = force[2] if body.is_prismatic else moment[2]
        efforts[body.coordinate] = efforts[body.coordinate] + body.multiplier * effort
        if body.parent == BASE:
            continue
        if body.is_prismatic:
            displacement = displacements[index]
            moment = [
                moment[0] - displacement * force[1],
                moment[1] + displacement * force[0],
                moment[2],
            ]
        force = to_parent(rotations[index], force)
        moment = to_parent(rotations[index], moment)
        forces[body.parent] = add(forces[body.parent], force)
        moments[body.parent] = add(moments[body.parent], add(moment, cross(body.position, force)))
    if wrenches is not None:
        wrenches.extend(zip(forces, moments, strict=True))
    if joint_effects:
        loads = None
        if any(friction.depends_on_load for friction in mechanism.friction):
            loads = newton_euler(
                mechanism,
                q,
                qd,
                [0.0] * mechanism.n,
                gravity=gravity,
                base_motion=base_motion,
                wrench=wrench,
                payload=payload,
                external_wrenches=external_wrenches,
                tip=tip,
                inertias=inertias,
                joint_effects=False,
            )
        efforts = [
            effort + inertia * acceleration + friction
            for effort, inertia, acceleration, friction in zip(
                efforts,
                mechanism.reflected_inertia,
                qdd,
                friction_efforts(
                    mechanism,
                    qd if friction_qd is None else friction_qd,
                    loads,
                    smoothing_velocity,
                ),
                strict=True,
            )
        ]
        drives = mechanism.drives
        efforts = distribute_efforts(drives, efforts, inertial_efforts(drives, qdd))
    return efforts


def _compute_base_state(
    mechanism: Mechanism, gravity: Sequence[Scalar], base_motion: Sequence[Scalar] | None
) -> tuple[Vector, Vector, Vector]:
    """Return the motion of the chosen base frame, in its axes."""
    to_chosen = mechanism.base_pose.rotation.T.tolist()
    if base_motion is None:
        upward = multiply(to_chosen, [-value for value in gravity])
        return [0.0] * 3, [0.0] * 3, upward
    arm = mechanism.base_pose.translation.tolist()
    w, wd = list(base_motion[:3]), list(base_motion[3:6])
    linear = [a - g for a, g in zip(base_motion[6:], gravity, strict=True)]
    linear = add(linear, multiply(angular_matrix(w, wd), arm))
    return multiply(to_chosen, w), multiply(to_chosen, wd), multiply(to_chosen, linear)
