"""The longest chain of operations in traced equations."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.codegen.source import Program
from ne_dynamics.codegen.symbols import FUNCTION_NAMES, Symbol


@dataclass(frozen=True)
class CriticalPath:
    """The longest chain of operations each of which waits for the one before.

    Attributes
    ----------
    multiplications, additions, functions : int
        On the longest chain, when every operation takes one step.
    """

    multiplications: int
    additions: int
    functions: int

    @property
    def steps(self) -> int:
        """Length of the chain."""
        return self.multiplications + self.additions + self.functions


def find_critical_path(traced: Program) -> CriticalPath:
    """Return the critical path of a traced function: its time on any number of processors."""
    graph = traced.graph
    kinds = {'mul': 0, 'scale': 0, 'div': 0, 'add': 1, 'sub': 1}
    kinds |= dict.fromkeys(FUNCTION_NAMES, 2)
    longest: dict[int, tuple[int, int, int]] = {}
    for index in graph.live(traced.outputs):
        before = max((longest[i] for i in graph.arguments(index)), key=sum, default=(0, 0, 0))
        kind = kinds.get(graph.nodes[index][0])
        longest[index] = (
            before
            if kind is None
            else (before[0] + (kind == 0), before[1] + (kind == 1), before[2] + (kind == 2))
        )
    ends = [longest[out.index] for out in traced.outputs if isinstance(out, Symbol)]
    return CriticalPath(*max(ends, key=sum, default=(0, 0, 0)))
