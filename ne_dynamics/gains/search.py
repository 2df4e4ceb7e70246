"""The largest gains that keep their margins around all arms that there may be.

With the same ratio of damping to stiffness in all joints, a rigid arm is a set of scalar loops:
its directions, each with the loop of a double integrator times an eigenvalue of M^-1 W K. So the
ends of the eigenvalues say what every pose and every model does, and natural frequency and damping
are found on a few scalar loops. Each joint then gets the largest frequency that its encoder and
its motor allow as well, and the loop of all joints is looked at in every pose: where it has less
than its margins all frequencies are lowered together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ne_dynamics.control import VelocitySource
from ne_dynamics.errors import InputError
from ne_dynamics.gains.falling import Falls
from ne_dynamics.gains.fit import LoopFit
from ne_dynamics.gains.kind import BY_MARGINS, Choice, GainBounds, LoopKind, loop_kind
from ne_dynamics.gains.plants import Plants
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.scalar import ScalarLoops
from ne_dynamics.gains.thresholds import GAIN_SEARCH
from ne_dynamics.model.rigid_body import FloatArray

_Found = tuple[float, LoopKind, float, FloatArray]


def _cutoffs(mode: GainMode, request: GainRequest) -> list[float]:
    """Return the cut-off frequencies of the velocity that are tried [Hz]."""
    if request.velocity_cutoff_frequency is not None:
        return [request.velocity_cutoff_frequency]
    if not mode.is_of_node or request.velocity_source is VelocitySource.MEASURED:
        return [GAIN_SEARCH.cutoffs[2]]
    highest = GAIN_SEARCH.cutoff_by_rate * request.rate
    return [each for each in GAIN_SEARCH.cutoffs if each <= highest] or [highest]


class GainSearch:
    """The search for the gains of a mode.

    Parameters
    ----------
    mode : GainMode
    plants : Plants
    request : GainRequest
    falls : Falls
        The pose in which the arm falls first with the gains is one of those that are looked at, or
        becomes one.
    """

    def __init__(self, mode: GainMode, plants: Plants, request: GainRequest, falls: Falls) -> None:
        self._mode, self._plants, self._request, self._falls = mode, plants, request, falls
        self._cutoffs = _cutoffs(mode, request)

    def _make_kind(self, cutoff: float, integral_share: float = 0.0) -> LoopKind:
        return loop_kind(self._mode, self._plants, self._request, cutoff, integral_share)

    def choose(self) -> Choice:
        """Return the gains; with as much of an integral as there can be.

        Raises
        ------
        InputError
            When none that are of use keep the margins: with a dead time for which some do.
        """
        self._require_room()
        for _ in range(GAIN_SEARCH.fallen_poses):
            known = len(self._falls.poses)
            choice = self._choose_any()
            if choice is not None and self._is_of_use(choice):
                return choice
            if len(self._falls.poses) == known:
                break
        raise InputError(self._explain_refusal(choice))

    def _require_room(self) -> None:
        """Refuse what encoders, motors and drives bound below any use, before loops are looked at.

        By an InputError. Damping only narrows the bounds: without any, they are what no gains can
        pass.
        """
        request = self._request
        kinds = [self._make_kind(cutoff) for cutoff in self._cutoffs]
        bounds = [GainBounds(kind, self._plants, request) for kind in kinds]
        highest = [
            one.largest_frequency(kind, 0.0) for one, kind in zip(bounds, kinds, strict=True)
        ]
        best = max(range(len(kinds)), key=lambda index: highest[index].max())
        if highest[best].max() >= request.least_frequency:
            return
        undamped = kinds[best].gains(highest[best], np.zeros_like(highest[best]))
        _, names = bounds[best].check(undamped)
        raise InputError(
            f'{self._mode.value}: expected gains of a natural frequency of at least '
            f'{request.least_frequency:g} rad/s; without damping, the most that bounds leave is '
            f'{highest[best].max():.3g} rad/s, limited by {", ".join(dict.fromkeys(names))}'
        )

    def _is_of_use(self, choice: Choice) -> bool:
        """Return whether gains are as high as is asked for at the least."""
        return bool(choice.frequency.max() >= self._request.least_frequency)

    def _choose_any(self) -> Choice | None:
        """Return the gains, of use or not; None when there are none."""
        choice = None
        has_integral = self._request.integral and self._mode is GainMode.JTC
        for share in GAIN_SEARCH.integral_shares if has_integral else (0.0,):
            choice = self._choose(share)
            if choice is not None and self._is_of_use(choice):
                break
        return choice

    def _choose(self, integral_share: float) -> Choice | None:
        """Return the gains with an integral; None when there are none."""
        found = []
        for cutoff in self._cutoffs:
            kind = self._make_kind(cutoff, integral_share)
            bounds = GainBounds(kind, self._plants, self._request)
            for damping in GAIN_SEARCH.damping_ratios:
                frequency = ScalarLoops(kind, damping).largest_frequency(self._request)
                each = np.minimum(frequency, bounds.largest_frequency(kind, damping))
                if (each > 0.0).all():
                    found.append((_worth(each), kind, damping, each))
        best: tuple[float, LoopFit, FloatArray, FloatArray] | None = None
        fits: dict[float, LoopFit] = {}
        for bound, kind, damping, each in _candidates(found):
            if best is not None and bound <= best[0]:
                break
            fit = fits.get(kind.cutoff)
            if fit is None:
                fit = LoopFit(kind, self._plants, self._request, self._falls)
                fits[kind.cutoff] = fit
            each, ratios = fit.stand(each, np.full_like(each, damping))
            lowered = fit.lower(each, ratios)
            if lowered is not None and (best is None or _worth(lowered) > best[0]):
                best = _worth(lowered), fit, lowered, ratios
        if best is None:
            return None
        _, fit, lowest, ratios = best
        return fit.finish(*fit.raise_each(lowest, ratios)) or fit.finish(lowest, ratios)

    def _explain_refusal(self, best: Choice | None) -> str:
        """Return why there are no gains, and with which dead time there would be some."""
        request, kind = self._request, self._make_kind(self._cutoffs[-1])
        late, period = kind.timing.dead_time, kind.timing.period
        text = (
            f'{self._mode.value}: expected gains of a natural frequency of at least '
            f'{request.least_frequency:g} rad/s that keep {request.phase_margin:g} degrees and a '
            f'factor of {request.gain_margin:g}, at {1.0 / period:g} Hz with a dead time of '
            f'{1e3 * late:.4g} ms'
        )
        if best is not None:
            text += f'; got {best.frequency.max():.3g} rad/s'
            if BY_MARGINS not in best.active:
                return f'{text}, limited by {", ".join(dict.fromkeys(best.active))}'
        largest = self._find_dead_time(kind)
        if largest is not None:
            return f'{text}; with a dead time of {1e3 * largest:.3g} ms there are such gains'
        return (
            f'{text}; no dead time is short enough at this rate: gravity needs more stiffness '
            'than margins, encoders, motors and drives allow; over poses, models and payloads the '
            f'inertia of a direction changes by a factor of {kind.lightest / kind.heaviest:.3g}'
        )

    def _find_dead_time(self, kind: LoopKind) -> float | None:
        """Return a dead time, nearly the longest one, with which there are gains of use [s]."""
        longest = self._find_largest_delay(kind)
        if longest is None:
            return None
        # Where free loops bear what there is, another delay will hardly help: one look.
        is_late = longest < kind.timing.dead_time
        shares = GAIN_SEARCH.dead_time_shares
        for share in shares if is_late else shares[-2:]:
            delay = share * longest
            shorter = (
                replace(self._request, drive_delay=delay)
                if self._mode is GainMode.MIT
                else replace(self._request, delay=delay, delay_jitter=0.0)
            )
            search = GainSearch(self._mode, self._plants, shorter, self._falls)
            choice = search._choose(0.0)
            if choice is not None and self._is_of_use(choice):
                return delay
        return None

    def _find_largest_delay(self, kind: LoopKind) -> float | None:
        """Return the longest dead time with which free scalar loops keep what is asked for [s].

        None when none is short enough, what is asked for when that is.
        """
        request = self._request

        def works(dead_time: float) -> bool:
            late = replace(kind, timing=kind.timing._replace(dead_time=dead_time))
            return any(
                ScalarLoops(late, damping).has_margins(request.least_frequency, request)
                for damping in GAIN_SEARCH.damping_ratios
            )

        if not works(0.0):
            return None
        low, high = 0.0, kind.timing.dead_time
        if works(high):
            return high
        for _ in range(8):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if works(middle) else (low, middle)
        return low


def _worth(frequency: FloatArray) -> float:
    return float(np.log(frequency).mean())


def _candidates(found: Sequence[_Found]) -> list[_Found]:
    """Return the best of each damping ratio, the best first.

    Also the same frequency for all joints where the model is the weight: that loop is decoupled.
    """
    best: dict[tuple[float, bool], _Found] = {}
    for _, kind, damping, each in found:
        alike = np.full_like(each, each.min())
        for is_alike, one in ((False, each), (True, alike)):
            if is_alike and kind.weights is None:
                continue
            key, worth = (damping, is_alike), _worth(one)
            if key not in best or best[key][0] < worth:
                best[key] = (worth, kind, damping, one)
    return sorted(best.values(), key=lambda one: -one[0])
