"""`ne_dynamics bench` runs, part by part, with as few repeats as there can be."""

from __future__ import annotations

import json

import pytest

from ne_dynamics.bench import report as reports
from ne_dynamics.bench import robots
from ne_dynamics.cli import main as cli
from ne_dynamics.errors import MissingDependencyError

FIGURE_KEYS = {
    'section', 'subject', 'ours', 'our_value', 'theirs', 'their_value', 'unit', 'ratio',
    'quartiles', 'limit', 'met',
}  # fmt: skip


def run(capsys, *arguments):
    """Run the command quickly and return what it printed as JSON."""
    assert cli.main(['bench', '--quick', '--rounds', '2', '--json', *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize('part', ['calls', 'matrices', 'growth', 'operations', 'memory'])
def test_part_runs(capsys, part):
    """A part prints figures of the promised form, with ratios that fit their values."""
    report = run(capsys, '--only', part)
    assert report['format'] == reports.FORMAT
    assert report['machine']['processor']
    assert set(report['machine']['packages']) >= {'numpy', 'llvmlite', 'pin'}
    assert report['settings']['rounds'] == 2
    assert report['figures']
    for figure in report['figures']:
        assert set(figure) == FIGURE_KEYS
        assert figure['section'] == part
        assert figure['our_value'] > 0
        if figure['theirs']:
            ratio = figure['our_value'] / figure['their_value']
            assert figure['ratio'] == pytest.approx(ratio)
        assert (figure['met'] is None) == (figure['limit'] is None)


def test_operation_aims_are_met(capsys):
    """UR5 and Puma 560 take fewer operations than aimed at."""
    try:
        robots.ur5()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    figures = run(capsys, '--only', 'operations')['figures']
    assert [figure['met'] for figure in figures if figure['limit']] == [True] * 4


def test_node_hop_runs(capsys, monkeypatch):
    """Node and relay answer every message of the driver, one command each."""
    pytest.importorskip('rclpy', reason='rclpy is missing')
    from dataclasses import replace

    from ne_dynamics.bench import suite

    chosen = suite.Settings.chosen
    monkeypatch.setattr(
        suite.Settings, 'chosen', lambda *arguments: replace(chosen(*arguments), hop_blocks=2)
    )
    report = run(capsys, '--only', 'node')
    assert [figure['theirs'] for figure in report['figures']] == ['relay'] * 3
    assert set(report['settings']['hop_messages_lost']) == {'computed_torque', 'relay'}


def test_files_are_written(capsys, tmp_path):
    """`--output` keeps the JSON, `--document` the tables, `--results` reads the JSON again."""
    output, document = tmp_path / 'results.json', tmp_path / 'document.md'
    document.write_text(f'# Title\n{reports.BEGIN}{reports.END}')
    printed = run(capsys, '--only', 'operations', '--output', str(output), '--document',
                  str(document))  # fmt: skip
    assert json.loads(output.read_text()) == printed
    assert 'multiplications' in document.read_text()
    assert cli.main(['bench', '--results', str(output)]) == 0
    assert capsys.readouterr().out.strip() == reports.text(reports.loads(output.read_text()))


def test_document_without_markers_stops_before_measuring(capsys, tmp_path):
    """A document that cannot take the tables is an error at once."""
    document = tmp_path / 'document.md'
    document.write_text('# Title\n')
    assert cli.main(['bench', '--document', str(document)]) == 1
    captured = capsys.readouterr()
    assert 'expected the markers' in captured.err
    assert 'one call' not in captured.err


@pytest.mark.parametrize(
    'arguments', [['--rounds', '0'], ['--only', 'everything'], ['--rounds', 'x']]
)
def test_wrong_arguments_show_the_usage(arguments, capsys):
    """Parts that do not exist, and numbers that make no sense, exit with 2."""
    with pytest.raises(SystemExit) as stop:
        cli.main(['bench', *arguments])
    assert stop.value.code == 2
    assert 'usage: ne_dynamics bench' in capsys.readouterr().err
