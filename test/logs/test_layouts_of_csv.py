"""CSV files as people have them: exact patterns are known, everything else is refused."""

from __future__ import annotations

import numpy as np
import pytest
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import list_joints, read_log
from ne_dynamics.logs.readers.csv_log import read_columns
from ne_dynamics.logs.readers.layouts import by_hand

ARM = short_arm()
ROBOT = ned.load_urdf(ARM)
DYNAMICS = ned.Dynamics(ROBOT, backend='python')
N = ROBOT.n

LAYOUTS = {
    'student': ('t', lambda k, name: (f'q{k + 1}', f'dq{k + 1}', f'tau{k + 1}')),
    'student with underscores': ('time', lambda k, name: (f'q_{k}', f'qd_{k}', f'tau_{k}')),
    'numbered': ('time', lambda k, name: (f'position_{k}', f'velocity_{k}', f'effort_{k}')),
    'RTDE': (
        'timestamp',
        lambda k, name: (f'actual_q_{k}', f'actual_qd_{k}', f'actual_current_{k}'),
    ),
    'PlotJuggler': (
        '__time',
        lambda k, name: tuple(
            f'/joint_states/{name}/{kind}' for kind in ('position', 'velocity', 'effort')
        ),
    ),
}


@pytest.fixture(scope='module')
def motion():
    """Return times, positions, velocities and efforts of a motion."""
    times = np.arange(0.0, 8.0, 0.01)
    rng = np.random.default_rng(3)
    rates, phases = rng.uniform(0.5, 2.5, (4, 1, N)), rng.uniform(0.0, 6.0, (4, 1, N))
    angles = rates * times[:, np.newaxis] + phases
    q = 0.3 * np.sin(angles).sum(axis=0)
    qd = 0.3 * (rates * np.cos(angles)).sum(axis=0)
    qdd = -0.3 * (rates**2 * np.sin(angles)).sum(axis=0)
    effort = DYNAMICS.inverse_dynamics(q, qd, qdd) + rng.normal(0.0, 0.1, q.shape)
    return times, q, qd, effort


def write(path, layout, motion, extra=()):
    """Write the motion in a layout, its columns in an order of their own."""
    time, name_columns = LAYOUTS[layout]
    times, *tables = motion
    header, columns = [time], [times]
    for k, name in enumerate(ROBOT.joint_names):
        for title, table in zip(name_columns(k, name), tables, strict=True):
            header.append(title)
            columns.append(table[:, k])
    order = np.random.default_rng(1).permutation(len(header)).tolist()
    names = [header[place] for place in order] + list(extra)
    values = [columns[place] for place in order] + [np.zeros_like(times)] * len(extra)
    path.write_text(
        ','.join(names)
        + '\n'
        + '\n'.join(','.join(f'{value:.9g}' for value in row) for row in zip(*values, strict=True))
    )
    return path


@pytest.mark.parametrize('layout', LAYOUTS)
def test_a_layout_is_read_as_ours(layout, motion, tmp_path):
    """Joints in the order of their numbers, or by their names; other columns are ignored."""
    path = write(tmp_path / 'log.csv', layout, motion, extra=('temperature', 'q', 'tau'))
    joints = list_joints(path)
    if layout == 'PlotJuggler':
        assert set(joints) == set(ROBOT.joint_names)
        joints = ROBOT.joint_names
    else:
        joints = sorted(joints, key=int)
    log = read_log(path, joints)
    np.testing.assert_allclose(log.position, motion[1], atol=1e-8)
    np.testing.assert_allclose(log.effort, motion[3], atol=1e-6)
    np.testing.assert_allclose(log.velocity, motion[2], atol=1e-8)


@pytest.mark.parametrize('layout', ['RTDE', 'PlotJuggler'])
def test_commands_show_whose_columns_are_whose(layout, motion, tmp_path, capsys):
    path = write(tmp_path / 'log.csv', layout, motion)
    assert main(['evaluate', str(ARM), str(path)]) == 0
    shown = ' '.join(capsys.readouterr().err.split())
    time, name_columns = LAYOUTS[layout]
    for k, name in enumerate(ROBOT.joint_names):
        q, qd, effort = name_columns(k, name)
        assert f'{name} {q} [rad] {qd} [rad/s] {effort} [N m]' in shown
    assert f'time: {time} [s]' in shown
    assert ('its currents are taken as N m' in shown) == (layout == 'RTDE')


@pytest.mark.parametrize(
    'header',
    [
        'zeit,q1,tau1',
        't,q1,q2,tau1',
        't,theta1,torque1',
        't,time,q1,tau1',
        't,q1,q_1,tau1',
        'timestamp,actual_q_0,target_current_0',
    ],
)
def test_other_headers_are_refused_with_those_that_are_known(header, tmp_path):
    """Nothing is inferred: the message shows what was there, and what to write."""
    path = tmp_path / 'log.csv'
    path.write_text(f'{header}\n0,0,0,0\n')
    with pytest.raises(InputError, match=f': {header}\n') as refused:
        read_columns(path)
    assert 'time,joint_1.position,joint_1.velocity,joint_1.effort' in str(refused.value)


