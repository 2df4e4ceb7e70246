"""Long logs: what comes out is what comes out of the whole, wherever they are cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bag_files import write_bag
from fresh_python import output_of
from long_logs import cut_short, swinging_log, write_csv
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.logs import arrays
from ne_dynamics.logs.log import Log, read_log
from ne_dynamics.logs.parts import change_in_parts, cut
from ne_dynamics.logs.reading import LogReading
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.signals import filtered
from ne_dynamics.logs.work import Work

CUTOFF = 3.9


@pytest.fixture(scope='module')
def given():
    """Return the first joints of the shipped arm."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def swing(given):
    """Return 160 s of an arm."""
    return swinging_log(given)


def filter_parts(robot, log, cutoff=CUTOFF):
    """Return the signals of the parts of a log."""
    logs = FilteredLogs.read(robot, log, None, cutoff)
    return [piece.with_criteria(criteria) for piece, criteria, _ in logs.pieces]


def of_file(robot, path):
    """Return the log of a file with the names of a robot."""
    return read_log(path, robot.joint_names)


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


def test_parts_of_a_file_are_those_of_the_whole(given, swing, tmp_path, monkeypatch):
    """Filtered samples of parts, one after another, are those of the log in one part."""
    cut_short(monkeypatch)
    log = of_file(given, write_csv(tmp_path / 'log.csv', swing))
    assert len(arrays._mapped) >= 3
    parts = filter_parts(given, log)
    assert len(parts) >= 5
    assert log.summary() == swing.summary()
    require_same(parts, filtered(swing, given.limits('effort_limit'), CUTOFF))


def test_blocks_of_a_file_are_read_as_the_whole(given, swing, tmp_path, monkeypatch):
    """Number by number, wherever a block ends."""
    path = write_csv(tmp_path / 'log.csv', swing)
    whole = of_file(given, path)
    cut_short(monkeypatch, size=12_345)
    again = of_file(given, path)
    for key in ('times', 'position', 'effort'):
        assert np.array_equal(getattr(again, key), getattr(whole, key))
        assert not getattr(again, key).flags.writeable
    assert whole.velocity is again.velocity is None


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


def test_what_is_dropped_is_dropped_in_blocks_too(given, swing, tmp_path, monkeypatch):
    """Comments, quotes, a second header, short rows, NaN and CRLF count as in a short log."""
    path = write_csv(tmp_path / 'log.csv', swing, spoil)
    whole = of_file(given, path)
    cut_short(monkeypatch)
    log = of_file(given, path)
    parts = filter_parts(given, log)
    assert len(parts) >= 5
    assert log.summary() == whole.summary()
    assert sum(whole.dropped.values()) >= 5
    require_same(parts, filtered(whole, given.limits('effort_limit'), CUTOFF))


