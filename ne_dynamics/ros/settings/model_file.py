"""Load the files that the parameters name, and tell nobody what is in a file that is no robot.

Whoever sets parameters may name any file that the node can read, and the node's log is a topic:
what a robot description has wrong is said with the words of the file, what another file has is
not.
"""

from __future__ import annotations

from collections.abc import Mapping

from ne_dynamics.errors import ModelError
from ne_dynamics.model.description_file import first_element, looks_like_xml, read_file
from ne_dynamics.model.dh import LARGEST_DH_FILE
from ne_dynamics.model.extras import LARGEST_EXTRAS_FILE, Extras, find_extras
from ne_dynamics.model.files import load_model
from ne_dynamics.model.robot import Robot

DH_KEYS = ('convention', 'joints')
"""Every DH file has these."""

EXTRAS_KEYS = ('joints',)
"""Every file of extras has these."""


def load_model_file(
    path: str,
    base_link: str | None = None,
    tip_link: str | None = None,
    locked_joints: Mapping[str, float] | None = None,
    extras: Extras = None,
) -> Robot:
    """Load a robot as :func:`~ne_dynamics.model.files.load_model` does.

    Raises
    ------
    ModelError
        As there; where a file is neither a URDF, nor a DH file, nor one of extras, without a
        word of what is in it.
    """
    try:
        return load_model(path, base_link, tip_link, locked_joints, extras)
    except ModelError:
        if '\n' not in path and not looks_like_xml(path):
            data = read_file(path)
            if looks_like_xml(data):
                if first_element(data) != 'robot':
                    raise ModelError(
                        f'{path}: expected a URDF, got XML whose first element is not <robot>'
                    ) from None
            else:
                _require_yaml(path, data, LARGEST_DH_FILE, 'a URDF or a DH file', DH_KEYS)
            beside = find_extras(path) if extras is None else extras
            if beside is not None and not isinstance(beside, Mapping):
                data = read_file(beside, 'the extras of a model')
                what = 'extras of a model'
                _require_yaml(str(beside), data, LARGEST_EXTRAS_FILE, what, EXTRAS_KEYS)
        raise


def _require_yaml(path: str, data: bytes, largest: int, what: str, keys: tuple[str, ...]) -> None:
    """Raise, without a word of it, when a file is no YAML with these keys."""
    if len(data) > largest:
        return  # It has not been read.
    import yaml

    from ne_dynamics.model.yaml_text import parse_yaml

    got = f'YAML without {" and ".join(keys)}'
    try:
        document = parse_yaml(data, path)
        if isinstance(document, Mapping) and all(key in document for key in keys):
            return
    except ModelError as error:
        got = 'malformed YAML'
        mark = getattr(error.__cause__, 'problem_mark', None)
        if isinstance(mark, yaml.Mark):
            got += f' in line {mark.line + 1}'
    raise ModelError(f'{path}: expected {what}, got {got}') from None
