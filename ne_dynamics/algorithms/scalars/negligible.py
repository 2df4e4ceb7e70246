"""Which small numbers of a mechanism may be taken as exact.

A sine of 6e-17 in a quarter turn, or a length of 1e-17, costs operations and means nothing. It is
taken as zero when no joint feels it: when the change of every joint's effort is within the
tolerance of what that joint itself has to give. A finger of grams on a machine of tonnes is
judged by the efforts of the finger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ne_dynamics.algorithms.mechanism_body import MechanismBody
from ne_dynamics.algorithms.scalars.rotation_split import Pair, split_spin
from ne_dynamics.model.robot import BASE, FloatArray

if TYPE_CHECKING:
    from ne_dynamics.algorithms.scalars.sensitivity import EffortSensitivity

ALL_CHANGES = 2.0
"""All changes together may alter an effort by this many tolerances."""

Changes = dict[tuple[int, str, int], float]
"""(body, field, position) to the size of the change."""


@dataclass(frozen=True)
class _Candidate:
    """A number, or the two of a pair, that could be exact.

    Attributes
    ----------
    body : int
    field : str
    positions : tuple of int
        Entries of the field that change.
    size : float
        Largest change of an entry; of a pair, the change of the angle.
    effect : array, shape (n, motions)
        Change of each joint's effort.
    """

    body: int
    field: str
    positions: tuple[int, ...]
    size: float
    effect: FloatArray


class NegligibleNumbers:
    """Decides which numbers of a mechanism are exact, and remembers what that changed.

    Parameters
    ----------
    bodies : sequence of MechanismBody
        As they are, not regrouped.
    tolerance : float
        Change of an effort that is negligible, in parts of the joint's own largest one; also
        the largest sine or cosine, part of the robot's reach and part of the largest moment of
        its kind that is looked at. 0: nothing is changed.
    make_sensitivity : callable
        Returns the sensitivity of the bodies' efforts; called when it is needed.

    Attributes
    ----------
    changes : dict
        (body, field, position) to the size of the change: angles [rad] for the fields turn,
        twist and spin, [m] for position, [kg m] for first and [kg m^2] for second.
    """

    def __init__(
        self,
        bodies: Sequence[MechanismBody],
        tolerance: float,
        make_sensitivity: Callable[[], EffortSensitivity],
    ) -> None:
        self.tolerance = tolerance
        self.changes: Changes = {}
        self._bodies = bodies
        self._make_sensitivity = make_sensitivity
        self._known: EffortSensitivity | None = None
        self._spent: FloatArray | None = None

    @property
    def _sensitivity(self) -> EffortSensitivity:
        if self._known is None:
            self._known = self._make_sensitivity()
        return self._known

    def _accept(self, candidates: Sequence[_Candidate]) -> set[tuple[int, str, int]]:
        """Return the numbers that are exact from now on: those that matter least go first."""
        accepted: set[tuple[int, str, int]] = set()
        if not candidates:
            return accepted
        limits = ALL_CHANGES * self.tolerance * self._sensitivity.scales
        if self._spent is None:
            self._spent = np.zeros_like(limits)
        # A joint that nothing loads has a limit of zero; what changes nothing there is allowed.
        floor = np.finfo(np.float64).tiny
        parts = [float((np.abs(each.effect) / (limits + floor)).max()) for each in candidates]
        for place in np.argsort(parts, kind='stable'):
            candidate = candidates[place]
            spent = self._spent + candidate.effect
            if (np.abs(spent) <= limits).all():
                self._spent = spent
                for position in candidate.positions:
                    key = candidate.body, candidate.field, position
                    self.changes[key] = candidate.size
                    accepted.add(key)
        return accepted

    def simplify_geometry(
        self, rotations: Sequence[FloatArray], reach: float, root_length: float
    ) -> list[MechanismBody]:
        """Return the bodies with constant angles and positions made exact.

        Parameters
        ----------
        rotations : sequence of array, shape (3, 3)
            Constant rotation of each body.
        reach, root_length : float
            How far the robot reaches from its first joints, and how far those are from the
            base's frame [m].
        """
        bodies = list(self._bodies)
        if self.tolerance == 0.0:
            return bodies
        candidates = []
        for index, body in enumerate(bodies):
            c, s = body.turn
            candidates += self._make_candidates(index, 'twist', body.twist, (c, s, 0.0))
            limit = self.tolerance * (max(reach, root_length) if body.parent == BASE else reach)
            candidates += self._make_shifts(index, body, limit)
        accepted = self._accept(candidates)
        candidates = []
        for index, body in enumerate(bodies):
            x, y, z = (
                0.0 if (index, 'position', k) in accepted else value
                for k, value in enumerate(body.position)
            )
            body = replace(body, position=(x, y, z))
            if (index, 'twist', 0) in accepted:
                twist = _round_to_quarter_turn(body.twist)
                body = replace(body, twist=twist)
                if twist[1] == 0.0:
                    spin = split_spin(rotations[index], (1.0, 0.0))
                    body = replace(body, turn=(1.0, 0.0), spin=spin)
            bodies[index] = body
            candidates += self._make_candidates(index, 'turn', body.turn, (0.0, 0.0, 1.0))
            candidates += self._make_candidates(index, 'spin', body.spin, body.tilt[:, 2].tolist())
        accepted = self._accept(candidates)
        for index, field, _ in accepted:
            body = bodies[index]
            if field == 'turn':
                bodies[index] = replace(body, turn=_round_to_quarter_turn(body.turn))
            else:
                bodies[index] = replace(body, spin=_round_to_quarter_turn(body.spin))
        return bodies

    def _make_shifts(self, index: int, body: MechanismBody, limit: float) -> list[_Candidate]:
        """Return the candidates that short lengths of a position are."""
        candidates = []
        for k, value in enumerate(body.position):
            if 0.0 < abs(value) <= limit:
                effect = self._sensitivity.compute_displacement_effect(
                    index, (0.0, 0.0, 0.0), [-value if k == m else 0.0 for m in range(3)]
                )
                candidates.append(_Candidate(index, 'position', (k,), abs(value), effect))
        return candidates

    def _make_candidates(
        self, index: int, field: str, pair: Pair, axis: Sequence[float]
    ) -> list[_Candidate]:
        """Return the candidate that a constant angle is, as a list of none or one."""
        cosine, sine = pair
        if not 0.0 < min(abs(cosine), abs(sine)) <= self.tolerance:
            return []
        exact = _round_to_quarter_turn(pair)
        angle = math.asin(cosine * exact[1] - sine * exact[0])
        effect = self._sensitivity.compute_displacement_effect(
            index, [angle * value for value in axis], (0.0, 0.0, 0.0)
        )
        # Of a twist that is gone, turn and spin are merged: to second order it is that angle.
        size = abs(angle) * (1.0 + abs(angle))
        return [_Candidate(index, field, (0, 1), size, effect)]

    def simplify_inertias(self, bodies: Sequence[MechanismBody]) -> list[MechanismBody]:
        """Return bodies, regrouped or not, with small moments made zero."""
        if self.tolerance == 0.0:
            return list(bodies)
        firsts = [body.inertia.first_moment for body in bodies]
        seconds = [body.inertia.second_moments for body in bodies]
        first_limit = self.tolerance * max((abs(v) for row in firsts for v in row), default=0.0)
        second_limit = self.tolerance * max((abs(v) for row in seconds for v in row), default=0.0)
        candidates = []
        for index in range(len(bodies)):
            moments = *firsts[index], *seconds[index]
            for k, value in enumerate(moments):
                field, position = ('first', k) if k < 3 else ('second', k - 3)
                limit = first_limit if k < 3 else second_limit
                if 0.0 < abs(value) <= limit:
                    change = [-value if k == m else 0.0 for m in range(9)]
                    effect = self._sensitivity.compute_inertia_effect(
                        index, change[:3], change[3:]
                    )
                    candidates.append(_Candidate(index, field, (position,), abs(value), effect))
        accepted = self._accept(candidates)
        result = []
        for index, body in enumerate(bodies):
            x, y, z = (
                0.0 if (index, 'first', k) in accepted else value
                for k, value in enumerate(firsts[index])
            )
            xx, yy, zz, xy, xz, yz = (
                0.0 if (index, 'second', k) in accepted else value
                for k, value in enumerate(seconds[index])
            )
            inertia = replace(
                body.inertia, first_moment=(x, y, z), second_moments=(xx, yy, zz, xy, xz, yz)
            )
            result.append(replace(body, inertia=inertia))
        return result


def _round_to_quarter_turn(pair: Pair) -> Pair:
    """Return the nearest quarter turn."""
    cosine, sine = pair
    if abs(sine) <= abs(cosine):
        return math.copysign(1.0, cosine), 0.0
    return 0.0, math.copysign(1.0, sine)
