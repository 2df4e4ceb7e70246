"""How well each reading of a log goes together with the equations of motion."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.algorithms.hysteresis import follow_hysteresis
from ne_dynamics.driver.evidence.effort_fit import (
    EffortFit,
    Explained,
    FittedMotion,
    JointTerms,
    count_independent,
)
from ne_dynamics.driver.evidence.gravity_columns import turn_gravity
from ne_dynamics.driver.evidence.thresholds import EVIDENCE
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.identification.regression.friction_terms import find_displacement
from ne_dynamics.logs import Log, LogReading, filtered
from ne_dynamics.logs.parts import join, look
from ne_dynamics.logs.signals import filter_late_effort
from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.model.rigid_body import FloatArray

DELAYS = np.arange(-40, 101, 5) * 1e-3
"""For which efforts are filtered [s]; between them they are interpolated."""


class LogEvidence:
    """The filtered log, and what each reading of it costs.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        [Hz]; default: from the spectrum of the velocities.
    has_free_factors : bool
        Whether the effort of each joint is in a unit of its own, as motor currents are: in every
        reading it is taken as large as the given model's, whatever its sign.
    has_load : bool
        Whether the arm is said to carry something that the given model has not.
    reversal_margin : float
        Samples of a joint nearer to a change of its direction than this many periods of the
        cut-off frequency do not count: while a joint sticks, friction is as late as it is large,
        and that looks like a delay.

    Raises
    ------
    InputError
        When the log cannot be filtered.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        log: Log,
        cutoff_frequency: float | None = None,
        has_free_factors: bool = False,
        has_load: bool = False,
        reversal_margin: float = 0.0,
    ) -> None:
        self._dynamics, self.has_load = dynamics, has_load
        self.has_free_factors = has_free_factors
        limits = dynamics.robot.limits('effort_limit')
        cutoff = choose_evidence_cutoff(log) if cutoff_frequency is None else cutoff_frequency
        signals = filtered(log, np.full_like(limits, np.inf), cutoff)
        chosen = slice(None, None, max(1, signals.times.size // EVIDENCE.samples))
        self._chosen, self._segments = chosen, signals.segments
        self._position = signals.position[chosen]
        self._times = signals.times[chosen] - signals.times.mean()
        self._rates = (
            signals.velocity[chosen],
            signals.acceleration[chosen],
            signals.direction[chosen],
        )
        self._effort = signals.effort[chosen]
        self._used = signals.usable[chosen]
        if reversal_margin > 0.0:
            reach = reversal_margin / cutoff
            near = _is_near_reversal(signals.times[chosen], self._rates[0], reach)
            self._used = self._used & ~near
        self._counts = count_independent(self._effort)
        self.is_one_sided = _is_one_sided(log.effort)
        measured = signals.measured_velocity
        self._velocity = None if measured is None else measured[chosen]
        self.moves = signals.moves
        self._log, self._cutoff = log, cutoff
        self._late: dict[int, FloatArray] = {}
        self._fits: dict[tuple[object, ...], EffortFit] = {}
        self._explained: dict[tuple[object, ...], Explained] = {}
        self._paths: dict[tuple[int, float], FloatArray] = {}
        self._turns_round: tuple[float, ...] = ()

    @classmethod
    def find(
        cls, dynamics: Dynamics, log: Log, cutoff_frequency: float | None = None, **options: Any
    ) -> LogEvidence | None:
        """Return the evidence of a log; None where it cannot be filtered, or is not telling.

        Arguments are those of the class. Of a long log some parts are looked at.
        """
        parts = look(log)
        if cutoff_frequency is None and len(parts) > 1:
            cutoff_frequency = max(map(choose_evidence_cutoff, parts))
        try:
            evidence = cls(dynamics, join(parts), cutoff_frequency, **options)
        except InputError:
            return None
        return evidence if evidence.is_telling else None

    def with_paths(self) -> LogEvidence:
        """Return the same, with friction that turns round over a displacement as an explanation.

        Such friction is late behind the velocity, as a late effort is.
        """
        other = copy.copy(self)
        other._fits, other._explained, other._turns_round = {}, {}, EVIDENCE.turns_round
        return other

    def split_in_halves(self) -> tuple[LogEvidence, LogEvidence]:
        """Return the evidence of the first and of the second half of the log, each by itself."""
        halves = []
        in_first = np.arange(self._used.shape[0])[:, np.newaxis] < self._used.shape[0] // 2
        for chosen in (in_first, ~in_first):
            half = copy.copy(self)
            half._fits, half._explained, half._used = {}, {}, self._used & chosen
            share = half._used.sum(axis=0) / np.maximum(self._used.sum(axis=0), 1)
            half._counts = self._counts * share
            halves.append(half)
        return halves[0], halves[1]

    @property
    def is_telling(self) -> bool:
        """False when no joint moves, or no effort was measured."""
        return bool(self._used.any() and self._effort.any())

    @property
    def duration(self) -> float:
        """From the first sample that is looked at to the last [s]."""
        return float(np.ptp(self._times))

    @property
    def given_gravity(self) -> FloatArray:
        """Of the given model, in base axes, shape (3,) [m/s^2]."""
        return self._dynamics.gravity

    def explain(self, reading: LogReading) -> Explained:
        """Fit the log in a reading; one that was fitted before is remembered."""
        key = _as_key(*vars(reading).values())
        if key not in self._explained:
            self._explained[key] = self._explain(reading)
        return self._explained[key]

    def _explain(self, reading: LogReading) -> Explained:
        effort = self.get_effort(reading)
        explained = self._fit(reading).explain(effort, self.count(reading))
        cost = explained.cost + self._velocity_cost(reading)
        if reading.effort_offset.any() or reading.effort_drift.any() or reading.couplings:
            # A residual is as large a part of an effort as before others were put into it.
            none = np.zeros(effort.shape[1])
            recorded = self.get_effort(
                replace(reading, effort_offset=none, effort_drift=none, couplings=())
            )
            sizes = np.maximum(rms(effort), 1e-9) / np.maximum(rms(recorded), 1e-9)
            cost += float(self.count(reading) @ np.log(sizes))
        return replace(explained, cost=cost)

    def get_effort(self, reading: LogReading) -> FloatArray:
        """Return the filtered efforts in a reading, shape (M, n) [N m or N]."""
        columns = [
            self._late_effort(int(source), float(delay), float(lag))
            for source, delay, lag in zip(
                reading.effort_source, reading.effort_delay, reading.effort_lag, strict=True
            )
        ]
        efforts: FloatArray = (
            np.stack(columns, axis=1) * reading.effort_factor + reading.effort_offset
        )
        if reading.effort_drift.any():
            efforts += self._times[:, np.newaxis] * reading.effort_drift
        efforts = reading.uncouple_efforts(efforts)
        if self.has_free_factors:
            efforts = efforts * self._find_factors(reading, efforts)
        return efforts

    def free_signs(self, reading: LogReading) -> tuple[FloatArray, float]:
        """Return the sign that each effort of the log has in the fit, where none is recorded.

        Returns
        -------
        signs : array, shape (M, n)
        cost : float
            Of the log with them, less that with one sign for each joint.
        """
        fit, sizes = self._fit(reading), np.abs(self.get_effort(reading))
        counts = self.count(reading)
        signs = fit.find_signs(sizes, counts)
        usual = np.where(signs.mean(axis=0) < 0.0, -1.0, 1.0)
        free, fixed = (fit.explain(sizes * table, counts).cost for table in (signs, usual))
        return signs, free - fixed

    def _find_factors(self, reading: LogReading, efforts: FloatArray) -> FloatArray:
        """Return the factors > 0 that make efforts as large as the given model's, shape (n,).

        Where the load's centre of mass is turns the efforts of the last joints as much as a factor
        does: it is found along, in turns.
        """
        fit = self._fit(reading)
        counts = self.count(reading)
        parts = []
        for joint, use in enumerate(self._used[:, reading.position_source].T):
            own = [rate[use, joint] for rate in self.get_rates(reading)]
            basis, _ = np.linalg.qr(np.stack([*own, np.ones(int(use.sum()))], axis=1))
            rows = np.c_[
                efforts[use, joint], fit.given_effort[use, joint], fit.moment_columns[use, joint]
            ]
            parts.append((float(np.linalg.norm(rows[:, 0])), rows - basis @ (basis.T @ rows)))
        width = fit.moment_columns.shape[2]
        center = np.zeros(width)
        # Where the load may well make more of an effort than the given model, it is not found.
        anchors = np.array(
            [
                np.linalg.norm(rows[:, 1]) > EVIDENCE.anchor_share * np.linalg.norm(rows[:, 2:])
                for _, rows in parts
            ]
        )
        factors = np.ones(len(parts))
        for _ in range(EVIDENCE.turns):
            slopes = np.full(len(parts), np.nan)
            for joint, (size, rows) in enumerate(parts):
                expected = rows[:, 1] + rows[:, 2:] @ center
                power = float(expected @ expected)
                slope = float(expected @ rows[:, 0]) / power if power > 0.0 else 0.0
                if size > 0.0 and abs(slope) * math.sqrt(power) > EVIDENCE.clear_share * size:
                    slopes[joint] = slope
            clear = np.isfinite(slopes)
            # Where friction is all that there is, the drive is taken to be like the others.
            usual = float(np.exp(-np.log(np.abs(slopes[clear])).mean())) if clear.any() else 1.0
            factors = np.where(clear, 1.0 / np.abs(np.where(clear, slopes, 1.0)), usual)
            table = [np.c_[np.eye(width) / EVIDENCE.moment_prior_scale, np.zeros(width)]]
            for joint in np.flatnonzero(clear & anchors).tolist():
                size, rows = parts[joint]
                weight = math.sqrt(counts[joint]) / (
                    EVIDENCE.expected_share * size * factors[joint]
                )
                left = rows[:, 0] / slopes[joint] - rows[:, 1]
                table.append(weight * np.c_[rows[:, 2:], left])
            stacked = np.concatenate(table)
            center = np.linalg.lstsq(stacked[:, :-1], stacked[:, -1], rcond=None)[0]
        return factors

    def get_given_effort(self, reading: LogReading) -> FloatArray:
        """Return the given model's effort without friction, shape (M, n) [N m or N]."""
        return self._fit(reading).given_effort

    def get_joint_terms(self, reading: LogReading) -> JointTerms:
        """Return friction, rotor inertia and constant of each joint in a reading."""
        return self._fit(reading).find_joint_terms(self.get_effort(reading), self.count(reading))

    def find_constants(self, reading: LogReading) -> tuple[FloatArray, FloatArray]:
        """Return constants of the efforts of which nothing is believed, and their deviations.

        Shape (n,) each [N m or N].
        """
        terms = self._fit(reading).find_joint_terms(
            self.get_effort(reading), self.count(reading), EVIDENCE.any_constant
        )
        return terms.constant, terms.constant_deviation

    def get_load_columns(self, reading: LogReading) -> FloatArray:
        """Return what a load at the ends of the arm adds, shape (M, n, columns) [N m or N].

        Each column by the spread of its parameter.
        """
        return self._fit(reading).load_columns

    def get_moment_columns(self, reading: LogReading) -> FloatArray:
        """Return those of the load's columns that are its first moments, shape (M, n, k)."""
        return self._fit(reading).moment_columns

    def get_rates(self, reading: LogReading) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return velocity, acceleration and direction in a reading, shape (M, n) each."""
        velocity, acceleration, direction = map(reading.read_rates, self._rates)
        # A sign has no place for the factor of a unit, and is no sum.
        direction /= np.abs(reading.position_factor)
        for joint, *_ in reading.couplings:
            direction[:, joint] = np.sign(velocity[:, joint])
        return velocity, acceleration, direction

    def get_ranges(self, reading: LogReading) -> FloatArray:
        """Return the range of each filtered position in a reading, shape (n,)."""
        ranges: FloatArray = np.ptp(reading.read_rates(self._position), axis=0)
        return ranges

    def _get_paths(self, reading: LogReading) -> FloatArray:
        """Return states of friction of the path in a reading, shape (M, n, p)."""
        paths = []
        if not self._turns_round:
            return np.zeros((*self._effort.shape, 0))
        for joint, source, factor in zip(
            self._dynamics.robot.joints,
            reading.position_source.tolist(),
            reading.position_factor.tolist(),
            strict=True,
        ):
            # In the unit of the log, whatever a reading makes of it.
            displacement = find_displacement(joint)
            key = source, displacement
            if key not in self._paths:
                self._paths[key] = self._follow(source, displacement)
            paths.append(self._paths[key] * np.sign(factor))
        return np.stack(paths, axis=1)

    def _follow(self, source: int, displacement: float) -> FloatArray:
        parts = [
            segment.filtered(
                np.stack(
                    [
                        follow_hysteresis(segment.position[:, source], part * displacement)
                        for part in self._turns_round
                    ],
                    axis=1,
                )
            )
            for segment in self._segments
        ]
        return np.concatenate(parts)[self._chosen]

    def count(self, reading: LogReading) -> FloatArray:
        """Return how many independent values each effort holds, shape (n,)."""
        return self._counts[reading.effort_source]

    def _fit(self, reading: LogReading) -> EffortFit:
        key = _as_key(
            reading.position_source,
            reading.position_factor,
            reading.position_offset,
            reading.without_gravity,
            reading.tilt,
            reading.doubt,
            reading.has_load,
            tuple(coupling[:3] for coupling in reading.couplings),
        )
        if key not in self._fits:
            velocity, acceleration, direction = self.get_rates(reading)
            self._fits[key] = EffortFit(
                self._dynamics,
                FittedMotion(
                    reading.read_positions(self._position),
                    velocity,
                    acceleration,
                    direction,
                    self._get_paths(reading),
                ),
                self._used[:, reading.position_source],
                self.has_load or reading.has_load,
                reading.without_gravity,
                turn_gravity(self._dynamics.gravity, reading.tilt) if any(reading.tilt) else None,
                reading.doubt,
            )
        return self._fits[key]

    def _late_effort(self, source: int, delay: float, lag: float = 0.0) -> FloatArray:
        """Return an effort that was recorded later, and behind a low-pass of first order."""
        if lag != 0.0:
            step = float(DELAYS[1] - DELAYS[0])
            earlier, now, later = (
                self._late_effort(source, delay + shift) for shift in (-step, 0.0, step)
            )
            effort: FloatArray = now + lag * (later - earlier) / (2.0 * step)
            return effort
        if delay == 0.0:
            return self._effort[:, source]
        place = float(
            np.clip(np.interp(delay, DELAYS, np.arange(DELAYS.size)), 0, DELAYS.size - 1)
        )
        before = min(int(place), DELAYS.size - 2)
        part = place - before
        first = self._filter_late(before)[:, source]
        if part == 0.0:
            return first
        result: FloatArray = (1.0 - part) * first + part * self._filter_late(before + 1)[:, source]
        return result

    def _filter_late(self, index: int) -> FloatArray:
        """Return all efforts with one of the delays, shape (M, n)."""
        if index not in self._late:
            efforts = filter_late_effort(self._log, self._cutoff, float(DELAYS[index]))
            self._late[index] = efforts[self._chosen]
        return self._late[index]

    def _velocity_cost(self, reading: LogReading) -> float:
        """Return what the log's own velocities say against the positions of a reading.

        A velocity may have been changed with its position, or not.
        """
        if self._velocity is None:
            return 0.0
        derived = reading.read_rates(self._rates[0])
        size = np.maximum(rms(derived), 1e-9)
        mismatch = np.minimum(
            rms(self._velocity - derived), rms(reading.read_rates(self._velocity) - derived)
        )
        parts = np.clip(mismatch / size, EVIDENCE.smallest_mismatch, 2.0)
        return EVIDENCE.velocity_count * float(np.log(parts[self.moves]).sum())


def _as_key(*parts: Any) -> tuple[object, ...]:
    """Return what tells fields of a reading from others."""
    return tuple(part.tobytes() if isinstance(part, np.ndarray) else part for part in parts)


def _is_one_sided(effort: FloatArray) -> bool:
    """Return whether no effort is negative, but for noise about 0."""
    most = effort.max(axis=0)
    return bool(
        (most > 0.0).any() and (effort.min(axis=0) >= -EVIDENCE.negative_share * most).all()
    )


def _is_near_reversal(times: FloatArray, velocity: FloatArray, reach: float) -> NDArray[np.bool_]:
    """Return where a joint changes its direction within a time [s], shape (M, n)."""
    near = np.zeros(velocity.shape, dtype=bool)
    for joint, column in enumerate(velocity.T):
        turns = times[np.flatnonzero(np.diff(np.sign(column)) != 0.0)]
        if turns.size:
            after = np.searchsorted(turns, times)
            distances = [
                np.abs(times - turns[np.clip(place, 0, turns.size - 1)])
                for place in (after - 1, after)
            ]
            near[:, joint] = np.minimum(*distances) <= reach
    return near


def choose_evidence_cutoff(log: Log) -> float:
    """Return the cut-off frequency that suits the motion [Hz]."""
    spans = np.diff(log.times)
    step = float(np.median(spans))
    # Of a gap, which may be of days, no more is bridged than of the other steps.
    times = np.concatenate([[0.0], np.cumsum(np.minimum(spans, FAULTS.largest_gap * step))])
    even = np.arange(0.0, times[-1], step)
    powers = np.zeros(even.size // 2 + 1)
    for column in log.position.T:
        values = np.interp(even, times, column)
        # What goes on at the end where it began has no step in its periodic continuation.
        values = values - np.linspace(values[0], values[-1], values.size)
        power = (np.arange(powers.size) * np.abs(np.fft.rfft(values))[: powers.size]) ** 2
        total = float(power.sum())
        if total > 0.0:
            powers += power / total
    reached = np.cumsum(powers)
    highest = float(np.searchsorted(reached, EVIDENCE.motion_power * reached[-1])) / (
        step * even.size
    )
    low, high = EVIDENCE.cutoff_range
    return min(
        float(np.clip(EVIDENCE.cutoff_factor * highest, low, high)),
        1.0 / (EVIDENCE.samples_per_cutoff * step),
    )
