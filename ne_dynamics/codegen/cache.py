"""Object code kept between processes, in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

_MAGIC = b'ne_dynamics object 1\n'
_DIGEST = 32


def default_folder() -> Path | None:
    """Return the folder for object code: NE_DYNAMICS_CACHE, or under the user's cache folder."""
    chosen = os.environ.get('NE_DYNAMICS_CACHE')
    if chosen:
        return Path(chosen)
    base = os.environ.get('XDG_CACHE_HOME')
    try:
        return (Path(base) if base else Path.home() / '.cache') / 'ne_dynamics'
    except RuntimeError:  # a user without a home
        return None


class ObjectCache:
    """Files named by the hash of what they were compiled from.

    Writing is atomic (a temporary file, then a rename), so several processes may start at once;
    each file carries its own checksum, so a damaged one is recognised and replaced. The folder
    is private to the user; when it is not, or cannot be written, nothing is kept and everything
    still works.

    Parameters
    ----------
    folder : Path, optional
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder: Path | None = default_folder() if folder is None else folder

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
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        code = data[start:]
        if data[:start] != _MAGIC + hashlib.sha256(code).digest():
            return None
        return code

    def write(self, key: str, code: bytes) -> bool:
        """Keep the code; return whether that was possible."""
        if self.folder is None:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_private(self.folder):
                return False
            handle, name = tempfile.mkstemp(dir=self.folder, prefix='new-')
            try:
                with os.fdopen(handle, 'wb') as file:
                    file.write(_MAGIC + hashlib.sha256(code).digest() + code)
                os.replace(name, self.folder / key)
            except OSError:
                Path(name).unlink(missing_ok=True)
                return False
        except OSError:
            return False
        return True

    @staticmethod
    def _is_private(path: Path) -> bool:
        """Whether only this user can have written the file or folder."""
        if not hasattr(os, 'getuid'):
            return True
        status = path.lstat()
        writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return status.st_uid == os.getuid() and not writable and not stat.S_ISLNK(status.st_mode)
