"""``ne_dynamics commission``: what is refused before anything starts or moves."""

import io

import pytest

from ne_dynamics.cli.main import main
from ne_dynamics.shipped import shipped_file

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('matplotlib', reason='the report needs matplotlib')
pytest.importorskip('jinja2', reason='the report needs Jinja2')

MODEL = str(shipped_file('six_axis_arm.urdf'))


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ([], '--model: expected the URDF of the arm, got none'),
        (['--model', 'no_such.urdf', '--yes'], 'no_such.urdf'),
        (['--model', MODEL, '--yes'], "--yes: expected the name of the robot, 'six_axis_arm'"),
        (['--model', MODEL, '--yes', 'other'], "an arm that is there, got 'other'"),
        (['--model', MODEL], 'consent: expected a terminal to ask on, got none'),
        (['--simulated'], 'consent: expected a terminal to ask on, got none'),
        (
            ['--model', str(shipped_file('six_link_dh.yaml')), '--simulated', '--yes'],
            'expected a URDF to write the result back to',
        ),
        (['--simulated', '--yes', '--tip-link', 'nowhere'], 'nowhere'),
    ],
)
def test_what_cannot_be_begun_is_one_line(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr('sys.stdin', io.StringIO())
    folder = tmp_path / 'run'
    assert main(['commission', *arguments, '-o', str(folder)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith('ne_dynamics commission: error: ')
    assert message in captured.err
    assert captured.err.count('\n') == 1
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_arm_starts(tmp_path, capsys):
    (tmp_path / 'file').write_text('')
    arguments = ['--simulated', '--yes', '-o', str(tmp_path / 'file' / 'run')]
    assert main(['commission', *arguments]) == 1
    assert 'expected a folder that can be written' in capsys.readouterr().err


def test_a_planned_excitation_without_shapes_is_refused_before_the_arm_starts(tmp_path, capsys):
    pytest.importorskip('coal', reason='needs coal')
    pytest.importorskip('scipy', reason='needs SciPy')
    folder = tmp_path / 'run'
    assert main(['commission', '--simulated', '--yes', '--planned', '-o', str(folder)]) == 1
    assert 'expected collision shapes of links that move, got none' in capsys.readouterr().err
    assert not folder.exists()
