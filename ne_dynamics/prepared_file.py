"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def errors_named(path: Path, reason: str = '') -> Iterator[None]:
    """Give every OSError the name of the file that was to be written, and a reason before its own.

    Where a disk is full an error of its own has no name, or a passing one.
    """
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        error.strerror = f'{reason}{error.strerror or error}'
        raise


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

    See :func:`write_whole_bytes`.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    write_whole_bytes(path, text.encode('utf-8'))


def write_whole_bytes(path: Path, data: bytes) -> None:
    """Write a file; what was there before stays until the new one is complete.

    A file that is replaced leaves its permissions to the new one; a symbolic link stays one, and
    what it points to is replaced; a pipe or a device is written to.

    Parameters
    ----------
    path : Path
    data : bytes

    Raises
    ------
    OSError
        When it cannot be written; it names the file, and says so.
    """
    with errors_named(path, 'cannot be written: '):
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = path.resolve()
        with prepared_file(target, 'new', data) as complete:
            if target.exists():
                complete.chmod(stat.S_IMODE(target.stat().st_mode))
            complete.replace(target)


def find_obstacle(path: Path, *, is_folder: bool = False) -> str:
    """Return why a file, or a folder that is made if need be, cannot be written.

    Parameters
    ----------
    path : Path
    is_folder : bool

    Returns
    -------
    str
        '' if it can be.
    """
    try:
        place = path
        if is_folder:
            place = path.absolute()
            while not place.exists() and place != place.parent:
                place = place.parent
            if not place.is_dir():
                return f'{str(place)!r} is no folder'
        elif path.is_dir():
            return 'it is a folder'
        elif not path.exists():
            place = path.parent
            if not place.is_dir():
                return f'there is no folder {str(place)!r}'
        mode = os.W_OK | os.X_OK if place.is_dir() else os.W_OK
        return '' if os.access(place, mode) else 'no permission'
    except (OSError, ValueError) as error:
        return getattr(error, 'strerror', None) or str(error)
