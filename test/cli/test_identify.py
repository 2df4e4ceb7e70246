"""``ne_dynamics identify`` and ``evaluate``: from files to files, or nothing written."""

import pytest
import yaml
from loaded_motion import alter, record
from long_logs import swinging_log, write_csv
from short_arm import JOINTS, short_arm

import ne_dynamics as ned
from ne_dynamics.errors import IdentificationError
from ne_dynamics.identification.report import text
from ne_dynamics.identification.report.report import Report
from ne_dynamics.logs.names import with_joints
from ne_dynamics.shipped import shipped_file

ARM = short_arm()
QUICK = ('--spread', '0.5')


@pytest.fixture(scope='module')
def log_file(tmp_path_factory):
    """Return the log of an arm whose forearm weighs 9 kg, not 6, and whose joint 2 rubs."""
    text = ARM.read_text(encoding='utf-8').replace('<mass value="6.0"/>', '<mass value="9.0"/>')
    text = text.replace('damping="0.5" friction="0.0"', 'damping="0.5" friction="3.0"')
    robot = ned.load_urdf(text)
    # The joints stand in another order than the model's.
    log = with_joints(swinging_log(robot, 15.0), robot.joint_names[::-1])
    return write_csv(tmp_path_factory.mktemp('heavier') / 'log.csv', log)


@pytest.fixture(scope='module')
def offset_log(tmp_path_factory):
    """Return the log of an arm with friction, offsets and other inertias than its model."""
    truth = alter(ned.load_urdf(ARM), 1)
    return write_csv(tmp_path_factory.mktemp('log') / 'log.csv', record(truth, 1))


@pytest.fixture
def model(tmp_path):
    """Return a copy of the model."""
    path = tmp_path / 'arm.urdf'
    path.write_bytes(ARM.read_bytes())
    return path


@pytest.fixture
def evaluate(ask):
    """Return a function that returns what `evaluate` says of a model, by joint."""

    def run(model, log, *options):
        joints = ask('evaluate', model, log, *options)['joints']
        return {joint['joint']: joint for joint in joints}

    return run


def read_files(folder):
    """Return names and contents of the files in a folder."""
    return sorted((path.name, path.read_bytes()) for path in folder.iterdir())


def test_identified_file_explains_the_log(log_file, tmp_path, call, evaluate):
    output = tmp_path / 'identified.urdf'
    code, text, _ = call('identify', ARM, log_file, '-o', output)
    assert code == 0
    assert f'written: {output} and identified.extras.yaml beside it' in text
    assert '1500 of 1500 samples' in text
    before, after = (evaluate(model, log_file) for model in (ARM, output))
    for name, joint in after.items():
        assert f'  {name}  {joint["rms_difference"]:10.4g} N m' in text.split('written:')[1]
    for name in ('joint_2', 'joint_3'):
        assert after[name]['rms_difference'] < 0.1 * before[name]['rms_difference']
        assert after[name]['explained'] > 0.999
    assert [name for name, _ in read_files(tmp_path)] == [
        'identified.extras.yaml',
        'identified.urdf',
    ]
    assert ned.load_urdf(output).joints[1].coulomb_friction == pytest.approx(3.0, abs=0.1)


@pytest.mark.kept(1)
@pytest.mark.parametrize('options', [(), ('--offsets',), ('--tip-link', 'forearm')])
def test_evaluate_says_of_the_files_what_identify_reported(
    options, offset_log, model, tmp_path, ask, evaluate
):
    """To 1e-9; offsets too. Extras of another model under the name of the new ones are gone."""
    output, beside = tmp_path / 'new.urdf', tmp_path / 'new.extras.yaml'
    beside.write_text('joints: {joint_1: {friction_offset: 500.0}}', encoding='utf-8')
    report = ask('identify', model, offset_log, '-o', output, *options)
    reported = {joint['joint']: joint['rms_difference'] for joint in report['as_written']}
    found = evaluate(output, offset_log, *(options if 'forearm' in options else ()))
    assert {name: joint['rms_difference'] for name, joint in found.items()} == pytest.approx(
        reported, abs=1e-9
    )
    extras = yaml.safe_load(beside.read_text(encoding='utf-8'))
    for joint in report['joints']:
        numbers = extras['joints'][joint['joint']]
        offset = 0.0 if '--offsets' in options else joint['offset']
        assert numbers.get('friction_offset', 0.0) == pytest.approx(offset, abs=1e-12)


def test_model_may_be_written_over_itself(log_file, model, ask):
    """With the model's own name as output the file is replaced; comments are still there."""
    document = ask('identify', model, log_file, '-o', model, *QUICK, '--offsets')
    assert document['written'] == str(model)
    assert document['identifiable_directions'] == 15
    names = [f'joint_{index}' for index in range(1, JOINTS + 1)]
    assert [joint['joint'] for joint in document['joints']] == names
    friction = document['joints'][1]['coulomb_friction']
    assert (friction['before'], set(friction)) == (0.0, {'before', 'after', 'deviation'})
    forearm = document['bodies'][2]
    assert forearm['link'] == 'forearm'
    assert list(map(len, forearm['after']['inertia_about_com'])) == [3, 3, 3]
    assert 0.0 < forearm['determined'] <= 1.0
    text = model.read_text(encoding='utf-8')
    assert text != ARM.read_text(encoding='utf-8')
    assert 'an example of our own, no\n  real product.' in text
    assert ned.load_urdf(model).n == JOINTS


