"""What ``ne_dynamics commission`` refuses before an arm is there, and does without one."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from small_arm import small_arm

from ne_dynamics.commission import Motions
from ne_dynamics.commission.folder import PROGRESS
from ne_dynamics.commission.offline_steps import ROW
from ne_dynamics.commission.run import CommissionRequest
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
        (['--model', MODEL], "expected a terminal to ask on, got none; --yes 'six_axis_arm' con"),
        (['--simulated'], 'consent: expected a terminal to ask on, got none; --yes consents'),
        (
            ['--model', str(shipped_file('six_link_dh.yaml')), '--simulated', '--yes'],
            'expected a URDF to write the result back to',
        ),
        (['--simulated', '--yes', '--tip-link', 'nowhere'], 'nowhere'),
    ],
)
@pytest.mark.parametrize('stdin', [io.StringIO(), None], ids=['no terminal', 'none'])
def test_what_cannot_be_begun_is_one_line(
    arguments, message, stdin, tmp_path, refused, monkeypatch
):
    monkeypatch.setattr('sys.stdin', stdin)
    folder = tmp_path / 'run'
    refused(message, 'commission', *arguments, '-o', folder)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_arm_starts(tmp_path, refused, call):
    (tmp_path / 'file').write_text('')
    words = 'commission', '--simulated', '--yes', '-o'
    refused('expected a folder that can be written', *words, tmp_path / 'file' / 'run')
    code, _, err = call(*words, '')
    assert code == 2
    assert 'expected the name of a folder, got an empty one' in err


def test_a_planned_excitation_without_shapes_is_refused_before_the_arm_starts(tmp_path, refused):
    pytest.importorskip('coal', reason='needs coal')
    pytest.importorskip('scipy', reason='needs SciPy')
    folder = tmp_path / 'run'
    message = 'expected collision shapes of links that move, got none'
    refused(message, 'commission', '--simulated', '--yes', '--planned', '-o', folder)
    assert not folder.exists()


def test_motions_of_a_run_add_up():
    assert 180.0 < Motions().add_up(6) < 240.0


@pytest.fixture
def extended(tmp_path):
    """A model with extras beside it."""
    subject = small_arm(tmp_path / 'model')
    extras = tmp_path / 'model' / 'small.extras.yaml'
    extras.write_text('joints: {turn: {viscous_friction: 0.1}}\n')
    return subject.file, extras, tmp_path / 'run'


def begin(path, model):
    """Write the progress of a run that was done by hand, for a model of now."""
    request = CommissionRequest(model=model)
    path.mkdir()
    document = {
        'version': 1,
        'subject': request.describe(request.read_subject()),
        'steps': {step: {} for step in ROW},
    }
    (path / PROGRESS).write_text(yaml.safe_dump(document))


def test_extras_beside_the_model_are_of_the_model(call, extended):
    """With others it is another one."""
    model, extras, path = extended
    begin(path, model)
    extras.write_text('joints: {turn: {viscous_friction: 0.2}}\n')
    code, _, err = call('commission', '--model', model, '--yes', 'small', '-o', path)
    assert code == 1
    assert 'fingerprint: expected' in err


def test_a_run_that_is_complete_needs_no_arm(call, extended):
    model, _, path = extended
    begin(path, model)
    document = yaml.safe_load((path / PROGRESS).read_text())
    document['steps'] |= {
        'identify': {'found': ['no efforts are reported']},
        'test_before': {'overall_rms_error': 0.002},
        'test_after': {'overall_rms_error': 0.001},
    }
    (path / PROGRESS).write_text(yaml.safe_dump(document))
    for step in ROW.values():
        for name in step.files:
            (path / name).write_text(json.dumps(np.pi))
    code, out, _ = call('commission', '--model', model, '--yes', 'small', '-o', path)
    assert code == 0
    assert '2 mrad before, 1 mrad after' in out
    assert 'no efforts are reported' in out


def test_a_model_that_cannot_be_is_refused_before_an_arm_is_looked_for(call, tmp_path):
    subject = small_arm(tmp_path / 'model')
    Path(subject.file).write_text(subject.source.text.replace('effort="25"', 'effort="0"'))
    for more in (('--yes', 'small'), ('--yes', '--simulated')):
        words = 'commission', '--model', subject.file, '-o', tmp_path / 'run', *more
        code, _, err = call(*words)
        assert code == 1
        assert "joint 'bend': effort limit: expected a finite number > 0, got 0" in err


def test_a_domain_that_has_no_ports_is_refused(call, tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', '233')
    model = small_arm(tmp_path / 'model').file
    code, _, err = call('commission', '--model', model, '--yes', 'small', '-o', tmp_path / 'run')
    assert code == 1
    assert "ROS_DOMAIN_ID: expected a whole number from 0 to 232, got '233'" in err
