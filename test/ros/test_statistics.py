"""What the diagnostics count from one report to the next."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.ros.watching.diagnostics import Statistics


def test_drops_are_new_once() -> None:
    """A report warns of what was dropped since the last one, and of nothing before it."""
    statistics = Statistics()
    for drops in (2, 0, 3):
        for _ in range(drops):
            statistics.drop('wrench.header')
        assert statistics.new_drops() == drops


@pytest.mark.parametrize(
    ('stamps', 'missed'),
    [([0.0, 0.01, 0.02, 0.03], 0), ([0.0, 0.01, 0.02, 0.05, 0.06], 2), ([1.0] * 4, 0)],
)
def test_answers_are_counted_with_their_latency_and_what_is_missing(stamps, missed: int) -> None:
    """Latencies are in microseconds; states are missing by the usual period of those answered."""
    statistics = Statistics()
    for stamp in stamps:
        statistics.answers.append((0.002, stamp))
    statistics.saturate(np.array([False, True]))
    report = dict(statistics.outputs(['a', 'b']))
    assert report['commands in the last second'] == len(stamps)
    assert report['latency p50 [us]'] == report['latency max [us]'] == '2000'
    assert report['missed cycles'] == missed
    assert report['saturated in the last second'] == 'b'
    # The next report begins with the last stamp of this one.
    period = max(np.diff(stamps)[0], 0.01)
    for later in (2, 3, 4):
        statistics.answers.append((0.002, stamps[-1] + later * period))
    report = dict(statistics.outputs(['a', 'b']))
    assert report['missed cycles'] == 1
    assert report['saturated in the last second'] == 'none'
