"""Load a robot from a file of either format, told apart by its content."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import looks_like_xml, read_file
from ne_dynamics.model.dh import load_dh
from ne_dynamics.model.extras import Extras, read_extras, with_extras
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf


def load_model(
    path_or_xml: str | os.PathLike[str] | bytes,
    base_link: str | None = None,
    tip_link: str | None = None,
    locked_joints: Mapping[str, float] | None = None,
    extras: Extras = None,
) -> Robot:
    """Load a URDF or a DH file; the content decides which.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        File name of a URDF or of a DH file, or the XML of a URDF. Content that starts with ``<``
        is XML; any other is a DH file, whatever the suffix of its name.
    base_link, tip_link : str, optional
        First and last link of the chain; URDF only, see
        :func:`~ne_dynamics.model.urdf.tree.load_urdf`.
    locked_joints : mapping of str to float, optional
        Joints to lock, by name, with their positions [rad or m]; URDF only.
    extras : str, path or mapping, optional
        Friction and drives of joints, as in :func:`~ne_dynamics.model.urdf.tree.load_urdf`. For a
        DH file they replace those in the file, and by default no file beside it is read.

    Returns
    -------
    Robot

    Raises
    ------
    ModelError
        When the model cannot be read or is wrong, or `base_link`, `tip_link` or `locked_joints`
        is given for a DH file.
    """
    if _is_urdf(path_or_xml):
        return load_urdf(path_or_xml, base_link, tip_link, locked_joints, extras)
    file = os.fsdecode(path_or_xml)
    given = {'base_link': base_link, 'tip_link': tip_link, 'locked_joints': locked_joints}
    for key, value in given.items():
        if value:
            raise ModelError(
                f'{file}: {key}: expected none with a DH file, which is a '
                f'chain from its base to its tip, got {value!r}'
            )
    return with_extras(load_dh(file), read_extras(extras))


def _is_urdf(path_or_xml: object) -> bool:
    """Return whether a model is the text of a URDF, or the name of a file that holds one."""
    if isinstance(path_or_xml, bytes) or (
        isinstance(path_or_xml, str) and ('\n' in path_or_xml or looks_like_xml(path_or_xml))
    ):
        return True
    if not isinstance(path_or_xml, (str, os.PathLike)) or not os.fspath(path_or_xml):
        raise ModelError(
            f'expected the path of a URDF or DH file, or the XML of a URDF, got {path_or_xml!r}'
        )
    return looks_like_xml(read_file(path_or_xml))
