"""`identify` and `evaluate` of several logs, and of logs that are cut into parts."""

import errno
import gc
import json
import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from long_logs import cut_short, swinging_log, write_csv
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.cli.main import main

ARM = short_arm()
MODEL = ('--model', str(ARM), '--cutoff', '3.9')


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return a long log and a short one of another motion."""
    folder, robot = tmp_path_factory.mktemp('logs'), ned.load_urdf(ARM)
    return [
        str(write_csv(folder / 'long.csv', swinging_log(robot, 60.0))),
        str(write_csv(folder / 'short.csv', swinging_log(robot, 20.0, seed=1))),
    ]


def test_evaluate_prints_each_log_and_all(files, call, ask, monkeypatch):
    alone = [ask('evaluate', *MODEL, name) for name in files]
    cut_short(monkeypatch)
    both = ask('evaluate', *MODEL, *files)
    assert [log['source'] for log in both['logs']] == files
    for log, own in zip(both['logs'], alone, strict=True):
        assert log['summary'] == own['log']
        for one, other in zip(log['joints'], own['joints'], strict=True):
            assert one['rms_difference'] == pytest.approx(other['rms_difference'], rel=1e-6)
    for index, joint in enumerate(both['joints']):
        sizes = [log['joints'][index]['rms_measured'] for log in both['logs']]
        assert min(sizes) <= joint['rms_measured'] <= max(sizes)
    code, out, err = call('evaluate', *MODEL, *files)
    assert (code, err) == (0, '')
    assert 'all 2 logs together' in out


def write_compressed_bag(folder):
    """Write a bag whose file is compressed, so that it is unpacked to be read."""
    writing = pytest.importorskip('rosbags.rosbag2', reason='rosbags is missing')
    from rosbags.typesys import Stores, get_typestore

    store, kind = get_typestore(Stores.ROS2_JAZZY), 'sensor_msgs/msg/JointState'
    header, stamp = (
        store.types[name] for name in ('std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    )
    names = list(ned.load_urdf(ARM).joint_names)
    row = np.zeros(len(names))
    writer = writing.Writer(folder, version=9, storage_plugin=writing.StoragePlugin.SQLITE3)
    writer.set_compression(writing.CompressionMode.FILE, writing.CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection('/joint_states', kind, typestore=store)
        for index in range(300):
            message = store.types[kind](header(stamp(index, 1), ''), names, row, row, row)
            writer.write(connection, index * 10**9, store.serialize_cdr(message, kind))
    return folder


@pytest.mark.kept(1)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_when_a_signal_comes(tmp_path, monkeypatch, number):
    path = write_compressed_bag(tmp_path / 'bag')
    folder = tmp_path / 'temporary'
    folder.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(folder))
    seen = []

    def interrupted(*arguments):
        seen.extend(folder.glob('*/*'))
        os.kill(os.getpid(), number)
        yield from ()

    monkeypatch.setattr('ne_dynamics.logs.readers.bag.generate_rows', interrupted)
    # What runs in the background of a shell ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(['evaluate', *MODEL, str(path)]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    gc.collect()
    assert [place.name for place in seen] == ['bag.db3']
    assert not list(folder.iterdir())


def test_a_full_disk_is_named(files, tmp_path, call, monkeypatch):
    full = Path('/dev/full')
    if not full.exists():
        pytest.skip('no /dev/full, a disk that is full')
    cut_short(monkeypatch)
    monkeypatch.setattr(tempfile, 'TemporaryFile', lambda **_: full.open('wb', 0))
    code, _, err = call('evaluate', *MODEL, files[0])
    assert code == 1
    assert 'cannot keep what was read in' in err
    assert 'set TMPDIR' in err
    path = write_compressed_bag(tmp_path / 'bag')

    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr('shutil.copyfileobj', fail)
    code, _, err = call('evaluate', *MODEL, path)
    assert code == 1
    assert f'{path}: no room to unpack the bag in' in err


def test_spikes_anywhere_in_a_long_log(tmp_path, call, ask, monkeypatch):
    def spoil(lines):
        lines = list(lines)
        for index in (5000, 5100, 5200):
            lines[index] = lines[index].rsplit(',', 1)[0] + ',500.0'
        return lines

    cut_short(monkeypatch)
    path = write_csv(tmp_path / 'log.csv', swinging_log(ned.load_urdf(ARM), 60.0), spoil)
    words = ['identify', *MODEL, path, '--spread', '0.5']
    code, out, _ = call(*words, '--json')
    assert code == 1
    (fault,) = json.loads(out)['diagnosis']['faults']
    assert (fault['code'], fault['amount']) == ('spikes', 3.0)
    assert '3 times in 1 of ' in fault['message']
    assert ask(*words, '--repair')['joints'][-1]['rms_difference_after'] < 0.1


def test_logs_that_do_not_go_together(files, tmp_path, refused):
    other = write_csv(
        tmp_path / 'other.csv',
        swinging_log(ned.load_urdf(ARM), 5.0),
        lambda lines: [line.rsplit(',', 2)[0] for line in lines],
    )
    again, empty = tmp_path / 'again.csv', tmp_path / 'empty.csv'
    again.symlink_to(files[1])
    empty.write_bytes(b'')
    for words, message in (
        ([files[1], other], 'other.csv: expected the joints of'),
        ([files[1], files[1]], 'logs: expected each once'),
        ([files[1], again], f"logs: expected each once, got {files[1]!r} and '{again}'"),
        ([*files, '--plot', tmp_path / 'x.png'], '--plot: expected one log'),
    ):
        refused(message, 'evaluate', *MODEL, *words)
    message = 'empty.csv: the header is not known: (an empty file)'
    refused(message, 'evaluate', *MODEL, files[1], empty, lines=5)
    refused('--payload: expected one LOG, got 2', 'identify', *MODEL, *files, '--payload')
    words = (files[1], '--payload', '--jobs', '2')
    refused('--payload: expected no --jobs', 'identify', *MODEL, *words)
