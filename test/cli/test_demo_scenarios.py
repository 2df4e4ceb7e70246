"""``ne_dynamics demo --scenario``: each story run short, over the real processes.

The scenarios compare; so do these tests: ratios of errors, never times.
"""

import json
import subprocess
import sys

import pytest

from ne_dynamics.cli.main import main
from ne_dynamics.simulation.demo.control_laws import LAWS
from ne_dynamics.simulation.demo.scenarios import SCENARIOS

COMMAND = [sys.executable, '-m', 'ne_dynamics.cli.main', 'demo']
TIMEOUT = 600.0


def run_demo(*arguments, cwd):
    """Run the command and return how it ended."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT
    )


def results_of(scenario, duration, folder):
    """Run a scenario short, check what is the same for all, and return its results."""
    ended = run_demo(
        *('--scenario', scenario, '--short', '--duration', duration, '--json'), cwd=folder
    )
    assert ended.returncode == 0, ended.stderr
    results = json.loads(ended.stdout)
    assert results['scenario'] == scenario
    (plot,) = results['plots']
    assert plot == f'demo_output/{scenario.replace("-", "_")}.png'
    assert (folder / plot).read_bytes().startswith(b'\x89PNG')
    for run in results['runs'].values():
        assert list(run['rms_error']) == results['joints']
        assert run['states'] >= 500 * results['duration']
    return results


def test_a_tool_that_is_felt_or_told_of_costs_a_fraction_of_the_error(closed_loop, tmp_path):
    found = results_of('tool-load', 1.2, tmp_path)['findings']
    assert found['ratio_of_wrench'] > 8.0
    assert found['ratio_before_told'] == 1.0
    assert found['ratio_of_payload'] > 3.0


def test_on_a_rocking_base_the_imu_takes_most_of_the_error_away(closed_loop, tmp_path):
    found = results_of('tilted-base', 1.0, tmp_path)['findings']
    assert found['ratios']['rocking'] > 8.0


def test_masses_that_are_20_percent_off_leave_computed_torque_ahead_of_pd(closed_loop, tmp_path):
    errors = results_of('model-error', 0.8, tmp_path)['findings']['overall_rms_error']['mass_20']
    assert 3.0 < errors['pd'] / errors['computed_torque'] < 100.0
    assert errors['computed_torque'] / errors['observer'] > 2.0


def test_when_sensors_are_lost_the_watchdog_keeps_the_arm_and_hold_keeps_the_tool(
    closed_loop, tmp_path
):
    found = results_of('sensor-loss', 1.2, tmp_path)['findings']
    without, watched = (found['joint_states'][key] for key in ('no_watchdog', 'watchdog'))
    assert watched['moved'] < 0.7 * without['moved']
    assert watched['tip_dropped'] < 0.05
    assert watched['largest_speed'] < 0.5 * without['largest_speed']
    assert watched['largest_effort_after'] < 0.7 * without['largest_effort_after']
    assert any('joint_states stopped' in message for message in found['reported'])
    held, dropped = (found['wrench'][key] for key in ('wrench_hold', 'wrench_zero'))
    assert held['rms_error'] < dropped['rms_error'] / 3.0


def test_positions_alone_have_a_feed_forward_by_splines(closed_loop, tmp_path):
    found = results_of('chunks', 3.0, tmp_path)['findings']
    assert found['ratios']['spline_2'] > 5.0
    assert found['effort_errors']['spline_2'] < 0.1
    assert found['effort_errors']['lines'] > 2.0 * found['effort_errors']['spline_2']


def test_motors_too_weak_for_a_motion_cost_time_and_no_path(closed_loop, tmp_path):
    found = results_of('weak-motors', 1.0, tmp_path)['findings']
    clocked, slowed = (found['runs'][key] for key in ('follow', 'slow_down'))
    assert found['largest_share_of_effort'] == pytest.approx(1.5, rel=1e-3)
    assert slowed['path_deviation'] < 2e-3
    assert slowed['longest_saturation'] <= 0.01
    assert 1.0 < slowed['arrival'] < 2.0
    assert clocked['path_deviation'] > 0.05
    assert clocked['longest_saturation'] > 0.01


def test_the_help_tells_every_scenario_in_a_line_and_names_every_law(capsys):
    with pytest.raises(SystemExit, match='0'):
        main(['demo', '--help'])
    text = capsys.readouterr().out
    for name, scenario in SCENARIOS.items():
        assert f'  {name:<14}{scenario.story}\n' in text
    assert all(law in text for law in LAWS)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('--scenario', 'tool-load', '--load', '0'), 'expects one > 0, got 0'),
        (('--scenario', 'sensor-loss', '--sensor', 'nowhere'), "no link 'nowhere'"),
        (('--scenario', 'tilted-base', '--modes', 'pd'), '--modes: expected none'),
    ],
)
def test_what_a_scenario_cannot_use_is_refused(
    closed_loop, tmp_path, call_demo, arguments, message
):
    code, errors = call_demo(*arguments)
    assert code == 1
    assert message in errors
    assert 'Traceback' not in errors
    assert list(tmp_path.iterdir()) == []
