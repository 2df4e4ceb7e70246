"""Gains fitted to the loop of all joints: lowered together, raised one by one."""

from __future__ import annotations

import sys

import numpy as np

from ne_dynamics.gains.falling import Falls
from ne_dynamics.gains.kind import BY_MARGINS, Choice, GainBounds, LoopKind, corner_modes
from ne_dynamics.gains.loop import (
    JointGains,
    close_loop,
    frequencies,
    growth,
    open_loop,
    resting_loop,
)
from ne_dynamics.gains.margins import Margins, margins_of_all, margins_of_joints
from ne_dynamics.gains.plants import Plants
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.gains.scalar import suffices
from ne_dynamics.gains.thresholds import GAIN_SEARCH
from ne_dynamics.model.rigid_body import FloatArray, IndexArray

LARGER = 1.0 / sys.float_info.epsilon
"""A power of two, so that numbers keep their digits."""


class LoopFit:
    """Looks at the loop of all joints: in a few poses while it searches, in all at its end."""

    def __init__(self, kind: LoopKind, plants: Plants, request: GainRequest, falls: Falls) -> None:
        self._kind, self._gains = kind, kind.gains
        self._falls = falls
        self._request = request
        self._has_integral = kind.has_integral
        self._modes = corner_modes(kind.mode, plants, request)
        self._weights = kind.corner_weights
        self._at = frequencies(kind.timing, self._modes)
        self._few = frequencies(kind.timing, self._modes, GAIN_SEARCH.few_frequencies)
        self._bounds = GainBounds(kind, plants, request)
        self._joints = len(plants.joints)
        inner = np.diag(kind.scale) if self._weights is None else self._weights
        values = np.linalg.eigvals(
            np.linalg.solve(plants.corners(), np.broadcast_to(inner, plants.corners().shape))
        ).real
        falling = self._modes.squares.min(axis=1)
        self._hard = np.unique(
            [
                np.argsort(size)[: GAIN_SEARCH.hard_poses]
                for size in (values.min(axis=1), -values.max(axis=1), falling, -falling)
            ]
        )

    def _check_few(self, gains: JointGains) -> bool:
        """Return whether gains suffice in the hard poses, nearly."""
        return self._check(gains, self._hard, self._few, GAIN_SEARCH.few_slack)[1]

    def _check(
        self, gains: JointGains, index: IndexArray, at: FloatArray, slack: float = 1.0
    ) -> tuple[Margins | None, bool]:
        """Return the margins of all joints at once, and whether those and each joint's suffice."""
        some, timing = self._modes[index], self._kind.timing
        weights = None if self._weights is None else self._weights[index]
        loop = open_loop(some, weights, gains, timing, at)
        rest = resting_loop(some, weights, gains)
        is_whole = slack == 1.0
        enough = suffices(margins_of_joints(loop, at, rest), self._request, slack)
        if not (enough or is_whole):
            return None, False
        together = self._bounded(margins_of_all(loop, at, rest), gains)
        enough = enough and suffices(together, self._request, slack)
        if enough:
            closed = close_loop(some, weights, gains, timing)
            enough = bool(growth(closed, self._has_integral).max() < 1.0)
        return together, enough

    def _bounded(self, together: Margins, gains: JointGains) -> Margins:
        """Return margins with no larger reduction than the poses bear in which the arm falls."""
        least = self._falls.reduction(gains.kp)
        if self._has_integral and np.isfinite(least):
            least = min(least, self._find_slow_reduction(gains))
        return together._replace(reduction=np.minimum(together.reduction, least))

    def _find_slow_reduction(self, gains: JointGains) -> float:
        """Return the factor by which an integral's gains may be smaller where the arm falls first.

        Slower than the damping, it lets an arm fall before the stiffness does: the locus crosses
        the negative axis about the frequency at which its lag is the lead of the damping.
        """
        fastest = GAIN_SEARCH.integral_frequency * float(np.sqrt((gains.ki / gains.kd).max()))
        at = self._few[: max(2, int(np.searchsorted(self._few, fastest)))]
        modes = self._falls.modes(self._kind.mode)
        loop = open_loop(modes, None, gains, self._kind.timing, at)
        # Larger by so much, whatever crosses there does so beyond -1.
        return float(margins_of_all(LARGER * loop, at).reduction.min()) / LARGER

    def stand(self, frequency: FloatArray, damping: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return frequencies with which the arm does not fall, and ratios of the same damping.

        Joints are made stiffer, each by its part of what holds the arm where it falls first, as
        far as their bounds allow.
        """
        before, wanted = frequency, self._request.gain_margin
        for _ in range(GAIN_SEARCH.standings):
            gains = self._gains(frequency, damping * before / frequency)
            missing = wanted / self._falls.reduction(gains.kp)
            if missing <= 1.0:
                break
            share = self._falls.share(gains.kp)
            rise = np.minimum(np.sqrt(missing), GAIN_SEARCH.largest_rise) ** (share / share.max())
            tried = frequency * rise
            used, _ = self._bounds.check(self._gains(tried, damping * before / tried))
            frequency = np.where(used <= 1.0, tried, frequency)
        return frequency, damping * before / frequency

    def lower(self, frequency: FloatArray, damping: FloatArray) -> FloatArray | None:
        """Return frequencies, lowered together until the gains suffice; None where they do not."""
        if self._check_few(self._gains(frequency, damping)):
            return frequency
        factor, found = 1.0, 0.0
        # Gravity asks for more, and margins for less: there may be something between.
        while not found and factor * frequency.max() >= self._request.least_frequency:
            factor *= GAIN_SEARCH.lowering_factor
            if self._check_few(self._gains(factor * frequency, damping)):
                found = factor
        if not found:
            return None
        low, high = found, found / GAIN_SEARCH.lowering_factor
        for _ in range(GAIN_SEARCH.lowering_bisections):
            middle = np.sqrt(low * high)
            enough = self._check_few(self._gains(middle * frequency, damping))
            low, high = (middle, high) if enough else (low, middle)
        return np.asarray(low * frequency, dtype=np.float64)

    def raise_each(
        self, frequency: FloatArray, damping: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return frequencies and damping ratios, each joint's as high as the margins allow.

        In turn, each joint is made stiffer: with the same part of damping by stiffness, with the
        same damping ratio, or with the same damping.
        """
        rise, moves = GAIN_SEARCH.largest_rise, ((1.0, 2.0), (1.0, 1.0), (1.0, 0.0))
        while rise >= GAIN_SEARCH.least_rise:
            before = frequency
            frequency, damping = self._move_each(frequency, damping, moves, rise)
            rise = np.sqrt(rise) if frequency is before else rise
        return frequency, damping

    def _move_each(
        self,
        frequency: FloatArray,
        damping: FloatArray,
        moves: tuple[tuple[float, float], ...],
        rise: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Return frequencies and damping ratios after one move of each joint, in turn.

        It is the first of the moves within the bounds whose gains suffice; the same arrays where
        there is none. A move is the powers of the rise by which stiffness' root and damping grow.
        """
        for joint in range(self._joints):
            for stiffer, damper in moves:
                tried, ratios = frequency.copy(), damping.copy()
                # w^2 is the stiffness, d w the damping.
                tried[joint] *= rise**stiffer
                ratios[joint] *= rise ** (damper - stiffer)
                gains = self._gains(tried, ratios)
                if self._bounds.check(gains)[0][joint] <= 1.0 and self._check_few(gains):
                    frequency, damping = tried, ratios
                    break
        return frequency, damping

    def finish(self, frequency: FloatArray, damping: FloatArray) -> Choice | None:
        """Return gains that suffice in all poses: these, or lower ones; None where none do.

        None also where the arm falls too early in a pose that was not looked at, and is from now.
        """
        everything = np.arange(len(self._modes))
        while True:
            gains = self._gains(frequency, damping)
            together, enough = self._check(gains, everything, self._at)
            if enough and together is not None:
                # Also in the pose, which nobody has drawn, in which the arm falls first.
                self._falls.search(gains.kp)
                together = self._bounded(together, gains)
                if suffices(together, self._request):
                    break
                return None
            if together is not None:
                worst = [
                    np.argsort(size)[: GAIN_SEARCH.hard_poses]
                    for size in (together.phase, together.gain)
                ]
                self._hard = np.unique(np.concatenate((self._hard, *worst)))
            lowered = self.lower(GAIN_SEARCH.look_factor * frequency, damping)
            if lowered is None or frequency.max() < self._request.least_frequency:
                return None
            frequency = lowered
        used, names = self._bounds.check(gains)
        active = tuple(
            name if share > GAIN_SEARCH.nearly_used else BY_MARGINS
            for share, name in zip(used.tolist(), names, strict=True)
        )
        return Choice(self._kind, frequency, damping, gains, active, together)
