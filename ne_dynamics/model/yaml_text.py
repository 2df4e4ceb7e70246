"""Read YAML that may come from anyone: plain data only."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

from ne_dynamics.errors import ModelError


class UniqueKeys(yaml.constructor.SafeConstructor):
    """A loader that takes no key twice; stands before a loader of PyYAML."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that is given twice, of which YAML would keep the last."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise ModelError(f'expected a word as key, got {key!r}{_at(key_node)}')
            if key in seen:
                raise ModelError(f'the key {key!r} is given twice, again{_at(key_node)}')
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Loader(UniqueKeys, yaml.SafeLoader):
    """Plain data only: no tags of Python, no aliases, no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases, which can make a small file unfold into a large one."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise ModelError(f'aliases are not supported, got *{event.anchor}{_at(event)}')
        return super().compose_node(parent, index)


# What YAML 1.1 alone takes for a number: 010 is 8 there, 1:30 is 90, 1_000 is 1000. In later
# versions, and to most readers, it is not. It stays text, which no number may be.
_PLAIN_INT = re.compile(r'[-+]?(?:0|[1-9][0-9]*)')
_PLAIN_FLOAT = re.compile(
    r'[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)'
)


def _keep_plain(kind: str, pattern: re.Pattern[str]) -> None:
    standard = getattr(yaml.SafeLoader, f'construct_yaml_{kind}')

    def construct(loader: _Loader, node: Any) -> Any:
        text = loader.construct_scalar(node)
        return standard(loader, node) if pattern.fullmatch(text) else text

    _Loader.add_constructor(f'tag:yaml.org,2002:{kind}', construct)


_keep_plain('int', _PLAIN_INT)
_keep_plain('float', _PLAIN_FLOAT)


def _at(node: Any) -> str:
    return f' in line {node.start_mark.line + 1}'


def parse_yaml(data: bytes, source: str) -> Any:
    """Return what a YAML document says, as plain data.

    Parameters
    ----------
    data : bytes
    source : str
        Name of the file, for errors.

    Raises
    ------
    ModelError
        On malformed or deeply nested text, aliases, and keys that are given twice.
    """
    try:
        return yaml.load(data, Loader=_Loader)  # a SafeLoader
    except ModelError as error:
        raise ModelError(f'{source}: {error}') from error
    except RecursionError as error:
        raise ModelError(f'{source}: malformed YAML: nested too deeply') from error
    except (
        yaml.YAMLError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
    ) as error:
        raise ModelError(f'{source}: malformed YAML: {error}') from error
