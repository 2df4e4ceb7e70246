"""From an expression graph to source text.

A :class:`Program` is a traced function: its graph, its groups of inputs, its outputs. The text
that is emitted contains only names made here (``q1``, ``s1``, ``w3_x``, ``t42``); no name from a
model file reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ne_dynamics.codegen.symbols import Graph, OperationCount, Scalar, Symbol

LONGEST_EXPRESSION = 88
"""Characters up to which an expression that is used once is written where it is used."""


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
    outputs : tuple of Scalar
        Flat, row-major.
    shape : tuple of int
        Shape of one sample's result.
    """

    name: str
    graph: Graph
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[Scalar, ...]
    shape: tuple[int, ...]

    def count(self) -> OperationCount:
        """Count the operations of the program."""
        return self.graph.count(self.outputs)


def trace(
    name: str,
    inputs: Sequence[tuple[str, int]],
    shape: tuple[int, ...],
    function: Callable[..., Any],
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

    Returns
    -------
    Program
    """
    graph = Graph()
    arguments = [graph.inputs(stem, count) for stem, count in inputs]
    return Program(name, graph, tuple(inputs), tuple(_flat(function(*arguments))), shape)


def _flat(value: Any) -> list[Scalar]:
    if isinstance(value, (list, tuple)):
        return [scalar for item in value for scalar in _flat(item)]
    return [value]


class _Writer:
    """Assigns names and writes expressions, sharing what is used more than once."""

    def __init__(self, program: Program) -> None:
        self.graph = program.graph
        self.live = self.graph.live(program.outputs)
        self.uses: dict[int, int] = dict.fromkeys(self.live, 0)
        for index in self.live:
            for argument in self.graph.arguments(index):
                self.uses[argument] += 1
        for output in program.outputs:
            if isinstance(output, Symbol):
                self.uses[output.index] += 1
        self.text: dict[int, tuple[str, int]] = {}
        self.taken: set[str] = set()

    def statements(self) -> list[str]:
        lines = []
        for index in self.live:
            key = self.graph.nodes[index]
            if key[0] == 'input':
                self.text[index] = key[1], 3
                continue
            if key[0] == 'const':
                self.text[index] = repr(key[1]), 3
                continue
            text, level = self._expression(index)
            once = self.uses[index] == 1 and len(text) <= LONGEST_EXPRESSION
            if once and key[0] not in ('sin', 'cos', 'sign'):
                self.text[index] = text, level
                continue
            name = self._name(index)
            lines.append(f'{name} = {text}')
            self.text[index] = name, 3
        return lines

    def _name(self, index: int) -> str:
        key = self.graph.nodes[index]
        name = self.graph.labels.get(index)
        if key[0] in ('sin', 'cos'):
            argument = self.graph.nodes[key[1]]
            if argument[0] == 'input' and argument[1].startswith('q'):
                name = key[0][0] + argument[1][1:]
        if name is None or name in self.taken:
            name = f't{index}'
        self.taken.add(name)
        return name

    def _operand(self, index: int, level: int) -> str:
        text, own = self.text[index]
        return text if own >= level else f'({text})'

    def _expression(self, index: int) -> tuple[str, int]:
        """Return the text of a node and how tightly it binds (1 sum, 2 product, 3 atom)."""
        key = self.graph.nodes[index]
        operation = key[0]
        if operation == 'add':
            return f'{self._operand(key[1], 1)} + {self._operand(key[2], 1)}', 1
        if operation == 'sub':
            return f'{self._operand(key[1], 1)} - {self._operand(key[2], 2)}', 1
        if operation == 'mul':
            return f'{self._operand(key[1], 2)}*{self._operand(key[2], 3)}', 2
        if operation == 'scale':
            return f'{key[1]!r}*{self._operand(key[2], 3)}', 2
        if operation == 'div':
            return f'{self._operand(key[1], 2)}/{self._operand(key[2], 3)}', 2
        return f'{operation}({self.text[key[1]][0]})', 3

    def output(self, scalar: Scalar) -> str:
        if not isinstance(scalar, Symbol):
            return repr(float(scalar))
        return f'-{self._operand(scalar.index, 2)}' if scalar.negative else (
            self.text[scalar.index][0]
        )  # fmt: skip


def python_source(program: Program, header: Sequence[str] = ()) -> str:
    """Return the program as a Python function of sequences that returns a flat list.

    The text runs on floats and on NumPy arrays alike; ``sin``, ``cos`` and ``sign`` are looked
    up in the namespace in which it is executed.

    Parameters
    ----------
    program : Program
    header : sequence of str
        Comment lines.

    Returns
    -------
    str
    """
    writer = _Writer(program)
    body = writer.statements()
    outputs = [writer.output(scalar) for scalar in program.outputs]
    live = {program.graph.nodes[index][1] for index in writer.live
            if program.graph.nodes[index][0] == 'input'}  # fmt: skip
    lines = [f'# {line}'.rstrip() for line in header]
    lines.append(f'def {program.name}({", ".join(stem for stem, _ in program.inputs)}):')
    for stem, count in program.inputs:
        names = [f'{stem}{index + 1}' for index in range(count)]
        names = [name if name in live else '_' for name in names]
        if any(name != '_' for name in names):
            lines.append(f'    {", ".join(names)}{"," if count == 1 else ""} = {stem}')
    lines.extend(f'    {line}' for line in body)
    if len(outputs) == 1:
        lines.append(f'    return [{outputs[0]}]')
    else:
        lines.append('    return [')
        lines.extend(f'        {output},' for output in outputs)
        lines.append('    ]')
    return '\n'.join(lines) + '\n'
