"""What is wrong or doubtful in a robot that could be loaded.

Findings have a severity: an ``error`` makes the dynamics wrong or impossible to compute, a
``warning`` is probably not what was meant, an ``info`` is worth knowing. Links without inertial
that are fixed to others (tool frames, sensor frames) are usual and no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.rigid_body import (
    FloatArray,
    Transform,
    axis_angle_rotation,
    cross_matrix,
    find_principal,
)
from ne_dynamics.model.robot import BASE, Body, Joint, JointType, Link, ModelFinding, Robot
from ne_dynamics.tables import align_lines

SEVERITIES = ('error', 'warning', 'info')
"""From the worst on."""

ROUNDING = 1e-3
"""Part of the largest principal moment that the rounding of printed figures explains."""

MEASUREMENT = 0.1
"""Part of the largest principal moment that the error of a measured tensor explains."""

_SINGULAR = 1e-10
_SEED = 20240229
_CONFIGURATIONS = 3


def check_robot(robot: Robot) -> tuple[ModelFinding, ...]:
    """List findings about a robot, with those of its loader.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    tuple of ModelFinding
        The worst first; findings of one severity in the order of the robot.
    """
    with np.errstate(all='ignore'):
        findings = [
            *robot.findings,
            *_check_mass_matrix(robot),
            *(finding for link in robot.links for finding in _check_link(robot, link)),
            *(finding for joint in robot.joints for finding in _check_joint(joint)),
            *(finding for joint in robot.joints for finding in _check_rotor(robot, joint)),
            *(finding for joint in robot.joints for finding in _check_friction(joint)),
        ]
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def _check_link(robot: Robot, link: Link) -> Iterator[ModelFinding]:
    element = f'link {link.name!r}'
    if not link.has_inertial:
        yield from _check_missing_inertial(robot, link, element)
        return
    mass = link.inertia.mass
    if link.name == robot.base_link and mass != 0.0:
        yield ModelFinding(
            'info',
            'root-inertia',
            element,
            f'the base link has a mass of {mass:g} kg: without effect here, because it does not '
            'move, and other parsers drop it',
        )
    if mass < 0.0:
        yield ModelFinding(
            'error', 'mass-negative', element, f'expected a mass > 0 kg, got {mass:g} kg'
        )
    elif mass == 0.0:
        # Explicit zeros are a habit in frames that are fixed to something heavy.
        frame = link.inertia.is_zero and (
            link.body == BASE or not robot.bodies[link.body].inertia.is_zero
        )
        yield ModelFinding(
            'info' if frame else 'warning',
            'mass-zero',
            element,
            'expected a mass > 0 kg, got 0 kg',
        )
    yield from _check_tensor(link, element)
    yield from _check_size(robot, link, element)


def _check_missing_inertial(robot: Robot, link: Link, element: str) -> Iterator[ModelFinding]:
    """Report a link that its joint moves, and that nothing fixed to it makes heavy."""
    if link.body == BASE or robot.bodies[link.body].name != link.name:
        return
    if robot.bodies[link.body].inertia.is_zero:
        yield ModelFinding(
            'warning',
            'inertial-missing',
            element,
            f'expected mass and inertia of a link that joint '
            f'{robot.bodies[link.body].joint_name!r} moves, got none: it counts as massless',
        )


def impossible_inertia(tensor: FloatArray) -> str:
    """Return why no body has an inertia tensor about its centre of mass; '' when one may.

    Parameters
    ----------
    tensor : array, shape (3, 3)
        Symmetric [kg m^2].
    """
    smallest, middle, largest = find_principal(tensor)[0].tolist()
    shown = f'{smallest:.4g}, {middle:.4g}, {largest:.4g} kg m^2'
    if smallest < -_SINGULAR * largest or largest < 0.0:
        return f'expected principal moments of inertia >= 0, got {shown}'
    if largest - middle - smallest > MEASUREMENT * largest:
        return (
            'expected every principal moment of inertia <= the sum of the other two, got '
            f'{shown}: no rigid body has them'
        )
    return ''


def _check_tensor(link: Link, element: str) -> Iterator[ModelFinding]:
    moments, rows = find_principal(link.inertia.inertia_about_com)
    smallest, middle, largest = moments.tolist()
    if link.inertia.mass == 0.0 and smallest == largest == 0.0:
        return
    # Zero is what rounding leaves of the tensor, or a radius of gyration below a micrometre.
    zero = max(_SINGULAR * max(-smallest, largest), 1e-12 * abs(link.inertia.mass))
    axes = ', '.join(f'({x:.3g} {y:.3g} {z:.3g})' for x, y, z in np.round(rows, 4) + 0.0)
    shown = f'{smallest:.4g}, {middle:.4g}, {largest:.4g} kg m^2 about {axes} of the link frame'
    if smallest < -zero:
        yield ModelFinding(
            'error',
            'inertia-not-positive-definite',
            element,
            f'expected principal moments of inertia > 0, got {shown}',
        )
        return
    if smallest <= zero:
        yield ModelFinding(
            'warning',
            'inertia-not-positive-definite',
            element,
            f'expected principal moments of inertia > 0, got {shown} (a point or a line)',
        )
    excess = largest - middle - smallest
    if excess > max(ROUNDING * largest, zero):
        # What is fixed to the base moves nowhere: no dynamics is wrong there.
        measured = excess <= MEASUREMENT * largest or link.body == BASE
        yield ModelFinding(
            'warning' if measured else 'error',
            'inertia-triangle-inequality',
            element,
            'expected every principal moment of inertia <= the sum of the other two, '
            f'got {shown}: no rigid body has them',
        )


def _check_size(robot: Robot, link: Link, element: str) -> Iterator[ModelFinding]:
    """Report figures that look like millimetres."""
    reach = max(1.0, _reach(robot))
    distance = float(np.linalg.norm(link.inertia.center_of_mass))
    if distance > reach:
        yield ModelFinding(
            'warning',
            'center-of-mass-far',
            element,
            f'expected a centre of mass within {reach:.3g} m of the link frame, got '
            f'{distance:.4g} m (millimetres?)',
        )
    if link.inertia.mass > 0.0:
        largest = link.inertia.principal_moments[-1]
        radius = float(np.sqrt(max(largest, 0.0) / link.inertia.mass))
        if radius > reach:
            yield ModelFinding(
                'warning',
                'inertia-large',
                element,
                f'expected a radius of gyration below {reach:.3g} m, got {radius:.4g} m for '
                f'{link.inertia.mass:g} kg',
            )


def _reach(robot: Robot) -> float:
    """Return the length of all bodies laid end to end [m]."""
    bodies = sum(np.linalg.norm(body.pose_in_parent.translation) for body in robot.bodies)
    links = max(np.linalg.norm(link.pose_in_body.translation) for link in robot.links)
    return float(bodies + links)


def _check_joint(joint: Joint) -> Iterator[ModelFinding]:
    element, length = f'joint {joint.name!r}', joint.type.position_unit
    second = f'{length}/s^2'
    for word, limit, unit, consequence in (
        ('an effort', joint.effort_limit, joint.type.effort_unit, ': nothing may move this joint'),
        ('a velocity', joint.velocity_limit, f'{length}/s', ''),
        ('an acceleration', joint.acceleration_limit, second, ': it may not start to move'),
        ('a deceleration', joint.deceleration_limit, second, ': it may not stop'),
        ('a jerk', joint.jerk_limit, f'{length}/s^3', ': its acceleration may not change'),
    ):
        if limit <= 0.0:
            is_negative = limit < 0.0
            yield ModelFinding(
                'error' if is_negative else 'warning',
                f'{word.split()[1]}-limit-{"negative" if is_negative else "zero"}',
                element,
                f'expected {word} limit > 0 {unit}, got {limit:g} {unit}'
                + ('' if is_negative else consequence),
            )
    if np.isinf(joint.effort_limit):
        unit = joint.type.effort_unit
        yield ModelFinding(
            'warning',
            'effort-limit-missing',
            element,
            f'expected an effort limit [{unit}], got none: commands are not clamped',
        )
    if joint.lower == joint.upper:
        yield ModelFinding(
            'warning',
            'position-limits-empty',
            element,
            f'expected lower < upper, got {joint.lower:g} for both: the joint cannot move',
        )
    elif joint.type is not JointType.CONTINUOUS and np.isinf(joint.upper - joint.lower):
        yield ModelFinding(
            'info',
            'position-limits-missing',
            element,
            f'expected lower and upper position limits of a {joint.type.value} joint, got '
            f'{joint.lower:g} and {joint.upper:g}',
        )


def _check_rotor(robot: Robot, joint: Joint) -> Iterator[ModelFinding]:
    element = f'joint {joint.name!r}'
    if joint.type.is_prismatic or joint.reflected_inertia == 0.0:
        return
    # All of the robot at the end of its reach, and a hundred times that: only a unit does that.
    mass = sum(max(body.inertia.mass, 0.0) for body in robot.bodies)
    largest = 100.0 * mass * max(1.0, _reach(robot)) ** 2
    if joint.reflected_inertia > largest:
        yield ModelFinding(
            'warning',
            'rotor-inertia-large',
            element,
            f'expected a rotor that adds less than {largest:.3g} kg m^2 to a robot of {mass:.3g} '
            f'kg, got {joint.reflected_inertia:.4g} kg m^2 (g cm^2?)',
        )


def _check_friction(joint: Joint) -> Iterator[ModelFinding]:
    """Report friction that drives, or that is not what its names say."""
    element = f'joint {joint.name!r}'
    unit = joint.type.effort_unit
    friction, coulomb = joint.friction, joint.coulomb_friction
    static = coulomb if friction.static_friction is None else friction.static_friction
    if static < coulomb:
        yield ModelFinding(
            'warning',
            'static-friction-small',
            element,
            f'expected a static friction of at least the Coulomb friction, {coulomb:g} {unit}, '
            f'got {static:g} {unit}',
        )
    if abs(friction.friction_asymmetry) > min(static, coulomb):
        yield ModelFinding(
            'warning',
            'friction-drives',
            element,
            'expected an asymmetry of friction of at most the Coulomb and the static friction, '
            f'{min(static, coulomb):g} {unit}, got {friction.friction_asymmetry:g} {unit}: '
            'friction drives in one direction',
        )
    if friction.load_coefficient >= 1.0:
        yield ModelFinding(
            'warning',
            'load-coefficient-large',
            element,
            'expected a load coefficient below 1, got '
            f'{friction.load_coefficient:g}: the load would hold itself',
        )
    if 0.0 < joint.velocity_limit <= friction.smoothing_velocity:
        yield ModelFinding(
            'warning',
            'smoothing-velocity-large',
            element,
            f'expected a smoothing velocity below the velocity limit, {joint.velocity_limit:g}, '
            f'got {friction.smoothing_velocity:g}: Coulomb friction is never reached',
        )


def _check_mass_matrix(robot: Robot) -> Iterator[ModelFinding]:
    """Report joints whose acceleration no torque determines."""
    random = np.random.default_rng(_SEED)
    worst = np.inf
    culprits: list[str] = []
    for _ in range(_CONFIGURATIONS):
        matrix = _mass_matrix(robot, random.uniform(-1.0, 1.0, robot.n))
        if matrix is None:
            yield ModelFinding(
                'error',
                'mass-matrix-not-finite',
                'robot',
                'expected a finite mass matrix, got overflow: masses or lengths are too large',
            )
            return
        diagonal = np.diagonal(matrix)
        least = _SINGULAR**1.5 * float(np.abs(matrix).max(initial=0.0))
        without = [robot.joint_names[i] for i in np.flatnonzero(diagonal <= least)]
        if without:
            yield ModelFinding(
                'error',
                'mass-matrix-singular',
                'robot',
                'expected every joint to move some inertia, got none at '
                f'{", ".join(without)}: no acceleration follows from a torque there',
            )
            return
        scale = 1.0 / np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
        if values[0] < worst:
            worst = float(values[0])
            shares = np.abs(vectors[:, 0])
            culprits = [robot.joint_names[i] for i in np.flatnonzero(shares > 0.3 * shares.max())]
    if worst <= _SINGULAR:
        yield ModelFinding(
            'error',
            'mass-matrix-singular',
            'robot',
            'expected a positive definite mass matrix, got one that is singular or indefinite '
            f'in the joints {", ".join(culprits)}: their accelerations do not follow from torques',
        )


def _mass_matrix(robot: Robot, position: FloatArray) -> FloatArray | None:
    """Return the mass matrix, shape (n, n); None when it overflows."""
    try:
        matrix = _kinetic_energy_matrix(robot, position)
    except ModelError:
        return None
    return matrix if np.isfinite(matrix).all() else None


def _kinetic_energy_matrix(robot: Robot, position: FloatArray) -> FloatArray:
    """Return the mass matrix from the kinetic energy of every body, shape (n, n).

    Sum of m Jv^T Jv + Jw^T I Jw, with Jacobians of the centres of mass in base axes: slow, and
    nothing else is needed for it.
    """
    matrix = np.diag([joint.reflected_inertia for joint in robot.joints]) + robot.coupled_inertia
    poses: list[Transform] = []
    columns: list[tuple[FloatArray, FloatArray]] = []
    for index, body in enumerate(robot.bodies):
        pose = body.pose_in_parent @ _motion(body, float(position[body.coordinate]))
        if body.parent != BASE:
            pose = poses[body.parent] @ pose
        poses.append(pose)
        # Twist of the base frame's origin for a unit speed of the joint.
        axis = pose.rotation @ body.axis
        if body.joint_type.is_prismatic:
            columns.append((np.zeros(3), axis))
        else:
            columns.append((axis, np.cross(pose.translation, axis)))
        inertia = body.inertia.transformed(pose)
        angular = np.zeros((3, robot.n))
        linear = np.zeros((3, robot.n))
        ancestor = index
        while ancestor != BASE:
            mover = robot.bodies[ancestor]
            angular[:, mover.coordinate] += mover.multiplier * columns[ancestor][0]
            linear[:, mover.coordinate] += mover.multiplier * columns[ancestor][1]
            ancestor = mover.parent
        at_com = linear - cross_matrix(inertia.center_of_mass) @ angular
        matrix += inertia.mass * at_com.T @ at_com
        matrix += angular.T @ inertia.inertia_about_com @ angular
    return matrix


def _motion(body: Body, coordinate: float) -> Transform:
    position = body.multiplier * coordinate + body.offset
    if body.joint_type.is_prismatic:
        return Transform.from_translation(body.axis * position)
    return Transform.from_rotation(axis_angle_rotation(body.axis, position))


def describe_findings(findings: Sequence[ModelFinding], counts: Mapping[str, int]) -> list[str]:
    """Return findings, and how many there are by their severity, in lines."""
    rows = [
        [each.severity, each.element, each.code, ' '.join(each.message.split())]
        for each in findings
    ]
    words = zip(('error', 'warning', 'remark'), counts.values(), strict=True)
    return [
        *[''] * bool(rows),
        *(f'  {line}' for line in align_lines([], rows, is_text=True)),
        '',
        '  ' + ', '.join(f'{count} {word}{"s" * (count != 1)}' for word, count in words),
    ]
