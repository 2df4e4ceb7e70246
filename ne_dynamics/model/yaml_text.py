"""Read YAML that may come from anyone: plain data only."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

from ne_dynamics.errors import ModelError


class _Loader(yaml.SafeLoader):
    """Plain data only: no tags of Python, no aliases, no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases, which can make a small file unfold into a large one."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise ModelError(f'aliases are not supported, got *{event.anchor}{_at(event)}')
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that is given twice, of which YAML would keep the last."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise ModelError(f'expected a word as key, got {key!r}{_at(key_node)}')
            if key in seen:
                raise ModelError(f'the key {key!r} is given twice{_at(key_node)}')
            seen.add(key)
        return super().construct_mapping(node, deep)


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
