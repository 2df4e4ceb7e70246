"""Whose joint each recorded command moves: whether the columns of commands are in their order.

A permutation has no freedom of its own: commands in another order are explained by the same arms
near the given one (:class:`~ne_dynamics.driver.evidence.evidence.LogEvidence`), in N m or N,
with the same number of unknowns. So costs of orders are compared as they are. Whatever the order
is, commands in another unit are brought to the size of the given model's efforts by one factor for
all joints, and each may have the opposite sign.

Which orders are tried comes of a table: how much of the command k is left when friction, rotor and
constant of joint j are taken out, and its effort by the given model, as it is or with any factor.
The order with the least sum is one; exchanges of two joints say how far others are.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.evidence.likeliest import choose_signs
from ne_dynamics.driver.thresholds import EFFORTS
from ne_dynamics.driver.verdict import Verdict, level_of, unknown
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Certainty, LogReading
from ne_dynamics.model.rigid_body import FloatArray

SAME_UNIT = math.log(3.0)
"""Commands are brought to the size of the given model's efforts where they are off by more."""


ONE_BY_ONE = (
    'record the commands while the joints move one after the other, each over most of its range'
)


def find_order(
    evidence: LogEvidence, joint_names: tuple[str, ...], known: LogReading | None = None
) -> Verdict:
    """Return whether each command is that of the joint whose name it has.

    Parameters
    ----------
    evidence : LogEvidence
        Of a log whose efforts are the commands, and that is telling.
    joint_names : tuple of str
    known : LogReading, optional
        The likeliest reading in the order of the names, faults of positions included, that the
        order has to be better than.
    """
    n = len(joint_names)
    source = np.arange(n)
    joints = np.flatnonzero(evidence.moves).tolist()
    if len(joints) < 2:
        text = 'one joint alone moved' if joints else 'no joint moved'
        return unknown(text, ONE_BY_ONE)
    orders = _Orders(evidence, n, joints)
    own = orders.weigh(source)
    if known is not None:
        own = replace(own, cost=min(own.cost, evidence.explain(known).cost))
    best = own
    for order in orders.propose():
        if not (order == source).all():
            best = min(best, orders.weigh(order), key=lambda one: one.cost)
    nearest = min(map(orders.weigh, _exchange(best.source, joints)), key=lambda one: one.cost)
    if nearest.cost < best.cost:
        best, nearest = nearest, best
    left = evidence.explain(best.reading).left[joints]
    if not (left < EFFORTS.unexplained_share).all():
        text = 'the commands are not explained by the motion, in no order of the joints'
        return unknown(text, ONE_BY_ONE)
    if (best.source == source).all():
        return _describe_own(joint_names, best, nearest)
    changed = np.flatnonzero(best.source != source)
    misfit = float(evidence.explain(own.reading).left[changed].max())
    return _describe_other(joint_names, own, best, nearest, misfit)


@dataclass(frozen=True, eq=False)
class _Order:
    source: NDArray[np.intp]
    cost: float
    reading: LogReading


