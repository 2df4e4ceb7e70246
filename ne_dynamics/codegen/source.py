"""From an expression graph to source text.

The text of a :class:`~ne_dynamics.codegen.program.Program` contains only names made here (``q1``,
``s1``, ``w3_x``, ``t42``); no name from a model file reaches it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ClassVar

from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.symbols import (
    CLAMP,
    FUNCTION_NAMES,
    SIGNED_FUNCTIONS,
    Symbol,
    Traced,
)

_WORDS = {name: {'abs': 'fabs', 'round': 'rint'}.get(name, name) for name in FUNCTION_NAMES}
"""Functions in the text: names that NumPy and C's math.h have, Python's math too, and ``sign``."""

_CALLS = (*FUNCTION_NAMES, CLAMP)


class _Writer:
    """Assigns names and writes expressions, sharing what is used more than once."""

    words: ClassVar[Mapping[str, str]] = _WORDS

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.live = program.live
        self.uses: dict[int, int] = dict.fromkeys(self.live, 0)
        for index in self.live:
            for argument in self.graph.arguments(index):
                self.uses[argument] += 1
        for output in program.outputs:
            if isinstance(output, Symbol):
                self.uses[output.index] += 1
        operations = {self.graph.nodes[index][0] for index in self.live}
        self.functions = {self.words.get(name, name) for name in operations & set(_CALLS)}
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
            # On a line of its own, a longer one reads better.
            once = self.uses[index] == 1 and len(text) <= 88
            if once and key[0] not in _CALLS:
                self.text[index] = text, level
                continue
            name = self._name(index)
            lines.append(f'{name} = {text}')
            self.text[index] = name, 3
        return lines

    def input_names(self) -> list[tuple[str, list[str]]]:
        """Return the groups with the names of their scalars, '_' for those not used."""
        live = {
            self.graph.nodes[index][1]
            for index in self.live
            if self.graph.nodes[index][0] == 'input'
        }
        result = []
        for stem, count in self.program.inputs:
            names = [f'{stem}{index + 1}' for index in range(count)]
            result.append((stem, [name if name in live else '_' for name in names]))
        return result

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
        if operation == CLAMP:
            return self._clamp(key[1], key[2])
        if operation in SIGNED_FUNCTIONS and key[2]:
            return f'{self.words[operation]}(-{self._operand(key[1], 2)})', 3
        return f'{self.words[operation]}({self.text[key[1]][0]})', 3

    def _clamp(self, x: int, limit: int) -> tuple[str, int]:
        return f'{CLAMP}({self.text[x][0]}, {self.text[limit][0]})', 3

    def output(self, scalar: Traced) -> str:
        if not isinstance(scalar, Symbol):
            return repr(float(scalar))
        return f'-{self._operand(scalar.index, 2)}' if scalar.negative else (
            self.text[scalar.index][0]
        )  # fmt: skip


def python_source(program: Program) -> str:
    """Return the program as a Python function of sequences that returns a flat list.

    The text runs on floats and on NumPy arrays alike; ``sin``, ``cos``, ``sign`` and what else it
    calls are looked up in the namespace in which it is executed.
    """
    writer = _Writer(program)
    body = writer.statements()
    outputs = [writer.output(scalar) for scalar in program.outputs]
    lines = [f'def {program.name}({", ".join(stem for stem, _ in program.inputs)}):']
    for stem, names in writer.input_names():
        if any(name != '_' for name in names):
            lines.append(f'    {", ".join(names)}{"," if len(names) == 1 else ""} = {stem}')
    lines.extend(f'    {line}' for line in body)
    lines.append('    return [')
    lines.extend(f'        {output},' for output in outputs)
    lines.append('    ]')
    return '\n'.join(lines) + '\n'


Notes = Callable[[Program], str]
"""Returns the comment above a function."""


_PYTHON_DEFINITIONS = {
    'sign': 'def sign(x):\n    return float(x > 0) - float(x < 0) if x == x else x\n\n',
    'rint': 'def rint(x):\n    return float(round(x)) if isfinite(x) else x\n\n',
    CLAMP: (
        'def clamp(x, limit):\n'
        '    if not isfinite(x):\n'
        '        return x - x  # not a number\n'
        '    if limit != limit or x > limit:\n'
        '        return limit\n'
        '    return -limit if x < -limit else x\n\n'
    ),
}
"""Functions of a text on floats that Python's math does not have, by name."""


