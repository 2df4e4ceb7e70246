"""What `make test` leaves out exists, and is spread over what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from long_sweeps import KEPT, chosen_part, holds_nothing_for, left_out

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    name: str


def test_every_test_of_the_table_exists():
    """It is looked for in the text: whatever part of the tests is run."""
    for file, tests in KEPT.items():
        text = (FOLDER / file).read_text(encoding='utf-8')
        missing = [name for name in tests if not re.search(rf'^ *def {name}\(', text, re.M)]
        assert not missing, file


def test_long_tests_are_those_of_the_table():
    """No test bears the marker by itself: a file that the table does not name is not read."""
    texts = {path: path.read_text(encoding='utf-8') for path in FOLDER.rglob('test_*.py')}
    marker = '.'.join(('mark', 'long'))
    assert texts
    assert not [path for path, text in texts.items() if marker in text]


def test_files_are_passed_over_where_only_long_tests_are_asked_for():
    for file in (*KEPT, 'test_packaging.py', 'ros/test_messages.py'):
        assert holds_nothing_for('long', file) == (file not in KEPT)
        assert not holds_nothing_for('not long', file)
        assert not holds_nothing_for('', file)


@pytest.mark.parametrize('step', [1, 2, 3, 4])
def test_as_many_as_written_are_kept_of_every_kind(step, monkeypatch):
    file, test = 'simulation/test_of_many.py', 'test_many'
    monkeypatch.setitem(KEPT, file, {test: 6})
    cases = [Case(f'{test}[{number}]') for number in range(24)]
    others = [Case('test_of_another_name[0]')]
    out = list(left_out((file, case) for case in cases + others))
    kept = [number for number, case in enumerate(cases) if case not in out]
    assert len(kept) == KEPT[file][test]
    assert not set(out) & set(others)
    assert len({number % step for number in kept}) == step


@pytest.mark.parametrize('count', [1, 2, 3, 7])
def test_the_parts_are_all(count):
    cases = [Case(str(number)) for number in range(20)]
    parts = [chosen_part(cases, f'{number}/{count}') for number in range(1, count + 1)]
    assert sorted(case for part in parts for case in part) == sorted(cases)
    assert chosen_part(cases, '') == cases
    assert max(map(len, parts)) <= -(-20 // count)


@pytest.mark.parametrize('part', ['0/3', '4/3', '1', '1/', 'a/b', '1/0'])
def test_a_part_that_is_none_is_an_error(part):
    with pytest.raises(ValueError, match='expected K/N, K from 1 to N, got'):
        chosen_part([], part)
