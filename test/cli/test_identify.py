"""``ne_dynamics identify`` and ``evaluate``: from files to files, or nothing written."""

import json
from pathlib import Path

import numpy as np
import pytest
from long_logs import write_csv
from short_arm import JOINTS, short_arm

import ne_dynamics as ned
from ne_dynamics.cli import evaluate, identify
from ne_dynamics.cli import main as cli
from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.report.report import Report
from ne_dynamics.logs.log import Log

CONFIG = Path(__file__).resolve().parents[2] / 'config'
ARM = short_arm()
PERIOD = 0.01


def call(module, name, *arguments):
    """Run a subcommand as the command line does."""
    return module.run(cli.build_parser(name).parse_args([name, *map(str, arguments)]))


def write_log(path, robot):
    """Write the log of a robot that swings in all joints, the last one first; return its path."""
    times = np.arange(0.0, 15.0, PERIOD)
    rates = 2.0 * np.pi * np.array([0.2, 0.25, 0.3, 0.35, 0.4, 0.45])[: robot.n]
    phase = times[:, None] * rates + np.arange(robot.n)
    position = 0.6 * np.sin(phase)
    effort = ned.Dynamics(robot, backend='python').inverse_dynamics(
        position, 0.6 * rates * np.cos(phase), -rates * rates * position
    )
    effort = effort + 0.05 * np.random.default_rng(0).standard_normal(effort.shape)
    names = robot.joint_names[::-1]
    return write_csv(path, Log.from_samples(names, times, position[:, ::-1], effort[:, ::-1]))


@pytest.fixture(scope='module')
def heavier(tmp_path_factory):
    """Return an arm whose forearm weighs 9 kg instead of 6, and whose joint 2 rubs."""
    text = ARM.read_text(encoding='utf-8').replace('<mass value="6.0"/>', '<mass value="9.0"/>')
    text = text.replace(
        '<dynamics damping="0.5" friction="0.0"/>', '<dynamics damping="0.5" friction="3.0"/>'
    )
    path = tmp_path_factory.mktemp('heavier') / 'heavier.urdf'
    path.write_text(text, encoding='utf-8')
    return path


@pytest.fixture(scope='module')
def log_file(heavier):
    """Return the log of the heavier arm."""
    return write_log(heavier.with_name('log.csv'), ned.load_urdf(heavier))


def differences(model, log_file, capsys, *options):
    """Return what `evaluate --json` says of a model, joint by joint."""
    assert call(evaluate, 'evaluate', '--model', model, log_file, '--json', *options) == 0
    document = json.loads(capsys.readouterr().out)
    return {joint['joint']: joint for joint in document['joints']}


def test_identified_file_explains_the_log(heavier, log_file, tmp_path, capsys):
    output = tmp_path / 'identified.urdf'
    code = call(identify, 'identify', '--model', ARM, log_file, '-o', output)
    assert code == 0
    text = capsys.readouterr().out
    assert f'written: {output} and identified.extras.yaml beside it' in text
    assert '1500 of 1500 samples' in text
    before = differences(ARM, log_file, capsys)
    after = differences(output, log_file, capsys)
    for name, joint in after.items():
        line = f'  {name}  {joint["rms_difference"]:10.4g} N m'
        assert line in text.split('written:')[1]
    for name in ('joint_2', 'joint_3'):
        assert after[name]['rms_difference'] < 0.1 * before[name]['rms_difference']
        assert after[name]['explained'] > 0.999
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ['identified.extras.yaml', 'identified.urdf']
    joints = ned.load_urdf(output).joints
    assert joints[1].coulomb_friction == pytest.approx(3.0, abs=0.1)


