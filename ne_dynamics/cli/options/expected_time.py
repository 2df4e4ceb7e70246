"""How long a work will take, said before it begins."""

from __future__ import annotations

import sys
import time

from ne_dynamics.printable import print_lines


def say_expected_time(seconds: float, least: float = 10.0) -> None:
    """Say on a terminal how long a work will take, where that is as long as `least` [s].

    The seconds are those of a processor core like that on which the figures were measured.
    """
    if not sys.stderr.isatty():
        return
    expected = seconds * _measure_slowness()
    if expected >= least:
        print_lines([f'this takes about {describe_time(expected)}'], sys.stderr)
        sys.stderr.flush()


def describe_time(seconds: float) -> str:
    """Return a time with one digit, for people."""
    if seconds < 60.0:
        return f'{max(round(seconds, -1), 10.0):.0f} s'
    return f'{max(round(seconds / 60.0), 1):.0f} min'


def _measure_slowness(measured: float = 0.0045, count: int = 5) -> float:
    """Return how many times longer than the `measured` time [s] a sum takes here and now."""
    begin = time.perf_counter()
    for _ in range(count):
        sum(number * number for number in range(100_000))
    return (time.perf_counter() - begin) / (measured * count)
