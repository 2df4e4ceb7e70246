"""Equations multiplied out: how many terms the efforts of a robot have in closed form.

A term is a product of sines and cosines of joint angles, velocities and accelerations with one
constant. The square of a sine is written as ``1 - cos^2``, so that there is one way to write a sum
of terms, and equal terms are added up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Robot

Monomial = tuple[tuple[str, int, int], ...]
"""Factors in order: what it is ('sin', 'cos', 'qd', 'qdd'), the joint, the exponent."""


class Expansion:
    """A sum of terms as a generic scalar.

    Parameters
    ----------
    terms : mapping of Monomial to float
    """

    __slots__ = ('terms',)

    def __init__(self, terms: Mapping[Monomial, float]) -> None:
        self.terms = {
            # What is less is the rounding of two equal terms.
            key: value
            for key, value in terms.items()
            if abs(value) > 1e-12
        }

    @classmethod
    def of(cls, kind: str, joint: int) -> Expansion:
        """Return one factor as a sum of one term."""
        return cls({((kind, joint, 1),): 1.0})

    def __neg__(self) -> Expansion:
        return Expansion({key: -value for key, value in self.terms.items()})

    def __add__(self, other: Expansion | float) -> Expansion:
        sums = dict(self.terms)
        for key, value in _read(other).items():
            sums[key] = sums.get(key, 0.0) + value
        return Expansion(sums)

    __radd__ = __add__

    def __sub__(self, other: Expansion | float) -> Expansion:
        return self + (-other)

    def __rsub__(self, other: float) -> Expansion:
        return -self + other

    def __mul__(self, other: Expansion | float) -> Expansion:
        sums: dict[Monomial, float] = {}
        for left, factor in self.terms.items():
            for right, value in _read(other).items():
                for key, share in _multiply(left, right):
                    sums[key] = sums.get(key, 0.0) + share * factor * value
        return Expansion(sums)

    __rmul__ = __mul__


class Angle:
    """A joint angle, of which sine and cosine are taken, and a constant added to it.

    Parameters
    ----------
    joint : int
    offset : float
        [rad]
    """

    def __init__(self, joint: int, offset: float = 0.0) -> None:
        self._joint, self._offset = joint, offset

    def __add__(self, other: float) -> Angle:
        return Angle(self._joint, self._offset + other)

    def cos(self) -> Expansion:
        """Return the cosine."""
        return self._turn(math.cos(self._offset), -math.sin(self._offset))

    def sin(self) -> Expansion:
        """Return the sine."""
        return self._turn(math.sin(self._offset), math.cos(self._offset))

    def _turn(self, cosine: float, sine: float) -> Expansion:
        joint = self._joint
        return Expansion.of('cos', joint) * cosine + Expansion.of('sin', joint) * sine


def _read(value: Expansion | float) -> Mapping[Monomial, float]:
    return value.terms if isinstance(value, Expansion) else {(): float(value)}


@cache
def _multiply(left: Monomial, right: Monomial) -> tuple[tuple[Monomial, float], ...]:
    """Return the product of two monomials as terms without squares of sines."""
    powers: dict[tuple[str, int], int] = {}
    for kind, joint, power in (*left, *right):
        powers[kind, joint] = powers.get((kind, joint), 0) + power
    products = [(powers, 1.0)]
    for joint in [joint for (kind, joint), power in powers.items() if kind == 'sin' and power > 1]:
        split = []
        for factors, share in products:
            rest = {key: power for key, power in factors.items() if key != ('sin', joint)}
            squared = {**rest, ('cos', joint): rest.get(('cos', joint), 0) + 2}
            split += [(rest, share), (squared, -share)]
        products = split
    return tuple(
        (tuple(sorted((*key, power) for key, power in factors.items())), share)
        for factors, share in products
    )


def expand_efforts(robot: Robot) -> tuple[Expansion, ...]:
    """Return the efforts of the inverse dynamics, multiplied out, without friction and rotors.

    Raises
    ------
    InputError
        When a joint slides, or moves with another one.
    """
    if any(body.joint_type.is_prismatic or body.multiplier != 1.0 for body in robot.bodies):
        raise InputError(f'robot {robot.name!r}: expected joints that turn, each by itself')
    efforts = newton_euler(
        build_mechanism(robot, DEFAULT_TOLERANCE),
        [Angle(joint) for joint in range(robot.n)],  # type: ignore[misc]
        [Expansion.of('qd', joint) for joint in range(robot.n)],  # type: ignore[misc]
        [Expansion.of('qdd', joint) for joint in range(robot.n)],  # type: ignore[misc]
        gravity=(0.0, 0.0, -9.8),
        joint_effects=False,
    )
    return tuple(Expansion(_read(effort)) for effort in efforts)  # type: ignore[arg-type]


def count_terms(robot: Robot) -> int:
    """Return how many terms the efforts of a robot have together."""
    return sum(len(effort.terms) for effort in expand_efforts(robot))