def _python_module(programs: Sequence[Program], notes: Notes) -> str:
    used = list_calls(programs)
    imports = sorted(
        used - set(_PYTHON_DEFINITIONS) | ({'isfinite'} if used & {'rint', CLAMP} else set())
    )
    parts = [f'from math import {", ".join(imports)}\n\n'] if imports else []
    parts += [text for name, text in _PYTHON_DEFINITIONS.items() if name in used]
    parts.append('\n\n'.join(notes(program) + python_source(program) for program in programs))
    return '\n'.join(parts)


def _numpy_function(program: Program) -> str:
    writer = _Writer(program)
    body = writer.statements()
    outputs = [writer.output(scalar) for scalar in program.outputs]
    stems = [stem for stem, _ in program.inputs]
    lines = [f'def {program.name}({", ".join(stems)}):']
    for stem, names in writer.input_names():
        for index, name in enumerate(names):
            if name != '_':
                lines.append(f'    {name} = {stem}[..., {index}]')
    lines.extend(f'    {line}' for line in body)
    # A constant entry has the shape of one sample's scalar; broadcasting gives it the batch's.
    lines += [
        f'    samples = np.shape({stems[0]})[:-1]',
        f'    result = np.empty((*samples, {len(outputs)}))',
        *[f'    result[..., {index}] = {output}' for index, output in enumerate(outputs)],
    ]
    if len(program.shape) == 1:
        lines.append('    return result')
    else:
        lines.append(
            f'    return result.reshape((*samples, {", ".join(map(str, program.shape))}))'
        )
    return '\n'.join(lines) + '\n'


_NUMPY_CLAMP = """

def clamp(x, limit):
    return np.where(np.isfinite(x), np.minimum(np.maximum(x, -limit), limit), np.nan)
"""


def _numpy_module(programs: Sequence[Program], notes: Notes) -> str:
    used = list_calls(programs)
    imports = [f'from numpy import {name}\n' for name in sorted(used - {CLAMP})]
    if CLAMP in used:
        imports.append(_NUMPY_CLAMP)
    functions = [notes(program) + _numpy_function(program) for program in programs]
    return ''.join(['import numpy as np\n', *imports, '\n\n', '\n\n'.join(functions)])


class _ArrayWriter(_Writer):
    """Writes for the functions of a namespace `xp`.

    Sines and cosines of an argument are taken once, of the whole array, as ``sin_q`` and
    ``cos_q``: fewer calls, and a compiler of arrays does not compute them anew for each output.
    """

    words: ClassVar[Mapping[str, str]] = {name: name for name in FUNCTION_NAMES}

    def _clamp(self, x: int, limit: int) -> tuple[str, int]:
        # The standard has both of arrays only. What is a limit has no sum in its text.
        texts = [self.text[x][0], self.text[limit][0]]
        for place, index in enumerate((x, limit)):
            if self.graph.nodes[index][0] == 'const':
                texts[place] = f'xp.full_like({texts[1 - place]}, {texts[place]})'
        value, size = texts
        held = f'xp.minimum(xp.maximum({value}, -{size}), {size})'
        # 0 of every finite number, NaN of all others: those are not held.
        return f'{held} + 0.0*{self._operand(x, 3)}', 1

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        for index in self.live:
            if self.graph.nodes[index][0] == CLAMP:
                self.uses[self.graph.nodes[index][1]] += 1  # its text stands there twice
        self.places = {
            f'{stem}{index + 1}': (stem, index)
            for stem, count in program.inputs
            for index in range(count)
        }
        self.whole: set[tuple[str, str]] = set()
        self.constants: dict[str, str] = {}
        self.entries = {
            argument
            for index in self.live
            if self._find_whole(index) is None
            for argument in self.graph.arguments(index)
        }
        self.entries |= {output.index for output in program.outputs if isinstance(output, Symbol)}

    def entry_names(self) -> list[tuple[str, int, str]]:
        """Return argument, place and name of each input that is used by itself."""
        names = [
            self.graph.nodes[index][1]
            for index in self.live
            if index in self.entries and self.graph.nodes[index][0] == 'input'
        ]
        return [(*self.places[name], name) for name in names]

    def _find_whole(self, index: int) -> tuple[str, str, int] | None:
        """Return function, argument and place of a sine or cosine of an input."""
        key = self.graph.nodes[index]
        if key[0] not in ('sin', 'cos') or self.graph.nodes[key[1]][0] != 'input':
            return None
        return (key[0], *self.places[self.graph.nodes[key[1]][1]])

    def _expression(self, index: int) -> tuple[str, int]:
        whole = self._find_whole(index)
        if whole is not None:
            function, stem, place = whole
            self.whole.add((function, stem))
            return f'{function}_{stem}[..., {place}]', 3
        text, level = super()._expression(index)
        return f'xp.{text}' if self.graph.nodes[index][0] in FUNCTION_NAMES else text, level

    def output(self, scalar: Traced) -> str:
        if isinstance(scalar, Symbol) and self.graph.nodes[scalar.index][0] != 'const':
            return super().output(scalar)
        return self.constants.setdefault(super().output(scalar), f'k{len(self.constants) + 1}')


