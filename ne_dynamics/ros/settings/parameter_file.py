"""What a ROS parameter file has for a node. No ROS.

A file whose keys name no node that there is does nothing, and nobody says so: the node is up with
its defaults. Here that is an error that names the keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from ne_dynamics.errors import ParameterError

PARAMETERS_KEY = 'ros__parameters'
_WILDCARDS = {'**': '(/[^/]+)*', '*': '/[^/]+'}


class _UntaggedLoader(yaml.SafeLoader):
    """Reads what has a tag that it does not know as what it is without, as ROS does.

    Launch writes the lists of a launch file as `!!python/tuple`. Nothing else is made of a tag.
    """


def _without_tag(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return node.value


_UntaggedLoader.add_multi_constructor('', _without_tag)


def full_name(node: str, namespace: str = '') -> str:
    """Return the name of a node with its namespace, as ROS has it."""
    return '/' + '/'.join(filter(None, (*namespace.split('/'), node)))


def nodes_in(content: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the nodes of a parameter file; each level above `ros__parameters` is part of a name.

    What is no mapping has no nodes. `above` are the parts of the name that stand above it.

    Yields
    ------
    tuple of str and object
        Name with namespace, in which `*` and `**` stand for any, and what is below
        `ros__parameters`: see :func:`flattened`.
    """
    for key, value in (content if isinstance(content, dict) else {}).items():
        if not isinstance(value, dict):
            continue
        names = (*above, *filter(None, str(key).split('/')))
        if PARAMETERS_KEY in value:
            yield '/' + '/'.join(names), value[PARAMETERS_KEY]
        else:
            yield from nodes_in(value, names)


def read_parameters(path: Path, node: str) -> dict[str, Any]:
    """Return the parameters of a node, by its name with namespace, in a file.

    Values are by name, with dots in the names.

    Raises
    ------
    ParameterError
        When there is no such file, it is no parameter file, or it has nothing for this node.
    """
    try:
        content = yaml.load(path.read_text(encoding='utf-8'), _UntaggedLoader)
    except OSError as error:
        raise ParameterError(f'{path}: expected a parameter file: {error.strerror}') from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        text = ' '.join(str(error).split())
        raise ParameterError(f'{path}: expected YAML: {text}') from None
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise ParameterError(
            f'{path}: expected the names of nodes at the top, got {content!r:.60}'
        )
    listed = dict(nodes_in(content))
    matching = [values for name, values in listed.items() if _pattern(name).fullmatch(node)]
    if not matching:
        names = ', '.join(listed) or f'no {PARAMETERS_KEY} at all'
        raise ParameterError(
            f'{path}: expected parameters of {node} or of /**, got {names}: nothing of it would '
            'count'
        )
    return {name: value for values in matching for name, value in flattened(values)}


def files_without_effect(arguments: Sequence[str], node: str) -> list[str]:
    """Return what is wrong with the parameter files of a command line, one text a file.

    `node` is the name with namespace; `--params-file` stands before the name of each file.
    """
    remarks = []
    for option, value in pairwise(arguments):
        if option != '--params-file':
            continue
        try:
            read_parameters(Path(value), node)
        except ParameterError as error:
            remarks.append(str(error))
    return remarks


def _pattern(name: str) -> re.Pattern[str]:
    parts = (_WILDCARDS.get(part, '/' + re.escape(part)) for part in name.split('/')[1:])
    return re.compile(''.join(parts))


def flattened(values: Any, prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Yield nested parameters with the dots in their names."""
    for key, value in (values if isinstance(values, dict) else {}).items():
        if isinstance(value, dict):
            yield from flattened(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value
