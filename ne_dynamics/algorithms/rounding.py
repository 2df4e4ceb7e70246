"""What treating numbers as exact can change: a bound on the torque, by the recursion itself.

:class:`Bounded` is a generic scalar that carries, in place of a value, the largest magnitude it
can have and the largest error. Run on it, the recursion returns for every torque a rigorous
bound of what the small changes of geometry and inertia made by
:func:`~ne_dynamics.algorithms.mechanism.build_mechanism` amount to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ne_dynamics.algorithms.mechanism import Mechanism, MechanismBody, RigidInertia
from ne_dynamics.algorithms.newton_euler import newton_euler


@dataclass(frozen=True)
class Bounded:
    """A quantity of which only the size is known.

    Attributes
    ----------
    size : float
        Largest magnitude.
    error : float
        Largest difference from the quantity computed without the changes.
    """

    size: float
    error: float = 0.0

    @staticmethod
    def of(value: Bounded | float) -> Bounded:
        """Return a number as an exact quantity."""
        return value if isinstance(value, Bounded) else Bounded(abs(value))

    def __add__(self, other: Bounded | float) -> Bounded:
        """Sizes and errors add up."""
        other = Bounded.of(other)
        return Bounded(self.size + other.size, self.error + other.error)

    __radd__ = __sub__ = __rsub__ = __add__

    def __neg__(self) -> Bounded:
        return self

    def __mul__(self, other: Bounded | float) -> Bounded:
        """Each error is multiplied by the other's size."""
        other = Bounded.of(other)
        return Bounded(
            self.size * other.size,
            self.size * other.error + self.error * (other.size + other.error),
        )

    __rmul__ = __mul__

    def sin(self) -> Bounded:
        """Return a sine: at most 1, and no steeper than its argument."""
        return Bounded(1.0, self.error)

    cos = sin

    def sign(self) -> Bounded:
        """Return a sign of an exact quantity."""
        return Bounded(1.0)


def torque_bound(
    regrouped: Mechanism,
    plain: Mechanism,
    *,
    q: Sequence[float],
    qd: Sequence[float],
    qdd: Sequence[float],
    gravity: Sequence[float],
) -> list[float]:
    """Return the most by which the exact treatment of small numbers changes each torque.

    Parameters
    ----------
    regrouped, plain : Mechanism
        Built with the same tolerance, with and without regrouping. The regrouped one is what
        runs; its geometry, and with it the torque, is that of the plain one, and its inertial
        parameters were changed once more.
    q, qd, qdd : sequence of n float
        Largest magnitudes of position (of interest for prismatic joints), velocity and
        acceleration.
    gravity : sequence of 3 float
        [m/s^2]

    Returns
    -------
    list of n float
        [N m or N]
    """
    changes = {key: size for key, size in plain.changes.items() if key[1] in _GEOMETRY}
    changes |= {key: size for key, size in regrouped.changes.items() if key[1] not in _GEOMETRY}
    if not changes:
        return [0.0] * plain.n

    def at(body: int, field: str, values: Sequence[float]) -> tuple[Any, ...]:
        return tuple(
            Bounded(
                abs(value) + changes.get((body, field, position), 0.0),
                changes.get((body, field, position), 0.0),
            )
            for position, value in enumerate(values)
        )

    bodies: list[MechanismBody] = []
    for index, body in enumerate(plain.bodies):
        turn: Any = at(index, 'turn', body.turn)
        twist: Any = at(index, 'twist', body.twist)
        position: Any = at(index, 'position', body.position)
        spin: Any = body.spin
        offset: Any = body.offset
        if body.is_prismatic:
            spin = at(index, 'spin', body.spin)
        elif (index, 'spin', 0) in changes:
            # An angle that is off by this much; sine and cosine are off by no more.
            angle = math.asin(min(changes[index, 'spin', 0], 1.0))
            offset = Bounded(abs(body.offset) + angle, angle)
        if body.twist[1] == 0.0 and (index, 'twist', 1) in changes:
            # About which axis the twist was that is gone is not known any more.
            turn = (Bounded(1.0), Bounded(1.0))
            spin = turn if body.is_prismatic else spin
        first: Any = at(index, 'first', body.inertia.first_moment)
        second: Any = at(index, 'second', body.inertia.second_moments)
        bodies.append(
            replace(
                body,
                turn=turn,
                twist=twist,
                spin=spin,
                offset=offset,
                position=position,
                inertia=RigidInertia(body.inertia.mass, first, second),
            )
        )
    efforts = newton_euler(
        replace(plain, bodies=tuple(bodies)),
        [Bounded(abs(value)) for value in q],
        [Bounded(abs(value)) for value in qd],
        [Bounded(abs(value)) for value in qdd],
        gravity=gravity,
    )
    return [Bounded.of(effort).error for effort in efforts]


_GEOMETRY = ('turn', 'twist', 'spin', 'position')
