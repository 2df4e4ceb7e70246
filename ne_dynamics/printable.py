"""Text from outside, made fit for a terminal or a picture.

Names come from files. A control character among them would move the cursor or change what the
terminal does, a line end would pose as a line of ours, and an unpaired surrogate cannot be
written at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TextIO


def escape_controls(text: str) -> str:
    r"""Return a text with a backslash escape for everything that does not print.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        One line. Control and format characters, line ends, spaces other than U+0020 and
        surrogates are written as ``\n``, ``\x1b`` or ``\u202e``.
    """
    if text.isprintable():
        return text
    return ''.join(
        character
        if character.isprintable()
        else character.encode('unicode_escape', 'backslashreplace').decode('ascii')
        for character in text
    )


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Print lines, each with :func:`escape_controls`.

    Parameters
    ----------
    lines : iterable of str
        What the stream's encoding lacks is escaped too.
    stream : text stream, optional
        Default: standard output.
    """
    stream = sys.stdout if stream is None else stream
    text = '\n'.join(map(escape_controls, lines))
    encoding = getattr(stream, 'encoding', None) or 'utf-8'
    print(text.encode(encoding, 'backslashreplace').decode(encoding), file=stream)
