"""Logs in pieces: what comes out is what comes out of the whole, whatever is in between."""

from __future__ import annotations

import gc
import os
import pickle
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from long_logs import cut_short, swinging_log, write_csv
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.identification.pieces.log_set import FilteredLogs, as_recordings
from ne_dynamics.logs.log import Log, read_log
from ne_dynamics.logs.readers import bag
from ne_dynamics.logs.readers.bag import open_joint_states
from ne_dynamics.logs.recording import Recording
from ne_dynamics.logs.runner import LocalRunner
from ne_dynamics.logs.samples.sample_checks import merge_faults
from ne_dynamics.logs.signals import filtered

CUTOFF = 3.9


@pytest.fixture(scope='module')
def given():
    """Return the first joints of the shipped arm."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def swing(given):
    """Return 160 s of an arm."""
    return swinging_log(given)


def read_pieces(robot, recordings, cutoff=CUTOFF):
    """Return logs and the signals of their pieces."""
    with LocalRunner() as runner:
        logs = FilteredLogs.read(robot, as_recordings(recordings), runner, cutoff)
        judgements = logs.judge()
        return logs, [
            signals
            for kept, log in zip(logs.kept, logs.log_of, strict=True)
            for signals in runner.map('look', _judge, [(kept,)], judgements[log])
        ]


def _judge(piece, judgement):
    return piece.judged(judgement)


def of_file(robot, path):
    """Return the recording of a file with the names of a robot."""
    return Recording.of_file(str(path), robot.joint_names, robot.joint_names)


def require_same(parts, whole):
    """Require that signals of pieces are those of a whole log."""
    sizes = {'position': 1e-8, 'velocity': 1e-7, 'acceleration': 1e-6, 'effort': 1e-6}
    times = np.concatenate([part.times for part in parts])
    assert np.abs(times - whole.times).max() < 1e-9
    for key, size in sizes.items():
        table = np.concatenate([getattr(part, key) for part in parts])
        assert np.abs(table - getattr(whole, key)).max() < size
    direction = np.concatenate([part.direction for part in parts])
    assert np.abs(direction - whole.direction).max() < 1e-4
    assert (np.concatenate([part.usable for part in parts]) == whole.usable).all()


def test_pieces_of_a_file_are_those_of_the_whole(given, swing, tmp_path, monkeypatch):
    """Filtered samples of pieces, one after another, are those of the log in one piece."""
    cut_short(monkeypatch)
    recording = of_file(given, write_csv(tmp_path / 'log.csv', swing))
    logs, parts = read_pieces(given, recording)
    assert len(parts) >= 5
    assert logs.logs[0].text == swing.summary()
    require_same(parts, filtered(swing, given.limits('effort_limit'), CUTOFF))


def test_pieces_of_a_log_in_memory(given, swing, monkeypatch):
    """A log in memory is cut alike; stamps of a clock that counts since 1970 lose nothing."""
    cut_short(monkeypatch)
    late = replace(swing, times=swing.times + 1.7e9)
    logs, parts = read_pieces(given, late)
    assert len(parts) >= 5
    assert logs.logs[0].text == late.summary()
    whole = filtered(swing, given.limits('effort_limit'), CUTOFF)
    moved = [replace(part, times=part.times - 1.7e9) for part in parts]
    # Stamps of 1.7e9 s are told to 2e-7 s, and so is the step of time.
    times = np.concatenate([part.times for part in moved])
    assert np.abs(times - whole.times).max() < 1e-3
    effort = np.concatenate([part.effort for part in moved])
    rate = np.abs(np.gradient(whole.effort, whole.times, axis=0)).max()
    assert np.abs(effort - whole.effort).max() < 1e-3 * rate


def spoil(lines):
    """Return lines of a log with all that may be in one."""
    lines = list(lines)
    lines[3000] = '# a comment, with a comma'
    lines[5000] = lines[5000].replace(',', ',"', 1).replace(',', '",', 2).replace('",', ',', 1)
    lines[6000] = lines[0]
    lines[7000] = lines[7000].split(',', 1)[0]
    lines[8000] = lines[8000].rsplit(',', 1)[0] + ',nan'
    lines[9000] = lines[8999]
    lines[10000] += '\r'
    lines[11000] = lines[11000].rsplit(',', 1)[0] + ','
    lines[12000] = ''
    return lines


def test_what_is_dropped_is_dropped_in_pieces_too(given, swing, tmp_path, monkeypatch):
    """Comments, quotes, a second header, short rows, NaN and CRLF count as in a short log."""
    path = write_csv(tmp_path / 'log.csv', swing, spoil)
    whole = read_log(path, given.joint_names)
    cut_short(monkeypatch)
    logs, parts = read_pieces(given, of_file(given, path))
    assert len(parts) >= 5
    assert logs.logs[0].text == whole.summary()
    assert sum(whole.dropped.values()) >= 5
    require_same(parts, filtered(whole, given.limits('effort_limit'), CUTOFF))


def test_a_gap_where_a_piece_ends(given, swing, tmp_path, monkeypatch):
    """Nothing near a gap is used, wherever it is: no filtered sample is within its margin."""
    cut_short(monkeypatch)
    path = write_csv(tmp_path / 'log.csv', swing)
    borders = [piece.read().summary.first for piece in of_file(given, path).list_pieces(CUTOFF)][
        1:4
    ]
    for border in borders:
        kept = (swing.times < border - 1e-6) | (swing.times > border + 0.2)
        gapped = replace(
            swing,
            times=swing.times[kept],
            position=swing.position[kept],
            effort=swing.effort[kept],
        )
        _, parts = read_pieces(given, of_file(given, write_csv(path, gapped)))
        times = np.concatenate([part.times for part in parts])
        assert not ((times > border - 1.9 / CUTOFF) & (times < border + 0.2)).any()
        near = (times > border - 3.0) & (times < border + 3.0)
        assert near.sum() > 4.0 * CUTOFF
        reference = filtered(swing, given.limits('effort_limit'), CUTOFF)
        effort = np.concatenate([part.effort for part in parts])[near]
        others = [np.interp(times[near], reference.times, x) for x in reference.effort.T]
        assert np.abs(effort - np.array(others).T).max() < 1.0


def test_a_clock_that_goes_back_is_refused(given, swing, tmp_path, monkeypatch):
    """Two recordings in one file, of which the second begins at 0 again, are no long log."""
    cut_short(monkeypatch)
    path = write_csv(tmp_path / 'log.csv', swing, lambda lines: lines + lines)
    with pytest.raises(InputError, match=r'expected times that go on .* cut the log into two'):
        read_pieces(given, of_file(given, path))


def test_a_file_that_shrinks_is_refused(given, swing, tmp_path, monkeypatch):
    """A file that is cut while it is read is named, with the bytes that were expected."""
    cut_short(monkeypatch)
    path = write_csv(tmp_path / 'log.csv', swing)
    pieces = of_file(given, path).list_pieces(CUTOFF)
    size = os.path.getsize(path)
    os.truncate(path, size // 2)
    with pytest.raises(InputError, match=f'expected {size} bytes, as when it was first looked'):
        pieces[-1].read()


def test_pieces_without_samples(given, swing, tmp_path, monkeypatch):
    """Where a log says nothing for longer than a piece, the rest of it counts."""
    cut_short(monkeypatch)

    def silence(lines):
        return [
            line.split(',', 1)[0] + ',x' if 4000 < index < 12000 else line
            for index, line in enumerate(lines)
        ]

    path = write_csv(tmp_path / 'log.csv', swing, silence)
    logs, parts = read_pieces(given, of_file(given, path))
    assert logs.logs[0].summary.dropped == {'short': 7999}
    times = np.concatenate([part.times for part in parts])
    assert times[0] < 1.0
    assert times[-1] > 158.0


def test_files_are_given_once(given, swing, tmp_path):
    """The same file twice, by whatever name, is refused; so is an empty one among many."""
    path = write_csv(tmp_path / 'log.csv', swing)
    other = tmp_path / 'again.csv'
    other.symlink_to(path)
    with pytest.raises(InputError, match=r'expected each once, got .*log\.csv.*again\.csv'):
        as_recordings([of_file(given, path), of_file(given, other)])
    (tmp_path / 'empty.csv').write_bytes(b'')
    with pytest.raises(InputError, match=r'empty\.csv'):
        read_pieces(given, [of_file(given, path), of_file(given, tmp_path / 'empty.csv')])


@pytest.mark.parametrize('plugin', ['SQLITE3', 'MCAP'])
def test_pieces_of_a_bag(given, tmp_path, monkeypatch, plugin):
    """A bag is cut at times of reception, and its pieces are those of the whole bag."""
    pytest.importorskip('rosbags', reason='rosbags is missing')
    log = swinging_log(given, 80.0, start=1000.0)
    path = write_bag(tmp_path / 'bag', log, plugin)
    whole = read_log(path, given.joint_names)
    cut_short(monkeypatch)
    logs, parts = read_pieces(given, of_file(given, path))
    assert len(parts) >= 3
    assert logs.logs[0].text == whole.summary()
    require_same(parts, filtered(whole, given.limits('effort_limit'), CUTOFF))


def write_bag(folder, log, plugin):
    """Write a bag of joint states that were received 2 ms late, in another order of joints."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    state, header, stamp = (
        store.types[name]
        for name in (
            'sensor_msgs/msg/JointState',
            'std_msgs/msg/Header',
            'builtin_interfaces/msg/Time',
        )
    )
    names = list(reversed(log.joint_names))
    with Writer(folder, version=9, storage_plugin=StoragePlugin[plugin]) as writer:
        connection = writer.add_connection('/joint_states', state.__msgtype__, typestore=store)
        for time, position, effort in zip(log.times, log.position, log.effort, strict=True):
            nanoseconds = round(1e9 * time)
            message = state(
                header=header(stamp=stamp(*divmod(nanoseconds, 10**9)), frame_id=''),
                name=names,
                position=position[::-1].copy(),
                velocity=np.zeros(0),
                effort=effort[::-1].copy(),
            )
            data = store.serialize_cdr(message, state.__msgtype__)
            writer.write(connection, nanoseconds + 2_000_000, data)
    return folder


