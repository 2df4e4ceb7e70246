"""``ne_dynamics annotate`` reads and writes what ``ros2 topic echo`` and ``pub`` speak."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.motion import read_trajectory
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
NAMES = [f'joint_{index}' for index in (6, 1, 2, 3, 4, 5)]
ORDER = [NAMES.index(f'joint_{index + 1}') for index in range(6)]
TIP = '--tip-link', 'tcp'


def echoed() -> str:
    """Return a trajectory as `ros2 topic echo` prints one."""
    lines = ['header:', '  stamp:', '    sec: 12', '    nanosec: 34', '  frame_id: base_link']
    lines += ['joint_names:', *(f'- {name}' for name in NAMES), 'points:']
    for second, value in ((0, 0.0), (2, 0.5)):
        lines += ['- positions:', *(f'  - {value}' for _ in NAMES)]
        for key in ('velocities', 'accelerations'):
            lines += [f'  {key}:', *('  - 0.0' for _ in NAMES)]
        lines += ['  effort: []', '  time_from_start:', f'    sec: {second}', '    nanosec: 0']
    return '\n'.join([*lines, '---', ''])


def arrays_of(path):
    """Return the document of a file, and positions and efforts in the order of the model."""
    document = yaml.safe_load(path.read_text())
    rows = (
        [[point[key][index] for index in ORDER] for point in document['points']]
        for key in ('positions', 'effort')
    )
    return document, *map(np.array, rows)


def dynamics(**options) -> Dynamics:
    """Return the dynamics of the whole shipped arm."""
    return Dynamics(load_urdf(ARM), backend='python', **options)


def test_efforts_are_filled_in(annotate, capsys) -> None:
    """Header, names and motion stay, efforts are the model's, and stderr says what was done."""
    code, target = annotate(echoed())
    assert code == 0
    document, positions, efforts = arrays_of(target)
    assert document['header'] == {'stamp': {'sec': 12, 'nanosec': 34}, 'frame_id': 'base_link'}
    assert document['joint_names'] == NAMES
    np.testing.assert_allclose(positions[[0, -1]], [np.zeros(6), np.full(6, 0.5)])
    np.testing.assert_allclose(efforts[-1], dynamics().gravity_torque(positions[-1]), atol=1e-9)
    assert document['points'][-1]['time_from_start'] == {'sec': 2, 'nanosec': 0}
    output = capsys.readouterr()
    assert output.out == ''
    assert f'2 points, 2 s; {target}: {len(positions)} points with efforts' in output.err
    read = read_trajectory(str(target))
    assert (read.joint_names, read.stamp) == (tuple(NAMES), (12, 34))
    assert read.points[-1].effort == [document['points'][-1]['effort'][i] for i in range(6)]


@pytest.mark.parametrize('worst', ['joint_2', 'joint_3'])
def test_tolerances_are_in_the_order_of_the_file_and_the_worst_is_named(annotate, capsys, worst):
    lists = ','.join('0.01' if name == worst else '1000' for name in NAMES)
    assert annotate(echoed(), '--effort-tolerance', lists, '--json')[0] == 0
    deviation = json.loads(capsys.readouterr().out)['effort_deviation']
    assert deviation[worst] <= 0.01
    assert annotate(echoed(), '--effort-tolerance', lists)[0] == 0
    said = f'within {deviation[worst]:.3g} of the inverse dynamics ({worst})'
    assert said in capsys.readouterr().err


