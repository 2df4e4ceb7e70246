"""Differentiate an expression graph; the derivatives are nodes of the same graph.

Shared subexpressions stay shared, zeros and ones fold, and the derivative of a sign, that of a
rounding, and that of a magnitude at zero, is taken as zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ne_dynamics.algorithms.scalars.elementary import sign
from ne_dynamics.codegen.symbols import CLAMP, Graph, Symbol, Traced

_Vertex = int | str
"""A node of the graph, or the name of an output."""


def differentiate(outputs: Sequence[Traced], variables: Sequence[Traced]) -> list[list[Traced]]:
    """Return d outputs / d variables as symbols.

    The vertices of the computational graph are eliminated one by one (Griewank and Walther 2008,
    chapters 9 and 10): first all with one edge in or one edge out, which never makes the graph
    denser, then the rest in order (forward mode) or against it (reverse mode), whichever takes
    fewer operations.

    Parameters
    ----------
    outputs : sequence of Traced
        Must be smooth where they depend on the variables: a sign counts as constant.
    variables : sequence of Traced
        Inputs of the graph.

    Returns
    -------
    list of list, shape (len(outputs), len(variables))
    """
    symbols = [output for output in outputs if isinstance(output, Symbol)]
    if not symbols or not any(isinstance(variable, Symbol) for variable in variables):
        return [[0.0] * len(variables) for _ in outputs]
    graph = symbols[0].graph
    candidates = []
    for is_reverse in (False, True):
        rows = _Elimination(graph, outputs, variables).run(is_reverse)
        count = graph.count([entry for row in rows for entry in row])
        candidates.append((count.arithmetic, is_reverse, rows))
    return min(candidates, key=lambda candidate: candidate[:2])[2]


class _Elimination:
    """The computational graph between variables and outputs, with a derivative on each edge."""

    def __init__(
        self, graph: Graph, outputs: Sequence[Traced], variables: Sequence[Traced]
    ) -> None:
        self._variables = variables
        self._before: dict[_Vertex, dict[_Vertex, Traced]] = {}
        self._after: dict[_Vertex, dict[_Vertex, Traced]] = {}
        self._outputs = [f'output {place}' for place in range(len(outputs))]
        independent = {each.index for each in variables if isinstance(each, Symbol)}
        for index in sorted(independent):
            self._before[index], self._after[index] = {}, {}
        self._inner: list[_Vertex] = []
        for index in graph.live(outputs):
            if index in independent:
                continue
            edges: dict[_Vertex, Traced] = {
                argument: slope
                for argument, slope in find_slopes(graph, index).items()
                if argument in self._before
            }
            if edges:
                self._inner.append(index)
                self._add(index, edges)
        for name, output in zip(self._outputs, outputs, strict=True):
            edges = {}
            if isinstance(output, Symbol) and output.index in self._before:
                edges[output.index] = -1.0 if output.negative else 1.0
            self._add(name, edges)

    def _add(self, vertex: _Vertex, edges: dict[_Vertex, Traced]) -> None:
        self._before[vertex], self._after[vertex] = edges, {}
        for start, slope in edges.items():
            self._after[start][vertex] = slope

    def run(self, is_reverse: bool) -> list[list[Traced]]:
        """Eliminate all inner vertices; return the derivatives."""
        left = self._inner
        count = len(left) + 1
        while len(left) < count:
            count = len(left)
            rest = []
            for vertex in left:
                if len(self._before[vertex]) <= 1 or len(self._after[vertex]) <= 1:
                    self._eliminate(vertex)
                else:
                    rest.append(vertex)
            left = rest
        for vertex in reversed(left) if is_reverse else left:
            self._eliminate(vertex)
        rows: list[list[Traced]] = []
        for name in self._outputs:
            row: list[Traced] = []
            for variable in self._variables:
                slope: Traced = 0.0
                if isinstance(variable, Symbol):
                    slope = _signed(variable, self._before[name].get(variable.index, 0.0))
                row.append(slope)
            rows.append(row)
        return rows

    def _eliminate(self, vertex: _Vertex) -> None:
        """Take a vertex out: its derivatives go onto the edges that bypass it."""
        before, after = self._before.pop(vertex), self._after.pop(vertex)
        for start in before:
            del self._after[start][vertex]
        for end in after:
            del self._before[end][vertex]
        for start, first in before.items():
            for end, second in after.items():
                slope = second * first
                if start in self._before[end]:
                    slope = self._before[end][start] + slope
                if isinstance(slope, Symbol) or slope != 0.0:
                    self._before[end][start] = self._after[start][end] = slope
                else:
                    self._before[end].pop(start, None)
                    self._after[start].pop(end, None)


def _signed(symbol: Symbol, value: Traced) -> Traced:
    """Return a value of a symbol's node as one of the symbol, or back."""
    return -value if symbol.negative else value


