"""By how much later than a command the reported efforts follow it, and how that varies.

Commands are held until the next one. With g for the gravity of the given model, and without what
changes slowly, the effort of a joint is

    e(t) = factor u(t - delay) + part g(t)

where a part that is not 0 is gravity that the driver adds or takes out. Where the commands are in
N m the factor is the scale of the effort. Between two messages all delays are the same, and the
range says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.driver.recording import CommandLog
from ne_dynamics.driver.thresholds import DELAY
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Log
from ne_dynamics.logs.autocorrelation import find_correlation_time
from ne_dynamics.model.rigid_body import FloatArray

COARSE, FINE, LATE = 1e-3, 1e-4, 4e-3
"""Steps of the search, at first and at last, and of its first look at long delays [s]."""

EDGE = 5e-3
"""Delays found as near to the longest may be longer [s]."""

MOST_STATES = 4000
"""States that are looked at, one after another."""


@dataclass(frozen=True, eq=False)
class EffortDelay:
    """How the reported efforts follow the commands.

    Attributes
    ----------
    delay, deviation : float
        [s]; a negative delay: efforts come before the commands, by clocks that differ.
    jitter : float
        Standard deviation from state to state [s]; NaN where it is not told.
    explained : array, shape (n,)
        Part of what is fast in each effort that command and gravity explain; NaN where nothing is.
    factor, factor_deviation : array, shape (n,)
        What is reported for one of what is commanded.
    is_echo : bool
        Whether efforts are the commands to the last digits.
    """

    delay: float
    deviation: float
    jitter: float
    explained: FloatArray
    factor: FloatArray
    factor_deviation: FloatArray
    is_echo: bool

    @property
    def follows(self) -> NDArray[np.bool_]:
        """Which efforts follow the commands, shape (n,)."""
        result: NDArray[np.bool_] = np.nan_to_num(self.explained) >= DELAY.following_share
        return result


def find_effort_delay(dynamics: Dynamics, log: Log, commands: CommandLog) -> EffortDelay | None:
    """Return by how much the reported efforts are later than the commands.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    log : Log
        States.
    commands : CommandLog
        Of the same joints.

    Returns
    -------
    EffortDelay or None
        None where no effort follows the commands, or too little is recorded.
    """
    rows = _choose_rows(log, commands, DELAY.longest_at_first)
    if rows.size < DELAY.fewest_states:
        return None
    found = _search(
        _Comparison(dynamics, log, commands, rows),
        np.arange(0.0, DELAY.longest_at_first, COARSE),
    )
    if found is not None and found.is_echo:
        return found
    early = _find_early(_Comparison(dynamics, log, commands, rows), found)
    if early is not None:
        return early
    rows = _choose_rows(log, commands, DELAY.longest)
    if rows.size < DELAY.fewest_states:
        return found
    comparison = _Comparison(dynamics, log, commands, rows)
    if comparison.joints.size:
        place = _find_late_echo(comparison)
        if place is not None:
            return _search(comparison, place + COARSE * np.arange(-1.0, 2.0))
        if found is None or found.delay > DELAY.longest_at_first - EDGE:
            late = np.arange(DELAY.longest_at_first - EDGE, DELAY.longest, LATE)
            place = late[int(np.argmin([comparison.cost(delay) for delay in late]))]
            near = float(place) + COARSE * np.arange(-4.0, 5.0)
            return _search(comparison, near) or found
    return found


def _find_early(comparison: _Comparison, found: EffortDelay | None) -> EffortDelay | None:
    """Return efforts that come before their commands, where they surely do."""
    if not comparison.joints.size:
        return None
    early = np.arange(-DELAY.earliest, 0.0, COARSE)
    costs = [comparison.cost(delay) for delay in early]
    place = float(early[int(np.argmin(costs))])
    if place > -comparison.period or place == early[0]:
        return None
    result = _search(comparison, place + COARSE * np.arange(-1.0, 2.0), -math.inf)
    if result is None or found is None:
        return result
    gain = comparison.cost(found.delay) - comparison.cost(result.delay)
    # e^6 times likelier: clocks that differ are no small thing to say.
    return result if gain > 6.0 else None


def _find_late_echo(comparison: _Comparison) -> float | None:
    """Return the delay of efforts that are late commands to the last digits, or None [s]."""
    late = np.arange(DELAY.longest_at_first - EDGE, DELAY.longest, COARSE)
    place = late[int(np.argmin([comparison.own_left(delay).max() for delay in late]))]
    fine = place + np.arange(-COARSE, COARSE + FINE, FINE)
    left = [comparison.own_left(delay).max() for delay in fine]
    return float(fine[int(np.argmin(left))]) if min(left) < DELAY.exact_share else None


def _search(comparison: _Comparison, coarse: FloatArray, least: float = 0.0) -> EffortDelay | None:
    """Return the likeliest delay near some, no shorter than one [s]; None: no effort follows."""
    if not comparison.joints.size:
        return None
    best = coarse[int(np.argmin([comparison.cost(delay) for delay in coarse]))]
    comparison.drop_unrelated(best)
    if not comparison.joints.size:
        return None
    fine = best + np.arange(-3.0 * COARSE, 3.0 * COARSE + FINE, FINE)
    fine = fine[fine > least - FINE]
    costs = np.array([comparison.cost(delay) for delay in fine])
    # Of delays that are as good but for e^2, as between two messages, the middle.
    inside = fine[costs <= costs.min() + 2.0]
    delay = max(float(0.5 * (inside[0] + inside[-1])), least)
    explained, factor, spread = comparison.summarise(delay)
    echo = comparison.own_left(float(fine[int(np.argmin(costs))])).max() < DELAY.exact_share
    return EffortDelay(
        delay,
        max(float(inside[-1] - inside[0]) / math.sqrt(12.0), FINE),
        comparison.find_jitter(delay),
        explained,
        factor,
        spread,
        bool(echo),
    )


def find_longest(log: Log, commands: CommandLog) -> float:
    """Return up to which delay it can be said that no effort follows the commands [s].

    Parameters
    ----------
    log : Log
        States.
    commands : CommandLog
        Of the same joints.

    Returns
    -------
    float
        0 where too little is recorded to compare anything.
    """
    for longest in (DELAY.longest, DELAY.longest_at_first):
        rows = _choose_rows(log, commands, longest)
        if rows.size < DELAY.fewest_states:
            continue
        held = commands.hold(log.times[rows])
        changes = (np.ptp(log.effort[rows], axis=0) > 0.0) & (np.ptp(held, axis=0) > 0.0)
        return longest if changes.any() else 0.0
    return 0.0


def _choose_rows(log: Log, commands: CommandLog, longest: float) -> NDArray[np.intp]:
    """Return the states that all delays up to a longest one [s] are tried on."""
    # The last steps of the search go beyond the longest.
    first = commands.times[0] + longest + 2.0 * LATE
    last = commands.times[-1] - DELAY.earliest
    inside = np.flatnonzero((log.times >= first) & (log.times <= last))
    start = max((inside.size - MOST_STATES) // 2, 0)
    rows: NDArray[np.intp] = inside[start : start + MOST_STATES]
    return rows


class _Comparison:
    """Efforts of some states, and the commands some time before each."""

    def __init__(
        self, dynamics: Dynamics, log: Log, commands: CommandLog, rows: NDArray[np.intp]
    ) -> None:
        self._times, self._commands = log.times[rows], commands
        self._n = log.effort.shape[1]
        self.period = float(np.median(np.diff(self._times)))
        # What changes over 0.4 s and longer is taken out.
        self._window = 2 * max(round(0.2 / self.period), 1) + 1
        self._raw = log.effort[rows]
        self._effort = self._fast(self._raw)
        self._whole = self._raw - self._raw.mean(axis=0)
        self._gravity = self._fast(np.asarray(dynamics.gravity_torque(log.position[rows])))
        command = self._fast(commands.hold(self._times))
        changes = (np.ptp(self._raw, axis=0) > 0.0) & (np.ptp(command, axis=0) > 0.0)
        self.joints = np.flatnonzero(changes)
        self._size = np.maximum((self._effort**2).sum(axis=0), 1e-30)
        weight = np.maximum((self._gravity**2).sum(axis=0), 1e-9)
        own = self._effort - self._gravity * ((self._gravity * self._effort).sum(axis=0) / weight)
        self._own_size = np.maximum((own**2).sum(axis=0), 1e-30)
        self._count = 1.0

    def _fast(self, table: FloatArray) -> FloatArray:
        """Return columns without what changes slowly."""
        half = self._window // 2
        padded = np.pad(table, ((half + 1, half), (0, 0)), mode='edge')
        sums = np.cumsum(padded, axis=0)
        result: FloatArray = table - (sums[self._window :] - sums[: -self._window]) / self._window
        return result

    def _fit(self, delay: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return factor of the command, part of gravity, what is left and the command's share.

        The last is the sum of squares of the command that gravity cannot replace.
        """
        u = self._fast(self._commands.hold(self._times - delay))
        e, g = self._effort, self._gravity
        held = self._commands.hold(self._times - delay)
        whole = held - held.mean(axis=0)
        square = np.maximum((whole * whole).sum(axis=0), 1e-30)
        plain = (whole * self._whole).sum(axis=0) / square
        off = ((self._whole - plain * whole) ** 2).sum(axis=0)
        is_plain = off <= DELAY.plain_share * (self._whole**2).sum(axis=0)
        weight = np.maximum((g * g).sum(axis=0), 1e-9)
        # The command and the effort without what gravity explains of each.
        own = u - g * ((g * u).sum(axis=0) / weight)
        share = np.maximum((own * own).sum(axis=0), 1e-30)
        factor = np.where(is_plain, plain, (own * e).sum(axis=0) / share)
        part = np.where(is_plain, 0.0, (g * (e - factor * u)).sum(axis=0) / weight)
        share = np.where(is_plain, square, share)
        return factor, part, e - factor * u - part * g, share

    def left(self, delay: float) -> FloatArray:
        """Return the part of what is fast in the efforts that is left, shape (n,)."""
        part: FloatArray = (self._fit(delay)[2] ** 2).sum(axis=0) / self._size
        return part

    def own_left(self, delay: float) -> FloatArray:
        """Return the part of the efforts that they are off the commands as they are."""
        off = self._raw - self._commands.hold(self._times - delay)
        size = np.maximum((self._raw**2).sum(axis=0), 1e-30)
        part: FloatArray = ((off**2).sum(axis=0) / size)[self.joints]
        return part

    def cost(self, delay: float) -> float:
        """Return the negative logarithm of the likelihood of a delay, but for a constant."""
        left = np.maximum(self.left(delay)[self.joints], 1e-8)
        return float(0.5 * self._count * np.log(left).sum())

    def drop_unrelated(self, delay: float) -> None:
        """Leave joints out whose efforts do not follow; count independent values of the rest."""
        _, part, rest, _ = self._fit(delay)
        # What gravity explains is no sign of a command.
        size = np.where(part == 0.0, self._size, self._own_size)
        left = (rest**2).sum(axis=0) / size
        self.joints = self.joints[left[self.joints] <= 1.0 - DELAY.following_share]
        if self.joints.size:
            chosen = rest[:, self.joints]
            alike = find_correlation_time(chosen, np.ones(chosen.shape, dtype=bool))
            self._count = float(chosen.shape[0] / np.median(alike))

    def summarise(self, delay: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what is explained, the factors and their deviations, shape (n,) each."""
        factor, part, rest, share = self._fit(delay)
        explained, spread = np.full(self._n, math.nan), np.full(self._n, math.inf)
        alike = find_correlation_time(rest, np.ones(rest.shape, dtype=bool))
        variance = alike * (rest**2).mean(axis=0) / share
        variance += np.where(part == 0.0, 0.0, (DELAY.beside_gravity * factor) ** 2)
        explained[self.joints] = 1.0 - self.left(delay)[self.joints]
        spread[self.joints] = np.sqrt(variance[self.joints])
        return explained, factor, spread

    def find_jitter(self, delay: float) -> float:
        """Return by how much the delay that suits each state best varies [s].

        NaN where the commands change too little beside the noise of the efforts.
        """
        factor, part, rest, _ = self._fit(delay)
        joints = self.joints
        noise = np.maximum(rest.std(axis=0), 1e-3 * np.sqrt(self._size / self._times.size))
        held = self._commands.hold(self._times - delay)
        change = np.abs(np.gradient(held, axis=0))
        telling = (np.abs(factor) * change / noise)[:, joints].max(axis=1)
        order = np.argsort(telling)[-600:]  # more tell no more
        chosen = np.sort(order[telling[order] >= DELAY.telling_change])
        if chosen.size < DELAY.fewest_states:
            return math.nan
        rest_of = (self._effort - part * self._gravity)[chosen] + factor * (
            held - self._fast(held)
        )[chosen]
        offsets = 2.5e-4 * np.arange(-40.0, 41.0)
        errors = np.array(
            [
                self._misfit(rest_of, factor, noise, self._times[chosen] - delay - offset)
                for offset in offsets
            ]
        )
        best = errors.min(axis=0)
        # All that are as good count, by their middle: a command is held.
        near = errors <= best + 1e-6 * (1.0 + best)
        places = (near * offsets[:, np.newaxis]).sum(axis=0) / near.sum(axis=0)
        return float(places.std())

    def _misfit(
        self, values: FloatArray, factor: FloatArray, noise: FloatArray, times: FloatArray
    ) -> FloatArray:
        off = (values - factor * self._commands.hold(times)) / noise
        result: FloatArray = (off[:, self.joints] ** 2).sum(axis=1)
        return result
