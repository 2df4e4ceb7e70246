"""What is built once for all processes of a test session."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path


def build_once(path: Path, build: Callable[[Path], object]) -> Path:
    """Return a file, or folder, that one process builds while the others wait for it.

    Parameters
    ----------
    path : Path
        Where it is to be.
    build : callable
        Makes it at the path that it is given; only what is whole comes to be at `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f'{path.name}.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = path.with_name(f'unfinished_{path.name}')
            build(unfinished)
            unfinished.rename(path)
    return path
