"""Every printed operation count is measured, derived from measured ones, or impossible."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from formulation_cases import GRAVITY, arm_for, random_motion, relative_error

from ne_dynamics.errors import InputError
from ne_dynamics.papers.counting import claims
from ne_dynamics.papers.counting.costs import Cost, Count
from ne_dynamics.papers.counting.counting_arm import make_counting_arm
from ne_dynamics.papers.counting.counting_scalars import Tally
from ne_dynamics.papers.counting.elementary_costs import measure_elementary_cost
from ne_dynamics.papers.counting.every_row import EVERY_ROW
from ne_dynamics.papers.counting.explained_rows import DERIVED, IMPOSSIBLE, MEASURED
from ne_dynamics.papers.counting.measured_costs import (
    CostMeter,
    CountSetting,
    measure_gains,
    measure_strobing,
)
from ne_dynamics.papers.counting.polynomials import fit, polynomial
from ne_dynamics.papers.counting.printed_tables import TABLES, row
from ne_dynamics.papers.counting.rows_of_001 import BRACKET_SUMS, MIXED, RATES
from ne_dynamics.papers.counting.rows_of_003 import D_TRACES, H_TRACES
from ne_dynamics.papers.counting.sources import PrintedRows, SummedTerms, add_costs, count_times
from ne_dynamics.papers.forms import FORMULATIONS, strobing
from ne_dynamics.papers.forms.relative_acceleration import (
    WAYS,
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
    line = row(item.table, item.row)
    return Cost(line.multiplications, line.additions)


def test_no_printed_row_is_without_a_status():
    """Every row of every printed table is explained, once."""
    explained = [(item.table, item.row) for item in EVERY_ROW]
    assert len(explained) == len(set(explained))
    assert set(explained) == {
        (table, line.row) for table, lines in TABLES.items() for line in lines
    }


@pytest.mark.parametrize('item', rows_of(MEASURED))
def test_measured_rows_are_what_the_code_takes(item):
    """Run on counting scalars, terms of a form take what is printed, for every n."""
    assert all(source.measured for source in item.sources)
    assert add_costs(item.sources, METER) == printed(item)


@pytest.mark.parametrize('item', rows_of(DERIVED))
def test_derived_rows_follow(item):
    """So many times what an elementary operation takes, or other rows, make what is printed."""
    assert add_costs(item.sources, METER) == printed(item)
    assert item.why or all(isinstance(source, PrintedRows) for source in item.sources)


@pytest.mark.parametrize('item', rows_of(IMPOSSIBLE))
def test_rows_that_cannot_be_had_say_why(item):
    """A row without a source has a reason, and what is built here takes something else."""
    assert item.why
    assert not item.ours or add_costs(item.ours, METER) != printed(item)


@pytest.mark.parametrize(
    'item',
    [
        pytest.param(item, id=f'{item.table} {item.row}')
        for item in EVERY_ROW
        if item.ours and item.status != IMPOSSIBLE
    ],
)
def test_what_differs_in_the_code_is_shown(item):
    """What is shown as ours is measured and is another number than the print."""
    assert all(source.measured for source in item.ours)
    assert add_costs(item.ours, METER) != printed(item)


def test_rows_are_derived_from_earlier_ones():
    """No row is derived from itself, directly or through others."""
    sources = {
        (item.table, item.row): [
            (source.table, name)
            for source in item.sources
            if isinstance(source, PrintedRows)
            for name in source.names
        ]
        for item in EVERY_ROW
    }

    def ancestors(key, seen=()):
        assert key not in seen, f'{key} is derived from itself'
        for other in sources[key]:
            ancestors(other, (*seen, key))

    for key in sources:
        ancestors(key)


def test_totals_leave_no_row_out():
    """A total that is the sum of its table's rows names all of them."""
    for item in EVERY_ROW:
        for source in item.sources:
            if (
                isinstance(source, PrintedRows)
                and source.table == item.table
                and len(source.names) > 1
            ):
                assert set(source.names) == {
                    line.row for line in TABLES[item.table] if line.row != item.row
                }


