"""From an expression graph to LLVM assembly, for one sample and for eight at a time.

The same graph that is written as readable source is written here as machine-independent LLVM
text: once on ``double`` and once on ``<8 x double>``, so that vectorisation does not depend on
what an optimiser can prove. Sines and cosines are evaluated together in vector form; what else
needs a series is in :mod:`~ne_dynamics.codegen.llvm.exponential`.

Both functions return whether their result can be relied on: every input is a number that cannot
overflow or has a sign that it must not have, every angle is in the range of the sines, and
quotients are finite.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ne_dynamics.codegen.llvm.lanes import (
    INTRINSICS,
    PACKED,
    SERIES,
    SINCOS_LANES,
    LaneWriter,
    format_constant,
    format_type,
)
from ne_dynamics.codegen.llvm.thresholds import LLVM
from ne_dynamics.codegen.magnitude import find_largest_input
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.symbols import (
    CLAMP,
    FUNCTION_NAMES,
    Graph,
    Symbol,
    Traced,
)

_SINCOS = 'sincos'
_LONGEST_BLOCK = 1500  # instructions: the compiler's time grows with their square

# Minimax coefficients on [-pi/4, pi/4] from the Cephes library (Moshier), sin.c.
_SINE = (
    1.58962301576546568060e-10,
    -2.50507477628578072866e-8,
    2.75573136213857245213e-6,
    -1.98412698295895385996e-4,
    8.33333333332211858878e-3,
    -1.66666666666666307295e-1,
)
_COSINE = (
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
)
# pi/2 in three parts of 33, 33 and 53 bits, so that their products with a quarter-turn count of
# up to 20 bits are exact (Cody and Waite).
_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_TWO_OVER_PI = 0.63661977236758134308
# Adding this leaves the nearest integer in the low bits of the mantissa.
_ROUNDER = 6755399441055744.0


def write_sincos(lanes: int) -> str:
    """Return the text of a function that computes sine and cosine of ``lanes`` angles."""
    write = LaneWriter(lanes)
    kind, integer = write.kind, write.integer
    rounder = write.number(_ROUNDER)
    shifted = write.add_product('shifted', '%x', write.number(_TWO_OVER_PI), rounder)
    turns = write.apply('turns', 'fsub', shifted, rounder)
    write.lines += [
        f'%bits = bitcast {kind} {shifted} to {integer}',
        f'%back = fneg {kind} {turns}',
    ]
    rest = '%x'
    for index, part in enumerate(_HALF_PI):
        rest = write.add_product(f'r{index}', '%back', write.number(part), rest)
    square = write.apply('z', 'fmul', rest, rest)
    for name, coefficients in (('s', _SINE), ('c', (*_COSINE, -0.5, 1.0))):
        value = write.number(coefficients[0])
        for index, coefficient in enumerate(coefficients[1:]):
            value = write.add_product(f'{name}{index}', value, square, write.number(coefficient))
    cube = write.apply('rz', 'fmul', rest, square)
    write.add_product('sine', cube, '%s4', rest)
    write.lines += [
        # Sign bits: whether the quarter turns are odd; whether sine, and cosine, change sign.
        f'%odd = shl {integer} %bits, {write.whole(63)}',
        f'%second = shl {integer} %bits, {write.whole(62)}',
        f'%either = xor {integer} %second, %odd',
        f'%swap = icmp slt {integer} %odd, {write.whole(0)}',
        f'%sa = select <{lanes} x i1> %swap, {kind} %c6, {kind} %sine',
        f'%ca = select <{lanes} x i1> %swap, {kind} %sine, {kind} %c6',
    ]
    for name, source, turns in (('s', '%sa', '%second'), ('c', '%ca', '%either')):
        write.lines += [
            f'%{name}flag = and {integer} {turns}, {write.whole(-(2**63))}',
            f'%{name}raw = bitcast {kind} {source} to {integer}',
            f'%{name}flip = xor {integer} %{name}raw, %{name}flag',
            f'%{name}out = bitcast {integer} %{name}flip to {kind}',
        ]
    pair = f'{{ {kind}, {kind} }}'
    write.lines += [
        f'%p0 = insertvalue {pair} undef, {kind} %sout, 0',
        f'%p1 = insertvalue {pair} %p0, {kind} %cout, 1',
    ]
    return write.text(_SINCOS, pair, '%p1')


class EquationBody:
    """Writes the live nodes of a program as instructions on ``lanes`` lanes.

    Each output is stored as soon as it is known: what waits until the end takes stack.

    Attributes
    ----------
    angles : dict of str to None
        The names of the arguments of sines and cosines, in order.
    total : str
        Name of the sum of all outputs times zero: zero when they are finite. '' if not wanted.
    lines : list of str
        The instructions.
    """

    def __init__(
        self, program: Program, lanes: int, inputs: dict[str, str], adds_outputs: bool
    ) -> None:
        self.total = format_constant(0.0, lanes) if adds_outputs else ''
        self.program = program
        self.graph: Graph = program.graph
        self.lanes = lanes
        self.kind = format_type(lanes)
        self.names: dict[int, str] = {}
        self.angles: dict[str, None] = {}
        self.lines: list[str] = []
        self.inputs = inputs
        self.live = program.live
        self.places: dict[int | None, list[int]] = {}
        for place, scalar in enumerate(program.outputs):
            index = scalar.index if isinstance(scalar, Symbol) else None
            self.places.setdefault(index, []).append(place)
        self._emit()

    def _op(self, name: str, operation: str, a: str, b: str) -> str:
        self.lines.append(f'{name} = {operation} contract {self.kind} {a}, {b}')
        return name

    def _emit(self) -> None:
        angles = self._early_angles()
        early = set(self.graph.live([Symbol(self.graph, index, False) for index in angles]))
        for index in self.live:
            if index in early:
                self.write_node(index)
        self._sines_and_cosines(angles)
        if self.lanes == 1 and any(self.graph.nodes[index][0] in SERIES for index in self.live):
            from ne_dynamics.codegen.llvm.functions_of_nodes import write_early_series

            write_early_series(self, early)
        self._store(None)
        for index in self.live:
            if index not in self.names:
                self.write_node(index)
            self._store(index)

    def _early_angles(self) -> list[int]:
        """Return the arguments of sines and cosines that depend on no other function."""
        dependent: set[int] = set()
        arguments: list[int] = []
        for index in self.live:
            key = self.graph.nodes[index]
            if key[0] in FUNCTION_NAMES or any(
                argument in dependent for argument in self.graph.arguments(index)
            ):
                dependent.add(index)
            if key[0] in ('sin', 'cos') and key[1] not in dependent and key[1] not in arguments:
                arguments.append(key[1])
        return arguments

    def _sines_and_cosines(self, angles: Sequence[int]) -> None:
        if self.lanes > 1:
            for index in angles:
                self._sincos(index)
            return
        # One sample: its joints fill the lanes of one vector.
        kind = format_type(PACKED)
        for start in range(0, len(angles), PACKED):
            group = angles[start : start + PACKED]
            packed = format_constant(0.0, PACKED)
            for lane, index in enumerate(group):
                self.angles[self.names[index]] = None
                name = f'%pack{start + lane}'
                self.lines.append(
                    f'{name} = insertelement {kind} {packed}, '
                    f'double {self.names[index]}, i32 {lane}'
                )
                packed = name
            pair = f'{{ {kind}, {kind} }}'
            call = f'%pc{start}'
            self.lines.append(f'{call} = call {pair} @{_SINCOS}{PACKED}({kind} {packed})')
            for part, function in enumerate(('sin', 'cos')):
                self.lines.append(f'{call}_{part} = extractvalue {pair} {call}, {part}')
                for lane, index in enumerate(group):
                    self._extract(f'{call}_{part}', kind, lane, function, index)

    def _extract(self, source: str, kind: str, lane: int, function: str, argument: int) -> None:
        node = self.graph.find(function, argument)
        if node is not None:
            self.names[node] = f'%n{node}'
            self.lines.append(f'%n{node} = extractelement {kind} {source}, i32 {lane}')

    def _sincos(self, argument: int) -> None:
        """Compute sine and cosine of one node on all lanes."""
        kind, pair = self.kind, f'{{ {self.kind}, {self.kind} }}'
        call = f'%sc{argument}'
        self.angles[self.names[argument]] = None
        if self.lanes == 1:
            kind = '<1 x double>'
            pair = f'{{ {kind}, {kind} }}'
            self.lines.append(
                f'{call}_in = insertelement {kind} undef, double {self.names[argument]}, i32 0'
            )
            source = f'{call}_in'
        else:
            source = self.names[argument]
        self.lines.append(f'{call} = call {pair} @{_SINCOS}{self.lanes}({kind} {source})')
        for part, function in enumerate(('sin', 'cos')):
            node = self.graph.find(function, argument)
            if node is None:
                continue
            self.names[node] = f'%n{node}'
            if self.lanes == 1:
                self.lines.append(f'%n{node}_v = extractvalue {pair} {call}, {part}')
                self.lines.append(f'%n{node} = extractelement {kind} %n{node}_v, i32 0')
            else:
                self.lines.append(f'%n{node} = extractvalue {pair} {call}, {part}')

    def write_node(self, index: int) -> None:
        """Write a node whose arguments are written."""
        key = self.graph.nodes[index]
        operation = key[0]
        name = f'%n{index}'
        if operation == 'input':
            self.names[index] = self.inputs[key[1]]
            return
        if operation == 'const':
            self.names[index] = format_constant(key[1], self.lanes)
            return
        if operation in ('sin', 'cos'):
            self._sincos(key[1])
            return
        if operation in FUNCTION_NAMES or operation == CLAMP:
            # Few robots have them.
            from ne_dynamics.codegen.llvm.functions_of_nodes import write_function

            write_function(self, index)
            return
        if operation == 'scale':
            number, value = format_constant(key[1], self.lanes), self.names[key[2]]
            if self.graph.nodes[key[2]][0] == 'round':
                # What is left after whole turns is a small difference of large numbers: it is
                # that of other backends only when the product is rounded, as theirs is.
                self.lines.append(f'{name} = fmul {self.kind} {number}, {value}')
            else:
                self._op(name, 'fmul', number, value)
        else:
            instruction = {'add': 'fadd', 'sub': 'fsub', 'mul': 'fmul', 'div': 'fdiv'}[operation]
            self._op(name, instruction, self.names[key[1]], self.names[key[2]])
        self.names[index] = name

    def _store(self, index: int | None) -> None:
        """Store the outputs that are this node; None for those that are numbers."""
        for place in self.places.get(index, ()):
            value = self._output(place, self.program.outputs[place])
            self.lines += [
                f'%z{place} = getelementptr {self.kind}, ptr %out, i64 {place}',
                f'store {self.kind} {value}, ptr %z{place}, align {8 * self.lanes}',
            ]
            if self.total and index is not None:
                zero = format_constant(0.0, self.lanes)
                self.lines += [
                    f'%fo{place} = fmul {self.kind} {value}, {zero}',
                    f'%ft_{place} = fadd {self.kind} {self.total}, %fo{place}',
                ]
                self.total = f'%ft_{place}'

    def _output(self, place: int, scalar: Traced) -> str:
        if not isinstance(scalar, Symbol):
            return format_constant(float(scalar), self.lanes)
        name = self.names[scalar.index]
        if scalar.negative:
            self.lines.append(f'%o{place} = fneg {self.kind} {name}')
            return f'%o{place}'
        return name


def write_single(program: Program) -> str:
    """Return ``i1 @single(ptr, ..., ptr out)``: one sample, scalars one after the other."""
    return _write_function('single', program, 1)


def write_several(program: Program, lanes: int) -> str:
    """Return ``i1 @several(ptr, ..., ptr out)``: a sample a lane, scalar k of all in vector k."""
    return _write_function('several', program, lanes)


def choose_lanes(program: Program, most: int) -> int:
    """Return how many samples fit side by side into the stack of a function: `most`, 4 or 1."""
    if program.is_scalar:
        return 1
    if program.count().arithmetic > LLVM.lane_operations:
        return 1
    for lanes in (most, LLVM.most_lanes // 2):
        if program.most_waiting * lanes <= LLVM.most_waiting:
            return lanes
    return 1


def fits_stack(program: Program) -> bool:
    """Return whether one sample fits into twice the stack of a function."""
    return program.most_waiting <= 2 * LLVM.most_waiting


def _write_function(name: str, program: Program, lanes: int) -> str:
    kind = format_type(lanes)
    groups = range(len(program.inputs))
    lines: list[str] = []
    inputs: dict[str, str] = {}
    nodes = map(program.graph.nodes.__getitem__, program.live)
    named = {key[1] for key in nodes if key[0] == 'input'}
    checked: list[str] = []
    nonnegative: list[str] = []
    for group, (stem, count) in enumerate(program.inputs):
        is_shared = program.is_shared and group + 1 == len(program.inputs)
        for index in range(count):
            tag = f'{group}_{index}'
            if is_shared:
                if f'{stem}{index + 1}' in named:
                    inputs[f'{stem}{index + 1}'] = f'%v{tag}'
                    lines += _write_shared_load(tag, group, index, lanes)
                continue
            checked.append(f'%v{tag}')
            if stem in program.nonnegative:
                nonnegative.append(f'%v{tag}')
            lines += [
                f'%a{tag} = getelementptr {kind}, ptr %in{group}, i64 {index}',
                f'%v{tag} = load {kind}, ptr %a{tag}, align {8 * lanes}',
            ]
            inputs[f'{stem}{index + 1}'] = f'%v{tag}'
    largest = find_largest_input(program)
    body = EquationBody(program, lanes, inputs, adds_outputs=not largest.is_enough)
    lines += body.lines
    verdict = _write_verdict(body, checked, nonnegative, largest.bound, lines)
    arguments = ', '.join(f'ptr noalias %in{group}' for group in groups)
    text = '\n'.join([*_split_blocks(lines), f'ret i1 {verdict}'])
    if len(lines) > _LONGEST_BLOCK:
        text += '\nnever:\nret i1 false'
    return f'define internal i1 @{name}({arguments}, ptr noalias %out) {{\n{text}\n}}'


def _write_shared_load(tag: str, group: int, index: int, lanes: int) -> list[str]:
    """Load a number that all samples share; its size was checked when it was given."""
    lines = [f'%a{tag} = getelementptr double, ptr %in{group}, i64 {index}']
    if lanes == 1:
        return [*lines, f'%v{tag} = load double, ptr %a{tag}, align 8']
    kind = format_type(lanes)
    return [
        *lines,
        f'%s{tag} = load double, ptr %a{tag}, align 8',
        f'%i{tag} = insertelement {kind} undef, double %s{tag}, i32 0',
        f'%v{tag} = shufflevector {kind} %i{tag}, {kind} undef, <{lanes} x i32> zeroinitializer',
    ]


def _split_blocks(lines: Sequence[str]) -> list[str]:
    """Return straight-line instructions in blocks that the optimiser does not join.

    A branch that is never taken stands between two blocks. It depends on a volatile load of zero.
    """
    result = list(lines[:_LONGEST_BLOCK])
    for start in range(_LONGEST_BLOCK, len(lines), _LONGEST_BLOCK):
        result += [
            f'%zero{start} = load volatile i8, ptr @zero_byte',
            f'%same{start} = icmp eq i8 %zero{start}, 0',
            f'br i1 %same{start}, label %block{start}, label %never',
            f'block{start}:',
            *lines[start : start + _LONGEST_BLOCK],
        ]
    return result


def _write_verdict(
    body: EquationBody,
    inputs: Sequence[str],
    nonnegative: Sequence[str],
    largest_input: float,
    lines: list[str],
) -> str:
    """Write the test of inputs, angles and quotients; return the name of its result."""
    lanes, kind = body.lanes, body.kind
    condition = 'i1' if lanes == 1 else f'<{lanes} x i1>'
    suffix = 'f64' if lanes == 1 else f'v{lanes}f64'
    # Quarter turns of up to 20 bits are exact; sines of larger angles are the platform's.
    largest = format_constant(1.0e6, lanes)
    checks: list[str] = []
    for index, angle in enumerate(body.angles):
        lines += [
            f'%fa{index} = call {kind} @llvm.fabs.{suffix}({kind} {angle})',
            f'%fc{index} = fcmp ole {kind} %fa{index}, {largest}',
        ]
        checks.append(f'%fc{index}')
    # A square sum is small only when every term is a number, and small.
    others = [name for name in inputs if name not in body.angles]
    squares = []
    for index, value in enumerate(others):
        lines.append(f'%fs{index} = fmul {kind} {value}, {value}')
        squares.append(f'%fs{index}')
    if squares:
        total = sum_pairwise(lines, squares, f'fadd contract {kind}', 'ft')
        bound = format_constant(largest_input * largest_input, lanes)
        lines.append(f'%fsum = fcmp ole {kind} {total}, {bound}')
        checks.append('%fsum')
    zero = format_constant(0.0, lanes)
    for index, value in enumerate(nonnegative):
        lines.append(f'%fn{index} = fcmp oge {kind} {value}, {zero}')
        checks.append(f'%fn{index}')
    if body.total:
        lines.append(f'%fout = fcmp oeq {kind} {body.total}, {zero}')
        checks.append('%fout')
    if not checks:
        return 'true'
    verdict = sum_pairwise(lines, checks, f'and {condition}', 'fk')
    if lanes == 1:
        return verdict
    lines += [
        f'%fbits = bitcast {condition} {verdict} to i{lanes}',
        f'%fall = icmp eq i{lanes} %fbits, -1',
    ]
    return '%fall'


def sum_pairwise(lines: list[str], terms: Iterable[str], operation: str, stem: str) -> str:
    """Combine terms pairwise by an operation; return the name of the result."""
    level = list(terms)
    count = 0
    while len(level) > 1:
        following = []
        for left, right in zip(level[::2], level[1::2], strict=False):
            name = f'%{stem}{count}'
            count += 1
            lines.append(f'{name} = {operation} {left}, {right}')
            following.append(name)
        if len(level) % 2:
            following.append(level[-1])
        level = following
    return level[0]


def write_declarations(program: Program) -> str:
    """Return the declarations and the functions that the equations use.

    What is not needed by every robot stands only where it is used, so that the text, and with it
    the compiled code that is kept, is the same as without.
    """
    graph = program.graph
    used = {graph.nodes[index][0] for index in program.live}
    lines = [
        '@zero_byte = internal global i8 0',
        'declare double @llvm.fabs.f64(double)',
        *[
            f'declare <{lanes} x double> @llvm.fabs.v{lanes}f64(<{lanes} x double>)'
            for lanes in SINCOS_LANES
        ],
        *[
            f'declare <{lanes} x double> @llvm.fma.v{lanes}f64('
            f'<{lanes} x double>, <{lanes} x double>, <{lanes} x double>)'
            for lanes in SINCOS_LANES
        ],
    ]
    for operation in ('sqrt', 'round'):
        if operation in used:
            name = INTRINSICS[operation]
            lines.append(f'declare double @llvm.{name}.f64(double)')
            lines += [
                f'declare <{lanes} x double> @llvm.{name}.v{lanes}f64(<{lanes} x double>)'
                for lanes in SINCOS_LANES
            ]
    parts = ['\n'.join(lines), *[write_sincos(lanes) for lanes in SINCOS_LANES]]
    if used & set(SERIES):
        from ne_dynamics.codegen.llvm.exponential import WRITERS

        for operation, write in WRITERS.items():
            if operation in used:
                parts += [write(lanes) for lanes in SINCOS_LANES]
    return '\n\n'.join(parts)
