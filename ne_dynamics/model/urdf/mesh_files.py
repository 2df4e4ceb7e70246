"""Where the meshes are that a URDF names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from ne_dynamics.errors import ModelError

_SCHEMES = ('package://', 'model://')


def find_mesh(
    name: str, description: str | os.PathLike[str] | None, folders: Sequence[str] = ()
) -> Path:
    """Return the file that a mesh's name in a URDF stands for.

    ``package://NAME/REST`` is looked for in the given folders, in those that hold the URDF, in
    ``ROS_PACKAGE_PATH`` and in ``share`` of ``AMENT_PREFIX_PATH``: REST in a folder called NAME.
    ``file://`` is an absolute name; any other is relative to the URDF.

    Parameters
    ----------
    name : str
    description : str or path, optional
        File of the URDF.
    folders : sequence of str
        That hold packages, or are one.

    Raises
    ------
    ModelError
        When there is no such file; the message says where it was looked for.
    """
    scheme = next((each for each in _SCHEMES if name.startswith(each)), None)
    if scheme is None:
        plain = unquote(name.removeprefix('file://')) if name.startswith('file://') else name
        if '://' in plain:
            raise ModelError(
                f'mesh {name!r}: expected a file, package:// or file://, got another scheme'
            )
        base = Path() if description is None else Path(description).resolve().parent
        candidates = [base / plain]
    else:
        package, _, rest = name.removeprefix(scheme).partition('/')
        places = list(_list_places(description, folders))
        candidates = [place / package / rest for place in places]
        candidates += [place / rest for place in places if place.name == package]
    for candidate in candidates:
        try:
            if candidate.is_file():
                return candidate
        except (OSError, ValueError):  # a name that no file can have
            break
    where = '; '.join(dict.fromkeys(str(each.parent) for each in candidates[:6]))
    raise ModelError(f'mesh {name!r}: expected a file, found none in {where or "any folder"}')


def _list_places(
    description: str | os.PathLike[str] | None, folders: Sequence[str]
) -> Iterable[Path]:
    yield from (Path(folder) for folder in folders)
    if description is not None:
        yield from Path(description).resolve().parents
    for folder in os.environ.get('ROS_PACKAGE_PATH', '').split(os.pathsep):
        if folder:
            yield Path(folder)
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if prefix:
            yield Path(prefix) / 'share'
