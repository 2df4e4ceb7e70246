"""The tables of doc/scenarios.md are what `ne_dynamics demo` finds.

Long: each runs a scenario whole, over DDS. `sensor-loss` is left out, whose watchdog acts in the
time of the processes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = (ROOT / 'doc' / 'scenarios.md').read_text(encoding='utf-8')
FAILURES = (ROOT / 'doc' / 'failure_behaviour.md').read_text(encoding='utf-8')
TIMEOUT = 1800.0
pytestmark = pytest.mark.usefixtures('closed_loop')
CLOSE = 0.01
"""Part of a figure by which a run may differ from another: now and then a last digit does."""


def run_demo(scenario, folder, *options):
    """Run a scenario whole, and return what it prints."""
    command = [sys.executable, '-m', 'ne_dynamics.cli.main', 'demo', '--scenario', scenario]
    ended = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def results_of(scenario, folder):
    """Run a scenario whole, and return its results."""
    return json.loads(run_demo(scenario, folder, '--json'))


def section(name):
    """Return the section of doc/scenarios.md on a scenario."""
    return SCENARIOS.partition(f'\n## {name}\n')[2].partition('\n## ')[0]


def numbers(text):
    """Return the numbers of a text as they are written."""
    return re.findall(r'(?<![\w.])\d+(?:\.\d+)?', text)


def row(text, beginning):
    """Return the numbers of the row of a table that begins so, as they are written."""
    (line,) = (line for line in text.splitlines() if line.startswith(f'| {beginning} |'))
    return numbers(line.partition(f'| {beginning} |')[2])


def compare(found, written):
    """Fail where numbers differ by more than their last digit and a little."""
    assert len(found) == len(written)
    for number, text in zip(found, written, strict=True):
        digit = 10.0 ** -len(text.partition('.')[2])
        assert abs(number - float(text)) <= max(0.51 * digit, CLOSE * float(text)), (number, text)


def milli(results, key):
    """Return the RMS error over all joints of a run [mrad]."""
    return 1e3 * results['runs'][key]['overall_rms_error']


def test_the_document_has_the_errors_of_the_demo(tmp_path):
    results = results_of('control-laws', tmp_path)
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


def test_a_tool_that_is_picked_up(tmp_path):
    printed = run_demo('tool-load', tmp_path, '--output', str(tmp_path))
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


def test_a_base_that_is_tilted_or_rocks(tmp_path):
    results = results_of('tilted-base', tmp_path)
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


def test_a_model_that_is_wrong(tmp_path):
    errors = results_of('model-error', tmp_path)['findings']['overall_rms_error']
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


def test_positions_alone(tmp_path):
    results = results_of('chunks', tmp_path)
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


def test_motors_that_are_too_weak(tmp_path):
    runs = results_of('weak-motors', tmp_path)['findings']['runs']
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
