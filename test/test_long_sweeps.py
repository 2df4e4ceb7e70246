"""What `make test` leaves out is spread over what there is, and its parts are all of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from long_sweeps import chosen_part, left_out


@pytest.mark.parametrize('step', [1, 2, 3, 4])
def test_as_many_as_written_are_kept_of_every_kind(step):
    def case(name, *marks):
        return SimpleNamespace(
            path=Path('test_of_many.py'),
            name=name,
            get_closest_marker=lambda kind: dict(marks).get(kind),
        )

    cases = [
        case(f'test_many[{number}]', ('kept', SimpleNamespace(args=(6,)))) for number in range(24)
    ]
    out = list(left_out([*cases, case('test_of_another_name[0]')]))
    kept = [number for number, one in enumerate(cases) if one not in out]
    assert len(kept) == 6
    assert len(out) == 18
    assert len({number % step for number in kept}) == step


@pytest.mark.parametrize('count', [1, 2, 3, 7])
def test_the_parts_are_all(count):
    cases = [str(number) for number in range(20)]
    parts = [chosen_part(cases, f'{number}/{count}') for number in range(1, count + 1)]
    assert sorted(case for part in parts for case in part) == sorted(cases)
    assert chosen_part(cases, '') == cases
    assert max(map(len, parts)) <= -(-20 // count)


@pytest.mark.parametrize('part', ['0/3', '4/3', '1', '1/', 'a/b', '1/0'])
def test_a_part_that_is_none_is_an_error(part):
    with pytest.raises(ValueError, match='expected K/N, K from 1 to N, got'):
        chosen_part([], part)
