"""When a signal interrupts a run, and when it waits."""

import os
import signal

import pytest

from ne_dynamics.commission.arm.signal_masking import (
    in_one_piece,
    interrupted_in_order,
    signals_masked,
)
from ne_dynamics.commission.thresholds import ARM


@pytest.fixture(autouse=True)
def orderly():
    """A run that nothing has interrupted, of a process that hears when its terminal closes."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with interrupted_in_order():
        yield
    signal.signal(signal.SIGHUP, before)


def press(number=signal.SIGINT):
    """Send this process a signal."""
    os.kill(os.getpid(), number)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_call_that_must_not_be_cut_is_finished_first(number):
    """The signal interrupts at its end, once."""
    done = []

    @in_one_piece()
    def call():
        press(number)
        with in_one_piece():
            press(number)
        done.append('call')

    with pytest.raises(KeyboardInterrupt):
        call()
    assert done == ['call']
    with in_one_piece():
        done.append('next')


def test_of_several_in_a_row_one_interrupts(monkeypatch):
    """The others would meet it on its way; a later one interrupts again."""
    with pytest.raises(KeyboardInterrupt):
        press()
    press()
    press(signal.SIGTERM)
    monkeypatch.setitem(vars(ARM), 'signals_in_a_row', -1.0)
    with pytest.raises(KeyboardInterrupt):
        press()


def test_an_arm_that_is_being_left_is_left(capfd):
    """What comes meanwhile is answered, and interrupts nothing afterwards."""
    with signals_masked():
        with in_one_piece():
            press()
        press(signal.SIGHUP)
    with in_one_piece():
        pass
    assert capfd.readouterr().err.count('stopping already') == 2


def test_what_the_process_was_started_to_ignore_stays_ignored():
    """As by `nohup`, or in the background of a shell without job control."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupted_in_order(), signals_masked():
            press(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_came_before_a_run_does_not_count():
    """Its first Ctrl-C interrupts, however short the time since that of the run before."""
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), interrupted_in_order():
            press()
