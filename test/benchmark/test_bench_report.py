"""What the benchmark writes: ratios, verdicts, JSON and back, tables."""

import json
from pathlib import Path

import pytest

from benchmark import __main__ as bench
from benchmark import report as reports
from benchmark.report import Figure, Limit, Report
from ne_dynamics.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


def some_report():
    """Return a report with one figure of every kind."""
    machine = {
        'processor': 'a processor',
        'cores': 2,
        'memory_bytes': 8_000_000_000,
        'system': 'Linux',
        'python': 'CPython 3.11',
        'packages': {'numpy': '2.0', 'pin': None},
        'load_before': 0.5,
        'load_after': 1.0,
    }
    figures = [
        Figure(
            'calls',
            'UR5',
            'ours',
            300e-9,
            'theirs',
            1e-6,
            quartiles=(0.29, 0.31),
            limit=Limit(0.30),
        ),
        Figure('batch', 'UR5', 'ours', 20e-9, 'theirs', 1e-6, limit=Limit(1 / 60, text='1/60')),
        Figure('operations', 'UR5', 'additions', 172, unit='operations',
               limit=Limit(172, of='value', strict=True)),
        Figure('load', 'UR5', 'cached', 0.25, 'Pinocchio', 0.1, limit=Limit(0.3, of='value')),
        Figure('memory', 'UR5', 'ours', 91e6, unit='B'),
    ]  # fmt: skip
    settings = {'quick': True, 'rounds': 3}
    return Report(machine, settings, figures, [('MuJoCo', 'not installed')])


def test_ratio_and_verdict():
    """The ratio is ours over theirs; a limit is kept up to equality, a strict one below it."""
    verdicts = [figure.is_met for figure in some_report().figures]
    assert verdicts == [True, False, False, True, None]
    ratios = [figure.ratio for figure in some_report().figures]
    assert ratios == [pytest.approx(0.3), pytest.approx(0.02), None, 2.5, None]
    assert [figure.section for figure in some_report().missed] == ['batch', 'operations']


def test_json_round_trip():
    """A report read back from its own JSON is the same; ratio and verdict are in the JSON."""
    first = some_report()
    data = json.dumps(first.as_json(), allow_nan=False)
    assert reports.loads(data) == first
    figure = json.loads(data)['figures'][0]
    assert figure['met'] is True
    assert figure['ratio'] == pytest.approx(0.3)


def test_tables_hold_every_figure():
    """Text and Markdown name the machine, every figure with its verdict, and what was left out."""
    for text in (reports.text(some_report()), reports.markdown(some_report())):
        assert 'a processor, 2 cores, 8.00 GB' in text
        assert 'pin' not in text.split('Load average')[0]
        for part in ('300 ns', '1.00 us', '0.290 to 0.310', '1/50.0', '1/60', 'below 172',
                     '250 ms', '300 ms', '91.0 MB', 'met', 'MISSED'):  # fmt: skip
            assert part in text, part
        assert '2 of 4 aims met.' in text
        assert 'Left out: MuJoCo: not installed' in text


def test_document_is_filled_between_its_markers():
    begin, end = reports.BEGIN.format(''), reports.END.format('')
    document = f'before\n{begin}old\n{end}after\n'
    filled = reports.with_results(document, some_report())
    assert filled.startswith('before\n')
    assert filled.endswith('after\n')
    assert 'old' not in filled
    assert reports.with_results(filled, some_report()) == filled
    with pytest.raises(InputError, match='expected the markers'):
        reports.with_results('nothing', some_report())


def test_command_offers_every_section():
    """What `--only` takes are the sections of the report."""
    assert list(bench.SECTIONS) == list(reports.SECTIONS)


@pytest.mark.parametrize('name', ['results.json', 'functions.json'])
def test_document_shows_the_results_beside_it(name):
    """benchmark/README.md holds the tables of the files beside it, all written by `make bench`."""
    results = ROOT / 'benchmark' / name
    document = (ROOT / 'benchmark' / 'README.md').read_text(encoding='utf-8')
    if not results.is_file():
        pytest.skip(f'benchmark/{name} is not there (make bench)')
    report = reports.loads(results.read_text(encoding='utf-8'))
    assert reports.with_results(document, report) == document
