"""CSV files and bags as they come: columns in any order, numbers missing, clocks that stand.

What is not plain is one clear error that names the file, or the right numbers.
"""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest
from bag_files import write_bag
from short_arm import short_arm

from ne_dynamics.cli.main import main
from ne_dynamics.errors import InputError, MissingDependencyError
from ne_dynamics.logs.log import list_joints, read_log

HEADER = 't,q1,q2,tau1,tau2'
JOINTS = ('a', 'b')
ROWS = [f'{0.01 * k:.2f},{k},2.5,3.5,-4' for k in range(9)]
PLAIN = '\n'.join([HEADER, *ROWS]) + '\n'


def insert(row):
    """Return the plain file with one row more."""
    return PLAIN.replace(ROWS[0], f'{ROWS[0]}\n{row}')


@pytest.mark.parametrize(
    ('text', 'dropped'),
    [
        ('\ufeff' + PLAIN.replace('\n', '\r\n'), {}),
        (PLAIN.replace(',', ';'), {}),
        (PLAIN.replace(',', ' , '), {}),
        ('# a comment\n' + PLAIN, {}),
        (PLAIN.replace('q1', '"q1"').replace('2.5', '"2.5"'), {}),
        (PLAIN.replace('\n', '\n\n'), {}),
        (PLAIN.replace(HEADER, f'{HEADER}\ns,rad,rad,Nm,Nm'), {'no number': 1}),
        (insert(HEADER), {'no number': 1}),
        (insert('0.005,0.5,,3.5,-4'), {'not finite': 1}),
        (insert('0.005,0.5,NaN,3.5,-4'), {'not finite': 1}),
        (insert('0.005,0.5,1,inf,-4'), {'not finite': 1}),
        (insert('0.005,0.5,1e300,3.5,-4'), {'beyond 1e30': 1}),
        (insert(ROWS[0]), {'time did not advance': 1}),
        (insert('1.7e9,0.5,1,3.5,-4'), {'time did not advance': 1}),
        (PLAIN + '0.09,1,2', {'short': 1}),
    ],
)
def test_what_is_plain_is_read(text, dropped, tmp_path):
    """The numbers are the same; what was left out is counted, and one stamp costs its sample."""
    path = tmp_path / 'ö log.csv'
    path.write_bytes(text.encode())
    log = read_log(path, JOINTS)
    np.testing.assert_array_equal(log.position, [[k, 2.5] for k in range(9)])
    np.testing.assert_array_equal(log.effort, [[3.5, -4.0]] * 9)
    np.testing.assert_allclose(log.times, 0.01 * np.arange(9), atol=1e-12)
    assert (log.joint_names, log.velocity) == (JOINTS, None)
    assert dict(log.dropped) == dropped
    assert log.received == 9 + sum(dropped.values())
    for reason, number in dropped.items():
        assert f'9 of 10 samples in 0.1 s (100 Hz); dropped: {number} {reason}' in log.summary()


def test_columns_are_found_by_name(tmp_path):
    """Whatever stands between them."""
    path = tmp_path / 'log.csv'
    path.write_text(
        'b.effort,time,a.position,note,a.effort,b.position\n4,0,1,x,3,2\n40,1,10,,30,20'
    )
    log = read_log(path, JOINTS)
    assert log.times.tolist() == [0.0, 1.0]
    assert log.position.tolist() == [[1.0, 2.0], [10.0, 20.0]]
    assert log.effort.tolist() == [[3.0, 4.0], [30.0, 40.0]]


