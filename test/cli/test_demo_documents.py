"""The tables of doc/scenarios.md are what `ne_dynamics demo` finds.

Long: each runs a scenario whole, over DDS. `sensor-loss` is left out, whose watchdog acts in the
time of the processes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from document_tables import compare, numbers, row

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = (ROOT / 'doc' / 'scenarios.md').read_text(encoding='utf-8')
FAILURES = (ROOT / 'doc' / 'failure_behaviour.md').read_text(encoding='utf-8')


@pytest.fixture
def results_of(run_demo, tmp_path):
    """Return a function that runs a scenario whole, and returns its results."""

    def run(scenario):
        ended = run_demo('--scenario', scenario, '--json')
        assert ended.returncode == 0, ended.stderr
        results = json.loads(ended.stdout)
        assert results.get('scenario', 'control-laws') == scenario
        assert results['plots']
        for plot in results['plots']:
            assert (tmp_path / plot).read_bytes().startswith(b'\x89PNG')
        for one in results['runs'].values():
            assert list(one['rms_error']) == results['joints']
            assert one['states'] >= 500 * results['duration']
        return results

    return run


def section(name):
    """Return the section of doc/scenarios.md on a scenario."""
    return SCENARIOS.partition(f'\n## {name}\n')[2].partition('\n## ')[0]


def milli(results, key):
    """Return the RMS error over all joints of a run [mrad]."""
    return 1e3 * results['runs'][key]['overall_rms_error']


@pytest.mark.long
def test_the_document_has_the_errors_of_the_demo(results_of):
    results = results_of('control-laws')
    runs = results['runs'] | results['load']['runs']
    exact = runs['computed_torque']['peak_error']
    assert f'with the model right it was {1e3 * max(exact.values()):.0f} mrad' in FAILURES
    for beginning, key in (
        ('PD alone', 'pd'),
        ('PD + gravity', 'pd_gravity'),
        ('feed-forward + PD', 'feedforward_pd'),
        ('computed torque', 'computed_torque'),
        (
            'with 3 kg on the tool that the model does not know: computed torque',
            'without_wrench',
        ),
        ('the same, and the wrench of the wrist sensor', 'with_wrench'),
    ):
        found = [1e3 * error for error in runs[key]['rms_error'].values()]
        compare(found, row(section('control-laws'), beginning))


@pytest.mark.long
def test_a_tool_that_is_picked_up(run_demo):
    ended = run_demo('--scenario', 'tool-load')
    assert ended.returncode == 0, ended.stderr
    printed = ended.stdout
    for beginning, label in (
        ('PD alone', 'PD alone'),
        ('computed torque, load unknown', 'computed torque, load unknown'),
        ('`payload.mass` set at 2 s, while it moves', 'payload.* set while it moves'),
        ('the wrench of the wrist sensor', 'with the wrist wrench'),
    ):
        (line,) = (line for line in printed.splitlines() if line.strip().startswith(label))
        found = map(float, numbers(line.partition(label)[2]))
        compare(list(found), row(section('tool-load'), beginning))
    wrench, payload = re.findall(r'1/(\d+) of', printed)
    said = re.search(
        r'1/(\d+) of the error with the wrist sensor, 1/(\d+)\s+once the payload is set', SCENARIOS
    ).groups()
    compare([float(wrench), float(payload)], said)


@pytest.mark.long
def test_a_base_that_is_tilted_or_rocks(results_of):
    results = results_of('tilted-base')
    text = section('tilted-base')
    said = re.search(
        r'20 degrees: (\S+) without `imu`, (\S+) with it\..*0\.5 Hz:\s+(\S+) without, (\S+) with '
        r'`imu.source: orientation`, (\S+) with `acceleration`',
        text,
        re.DOTALL,
    ).groups()
    keys = (
        'tilted_without',
        'tilted_with',
        'rocking_without',
        'rocking_orientation',
        'rocking_with',
    )
    compare([milli(results, key) for key in keys], said)
    (ratio,) = re.findall(r'1/(\d+) of the error with an IMU', SCENARIOS)
    compare([results['findings']['ratios']['tilted']], [ratio])


@pytest.mark.long
def test_a_model_that_is_wrong(results_of):
    errors = results_of('model-error')['findings']['overall_rms_error']
    text = section('model-error')
    for beginning, law in (
        ('PD alone', 'pd'),
        ('feed-forward + PD', 'feedforward_pd'),
        ('computed torque', 'computed_torque'),
        ('computed torque, `observer.mode: compensate`', 'observer'),
    ):
        found = [
            1e3 * errors[case][law] for case in ('exact', 'mass_10', 'mass_20', 'friction', 'all')
        ]
        compare(found, row(text, beginning))


@pytest.mark.long
def test_positions_alone(results_of):
    results = results_of('chunks')
    text, findings = section('chunks'), results['findings']
    for beginning, key in (
        ('straight lines, chunks of 2', 'lines'),
        ('splines, chunks of 16', 'spline_16'),
        ('splines, chunks of 2', 'spline_2'),
        ('splines, single points', 'spline_1'),
    ):
        found = [milli(results, key), 100.0 * findings['effort_errors'][key]]
        compare(found, row(text, beginning))
    (ratio,) = re.findall(r'1/(\d+) by splines of the error by straight lines', SCENARIOS)
    compare([findings['ratios']['spline_2']], [ratio])


@pytest.mark.long
def test_motors_that_are_too_weak(results_of):
    runs = results_of('weak-motors')['findings']['runs']
    for beginning, key in (
        ('motors strong enough', 'strong'),
        ('weak, `follow`', 'follow'),
        ('weak, `slow_down`', 'slow_down'),
    ):
        run = runs[key]
        found = [
            1e3 * run['path_deviation'],
            1e3 * run['longest_saturation'],
            1e3 * run['saturation'],
            run['slowest'],
            run['arrival'],
        ]
        compare(found, row(section('weak-motors'), beginning))
