"""``ne_dynamics demo``: what it prints and writes, how it fails, what it leaves behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fresh_python import run_script

from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.control_laws import LAWS
from ne_dynamics.simulation.demo.scenarios import SCENARIOS

COMMAND = [sys.executable, '-m', 'ne_dynamics.cli.main', 'demo']
TIMEOUT = 600.0


@pytest.mark.long
def test_the_demo_prints_tables_and_writes_plots(run_demo, tmp_path):
    ended = run_demo('--short', '--duration', '0.6', '--rate', '250')
    assert ended.returncode == 0, ended.stderr
    for words in (
        'six_axis_arm: 6 joints, 0.6 s at 250 Hz',
        'PD alone         RMS',
        'computed torque  peak',
        'of PD alone',
        'With 3 kg on tcp, unknown to the model; sensor at ft_sensor',
        'computed torque + wrist wrench  RMS',
        'Plots: demo_output/error.png, ',
    ):
        assert words in ended.stdout
    assert 'computed torque: 0.6 of 0.6 s' in ended.stderr
    plots = sorted(path.name for path in (tmp_path / 'demo_output').iterdir())
    assert plots == ['error.png', 'load_error.png', 'load_torque.png', 'torque.png']
    for name in plots:
        assert (tmp_path / 'demo_output' / name).read_bytes().startswith(b'\x89PNG')


def test_the_results_are_json_when_asked_and_stdout_holds_nothing_else(run_demo):
    ended = run_demo(
        *('--model', shipped_file('puma560_standard_dh.yaml'), '--duration', '0.6'),
        *('--rate', '200', '--modes', 'feedforward_pd', '--load', '0', '--output', 'here'),
        '--json',
    )
    assert ended.returncode == 0, ended.stderr
    results = json.loads(ended.stdout)
    assert list(results['runs']) == ['feedforward_pd']
    run = results['runs']['feedforward_pd']
    assert list(run['rms_error']) == results['joints']
    assert 0.0 < max(run['rms_error'].values()) < max(run['peak_error'].values()) < 0.01
    assert run['states'] == pytest.approx(200 * results['duration'] + 1, abs=3)
    assert results['load'] is None
    assert [Path(path).parent.name for path in results['plots']] == ['here', 'here']


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('module', 'extra'), [('rclpy', 'ros'), ('mujoco', 'sim'), ('matplotlib.figure', 'plot')]
)
def test_a_missing_dependency_is_named_with_the_extra_that_brings_it(
    closed_loop, tmp_path, module, extra
):
    program = (
        f'import sys; sys.modules[{module!r}] = None\n'
        'from ne_dynamics.cli.main import main\n'
        'sys.exit(main(["demo"]))'
    )
    ended = run_script(program, folder=tmp_path)
    assert ended.returncode == 1
    assert f'pip install "ne_dynamics[{extra}]"' in ended.stderr
    assert 'Traceback' not in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.kept(3)
@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('--urdf /no/such/file', '/no/such/file'),
        ('--tip nowhere', 'nowhere'),
        ('--sensor nowhere', "no link 'nowhere'"),
        ('--load 3000', 'effort limit'),
        ('--scenario tool-load --load 0', 'expects one > 0, got 0'),
        ('--scenario sensor-loss --sensor nowhere', "no link 'nowhere'"),
        ('--scenario tilted-base --modes pd', '--modes: expected none'),
    ],
)
def test_what_cannot_be_run_ends_with_code_1_and_a_reason(
    closed_loop, tmp_path, monkeypatch, call, line, message
):
    monkeypatch.chdir(tmp_path)
    code, _, errors = call('demo', *line.split())
    assert code == 1
    assert message in errors
    assert list(tmp_path.iterdir()) == []


def test_the_help_tells_every_scenario_in_a_line_and_names_every_law(call):
    code, text, _ = call('demo', '--help')
    assert code == 0
    for name, scenario in SCENARIOS.items():
        assert f'  {name:<14}{scenario.story}\n' in text
    assert all(law in text for law in LAWS)


def test_a_node_that_refuses_its_model_ends_the_demo_with_its_reason(run_demo, tmp_path):
    text = shipped_file('six_axis_arm.urdf').read_text()
    weak = tmp_path / 'weak.urdf'
    weak.write_text(re.sub('effort="[0-9.]*"', 'effort="0"', text))
    ended = run_demo('--short', '--urdf', weak, '--tip', 'tcp')
    assert ended.returncode == 1
    assert 'computed_torque not configured: effort_limits' in ended.stderr
    assert 'nothing within' not in ended.stderr


def processes_with(mark):
    """Return the ids of the living processes that have a mark in their environment."""
    found = []
    for folder in Path('/proc').iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / 'environ').read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


@pytest.mark.kept(1)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_no_process_behind(closed_loop, tmp_path, number):
    if not Path('/proc/self/environ').exists():
        pytest.skip('needs /proc to find processes')
    mark = f'NE_DYNAMICS_TEST_{os.getpid()}_{number}'
    demo = subprocess.Popen(
        [*COMMAND, '--duration', '60'],
        cwd=tmp_path,
        env={**os.environ, mark: '1'},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background of a shell ignores Ctrl-C, and so would the demo.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        deadline = time.monotonic() + TIMEOUT
        while len(processes_with(mark)) < 3 and time.monotonic() < deadline:
            assert demo.poll() is None, demo.stderr.read()
            time.sleep(0.05)
        assert len(processes_with(mark)) >= 3
        time.sleep(0.5)
        demo.send_signal(number)
        _, errors = demo.communicate(timeout=TIMEOUT)
        assert demo.returncode == 130, errors
        assert processes_with(mark) == []
    finally:
        demo.kill()
        demo.wait()


@pytest.mark.long
def test_when_sensors_are_lost_the_watchdog_keeps_the_arm_and_hold_keeps_the_tool(run_demo):
    ended = run_demo('--scenario', 'sensor-loss', '--short', '--duration', 1.2, '--json')
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)['findings']
    without, watched = (found['joint_states'][key] for key in ('no_watchdog', 'watchdog'))
    assert watched['moved'] < 0.7 * without['moved']
    assert watched['tip_dropped'] < 0.05
    assert watched['largest_speed'] < 0.5 * without['largest_speed']
    assert watched['largest_effort_after'] < 0.7 * without['largest_effort_after']
    assert any('joint_states stopped' in message for message in found['reported'])
    held, dropped = (found['wrench'][key] for key in ('wrench_hold', 'wrench_zero'))
    assert held['rms_error'] < dropped['rms_error'] / 3.0