def array_api_source(program: Program) -> str:
    """Return the program as a Python function of a namespace and of arrays.

    The text keeps to the Python array API standard: nothing is written into an array, no value
    decides what is done, and a number that stands alone becomes an array of the first
    argument's dtype and device. What it takes of the namespace is at
    :data:`~ne_dynamics.codegen.array_function.NAMES`.

    Arguments have shape ``(..., count)``, the result ``(..., *shape)``; leading shapes are equal.
    """
    writer = _ArrayWriter(program)
    body = writer.statements()
    outputs = [writer.output(scalar) for scalar in program.outputs]
    stems = [stem for stem, _ in program.inputs]
    lines = [
        f'{function}_{stem} = xp.{function}({stem})' for function, stem in sorted(writer.whole)
    ]
    lines += [f'{name} = {stem}[..., {place}]' for stem, place, name in writer.entry_names()]
    lines += [
        f'{name} = xp.full_like({stems[0]}[..., 0], {value})'
        for value, name in writer.constants.items()
    ]
    lines += body
    if not program.shape:
        lines.append(f'return {outputs[0]}')
    else:
        is_flat = len(program.shape) == 1
        lines.append(f'{"return" if is_flat else "result ="} xp.stack([')
        lines += [*[f'    {output},' for output in outputs], '], axis=-1)']
        if not is_flat:
            shape = ', '.join(map(str, program.shape))
            lines.append(f'return xp.reshape(result, (*{stems[0]}.shape[:-1], {shape}))')
    head = f'def {program.name}({", ".join(["xp", *stems])}):'
    return '\n'.join([head, *[f'    {line}' for line in lines]]) + '\n'


def _array_api_module(programs: Sequence[Program], notes: Notes) -> str:
    functions = [notes(program) + array_api_source(program) for program in programs]
    return '\n\n' + '\n\n'.join(functions)


def c_body(program: Program) -> list[str]:
    """Return the statements of a program as a C function, which reads before it writes.

    It calls functions that :func:`define_c_functions` defines.
    """
    writer = _Writer(program)
    body = writer.statements()
    lines = []
    for stem, names in writer.input_names():
        used = [(index, name) for index, name in enumerate(names) if name != '_']
        lines += [f'const double {name} = {stem}[{index}];' for index, name in used]
        if not used:
            lines.append(f'(void){stem};')
    lines += [f'const double {line};' for line in body]
    outputs = [writer.output(scalar) for scalar in program.outputs]
    return lines + [f'result[{index}] = {output};' for index, output in enumerate(outputs)]


_C_DEFINITIONS = {
    'sign': ['static double sign(double x) { return x != x ? x : (x > 0.0) - (x < 0.0); }'],
    CLAMP: [
        'static double clamp(double x, double limit)',
        '{',
        '    const double zero = x - x; /* not a number where x is not finite */',
        '    if (zero != 0.0) {',
        '        return zero;',
        '    }',
        '    return limit != limit || x > limit ? limit : x < -limit ? -limit : x;',
        '}',
    ],
}
"""Functions that C's math.h does not have, by name."""


def define_c_functions(calls: Collection[str]) -> list[str]:
    """Return the lines of C that define those of the calls of a text that math.h does not have."""
    return [
        line for name, lines in _C_DEFINITIONS.items() if name in calls for line in (*lines, '')
    ]


