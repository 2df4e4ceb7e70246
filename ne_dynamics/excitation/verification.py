"""Whether the written points keep what was promised, in every millisecond between them.

Nothing of how the motion was found is used: the points are read and joined as the node does it,
poses come from the robot's tree by matrix products, efforts from mass matrix, bias and friction,
and distances from coal, with half-spaces for the planes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError, TrajectoryError
from ne_dynamics.excitation.clearance import Clearance, Pair, Wall, bound_motion
from ne_dynamics.excitation.limits import MotionLimits
from ne_dynamics.excitation.solids import Solid
from ne_dynamics.model.rigid_body import FloatArray, cross_matrix
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import NANO, DesiredState, Motion, TrajectoryPoint, Waypoints

STEP = 1_000_000
"""Between samples [ns]."""

ROUNDING = 1e-9
"""Part of a limit that rounding may take."""

AT_ONCE = 2000
"""Samples whose distances are bounded at once."""


@dataclass(frozen=True, eq=False)
class DenseMotion:
    """A motion in steps of :data:`STEP`.

    Attributes
    ----------
    times : array, shape (N,)
        [s]
    position, velocity, acceleration, effort : array, shape (N, n)
    """

    times: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray


@dataclass(frozen=True)
class Nearest:
    """Where two things come nearest.

    Attributes
    ----------
    name : str
    distance, margin : float
        That they keep, and that they must [m].
    time : float
        [s]
    """

    name: str
    distance: float
    margin: float
    time: float


def sample_densely(
    dynamics: Dynamics, names: Sequence[str], points: Sequence[TrajectoryPoint]
) -> DenseMotion:
    """Return the motion through points as the node joins them, with its efforts.

    Parameters
    ----------
    dynamics : Dynamics
    names : sequence of str
        Of the joints, in the order of the points.
    points : sequence of TrajectoryPoint

    Raises
    ------
    ExcitationError
        When the node would not take the points.
    """
    try:
        waypoints = Waypoints.from_points(dynamics.robot.joints, names, points)
        waypoints = waypoints.in_nanoseconds()
    except TrajectoryError as error:
        raise ExcitationError(f'the node would refuse the motion: {error}') from error
    motion = Motion.between(waypoints)
    end = int(waypoints.nanoseconds[-1])
    times = np.append(np.arange(0, end, STEP), end) / NANO
    q, qd, qdd = motion.sample_many(times)
    # Not what is held from its end on.
    q[-1], qd[-1], qdd[-1] = motion.last_moment
    return DenseMotion(times, q, qd, qdd, compute_efforts(dynamics, DesiredState(q, qd, qdd)))


def compute_efforts(dynamics: Dynamics, state: DesiredState) -> FloatArray:
    """Return ``M(q) qdd + C(q, qd) qd + g(q)`` with friction, shape (N, n)."""
    q, qd, qdd = state
    effort: FloatArray = np.einsum('sij,sj->si', dynamics.mass_matrix(q), qdd)
    effort += dynamics.bias_torque(q, qd)
    effort += dynamics.friction_torque(qd, q=q)
    return effort


def check_limits(dynamics: Dynamics, limits: MotionLimits, motion: DenseMotion) -> None:
    """Refuse a motion that leaves limits.

    Raises
    ------
    ExcitationError
        With the joint, what, when and by how much.
    """
    kinds = (
        ('position', motion.position, limits.lower, limits.upper),
        ('velocity', motion.velocity, -limits.velocity, limits.velocity),
        ('acceleration', motion.acceleration, -limits.acceleration, limits.acceleration),
        ('effort', motion.effort, -limits.effort, limits.effort),
    )
    for what, values, lower, upper in kinds:
        size = np.maximum(np.abs(lower), np.abs(upper))
        room = ROUNDING * np.where(np.isfinite(size), size, 0.0) + 1e-12
        if what == 'effort':  # of a joint that stands nothing but its load is asked
            upper = np.where(limits.moves, upper, np.inf)
            lower = -upper
        beyond = np.maximum(values - upper, lower - values)
        beyond = np.where(beyond > room, beyond, 0.0)
        if (beyond > 0.0).any() or not np.isfinite(values).all():
            row, column = np.unravel_index(
                int(np.nan_to_num(beyond, nan=1e9).argmax()), beyond.shape
            )
            raise ExcitationError(
                f'joint {dynamics.joint_names[column]!r}: {what}: expected between '
                f'{lower[column]:.6g} and {upper[column]:.6g}, got {values[row, column]:.6g} at '
                f'{motion.times[row]:.3f} s'
            )
    for name, values in (('velocity', motion.velocity), ('acceleration', motion.acceleration)):
        if np.abs(values[[0, -1]]).max() > 1e-6:
            raise ExcitationError(f'{name}: expected rest at both ends')
    if np.abs(motion.position[-1] - motion.position[0]).max() > 1e-6:
        raise ExcitationError('position: expected the end where the motion begins')


class Distances:
    """Distances of what is not to touch, along a motion in small steps.

    Parameters
    ----------
    robot : Robot
    motion : DenseMotion
    """

    def __init__(self, robot: Robot, motion: DenseMotion) -> None:
        self._motion = motion
        self._rotations, self._origins = compute_body_poses(robot, motion.position)

    def check(self, clearance: Clearance) -> tuple[Nearest, ...]:
        """Return how near each pair and each link and plane come; the nearest first.

        Raises
        ------
        ExcitationError
            When a margin is not kept: with the links, when, and the distance.
        """
        pairs = [self._check_pair(each) for each in (*clearance.pairs, *clearance.watched)]
        found = [*pairs, *(self._check_wall(wall) for wall in clearance.walls)]
        return tuple(sorted(found, key=lambda each: each.distance - each.margin))

    def _place(self, row: int, solid: Solid) -> Any:
        import coal

        rotation, origin = self._rotations[row, solid.body], self._origins[row, solid.body]
        return coal.Transform3s(rotation @ solid.rotation, rotation @ solid.translation + origin)

    def _check_pair(self, pair: Pair) -> Nearest:
        import coal

        request, result = coal.DistanceRequest(False, 0.0, 0.0), coal.DistanceResult()
        request.enable_signed_distance = False

        def measure(row: int) -> float:
            distance = np.inf
            for is_exact in (False, True):
                shapes = [s.exact if is_exact else s.hull for s in (pair.first, pair.second)]
                result.clear()
                distance = coal.distance(
                    shapes[0],
                    self._place(row, pair.first),
                    shapes[1],
                    self._place(row, pair.second),
                    request,
                    result,
                )
                if distance > pair.margin:
                    break  # the hull holds the mesh
            return float(distance)

        return self._step_through(pair, measure)

    def _step_through(self, pair: Pair, measure: Any) -> Nearest:
        """Measure where what was measured before does not prove that the margin is kept."""
        position = self._motion.position
        row, best = 0, Nearest(pair.name, np.inf, pair.margin, 0.0)
        while row < len(position):
            distance = measure(row)
            time = float(self._motion.times[row])
            if not distance >= pair.margin or distance <= 0.0:
                raise ExcitationError(
                    f'links {pair.name}: expected a distance of at least {pair.margin:.4f} m, got '
                    f'{distance:.4f} m at {time:.3f} s'
                )
            if distance < best.distance:
                best = Nearest(pair.name, distance, pair.margin, time)
            ahead = position[row + 1 : row + 1 + AT_ONCE]
            if not ahead.size:
                break
            near = np.flatnonzero(
                bound_motion(pair, position[row], ahead) > distance - pair.margin
            )
            row += 1 + (int(near[0]) if near.size else len(ahead))
        return best

    def _check_wall(self, wall: Wall) -> Nearest:
        solid, plane = wall.solid, wall.plane
        heights = np.concatenate(
            [
                (solid.points @ rotations.swapaxes(1, 2) @ plane.normal).min(axis=1)
                for rotations in np.array_split(
                    self._rotations[:, solid.body], len(self._rotations) // AT_ONCE + 1
                )
            ]
        )
        heights += self._origins[:, solid.body] @ plane.normal
        heights -= solid.radius + plane.distance
        row = int(heights.argmin())
        distance, time = float(heights[row]), float(self._motion.times[row])
        if not distance >= wall.margin:
            raise ExcitationError(
                f'link {wall.name}: expected a distance of at least {wall.margin:.4f} m, got '
                f'{distance:.4f} m at {time:.3f} s'
            )
        return Nearest(wall.name, distance, wall.margin, time)


def compute_body_poses(robot: Robot, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the frames of the bodies in the base frame, body by body along the tree.

    Parameters
    ----------
    robot : Robot
    positions : array, shape (N, n)

    Returns
    -------
    rotations : array, shape (N, b + 1, 3, 3)
    origins : array, shape (N, b + 1, 3)
        The base comes last, so that its index is right.
    """
    samples, count = positions.shape[0], len(robot.bodies)
    rotations = np.broadcast_to(np.eye(3), (samples, count + 1, 3, 3)).copy()
    origins = np.zeros((samples, count + 1, 3))
    for index, body in enumerate(robot.bodies):
        before = rotations[:, body.parent]
        origins[:, index] = origins[:, body.parent] + before @ body.pose_in_parent.translation
        fixed = before @ body.pose_in_parent.rotation
        values = body.multiplier * positions[:, body.coordinate] + body.offset
        if body.joint_type.is_prismatic:
            origins[:, index] += values[:, np.newaxis] * (fixed @ body.axis)
            rotations[:, index] = fixed
            continue
        # Rodrigues' formula
        cross = cross_matrix(body.axis)
        turn = (
            np.eye(3)
            + np.sin(values)[:, np.newaxis, np.newaxis] * cross
            + (1.0 - np.cos(values))[:, np.newaxis, np.newaxis] * (cross @ cross)
        )
        rotations[:, index] = fixed @ turn
    return rotations, origins
