"""Names that a package gives to others, each loaded when it is first asked for (PEP 562).

Who takes one name of a room does not wait for all of it, and `ne_dynamics.ros` can be imported
where there is no ROS: then `help` and the names that need it say what is missing. A package
imports the names under ``TYPE_CHECKING``, for type checkers and for what is here: they stand once.
For type checkers there is no ``__getattr__``: a name that is misspelt is an error of theirs.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

IMPORT = re.compile(r'^    from ([\w.]+) import (?:\(([\w,\s]+)\)|([\w, ]+))$', re.MULTILINE)
"""A statement inside of a block."""


def load_later(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``; the names are those that it imports under ``TYPE_CHECKING``.
    """
    spec = sys.modules[package].__spec__
    text = spec.loader.get_source(package)  # type: ignore[union-attr]
    homes = {
        name: module
        for module, block, line in IMPORT.findall(text or '')
        for name in re.findall(r'\w+', block or line)
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        # Threads that come by different rooms would wait for one another's modules.
        importlib.import_module(package.partition('.')[0])
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, list_names
