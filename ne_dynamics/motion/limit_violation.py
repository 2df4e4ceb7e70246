"""What a motion exceeds, in numbers and in words, and what becomes of such a motion."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.thresholds import MOTION


class WhenInfeasible(str, enum.Enum):
    """What becomes of a motion that asks for more than the arm can do."""

    REFUSE = 'refuse'
    """It is not followed, and what went before goes on."""
    SLOW_DOWN = 'slow_down'
    """Its path is followed as fast as the limits allow."""
    FOLLOW = 'follow'
    """It is followed as far as the motors do, and its sender is told."""

    def allows(self, quantity: Quantity) -> bool:
        """Return whether a motion that exceeds a quantity is followed all the same."""
        if self is WhenInfeasible.REFUSE:
            return False
        # No other speed makes a step smaller.
        is_hopeless = self is WhenInfeasible.SLOW_DOWN and quantity is Quantity.STEP
        return quantity.is_optional and not is_hopeless


class Quantity(enum.Enum):
    """What may be exceeded; those that are refused in every case first."""

    POSITION = 'position'
    HOLDING = 'holding effort'
    SLOW = 'effort of a slow motion'
    STEP = 'step at the start'
    VELOCITY = 'velocity'
    ACCELERATION = 'acceleration'
    DECELERATION = 'deceleration'
    EFFORT = 'effort'

    @property
    def is_optional(self) -> bool:
        """Whether a motion that exceeds it may be followed all the same."""
        return self not in (Quantity.POSITION, Quantity.HOLDING, Quantity.SLOW)

    def unit(self, joint: Joint) -> str:
        """Return the unit in which a joint has it."""
        if self in (Quantity.EFFORT, Quantity.HOLDING, Quantity.SLOW):
            return joint.type.effort_unit
        powers = {Quantity.VELOCITY: '/s', Quantity.ACCELERATION: '/s^2'}
        powers[Quantity.DECELERATION] = '/s^2'
        return joint.type.position_unit + powers.get(self, '')


class LimitViolation(NamedTuple):
    """The largest violation of one limit of one joint by a motion.

    Attributes
    ----------
    quantity : Quantity
    joint : Joint
    column : int
        Index of the joint.
    time : float
        Time on the trajectory [s].
    value, limit : float
        Value and limit there, with the same sign, in :attr:`unit`.
    slower : float
        Factor by which the motion has to be slowed to keep the limit there; infinite if slowing
        does not help.
    """

    quantity: Quantity
    joint: Joint
    column: int
    time: float
    value: float
    limit: float
    slower: float = np.inf

    @classmethod
    def of(
        cls,
        quantity: Quantity,
        joints: Sequence[Joint],
        column: int,
        time: float,
        value: float,
        limit: float,
        slower: float = np.inf,
    ) -> LimitViolation:
        """Return the violation at one of several joints; the limit gets its sign."""
        if quantity is not Quantity.POSITION:
            limit = np.copysign(limit, value)
        numbers = (float(each) for each in (time, value, limit, slower))
        return cls(quantity, joints[column], column, *numbers)

    @property
    def unit(self) -> str:
        """Unit of value and limit."""
        return self.quantity.unit(self.joint)

    @property
    def severity(self) -> float:
        """Excess over the limit: [rad or m] for a position, otherwise as a part of the limit."""
        beyond = abs(self.value - self.limit)
        if self.quantity is Quantity.POSITION or self.limit == 0.0:
            return beyond
        return beyond / abs(self.limit)

    def __str__(self) -> str:
        bound, value, limit = 'most', self.value, self.limit
        if self.quantity is not Quantity.POSITION:
            value, limit = abs(value), abs(limit)
        elif value < limit:
            bound = 'least'
        return (
            f'joint {self.joint.name!r}: {self.quantity.value} of {value:.5g} {self.unit} at '
            f'{self.time:.4g} s, expected at {bound} {limit:.5g} {self.unit}'
        )


class InfeasibleMotionError(TrajectoryError):
    """A motion leaves limits that it may not leave.

    Parameters
    ----------
    violations : sequence of LimitViolation
        The worst first.
    """

    def __init__(self, violations: Sequence[LimitViolation]) -> None:
        super().__init__(describe(violations), field='points')
        self.violations = tuple(violations)


def describe(violations: Sequence[LimitViolation]) -> str:
    """Return what a motion exceeds, in words: the worst, and the worst of other quantities."""
    worst = {each.quantity: each for each in reversed(violations)}
    named = [each for each in violations if each is worst[each.quantity]][
        : MOTION.most_violations_named
    ]
    text = '; '.join(str(each) for each in named)
    more = len(violations) - len(named)
    return f'points: {text}' + (f'; and {more} more' if more else '')


def rank(violations: Iterable[LimitViolation]) -> list[LimitViolation]:
    """Return the worst violation of each joint and quantity, the worst first."""
    worst: dict[tuple[Quantity, int], LimitViolation] = {}
    for each in violations:
        key = each.quantity, each.column
        if key not in worst or each.severity > worst[key].severity:
            worst[key] = each
    order = list(Quantity)

    def key_of(each: LimitViolation) -> tuple[bool, float, int]:
        return each.quantity.is_optional, -each.severity, order.index(each.quantity)

    return sorted(worst.values(), key=key_of)
