"""doc/formulations.md says what the studies find."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from ne_dynamics.errors import InputError
from ne_dynamics.papers.counting.every_row import EVERY_ROW
from ne_dynamics.papers.counting.explained_rows import DERIVED, IMPOSSIBLE, MEASURED
from ne_dynamics.papers.counting.polynomials import Polynomial, fit, polynomial
from ne_dynamics.papers.counting.printed_tables import TABLES, TOTAL
from ne_dynamics.papers.studies import (
    concurrency,
    counts,
    document,
    equivalence,
    puma,
    six_link,
)

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / 'doc' / 'formulations.md').read_text(encoding='utf-8')
NUMBER = re.compile(r'-?\d+(?:\.\d+)?(?:e-?\d+)?')


def numbers_and_words(text):
    """Return the numbers of a text, and the text without them."""
    return [float(number) for number in NUMBER.findall(text)], NUMBER.sub('#', text)


def without_optional_robots(text):
    """Return a text without what depends on the robots that are installed."""
    lines = [line for line in text.splitlines() if not line.startswith('| UR5')]
    return re.sub(r' UR5 is left out:.*', '', '\n'.join(lines).strip())


@pytest.mark.long
def test_counts_are_up_to_date():
    found = counts.study().markdown()
    written = document.section(DOCUMENT, 'counts')
    assert without_optional_robots(found) == without_optional_robots(written)


def test_rows_by_status_are_as_many_as_is_said():
    """The numbers of printed rows that are measured, derived and not to be had are those found."""
    found = Counter(item.status for item in EVERY_ROW)
    said = {
        name: int(count) for count, name in re.findall(r'(\d+) rows are \*([\w ]+)\*', DOCUMENT)
    }
    assert said == {
        'measured': found[MEASURED],
        'derived': found[DERIVED],
        'not to be had': found[IMPOSSIBLE],
    }


def test_schedules_are_up_to_date():
    found = concurrency.study()[0].markdown()
    assert found.strip() == document.section(DOCUMENT, 'concurrency').strip()


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('name', 'compute'),
    [('six-link', lambda: six_link.study()[0]), ('puma', lambda: puma.study()[0])],
)
def test_simulations_are_up_to_date(name, compute):
    """The tables of the simulations are those computed now, up to the last digit's rounding."""
    found, found_words = numbers_and_words(compute().markdown().strip())
    written, written_words = numbers_and_words(document.section(DOCUMENT, name).strip())
    assert found_words == written_words
    assert found == pytest.approx(written, rel=2e-3, abs=0.0015)


@pytest.mark.long
def test_disagreements_are_up_to_date():
    """The table of disagreements is the one computed now, but for the size of round-off."""
    report = equivalence.study()
    assert max(report.data['largest_disagreement'].values()) < 1e-12
    written = document.section(DOCUMENT, 'equivalence').strip()
    round_off = re.compile(r'\de-\d\d')
    assert round_off.sub('#', report.markdown().strip()) == round_off.sub('#', written)
    assert max(map(float, round_off.findall(written))) < 1e-12


def test_pictures_are_there_and_small():
    """Every picture that the document shows exists and is less than 300 kB."""
    pictures = re.findall(r'\]\(([^)]+\.png)\)', DOCUMENT)
    assert pictures
    for picture in pictures:
        assert (ROOT / 'doc' / picture).stat().st_size < 300_000


@pytest.mark.parametrize(
    'table',
    [
        name
        for name, rows in TABLES.items()
        if name.endswith(('2', '3', '4', '5', '003 table 1')) and TOTAL in rows
    ],
)
def test_printed_rows_add_up_to_the_printed_total(table):
    """The rows of these tables, as entered, sum to the total that the document prints."""
    rows = [cost for name, cost in TABLES[table].items() if name != TOTAL]
    total = TABLES[table][TOTAL]
    for key in ('multiplications', 'additions'):
        assert sum((getattr(line, key) for line in rows), Polynomial(())) == getattr(total, key)


def test_a_fit_is_exact_or_refused():
    """A polynomial is found again; counts that are none are refused."""
    cubic = polynomial(2, 0, -3, 1)
    assert fit({n: int(cubic(n)) for n in range(2, 9)}) == cubic
    assert str(cubic) == '2n^3 - 3n + 1'
    with pytest.raises(InputError, match='expected a polynomial'):
        fit({n: 2**n for n in range(1, 9)})