def test_a_bag_is_opened_once_for_all_its_pieces(given, tmp_path, monkeypatch):
    """What it takes to open a bag grows with its length; it is closed after the last piece."""
    pytest.importorskip('rosbags', reason='rosbags is missing')
    path = write_bag(tmp_path / 'bag', swinging_log(given, 60.0, start=1000.0), 'SQLITE3')
    opened, closed = [], []

    def count(stack, *arguments):
        opened.append(arguments)
        stack.callback(closed.append, arguments)
        return open_joint_states(stack, *arguments)

    monkeypatch.setattr(bag, 'open_joint_states', count)
    cut_short(monkeypatch)
    recording = of_file(given, path)
    pieces = recording.list_pieces(CUTOFF)
    assert (len(opened), len(closed)) == (1, 1)
    first = pieces[0].read()
    # A copy, as another process gets it, opens the bag itself.
    again = pickle.loads(pickle.dumps(pieces[0])).read()
    assert again.log.times.tobytes() == first.log.times.tobytes()
    gc.collect()
    assert (len(opened), len(closed)) == (3, 2)
    for piece in pieces[1:]:
        piece.read()
    assert (len(opened), len(closed)) == (3, 3)


def test_a_bag_that_cannot_be_read_any_more_is_closed(given, tmp_path, monkeypatch):
    """A message that is no JointState ends the piece with the bag's name, and closes the bag."""
    pytest.importorskip('rosbags', reason='rosbags is missing')
    path = write_bag(tmp_path / 'bag', swinging_log(given, 45.0, start=1000.0), 'SQLITE3')
    with sqlite3.connect(path / 'bag.db3') as base:
        base.execute('UPDATE messages SET data = substr(data, 1, 40) WHERE id = 4000')
    base.close()
    cut_short(monkeypatch)
    pieces = of_file(given, path).list_pieces(CUTOFF)
    with pytest.raises(InputError, match=r'bag: a message cannot be read'):
        pieces[-1].read()
    assert pieces[-1].layout.bag._found is None
    assert pieces[0].read().summary.count