@pytest.mark.long
def test_memory_does_not_grow_with_the_log(given, tmp_path):
    """A log of 320 MB is kept, checked and filtered in less than it has."""
    script = """
import resource, sys
from dataclasses import replace
import numpy as np
import ne_dynamics as ned
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.logs import arrays
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.work import Work

arrays.LOGS = replace(arrays.LOGS, in_memory=16 << 20)
robot, work = ned.load_urdf(sys.argv[1]), Work()

def make():
    for first in range(0, 4_000_000, 20_000):
        t = np.arange(first, first + 20_000) / 500.0
        swing = np.sin(np.outer(t, [1.0, 1.3, 1.7]) + 1e-3 * np.arange(3))
        yield np.column_stack([t, swing, np.cos(swing), swing]), {}

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
log = Log.from_tables(robot.joint_names, make(), 'long', work.store)
log, _ = check_samples(robot, log, work)
logs = FilteredLogs.read(robot, log, work, 2.0)
print(log.times.size, logs.total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    count, total, grown = map(int, output_of(script, short_arm()).split())
    assert count == 4_000_000
    assert total > 30_000
    assert grown < 250_000


@pytest.mark.parametrize('delay', [0.05, -0.031, 3.0])
def test_a_log_that_is_read_otherwise_is_so_across_parts(given, swing, monkeypatch, delay):
    """Signs, factors, zeros and delays are, sample by sample, those of the whole."""
    reading = LogReading.as_recorded(3).with_effort((0, 2), factor=-2.0, delay=delay)
    reading = reading.with_position((1,), factor=-1.0, offset=0.3)
    log = replace(swing, velocity=np.gradient(swing.position, swing.times, axis=0))
    whole = reading.read_log(log)
    cut_short(monkeypatch)
    parts = change_in_parts(log, reading.read_log, Work(), abs(delay))
    for key in ('times', 'position', 'effort', 'velocity'):
        np.testing.assert_array_equal(getattr(parts, key), getattr(whole, key))
    assert (parts.received, dict(parts.dropped)) == (log.received, {})


@pytest.mark.parametrize('plugin', ['SQLITE3', 'MCAP'])
def test_parts_of_a_bag(given, tmp_path, monkeypatch, plugin):
    """A long bag is read once, in the order of reception, and cut as any other log."""
    log = swinging_log(given, 80.0, start=1000.0)
    path = write_log_as_bag(tmp_path / 'bag', log, plugin)
    whole = of_file(given, path)
    cut_short(monkeypatch)
    found = of_file(given, path)
    parts = filter_parts(given, found)
    assert len(parts) >= 3
    assert found.summary() == whole.summary()
    require_same(parts, filtered(whole, given.limits('effort_limit'), CUTOFF))


def write_log_as_bag(folder, log, plugin='SQLITE3'):
    """Write a bag of joint states that were received 2 ms late, in another order of joints."""
    names = list(reversed(log.joint_names))
    rows = zip(log.times, log.position[:, ::-1], log.effort[:, ::-1], strict=True)
    messages = ((time + 0.002, time, names, *values) for time, *values in rows)
    return write_bag(folder, messages, plugin=plugin)


def check(robot, log):
    """Return the faults that the samples of a log show."""
    return check_samples(robot, log)[1]


@pytest.fixture(scope='module')
def short_swing(given):
    """Return 70 s of an arm."""
    return swinging_log(given, 70.0)


def find_border(log):
    """Return the first sample of the second part, as a number."""
    return int(np.searchsorted(log.times, cut(log)[1].start))


def test_a_zero_that_jumps_where_a_part_ends(given, short_swing, monkeypatch):
    """It is named once, with its joint and size, wherever it is; a spike there is no jump."""
    cut_short(monkeypatch)
    border = find_border(short_swing)
    for at in (border - 1, border, border + 1):
        jumped = replace(short_swing, position=short_swing.position.copy())
        jumped.position[at:, 1] += 0.3
        (fault,) = check(given, jumped)
        assert (fault.code, fault.joints) == ('zero-jumps', (given.joint_names[1],))
        assert fault.what.startswith('1 times in 1 of ')
        assert 'jumps by 17.2 degrees' in fault.what
        jumped.position[at + 1 :, 1] -= 0.3
        assert 'zero-jumps' not in [found.code for found in check(given, jumped)]


@pytest.mark.parametrize(('place', 'back'), [('border', 4.0), ('inside', 0.3)])
def test_a_clock_that_is_set_back_for_a_while(
    given, short_swing, tmp_path, monkeypatch, place, back
):
    """Its samples were left out without a word, at the end of a block and within one."""
    cut_short(monkeypatch)
    path = write_csv(tmp_path / 'log.csv', short_swing)
    # Rows of the first block.
    at = path.read_bytes()[:300_000].count(b'\n') - 1 + (700 if place == 'inside' else 0)
    times = np.round(
        short_swing.times - np.where(np.arange(short_swing.times.size) >= at, back, 0.0), 2
    )
    path = write_csv(path, replace(short_swing, times=times))
    (fault,) = check(given, of_file(given, path))
    assert fault.code == 'clock-set-back'
    assert (
        f'goes back by {back - 0.01:.4g} s, from {short_swing.times[at - 1]:.10g} ' in fault.what
    )
    held = Log.from_samples(
        short_swing.joint_names, times, short_swing.position, short_swing.effort
    )
    (found,) = check(given, held)
    assert (found.code, found.what) == (fault.code, fault.what)