@pytest.mark.parametrize(
    ('data', 'message'),
    [
        (b'time,a.position,a.effort,b.position\n0,1,2,3\n', r'columns b\.effort'),
        (b'', r'the header is not known: \(an empty file\)'),
        (
            b'Time,A.position,B.position,A.effort,B.effort\n0,1,2,3,4\n',
            'only upper and lower case differ',
        ),
        (PLAIN.replace('-4', 'nan').encode(), r'; not one finite number in b\.effort$'),
        (HEADER.encode(), 'at least 2 samples that can be used, got 0 of 0'),
        ('\n'.join([HEADER, ROWS[0]]).encode(), 'got 1 of 1'),
        (PLAIN.encode('utf-16'), 'expected a CSV file in UTF-8'),
        (bytes(range(256)) * 9, 'expected a CSV file in UTF-8'),
        (b'x' * 300_000, 'expected a CSV file'),
        (f'{HEADER},q1\n'.encode(), "column 'q1': expected once, got 2"),
        (PLAIN.replace('q1', 'q1 [deg]').encode(), 'the header is not known: t,q1 .deg.'),
        (PLAIN.replace('q2', 'q3').encode(), 'the header is not known: t,q1,q3'),
        (b't,q1,q2,q3,tau1,tau2,tau3', 'log numbers 3 joints: expected 2, those of the model'),
        (PLAIN.replace(',', ';').replace('.', ',').encode(), "column 't', row 2: '0,00'"),
        ('\n'.join([HEADER, *ROWS[::-1]]).encode(), '8 time did not advance'),
        (b'0,0,,a,1,,2\n', 'expected the columns b.position'),
    ],
)
def test_what_is_not_is_refused(data, message, tmp_path):
    """The file is named, and what was wrong with it."""
    path = tmp_path / 'log.csv'
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as refused:
        read_log(path, JOINTS)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == data


def test_what_is_no_log(tmp_path, capsys):
    """A missing file, a topic for a CSV file, and a log in the place of the model."""
    with pytest.raises(InputError, match=r"cannot read the log '.*none\.csv'"):
        read_log(tmp_path / 'none.csv', JOINTS)
    path = tmp_path / 'log.csv'
    path.write_text(PLAIN)
    with pytest.raises(InputError, match="topic: expected none with a CSV file, got '/x'"):
        read_log(path, JOINTS, '/x')
    assert main(['identify', str(path), str(short_arm())]) == 1
    assert 'expected the model first, a URDF, xacro or DH file' in capsys.readouterr().err


BOTH = ['a', 'b']
MESSAGES = [
    (100.0, 5.0, BOTH, [1, 2], [3, 4]),
    (100.1, 5.1, BOTH[::-1], [20, 10], [40, 30]),
    (100.2, 5.2, ['other', *BOTH], [0, 5, 6], [0, 7, 8]),
    (100.3, 5.3, ['a'], [1], [3]),
    (100.4, 5.4, BOTH, [1, 2], []),
    (100.5, 5.5, BOTH, [1, float('nan')], [3, 4]),
    (100.6, 5.5, BOTH, [1, 2], [3, 4]),
]


@pytest.mark.parametrize('plugin', ['SQLITE3', 'MCAP'])
def test_bag(tmp_path, plugin):
    """Joints are matched by name; what lacks a joint or a number is dropped and counted."""
    folder = write_bag(tmp_path / 'bag', MESSAGES, plugin=plugin)
    (file,) = (path for path in folder.iterdir() if path.suffix in ('.db3', '.mcap'))
    for path in (folder, file):
        log = read_log(path, JOINTS)
        assert log.times.tolist() == pytest.approx([5.0, 5.1, 5.2, 5.5])
        assert log.position.tolist() == [[1, 2], [10, 20], [5, 6], [1, 2]]
        assert log.effort.tolist() == [[3, 4], [30, 40], [7, 8], [3, 4]]
        assert log.velocity is None
        assert log.received == 7
        assert log.dropped == {'joints missing': 1, 'short': 1, 'not finite': 1}


def test_joints_and_topics_of_a_bag(tmp_path):
    """Joints are those of its fullest message; one of several topics has to be named."""
    gripper = (100.05, 5.05, ['finger'], [1], [3])
    folder = write_bag(tmp_path / 'bag', [gripper, *MESSAGES[:2]], topics=('/a', '/b'))
    for topic, message in (
        (None, 'expected one to be named of /a, /b, got none'),
        ('/c', 'expected one of /a, /b, got /c'),
    ):
        with pytest.raises(InputError, match=message):
            read_log(folder, JOINTS, topic)
    assert read_log(folder, JOINTS, '/b').received == 3
    assert list_joints(folder, '/a') == list_joints(folder / 'bag.db3', '/a') == JOINTS
    with pytest.raises(InputError, match='expected a ROS 2 bag'):
        list_joints(tmp_path)


def test_missing_library_is_named(tmp_path, monkeypatch):
    """Without rosbags the error names the extra that brings it."""
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name.split('.')[0] == 'rosbags':
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    for name in [name for name in sys.modules if name.split('.')[0] == 'rosbags']:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, 'rosbags', None)
    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(MissingDependencyError, match=r'pip install "ne_dynamics\[bag\]"'):
        read_log(tmp_path, JOINTS)
