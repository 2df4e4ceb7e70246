"""The bytes of a robot description, and what format they hold."""

from __future__ import annotations

import os
from pathlib import Path

from ne_dynamics.errors import ModelError

LARGEST_DOCUMENT = 64 * 2**20
"""Largest description that is read [bytes]."""


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


def read_file(path: str | os.PathLike[str], what: str = 'a robot description') -> bytes:
    """Return the bytes of a description; `what` names it in errors.

    Raises
    ------
    ModelError
        When the file is missing, cannot be read, is empty or larger than
        :data:`LARGEST_DOCUMENT`.
    """
    try:
        with Path(path).open('rb') as stream:
            data = stream.read(LARGEST_DOCUMENT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise ModelError(f'cannot read the model file {os.fspath(path)!r}: {reason}') from error
    if len(data) > LARGEST_DOCUMENT:
        raise ModelError(
            f'{os.fspath(path)}: expected at most {LARGEST_DOCUMENT // 2**20} MiB, got more'
        )
    if not data.strip():
        raise ModelError(f'{os.fspath(path)}: expected {what}, got an empty file')
    return data
