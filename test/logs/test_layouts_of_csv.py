"""CSV files as people have them: exact patterns are known, everything else is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import list_joints, read_log
from ne_dynamics.logs.readers.layouts import read_header

ARM = Path(__file__).resolve().parents[2] / 'config/six_axis_arm.urdf'
ROBOT = ned.load_urdf(ARM, tip_link='tcp')
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
    times = np.arange(0.0, 12.0, 0.01)
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


@pytest.mark.parametrize('layout', ['student', 'RTDE', 'PlotJuggler'])
def test_one_command_takes_it_to_a_model(layout, motion, tmp_path, capsys):
    """`identify MODEL LOG` prints whose columns are whose, and writes the model."""
    path = write(tmp_path / 'log.csv', layout, motion)
    out = tmp_path / 'identified.urdf'
    assert main(['identify', str(ARM), str(path), '--tip-link', 'tcp', '-o', str(out)]) == 0
    printed = capsys.readouterr().out
    if layout != 'PlotJuggler':
        first = '1' if layout == 'student' else '0'
        assert f'columns by number: {first} joint_1, ' in printed
    assert out.is_file()
    assert main(['whatis', str(ARM), str(path), '--tip-link', 'tcp']) == 0


def test_as_many_joints_are_expected_as_the_model_has(motion, tmp_path, capsys):
    """Numbers are not guessed to be those of another chain."""
    path = write(tmp_path / 'log.csv', 'student', motion)
    assert main(['evaluate', str(ARM), str(path), '--tip-link', 'wrist_2']) == 1
    error = capsys.readouterr().err
    assert 'the log numbers 6 joints: expected ' in error
    assert '--tip-link' in error


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
def test_other_headers_are_refused_with_those_that_are_known(header, tmp_path, capsys):
    """Nothing is inferred: the message shows what was there, and what to write."""
    path = tmp_path / 'log.csv'
    path.write_text(f'{header}\n0,0,0,0\n')
    assert main(['evaluate', str(ARM), str(path), '--tip-link', 'tcp']) == 1
    error = capsys.readouterr().err
    assert header.replace(',', ', ')[:40] in error
    assert 'time,joint_1.position,joint_1.velocity,joint_1.effort' in error


def test_a_header_that_fits_two_layouts_is_refused(tmp_path):
    """Both are named."""
    with pytest.raises(InputError, match='fits `t, q1, dq1, tau1` and `time, position_0'):
        read_header(['t', 'q1', 'tau1', 'position_1', 'effort_1'], tmp_path)