def needs_c_library(calls: Collection[str]) -> bool:
    """Return whether a text calls functions of math.h."""
    return not set(calls) <= set(_C_DEFINITIONS)


def _standalone_c(programs: Sequence[Program], notes: Notes) -> str:
    lines = ['#include <math.h>', '']
    lines += define_c_functions(list_calls(programs))
    for program in programs:
        arguments = [f'const double {stem}[{count}]' for stem, count in program.inputs]
        arguments.append(f'double result[{len(program.outputs)}]')
        lines += [f'void {program.name}({", ".join(arguments)})', '{']
        lines += [f'    {line}' for line in c_body(program)]
        lines.append('}')
    return '\n'.join(lines) + '\n'


def list_calls(programs: Sequence[Program]) -> frozenset[str]:
    """Return which functions the text of the programs calls: ``sin``, ``sign``, ``fabs`` ..."""
    return frozenset().union(*(_Writer(program).functions for program in programs))


def list_unused(program: Program) -> tuple[str, ...]:
    """Return the arguments of which the program uses no scalar."""
    return tuple(
        stem
        for stem, names in _Writer(program).input_names()
        if all(name == '_' for name in names)
    )


_LANGUAGES: dict[str, tuple[str, tuple[str, ...], Callable[[Sequence[Program], Notes], str]]] = {
    # Mark of a comment, first lines, writer. Python looks for an encoding in two lines.
    'python': ('#', ('# -*- coding: utf-8 -*-',), _python_module),
    'numpy': ('#', ('# -*- coding: utf-8 -*-',), _numpy_module),
    'array-api': ('#', ('# -*- coding: utf-8 -*-',), _array_api_module),
    'c': ('//', (), _standalone_c),
}

LANGUAGES = tuple(_LANGUAGES)
"""Languages of :func:`standalone_source`."""


def standalone_source(program: Program, language: str, header: Sequence[str] = ()) -> str:
    """Return the program as a text that runs on its own.

    Parameters
    ----------
    program : Program
    language : str
        'python' (one sample, sequences of floats), 'numpy' (arrays of shape (..., count)),
        'array-api' (the same for any namespace of the Python array API standard, which comes
        first) or 'c' (C99, ``const double`` arrays in, a ``result`` array out; link with the C
        mathematics library).
    header : sequence of str
        Comment lines. They may name a robot: see :func:`escape_for_comment`.

    Returns
    -------
    str
        Python states its encoding in the first line.
    """
    mark, first, write = _LANGUAGES[language]
    text = write([program], lambda _: '')
    return '\n'.join([*first, *_comment(mark, header), text])


def python_module(
    programs: Sequence[Program],
    language: str,
    header: Sequence[str],
    notes: Mapping[str, Sequence[str]],
) -> str:
    """Return programs as one Python module that needs nothing of this package.

    Parameters
    ----------
    programs : sequence of Program
    language : str
        'python', 'numpy' or 'array-api', as for :func:`standalone_source`.
    header : sequence of str
        Comment lines at the top.
    notes : mapping of str to sequence of str
        Comment lines above each function, by its name.
    """
    mark, first, write = _LANGUAGES[language]

    def note(program: Program) -> str:
        return ''.join(f'{line}\n' for line in _comment(mark, notes[program.name]))

    return '\n'.join([*first, *_comment(mark, header), write(programs, note)])


def _comment(mark: str, lines: Sequence[str]) -> list[str]:
    return [f'{mark} {escape_for_comment(line)}'.rstrip() for line in lines]


_DANGEROUS = re.compile(r'[^ -~]|\\|(?<=\?)\?|(?<=[*/])/|(?<=/)\*|(?<=cod)i(?=ng)', re.IGNORECASE)


def escape_for_comment(text: str) -> str:
    """Return a text as plain ASCII that says nothing to a compiler, whatever is in it.

    Replaced by its code point in angle brackets, as <U+00E9>, is every character that is not
    printable ASCII, a backslash (a line that goes on), the second of two question marks (a
    trigraph of C), the second of the two characters that open or close a comment, and a letter
    of the word by which Python takes its encoding from a comment.
    """
    return _DANGEROUS.sub(lambda found: f'<U+{ord(found.group()):04X}>', text)
