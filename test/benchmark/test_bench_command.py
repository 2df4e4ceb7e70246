"""`python -m benchmark` runs, part by part, with as few repeats as there can be."""

import json
import os

import pytest

from benchmark import __main__ as bench
from benchmark import report as reports
from ne_dynamics.cli import main as cli
from ne_dynamics.codegen.llvm.compiler import toolchain
from ne_dynamics.errors import BackendError, MissingDependencyError
from ne_dynamics.papers import robots

FIGURE_KEYS = {
    'section', 'subject', 'ours', 'our_value', 'theirs', 'their_value', 'unit', 'ratio',
    'quartiles', 'limit', 'met',
}  # fmt: skip


def run(capsys, *arguments):
    """Run the command quickly and return what it printed as JSON."""
    assert bench.main(['--quick', '--rounds', '2', '--json', *arguments]) == 0
    return json.loads(capsys.readouterr().out)


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
def compiler():
    """Skip where the compiled backend cannot run."""
    try:
        toolchain()
    except BackendError as error:
        pytest.skip(str(error))


@pytest.fixture
def small(monkeypatch):
    """Make batches, chains and sweeps as small as they can be."""
    from dataclasses import replace

    from benchmark import suite

    chosen = suite.Settings.chosen
    monkeypatch.setattr(
        suite.Settings,
        'chosen',
        lambda *arguments: replace(chosen(*arguments), batches=(50, 200), sweep=(2, 1)),
    )
    monkeypatch.setattr(suite, 'THREADED_BATCH', 200)
    monkeypatch.setattr(suite, 'BATCH_SAMPLE_DURATION', 0.001)
    monkeypatch.setattr(robots, 'REGRESSOR_LENGTHS', (3, 5))
    monkeypatch.setattr(suite, 'AIMED_REGRESSOR', 5)


@pytest.fixture
def one_small_array(monkeypatch):
    """Measure a few samples of one arm under JAX; skips where JAX or the arm is missing."""
    from benchmark import suite

    pytest.importorskip('jax', reason='JAX is missing')
    try:
        robots.ur5()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(suite, 'AIMED', ('UR5',))
    monkeypatch.setattr(suite, 'ARRAY_BATCH', 50)
    monkeypatch.setattr(suite, 'BATCH_SAMPLE_DURATION', 0.001)


@pytest.mark.usefixtures('one_small_array')
def test_array_part_runs(capsys):
    """Run time and compilation have aims beside adam-robotics where it runs."""
    report = run(capsys, '--only', 'arrays')
    assert [figure['subject'] for figure in report['figures']] == [
        'UR5, 50 samples',
        'UR5, compilation',
    ]
    assert all(figure['ours'] == 'ours, array_function' for figure in report['figures'])
    skipped = {item['what'] for item in report['skipped']}
    if skipped:
        assert skipped == {'adam-robotics'}
    aims = [figure['limit'] and figure['limit']['most'] for figure in report['figures']]
    assert aims == ([None, None] if skipped else [1 / 15, 1 / 20])


@pytest.mark.usefixtures('compiler', 'small')
def test_regressor_part_runs(capsys):
    """Chains of many joints have an aim beside Pinocchio, and so has the first call, cold."""
    pytest.importorskip('pinocchio', reason='Pinocchio (pin) is missing')
    report = run(capsys, '--only', 'regressor')
    assert report['skipped'] == []
    aims = {figure['subject']: figure['limit'] for figure in report['figures'][:2]}
    assert aims['chain of 3'] is None
    assert aims['chain of 5']['most'] == 3.0
    cold = report['figures'][-1]
    assert cold['subject'] == 'chain of 5: first call of the regressor'
    assert cold['ours'] == 'ours, compiled, cold'
    assert cold['limit']['most'] == 5.0
    assert cold['our_value'] > 0.0


