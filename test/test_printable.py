"""Text from outside is escaped before a terminal gets it."""

import io

import pytest

from ne_dynamics.printable import escape_controls, print_lines


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('joint_1 <é> "ü" #: \\', 'joint_1 <é> "ü" #: \\'),
        ('a\nb\tc\r', r'a\nb\tc\r'),
        ('\x1b[31mred\x07', r'\x1b[31mred\x07'),
        ('\x9b2J\x7f', r'\x9b2J\x7f'),
        ('\ud800', r'\ud800'),
        ('\u202egnp\u2028\ufeff', r'\u202egnp\u2028\ufeff'),
        ('\U0001f916', '\U0001f916'),
        ('\U000e0001', r'\U000e0001'),
        ('', ''),
    ],
)
def test_what_does_not_print_is_escaped(text, expected):
    assert escape_controls(text) == expected


def test_a_line_stays_a_line_in_any_encoding():
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding='ascii', newline='')
    print_lines(['grün\nrot', '\ud800'], stream)
    stream.flush()
    assert buffer.getvalue() == b'gr\\xfcn\\nrot\n\\ud800\n'
