"""How far an arm is from itself and from what it must keep out of, and how that changes.

Which pairs of solids count is decided in the start pose. Links that a joint joins are left out,
and so are pairs that touch in every pose. Pairs whose convex hulls overlap while their meshes
do not (a link in the hollow of another) cannot be kept apart by hulls: they are `watched`, which
means that the finished motion is checked by the meshes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import ExcitationError
from ne_dynamics.excitation.body_frames import BodyFrames, bound_rates, find_movers
from ne_dynamics.excitation.keep_out import KeepOut
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.solids import Solid
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import BASE


@dataclass(frozen=True, eq=False)
class Pair:
    """Two solids that must not come near each other.

    Attributes
    ----------
    first, second : Solid
    margin : float
        Distance that is kept [m].
    at_start : float
        Distance in the start pose [m].
    rates : array, shape (n,)
        What bounds the rate of the distance by each joint's [m/rad or 1].
    """

    first: Solid
    second: Solid
    margin: float
    at_start: float
    rates: FloatArray

    @property
    def name(self) -> str:
        """The two links."""
        return f'{self.first.link} and {self.second.link}'


@dataclass(frozen=True, eq=False)
class Wall:
    """A solid, and a plane that it must stay in front of.

    Attributes
    ----------
    solid : Solid
    plane : KeepOut
    margin : float
        Distance that is kept [m].
    at_start : float
        Distance in the start pose [m].
    """

    solid: Solid
    plane: KeepOut
    margin: float
    at_start: float

    @property
    def name(self) -> str:
        """The link and the plane."""
        return f'{self.solid.link} and the keep-out plane {self.plane}'

    def measure(self, frames: BodyFrames) -> tuple[FloatArray, FloatArray]:
        """Return distances (N,) and the nearest points (N, 3) [m]."""
        solid = self.solid
        rotations, origins = frames.rotations[:, solid.body], frames.origins[:, solid.body]
        normals = self.plane.normal @ rotations  # in the axes of the body
        heights = normals @ solid.points.T
        nearest = heights.argmin(axis=1)
        distances = heights[np.arange(nearest.size), nearest] + origins @ self.plane.normal
        points = np.einsum('sij,sj->si', rotations, solid.points[nearest]) + origins
        return distances - solid.radius - self.plane.distance, points


class Clearance:
    """Pairs and walls of an arm.

    Parameters
    ----------
    dynamics : Dynamics
    solids : sequence of Solid
    planes : sequence of KeepOut
    margin : float
        Distance that is kept [m].
    start : array, shape (n,)
        Where the arm is.
    limits : ExcitationLimits
        Poses that the arm may take.
    ignored : sequence of (str, str)
        Pairs of links that may touch.

    Attributes
    ----------
    pairs, watched : tuple of Pair
        Those kept apart by hulls, and those that are checked by meshes.
    walls : tuple of Wall
    notes : tuple of str
        What was left out, and why.

    Raises
    ------
    ExcitationError
        When links touch, or are in a keep-out half-space, where the arm is.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        solids: Sequence[Solid],
        planes: Sequence[KeepOut],
        margin: float,
        start: FloatArray,
        limits: ExcitationLimits,
        ignored: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._dynamics, self._margin = dynamics, margin
        self._movers = find_movers(dynamics)
        self._ignored = {frozenset(pair) for pair in ignored}
        self._travel = np.maximum(np.abs(limits.lower), np.abs(limits.upper))
        rng = np.random.default_rng(0)
        drawn = rng.uniform(limits.lower, limits.upper, (40, dynamics.n))
        poses = np.vstack([start, np.where(limits.moves, drawn, start)])
        frames = BodyFrames(dynamics, poses)
        notes: list[str] = []
        self.pairs, self.watched = self._find_pairs(solids, frames, limits, notes)
        self.walls = self._find_walls(solids, planes, frames, notes)
        self.notes = tuple(notes)

    def _find_pairs(
        self,
        solids: Sequence[Solid],
        frames: BodyFrames,
        limits: ExcitationLimits,
        notes: list[str],
    ) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
        kept, watched, touching, near = [], [], [], []
        everywhere = range(frames.origins.shape[0])
        for index, first in enumerate(solids):
            for second in solids[index + 1 :]:
                pair = self._make_pair(first, second)
                if pair is None or not (pair.rates * limits.moves).any():
                    continue
                measure = PairDistances((pair,), frames)
                distance = measure(0, 0)
                if distance > 0.0:
                    own = min(self._margin, EXCITATION.nearest_share * distance)
                    if own < self._margin:
                        near.append(f'{pair.name} {own:.3f} m')
                    kept.append(Pair(first, second, own, distance, pair.rates))
                    continue
                if measure(0, 0, by_mesh=True) > 0.0:
                    watched.append(Pair(first, second, 0.0, 0.0, pair.rates))
                elif all(measure(place, 0, by_mesh=True) <= 0.0 for place in everywhere):
                    touching.append(pair.name)
                else:
                    raise ExcitationError(
                        f'start: expected a pose in which no links touch, got {pair.name} in '
                        'contact'
                    )
        nested = [pair.name for pair in watched]
        _note(notes, 'touching in every pose and left out', touching)
        _note(notes, 'nested, kept apart by no margin, but checked by their meshes', nested)
        _note(notes, 'nearer at the start than the margin, kept at', near)
        return tuple(kept), tuple(watched)

    def _make_pair(self, first: Solid, second: Solid) -> Pair | None:
        """Return a pair of solids whose bodies no joint joins; None for others."""
        if first.hull is None or second.hull is None:
            return None  # origins of links, of which nothing is known but where they are
        bodies = self._dynamics.robot.bodies
        one, other = first.body, second.body
        parents = [BASE if body == BASE else bodies[body].parent for body in (one, other)]
        if one == other or (one != BASE and parents[0] == other):
            return None
        if other != BASE and parents[1] == one:
            return None
        if frozenset((first.link, second.link)) in self._ignored:
            return None
        # Of the bodies that carry both, the last one, or the base.
        shared = np.flatnonzero(self._movers[one] & self._movers[other])
        common = int(shared[-1]) if shared.size else BASE
        rates = sum(
            bound_rates(self._dynamics, solid.body, common, solid.farthest, self._travel)
            for solid in (first, second)
        )
        return Pair(first, second, self._margin, np.inf, np.asarray(rates))

    def _find_walls(
        self,
        solids: Sequence[Solid],
        planes: Sequence[KeepOut],
        frames: BodyFrames,
        notes: list[str],
    ) -> tuple[Wall, ...]:
        walls, near = [], []
        for plane in planes:
            for solid in solids:
                if solid.body == BASE:
                    continue
                distances, _ = Wall(solid, plane, self._margin, np.inf).measure(frames)
                if not distances[0] > 0.0:
                    raise ExcitationError(
                        f'start: expected a pose out of the keep-out half-space {plane}, got link '
                        f'{solid.link!r} {-distances[0]:.3f} m deep in it'
                    )
                own = min(self._margin, EXCITATION.nearest_share * float(distances[0]))
                if own < self._margin:
                    near.append(f'{solid.link} {own:.3f} m')
                walls.append(Wall(solid, plane, own, float(distances[0])))
        what = 'nearer to a keep-out plane at the start than the margin, kept at'
        _note(notes, what, near)
        return tuple(walls)