@pytest.mark.usefixtures('compiler', 'small')
@pytest.mark.skipif(not os.path.exists('/proc/self/maps'), reason='needs the /proc of Linux')
def test_sweep_part_runs(capsys):
    """Memory and maps of a dropped robot have aims; its seconds are shown."""
    report = run(capsys, '--only', 'sweep')
    assert report['skipped'] == []
    assert [figure['unit'] for figure in report['figures']] == ['B', 'maps', 's', 's']
    has_aim = [figure['limit'] is not None for figure in report['figures']]
    assert has_aim == [True, True, False, False]
    assert all(figure['our_value'] > 0.0 for figure in report['figures'][2:])


@pytest.mark.usefixtures('small')
def test_without_a_compiler_the_compiled_backend_is_left_out(capsys, monkeypatch):
    """What needs the compiler is named with the reason; the rest is measured."""
    from benchmark import competitors, suite

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

    from benchmark import suite

    chosen = suite.Settings.chosen
    monkeypatch.setattr(
        suite.Settings, 'chosen', lambda *arguments: replace(chosen(*arguments), hop_blocks=2)
    )
    report = run(capsys, '--only', 'node')
    assert [figure['theirs'] for figure in report['figures']] == ['relay'] * 3
    assert set(report['settings']['hop_messages_lost']) == {'computed_torque', 'relay'}


@pytest.fixture
def short_loads(monkeypatch):
    """Measure short blocks under two loads; skips where ROS is missing."""
    from dataclasses import replace

    from benchmark import suite

    loaded_hop = pytest.importorskip('benchmark.loaded_hop', reason='rclpy is missing')
    monkeypatch.setattr(loaded_hop, 'POINTS', (0, 1_500))
    chosen = suite.Settings.chosen
    monkeypatch.setattr(
        suite.Settings,
        'chosen',
        lambda *arguments: replace(chosen(*arguments), loaded_hop=(2, 150)),
    )
    return loaded_hop


@pytest.mark.usefixtures('short_loads')
def test_loaded_hop_runs(capsys):
    """Under each load states are answered to the last one, and trajectories have come."""
    report = run(capsys, '--only', 'loaded_hop')
    assert report['skipped'] == []
    times = [figure for figure in report['figures'] if figure['unit'] == 's']
    assert [figure['subject'].partition(', ')[::2] for figure in times] == [
        (load, what)
        for load in ('no trajectories', '1500 points')
        for what in (
            'p50',
            'p99',
            'max',
            'max of a block, median',
            'longest wait, states without an answer included',
        )
    ]
    assert all(figure['our_value'] > 0.0 for figure in times)
    for load in (times[:5], times[5:]):
        p50, p99, largest, usual, wait = [figure['our_value'] for figure in load]
        assert p50 <= p99 <= largest <= wait
        assert p50 <= usual <= largest
    unanswered = [figure for figure in report['figures'] if figure['unit'] == 'states']
    assert len(unanswered) == 2
    assert all(0 <= figure['our_value'] < 300 for figure in unanswered)
    _, loaded = report['settings']['loaded_hop']
    assert loaded['points'] == 1_500
    assert loaded['trajectories'] > 0


def test_checkouts_are_compared(capsys, short_loads):
    """The node of another checkout is driven in turns with ours; here both are the same."""
    report = run(capsys, '--only', 'loaded_hop', '--package', str(short_loads.OWN))
    assert report['skipped'] == []
    other = short_loads.name_of(short_loads.OWN)
    times = [figure for figure in report['figures'] if figure['unit'] == 's']
    assert len(times) == 10
    for figure in times:
        assert (figure['ours'], figure['theirs']) == ('computed_torque', other)
        assert figure['their_value'] > 0.0
    unanswered = [figure['ours'] for figure in report['figures'] if figure['unit'] == 'states']
    assert unanswered == 2 * ['computed_torque', other]


def test_files_are_written(capsys, tmp_path):
    """`--output` keeps the JSON, `--document` the tables, `--results` reads the JSON again."""
    output, document = tmp_path / 'results.json', tmp_path / 'document.md'
    document.write_text(f'# Title\n{reports.BEGIN.format("")}{reports.END.format("")}')
    printed = run(capsys, '--only', 'operations', '--output', str(output), '--document',
                  str(document))  # fmt: skip
    assert json.loads(output.read_text()) == printed
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
