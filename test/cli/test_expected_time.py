"""Long work says at its begin how long it will take."""

import sys

import pytest

from ne_dynamics import progress_bar as expected_time
from ne_dynamics.commission import Motions


@pytest.mark.parametrize(
    ('seconds', 'text'),
    [(3.0, '10 s'), (34.0, '30 s'), (59.9, '60 s'), (61.0, '1 min'), (150.1, '3 min')],
)
def test_times_have_one_digit(seconds, text):
    assert expected_time.describe_time(seconds) == text


def test_only_long_work_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(expected_time, '_measure_slowness', lambda: 2.0)
    expected_time.say_expected_time(40.0)  # to a file
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    expected_time.say_expected_time(4.0)
    assert capsys.readouterr().err == ''
    expected_time.say_expected_time(40.0)
    assert capsys.readouterr().err == 'this takes about 1 min\n'


def test_motions_of_a_run_add_up():
    assert 180.0 < Motions().add_up(6) < 240.0