class _Orders:
    """What each order of the commands costs."""

    def __init__(self, evidence: LogEvidence, n: int, joints: list[int]) -> None:
        self._evidence, self._joints = evidence, joints
        base = LogReading.as_recorded(n)
        self._given = [
            evidence.get_given_effort(replace(base, without_gravity=without))
            for without in (False, True)
        ]
        sizes = rms(evidence.get_effort(base))[joints]
        expected = rms(self._given[0])[joints]
        used = (sizes > 0.0) & (expected > 0.0)
        apart = 0.0
        if used.any():
            # The same in whatever order: one factor of all.
            apart = float(np.log(expected[used]).mean() - np.log(sizes[used]).mean())
        factor = math.exp(apart) if abs(apart) > SAME_UNIT else 1.0
        self._base = base.with_effort(range(n), factor=factor)

    def propose(self) -> list[NDArray[np.intp]]:
        """Return the orders that leave least, by the given model as it is and by a multiple."""
        return [self._assign(self._tabulate(is_free)) for is_free in (False, True)]

    def weigh(self, order: NDArray[np.intp]) -> _Order:
        """Return an order at its least cost, with gravity or without, of any signs."""
        trials = []
        for without, sign in itertools.product((False, True), (1.0, -1.0)):
            reading = replace(
                self._base,
                effort_source=np.asarray(order),
                effort_factor=sign * self._base.effort_factor[order],
                without_gravity=without,
            )
            trials.append(
                choose_signs(lambda one: self._evidence.explain(one).cost, reading, self._joints)
            )
        reading, cost = min(trials, key=lambda trial: trial[1])
        return _Order(order, cost, reading)

    def _tabulate(self, is_free: bool) -> FloatArray:
        """Return the logarithm of the part of command k that joint j leaves, (joint, command)."""
        commands = self._evidence.get_effort(self._base)
        rates = self._evidence.get_rates(self._base)
        table = np.zeros((len(self._joints), len(self._joints)))
        for row, joint in enumerate(self._joints):
            given = [part[:, joint] for part in self._given]
            own = [rate[:, joint] for rate in rates]
            columns = [*own, np.ones(len(commands)), *(given if is_free else ())]
            basis, _ = np.linalg.qr(np.stack(columns, axis=1))
            for column, other in enumerate(self._joints):
                command = commands[:, other]
                starts = [command]
                if not is_free:
                    starts = [sign * command - part for part in given for sign in (1.0, -1.0)]
                left = min(
                    float(np.linalg.norm(start - basis @ (basis.T @ start))) for start in starts
                )
                size = max(float(np.linalg.norm(command)), 1e-12)
                # No model of a real arm leaves less than a hundredth.
                table[row, column] = math.log(max(left / size, 0.01))
        return table

    def _assign(self, table: FloatArray) -> NDArray[np.intp]:
        places = np.arange(len(self._joints))
        if places.size <= 7:  # of more there are too many orders
            chosen = min(
                itertools.permutations(range(places.size)),
                key=lambda order: float(table[places, list(order)].sum()),
            )
            order = np.array(chosen)
        else:
            order, better = places.copy(), True
            while better:
                tried = min(
                    _exchange(order, places.tolist()),
                    key=lambda one: float(table[places, one].sum()),
                )
                better = table[places, tried].sum() < table[places, order].sum() - 1e-9
                order = tried if better else order
        source = np.arange(self._base.effort_source.size)
        source[self._joints] = np.array(self._joints)[order]
        return source


def _exchange(order: NDArray[np.intp], joints: list[int]) -> list[NDArray[np.intp]]:
    """Return the orders in which two joints are exchanged."""
    found = []
    for first, second in itertools.combinations(joints, 2):
        changed = np.array(order)
        changed[[first, second]] = changed[[second, first]]
        found.append(changed)
    return found


def _describe_own(joint_names: tuple[str, ...], best: _Order, nearest: _Order) -> Verdict:
    level = level_of(nearest.cost - best.cost)
    if level is Certainty.UNKNOWN:
        open_joints = ', '.join(
            joint_names[joint] for joint in np.flatnonzero(nearest.source != best.source)
        )
        return unknown(
            f'the motion does not tell the commands of {open_joints} from one another', ONE_BY_ONE
        )
    return Verdict(True, level, 'each command is that of the joint whose name it has')


def _describe_other(
    joint_names: tuple[str, ...], own: _Order, best: _Order, nearest: _Order, misfit: float
) -> Verdict:
    gain = own.cost - best.cost
    moved = ', '.join(
        f'{joint_names[joint]} moves by what is called the command of {joint_names[column]}'
        for joint, column in enumerate(best.source)
        if joint != column
    )
    if gain < EFFORTS.likely_order_gain or misfit < EFFORTS.order_misfit:
        return unknown(
            f'the commands may be in another order than their names: {moved}', ONE_BY_ONE
        )
    # Of the column with a name, whose it is.
    names = ' '.join(joint_names[int(joint)] for joint in np.argsort(best.source))
    text = f'in another order than their names: {moved}'
    if (
        nearest.cost - best.cost < EFFORTS.likely_order_gain
        and not (nearest.source == own.source).all()
    ):
        text += '; or like that, in an order that the motion does not tell'
    level = Certainty.KNOWN if gain >= EFFORTS.known_order_gain else Certainty.LIKELY
    return Verdict(
        False,
        level,
        text,
        f'name the columns of the commands in this order, as by --command-joints: {names}; '
        'then look again',
    )
