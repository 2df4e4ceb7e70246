"""``ne_dynamics gains``: what is printed, written and refused."""

import pytest
import yaml
from short_arm import JOINTS, short_arm

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


def test_files_picture_trials_and_json(extras, tmp_path, ask):
    folder, picture = tmp_path / 'out', tmp_path / 'gains.png'
    single = tmp_path / 'single.yaml'
    line = '--encoder-bits 17 --mode computed_torque --mode jtc --prove 1 --payload 0,2'
    words = ['--extras', extras, '-o', folder, '--plot', picture, '--write', 'jtc', single]
    document = ask(*SHORT, *line.split(), *words)
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


def test_a_rate_that_is_too_slow_for_the_motion_is_said_first(extras, call, ask):
    """Drives at 1 kHz have margins whatever the states' rate is; the arm does not follow."""
    words = [*SHORT, '--extras', extras, '--mode', 'mit']
    code, text, _ = call(*words, '--rate', '5')
    assert code == 0
    first, *rest = text.splitlines()
    assert any('limited by' in line for line in rest)
    assert sum(line.startswith('joint_') for line in rest) == JOINTS
    begin = 'warning: mit: expected errors of the motion within position_error, 50'
    assert first.startswith(begin)
    assert '5 Hz and a dead time of 200 ms are too slow' in first
    assert 'too slow' in ask(*words, '--rate', '5')['remarks'][0]
    assert 'warning' not in call(*words)[1]


@pytest.mark.kept(6)
@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--write', 'all', 'x.yaml'], '--write: expected one of node, jtc, mit'),
        (['--prove', '0'], '--prove: expected 1 to 100000, got 0'),
        (['--prove', '150000'], '--prove: expected 1 to 100000, got 150000'),
        (['--encoder-bits', '0'], '--encoder-bits: expected 1 to 40, got 0'),
        (['--encoder-bits', '60'], '--encoder-bits: expected 1 to 40, got 60'),
        (['--payload', '900'], 'motors that can hold the arm'),
        (['--rate', 'nan'], 'error: --rate: expected a finite number'),
        (['--rate', '0'], 'error: --rate: expected a finite number > 0'),
        (['--rate', '1e300'], 'rate: expected a finite number >= 1, at most 100000'),
        (['--rate', '1e-300'], 'rate: expected a finite number >= 1, at most 100000'),
        (['--delay', '0.2'], 'error: --delay: expected at most 50 periods of 2 ms'),
        (['--payload', '-1'], 'error: --payload [kg]: expected a mass'),
        (['--seed', '-1'], 'error: --seed: expected at least 0, got -1'),
        (['--trajectory', 'nowhere.yaml'], 'nowhere.yaml'),
        (['--velocity-cutoff', '0'], 'error: --velocity-cutoff: expected a finite number > 0'),
        (['--effort-limits', '0'], 'effort limit: expected > 0'),
        (['--joints', 'joint_1'], "error: --joints: expected the model's in any order"),
        (['--controller', 'a b: {'], 'error: --controller: expected a name in ROS 2, of letters'),
    ],
)
def test_what_cannot_be_used_is_one_line(arguments, message, refused, tmp_path):
    refused(message, *SHORT, '-o', tmp_path / 'out', *arguments)
    assert not (tmp_path / 'out').exists()


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