def test_ros_takes_what_is_written_and_gives_it_back(annotate, tmp_path) -> None:
    """`ros2 topic pub` makes a message of the output, and what `echo` makes of that is read."""
    pytest.importorskip('rosidl_runtime_py', reason='needs rosidl_runtime_py (ROS 2)')
    from rosidl_runtime_py.convert import message_to_yaml
    from rosidl_runtime_py.set_message import set_message_fields
    from trajectory_msgs.msg import JointTrajectory

    _, target = annotate(echoed())
    written = read_trajectory(str(target))
    message = JointTrajectory()
    set_message_fields(message, yaml.safe_load(target.read_text()))
    assert [list(point.effort) for point in message.points] == [
        list(point.effort) for point in written.points
    ]
    again = tmp_path / 'echoed.yaml'
    for flow_style in (False, True):
        again.write_text(message_to_yaml(message, flow_style=flow_style) + '---\n')
        read = read_trajectory(str(again))
        assert read.joint_names == written.joint_names
        assert read.points == written.points
    again.write_text(message_to_yaml(message, truncate_length=8))
    with pytest.raises(TrajectoryError, match='points: cut off after 8: use'):
        read_trajectory(str(again))


def test_standard_input_and_output(monkeypatch, call) -> None:
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(echoed().encode())))
    code, out, err = call('annotate', '--model', ARM, '-', '-')
    assert code == 0
    assert len(yaml.safe_load(out)['points']) > 2
    assert 'standard input: 2 points' in err


def test_terms_payload_gravity_and_links(annotate) -> None:
    q, zeros = np.full(6, 0.5), np.zeros(6)
    robot = load_urdf(ARM, tip_link='tcp')
    load = robot.payload_parameters(Inertia(2.0, (0.0, 0.0, 0.1), np.zeros((3, 3))))
    loaded = Dynamics(robot, backend='python').inverse_dynamics(q, zeros, zeros, None, None, load)
    for options, expected in (
        ('--without gravity --without inertia', zeros),
        ('--gravity 0 0 9.0', dynamics(gravity=(0, 0, 9.0)).gravity_torque(q)),
        ('--tip tcp --payload-mass 2 --payload-com 0 0 0.1', loaded),
    ):
        _, target = annotate(echoed(), *options.split())
        np.testing.assert_allclose(arrays_of(target)[2][-1], expected, atol=1e-9)


def changed(**fields) -> str:
    """Return a file with one point, changed."""
    document = {
        'joint_names': NAMES,
        'points': [{'positions': [0.0] * 6, 'time_from_start': {'sec': 1, 'nanosec': 0}}],
    }
    point = document['points'][0]
    for key, value in fields.items():
        owner = point if key in (*point, 'velocities', 'speed') else document
        owner[key] = value
    return yaml.safe_dump(document)


BAD = [
    ('empty', '', 'in.yaml: expected one trajectory, got nothing'),
    ('two', echoed() * 2, 'expected one trajectory, got 2; `ros2 topic echo --once`'),
    ('no YAML', '{', 'malformed YAML'),
    ('deep', '[' * 100_000, 'malformed YAML'),
    ('a list', '[1]', 'trajectory: expected a mapping with the keys header, joint_names, points'),
    ('twice', 'points: []\npoints: []', "the key 'points' is given twice, again in line 2"),
    ('no names', 'points: []', 'joint_names: missing'),
    ('names', changed(joint_names=[1]), 'joint_names[0]: expected a name, got 1'),
    ('frame', changed(header={'frame_id': 3}), 'header.frame_id: expected a text, got 3'),
    ('point', changed(points=[3]), 'point 0: expected a mapping with the keys positions'),
    ('unknown field', changed(speed=[1.0]), "point 0: unknown key 'speed'"),
    ('text', changed(positions=['fast', 0, 0, 0, 0, 0]), 'point 0: positions[0]: expected a num'),
    ('truth', changed(positions=[True, 0, 0, 0, 0, 0]), 'positions[0]: expected a number'),
    ('no list', changed(velocities=1.0), 'point 0: velocities: expected a list, got 1.0'),
    ('short', changed(velocities=[1.0]), 'point 0: velocities: expected 6 values'),
    ('NaN', changed(positions=[float('nan')] * 6), "positions: joint 'joint_6': expected a fin"),
    ('huge', changed(positions=[10**400] * 6), "positions: joint 'joint_6': expected a finite"),
    ('cut off', changed(points=[{'positions': [0.0] * 6}, '...']), 'points: cut off after 1: use'),
    ('nanoseconds', changed(time_from_start={'nanosec': 10**9}), 'nanosec: expected a whole numb'),
    ('seconds', changed(time_from_start={'sec': 2**31}), 'time_from_start.sec: expected a whole'),
    ('before', changed(time_from_start={'sec': -1}), 'point 0: time_from_start: expected >= 0'),
    ('other joints', changed(joint_names=['a'] * 6), "joint_names: 'a' is named twice"),
    ('no point', changed(points=[]), 'in.yaml: points: expected at least one'),
]