def check_pieces(robot, recording):
    """Return the faults that the pieces of a recording have, put together."""
    with LocalRunner() as runner:
        logs = FilteredLogs.read(robot, (recording,), runner, CUTOFF, checked_after=0)
    return merge_faults(robot, logs.logs[0].pieces)


@pytest.fixture(scope='module')
def short_swing(given):
    """Return 70 s of an arm."""
    return swinging_log(given, 70.0)


def find_border(recording):
    """Return the first sample of the second piece, as a number."""
    return recording.list_pieces(CUTOFF)[0].read().summary.count


def test_a_zero_that_jumps_where_a_piece_ends(given, short_swing, monkeypatch):
    """It is named once, with its joint and size, wherever it is; a spike there is no jump."""
    cut_short(monkeypatch)
    border = find_border(Recording.of_log(short_swing))
    for at in (border - 1, border, border + 1):
        jumped = replace(short_swing, position=short_swing.position.copy())
        jumped.position[at:, 1] += 0.3
        (fault,) = check_pieces(given, Recording.of_log(jumped))
        assert (fault.code, fault.joints) == ('zero-jumps', (given.joint_names[1],))
        assert fault.message.startswith('1 times in 1 of ')
        assert 'jumps by 17.2 degrees' in fault.message
        jumped.position[at + 1 :, 1] -= 0.3
        faults = check_pieces(given, Recording.of_log(jumped))
        assert 'zero-jumps' not in [found.code for found in faults]


@pytest.mark.parametrize('place', ['border', 'inside'])
@pytest.mark.parametrize('back', [0.3, 4.0])
def test_a_clock_that_is_set_back_for_a_while(
    given, short_swing, tmp_path, monkeypatch, place, back
):
    """Its samples were left out without a word, at the end of a piece and within one."""
    cut_short(monkeypatch)
    path = write_csv(tmp_path / 'log.csv', short_swing)
    at = find_border(of_file(given, path)) + (700 if place == 'inside' else 0)
    times = np.round(
        short_swing.times - np.where(np.arange(short_swing.times.size) >= at, back, 0.0), 2
    )
    path = write_csv(path, replace(short_swing, times=times))
    (fault,) = check_pieces(given, of_file(given, path))
    assert fault.code == 'clock-set-back'
    assert (
        f'goes back by {back - 0.01:.4g} s, from {short_swing.times[at - 1]:.10g} '
        in fault.message
    )
    held = Log.from_samples(
        short_swing.joint_names, times, short_swing.position, short_swing.effort
    )
    (found,) = check_pieces(given, Recording.of_log(held))
    assert found.code == 'clock-set-back'
    assert found.message.startswith('1 times in 1 of ')
