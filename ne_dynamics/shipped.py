"""Where the robots and parameter files of the package are, however it was installed."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from ne_dynamics.errors import InputError

PACKAGE = 'ne_dynamics'


def shipped_file(name: str) -> Path:
    """Return the path of a file of the ``config`` folder, e.g. ``'six_axis_arm.urdf'``.

    Parameters
    ----------
    name : str
        File name, without a folder.

    Returns
    -------
    pathlib.Path
        An existing file: of the source checkout when the package runs from one, otherwise of
        ``share/ne_dynamics/config`` in the installation (pip or colcon) the package was imported
        from, in a prefix of ``AMENT_PREFIX_PATH``, or in Python's own prefix.

    Raises
    ------
    InputError
        When no such file was installed; the message lists the folders and what they hold.
    """
    folders = list(dict.fromkeys(_config_folders()))
    for folder in folders:
        if name == Path(name).name and (folder / name).is_file():
            return folder / name
    found = sorted({path.name for folder in folders for path in folder.iterdir()})
    raise InputError(
        f'shipped file: expected one of {", ".join(found) or "(none installed)"}, got {name!r}; '
        f'looked in {", ".join(map(str, folders)) or "no folder"}'
    )


def _config_folders() -> Iterator[Path]:
    """Yield the existing folders that may hold shipped files, the most specific first."""
    package = Path(__file__).resolve().parent
    if (package.parent / 'package.xml').is_file():
        yield package.parent / 'config'
    prefixes = [
        *package.parents,
        *map(Path, filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))),
        Path(sysconfig.get_path('data')),
    ]
    for prefix in prefixes:
        folder = prefix / 'share' / PACKAGE / 'config'
        if folder.is_dir():
            yield folder
