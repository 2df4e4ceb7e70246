"""CSV files that cannot be what they are taken for: one clear error each, or the right numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.cli.main import main
from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import read_log

ARM = Path(__file__).resolve().parents[2] / 'config/six_axis_arm.urdf'
HEADER = 't,q1,q2,tau1,tau2'
JOINTS = ('a', 'b')
ROWS = [f'{0.01 * k:.2f},{k},2.5,3.5,-4' for k in range(9)]
PLAIN = '\n'.join([HEADER, *ROWS]) + '\n'


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
        (PLAIN.replace(ROWS[0], f'{ROWS[0]}\n{HEADER}'), {'no number': 1}),
        (PLAIN.replace(ROWS[0], f'{ROWS[0]}\n0.005,0.5,,3.5,-4'), {'not finite': 1}),
        (PLAIN.replace(ROWS[0], f'{ROWS[0]}\n0.005,0.5,NaN,3.5,-4'), {'not finite': 1}),
        (PLAIN.replace(ROWS[0], f'{ROWS[0]}\n0.005,0.5,1e300,3.5,-4'), {'beyond 1e30': 1}),
        (PLAIN + '0.09,1,2', {'short': 1}),
    ],
)
def test_what_is_plain_is_read(text, dropped, tmp_path):
    """The numbers are the same; what was left out is counted."""
    path = tmp_path / 'ö log.csv'
    path.write_bytes(text.encode())
    log = read_log(path, JOINTS)
    np.testing.assert_array_equal(log.position, [[k, 2.5] for k in range(9)])
    np.testing.assert_array_equal(log.effort, [[3.5, -4.0]] * 9)
    np.testing.assert_allclose(log.times, 0.01 * np.arange(9), atol=1e-12)
    assert dict(log.dropped) == dropped


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


def test_model_and_log_in_the_wrong_order(tmp_path, capsys):
    """What stands first is expected to be the model."""
    path = tmp_path / 'log.csv'
    path.write_text(PLAIN)
    assert main(['identify', str(path), str(ARM)]) == 1
    assert 'expected the model first, a URDF, xacro or DH file' in capsys.readouterr().err