def test_the_number_of_rows_by_status_is_what_the_document_says():
    """The table of statuses adds up to all printed rows."""
    table = counts._tabulate_statuses()
    *parts, total = [[int(cell) for cell in line[1:]] for line in table.rows]
    assert total == [sum(column) for column in zip(*parts, strict=True)]
    assert sum(total) == sum(len(lines) for lines in TABLES.values())


@pytest.mark.parametrize(
    ('what', 'expected'),
    [
        ('sum of vectors', (0, 3)),
        ('cross product', (6, 3)),
        ('rotation', (9, 6)),
        ('rotation by (7.23)', (8, 4)),
        ('rotation matrix formed', (4, 0)),
        ('4x4 product', (64, 48)),
        ('4x4 sum', (0, 16)),
        ('4x4 matrix scaled', (16, 0)),
        ('4x4 trace', (0, 3)),
    ],
)
def test_elementary_operations_cost_what_the_documents_take_them_for(what, expected):
    """Measured on the functions that the forms call."""
    assert measure_elementary_cost(what) == Count(*expected)


def product(*factors):
    """Return the product of polynomials, of less than the seventh degree."""
    return fit({n: math.prod(factor(n) for factor in factors) for n in range(8)})


def test_index_sets_are_counted_by_enumeration():
    """The sums over joints have the closed forms of the documents."""
    third = polynomial(1, 1), polynomial(1, 2), polynomial(1, 0)
    assert D_TRACES.scaled(6) == product(*third)
    assert product(D_TRACES, polynomial(1, 0)) == H_TRACES
    assert RATES == D_TRACES
    assert MIXED.scaled(6) == polynomial(1, 0, -1, 0)
    # Sum over q of q (q + 1) - 1, which the appendix of 001 closes as if it were q (q - 1) - 1.
    assert BRACKET_SUMS.scaled(3) == product(*third) - polynomial(3, 0)
    assert count_times(lambda n: range(n**2)) == polynomial(1, 0, 0)


@pytest.mark.parametrize('way', WAYS)
def test_every_way_forms_the_same_acceleration(way):
    """With cross products, with A_i and with scalar products the torques are the same."""
    rng = np.random.default_rng(51)
    function = FORMULATIONS['luh_walker_paul'].inverse_dynamics
    for n in range(1, 8):
        arm = arm_for('luh_walker_paul', rng, n)
        motion = random_motion(rng, n)
        arguments = motion.q, motion.qd, motion.qdd
        expected = function(arm, *arguments, gravity=GRAVITY, wrench=motion.wrench)
        computed = function(
            arm, *arguments, gravity=GRAVITY, wrench=motion.wrench, relative_acceleration=way
        )
        assert relative_error(computed, expected) <= 1e-12


def test_an_unknown_way_is_refused():
    """The error names the ways there are."""
    w, alpha = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]
    with pytest.raises(InputError, match=r"expected one of cross_products.*got 'quaternions'"):
        prepare_relative_acceleration('quaternions', w, alpha, lambda name: None)
    np.testing.assert_allclose(
        np.array(angular_matrix(w, alpha)) @ [1.0, -1.0, 2.0],
        np.cross(w, np.cross(w, [1.0, -1.0, 2.0])) + np.cross(alpha, [1.0, -1.0, 2.0]),
    )


@pytest.mark.parametrize(
    ('way', 'expected'),
    [('cross_products', (45, 36)), ('matrix', (33, 33)), ('scalar_products', (42, 36))],
)
def test_what_a_link_adds_to_its_accelerations_costs(way, expected):
    """A_i, a_i and abar_i take 33; 33 a link by the matrix of 001 and 42; 36 as 003 counts."""
    setting = CountSetting('luh_walker_paul', relative_acceleration=way)
    names = ('A_i', 'a_i', 'abar_i') if way == 'matrix' else ('a_i', 'abar_i')
    cost = METER.fit_cost(setting, names)
    assert cost == Cost(*(polynomial(value, 0) for value in expected))


def test_a_term_that_a_form_does_not_have_is_refused():
    """A misspelled term is an error, not zero operations."""
    with pytest.raises(InputError, match=r'expected terms of .*omega_i.*got omegas'):
        SummedTerms(CountSetting('luh_walker_paul'), ('omegas',)).cost(METER)