def _note(notes: list[str], what: str, names: Sequence[str]) -> None:
    """Note names, if there are any, each once."""
    if names:
        notes.append(f'{what}: {"; ".join(dict.fromkeys(names))}')


class PairDistances:
    """Distances of pairs in many poses, a million of them in a search.

    What coal takes is made once, and where the solids are is computed for all poses together.
    """

    def __init__(self, pairs: Sequence[Pair], frames: BodyFrames) -> None:
        self._result: Any = None
        if not pairs:
            return
        import coal

        self._coal = coal
        self._request = coal.DistanceRequest(True, 0.0, 0.0)
        self._result = coal.DistanceResult()
        solids = list(dict.fromkeys(each for pair in pairs for each in (pair.first, pair.second)))
        bodies = [solid.body for solid in solids]
        turned = frames.rotations[:, bodies]
        self._rotations = turned @ np.array([solid.rotation for solid in solids])
        moved = turned @ np.array([solid.translation for solid in solids])[:, :, np.newaxis]
        self._translations = moved[..., 0] + frames.origins[:, bodies]
        self._solids = solids
        self._ends = [(solids.index(pair.first), solids.index(pair.second)) for pair in pairs]

    def __call__(self, sample: int, pair: int, *, by_mesh: bool = False) -> float:
        """Return the distance of a pair in a pose [m].

        Below 0 by how deep two hulls are in each other; 0 for meshes that touch.
        """
        placed = []
        for end in self._ends[pair]:
            pose = self._rotations[sample, end], self._translations[sample, end]
            solid = self._solids[end]
            placed += [solid.exact if by_mesh else solid.hull, self._coal.Transform3s(*pose)]
        self._request.enable_signed_distance = not by_mesh
        self._result.clear()
        return float(self._coal.distance(*placed, self._request, self._result))

    def find_contact(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the nearest points of the last pair, and the way from one to the other.

        Points in the base frame [m], and the unit vector along which the second goes away, of
        shape (3,) each.
        """
        result = self._result
        return (
            np.array(result.getNearestPoint1()),
            np.array(result.getNearestPoint2()),
            np.array(result.normal),
        )
