"""``ne_dynamics commission``: what is refused before anything starts or moves."""

import io

import pytest

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
def test_what_cannot_be_begun_is_one_line(arguments, message, tmp_path, refused, monkeypatch):
    monkeypatch.setattr('sys.stdin', io.StringIO())
    folder = tmp_path / 'run'
    refused(message, 'commission', *arguments, '-o', folder)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_arm_starts(tmp_path, refused):
    (tmp_path / 'file').write_text('')
    arguments = '--simulated', '--yes', '-o', tmp_path / 'file' / 'run'
    refused('expected a folder that can be written', 'commission', *arguments)


def test_a_planned_excitation_without_shapes_is_refused_before_the_arm_starts(tmp_path, refused):
    pytest.importorskip('coal', reason='needs coal')
    pytest.importorskip('scipy', reason='needs SciPy')
    folder = tmp_path / 'run'
    message = 'expected collision shapes of links that move, got none'
    refused(message, 'commission', '--simulated', '--yes', '--planned', '-o', folder)
    assert not folder.exists()
