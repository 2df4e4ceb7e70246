"""Write an export into a folder: all files or none, and over nothing but an earlier export."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ne_dynamics.codegen.description import MARK
from ne_dynamics.errors import InputError
from ne_dynamics.prepared_file import errors_named


def write_folder(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files into a folder.

    A folder that is not there comes to be with all its files at once. In one that holds an
    earlier export the files of that are replaced or removed, and all others stay; after an error
    it is as it was.

    Parameters
    ----------
    folder : Path
        Its parent must be there.
    files : mapping of str to str
        ASCII text by file name. Each text holds :data:`~ne_dynamics.codegen.description.MARK`.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InputError
        When the folder is a file, holds files but no earlier export, or something else stands
        where a file would be written; when its parent is not there.
    OSError
        When it cannot be written; it names the folder.
    """
    with errors_named(folder):
        if folder.exists():
            earlier = _find_earlier_export(folder, files)
            with _staging(folder, files) as staging:
                _replace_files(folder, staging, files, earlier)
        else:
            if folder.is_symlink():
                raise InputError(f'{folder}: expected a folder, got a link to nothing')
            if not folder.parent.is_dir():
                raise InputError(
                    f'{folder}: expected a folder in one that exists, no such folder: '
                    f'{folder.parent}'
                )
            with _staging(folder.parent, files) as staging:
                os.rename(staging / _NEW, folder)
    return [folder / name for name in files]


_NEW, _OLD = 'new', 'old'


@contextlib.contextmanager
def _staging(parent: Path, files: Mapping[str, str]) -> Iterator[Path]:
    """Yield a temporary folder with all files in its folder 'new', and an empty folder 'old'."""
    try:
        staging = Path(tempfile.mkdtemp(prefix='.ne_dynamics.', dir=parent))
    except OSError as error:
        raise InputError(
            f'{parent}: expected a folder that can be written to, got: {error.strerror}'
        ) from error
    try:
        for name in (_NEW, _OLD):
            (staging / name).mkdir()
        for name, text in files.items():
            (staging / _NEW / name).write_text(text, encoding='ascii', newline='\n')
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _find_earlier_export(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the names of the files of an earlier export, or raise an error."""
    if not folder.is_dir():
        raise InputError(f'{folder}: expected a folder, got a file')
    names = sorted(entry.name for entry in folder.iterdir())
    earlier = [name for name in names if _is_ours(folder / name)]
    others = [name for name in names if name not in earlier]
    in_the_way = [name for name in others if name in files] if earlier else others
    if in_the_way:
        raise InputError(
            f'{folder}: expected an empty folder or an earlier export, but '
            f'{in_the_way[0]!r} is in the way'
        )
    return earlier


def _is_ours(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open(encoding='ascii', errors='replace') as file:
        return MARK in file.read(500)


def _replace_files(
    folder: Path, staging: Path, files: Mapping[str, str], earlier: list[str]
) -> None:
    """Put new files in the place of old ones; after an error the old ones are back."""
    removed, added = [], []
    try:
        for name in earlier:
            os.rename(folder / name, staging / _OLD / name)
            removed.append(name)
        for name in files:
            os.rename(staging / _NEW / name, folder / name)
            added.append(name)
    except BaseException:
        for name in added:
            os.unlink(folder / name)
        for name in removed:
            os.rename(staging / _OLD / name, folder / name)
        raise
