"""Whether the written points keep what was promised, all the way between them.

Nothing of how the motion was found is used: the points are read, joined and checked as the node
does it, poses come from the robot's tree by matrix products, efforts from mass matrix, bias and
friction, and distances from coal, in every millisecond, with half-spaces for the planes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError, TrajectoryError
from ne_dynamics.excitation.clearance import Clearance, Pair, Wall, bound_motion
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.solids import Solid
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.model.rigid_body import FloatArray, cross_matrix
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import (
    DemandLimits,
    DesiredState,
    LimitTolerances,
    Motion,
    TrajectoryPoint,
    Waypoints,
    check_motion,
)

ROUNDING = LimitTolerances(1e-9, 1e-6, 1e-6, 1e-6)
"""Positions [rad or m], and parts of limits, that rounding may take."""


@dataclass(frozen=True, eq=False)
class DenseMotion:
    """A motion in small even steps.

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


def join_points(robot: Robot, names: Sequence[str], points: Sequence[TrajectoryPoint]) -> Motion:
    """Return the motion through points as the node joins them.

    The names are of the joints, in the order of the points. An ExcitationError where the node
    would not take them.
    """
    try:
        waypoints = Waypoints.from_points(robot.joints, names, points)
        return Motion.between(waypoints.in_nanoseconds())
    except TrajectoryError as error:
        raise ExcitationError(f'the node would refuse the motion: {error}') from error


def sample_densely(dynamics: Dynamics, motion: Motion) -> DenseMotion:
    """Return a motion in small steps, with its efforts."""
    times = np.append(np.arange(0.0, motion.end_time, EXCITATION.check_step), motion.end_time)
    state = motion.sample_many(times)
    # Not what is held from its end on.
    for values, last in zip(state, motion.last_moment, strict=True):
        values[-1] = last
    return DenseMotion(times, *state, compute_efforts(dynamics, state))


def compute_efforts(dynamics: Dynamics, state: DesiredState) -> FloatArray:
    """Return ``M(q) qdd + C(q, qd) qd + g(q)`` with friction, shape (N, n)."""
    q, qd, qdd = state
    effort: FloatArray = np.einsum('sij,sj->si', dynamics.mass_matrix(q), qdd)
    effort += dynamics.bias_torque(q, qd)
    effort += dynamics.friction_torque(qd, q=q)
    return effort


def check_limits(dynamics: Dynamics, limits: ExcitationLimits, motion: Motion) -> None:
    """Refuse a motion that leaves limits.

    Raises
    ------
    ExcitationError
        With the joint, what, when and by how much.
    """
    demand = DemandLimits(
        dynamics.robot.joints,
        limits.lower,
        limits.upper,
        limits.velocity,
        limits.acceleration,
        limits.acceleration,
        # Of a joint that stands nothing but its load is asked.
        np.where(limits.moves, limits.effort, np.inf),
        np.full(limits.effort.size, np.inf),
        limits.acceleration,
    )

    def find_efforts(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        return compute_efforts(dynamics, DesiredState(q, qd, qdd))

    found = check_motion(motion, demand, find_efforts, tolerances=ROUNDING)
    if found:
        raise ExcitationError(str(found[0]))
    begin, end = motion.sample(motion.start_time), motion.last_moment
    for order, name in ((1, 'velocity'), (2, 'acceleration')):
        if max(np.abs(state[order]).max() for state in (begin, end)) > EXCITATION.rest_size:
            raise ExcitationError(f'{name}: expected rest at both ends')
    if np.abs(end.position - begin.position).max() > EXCITATION.rest_size:
        raise ExcitationError('position: expected the end where the motion begins')


class Distances:
    """Distances of what is not to touch, along a motion in small steps."""

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
        one, other = pair.first, pair.second

        def measure(row: int) -> float:
            distance, places = np.inf, [self._place(row, solid) for solid in (one, other)]
            for first, second in ((one.hull, other.hull), (one.exact, other.exact)):
                result.clear()
                distance = coal.distance(first, places[0], second, places[1], request, result)
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
            ahead = position[row + 1 : row + 1 + EXCITATION.samples_at_once]
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
                    self._rotations[:, solid.body],
                    len(self._rotations) // EXCITATION.samples_at_once + 1,
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

    Rotations of shape (N, b + 1, 3, 3) and origins of shape (N, b + 1, 3), for positions of shape
    (N, n). The base comes last, so that its index is right.
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
