"""How a compiled entry is called, and what it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ne_dynamics.codegen.program import Program

RESULT = 'out'
"""Name of the argument that takes the result, by name only."""


@dataclass(frozen=True)
class Signature:
    """How a program is called.

    Attributes
    ----------
    parameters : tuple of str
        The method's arguments, in order.
    taken : tuple of str
        Those that the program takes, in its order: the first of the parameters, or some.
    optional : tuple of str
        Those of the taken that may be None, for zeros.
    decisive : tuple of str
        Optional ones of which one must be there; else another program answers.
    by_name : tuple of str
        Last parameters, which are not given by place.
    takes_batches : bool
        Whether batches are answered, too; else they are handed on.
    """

    parameters: tuple[str, ...]
    taken: tuple[str, ...]
    optional: tuple[str, ...] = ()
    decisive: tuple[str, ...] = ()
    by_name: tuple[str, ...] = ()
    takes_batches: bool = True

    @classmethod
    def of(cls, program: Program) -> Signature:
        """Return the plain signature: the program's own inputs, all of them needed."""
        names = tuple(stem for stem, _ in program.own_inputs)
        return cls(names, names)


class Owner:
    """What an entry belongs to; the builtin's ``__self__``.

    Attributes
    ----------
    dynamics : object
        Pickled in place of the builtin, which then is looked up by name.
    following : callable
        Gets every call that the entry does not answer.
    keeps : tuple
        What the builtin points to without Python's knowledge: it lives as long as the owner.
    most_rows : array, shape (1,)
        Rows up to which a batch is answered on one core.
    parameters : array, shape (count,)
        What all samples share, where the equations have such inputs.
    """

    # In order of their places.
    __slots__ = ('dynamics', 'following', 'keeps', 'most_rows', 'parameters')

    def __init__(
        self,
        dynamics: Any,
        following: Callable[..., Any],
        most_rows: Any,
        parameters: Any = None,
    ) -> None:
        self.dynamics = dynamics
        self.following = following
        self.keeps: tuple[object, ...] = ()
        self.most_rows = most_rows
        self.parameters = parameters

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the dynamics, so that ``getattr`` of the result finds the method."""
        return _return_dynamics, (self.dynamics,)


def _return_dynamics(dynamics: Any) -> Any:
    return dynamics