def test_model_may_be_written_over_itself(log_file, tmp_path, capsys):
    """With the model's own name as output the file is replaced; comments are still there."""
    model = tmp_path / 'arm.urdf'
    model.write_bytes(ARM.read_bytes())
    options = '-o', model, '--spread', '0.5', '--offsets', '--json'
    assert call(identify, 'identify', '--model', model, log_file, *options) == 0
    document = json.loads(capsys.readouterr().out)
    assert document['written'] == str(model)
    assert document['identifiable_directions'] == 15
    assert [joint['joint'] for joint in document['joints']] == [
        f'joint_{index}' for index in range(1, JOINTS + 1)
    ]
    friction = document['joints'][1]['coulomb_friction']
    assert (friction['before'], set(friction)) == (0.0, {'before', 'after', 'deviation'})
    forearm = document['bodies'][2]
    assert forearm['link'] == 'forearm'
    assert np.shape(forearm['after']['inertia_about_com']) == (3, 3)
    assert 0.0 < forearm['determined'] <= 1.0
    text = model.read_text(encoding='utf-8')
    assert text != ARM.read_text(encoding='utf-8')
    assert 'an example of our own, no\n  real product.' in text
    assert ned.load_urdf(model).n == JOINTS


def test_dh_file_is_reported_on_but_not_written(tmp_path, capsys):
    model = CONFIG / 'puma560_standard_dh.yaml'
    log_file = write_log(tmp_path / 'log.csv', ned.load_dh(model))
    output = tmp_path / 'identified.yaml'
    arguments = ['identify', '--model', str(model), str(log_file)]
    assert cli.main([*arguments, '-o', str(output)]) == 1
    assert 'expected a URDF to write back to, got a DH file' in capsys.readouterr().err
    assert not output.exists()
    assert cli.main([*arguments, '--spread', '0.5']) == 0
    assert 'link_2' in capsys.readouterr().out


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('fault', 'options'), [('the fit', ()), ('the report', ()), ('the report', ('--json',))]
)
def test_a_failure_on_the_way_writes_nothing(fault, options, log_file, tmp_path, monkeypatch):
    """A fit without a minimum, or a report that cannot be shown, leaves the output as it was."""
    output = tmp_path / 'identified.urdf'
    output.write_text('as it was', encoding='utf-8')

    def fail(*_, **__):
        raise IdentificationError('the fit: expected to be at its minimum, it is not')

    if fault == 'the fit':
        monkeypatch.setattr('ne_dynamics.identification.fit.minimize', fail)
    else:
        monkeypatch.setattr(identify, 'describe_identified', fail)
        monkeypatch.setattr(Report, 'as_json', fail)
    arguments = [
        'identify',
        '--model',
        str(ARM),
        str(log_file),
        '-o',
        str(output),
        '--spread',
        '0.5',
    ]
    assert cli.main([*arguments, *options]) == 1
    assert output.read_text(encoding='utf-8') == 'as it was'
    assert [path.name for path in tmp_path.iterdir()] == ['identified.urdf']


def test_errors_exit_with_one_and_name_the_file(tmp_path, capsys):
    output = tmp_path / 'identified.urdf'
    log_file = tmp_path / 'log.csv'
    log_file.write_text('time,joint_1.position\n0,1\n', encoding='utf-8')
    cases = (
        ([str(ARM), str(tmp_path / 'none.csv')], 'none.csv'),
        ([str(ARM), str(log_file)], 'expected the columns joint_2.position'),
        ([str(tmp_path / 'none.urdf'), str(log_file)], 'none.urdf'),
    )
    for (model, log), message in cases:
        for command in (['identify', '-o', str(output)], ['evaluate', '--plot', str(output)]):
            assert cli.main([*command, '--model', model, log]) == 1
            assert message in capsys.readouterr().err
    assert not output.exists()


def test_evaluation_as_table_and_picture(log_file, tmp_path, capsys):
    pytest.importorskip('matplotlib', reason='matplotlib is missing')
    picture = tmp_path / 'efforts.png'
    code = call(evaluate, 'evaluate', '--model', ARM, log_file, '--plot', picture)
    assert code == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.strip().startswith('joint_') for line in lines) == JOINTS
    assert lines[-1].endswith('%')
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert [path.name for path in tmp_path.iterdir()] == ['efforts.png']
