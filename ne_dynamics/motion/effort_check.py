"""What efforts a motion asks of the motors, by the model, and where they are not enough.

The inverse dynamics is computed at samples of the motion, many at once. What lies between two of
them is bounded: from the line between them an effort with the second difference d departs by d / 8
where it is curved evenly, and by d / 4 at most where the samples resolve it.
Where samples and that together leave a limit in doubt, and by more than `effort_resolution` of it,
the stretch is sampled more densely.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.joint_limits import USUAL, DemandLimits, LimitTolerances
from ne_dynamics.motion.limit_violation import LimitViolation, Quantity
from ne_dynamics.motion.segments import Segments, bound_ways, sample_segments
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.thresholds import MOTION

SAMPLES_AT_ONCE = 20_000
"""More of them take no less time each."""


def check_efforts(
    segments: Segments,
    compute_efforts: Efforts,
    limits: DemandLimits,
    tolerances: LimitTolerances = USUAL,
) -> list[LimitViolation]:
    """Return where a motion asks for more than the motors have, the worst of each joint.

    Parameters are those of :func:`~ne_dynamics.motion.check.check_motion`.
    """
    if np.isinf(limits.effort).all():
        return []
    most = MOTION.most_refined + MOTION.most_of_each * len(segments.durations)
    search = _EffortSearch(compute_efforts, limits, tolerances, most)
    counts = _count_cells(segments)
    for count in np.unique(counts):
        alike = np.flatnonzero(counts == count)
        at_once = max(1, SAMPLES_AT_ONCE // (int(count) + 1))
        for first in range(0, len(alike), at_once):
            which = alike[first : first + at_once]
            some = segments if which.size == counts.size else segments.choose(which)
            search.examine(some, int(count))
    return search.violations()


def _count_cells(segments: Segments) -> IndexArray:
    """Return into how many intervals each segment is divided: powers of two."""
    wanted = np.nan_to_num(bound_ways(segments) / MOTION.largest_turn)
    wanted = np.minimum(np.maximum(wanted, 4), 256)
    return (2 ** np.ceil(np.log2(wanted))).astype(np.intp)


class _EffortSearch:
    """The largest efforts so far, and where they were found.

    An interval is divided into `parts` so often at the most as there are `refinements`: what is
    shorter is a step, seen from both sides.
    """

    parts, refinements = 4, 7

    def __init__(
        self,
        compute_efforts: Efforts,
        limits: DemandLimits,
        tolerances: LimitTolerances,
        most_refined: int,
    ) -> None:
        n = len(limits.joints)
        self._compute = compute_efforts
        self._limits = limits
        self._allowed = limits.effort * (1.0 + tolerances.effort)
        self._largest = np.zeros(n)
        self._places: dict[int, tuple[float, Segments, int, int, int]] = {}
        self._most_refined = most_refined
        self._refined = 0

    def examine(self, segments: Segments, count: int, depth: int = 0) -> None:
        """Look at segments, divided into so many intervals each, and so often before."""
        if depth:
            self._refined += (count + 1) * len(segments.durations)
        sizes, differences = self._sample(segments, count)
        # Twice that of an even curve, for those that are not even.
        departure = 0.25 * differences
        at_most = np.maximum(sizes[:-1], sizes[1:]) + departure
        if (at_most.max(axis=0) <= self._allowed).all() or depth >= self.refinements:
            return
        resolution = MOTION.effort_resolution * np.maximum(self._limits.effort, self._largest)
        doubtful = ~(at_most <= np.maximum(self._allowed, self._largest)) & ~(
            departure <= resolution
        )
        cells = np.argwhere(doubtful.any(axis=2))
        at_once = min(SAMPLES_AT_ONCE, self._most_refined) // (self.parts + 1)
        for first in range(0, len(cells), at_once):
            if self._refined > self._most_refined:
                left = np.where(doubtful, at_most, 0.0)
                self._note(segments, count, left, left)
                return
            columns, which = cells[first : first + at_once].T
            parts = segments.parts(which, columns / count, (columns + 1.0) / count)
            doubtful[columns, which] = False
            self.examine(parts, self.parts, depth + 1)

    def _sample(self, segments: Segments, count: int) -> tuple[FloatArray, FloatArray]:
        """Return sizes of the efforts at samples, and their second differences.

        Shapes (count + 1, k, n) and (count, k, n), the larger of the two that an interval has a
        part in. The largest efforts are taken note of.
        """
        with np.errstate(over='ignore', invalid='ignore'):
            states = sample_segments(segments, count)
        _, m, k, n = states.shape
        flat = self._compute(*states.reshape(3, -1, n))
        if not np.isfinite(flat).all():
            flat = np.where(np.isnan(flat), np.inf, flat)
        efforts, sizes = flat.reshape(m, k, n), np.abs(flat).reshape(m, k, n)
        with np.errstate(invalid='ignore'):
            second = np.abs(efforts[2:] - 2.0 * efforts[1:-1] + efforts[:-2])
        # Where an effort is infinite nothing is to be found between.
        second[np.isnan(second)] = 0.0
        padded = np.concatenate((second[:1], second, second[-1:]))
        self._note(segments, count, sizes, efforts)
        return sizes, np.maximum(padded[:-1], padded[1:])

    def _note(
        self, segments: Segments, count: int, sizes: FloatArray, efforts: FloatArray
    ) -> None:
        """Take note of the largest of efforts, or of what they are at most, shape (m, k, n)."""
        # First over what lies side by side in long rows.
        largest = sizes.max(axis=0).max(axis=0)
        for joint in np.flatnonzero(largest > self._largest):
            sample, which = divmod(int(sizes[:, :, joint].argmax()), sizes.shape[1])
            self._largest[joint] = largest[joint]
            value = float(efforts[sample, which, joint])
            self._places[int(joint)] = value, segments, which, count, sample

    def violations(self) -> list[LimitViolation]:
        """Return the joints whose limits do not suffice."""
        beyond = np.flatnonzero(self._largest > self._allowed)
        if not beyond.size:
            return []
        times, states = [], []
        for joint in beyond.tolist():
            _, segments, which, count, sample = self._places[joint]
            begins, durations, _ = one = segments.choose(slice(which, which + 1))
            times.append(float(begins[0] + sample / count * durations[0]))
            states.append(sample_segments(one, count)[:, sample, 0])
        q, qd, qdd = np.stack(states, axis=1)
        # What is left of an effort when the motion is slower: what it takes to move slowly, and
        # of the rest a part that falls with the square of the speed.
        slow = self._compute(q, MOTION.slow_share * qd, np.zeros_like(qdd))
        found = []
        for row, joint in enumerate(beyond.tolist()):
            value, size = self._places[joint][0], float(self._limits.effort[joint])
            static = np.copysign(1.0, value) * slow[row, joint]
            helps = static < size < abs(value) < np.inf
            slower = float(np.sqrt((abs(value) - static) / (size - static))) if helps else np.inf
            where = self._limits.joints, joint, times[row]
            found.append(LimitViolation.of(Quantity.EFFORT, *where, value, size, slower))
        return found
