"""``ne_dynamics demo --scenario``: what its processes lose, and what it cannot use.

That the others find what doc/scenarios.md says is in test_demo_documents.py.
"""

import json

import pytest

from ne_dynamics.cli.main import main
from ne_dynamics.simulation.demo.control_laws import LAWS
from ne_dynamics.simulation.demo.scenarios import SCENARIOS


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
