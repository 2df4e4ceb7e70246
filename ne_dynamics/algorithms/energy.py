"""Energies, momenta and the centre of mass over generic scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.coupled_drives import distribute_efforts, inertial_efforts
from ne_dynamics.algorithms.kinematics import body_poses, locate_point
from ne_dynamics.algorithms.link_motion import BodyVelocity, body_velocities
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.mechanism_body import RigidInertia
from ne_dynamics.algorithms.newton_euler import to_parent
from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector
from ne_dynamics.algorithms.terms import gravity_torque
from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import BASE


def generalized_momentum(
    mechanism: Mechanism, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> Vector:
    """Return ``M(q) qd`` with rotor inertia, n scalars [kg m^2/s or kg m/s]."""
    return _pass_momenta(mechanism, q, qd)[0]


def kinetic_energy(mechanism: Mechanism, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Scalar:
    """Return ``qd^T M(q) qd / 2`` with rotor inertia [J]."""
    total: Scalar = 0.0
    for rate, momentum in zip(qd, generalized_momentum(mechanism, q, qd), strict=True):
        total = total + rate * momentum
    return 0.5 * total


def lagrangian_gradient(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    gravity: Sequence[float],
) -> Vector:
    """Return ``dL/dq = C(q, qd)^T qd - g(q)``, n scalars [N m or N].

    The Lagrangian L is kinetic less potential energy; C is the Coriolis matrix of the
    Christoffel symbols, for which ``C^T qd`` is the gradient of the kinetic energy (De Luca and
    Mattone 2003, where it drives the momentum observer).
    """
    slopes = _pass_momenta(mechanism, q, qd)[1]
    holding = gravity_torque(mechanism, q, gravity)
    return [slope - effort for slope, effort in zip(slopes, holding, strict=True)]


def _pass_momenta(
    mechanism: Mechanism, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[Vector, Vector, tuple[Vector, Vector]]:
    """Return the generalized momentum, the gradient of the kinetic energy, and the whole momentum.

    The whole momentum is linear [kg m/s], then angular about the origin of the chosen base frame
    [kg m^2/s], in its axes.

    Velocities go outward, momenta inward. A displacement of joint i turns the velocity of its
    parent against everything beyond it, so with the twist S of the joint, the velocity v of
    the parent and the momentum h of all beyond,

        dT/dq_i = (v x S) . h
    """
    bodies = mechanism.bodies
    motions = body_velocities(mechanism, q, qd)
    forces: list[Vector] = []
    moments: list[Vector] = []
    for motion, body in zip(motions, bodies, strict=True):
        force, moment = _find_momentum(body.inertia, motion)
        forces.append(force)
        moments.append(moment)
    forces.append([0.0, 0.0, 0.0])
    moments.append([0.0, 0.0, 0.0])
    momenta: Vector = [
        inertia * rate for inertia, rate in zip(mechanism.reflected_inertia, qd, strict=True)
    ]
    drives = mechanism.drives
    momenta = distribute_efforts(drives, momenta, inertial_efforts(drives, qd))
    slopes: Vector = [0.0] * mechanism.n
    for index in reversed(range(len(bodies))):
        body, force, moment = bodies[index], forces[index], moments[index]
        w, v = motions[index].brought
        if body.is_prismatic:
            own, slope = force[2], w[1] * force[0] - w[0] * force[1]
        else:
            slope = w[1] * moment[0] - w[0] * moment[1] + v[1] * force[0] - v[0] * force[1]
            own = moment[2]
        place = body.coordinate
        momenta[place] = momenta[place] + body.multiplier * own
        slopes[place] = slopes[place] + body.multiplier * slope
        shift = motions[index].shift
        moment = [moment[0] - shift * force[1], moment[1] + shift * force[0], moment[2]]
        force = to_parent(motions[index].rotation, force)
        moment = add(to_parent(motions[index].rotation, moment), cross(body.position, force))
        # The base stands last, which is where index -1 finds it.
        forces[body.parent] = add(forces[body.parent], force)
        moments[body.parent] = add(moments[body.parent], moment)
    return momenta, slopes, (forces[BASE], moments[BASE])


def _find_momentum(inertia: RigidInertia, motion: BodyVelocity) -> tuple[Vector, Vector]:
    """Return linear and angular momentum of a body, about the origin of its frame."""
    w, v = motion.angular, motion.linear
    xx, yy, zz, xy, xz, yz = inertia.second_moments
    first = inertia.first_moment
    force = add(scale(inertia.mass, v), cross(w, first))
    turning = [
        (yy + zz) * w[0] - xy * w[1] - xz * w[2],
        (xx + zz) * w[1] - xy * w[0] - yz * w[2],
        (xx + yy) * w[2] - xz * w[0] - yz * w[1],
    ]
    return force, add(turning, cross(first, v))


def _compute_first_moment(mechanism: Mechanism, q: Sequence[Scalar]) -> Vector:
    """Return the sum of mass times position in the base link's frame [kg m]."""
    total: Vector = [0.0, 0.0, 0.0]
    for index, pose in body_poses(mechanism, q).items():
        if index == BASE:
            continue
        inertia = mechanism.bodies[index].inertia
        zero: Vector = [0.0, 0.0, 0.0]
        turned = locate_point((pose[0], zero), inertia.first_moment)
        total = add(total, add(turned, scale(inertia.mass, pose[1])))
    return total


def potential_energy(
    mechanism: Mechanism, q: Sequence[Scalar], gravity: Sequence[float]
) -> Scalar:
    """Return the energy of the moving links in gravity [J], zero at the base frame's origin.

    Parameters
    ----------
    mechanism : Mechanism
        With each link's own inertial parameters: regrouping shifts the energy by a constant.
    q : sequence of n scalars
    gravity : sequence of 3 float
        In the base link's axes [m/s^2].
    """
    return -dot(gravity, _compute_first_moment(mechanism, q))


def center_of_mass(mechanism: Mechanism, q: Sequence[Scalar]) -> Vector:
    """Return the centre of mass of the moving links in the base link's frame [m].

    Raises
    ------
    ModelError
        When nothing that moves has a mass.
    """
    mass: Scalar = 0.0
    for body in mechanism.bodies:
        mass = mass + body.inertia.mass
    if isinstance(mass, float) and mass == 0.0:
        raise ModelError(f'center of mass: expected moving links with mass, got {mass:g} kg')
    return [moment / mass for moment in _compute_first_moment(mechanism, q)]


def centroidal_momentum(mechanism: Mechanism, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Vector:
    """Return the momentum of the moving links, 6 scalars in the base link's axes.

    Linear [kg m/s], then angular about their centre of mass [kg m^2/s]; rotors do not count.

    Parameters
    ----------
    mechanism : Mechanism
        With each link's own inertial parameters: regrouping moves mass.
    q, qd : sequence of n scalars

    Raises
    ------
    ModelError
        When nothing that moves has a mass.
    """
    _, _, (force, moment) = _pass_momenta(mechanism, q, qd)
    rows = mechanism.base_pose.rotation.tolist()
    linear, angular = multiply(rows, force), multiply(rows, moment)
    center = center_of_mass(mechanism, q)
    origin = mechanism.base_pose.translation.tolist()
    arm = [a - b for a, b in zip(origin, center, strict=True)]
    return [*linear, *add(angular, cross(arm, linear))]
