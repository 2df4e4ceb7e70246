"""`python -m benchmark` runs, part by part, with as few repeats as there can be."""

import json
from dataclasses import replace

import pytest

from benchmark import __main__ as bench
from benchmark import competitors, suite
from benchmark import report as reports
from ne_dynamics.cli import main as cli
from ne_dynamics.errors import BackendError
from ne_dynamics.papers import robots

FIGURE_KEYS = {
    'section', 'subject', 'ours', 'our_value', 'theirs', 'their_value', 'unit', 'ratio',
    'quartiles', 'limit', 'met',
}  # fmt: skip


def run(capsys, *arguments):
    """Run the command quickly and return what it printed as JSON."""
    assert bench.main(['--quick', '--rounds', '2', '--json', *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    'part', ['calls', 'matrices', 'derivatives', 'parameters', 'growth', 'operations', 'memory']
)
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


@pytest.fixture
def choose(monkeypatch):
    """Return a function that changes settings of the benchmark."""
    chosen = suite.Settings.chosen

    def change(**values):
        def choose_others(*arguments):
            return replace(chosen(*arguments), **values)

        monkeypatch.setattr(suite.Settings, 'chosen', choose_others)

    return change


def test_without_a_compiler_the_compiled_backend_is_left_out(capsys, monkeypatch, choose):
    """What needs the compiler is named with the reason; the rest is measured."""
    choose(batches=(50, 200), sweep=(2, 1))
    monkeypatch.setattr(suite, 'THREADED_BATCH', 200)
    monkeypatch.setattr(suite, 'BATCH_SAMPLE_DURATION', 0.001)
    monkeypatch.setattr(robots, 'REGRESSOR_LENGTHS', (3, 5))
    monkeypatch.setattr(suite, 'AIMED_REGRESSOR', 5)

    def refuse():
        raise BackendError('expected llvmlite >= 1000')

    monkeypatch.setattr(competitors, 'toolchain', refuse)
    monkeypatch.setattr(suite, 'toolchain', refuse)
    report = run(capsys, '--only', 'calls', 'batch', 'regressor', 'sweep')
    skipped = {item['what']: item['why'] for item in report['skipped']}
    for what in ('ours, compiled', 'ours, compiled, cold', 'ours, compiled, all cores', 'sweep'):
        assert 'llvmlite >= 1000' in skipped[what]
    sections = {figure['section'] for figure in report['figures']}
    assert sections <= {'calls', 'batch'}
    assert 'calls' in sections
    assert not [figure for figure in report['figures'] if 'compiled' in figure['ours']]


@pytest.mark.long
def test_node_hop_runs(capsys, choose):
    """Node and relay answer every message of the driver, one command each."""
    pytest.importorskip('rclpy', reason='rclpy is missing')
    choose(hop_blocks=2)
    report = run(capsys, '--only', 'node')
    assert [figure['theirs'] for figure in report['figures']] == ['relay'] * 3
    assert set(report['settings']['hop_messages_lost']) == {'computed_torque', 'relay'}


@pytest.mark.long
def test_loaded_hop_runs(capsys, monkeypatch, choose):
    """Under each load states are answered to the last one, and trajectories have come."""
    loaded_hop = pytest.importorskip('benchmark.loaded_hop', reason='rclpy is missing')
    monkeypatch.setattr(loaded_hop, 'POINTS', (0, 1_500))
    choose(loaded_hop=(2, 150))
    report = run(capsys, '--only', 'loaded_hop')
    assert report['skipped'] == []
    times = [figure for figure in report['figures'] if figure['unit'] == 's']
    assert len(times) == 10
    for load, figures in (('no trajectories', times[:5]), ('1500 points', times[5:])):
        assert all(figure['subject'].startswith(f'{load}, ') for figure in figures)
        p50, p99, largest, usual, wait = [figure['our_value'] for figure in figures]
        assert 0.0 < p50 <= p99 <= largest <= wait
        assert p50 <= usual <= largest
    unanswered = [figure for figure in report['figures'] if figure['unit'] == 'states']
    assert len(unanswered) == 2
    assert all(0 <= figure['our_value'] < 300 for figure in unanswered)
    _, loaded = report['settings']['loaded_hop']
    assert loaded['points'] == 1_500
    assert loaded['trajectories'] > 0


def test_files_are_written(capsys, tmp_path):
    """`--output` keeps the JSON, `--document` the tables, `--results` reads the JSON again.

    UR5 and Puma 560 take fewer operations than aimed at.
    """
    output, document = tmp_path / 'results.json', tmp_path / 'document.md'
    document.write_text(f'# Title\n{reports.BEGIN.format("")}{reports.END.format("")}')
    printed = run(capsys, '--only', 'operations', '--output', str(output), '--document',
                  str(document))  # fmt: skip
    assert json.loads(output.read_text()) == printed
    assert all(figure['met'] for figure in printed['figures'] if figure['limit'])
    assert 'multiplications' in document.read_text()
    assert bench.main(['--results', str(output)]) == 0
    assert capsys.readouterr().out.strip() == reports.text(reports.loads(output.read_text()))


@pytest.mark.parametrize(
    'arguments',
    [['--rounds', '0'], ['--only', 'everything'], ['--rounds', 'x'], ['--package', 'nowhere']],
)
def test_wrong_arguments_show_the_usage(arguments, capsys):
    """Parts that do not exist, and numbers that make no sense, exit with 2."""
    with pytest.raises(SystemExit) as stop:
        bench.main([*arguments])
    assert stop.value.code == 2
    assert 'usage: python -m benchmark' in capsys.readouterr().err


def test_the_command_says_where_it_went(capsys):
    """`ne_dynamics bench` with any options names what to run in a checkout, and exits with 1."""
    for arguments in ([], ['--quick', '--only', 'calls'], ['anything']):
        assert cli.main(['bench', *arguments]) == 1
        assert 'make bench' in capsys.readouterr().err
