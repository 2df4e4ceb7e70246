"""What the benchmark writes: ratios, verdicts, JSON and back, tables."""

from pathlib import Path

import pytest

from benchmark import report as reports

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize('name', ['results.json', 'functions.json'])
def test_document_shows_the_results_beside_it(name):
    """benchmark/README.md holds the tables of the files beside it, all written by `make bench`."""
    results = ROOT / 'benchmark' / name
    document = (ROOT / 'benchmark' / 'README.md').read_text(encoding='utf-8')
    if not results.is_file():
        pytest.skip(f'benchmark/{name} is not there (make bench)')
    report = reports.loads(results.read_text(encoding='utf-8'))
    assert reports.with_results(document, report) == document
