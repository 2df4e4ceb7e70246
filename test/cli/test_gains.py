"""``ne_dynamics gains``: what is printed, written and refused."""

import json

import pytest
import yaml
from short_arm import JOINTS, short_arm

from ne_dynamics.cli.main import main
from ne_dynamics.shipped import shipped_file

MODEL = str(short_arm())
SHORT = ['gains', '--model', MODEL, '--poses', '3', '--uncertainty', '0.1']
SHORT += ['--velocity-cutoff', '80']
ROTORS = (2.5e-4, 2.5e-4, 1.2e-4)


@pytest.fixture(scope='module')
def extras(tmp_path_factory):
    """Return a file with rotors for the shipped arm."""
    file = tmp_path_factory.mktemp('extras') / 'rotors.yaml'
    joints = {
        f'joint_{index + 1}': {'rotor_inertia': inertia, 'gear_ratio': 100.0}
        for index, inertia in enumerate(ROTORS)
    }
    file.write_text(yaml.safe_dump({'joints': joints}), encoding='utf-8')
    return str(file)


def test_files_picture_trials_and_json(extras, tmp_path, capsys):
    folder, picture = tmp_path / 'out', tmp_path / 'gains.png'
    single = tmp_path / 'single.yaml'
    arguments = ['--extras', extras, '--encoder-bits', '17', '--mode', 'computed_torque']
    arguments += ['--mode', 'jtc', '--json', '-o', str(folder), '--plot', str(picture)]
    arguments += ['--write', 'jtc', str(single), '--prove', '1', '--payload', '0,2']
    assert main([*SHORT, *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document['payload'] == [0.0, 2.0]
    assert [proof['settled'] for proof in document['proof']] == [1, 0, 1, 0]
    assert sorted(file.name for file in folder.iterdir()) == [
        'computed_torque.params.yaml',
        'jtc_gains.yaml',
    ]
    assert single.read_text() == (folder / 'jtc_gains.yaml').read_text()
    block = yaml.safe_load(single.read_text())['/**/effort_trajectory_controller']
    gains = block['ros__parameters']['gains']
    assert [gains[name]['p'] for name in document['joints']] == document['modes']['jtc']['kp']
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_a_rate_that_is_too_slow_for_the_motion_is_said_first(extras, capsys):
    """Drives at 1 kHz have margins whatever the states' rate is; the arm does not follow."""
    arguments = [*SHORT, '--extras', extras, '--mode', 'mit']
    assert main([*arguments, '--rate', '5']) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert any('limited by' in line for line in rest)
    assert sum(line.startswith('joint_') for line in rest) == JOINTS
    assert first.startswith(
        'warning: mit: expected errors of the motion within position_error, 50'
    )
    assert '5 Hz and a dead time of 200 ms are too slow' in first
    assert main([*arguments, '--rate', '5', '--json']) == 0
    assert 'too slow' in json.loads(capsys.readouterr().out)['remarks'][0]
    assert main(arguments) == 0
    assert 'warning' not in capsys.readouterr().out


@pytest.mark.kept(4)
@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--write', 'all', 'x.yaml'], '--write: expected one of node, jtc, mit'),
        (['--prove', '0'], '--prove: expected 1 to'),
        (['--encoder-bits', '0'], '--encoder-bits: expected 1 to'),
        (['--payload', '900'], 'motors that can hold the arm'),
        (['--rate', 'nan'], 'rate: expected a finite number'),
        (['--rate', '0'], 'rate: expected a finite number > 0'),
        (['--rate', '1e300'], 'rate: expected a finite number >= 1, at most 100000'),
        (['--rate', '1e-300'], 'rate: expected a finite number >= 1, at most 100000'),
        (['--delay', '0.2'], 'delay: expected at most 50 periods of 2 ms'),
        (['--payload', '-1'], 'payload [kg]: expected a mass'),
        (['--seed', '-1'], 'seed: expected at least 0, got -1'),
        (['--trajectory', 'nowhere.yaml'], 'nowhere.yaml'),
        (['--effort-limits', '0'], 'effort limit: expected > 0'),
        (['--joints', 'joint_1'], "joints: expected the model's in any order"),
        (['--controller', 'a b: {'], 'controller: expected a name in ROS 2, of letters'),
    ],
)
def test_what_cannot_be_used_is_one_line(arguments, message, refused, tmp_path):
    refused(message, *SHORT, '-o', tmp_path / 'out', *arguments)
    assert not (tmp_path / 'out').exists()


def test_trials_and_bits_have_an_end(refused):
    # Whatever comes after that is refused anyway.
    wrong = [*SHORT, '--effort-limits', '0']
    for option, most in (('--prove', 100000), ('--encoder-bits', 40)):
        refused(f'{option}: expected 1 to {most}, got', *wrong, option, most + most // 2)


@pytest.mark.parametrize(
    ('option', 'message'),
    [
        (['--write', 'node', 'no/such/x.yaml'], "there is no folder 'no/such'"),
        (['--plot', 'no/such/x.png'], "there is no folder 'no/such'"),
        (['--plot', 'x.xyz'], 'expected a name that ends with .pdf, .png, .svg'),
        (['-o', 'taken'], 'is no folder'),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is(
    option, message, refused, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'taken').write_text('')
    monkeypatch.setattr(
        'ne_dynamics.gains.design.design_gains', lambda *_: pytest.fail('it began')
    )
    folder = [] if '-o' in option else ['-o', 'out']
    refused(message, *SHORT, *folder, *option)
    assert [each.name for each in tmp_path.iterdir()] == ['taken']


def test_files_that_are_read_are_never_written(tmp_path, refused):
    model = tmp_path / 'arm.urdf'
    model.write_bytes(shipped_file('six_axis_arm.urdf').read_bytes())
    arguments = ['gains', '--model', str(model), '--tip-link', 'tcp']
    for words, expected in (
        (['--write', 'node', str(model)], '--write: expected another file than --model'),
        (['--write', 'node', 'a.yaml', '--write', 'jtc', 'a.yaml'], 'than that of --write'),
    ):
        refused(expected, *arguments, *words)
    folder = tmp_path / 'out'
    (folder / 'jtc_gains.yaml').mkdir(parents=True)
    refused('jtc_gains.yaml: cannot be written: it is a folder', *arguments, '-o', folder)
    assert model.read_bytes() == shipped_file('six_axis_arm.urdf').read_bytes()
