"""A traced function: its graph, its groups of inputs, its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ne_dynamics.codegen.symbols import Graph, OperationCount, Symbol, Traced


@dataclass(frozen=True)
class Program:
    """A traced function.

    Attributes
    ----------
    name : str
        Name of the function in the text.
    graph : Graph
    inputs : tuple of (str, int)
        Group name and number of scalars of each argument, in order.
    outputs : tuple of Traced
        Flat, row-major.
    shape : tuple of int
        Shape of one sample's result.
    is_shared : bool
        Whether all samples of a batch share the last group of inputs.
    is_scalar : bool
        Whether machine code computes one sample at a time, in batches too.
    nonnegative : tuple of str
        Groups of inputs of which machine code takes no number below zero.
    """

    name: str
    graph: Graph
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[Traced, ...]
    shape: tuple[int, ...]
    is_shared: bool = False
    is_scalar: bool = False
    nonnegative: tuple[str, ...] = ()
    _later: dict[str, Any] = field(init=False, compare=False, repr=False, default_factory=dict)

    # No cached_property, as in Subject.

    @property
    def own_inputs(self) -> tuple[tuple[str, int], ...]:
        """The groups of inputs of which each sample has its own."""
        return self.inputs[:-1] if self.is_shared else self.inputs

    @property
    def live(self) -> tuple[int, ...]:
        """The nodes that the outputs need, arguments first."""
        if 'live' not in self._later:
            self._later['live'] = tuple(self.graph.live(self.outputs))
        found: tuple[int, ...] = self._later['live']
        return found

    @property
    def most_waiting(self) -> int:
        """The largest number of values that are computed and not used for the last time."""
        if 'most_waiting' not in self._later:
            self._later['most_waiting'] = self._count_waiting()
        found: int = self._later['most_waiting']
        return found

    def _count_waiting(self) -> int:
        last_use: dict[int, int] = {}
        for index in self.live:
            for argument in self.graph.arguments(index):
                last_use[argument] = index
        for output in self.outputs:
            if isinstance(output, Symbol):
                last_use.setdefault(output.index, output.index)  # stored at once
        ending: dict[int, int] = {}
        for index in last_use.values():
            ending[index] = ending.get(index, 0) + 1
        waiting = most = 0
        for index in self.live:
            waiting += 1
            most = max(most, waiting)
            waiting -= ending.get(index, 0)
        return most

    def count(self) -> OperationCount:
        """Count the operations of the program."""
        return self.graph.count_nodes(self.live)


def trace(
    name: str,
    inputs: Sequence[tuple[str, int]],
    shape: tuple[int, ...],
    function: Callable[..., object],
    **flags: Any,
) -> Program:
    """Run a function over generic scalars on symbols.

    Parameters
    ----------
    name : str
    inputs : sequence of (str, int)
        Groups of arguments; the function gets one list of symbols for each.
    shape : tuple of int
        Shape of the result.
    function : callable
        Returns (nested) lists of scalars.
    **flags
        `is_shared`, `is_scalar` and `nonnegative` of :class:`Program`.
    """
    graph = Graph()
    arguments = [graph.inputs(stem, count) for stem, count in inputs]
    outputs = tuple(_flat(function(*arguments)))
    return Program(name, graph, tuple(inputs), outputs, shape, **flags)


def _flat(value: object) -> list[Traced]:
    if isinstance(value, (list, tuple)):
        return [scalar for item in value for scalar in _flat(item)]
    assert isinstance(value, (Symbol, float, int))
    return [value]
