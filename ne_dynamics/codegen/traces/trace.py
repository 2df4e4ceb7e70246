"""What a tracer is, and how a row of the table names one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Symbol
from ne_dynamics.model.robot import Link

Symbols = list[Symbol]
"""What a function is traced on: one symbol for each scalar of an argument."""

Body = Callable[..., object]
"""A function over generic scalars: a list of scalars each argument in, nested lists out."""

Trace = Callable[[Subject, Link | None], Body]
"""What makes the function of one robot."""


def load_trace(part: str, name: str) -> Trace:
    """Return a tracer that loads its part, and the recursions of that, when it is called.

    Parameters
    ----------
    part : str
        A module of :mod:`ne_dynamics.codegen.traces`.
    name : str
        A function of it, which is a tracer.
    """
    return lambda subject, link: _find(part, name)(subject, link)


def load_maker(part: str, name: str) -> Callable[..., Trace]:
    """Return a maker of tracers that loads its part when such a tracer is called.

    Parameters
    ----------
    part : str
        A module of :mod:`ne_dynamics.codegen.traces`.
    name : str
        A function of it, which takes words (names of loads, or axes) and returns a tracer.
    """
    return lambda *words: lambda subject, link: _find(part, name)(*words)(subject, link)


def _find(part: str, name: str) -> Any:
    return getattr(importlib.import_module(f'ne_dynamics.codegen.traces.{part}'), name)
