"""Fewer steps that do the same harm: what a person reads of a run that went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fuzz_messages import Step

real_clock = time.perf_counter

TAILS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def shrink(
    steps: Sequence[Step], does_harm: Callable[[Sequence[Step]], bool], seconds: float
) -> list[Step]:
    """Return some of the steps, in their order, that still do harm.

    Parameters
    ----------
    steps : sequence of Step
        All that was done, the last of them with the harm.
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
    best = list(steps)
    # The node has to be brought up in any case.
    begin = best[:1]
    for count in TAILS:
        if count + 1 >= len(best) or real_clock() > end:
            break
        tail = begin + best[-count:]
        if does_harm(tail):
            best = tail
            break
    size = len(best) // 2
    while size and real_clock() < end:
        at, is_smaller = len(best) - 1 - size, False
        while at >= 0 and real_clock() < end:
            candidate = best[:at] + best[at + size :]
            if does_harm(candidate):
                best, is_smaller = candidate, True
            at -= size
        if not is_smaller or size > 1:
            size //= 2
    return best
