"""What ``ne_dynamics commission`` refuses before an arm is there, and does without one."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from small_arm import small_arm

from ne_dynamics.cli.main import main
from ne_dynamics.commission.folder import PROGRESS
from ne_dynamics.commission.offline_steps import ROW
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.arm import SHIPPED_MODEL

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')


def refused(capsys, *words):
    """Run the command, which must not do it, and return what it says."""
    try:
        code = main(['commission', *words])
    except SystemExit as ended:
        code = ended.code
    assert code in (1, 2)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'told'),
    [
        (('--seed', '-1'), "--seed: expected a whole number >= 0, got '-1'"),
        (('--namespace', 'my arm'), "letters, digits and _ with / between them, got 'my arm'"),
        (('-o', ''), 'expected the name of a folder, got an empty one'),
    ],
)
def test_arguments_that_cannot_be_are_refused(capsys, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    assert told in refused(capsys, '--simulated', '--yes', *words)
    assert list(tmp_path.iterdir()) == []


def test_without_stdin_nobody_can_be_asked(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, 'stdin', None)
    model = str(shipped_file(SHIPPED_MODEL))
    told = refused(capsys, '--model', model, '-o', str(tmp_path / 'run'))
    assert "expected a terminal to ask on, got none; --yes 'six_axis_arm' consents" in told


@pytest.fixture
def extended(tmp_path):
    """A model with extras beside it."""
    subject = small_arm(tmp_path / 'model')
    extras = tmp_path / 'model' / 'small.extras.yaml'
    extras.write_text('joints: {turn: {viscous_friction: 0.1}}\n')
    return subject.file, extras, tmp_path / 'run'


def begin(path, model):
    """Write the progress of a run that was done by hand, for a model of now."""
    from ne_dynamics.commission.run import CommissionRequest

    request = CommissionRequest(model=model)
    path.mkdir()
    document = {
        'version': 1,
        'subject': request.describe(request.read_subject()),
        'steps': {step: {} for step in ROW},
    }
    (path / PROGRESS).write_text(yaml.safe_dump(document))


def test_extras_beside_the_model_are_of_the_model(capsys, extended):
    """With others it is another one."""
    model, extras, path = extended
    begin(path, model)
    extras.write_text('joints: {turn: {viscous_friction: 0.2}}\n')
    told = refused(capsys, '--model', model, '--yes', 'small', '-o', str(path))
    assert 'fingerprint: expected' in told


def test_a_run_that_is_complete_needs_no_arm(capsys, extended):
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
    assert main(['commission', '--model', model, '--yes', 'small', '-o', str(path)]) == 0
    told = capsys.readouterr().out
    assert '2 mrad before, 1 mrad after' in told
    assert 'no efforts are reported' in told


def test_a_model_that_cannot_be_is_refused_before_an_arm_is_looked_for(capsys, tmp_path):
    subject = small_arm(tmp_path / 'model')
    file = Path(subject.file)
    file.write_text(subject.text.replace('effort="25"', 'effort="0"'))
    words = '--model', subject.file, '-o', str(tmp_path / 'run')
    for more in (('--yes', 'small'), ('--yes', '--simulated')):
        told = refused(capsys, *words, *more)
        assert "joint 'bend': effort limit: expected a finite number > 0, got 0" in told


def test_a_domain_that_has_no_ports_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', '233')
    model = small_arm(tmp_path / 'model').file
    told = refused(capsys, '--model', model, '--yes', 'small', '-o', str(tmp_path / 'run'))
    assert "ROS_DOMAIN_ID: expected a whole number from 0 to 232, got '233'" in told
