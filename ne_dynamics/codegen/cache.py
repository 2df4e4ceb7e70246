"""Object code kept between processes, in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from pathlib import Path

from ne_dynamics.codegen.thresholds import CODEGEN

_MAGIC = b'ne_dynamics object 3\n'
_DIGEST = 32


_OWN_FILE = re.compile('[0-9a-f]{64}|new-.*')
"""Names of files that may go; a folder that the user chose may hold others."""


def read_largest_size() -> int:
    """Return how much the folder may hold [bytes]: NE_DYNAMICS_CACHE_SIZE in MB.

    A text that is no number counts as not given; 0 or less keeps nothing.
    """
    try:
        megabytes = float(os.environ.get('NE_DYNAMICS_CACHE_SIZE', ''))
    except ValueError:
        megabytes = float(CODEGEN.largest_cache)
    return int(1e6 * min(max(megabytes, 0.0), 1e9)) if megabytes == megabytes else 0


def default_folder() -> Path | None:
    """Return the folder for object code: NE_DYNAMICS_CACHE, or under the user's cache folder."""
    chosen = os.environ.get('NE_DYNAMICS_CACHE')
    if chosen:
        return _expand_home(chosen)
    base = os.environ.get('XDG_CACHE_HOME')
    try:
        return (Path(base) if base else Path.home() / '.cache') / 'ne_dynamics'
    except RuntimeError:  # a user without a home
        return None


def _expand_home(path: str) -> Path | None:
    """Return a folder whose leading ``~`` stands for a home; None when there is no such home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return None


def _digest(key: str, code: bytes) -> bytes:
    """Return the checksum of what a file says: which equations, and their code."""
    return hashlib.sha256(key.encode() + b'\n' + code).digest()


class ObjectCache:
    """Files named by the hash of what they were compiled from.

    Writing is atomic (a temporary file, then a rename), so several processes may start at once;
    each file carries a checksum of its name and content, so a damaged or misplaced one is
    recognised and replaced. The folder is private to the user; when it is not, or cannot be
    written, nothing is kept and everything still works. When it grows beyond its largest size,
    the files that were not used for the longest time go.

    Parameters
    ----------
    folder : Path, optional
    largest : int, optional
        Largest size of all files [bytes].
    """

    def __init__(self, folder: Path | None = None, largest: int | None = None) -> None:
        self.folder: Path | None = default_folder() if folder is None else folder
        self.largest = read_largest_size() if largest is None else largest

    @staticmethod
    def key(*parts: str) -> str:
        """Return the name under which code compiled from these texts is kept."""
        digest = hashlib.sha256()
        for part in parts:
            digest.update(str(len(part)).encode() + b':' + part.encode())
        return digest.hexdigest()

    def read(self, key: str) -> bytes | None:
        """Return the code, or None when there is none that can be trusted."""
        if self.folder is None:
            return None
        path = self.folder / key
        try:
            if not self._is_private(self.folder) or not self._is_private(path):
                return None
            if not stat.S_ISREG(path.lstat().st_mode):
                return None  # a pipe would be waited for
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        code = data[start:]
        if data[:start] != _MAGIC + _digest(key, code):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used now: what was not for the longest time goes first
        return code

    def write(self, key: str, code: bytes) -> bool:
        """Keep the code; return whether that was possible."""
        if self.folder is None or len(code) + len(_MAGIC) + _DIGEST > self.largest:
            return False
        import tempfile  # who finds all code needs none of what it brings

        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_private(self.folder):
                return False
            handle, name = tempfile.mkstemp(dir=self.folder, prefix='new-')
            try:
                with os.fdopen(handle, 'wb') as file:
                    file.write(_MAGIC + _digest(key, code) + code)
                os.replace(name, self.folder / key)
            except OSError:
                Path(name).unlink(missing_ok=True)
                return False
        except OSError:
            return False
        self._drop_oldest(self.folder)
        return True

    def _drop_oldest(self, folder: Path) -> None:
        """Remove the files that were not used for the longest time, if all are too large."""
        files = []
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if _OWN_FILE.fullmatch(entry.name) and stat.S_ISREG(status.st_mode):
                        files.append((status.st_mtime_ns, status.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        if total <= self.largest:
            return
        for _, size, path in sorted(files):
            if total <= CODEGEN.kept_share * self.largest:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
                total -= size

    @staticmethod
    def _is_private(path: Path) -> bool:
        """Whether only this user can have written the file or folder."""
        if not hasattr(os, 'getuid'):
            return True
        status = path.lstat()
        writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return status.st_uid == os.getuid() and not writable and not stat.S_ISLNK(status.st_mode)
