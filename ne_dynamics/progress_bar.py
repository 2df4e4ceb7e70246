"""How far a work has come, on a terminal: the bars of all subcommands.

There is no bar without a terminal, or without tqdm.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Item = TypeVar('Item')

PERCENT = 100

BAR_WIDTH = 24


def open_bar(label: str, total: float, **looks: Any) -> Any:
    """Return a bar on stderr.

    Parameters
    ----------
    label : str
    total : float
        What is to be done, in whatever unit.
    **looks
        Of tqdm: unit, format, whether the bar stays.

    Returns
    -------
    tqdm or None
        None where there is no terminal, or no tqdm.
    """
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(desc=label, total=total, file=sys.stderr, **{'leave': False, **looks})


def show_items(label: str, items: Iterator[Item], total: int) -> Iterator[Item]:
    """Yield items, pieces of a work, and show how many have been used.

    Parameters
    ----------
    label : str
    items : iterator
    total : int
        How many there will be.
    """
    with count_done(label, total, 'piece') as done:
        for item in items:
            yield item
            done()


@contextlib.contextmanager
def count_done(label: str, total: int, unit: str) -> Iterator[Callable[[], None]]:
    """Yield what counts one more of them as done."""
    bar = open_bar(label, total, unit=unit)
    with contextlib.nullcontext() if bar is None else bar:
        yield lambda: None if bar is None else bar.update()


@contextlib.contextmanager
def show_share(label: str) -> Iterator[Callable[[float], None] | None]:
    """Yield what shows the share that is done, 0 to 1; None where there is no bar."""
    bar = open_bar(label, PERCENT, unit='%')
    with contextlib.nullcontext() if bar is None else bar:
        update = None if bar is None else bar.update
        yield update and (lambda share: update(round(PERCENT * share) - bar.n))


@contextlib.contextmanager
def show_time(label: str, duration: float) -> Iterator[Callable[[float], None]]:
    """Yield what shows the time reached of a duration [s]; the line stays.

    Without a bar it is only said at the end.
    """
    form = f'{{desc:<31}}{{bar:{BAR_WIDTH}}} {{n:4.1f}}/{{total:.1f}} s ({{elapsed_s:.0f}} s)'
    bar = open_bar(label, duration, leave=True, ascii='.#', bar_format=form)
    last, began = 0.0, time.monotonic()

    def show(reached: float) -> None:
        nonlocal last
        last = reached
        if bar is not None:
            # A bar that is more than full has no end any more.
            bar.update(min(reached, duration) - bar.n)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
        else:
            said = f'{last:.1f} of {duration:.1f} s, {time.monotonic() - began:.1f} s real time'
            print(f'{label}: {said}', file=sys.stderr, flush=True)


def say_expected_time(seconds: float, least: float = 10.0) -> None:
    """Say on a terminal how long a work will take, where that is as long as `least` [s].

    The seconds are those of a processor core like that on which the figures were measured.
    """
    if not sys.stderr.isatty():
        return
    expected = seconds * _measure_slowness()
    if expected >= least:
        print(f'this takes about {describe_time(expected)}', file=sys.stderr, flush=True)


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
