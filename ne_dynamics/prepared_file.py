"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.errors import TrajectoryError

STANDARD = '-'
"""In place of a file name: standard input or output."""

PICTURES = ('.pdf', '.png', '.svg')


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


def check_output(
    path: str | Path, *, is_folder: bool = False, endings: Sequence[str] = ('',)
) -> None:
    """Refuse a file, or a folder, that cannot be written, before anything long begins."""
    reason = '' if str(path) == STANDARD else find_obstacle(Path(path), is_folder=is_folder)
    if not str(path).lower().endswith(tuple(endings)):
        reason = f'expected a name that ends with {", ".join(endings)}'
    if reason:
        raise TrajectoryError(f'{path}: cannot be written: {reason}')


def check_outputs(
    outputs: Sequence[tuple[str, Any]], inputs: Mapping[str, str | Path | None]
) -> None:
    """Refuse a file that cannot be written, or would replace what is read, or another output.

    Outputs are pairs of option and file, None and `-` for no file. Inputs are read, by their
    options or arguments; of a folder all files count.
    """
    chosen = [(option, path) for option, path in outputs if path not in (None, STANDARD)]
    for option, path in chosen:
        check_output(path, endings=PICTURES if option == '--plot' else ('',))
    read = {
        name: Path(path).resolve() for name, path in inputs.items() if path and path != STANDARD
    }
    seen: dict[Path, str] = {}
    for option, path in chosen:
        target = Path(path).resolve()
        for name, source in read.items():
            if target == source or (source in target.parents and target.exists()):
                raise TrajectoryError(
                    f'{option}: expected another file than {name}, which is read, got {path}'
                )
        # A pipe or a device takes more than one.
        if target in seen and not (target.exists() and not target.is_file()):
            raise TrajectoryError(
                f'{option}: expected another file than that of {seen[target]}, got {path}'
            )
        seen[target] = option


def write_text(path: str | Path, text: str) -> None:
    """Write a file, or standard output for `-`, at once; what was there stays if that fails."""
    if str(path) == STANDARD:
        buffer = getattr(sys.stdout, 'buffer', None)
        if buffer is None:
            sys.stdout.write(text)  # a text in memory
            return
        # In UTF-8, whatever the terminal speaks: so it is read, and so are files.
        sys.stdout.flush()
        buffer.write(text.encode('utf-8'))
        return
    write_whole(Path(path), text)


def name_stream(path: str | Path, direction: str) -> str:
    """Return what a file is called, `-` by its direction: input or output."""
    return f'standard {direction}' if str(path) == STANDARD else str(path)


def get_stem(file: str) -> str:
    """Return the name of a file up to its first dot."""
    return Path(file).name.partition('.')[0] or 'arm'


def generate_names(path: Path) -> Iterator[Path]:
    """Yield a name, and then the same with numbers: arm.urdf, arm_2.urdf, ..."""
    yield path
    stem, dot, endings = path.name.partition('.')
    for number in itertools.count(2):
        yield path.with_name(f'{stem}_{number}{dot}{endings}')


def is_free(path: Path, *beside: str) -> bool:
    """Return whether nothing has a name, nor one with other endings in its folder."""
    stem = path.name.removesuffix(''.join(path.suffixes))
    return not any(map(os.path.lexists, [path, *(path.with_name(stem + one) for one in beside)]))
