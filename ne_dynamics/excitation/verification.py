"""Whether the written points keep what was promised, all the way between them.

Nothing of how the motion was found is used: the points are read, joined and checked as the node
does it, in every millisecond, and where the links are nested their meshes tell the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError, TrajectoryError
from ne_dynamics.excitation.body_frames import BodyFrames
from ne_dynamics.excitation.clearance import Clearance, Pair, PairDistances, Wall
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion import (
    DemandLimits,
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
    return DenseMotion(times, *state, dynamics.inverse_dynamics(*state))


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

    found = check_motion(motion, demand, dynamics.inverse_dynamics, tolerances=ROUNDING)
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

    def __init__(self, dynamics: Dynamics, motion: DenseMotion) -> None:
        self._motion, self._count = motion, 2000
        self._frames = [
            BodyFrames(dynamics, motion.position[first : first + self._count])
            for first in range(0, len(motion.times), self._count)
        ]

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

    def _check_pair(self, pair: Pair) -> Nearest:
        """Measure where what was measured before does not prove that the margin is kept."""
        measures = [PairDistances((pair,), frames) for frames in self._frames]
        position = self._motion.position
        row, best = 0, Nearest(pair.name, np.inf, pair.margin, 0.0)
        while row < len(position):
            measure, place = measures[row // self._count], row % self._count
            distance = measure(place, 0)
            if not distance > pair.margin:
                distance = measure(place, 0, by_mesh=True)  # the hull holds the mesh
            time = float(self._motion.times[row])
            if not distance >= pair.margin or distance <= 0.0:
                raise ExcitationError(
                    f'links {pair.name}: expected a distance of at least {pair.margin:.4f} m, got '
                    f'{distance:.4f} m at {time:.3f} s'
                )
            if distance < best.distance:
                best = Nearest(pair.name, distance, pair.margin, time)
            ahead = position[row + 1 : row + 1 + self._count]
            if not ahead.size:
                break
            near = np.flatnonzero(
                np.abs(ahead - position[row]) @ pair.rates > distance - pair.margin
            )
            row += 1 + (int(near[0]) if near.size else len(ahead))
        return best

    def _check_wall(self, wall: Wall) -> Nearest:
        heights = np.concatenate([wall.measure(frames)[0] for frames in self._frames])
        row = int(heights.argmin())
        distance, time = float(heights[row]), float(self._motion.times[row])
        if not distance >= wall.margin:
            raise ExcitationError(
                f'link {wall.name}: expected a distance of at least {wall.margin:.4f} m, got '
                f'{distance:.4f} m at {time:.3f} s'
            )
        return Nearest(wall.name, distance, wall.margin, time)