def find_slopes(graph: Graph, index: int) -> Mapping[int, Traced]:
    """Return the derivative of a node with respect to each node that it reads."""
    key = graph.nodes[index]
    operation = key[0]
    if operation in ('input', 'const', 'sign', 'round'):
        return {}
    if operation == 'scale':
        return {key[2]: float(key[1])}
    argument = Symbol(graph, key[1], False)
    if operation == 'sin':
        return {key[1]: argument.cos()}
    if operation == 'cos':
        return {key[1]: -argument.sin()}
    result = Symbol(graph, index, False)
    if operation == 'tanh':
        return {key[1]: 1.0 - result * result}
    if operation == 'abs':
        return {key[1]: argument.sign()}
    if operation == 'exp':
        return {key[1]: -result if key[2] else result}
    if operation == 'sqrt':
        return {key[1]: (-0.5 if key[2] else 0.5) / result}
    other = Symbol(graph, key[2], False)
    if operation == CLAMP:
        # 1 inside, 0 beyond, and half of each where the two meet.
        inside = 0.5 + 0.5 * cast(Traced, sign(other - argument.absolute()))
        return {key[1]: inside, key[2]: (1.0 - inside) * argument.sign()}
    if operation == 'add':
        return {key[1]: 1.0, key[2]: 1.0}
    if operation == 'sub':
        return {key[1]: 1.0, key[2]: -1.0}
    if operation == 'mul':
        if key[1] == key[2]:
            return {key[1]: 2.0 * argument}
        return {key[1]: other, key[2]: argument}
    return {key[1]: 1.0 / other, key[2]: -(result / other)}


def push_forward(
    outputs: Sequence[Traced], variables: Sequence[Traced], directions: Sequence[Traced]
) -> list[Traced]:
    """Return ``d outputs / d variables @ directions``, in one pass over the graph.

    Variables are inputs of the graph, directions how fast each of them changes.
    """
    symbols = [output for output in outputs if isinstance(output, Symbol)]
    if not symbols:
        return [0.0] * len(outputs)
    graph = symbols[0].graph
    rates: dict[int, Traced] = {}
    for variable, direction in zip(variables, directions, strict=True):
        if isinstance(variable, Symbol):
            rates[variable.index] = _signed(variable, direction)
    for index in graph.live(outputs):
        if index in rates:
            continue
        rate: Traced = 0.0
        for argument, slope in find_slopes(graph, index).items():
            if argument in rates:
                rate = rate + slope * rates[argument]
        if isinstance(rate, Symbol) or rate != 0.0:
            rates[index] = rate
    return [
        _signed(each, rates.get(each.index, 0.0)) if isinstance(each, Symbol) else 0.0
        for each in outputs
    ]


def pull_back(
    outputs: Sequence[Traced], variables: Sequence[Traced], weights: Sequence[Traced]
) -> list[Traced]:
    """Return ``weights @ d outputs / d variables``, in one pass against the graph.

    Variables are inputs of the graph; the weights, one each output, count as constant.
    """
    symbols = [output for output in outputs if isinstance(output, Symbol)]
    if not symbols:
        return [0.0] * len(variables)
    wanted = {variable.index for variable in variables if isinstance(variable, Symbol)}
    slopes = _find_slopes_towards(wanted, outputs, symbols[0].graph)
    sums: dict[int, Traced] = {}
    for output, weight in zip(outputs, weights, strict=True):
        if isinstance(output, Symbol) and (output.index in wanted or output.index in slopes):
            sums[output.index] = sums.get(output.index, 0.0) + _signed(output, weight)
    # What a node reads was made before it: its index is lower.
    for index in sorted(slopes, reverse=True):
        weight = sums.pop(index, 0.0)
        if not isinstance(weight, Symbol) and weight == 0.0:
            continue
        for argument, slope in slopes[index].items():
            sums[argument] = sums.get(argument, 0.0) + weight * slope
    return [
        _signed(each, sums.get(each.index, 0.0)) if isinstance(each, Symbol) else 0.0
        for each in variables
    ]


def _find_slopes_towards(
    wanted: set[int], outputs: Sequence[Traced], graph: Graph
) -> dict[int, Mapping[int, Traced]]:
    """Return the slopes of all nodes on the way from `outputs` to the wanted ones, by node."""
    slopes: dict[int, Mapping[int, Traced]] = {}
    for index in graph.live(outputs):
        if index in wanted:
            continue
        found = {
            argument: slope
            for argument, slope in find_slopes(graph, index).items()
            if argument in wanted or argument in slopes
        }
        if found:
            slopes[index] = found
    return slopes


def substitute(
    outputs: Sequence[Traced], variables: Sequence[Traced], values: Sequence[Traced]
) -> list[Traced]:
    """Return outputs with values in place of variables, which are inputs of the graph."""
    symbols = [output for output in outputs if isinstance(output, Symbol)]
    if not symbols:
        return list(outputs)
    graph = symbols[0].graph
    made: dict[int, Traced] = {}
    for variable, value in zip(variables, values, strict=True):
        if isinstance(variable, Symbol):
            made[variable.index] = _signed(variable, value)
    for index in graph.live(outputs):
        if index not in made:
            made[index] = graph.rebuild(index, [made[each] for each in graph.arguments(index)])
    return [
        _signed(each, made[each.index]) if isinstance(each, Symbol) else each for each in outputs
    ]