@pytest.mark.parametrize('n', [1, 2, 6, 9])
def test_the_mass_matrix_by_strobing_runs_on_moving_links_only(n):
    """It costs the recursion for 1, 2 ... n links: k n (n + 1) / 2, and a term in n."""
    form = FORMULATIONS['luh_walker_paul']
    tally = Tally()
    strobing.mass_matrix(make_counting_arm(form.covers, n), tally.numbers([0.1] * n))
    recursion = METER.fit_cost(CountSetting('luh_walker_paul'))
    for key in ('multiplications', 'additions'):
        expected = sum(getattr(recursion, key)(links) for links in range(1, n + 1))
        assert getattr(tally.total, key) == expected


def test_strobing_takes_the_form_that_001_gives():
    """129; 102 for each of n (n + 1) / 2 links, less 24 a column; 2565; 1998 at n = 6."""
    cost = measure_strobing('mass_matrix', 8)
    parts = [claims.split_off_half_squares(formula) for formula in cost]
    assert parts == [(129, polynomial(-24, 0)), (102, polynomial(-24, 0))]
    assert cost.at(6) == '2565; 1998'
    full = METER.count('luh_walker_paul', 6)
    assert (6 * full.multiplications, 6 * full.additions) == (4500, 3528)
    outward = claims.count_outward_links_of_pairs()
    assert outward.scaled(6) == product(polynomial(1, 0), polynomial(1, 1), polynomial(2, 1))


def test_the_lagrangian_law_is_about_100_times_dearer():
    """149; 126 times by the document's own tables at n = 6, 93 times by our counts."""
    dear, cheap = claims.printed_law('003 table 1'), claims.printed_law('003 table 2')
    assert (dear, cheap) == (Count(102740, 78479), Count(690, 621))
    assert [round(ratio) for ratio in claims.compare_counts(dear, cheap)[:2]] == [149, 126]
    ours = [
        claims.measure_law(METER, name) for name in ('lagrange_euler_plain', 'luh_walker_paul')
    ]
    assert round(claims.compare_counts(*ours)[2]) == 93


def test_claims_about_terms_growth_frequency_and_microseconds_have_rows():
    """Each with what it comes to here."""
    ours = {claim.says: claim.ours for claim in claims.list_claims(METER)}
    assert ours["Lagrange's equations of six joints have several thousand terms"].startswith(
        '2930 '
    )
    growth = ours['more links hardly make the calculation more intricate']
    assert growth.startswith('126n - 33; 96n - 30; the Lagrangian form 40/3 n^3 ')
    linear = ours['the Newton-Euler set takes (K + D) n: a linear computation scheme']
    assert linear == '129n - 24; 102n - 24'
    frequency = ours["Kp = 100, since an arm's natural frequency is hardly over ten hertz"]
    assert frequency == '10 rad/s, which is 1.59 Hz; ten hertz take Kp = 3948'
    time = ours['800; 646 take a few microseconds on a modern processor']
    assert time.startswith('692; 526: 1.22 us')


def test_the_recursion_takes_3_ms_on_the_computer_of_003():
    """Its operations by the times of the data sheet and of a fetch are 3.18 ms."""
    assert claims.estimate_time(claims.printed_law('003 table 2')) == pytest.approx(3.17745e-3)


def test_gains_are_measured_on_the_law_itself():
    """With diagonal gains, zeros skipped, the acceleration takes 2n; 4n."""
    assert measure_gains(6) == Cost(polynomial(2, 0), polynomial(4, 0))


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
    least = row('004 table 7.3', counts.LEAST_PRINTED)
    printed_least = int(least.multiplications(6) + least.additions(6))
    ratio = (multiplications + additions) / printed_least
    assert saved['general, 6 joints'][5] == f'{100 * (1 - ratio):.0f} %'
    for line in TABLES['004 table 7.3']:
        assert line.multiplications(6) + line.additions(6) >= printed_least
    text = (ROOT / 'doc' / 'formulations.md').read_text(encoding='utf-8')
    sentence = re.search(r'So the choice\s+among[^.]*\.', text)[0]
    expected = [saved['general, 6 joints'][4], saved['general, 6 joints'][5]]
    expected += [saved[name][4] for name in ('Puma 560', 'UR5') if name in saved]
    figures = re.findall(r'\d+ %', sentence)
    assert figures[: len(expected)] == [cell.split(' (')[0] for cell in expected]
