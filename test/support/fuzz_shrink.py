"""Fewer steps that do the same harm: what a person reads of a run that went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fuzz_messages import Step

real_clock = time.perf_counter


def shrink(
    steps: Sequence[Step], does_harm: Callable[[Sequence[Step]], bool], seconds: float
) -> list[Step]:
    """Return some of the steps, in their order, that still do harm.

    Parameters
    ----------
    steps : sequence of Step
        All that was done: the first brings the node up, the last comes with the harm.
    does_harm : callable
        Does steps anew, and tells.
    seconds : float
        Real time after which the search ends with the best so far.

    Returns
    -------
    list of Step
        All of them when the harm does not come again.
    """
    end = real_clock() + seconds
    best, size = list(steps), len(steps) // 2
    while size and real_clock() < end:
        # Parts of this size are left out one by one, from the last but one to the second.
        is_smaller = False
        for at in range(len(best) - 1 - size, 0, -size):
            candidate = best[:at] + best[at + size :]
            if real_clock() < end and does_harm(candidate):
                best, is_smaller = candidate, True
        size = size if is_smaller and size == 1 else size // 2
    return best
