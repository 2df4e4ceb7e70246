"""``ne_dynamics annotate`` reads and writes what ``ros2 topic echo`` and ``pub`` speak."""

from __future__ import annotations

import io
import json
import os
import sys

import numpy as np
import pytest
import yaml

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.cli.main import main
from ne_dynamics.cli.options.files import read_trajectory
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

ARM = str(shipped_file('six_axis_arm.urdf'))
NAMES = [f'joint_{index}' for index in (6, 1, 2, 3, 4, 5)]
ORDER = [NAMES.index(f'joint_{index + 1}') for index in range(6)]


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
def test_the_summary_names_the_joint_that_is_nearest_to_its_tolerance(annotate, capsys, worst):
    lists = ','.join('1' if name == worst else '1000' for name in NAMES)
    assert annotate(echoed(), '--effort-tolerance', lists, '--json')[0] == 0
    deviation = json.loads(capsys.readouterr().out)['effort_deviation']
    assert all(value < 100.0 * deviation[worst] for value in deviation.values())
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


def test_standard_input_and_output(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(echoed().encode())))
    assert main(['annotate', '--model', ARM, '-', '-']) == 0
    output = capsys.readouterr()
    assert len(yaml.safe_load(output.out)['points']) > 2
    assert 'standard input: 2 points' in output.err


def test_terms_payload_gravity_and_links(annotate) -> None:
    _, target = annotate(echoed(), '--without', 'gravity', '--without', 'inertia')
    np.testing.assert_allclose(arrays_of(target)[2][-1], np.zeros(6), atol=1e-9)

    _, target = annotate(echoed(), '--gravity', '0', '0', '9.0')
    q = np.full(6, 0.5)
    np.testing.assert_allclose(
        arrays_of(target)[2][-1], dynamics(gravity=(0, 0, 9.0)).gravity_torque(q), atol=1e-9
    )

    load = ['--payload-mass', '2', '--payload-com', '0', '0', '0.1']
    _, target = annotate(echoed(), '--tip', 'tcp', *load)
    robot = load_urdf(ARM, tip_link='tcp')
    payload = robot.payload_parameters(Inertia(2.0, (0.0, 0.0, 0.1), np.zeros((3, 3))))
    zeros = np.zeros(6)
    expected = Dynamics(robot, backend='python').inverse_dynamics(
        q, zeros, zeros, None, None, payload
    )
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


def test_options_are_checked(annotate, capsys) -> None:
    for options, message in (
        (('--start', '1,2'), '--start: expected 6 values'),
        (('--effort-tolerance', '1,2'), '--effort-tolerance: expected 6 values'),
        (('--effort-tolerance', '0'), 'effort_tolerance: expected finite numbers > 0'),
        (('--max-points', '3'), 'takes more than the 3 points'),
        (('--tip', 'nowhere'), 'nowhere'),
        (('--payload-mass', '1', '--tip', 'nowhere'), 'nowhere'),
    ):
        code, target = annotate(echoed(), *options)
        assert code == 1
        assert message in capsys.readouterr().err
        assert not target.exists()


def test_an_older_output_survives_an_error(annotate, capsys) -> None:
    _, target = annotate(echoed())
    before = target.read_bytes()
    os.chmod(target, 0o640)
    assert annotate('points')[0] == 1
    assert target.read_bytes() == before
    assert annotate(echoed(), '--effort-tolerance', '5')[0] == 0
    assert target.read_bytes() != before
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in target.parent.iterdir()) == ['in.yaml', 'out.yaml']


def test_what_cannot_be_read_or_written_is_named(tmp_path, capsys) -> None:
    missing = tmp_path / 'missing.yaml'
    assert main(['annotate', '--model', ARM, str(missing), '-']) == 1
    assert f'{missing}: cannot be read: No such file' in capsys.readouterr().err
    source, target = tmp_path / 'in.yaml', tmp_path / 'no' / 'out.yaml'
    source.write_text(echoed())
    assert main(['annotate', '--model', ARM, str(source), str(target)]) == 1
    assert f'{target}: cannot be written: No such file' in capsys.readouterr().err