@pytest.mark.parametrize(
    ('given', 'written'), [('arm.urdf', 'arm.xml'), ('arm.urdf.xacro', 'arm.urdf')]
)
def test_an_output_that_would_change_the_extras_of_the_model_is_refused(
    given, written, log_file, tmp_path, refused
):
    pytest.importorskip('xacro', reason='xacro is missing')
    (tmp_path / given).write_bytes(ARM.read_bytes())
    extras = 'joints: {joint_1: {rotor_inertia: 1.0e-4}}'
    (tmp_path / 'arm.extras.yaml').write_text(extras, encoding='utf-8')
    before = read_files(tmp_path)
    message = 'expected a name whose extras are not those of'
    refused(message, 'identify', tmp_path / given, log_file, '-o', tmp_path / written)
    assert read_files(tmp_path) == before


def test_two_files_are_not_written_to_standard_output(
    model, log_file, tmp_path, refused, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    before = read_files(tmp_path)
    refused(
        '-o: expected a file, got -: a model is two files', 'identify', model, log_file, '-o', '-'
    )
    assert read_files(tmp_path) == before


def test_dh_file_is_reported_on_but_not_written(tmp_path, call, refused):
    model = shipped_file('puma560_standard_dh.yaml')
    log_file = write_csv(tmp_path / 'log.csv', swinging_log(ned.load_dh(model), 15.0))
    output = tmp_path / 'identified.yaml'
    message = 'expected a URDF to write back to, got a DH file'
    refused(message, 'identify', model, log_file, '-o', output)
    assert not output.exists()
    code, text, _ = call('identify', model, log_file, *QUICK)
    assert code == 0
    assert 'link_2' in text


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('fault', 'options'), [('the fit', ()), ('the report', ()), ('the report', ('--json',))]
)
def test_a_failure_on_the_way_writes_nothing(
    fault, options, log_file, tmp_path, monkeypatch, call
):
    """A fit without a minimum, or a report that cannot be shown, leaves the output as it was."""
    output = tmp_path / 'identified.urdf'
    output.write_text('as it was', encoding='utf-8')

    def fail(*_, **__):
        raise IdentificationError('the fit: expected to be at its minimum, it is not')

    if fault == 'the fit':
        monkeypatch.setattr('ne_dynamics.identification.fit.minimize', fail)
    else:
        monkeypatch.setattr(text, 'describe_identified', fail)
        monkeypatch.setattr(Report, 'as_json', fail)
    assert call('identify', ARM, log_file, '-o', output, *QUICK, *options)[0] == 1
    assert read_files(tmp_path) == [('identified.urdf', b'as it was')]


def test_errors_name_the_file(tmp_path, refused):
    log_file = tmp_path / 'log.csv'
    log_file.write_text('time,joint_1.position\n0,1\n', encoding='utf-8')
    output = tmp_path / 'identified.urdf'
    for model, log, message in (
        (ARM, tmp_path / 'none.csv', 'none.csv'),
        (ARM, log_file, 'expected the columns joint_2.position'),
        (tmp_path / 'none.urdf', log_file, 'none.urdf'),
    ):
        refused(message, 'identify', '-o', output, '--model', model, log)
        refused(message, 'evaluate', '--plot', tmp_path / 'x.png', '--model', model, log)
    assert not output.exists()


def test_a_picture_that_cannot_be_written_is_refused_before_logs_are_read(tmp_path, refused):
    log = tmp_path / 'log.png'
    log.write_text('time\n', encoding='utf-8')
    for picture, message in (
        (tmp_path / 'x.csv', 'x.csv: cannot be written: expected a name that ends with .pdf'),
        (tmp_path / 'no' / 'x.png', f"there is no folder '{tmp_path / 'no'}'"),
        (log, f'--plot: expected another file than LOG {log}, which is read'),
    ):
        refused(message, 'evaluate', '--plot', picture, ARM, log)
    assert log.read_text(encoding='utf-8') == 'time\n'


def test_evaluation_as_table_and_picture(log_file, tmp_path, call):
    pytest.importorskip('matplotlib', reason='matplotlib is missing')
    picture = tmp_path / 'efforts.png'
    code, text, _ = call('evaluate', ARM, log_file, '--plot', picture)
    assert code == 0
    lines = text.splitlines()
    assert sum(line.strip().startswith('joint_') for line in lines) == JOINTS
    assert lines[-1].endswith('%')
    assert picture.read_bytes().startswith(b'\x89PNG')


@pytest.mark.long
def test_files_of_a_recorded_bag_are_what_was_reported(tmp_path, ask, evaluate, refused):
    from example_robots import example_robots_folder
    from recorded_robots import panda_bag

    bag, model = panda_bag(), example_robots_folder() / 'panda_description/urdf/panda.urdf'
    output, rename = tmp_path / 'new.urdf', ('--rename', 'fer*=panda*')
    refused("--rename 'fer*=panda*'", 'evaluate', model, bag)
    report = ask('identify', model, bag, '-o', output, *rename)
    assert report['locked']['panda_finger_joint1'] == 0.0
    reported = {joint['joint']: joint['rms_difference'] for joint in report['as_written']}
    found = evaluate(output, bag, *rename)
    assert {name: joint['rms_difference'] for name, joint in found.items()} == pytest.approx(
        reported, abs=1e-9
    )
    assert reported['panda_joint4'] < 0.4
    assert 'panda_joint4' in (tmp_path / 'new.extras.yaml').read_text(encoding='utf-8')
