"""How far a work has come, on a terminal and on none."""

import io
import sys

import pytest

from ne_dynamics import progress_bar
from ne_dynamics.progress_bar import (
    count_done,
    describe_time,
    say_expected_time,
    show_items,
    show_share,
    show_time,
)


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        """Return True."""
        return True


@pytest.fixture
def open_terminal(monkeypatch):
    """Return what makes stderr a terminal and returns it."""
    pytest.importorskip('tqdm', reason='tqdm draws the bars')

    def redirect():
        terminal = Terminal()
        monkeypatch.setattr(sys, 'stderr', terminal)
        return terminal

    return redirect


def test_progress_is_one_line_where_there_is_no_terminal(capsys):
    with show_time('PD alone', 2.0) as show:
        show(1.5)
    assert capsys.readouterr().err.startswith('PD alone: 1.5 of 2.0 s, 0.')


def test_the_bar_of_a_motion_grows_and_stays(open_terminal):
    terminal = open_terminal()
    with show_time('PD alone', 2.0) as show:
        show(1.0)
        show(2.5)
    lines = terminal.getvalue().split('\r')
    assert '.' * 24 in lines[1]
    assert '#' * 24 + '  2.0/2.0 s (0 s)' in lines[-1]
    assert lines[-1].endswith('\n')


def test_other_bars_are_gone_at_the_end(open_terminal):
    terminal = open_terminal()
    assert list(show_items('reading', iter('abc'), 3)) == ['a', 'b', 'c']
    with show_share('seeking') as show:
        show(0.25)
        show(1.0)
    with count_done('trying', 2, 'trial') as done:
        done()
        done()
    shown = terminal.getvalue()
    assert [label in shown for label in ('reading', 'seeking', 'trying')] == [True] * 3
    assert shown.endswith('\r')
    assert '\n' not in shown


def test_without_a_terminal_nothing_is_shown(capsys):
    assert list(show_items('reading', iter('abc'), 3)) == ['a', 'b', 'c']
    with show_share('seeking') as show, count_done('trying', 2, 'trial') as done:
        assert show is None
        done()
    assert capsys.readouterr().err == ''


def test_times_have_one_digit():
    seconds = (3.0, 34.0, 59.9, 61.0, 150.1)
    assert [*map(describe_time, seconds)] == ['10 s', '30 s', '60 s', '1 min', '3 min']


def test_only_long_work_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(progress_bar, '_measure_slowness', lambda: 2.0)
    say_expected_time(40.0)  # to a file
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    say_expected_time(4.0)
    assert capsys.readouterr().err == ''
    say_expected_time(40.0)
    assert capsys.readouterr().err == 'this takes about 1 min\n'
