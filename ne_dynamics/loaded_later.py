"""Names that a package gives to others, each loaded when it is first asked for (PEP 562).

Who takes one name of a room does not wait for all of it, and `ne_dynamics.ros` can be imported
where there is no ROS: then `help` and the names that need it say what is missing. For type
checkers the package imports the names under ``TYPE_CHECKING``, and there is no ``__getattr__``: a
name that is misspelt is an error of theirs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def load_later(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : mapping of str to str
        From a module, by its name from the package on, e.g. 'guards.state_guard', to the names
        that it has, with spaces between them.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        # Threads that come by different rooms would wait for one another's modules.
        importlib.import_module(package.partition('.')[0])
        value = getattr(importlib.import_module(f'{package}.{homes[name]}'), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, list_names
