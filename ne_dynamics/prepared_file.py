"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def prepared_file(beside: Path, kind: str, data: bytes) -> Iterator[Path]:
    """Write a file under a passing name in a folder; take it away unless it was renamed.

    Parameters
    ----------
    beside : Path
        A file of the folder.
    kind : str
        What the passing name ends in.
    data : bytes

    Raises
    ------
    OSError
        When it cannot be written.
    """
    # What a killed process left may have the number of this one: in containers it often has.
    path = beside.with_name(f'.ne_dynamics.{os.getpid()}.{secrets.token_hex(4)}.{kind}')
    try:
        with path.open('xb') as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        yield path
    finally:
        path.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text in UTF-8; what was there before stays until the new one is complete.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    with prepared_file(path, 'new', text.encode('utf-8')) as complete:
        complete.replace(path)