@pytest.mark.parametrize(('what', 'text', 'message'), BAD, ids=[bad[0] for bad in BAD])
def test_what_is_wrong_is_named_and_nothing_written(annotate, capsys, what, text, message) -> None:
    """Exit code 1, a message with file, point and field, and no output file."""
    code, target = annotate(text)
    assert code == 1
    error = capsys.readouterr().err
    assert message in error
    assert 'in.yaml: ' in error
    assert not target.exists()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ('--start 1,2', '--start: expected 6 values'),
        ('--effort-tolerance 1,2', '--effort-tolerance: expected 6 values'),
        ('--effort-tolerance 0', 'error: --effort-tolerance: expected finite numbers > 0'),
        ('--max-points 3', 'takes more than the 3 points'),
        ('--tip nowhere', 'nowhere'),
        ('--fastest', '--fastest: expected with --retime, got it alone'),
        ('--effort-share 0.5', '--effort-share: expected with --retime, got it alone'),
        ('--retime --effort-share 0', 'error: --effort-share: expected > 0 and <= 1, got 0'),
        ('--tip tcp --retime --payload-mass 80', 'holding effort of'),
        ('--payload-mass -2', '--payload-mass: expected a finite number >= 0 [kg], got -2'),
        ('--payload-mass nan', '--payload-mass: expected a finite number >= 0 [kg], got nan'),
    ],
)
def test_what_cannot_be_done_is_said(annotate, capsys, options, message) -> None:
    code, target = annotate(echoed(), *options.split())
    assert code == 1
    assert message in capsys.readouterr().err
    assert not target.exists()


def test_an_older_output_survives_an_error(annotate) -> None:
    _, target = annotate(echoed())
    before = target.read_bytes()
    os.chmod(target, 0o640)
    assert annotate('points')[0] == 1
    assert target.read_bytes() == before
    assert annotate(echoed(), '--effort-tolerance', '5')[0] == 0
    assert target.read_bytes() != before
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in target.parent.iterdir()) == ['in.yaml', 'out.yaml']


def test_what_cannot_be_read_or_written_is_named(tmp_path, refused) -> None:
    missing, source = tmp_path / 'missing.yaml', tmp_path / 'in.yaml'
    refused(f'{missing}: cannot be read: No such file', 'annotate', ARM, missing, '-')
    source.write_text(echoed())
    target = tmp_path / 'no' / 'out.yaml'
    refused(f'{target}: cannot be written: there is no folder', 'annotate', ARM, source, target)


def test_files_that_are_read_are_never_written(tmp_path, refused, monkeypatch) -> None:
    """Model, extras and input stay, and nothing is read to find that out."""
    model, source, extras = (tmp_path / name for name in ('arm.urdf', 'in.yaml', 'extras.yaml'))
    for path, text in ((model, Path(ARM).read_text()), (source, echoed()), (extras, 'joints: {}')):
        path.write_text(text)
    before = [path.read_bytes() for path in (model, source, extras)]
    monkeypatch.setattr('ne_dynamics.model.files.load_model', lambda *_: pytest.fail('it began'))
    for name, target in (('--model', model), ('IN', source), ('--extras', extras)):
        message = f'OUT: expected another file than {name}, which is read'
        refused(message, 'annotate', model, '--extras', extras, source, target)
    assert [path.read_bytes() for path in (model, source, extras)] == before