@pytest.mark.parametrize(
    ('header', 'named'),
    [
        ('t,q1,tau1,position_1,effort_1', '`t, q1, dq1, tau1` and `time, position_0'),
        ('time,q1,tau1,a.position', '`time, joint_1.position, .* and `t, q1, dq1, tau1`'),
    ],
)
def test_a_header_that_fits_two_layouts_is_refused(header, named, tmp_path):
    """Both are named."""
    path = tmp_path / 'log.csv'
    path.write_text(header)
    with pytest.raises(InputError, match=f'fits {named}'):
        read_columns(path)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('columns', 'name_columns'),
    [
        ('zeit,winkel{},,moment{}', lambda k, name: (f'winkel{k}', f'w{k}', f'moment{k}')),
        ('zeit,{} q,{} v,{} [Nm]', lambda k, name: (f'{name} q', f'{name} v', f'{name} [Nm]')),
        # `q{}` is not `quality`, nor is a number without all of what is asked for a joint.
        ('zeit,q{},,m{}', lambda k, name: (f'q{k}', f'v{k}', f'm{k}')),
    ],
)
def test_columns_are_named_by_hand(columns, name_columns, motion, tmp_path, monkeypatch, capsys):
    """`--columns` takes a number or a name for a joint, in all commands that read a log."""
    monkeypatch.setitem(LAYOUTS, 'own', ('zeit', name_columns))
    path = write(tmp_path / 'log.csv', 'own', motion, extra=('quality', 'mean'))
    joints = read_columns(path, by_hand(columns), ROBOT.joint_names)
    log = read_log(path, ROBOT.joint_names, columns=joints)
    np.testing.assert_allclose(log.position, motion[1], atol=1e-8)
    np.testing.assert_allclose(log.effort, motion[3], atol=1e-6)
    for command in ('identify', 'evaluate', 'whatis') if '{} q' in columns else ('evaluate',):
        assert main([command, str(ARM), str(path), '--columns', columns]) == 0
        assert f'read as {columns}' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('separator', 'end'), [(';', '\n'), ('\t', '\r\n'), (' ', '\r'), (', ', '\n')]
)
def test_other_separators(separator, end, motion, tmp_path):
    """UR's own client writes blanks between the columns, spreadsheets semicolons or tabs."""
    path = write(tmp_path / 'log.csv', 'RTDE', motion)
    text = path.read_text().replace(',', separator).replace('\n', end)
    path.write_bytes(b'\xef\xbb\xbf' + text.encode())
    log = read_log(path, ROBOT.joint_names)
    np.testing.assert_allclose(log.position, motion[1], atol=1e-8)
    np.testing.assert_allclose(log.effort, motion[3], atol=1e-6)


def write_messages(path, motion, without=()):
    """Write the motion as `ros2 topic echo --csv`, with the messages of a gripper among it."""
    times, *tables = motion
    lines = []
    for time, *rows in zip(times, *tables, strict=True):
        cells = [int(time), round(time % 1 * 1e9), 'base_link', *ROBOT.joint_names]
        for kind, row in zip(('position', 'velocity', 'effort'), rows, strict=True):
            cells += [''] if kind in without else list(row)
        lines += [','.join(map(str, cells)), f'{int(time)},0,,finger,0.01,0.0,0.0']
    lines[7:7] = ['A message was lost!!!', '\ttotal count change:1', '\ttotal count: 1---']
    path.write_text('\n'.join(lines) + '\n')
    return path


@pytest.mark.kept(1)
@pytest.mark.parametrize('without', [(), ('velocity',)])
def test_messages_that_were_printed(without, motion, tmp_path, capsys):
    """A file without a header: names are in each row, and others' messages are left out."""
    path = write_messages(tmp_path / 'log.csv', motion, without)
    assert list_joints(path) == ROBOT.joint_names
    log = read_log(path, ROBOT.joint_names)
    np.testing.assert_allclose(log.times, motion[0], atol=1e-9)
    np.testing.assert_array_equal(log.position, motion[1])
    np.testing.assert_array_equal(log.effort, motion[3])
    assert (log.velocity is None) == bool(without)
    assert log.dropped['joints missing'] == len(motion[0])
    assert main(['evaluate', str(ARM), str(path)]) == 0
    assert f'joint_1  column {4 + N} [rad]' in capsys.readouterr().err


def test_messages_are_those_of_rosidl(tmp_path):
    """The layout is what rosidl_runtime_py writes of a JointState."""
    rosidl_runtime_py = pytest.importorskip('rosidl_runtime_py', reason='it comes with ROS 2')
    messages = pytest.importorskip('sensor_msgs.msg', reason='it comes with ROS 2')
    state = messages.JointState(name=['a', 'b'], position=[1.0, 2.0], effort=[3.0, 4.0])
    state.header.stamp.nanosec = 5
    path = tmp_path / 'log.csv'
    path.write_text(f'{rosidl_runtime_py.message_to_csv(state)}\n' * 2)
    names = ('time', 'nanoseconds', '', '', '', 'a.position', 'b.position', '')
    assert read_columns(path).names == (*names, 'a.effort', 'b.effort')


def test_eight_of_the_columns_that_are_not_used_are_named(tmp_path, capsys):
    joints = range(1, ROBOT.n + 1)
    names = ['t', *(f'{kind}{index}' for kind in ('q', 'dq', 'tau') for index in joints)]
    path = tmp_path / 'log.csv'
    path.write_text(','.join([*names, *(f'spare_{index}' for index in range(12))]) + '\n')
    assert main(['evaluate', str(ARM), str(path)]) == 1
    said = capsys.readouterr().err
    assert 'spare_7, ...' in said
    assert 'spare_8' not in said
