"""What `make test` leaves out exists, and is spread over what there is."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from long_sweeps import KEPT, left_out

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    name: str


@pytest.mark.parametrize('file', KEPT)
def test_every_test_of_the_table_exists(file):
    """It is looked for in the text: whatever part of the tests is run."""
    text = (FOLDER / file).read_text(encoding='utf-8')
    missing = [name for name in KEPT[file] if f'\ndef {name}(' not in text]
    assert not missing


@pytest.mark.parametrize('step', [1, 2, 3, 4])
def test_as_many_as_written_are_kept_of_every_kind(step):
    """In whatever order the kinds come."""
    file, test = 'simulation/test_pacing_loop.py', 'test_weak_motors_cost_time_and_no_path'
    cases = [Case(f'{test}[{number}]') for number in range(24)]
    others = [Case('test_of_another_name[0]')]
    out = list(left_out((file, case) for case in cases + others))
    kept = [number for number, case in enumerate(cases) if case not in out]
    assert len(kept) == KEPT[file][test]
    assert not set(out) & set(others)
    assert len({number % step for number in kept}) == step
