"""What may be wrong with a log that its efforts can tell: readings that would undo it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.evidence.evidence import DELAYS, LogEvidence
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import LogReading
from ne_dynamics.model.robot import Robot

FACTORS = 10.0 ** (np.arange(-6, 7) / 3.0)
"""By which the effort of one joint is tried to be multiplied; then between them."""

PENALTIES = {
    'effort-scaled': 3.0,
    'effort-delay': 3.0,
    'effort-offset': 3.0,
    'position-sign': 1.0,
    'axis-sign': 1.0,
    'positions-swapped': 1.0,
}
"""What a fault costs beforehand: an amount that is free to be chosen, and what seldom happens."""

SMALLEST_OFFSET = 0.3
OFFSET_DEVIATIONS = 4.0
"""Constants of efforts below this part of the effort, or this many standard deviations, are taken
for friction that differs by direction."""

REFINED = 24
"""Steps of the search between two of them."""

DEGREE = math.pi / 180.0
QUARTER = 0.5 * math.pi


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One fault that a log may have.

    Attributes
    ----------
    cause : str
        Code of the fault.
    joints : tuple of int
    amount : float
        Factor, angle [rad] or delay [s]: what undoes the fault; 0 where there is none.
    reading : LogReading
        The log without this fault.
    cost : float
        Of the log in that reading, less its cost as it is.
    deviation : float
        Standard deviation of the amount, of a factor as a part of it; 0 where it is exact.
    amounts : tuple of float
        One for each joint, where they differ: constants of efforts [N m or N].
    """

    cause: str
    joints: tuple[int, ...]
    amount: float
    reading: LogReading
    cost: float
    deviation: float = 0.0
    amounts: tuple[float, ...] = ()

    @property
    def rank(self) -> float:
        """Cost with what the fault costs beforehand."""
        return self.cost + PENALTIES.get(self.cause, 0.0) * max(len(self.amounts), 1)


def weigh_hypotheses(evidence: LogEvidence, robot: Robot, present: LogReading) -> list[Hypothesis]:
    """Return all hypotheses of one more fault, the likeliest first.

    Parameters
    ----------
    evidence : LogEvidence
    robot : Robot
    present : LogReading
        What has been found so far.

    Returns
    -------
    list of Hypothesis
    """
    base = evidence.explain(present).cost
    moving = [joint for joint in range(robot.n) if evidence.moves[present.position_source[joint]]]
    found = []
    for cause, joints, amount, reading in _list_exact(robot, present, moving):
        if cause == 'zero-offset' and evidence.has_free_factors:
            continue  # with a factor of its own the load turns the effort of a joint as well
        cost = evidence.explain(reading).cost - base
        found.append(Hypothesis(cause, joints, amount, reading, cost))
    for joint in moving:
        if evidence.has_free_factors:
            # One driver reads all currents; what is late in one alone is friction that is not
            # modelled.
            continue
        found.append(_find_factor(evidence, present, joint, base))
        found.append(find_delay(evidence, present, (joint,), base))
    found.append(find_delay(evidence, present, tuple(range(robot.n)), base))
    return sorted(found, key=lambda hypothesis: hypothesis.rank)


def list_offsets(evidence: LogEvidence, present: LogReading) -> list[Hypothesis]:
    """Return constants that may have been added to efforts: of all joints that show one, and each.

    Parameters
    ----------
    evidence : LogEvidence
    present : LogReading
        What has been found so far.
    """
    constant, deviation = evidence.find_constants(present)
    size = rms(evidence.get_effort(present))
    shown = np.abs(constant) > np.maximum(
        SMALLEST_OFFSET * size, OFFSET_DEVIATIONS * np.where(deviation > 0.0, deviation, np.inf)
    )
    joints = tuple(np.flatnonzero(shown).tolist())
    base = evidence.explain(present).cost if joints else 0.0
    groups = {joints, *((joint,) for joint in joints)} if joints else set()
    found = []
    for group in sorted(groups):
        amounts = tuple(-float(constant[joint]) for joint in group)
        reading = present.with_effort_offset(group, amounts)
        cost = evidence.explain(reading).cost - base
        largest = max(amounts, key=abs)
        found.append(Hypothesis('effort-offset', group, largest, reading, cost, amounts=amounts))
    return found


