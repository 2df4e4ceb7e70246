"""What a row of the table is traced by, loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Symbol
from ne_dynamics.model.robot import Link

Symbols = list[Symbol]
"""What a function is traced on: one symbol for each scalar of an argument."""

Body = Callable[..., object]
"""A function over generic scalars: a list of scalars each argument in, nested lists out."""


@dataclass(frozen=True)
class Trace:
    """What makes the function of one robot; its part is loaded when that is called.

    Attributes
    ----------
    part : str
        A module of :mod:`ne_dynamics.codegen.traces`.
    name : str
        Its function ``trace_<name>`` takes the subject, the link that is meant, and the words.
    words : tuple of str
        Names of loads, axes, or what else it takes.
    """

    part: str
    name: str
    words: tuple[str, ...] = ()

    def __call__(self, subject: Subject, link: Link | None) -> Body:
        """Return the function over scalars."""
        part: Any = importlib.import_module(f'ne_dynamics.codegen.traces.{self.part}')
        body: Body = getattr(part, f'trace_{self.name}')(subject, link, *self.words)
        return body


def direct(algorithm: str, *words: str) -> Trace:
    """Return what traces a function of :mod:`ne_dynamics.algorithms`, e.g. ``terms.mass_matrix``.

    It takes the mechanism, the row's arguments, and gravity if 'gravity' is among the words; with
    'plain' each link has its own inertia.
    """
    return Trace('trace', 'algorithm', (algorithm, *words))


def trace_algorithm(subject: Subject, link: Link | None, algorithm: str, *words: str) -> Body:
    """Trace what :func:`direct` names."""
    part, _, name = algorithm.partition('.')
    compute = getattr(importlib.import_module(f'ne_dynamics.algorithms.{part}'), name)
    mechanism = subject.plain_mechanism if 'plain' in words else subject.mechanism
    gravity = [subject.gravity] if 'gravity' in words else []
    return lambda *given: compute(mechanism, *given, *gravity)
