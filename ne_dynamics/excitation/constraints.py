"""What a motion must keep, as numbers that are to be 0 or less, and their gradients.

Each number is relative: by how much of its limit a position, velocity, acceleration or effort is
beyond it, and by how many decimetres a distance is short of its margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.excitation.body_frames import BodyFrames
from ne_dynamics.excitation.clearance import Clearance, Pair, PairDistances, Wall
from ne_dynamics.excitation.information import SampledMotion
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.model.rigid_body import FloatArray

FAR = -1e3
"""Stands for what is so far off that it was not computed."""

DECIMETRE = 0.1
"""Distance that counts like the whole of a limit [m]."""


@dataclass(frozen=True, eq=False)
class Group:
    """Numbers of one kind.

    Attributes
    ----------
    values : array
        Of any shape.
    pull_back : callable
        Takes weights of that shape; returns what the weighted sum changes by with each sample.
    """

    values: FloatArray
    pull_back: Callable[[FloatArray], SampledMotion]


class Constraints:
    """What motions of a number of samples must keep.

    Parameters
    ----------
    dynamics : Dynamics
    limits : ExcitationLimits
    clearance : Clearance
    samples : int
    tightening : float
        Part of every limit that is kept free beyond it.
    extra : float
        Distance that is aimed at beyond the margin [m].
    """

    def __init__(
        self,
        dynamics: Dynamics,
        limits: ExcitationLimits,
        clearance: Clearance,
        samples: int,
        tightening: float,
        extra: float,
    ) -> None:
        self._dynamics, self._limits, self._clearance = dynamics, limits, clearance
        self._part = 1.0 - tightening
        self._middle = 0.5 * (limits.lower + limits.upper)
        half = 0.5 * (limits.upper - limits.lower)
        self._half = np.where(limits.moves, half, np.inf)
        self._pairs = _Pairs(dynamics, clearance.pairs, samples, extra)
        self._wall_aims = [aim_at(wall, extra) for wall in clearance.walls]

    def evaluate(self, motion: SampledMotion, needed: FloatArray) -> list[Group]:
        """Return the groups: positions, velocities, accelerations, efforts, pairs, walls.

        Values of pairs are computed from what is needed on, shape (samples, pairs); others are
        :data:`FAR`.
        """
        frames = BodyFrames(self._dynamics, motion.position)
        pairs = self._pairs.evaluate(motion, frames, needed)
        return [*self.evaluate_limits(motion), pairs, self._bound_walls(motion, frames)]

    def evaluate_limits(self, motion: SampledMotion) -> list[Group]:
        """Return the groups of positions, velocities, accelerations and efforts."""
        limits, part = self._limits, self._part
        none = np.zeros_like(motion.position)

        def bound(offset: FloatArray, limit: FloatArray, order: int) -> Group:
            def pull_back(weights: FloatArray) -> SampledMotion:
                parts = [none, none, none]
                parts[order] = weights * np.sign(offset) / limit
                return SampledMotion(*parts)

            return Group(np.abs(offset) / limit - 1.0, pull_back)

        return [
            bound(motion.position - self._middle, part * self._half, 0),
            bound(motion.velocity, part * limits.velocity, 1),
            bound(motion.acceleration, part * limits.acceleration, 2),
            self._bound_efforts(motion),
        ]

    def keeps_distances(self, motion: SampledMotion) -> bool:
        """Return whether all pairs and walls are as far apart as is aimed at.

        The look ends with the first that is not.
        """
        frames = BodyFrames(self._dynamics, motion.position)
        for wall, aim in zip(self._clearance.walls, self._wall_aims, strict=True):
            if not (wall.measure(frames)[0] >= aim).all():
                return False
        return self._pairs.are_kept(motion, frames)

    def _bound_efforts(self, motion: SampledMotion) -> Group:
        limit = self._part * self._limits.effort
        effort = self._dynamics.inverse_dynamics(*motion)

        def pull_back(weights: FloatArray) -> SampledMotion:
            result = np.zeros((3, *effort.shape))
            active = np.flatnonzero((weights != 0.0).any(axis=1))
            if active.size:
                slopes = self._dynamics.inverse_dynamics_derivatives(
                    *(values[active] for values in motion)
                )
                own = (weights * np.sign(effort) / limit)[active]
                result[:, active] = np.einsum('si,ksij->ksj', own, slopes)
            return SampledMotion(*result)

        return Group(np.abs(effort) / limit - 1.0, pull_back)

    def _bound_walls(self, motion: SampledMotion, frames: BodyFrames) -> Group:
        walls = self._clearance.walls
        samples, n = motion.position.shape
        values = np.empty((samples, len(walls)))
        nearest = np.empty((samples, len(walls), 3))
        for index, wall in enumerate(walls):
            distances, nearest[:, index] = wall.measure(frames)
            values[:, index] = (self._wall_aims[index] - distances) / DECIMETRE

        def pull_back(weights: FloatArray) -> SampledMotion:
            position = np.zeros((samples, n))
            for index, wall in enumerate(walls):
                rows = np.flatnonzero(weights[:, index])
                if not rows.size:
                    continue
                slopes = frames.differentiate(
                    rows,
                    np.full(rows.size, wall.solid.body),
                    nearest[rows, index],
                    np.broadcast_to(wall.plane.normal, (rows.size, 3)),
                )
                position[rows] -= weights[rows, index, np.newaxis] * slopes / DECIMETRE
            return SampledMotion(position, np.zeros((samples, n)), np.zeros((samples, n)))

        return Group(values, pull_back)


def aim_at(kept: Pair | Wall, extra: float) -> float:
    """Return the distance that is sought for, a little more than what must be [m].

    And a little less than that at the start, which the motion begins with.
    """
    return min(1.1 * kept.margin + extra, 0.95 * kept.at_start)


class _Pairs:
    """Distances of pairs along motions that change little from one to the next.

    What was measured before bounds what a distance can be now, so that it need not be measured
    while the bound is far from the margin.
    """

    def __init__(
        self, dynamics: Dynamics, pairs: tuple[Pair, ...], samples: int, extra: float
    ) -> None:
        self._pairs = pairs
        self._margins = np.array([aim_at(pair, extra) for pair in pairs])
        self._rates = np.array([pair.rates for pair in pairs]).reshape(len(pairs), dynamics.n)
        self._distances = np.full((samples, len(pairs)), -np.inf)
        self._positions = np.zeros((samples, len(pairs), dynamics.n))

    def evaluate(self, motion: SampledMotion, frames: BodyFrames, needed: FloatArray) -> Group:
        samples, n = motion.position.shape
        bound = self._bound(motion)
        rows, columns = np.nonzero((self._margins - bound) / DECIMETRE > needed)
        values = np.full((samples, len(self._pairs)), FAR)
        contacts = {}
        measure = PairDistances(self._pairs, frames)
        # What is farther away than is needed pulls at nothing.
        far = (self._margins - DECIMETRE * needed)[rows, columns].tolist()
        for row, column, enough in zip(rows.tolist(), columns.tolist(), far, strict=True):
            distance = measure(row, column)
            if distance < enough:
                contacts[row, column] = measure.find_contact()
            self._distances[row, column] = distance
        self._positions[rows, columns] = motion.position[rows]
        measured = self._distances[rows, columns]
        values[rows, columns] = (self._margins[columns] - measured) / DECIMETRE

        def pull_back(weights: FloatArray) -> SampledMotion:
            position = np.zeros((samples, n))
            touched = [place for place in contacts if weights[place] != 0.0]
            if touched:
                where = np.array([row for row, _ in touched], dtype=np.intp)
                normals = np.array([contacts[place][2] for place in touched])
                slopes = np.zeros((len(touched), n))
                for end, sign in ((1, 1.0), (0, -1.0)):
                    solids = [
                        self._pairs[column].second if end else self._pairs[column].first
                        for _, column in touched
                    ]
                    slopes += sign * frames.differentiate(
                        where,
                        np.array([solid.body for solid in solids], dtype=np.intp),
                        np.array([contacts[place][end] for place in touched]),
                        normals,
                    )
                own = np.array([weights[place] for place in touched])[:, np.newaxis]
                np.add.at(position, where, -own * np.nan_to_num(slopes) / DECIMETRE)
            return SampledMotion(position, np.zeros((samples, n)), np.zeros((samples, n)))

        return Group(values, pull_back)

    def are_kept(self, motion: SampledMotion, frames: BodyFrames) -> bool:
        """Return whether all distances are as large as is aimed at."""
        room = self._bound(motion) - self._margins
        rows, columns = np.nonzero(room < 0.0)
        order = np.argsort(room[rows, columns], kind='stable')  # what violates is found early
        measure = PairDistances(self._pairs, frames)
        for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
            distance = measure(row, column)
            self._distances[row, column] = distance
            self._positions[row, column] = motion.position[row]
            if not distance >= self._margins[column]:
                return False
        return True

    def _bound(self, motion: SampledMotion) -> FloatArray:
        """Return what distances are at least, by those known before, shape (samples, pairs)."""
        away = np.abs(motion.position[:, np.newaxis] - self._positions)
        bounds: FloatArray = self._distances - np.einsum('spj,pj->sp', away, self._rates)
        return bounds
