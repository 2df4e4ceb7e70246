"""Every printed operation count is measured, derived from measured ones, or impossible."""

import re
from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.errors import InputError
from ne_dynamics.papers.counting.every_row import EVERY_ROW
from ne_dynamics.papers.counting.explained_rows import DERIVED, IMPOSSIBLE, MEASURED
from ne_dynamics.papers.counting.measured_costs import (
    CostMeter,
    CountSetting,
)
from ne_dynamics.papers.counting.printed_tables import TABLES
from ne_dynamics.papers.counting.sources import add_costs, summed_terms
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.forms.relative_acceleration import (
    angular_matrix,
    prepare_relative_acceleration,
)
from ne_dynamics.papers.studies import counts

ROOT = Path(__file__).resolve().parents[2]

METER = CostMeter(8)
"""Enough for a checked fit of the order n^4 form."""


def rows_of(status):
    """Return the rows of a status, as parameters with readable names."""
    return [
        pytest.param(item, id=f'{item.table} {item.row}')
        for item in EVERY_ROW
        if item.status == status
    ]


def printed(item):
    """Return what a row prints."""
    return TABLES[item.table][item.row]


def test_no_printed_row_is_without_a_status():
    explained = [(item.table, item.row) for item in EVERY_ROW]
    assert len(explained) == len(set(explained))
    assert set(explained) == {(table, name) for table, rows in TABLES.items() for name in rows}


@pytest.mark.parametrize('item', rows_of(MEASURED))
def test_measured_rows_are_what_the_code_takes(item):
    """Run on counting scalars, terms of a form take what is printed, for every n."""
    assert all(source.is_measured for source in item.sources)
    assert add_costs(item.sources, METER) == printed(item)


@pytest.mark.parametrize('item', rows_of(DERIVED))
def test_derived_rows_follow(item):
    """So many times what an elementary operation takes, or other rows, make what is printed."""
    assert add_costs(item.sources, METER) == printed(item)
    assert item.why or all(source.is_printed for source in item.sources)


@pytest.mark.parametrize('item', rows_of(IMPOSSIBLE))
def test_rows_that_cannot_be_had_say_why(item):
    """A row without a source has a reason, and what is built here takes something else."""
    assert item.why
    assert not item.ours or add_costs(item.ours, METER) != printed(item)


def test_an_unknown_way_is_refused():
    w, alpha = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]
    with pytest.raises(InputError, match=r"expected one of cross_products.*got 'quaternions'"):
        prepare_relative_acceleration('quaternions', w, alpha, lambda name: None)
    np.testing.assert_allclose(
        np.array(angular_matrix(w, alpha)) @ [1.0, -1.0, 2.0],
        np.cross(w, np.cross(w, [1.0, -1.0, 2.0])) + np.cross(alpha, [1.0, -1.0, 2.0]),
    )


def test_a_term_that_a_form_does_not_have_is_refused():
    with pytest.raises(InputError, match=r'expected terms of .*omega_i.*got omegas'):
        summed_terms(CountSetting('luh_walker_paul'), 'omegas').measure(METER)


def test_traced_equations_are_compared_with_the_cheapest_form():
    """For six joints that is the modified form; the general arm's equations take 37 % less."""
    name, cheapest = counts.find_cheapest(METER, 6)
    assert name == 'modified_newton_euler'
    for other in FORMULATIONS:
        found = METER.count(other, 6)
        total = found.multiplications + found.additions
        assert total >= cheapest.multiplications + cheapest.additions
    table, data, _ = counts._count_traced(METER)
    multiplications, additions, _ = data['general, 6 joints']
    ratio = (multiplications + additions) / (cheapest.multiplications + cheapest.additions)
    saved = {line[0]: line for line in table.rows}
    assert saved['general, 6 joints'][4] == f'{100 * (1 - ratio):.0f} % (modified_newton_euler)'
    least = TABLES['004 table 7.3'][counts.LEAST_PRINTED]
    printed_least = int(least.multiplications(6) + least.additions(6))
    ratio = (multiplications + additions) / printed_least
    assert saved['general, 6 joints'][5] == f'{100 * (1 - ratio):.0f} %'
    for line in TABLES['004 table 7.3'].values():
        assert line.multiplications(6) + line.additions(6) >= printed_least
    text = (ROOT / 'doc' / 'formulations.md').read_text(encoding='utf-8')
    sentence = re.search(r'So the choice\s+among[^.]*\.', text)[0]
    expected = [saved['general, 6 joints'][4], saved['general, 6 joints'][5]]
    expected += [saved[name][4] for name in ('Puma 560', 'UR5') if name in saved]
    figures = re.findall(r'\d+ %', sentence)
    assert figures[: len(expected)] == [cell.split(' (')[0] for cell in expected]
