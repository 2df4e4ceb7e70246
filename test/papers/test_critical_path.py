"""The longest chain in an expression graph."""

from __future__ import annotations

from ne_dynamics.codegen.source import trace
from ne_dynamics.papers.counting.critical_path import find_critical_path


def test_the_critical_path_is_the_longest_chain():
    """Of sin(x) y + z and x y the first waits longest: a function, a product, a sum."""
    program = trace('f', (('x', 3),), (2,), lambda x: [x[0].sin() * x[1] + x[2], x[0] * x[1]])
    path = find_critical_path(program)
    assert (path.multiplications, path.additions, path.functions) == (1, 1, 1)
    assert path.steps == 3
