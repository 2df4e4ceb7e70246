"""The bytes of a robot description, and what format they hold."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from xml.parsers import expat

from ne_dynamics.errors import ModelError

LARGEST_DOCUMENT = 64 * 2**20
"""Largest description that is read [bytes]."""

LONGEST_PROLOG = 2**16
"""The first element of a description begins within this many bytes."""

_DECLARED = re.compile(rb'<\?xml[^>]*?encoding\s*=\s*["\']([A-Za-z0-9._-]+)["\']')


def looks_like_xml(text: str | bytes) -> bool:
    """Return whether a text is XML rather than a file name or another format.

    Parameters
    ----------
    text : str or bytes
        Bytes may start with a byte order mark, of UTF-16 too.
    """
    if isinstance(text, str):
        return text.lstrip('\ufeff \t\r\n').startswith('<')
    start = text[:4096]
    for mark in (b'\xef\xbb\xbf', b'\xff\xfe', b'\xfe\xff'):
        start = start.removeprefix(mark)
    return start.replace(b'\0', b'').lstrip(b' \t\r\n').startswith(b'<')


def first_element(data: bytes) -> str:
    """Return the name of the first element of an XML document; '' when there is none."""
    names: list[str] = []

    def stop(name: str, attributes: object) -> None:
        names.append(name)
        raise StopIteration

    parser = expat.ParserCreate()
    parser.StartElementHandler = stop
    with suppress(expat.ExpatError, ValueError, LookupError, StopIteration):
        parser.Parse(data[:LONGEST_PROLOG])
    return names[0] if names else ''


def read_file(path: str | os.PathLike[str], what: str = 'a robot description') -> bytes:
    """Return the bytes of a description; `what` names it in errors.

    Raises
    ------
    ModelError
        When the file is missing, cannot be read, is no regular file (reading a pipe may never
        end), is empty or larger than :data:`LARGEST_DOCUMENT`.
    """
    try:
        # A device may act on being opened: look first. A pipe put there since does not hang.
        is_regular = stat.S_ISREG(Path(path).stat().st_mode)
        if is_regular:
            flags = os.O_RDONLY | getattr(os, 'O_NONBLOCK', 0) | getattr(os, 'O_BINARY', 0)
            with os.fdopen(os.open(path, flags), 'rb') as stream:
                is_regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
                data = stream.read(LARGEST_DOCUMENT + 1) if is_regular else b''
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise ModelError(f'cannot read the model file {os.fspath(path)!r}: {reason}') from error
    if not is_regular:
        raise ModelError(
            f'cannot read the model file {os.fspath(path)!r}: expected a regular file, not a '
            'folder, pipe or device'
        )
    if len(data) > LARGEST_DOCUMENT:
        raise ModelError(
            f'{os.fspath(path)}: expected at most {LARGEST_DOCUMENT // 2**20} MiB, got more'
        )
    if not data.strip():
        raise ModelError(f'{os.fspath(path)}: expected {what}, got an empty file')
    return data


def read_text(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the text of a description and its encoding, line ends and byte order mark kept.

    Raises
    ------
    ModelError
        When the file cannot be read or decoded.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ModelError(f'cannot read the model file {str(path)!r}: {error.strerror}') from error
    declared = _DECLARED.match(data)
    encoding = declared.group(1).decode('ascii') if declared else 'utf-8'
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        encoding = 'utf-16'
    try:
        return data.decode(encoding), encoding
    except (UnicodeError, LookupError) as error:
        raise ModelError(f'{os.fspath(path)}: expected a text in {encoding}: {error}') from error
