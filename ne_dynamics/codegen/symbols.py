"""Scalars that remember how they were computed.

Run any function written over generic scalars on :class:`Symbol` objects and the
:class:`Graph` behind them holds its straight-line form: constants folded, zeros and ones gone,
equal subexpressions shared (hash-consing), signs pulled out of products so that ``-a*b`` and
``a*-b`` are one node. Only what the outputs need is ever emitted or counted.

A number that becomes constant is a plain ``float`` again, so zeros fold away in the tracing
function's own arithmetic too. No value is changed by folding except by the rounding of the
constants' own arithmetic: nothing is snapped here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union, cast

from ne_dynamics.algorithms.scalars.elementary import (
    absolute,
    clamp,
    cos,
    exp,
    nearest,
    sign,
    sin,
    sqrt,
    tanh,
)

Traced = Union['Symbol', float]
"""What a traced function computes with: a node of the graph, or a number that is known."""

Node = tuple[Any, ...]
"""An operation and what it reads; see :class:`Graph`."""

_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    'sin': sin,
    'cos': cos,
    'sign': sign,
    'exp': exp,
    'tanh': tanh,
    'sqrt': sqrt,
    'abs': absolute,
    'round': nearest,
}

FUNCTION_NAMES = tuple(_FUNCTIONS)
"""Operations of one argument."""

CLAMP = 'clamp'
"""The function of two arguments: a number, and the magnitude within which it is held."""

SIGNED_FUNCTIONS = ('exp', 'sqrt')
"""Functions neither odd nor even: their nodes hold the sign of the argument."""


@dataclass(frozen=True)
class OperationCount:
    """How many operations straight-line code takes.

    Attributes
    ----------
    multiplications, additions : int
        Products (divisions included) and sums or differences. Changes of sign are not counted.
    functions : int
        Sines, cosines, signs, exponentials, hyperbolic tangents, square roots, magnitudes,
        roundings and limits.
    """

    multiplications: int = 0
    additions: int = 0
    functions: int = 0

    @property
    def arithmetic(self) -> int:
        """Multiplications and additions together."""
        return self.multiplications + self.additions

    @property
    def total(self) -> int:
        """All operations."""
        return self.arithmetic + self.functions

    def __add__(self, other: OperationCount) -> OperationCount:
        """Return the sum of two counts."""
        return OperationCount(
            self.multiplications + other.multiplications,
            self.additions + other.additions,
            self.functions + other.functions,
        )

    def __sub__(self, other: OperationCount) -> OperationCount:
        """Return the difference of two counts."""
        return self + OperationCount(-other.multiplications, -other.additions, -other.functions)

    def __str__(self) -> str:
        """Return multiplications and additions."""
        return f'{self.multiplications}; {self.additions}'


class Graph:
    """Expression graph with shared nodes, in an order in which arguments come first.

    A node is a tuple: ``('input', name)``, ``('const', value)``, ``('add', a, b)``,
    ``('sub', a, b)``, ``('mul', a, b)``, ``('scale', value, a)`` (a positive constant times a
    node), ``('div', a, b)``, ``('sin', a)``, ``('cos', a)``, ``('sign', a)``, ``('tanh', a)``,
    ``('abs', a)``, ``('round', a)``, ``('exp', a, negative)``, ``('sqrt', a, negative)`` (of -a
    when negative), ``('clamp', a, b)`` (a within -b and b, which is not negative by its form),
    where a and b are indices of earlier nodes.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.labels: dict[int, str] = {}
        self._index: dict[Node, int] = {}

    def node(self, *key: object) -> int:
        """Return the index of a node, making it when it is new."""
        index = self._index.get(key)
        if index is None:
            index = len(self.nodes)
            self.nodes.append(key)
            self._index[key] = index
        return index

    def find(self, *key: object) -> int | None:
        """Return the index of a node, or None when there is no such node."""
        return self._index.get(key)

    def input(self, name: str) -> Symbol:
        """Return the symbol of an input."""
        return Symbol(self, self.node('input', name), False)

    def inputs(self, stem: str, count: int) -> list[Symbol]:
        """Return symbols ``stem1 .. stem<count>``."""
        return [self.input(f'{stem}{index + 1}') for index in range(count)]

    def arguments(self, index: int) -> tuple[int, ...]:
        """Return the indices of the nodes that a node reads."""
        key = self.nodes[index]
        operation = key[0]
        if operation in ('add', 'sub', 'mul', 'div', CLAMP):
            return key[1:]
        if operation == 'scale':
            return (key[2],)
        if operation in _FUNCTIONS:
            return (key[1],)
        return ()

    def rebuild(self, index: int, arguments: Sequence[Traced]) -> Traced:
        """Return the operation of a node on other arguments; a leaf itself."""
        key = self.nodes[index]
        operation = key[0]
        if operation in ('input', 'const'):
            return Symbol(self, index, False)
        first = arguments[0]
        if operation == 'scale':
            return float(key[1]) * first
        if operation in _FUNCTIONS:
            is_negative = operation in SIGNED_FUNCTIONS and key[2]
            return cast(Traced, _FUNCTIONS[operation](-first if is_negative else first))
        second = arguments[1]
        if operation == 'add':
            return first + second
        if operation == 'sub':
            return first - second
        if operation == CLAMP:
            return cast(Traced, clamp(first, second))
        return first * second if operation == 'mul' else first / second

    def is_nonnegative(self, index: int) -> bool:
        """Return whether a node is at least zero by its form, whatever the inputs."""
        key = self.nodes[index]
        if key[0] == 'scale':
            key = self.nodes[key[2]]
        return key[0] in ('const', 'exp', 'sqrt', 'abs') or (
            key[0] == 'mul' and bool(key[1] == key[2])
        )

    def live(self, outputs: Iterable[Traced]) -> list[int]:
        """Return the nodes that the outputs need, arguments first."""
        wanted: set[int] = set()
        stack = [output.index for output in outputs if isinstance(output, Symbol)]
        while stack:
            index = stack.pop()
            if index not in wanted:
                wanted.add(index)
                stack.extend(self.arguments(index))
        return sorted(wanted)

    def count(self, outputs: Sequence[Traced]) -> OperationCount:
        """Count the operations that the outputs need."""
        return self.count_nodes(self.live(outputs))

    def count_nodes(self, indices: Iterable[int]) -> OperationCount:
        """Count the operations of some nodes."""
        multiplications = additions = functions = 0
        for index in indices:
            operation = self.nodes[index][0]
            if operation in ('mul', 'scale', 'div'):
                multiplications += 1
            elif operation in ('add', 'sub'):
                additions += 1
            elif operation in _FUNCTIONS or operation == CLAMP:
                functions += 1
        return OperationCount(multiplications, additions, functions)

    def constant(self, value: float) -> Symbol:
        """Return the symbol of a constant (its sign is kept outside the node)."""
        return Symbol(self, self.node('const', abs(value)), math.copysign(1.0, value) < 0.0)

    def scaled(self, value: float, index: int, negative: bool) -> Traced:
        """Return value * node, folded."""
        if value == 0.0:
            return 0.0
        if value < 0.0:
            value, negative = -value, not negative
        key = self.nodes[index]
        if key[0] == 'scale':
            value, index = value * float(key[1]), key[2]
        elif key[0] == 'const':
            number = value * float(key[1])
            return -number if negative else number
        if value == 1.0:
            return Symbol(self, index, negative)
        return Symbol(self, self.node('scale', value, index), negative)

    def _split(self, index: int) -> tuple[float, int]:
        key = self.nodes[index]
        return (key[1], key[2]) if key[0] == 'scale' else (1.0, index)

    def add(self, a: int, a_negative: bool, b: int, b_negative: bool) -> Traced:
        """Return the sum of two signed nodes, folded."""
        a_factor, a_base = self._split(a)
        b_factor, b_base = self._split(b)
        if a_base == b_base:
            factor = (-a_factor if a_negative else a_factor) + (
                -b_factor if b_negative else b_factor
            )
            return self.scaled(factor, a_base, False)
        if a > b:
            a, a_negative, b, b_negative = b, b_negative, a, a_negative
        if a_negative == b_negative:
            return Symbol(self, self.node('add', a, b), a_negative)
        return Symbol(self, self.node('sub', a, b), a_negative)

    def multiply(self, a: int, b: int, negative: bool) -> Traced:
        """Return the product of two nodes, folded; constants are kept outside."""
        a_factor, a_base = self._split(a)
        b_factor, b_base = self._split(b)
        if a_factor != 1.0 and b_factor != 1.0:
            inner = self.multiply(a_base, b_base, negative)
            assert isinstance(inner, Symbol)
            return self.scaled(a_factor * b_factor, inner.index, inner.negative)
        if a > b:
            a, b = b, a
        return Symbol(self, self.node('mul', a, b), negative)


