"""``ne_dynamics identify -o``: what is reported is what is written, beside the URDF too."""

import json

import pytest
import yaml
from loaded_motion import alter, record
from long_logs import write_csv
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli import evaluate, identify
from ne_dynamics.cli import main as cli

ARM = short_arm()


def call(module, name, *arguments):
    """Run a subcommand as the command line does."""
    return module.run(cli.build_parser(name).parse_args([name, *map(str, arguments)]))


@pytest.fixture(scope='module')
def log_file(tmp_path_factory):
    """Return the log of an arm with friction, offsets and other inertias than its model."""
    truth = alter(ned.load_urdf(ARM), 1)
    return write_csv(tmp_path_factory.mktemp('log') / 'log.csv', record(truth, 1))


@pytest.fixture
def model(tmp_path):
    """Return a copy of the model."""
    path = tmp_path / 'model.urdf'
    path.write_bytes(ARM.read_bytes())
    return path


def run_identify(capsys, model, log_file, *options):
    """Return the JSON report of `identify`."""
    assert call(identify, 'identify', '--model', model, log_file, '--json', *options) == 0
    return json.loads(capsys.readouterr().out)


def run_evaluate(capsys, model, log_file, *options):
    """Return what `evaluate` says of a model, by joint."""
    assert call(evaluate, 'evaluate', '--model', model, log_file, '--json', *options) == 0
    joints = json.loads(capsys.readouterr().out)['joints']
    return {joint['joint']: joint['rms_difference'] for joint in joints}


@pytest.mark.kept(1)
@pytest.mark.parametrize('options', [(), ('--offsets',), ('--tip-link', 'forearm')])
def test_evaluate_says_of_the_files_what_identify_reported(
    options, model, log_file, tmp_path, capsys
):
    """To 1e-9; offsets too. Extras of another model under the name of the new ones are gone."""
    output = tmp_path / 'new.urdf'
    stale = 'joints: {joint_1: {friction_offset: 500.0}}'
    output.with_name('new.extras.yaml').write_text(stale, encoding='utf-8')
    report = run_identify(capsys, model, log_file, '-o', output, *options)
    reported = {joint['joint']: joint['rms_difference'] for joint in report['as_written']}
    tip = options if 'forearm' in options else ()
    assert run_evaluate(capsys, output, log_file, *tip) == pytest.approx(reported, abs=1e-9)
    extras = yaml.safe_load((tmp_path / 'new.extras.yaml').read_text(encoding='utf-8'))
    for joint in report['joints']:
        numbers = extras['joints'][joint['joint']]
        offset = 0.0 if '--offsets' in options else joint['offset']
        assert numbers.get('friction_offset', 0.0) == pytest.approx(offset, abs=1e-12)


@pytest.mark.parametrize(
    ('given', 'written'), [('arm.urdf', 'arm.xml'), ('arm.urdf.xacro', 'arm.urdf')]
)
def test_an_output_that_would_change_the_extras_of_the_model_is_refused(
    given, written, log_file, tmp_path, capsys
):
    pytest.importorskip('xacro', reason='xacro is missing')
    model = tmp_path / given
    model.write_bytes(ARM.read_bytes())
    beside = tmp_path / 'arm.extras.yaml'
    beside.write_text('joints: {joint_1: {rotor_inertia: 1.0e-4}}', encoding='utf-8')
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    command = 'identify', '--model', model, log_file, '-o', tmp_path / written
    assert cli.main(list(map(str, command))) == 1
    assert 'expected a name whose extras are not those of' in capsys.readouterr().err
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == before


@pytest.mark.long
def test_files_of_a_recorded_bag_are_what_was_reported(tmp_path, capsys):
    from example_robots import example_robots_folder
    from recorded_robots import panda_bag

    bag, model = panda_bag(), example_robots_folder() / 'panda_description/urdf/panda.urdf'
    output = tmp_path / 'new.urdf'
    rename = '--rename', 'fer*=panda*'
    assert cli.main(['evaluate', '--model', str(model), str(bag)]) == 1
    assert "--rename 'fer*=panda*'" in capsys.readouterr().err
    report = run_identify(capsys, model, bag, '-o', output, *rename)
    assert report['locked']['panda_finger_joint1'] == 0.0
    reported = {joint['joint']: joint['rms_difference'] for joint in report['as_written']}
    assert run_evaluate(capsys, output, bag, *rename) == pytest.approx(reported, abs=1e-9)
    assert reported['panda_joint4'] < 0.4
    assert 'panda_joint4' in (tmp_path / 'new.extras.yaml').read_text(encoding='utf-8')