# ---- in other times


def sent(seconds, way=1.0, fields=('velocities', 'accelerations')) -> str:
    """Return a motion of all joints from rest to rest, as JSON."""
    points = []
    for part in (0, 1):
        whole = int(part * seconds)
        time = {'sec': whole, 'nanosec': round((part * seconds - whole) * 1e9)}
        rest = {field: [0.0] * 6 for field in fields}
        points.append({'positions': [part * way] * 6, **rest, 'time_from_start': time})
    return json.dumps({'joint_names': NAMES, 'points': points})


def test_a_motion_that_asks_for_too_much_takes_longer(annotate, capsys) -> None:
    code, target = annotate(sent(0.25), *TIP, '--retime')
    assert code == 0
    said = capsys.readouterr().err
    assert 'in.yaml: 2 points, 0.25 s; ' in said
    points = read_trajectory(str(target)).points
    assert points[-1].time_from_start > 0.4
    assert f' points with efforts, {points[-1].time_from_start:.6g} s, straight' in said
    limits = load_urdf(ARM, tip_link='tcp').limits('effort_limit')[[5, 0, 1, 2, 3, 4]]
    assert (np.abs([point.effort for point in points]).max(axis=0) <= limits).all()
    np.testing.assert_allclose(points[-1].positions, np.ones(6), atol=1e-12)
    code, target = annotate(sent(0.25), *TIP)
    assert read_trajectory(str(target)).points[-1].time_from_start == 0.25


def test_json_says_what_was_done(annotate, capsys) -> None:
    code, target = annotate(sent(0.25, fields=()), *TIP, '--retime', '--json')
    assert code == 0
    output = capsys.readouterr()
    assert output.err == ''
    said = json.loads(output.out)
    assert said['input']['duration'] == 0.25
    points = read_trajectory(str(target)).points
    assert said['output'] == {
        'name': str(target),
        'points': len(points),
        'duration': pytest.approx(points[-1].time_from_start),
    }
    assert said['stops'] == 0
    assert 0.0 <= said['path_deviation'] < 1e-4
    assert set(said['effort_deviation']) == set(NAMES)


def test_the_fastest_motion_is_faster_than_sent(annotate, capsys) -> None:
    durations = []
    for options in ((), ('--fastest',), ('--fastest', '--effort-share', '0.6')):
        code, target = annotate(sent(3.0), *TIP, '--retime', *options)
        assert code == 0
        durations.append(read_trajectory(str(target)).points[-1].time_from_start)
    slow, fast, careful = durations
    assert slow == 3.0
    assert fast < 1.0
    assert fast < careful < slow


@pytest.mark.parametrize('options', [(), ('--retime',)], ids=['plain', 'retimed'])
def test_a_position_beyond_its_limit_between_points_is_refused(annotate, capsys, options) -> None:
    joint = next(joint for joint in load_urdf(ARM, tip_link='tcp').joints if joint.upper < 4.0)
    column = NAMES.index(joint.name)
    message = json.loads(sent(1.0, way=0.0, fields=('velocities',)))
    begin, end = message['points']
    begin['positions'][column] = joint.upper - 0.3
    end['positions'][column] = joint.upper
    begin['velocities'][column] = 2.0
    code, target = annotate(json.dumps(message), *TIP, *options)
    assert code != 0
    said = capsys.readouterr().err
    assert f'points: joint {joint.name!r}: position of ' in said
    assert f'expected at most {joint.upper:.5g} rad' in said
    assert not target.exists()


def test_json_needs_a_file(refused) -> None:
    message = '--json: expected a file as OUT, got standard output'
    refused(message, 'annotate', ARM, '--json', 'in.yaml', '-')
