"""Logs as they come: columns and messages in any order, numbers missing, clocks that stand."""

from __future__ import annotations

import builtins
import sys

import pytest
from bag_files import write_bag

from ne_dynamics.errors import InputError, MissingDependencyError
from ne_dynamics.logs.log import list_joints, read_log

JOINTS = ('shoulder', 'elbow.left')
HEADER = 'elbow.left.effort,time,shoulder.position,note,shoulder.effort,elbow.left.position'


def csv_file(folder, *rows, header=HEADER):
    """Write a CSV file and return its path."""
    path = folder / 'log.csv'
    path.write_text('\n'.join((header, *rows)) + '\n', encoding='utf-8')
    return path


def test_columns_in_any_order(tmp_path):
    """Columns are found by name; other columns, comments and empty lines do not matter."""
    path = csv_file(tmp_path, '# a comment', '4,0.0,1,x,3,2', '', '40,0.5,10,y,30,20')
    log = read_log(path, JOINTS)
    assert log.times.tolist() == [0.0, 0.5]
    assert log.position.tolist() == [[1.0, 2.0], [10.0, 20.0]]
    assert log.effort.tolist() == [[3.0, 4.0], [30.0, 40.0]]
    assert log.velocity is None
    assert (log.received, dict(log.dropped)) == (2, {})
    assert log.joint_names == JOINTS


def test_unusable_rows_are_dropped_and_counted(tmp_path):
    path = csv_file(
        tmp_path,
        '4,0.0,1,,3,2',
        '4,0.1,1',
        '4,0.2,nan,,3,2',
        '4,0.3,,,3,2',
        '4,0.4,1,,inf,2',
        '4,0.5,one,,3,2',
        '4,0.0,1,,3,2',
        '4,1.0,1,,3,2',
        '4,0.9,1,,3,2',
    )
    log = read_log(path, JOINTS)
    assert log.times.tolist() == [0.0, 1.0]
    assert log.received == 9
    assert log.dropped == {'short': 1, 'no number': 1, 'not finite': 3, 'time did not advance': 2}
    assert '2 of 9 samples' in log.summary()
    assert '3 not finite' in log.summary()


@pytest.mark.parametrize('wrong', [0, 3])
def test_one_stamp_far_ahead_is_left_out(tmp_path, wrong):
    """One stamp of another clock costs its own sample, and none of those after it."""
    stamps = [1.7e9 if row == wrong else 0.1 * row for row in range(8)]
    log = read_log(csv_file(tmp_path, *(f'4,{stamp},1,,3,2' for stamp in stamps)), JOINTS)
    assert log.times.tolist() == [stamp for stamp in stamps if stamp < 1.0]
    assert log.dropped == {'time did not advance': 1}


def test_files_that_cannot_be_read(tmp_path):
    """A missing file, a binary one and a topic for a CSV file are refused by name."""
    with pytest.raises(InputError, match=r"cannot read the log '.*none\.csv'"):
        read_log(tmp_path / 'none.csv', ('a',))
    (tmp_path / 'binary.csv').write_bytes(b'\xff\xfe\x00\x01')
    with pytest.raises(InputError, match='expected a CSV file in UTF-8'):
        read_log(tmp_path / 'binary.csv', ('a',))
    path = csv_file(tmp_path, '0,1,2', header='time,a.position,a.effort')
    with pytest.raises(InputError, match="topic: expected none with a CSV file, got '/x'"):
        read_log(path, ('a',), '/x')


BOTH = ['shoulder', 'elbow.left']
MESSAGES = [
    (100.0, 5.0, BOTH, [1, 2], [3, 4]),
    (100.1, 5.1, BOTH[::-1], [20, 10], [40, 30]),
    (100.2, 5.2, ['other', *BOTH], [0, 5, 6], [0, 7, 8]),
    (100.3, 5.3, ['shoulder'], [1], [3]),
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


def test_names_of_a_bag(tmp_path):
    """Joints of a bag are those of its fullest message: a gripper has messages of its own."""
    gripper = (100.05, 5.05, ['finger'], [1], [3])
    folder = write_bag(tmp_path / 'bag', [gripper, *MESSAGES[:2]])
    assert list_joints(folder) == tuple(BOTH)
    assert list_joints(folder / 'bag.db3') == tuple(BOTH)
    with pytest.raises(InputError, match='expected a ROS 2 bag'):
        list_joints(tmp_path)


def test_bag_topics(tmp_path):
    """One of several topics has to be named; a wrong name gets the list."""
    folder = write_bag(tmp_path / 'bag', MESSAGES, topics=('/a', '/b'))
    with pytest.raises(InputError, match='expected one to be named of /a, /b, got none'):
        read_log(folder, JOINTS)
    with pytest.raises(InputError, match='expected one of /a, /b, got /c'):
        read_log(folder, JOINTS, '/c')
    assert read_log(folder, JOINTS, '/b').received == 7


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
