"""Tests that `make test` leaves out, or runs some cases of; `make test-long` runs the rest.

Their cases are many of a kind: robots, seeds, faults; or they tell over DDS what shorter tests
tell in one process. Above a test stands `@pytest.mark.long` where `make test` leaves all of it
out, and `@pytest.mark.kept(4)` where it runs four cases, spread over all of them: the others are
marked `long`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

GOLDEN = 0.6180339887498949

MARKS = ('@pytest.mark.' + 'long', '@pytest.mark.' + 'kept(')


def holds_long_tests(path: Path) -> bool:
    """Return whether a file has tests of which `make test` leaves something out."""
    text = path.read_text(encoding='utf-8')
    return any(mark in text for mark in MARKS)


def left_out(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the cases of the tests marked `kept` that are left to `make test-long`.

    Parameters
    ----------
    items : iterable of pytest.Item
        In the order in which pytest finds them.
    """
    of_a_test: dict[tuple[Path, str, int], list[Any]] = {}
    for item in items:
        mark = item.get_closest_marker('kept')
        if mark is not None:
            test = item.path, item.name.partition('[')[0], *mark.args
            of_a_test.setdefault(test, []).append(item)
    for (_, _, count), found in of_a_test.items():
        # By the golden ratio: spread over all of them, and in step with no parameter.
        order = sorted(range(len(found)), key=lambda place: place * GOLDEN % 1.0)
        for place in sorted(order[count:]):
            yield found[place]


def chosen_part(cases: Sequence[Any], part: str) -> Sequence[Any]:
    """Return a part of long tests, every n-th of them, so that n parts are all.

    Parameters
    ----------
    cases : sequence
    part : str
        `K/N`, K from 1 to N; '' for all.
    """
    if not part:
        return cases
    number, _, count = part.partition('/')
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f'NE_DYNAMICS_LONG_PART: expected K/N, K from 1 to N, got {part!r}')
    return cases[int(number) - 1 :: int(count)]