def _list_exact(
    robot: Robot, present: LogReading, moving: list[int]
) -> Iterator[tuple[str, tuple[int, ...], float, LogReading]]:
    """Yield the faults that have no size to be found: cause, joints, amount, reading."""
    everyone = tuple(range(robot.n))
    turning = tuple(j for j in everyone if not robot.joints[j].type.is_prismatic)
    yield 'wrong-sign', everyone, -1.0, present.with_effort(everyone, factor=-1.0)
    if turning:
        yield 'degrees', turning, DEGREE, present.with_position(turning, factor=DEGREE)
    for joint in moving:
        one = (joint,)
        flipped = present.with_position(one, factor=-1.0)
        yield 'wrong-sign', one, -1.0, present.with_effort(one, factor=-1.0)
        yield 'position-sign', one, -1.0, flipped
        yield 'axis-sign', one, -1.0, flipped.with_effort(one, factor=-1.0)
        if joint not in turning:
            continue
        if len(turning) > 1:
            yield 'degrees', one, DEGREE, present.with_position(one, factor=DEGREE)
        for quarters in (1, 2, -1):
            angle = quarters * QUARTER
            yield 'zero-offset', one, angle, present.with_position(one, offset=angle)
    for first in everyone:
        for second in everyone[first + 1 :]:
            pair = (first, second)
            for cause, position, effort in (
                ('joints-swapped', True, True),
                ('efforts-swapped', False, True),
                ('positions-swapped', True, False),
            ):
                # Samples in which a joint stands do not count for it: paired with what another
                # joint measured, they would take that out of what has to be explained.
                if position != effort and not (first in moving and second in moving):
                    continue
                reading = present.with_swap(first, second, position=position, effort=effort)
                yield cause, pair, 0.0, reading


def _find_factor(
    evidence: LogEvidence, present: LogReading, joint: int, base: float
) -> Hypothesis:
    """Return the factor on the effort of one joint that suits the others best."""

    def cost(logarithm: float) -> float:
        reading = present.with_effort((joint,), factor=math.exp(logarithm))
        return evidence.explain(reading).cost

    grid = np.log(FACTORS)
    costs = [cost(value) for value in grid]
    best = int(np.argmin(costs))
    logarithm, lowest = float(grid[best]), costs[best]
    deviation = math.inf
    if lowest < base - 1.0:
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
        logarithm, lowest = search_minimum(cost, float(low), float(high))
        deviation = _deviation(cost, logarithm, lowest, 0.05)
    factor = math.exp(logarithm)
    reading = present.with_effort((joint,), factor=factor)
    return Hypothesis('effort-scaled', (joint,), factor, reading, lowest - base, deviation)


def find_delay(
    evidence: LogEvidence, present: LogReading, joints: tuple[int, ...], base: float
) -> Hypothesis:
    """Return by how much later than the positions efforts were recorded.

    Parameters
    ----------
    evidence : LogEvidence
    present : LogReading
        What has been found so far.
    joints : tuple of int
        Whose.
    base : float
        Cost of the log in that reading.

    Returns
    -------
    Hypothesis
        Its amount is the delay [s].
    """

    def cost(delay: float) -> float:
        return evidence.explain(present.with_effort(joints, delay=delay)).cost

    coarse = DELAYS[::2]
    costs = [cost(value) for value in coarse]
    best = int(np.argmin(costs))
    delay, lowest = float(coarse[best]), costs[best]
    deviation = math.inf
    if lowest < base - 0.5 or coarse[best] == 0.0:
        low, high = coarse[max(best - 1, 0)], coarse[min(best + 1, coarse.size - 1)]
        delay, lowest = search_minimum(cost, float(low), float(high))
        deviation = _deviation(cost, delay, lowest, 5e-3)
    reading = present.with_effort(joints, delay=delay)
    return Hypothesis('effort-delay', joints, delay, reading, lowest - base, deviation)


def search_minimum(
    cost: Callable[[float], float], low: float, high: float, nearest: float = 0.0
) -> tuple[float, float]:
    """Return where a function is least between two places, by golden section, and its value.

    Parameters
    ----------
    cost : callable
    low, high : float
        Places that hold one minimum.
    nearest : float
        How near is near enough, where that is more than a thousandth of the place.

    Returns
    -------
    tuple of float
        Place and value.
    """
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    places = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [cost(place) for place in places]
    for _ in range(REFINED):
        if high - low < max(1e-3 * max(abs(low), abs(high), 1e-2), nearest):
            break
        if values[0] < values[1]:
            high = places[1]
            places = [high - ratio * (high - low), places[0]]
            values = [cost(places[0]), values[0]]
        else:
            low = places[0]
            places = [places[1], low + ratio * (high - low)]
            values = [values[1], cost(places[1])]
    best = int(values[1] < values[0])
    return places[best], values[best]


def _deviation(cost: Callable[[float], float], place: float, lowest: float, reach: float) -> float:
    """Return how far from a minimum the cost has risen by a half, from both sides of it."""
    rise = 0.5 * (cost(place - reach) + cost(place + reach)) - lowest
    return reach / math.sqrt(2.0 * rise) if rise > 0.0 else math.inf