class Symbol:
    """A signed node of a graph; behaves like a float in arithmetic."""

    __slots__ = ('graph', 'index', 'negative')

    def __init__(self, graph: Graph, index: int, negative: bool) -> None:
        self.graph = graph
        self.index = index
        self.negative = negative

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.index, not self.negative)

    def __pos__(self) -> Symbol:
        return self

    def __add__(self, other: Traced) -> Traced:
        graph = self.graph
        if not isinstance(other, Symbol):
            number = float(other)
            if number == 0.0:
                return self
            other = graph.constant(number)
        return graph.add(self.index, self.negative, other.index, other.negative)

    __radd__ = __add__

    def __sub__(self, other: Traced) -> Traced:
        return self + (-other)

    def __rsub__(self, other: Traced) -> Traced:
        return (-self) + other

    def __mul__(self, other: Traced) -> Traced:
        if not isinstance(other, Symbol):
            return self.graph.scaled(float(other), self.index, self.negative)
        return self.graph.multiply(self.index, other.index, self.negative != other.negative)

    __rmul__ = __mul__

    def __truediv__(self, other: Traced) -> Traced:
        graph = self.graph
        if not isinstance(other, Symbol):
            return graph.scaled(1.0 / float(other), self.index, self.negative)
        if other.index == self.index:
            return -1.0 if self.negative != other.negative else 1.0
        return Symbol(
            graph, graph.node('div', self.index, other.index), self.negative != other.negative
        )

    def __rtruediv__(self, other: Traced) -> Traced:
        number = float(other)  # type: ignore[arg-type]
        return 0.0 if number == 0.0 else self.graph.constant(number) / self

    def __repr__(self) -> str:
        return f'{"-" if self.negative else ""}n{self.index}'

    def sin(self) -> Symbol:
        """Return the sine (odd: the sign stays outside)."""
        return Symbol(self.graph, self.graph.node('sin', self.index), self.negative)

    def cos(self) -> Symbol:
        """Return the cosine (even)."""
        return Symbol(self.graph, self.graph.node('cos', self.index), False)

    def sign(self) -> Symbol:
        """Return -1, 0 or 1 (odd)."""
        return Symbol(self.graph, self.graph.node('sign', self.index), self.negative)

    def _value(self) -> float | None:
        """Return the number of a constant; None for any other node."""
        key = self.graph.nodes[self.index]
        if key[0] != 'const':
            return None
        return -float(key[1]) if self.negative else float(key[1])

    def _function(self, name: str) -> Traced:
        """Return a function that is odd, or whose node holds the sign; of a constant a number."""
        value = self._value()
        if value is not None and (name != 'sqrt' or value >= 0.0):
            return cast(float, _FUNCTIONS[name](value))
        if name in SIGNED_FUNCTIONS:
            return Symbol(self.graph, self.graph.node(name, self.index, self.negative), False)
        return Symbol(self.graph, self.graph.node(name, self.index), self.negative)

    def exp(self) -> Traced:
        """Return the exponential."""
        return self._function('exp')

    def tanh(self) -> Traced:
        """Return the hyperbolic tangent (odd)."""
        return self._function('tanh')

    def sqrt(self) -> Traced:
        """Return the square root."""
        return self._function('sqrt')

    def nearest(self) -> Traced:
        """Return the nearest whole number, of two the even one (odd)."""
        return self._function('round')

    def absolute(self) -> Traced:
        """Return the magnitude (even); what is not negative is its own."""
        value = self._value()
        if value is not None:
            return abs(value)
        if self.graph.is_nonnegative(self.index):
            return Symbol(self.graph, self.index, False)
        return Symbol(self.graph, self.graph.node('abs', self.index), False)

    def clamp(self, limit: Traced) -> Traced:
        """Return the symbol within plus and minus the magnitude of a limit (odd)."""
        value = self._value()
        number = limit._value() if isinstance(limit, Symbol) else float(limit)
        if number is None:
            size = cast(Symbol, cast(Symbol, limit).absolute())
        elif value is None:
            size = self.graph.constant(abs(number))
        else:
            return cast(float, clamp(value, number))
        return Symbol(self.graph, self.graph.node(CLAMP, self.index, size.index), self.negative)

    def clamp_number(self, number: float) -> Traced:
        """Return a number within plus and minus the magnitude of the symbol."""
        return 0.0 if number == 0.0 else self.graph.constant(number).clamp(self)

    def labelled(self, label: str) -> Symbol:
        """Give the node a name for the generated text; the first name stays."""
        if self.graph.nodes[self.index][0] not in ('input', 'const'):
            self.graph.labels.setdefault(self.index, label)
        return self
