"""Where a function of one number is least, and how sharply; which signs cost least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ne_dynamics.logs import LogReading


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
    while high - low >= max(1e-3 * max(abs(low), abs(high), 1e-2), nearest):
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


def find_deviation(
    cost: Callable[[float], float], place: float, lowest: float, reach: float
) -> float:
    """Return how far from a minimum the cost has risen by a half, from both sides of it.

    Parameters
    ----------
    cost : callable
    place, lowest : float
        The minimum and its value.
    reach : float
        To either side, where the cost is looked at.
    """
    rise = 0.5 * (cost(place - reach) + cost(place + reach)) - lowest
    return reach / math.sqrt(2.0 * rise) if rise > 0.0 else math.inf


def search_near(
    cost: Callable[[float], float],
    step: float,
    reach: float,
    promising: float = 3.0,
    farther: int = 3,
    at_the_end: float = 0.95,
) -> tuple[float, float]:
    """Return where a function that is 0 at 0 is least about it, and its value there.

    By a parabola first: where that promises little, nothing is searched.

    Parameters
    ----------
    cost : callable
    step : float
        To either side of 0, where the function is looked at first.
    reach : float
        How far from 0 the least is looked for.
    promising : float
        How far below 0 the least of the parabola has to be.
    farther : int
        How often it is looked for, each time twice as far, while it is found near the end.
    at_the_end : float
        Part of the reach from which it is near the end.

    Returns
    -------
    tuple of float
        (0, 0) where there is nothing.
    """
    below, above = cost(-step), cost(step)
    bend, rise = below + above, 0.5 * (above - below)
    gain = 0.5 * rise * rise / bend if bend > 0.0 else math.inf
    if max(-below, -above, min(gain, abs(rise) * reach / step)) < promising:
        return 0.0, 0.0
    place, least, end = 0.0, 0.0, math.copysign(reach, -rise)
    for _ in range(farther):
        low, high = sorted((place, end))
        found, value = search_minimum(cost, low, high, 0.02 * step)
        if value >= least:
            break
        place, least = found, value
        if abs(place) < at_the_end * abs(end):
            break
        end *= 2.0
    return place, least


def choose_signs(
    cost: Callable[[LogReading], float], reading: LogReading, joints: Sequence[int]
) -> tuple[LogReading, float]:
    """Return a reading with the signs of efforts that cost least, and its cost.

    Parameters
    ----------
    cost : callable
    reading : LogReading
        Whose signs are turned round one after the other, where that costs less.
    joints : sequence of int
    """
    least = cost(reading)
    for joint in joints:
        turned = reading.with_effort((joint,), factor=-1.0)
        found = cost(turned)
        if found < least:
            reading, least = turned, found
    return reading, least
