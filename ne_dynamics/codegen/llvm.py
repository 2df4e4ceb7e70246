"""From an expression graph to LLVM assembly, for one sample and for eight at a time.

The same graph that is written as readable source is written here as machine-independent LLVM
text: once on ``double`` and once on ``<8 x double>``, so that vectorisation does not depend on
what an optimiser can prove. Sines and cosines are evaluated together in vector form.

The entry that Python calls is written in the same text: it checks the arrays (type, dtype,
shape, finiteness) and runs the equations, all in one call of a C function. Whatever it does not
recognise, it hands to a Python callable, which knows how to convert and how to complain.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from ne_dynamics.codegen.source import Program
from ne_dynamics.codegen.symbols import Graph, Scalar, Symbol

LANES = 8
"""Samples that the batch code computes side by side."""

LARGEST_ANGLE = 1.0e6
"""Sines of larger angles [rad] are left to the platform's library, outside this code."""

_SINCOS = 'sincos'

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


def hexadecimal(value: float) -> str:
    """Return a double as LLVM writes it exactly."""
    return f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'


def _vector(value: float, lanes: int) -> str:
    number = hexadecimal(value)
    return number if lanes == 1 else f'<{", ".join([f"double {number}"] * lanes)}>'


def _kind(lanes: int) -> str:
    return 'double' if lanes == 1 else f'<{lanes} x double>'


def sincos_function(lanes: int) -> str:
    """Return the text of a function that computes sine and cosine of ``lanes`` angles."""
    kind = f'<{lanes} x double>'
    integer = f'<{lanes} x i64>'

    def splat(value: float) -> str:
        return _vector(value, lanes) if lanes > 1 else f'<double {hexadecimal(value)}>'

    def whole(value: int) -> str:
        return f'<{", ".join([f"i64 {value}"] * lanes)}>'

    lines = [
        f'define internal {{ {kind}, {kind} }} @{_SINCOS}{lanes}({kind} %x) alwaysinline {{',
        f'%scaled = fmul {kind} %x, {splat(_TWO_OVER_PI)}',
        f'%shifted = fadd {kind} %scaled, {splat(_ROUNDER)}',
        f'%turns = fsub {kind} %shifted, {splat(_ROUNDER)}',
        f'%bits = bitcast {kind} %shifted to {integer}',
        f'%back = fneg {kind} %turns',
    ]
    rest = '%x'
    for index, part in enumerate(_HALF_PI):
        lines.append(
            f'%r{index} = call {kind} @llvm.fma.v{lanes}f64('
            f'{kind} %back, {kind} {splat(part)}, {kind} {rest})'
        )
        rest = f'%r{index}'
    lines.append(f'%z = fmul {kind} {rest}, {rest}')
    for name, coefficients in (('s', _SINE), ('c', _COSINE)):
        value = splat(coefficients[0])
        for index, coefficient in enumerate(coefficients[1:]):
            lines.append(
                f'%{name}{index} = call {kind} @llvm.fma.v{lanes}f64('
                f'{kind} {value}, {kind} %z, {kind} {splat(coefficient)})'
            )
            value = f'%{name}{index}'
    lines += [
        f'%rz = fmul {kind} {rest}, %z',
        f'%sine = call {kind} @llvm.fma.v{lanes}f64({kind} %rz, {kind} %s4, {kind} {rest})',
        f'%zz = fmul {kind} %z, %z',
        f'%half = call {kind} @llvm.fma.v{lanes}f64('
        f'{kind} %z, {kind} {splat(-0.5)}, {kind} {splat(1.0)})',
        f'%cosine = call {kind} @llvm.fma.v{lanes}f64({kind} %zz, {kind} %c4, {kind} %half)',
        f'%odd = and {integer} %bits, {whole(1)}',
        f'%swap = icmp ne {integer} %odd, {whole(0)}',
        f'%sa = select <{lanes} x i1> %swap, {kind} %cosine, {kind} %sine',
        f'%ca = select <{lanes} x i1> %swap, {kind} %sine, {kind} %cosine',
    ]
    for name, source, offset in (('s', '%sa', 0), ('c', '%ca', 1)):
        lines += [
            f'%{name}q = add {integer} %bits, {whole(offset)}',
            f'%{name}two = and {integer} %{name}q, {whole(2)}',
            f'%{name}flag = shl {integer} %{name}two, {whole(62)}',
            f'%{name}raw = bitcast {kind} {source} to {integer}',
            f'%{name}flip = xor {integer} %{name}raw, %{name}flag',
            f'%{name}out = bitcast {integer} %{name}flip to {kind}',
        ]
    pair = f'{{ {kind}, {kind} }}'
    lines += [
        f'%p0 = insertvalue {pair} undef, {kind} %sout, 0',
        f'%p1 = insertvalue {pair} %p0, {kind} %cout, 1',
        f'ret {pair} %p1',
        '}',
    ]
    return '\n'.join(lines)


class _Body:
    """Writes the live nodes of a program as instructions on ``lanes`` lanes."""

    def __init__(self, program: Program, lanes: int, inputs: dict[str, str]) -> None:
        self.program = program
        self.graph: Graph = program.graph
        self.lanes = lanes
        self.kind = _kind(lanes)
        self.names: dict[int, str] = {}
        self.lines: list[str] = []
        self.inputs = inputs
        self.live = self.graph.live(program.outputs)
        self._emit()

    def _op(self, name: str, operation: str, a: str, b: str) -> str:
        self.lines.append(f'{name} = {operation} contract {self.kind} {a}, {b}')
        return name

    def _emit(self) -> None:
        angles = self._early_angles()
        early = set(self.graph.live([Symbol(self.graph, index, False) for index in angles]))
        for index in self.live:
            if index in early:
                self._node(index)
        self._sines_and_cosines(angles)
        for index in self.live:
            if index not in self.names:
                self._node(index)

    def _early_angles(self) -> list[int]:
        """Return the arguments of sines and cosines that depend on no other function."""
        dependent: set[int] = set()
        arguments: list[int] = []
        for index in self.live:
            key = self.graph.nodes[index]
            if key[0] in ('sin', 'cos', 'sign') or any(
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
        for start in range(0, len(angles), LANES):
            group = angles[start : start + LANES]
            width = 4 if len(group) <= 4 else LANES
            kind = f'<{width} x double>'
            packed = _vector(0.0, width)
            for lane, index in enumerate(group):
                name = f'%pack{start + lane}'
                self.lines.append(
                    f'{name} = insertelement {kind} {packed}, '
                    f'double {self.names[index]}, i32 {lane}'
                )
                packed = name
            pair = f'{{ {kind}, {kind} }}'
            call = f'%pc{start}'
            self.lines.append(f'{call} = call {pair} @{_SINCOS}{width}({kind} {packed})')
            for part, function in enumerate(('sin', 'cos')):
                self.lines.append(f'{call}_{part} = extractvalue {pair} {call}, {part}')
                for lane, index in enumerate(group):
                    self._extract(f'{call}_{part}', kind, lane, function, index)

    def _extract(self, source: str, kind: str, lane: int, function: str, argument: int) -> None:
        node = self.graph._index.get((function, argument))
        if node is not None:
            self.names[node] = f'%n{node}'
            self.lines.append(f'%n{node} = extractelement {kind} {source}, i32 {lane}')

    def _sincos(self, argument: int) -> None:
        """Compute sine and cosine of one node on all lanes."""
        kind, pair = self.kind, f'{{ {self.kind}, {self.kind} }}'
        call = f'%sc{argument}'
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
            node = self.graph._index.get((function, argument))
            if node is None:
                continue
            self.names[node] = f'%n{node}'
            if self.lanes == 1:
                self.lines.append(f'%n{node}_v = extractvalue {pair} {call}, {part}')
                self.lines.append(f'%n{node} = extractelement {kind} %n{node}_v, i32 0')
            else:
                self.lines.append(f'%n{node} = extractvalue {pair} {call}, {part}')

    def _node(self, index: int) -> None:
        key = self.graph.nodes[index]
        operation = key[0]
        name = f'%n{index}'
        if operation == 'input':
            self.names[index] = self.inputs[key[1]]
            return
        if operation == 'const':
            self.names[index] = _vector(key[1], self.lanes)
            return
        if operation in ('sin', 'cos'):
            self._sincos(key[1])
            return
        if operation == 'scale':
            self._op(name, 'fmul', _vector(key[1], self.lanes), self.names[key[2]])
        elif operation == 'sign':
            zero, one = _vector(0.0, self.lanes), _vector(1.0, self.lanes)
            condition = 'i1' if self.lanes == 1 else f'<{self.lanes} x i1>'
            argument = self.names[key[1]]
            minus = _vector(-1.0, self.lanes)
            self.lines += [
                f'{name}_p = fcmp ogt {self.kind} {argument}, {zero}',
                f'{name}_m = fcmp olt {self.kind} {argument}, {zero}',
                f'{name}_s = select {condition} {name}_m, {self.kind} {minus}, {self.kind} {zero}',
                f'{name} = select {condition} {name}_p, {self.kind} {one}, {self.kind} {name}_s',
            ]
        else:
            instruction = {'add': 'fadd', 'sub': 'fsub', 'mul': 'fmul', 'div': 'fdiv'}[operation]
            self._op(name, instruction, self.names[key[1]], self.names[key[2]])
        self.names[index] = name

    def outputs(self) -> list[str]:
        """Return the names of the outputs, signs applied."""
        names = []
        for position, scalar in enumerate(self.program.outputs):
            names.append(self._output(position, scalar))
        return names

    def _output(self, position: int, scalar: Scalar) -> str:
        if not isinstance(scalar, Symbol):
            return _vector(float(scalar), self.lanes)
        name = self.names[scalar.index]
        if scalar.negative:
            self.lines.append(f'%o{position} = fneg {self.kind} {name}')
            return f'%o{position}'
        return name


def _input_names(program: Program) -> list[tuple[int, int, str]]:
    """Return (group, position, name) of every input scalar."""
    return [
        (group, index, f'{stem}{index + 1}')
        for group, (stem, count) in enumerate(program.inputs)
        for index in range(count)
    ]


def _single(program: Program) -> str:
    """Return ``void @single(ptr, ..., ptr out)`` for one sample."""
    groups = len(program.inputs)
    lines = []
    inputs = {}
    for group, index, name in _input_names(program):
        lines += [
            f'%a{group}_{index} = getelementptr double, ptr %in{group}, i64 {index}',
            f'%v{group}_{index} = load double, ptr %a{group}_{index}, align 8',
        ]
        inputs[name] = f'%v{group}_{index}'
    body = _Body(program, 1, inputs)
    outputs = body.outputs()
    lines += body.lines
    for index, name in enumerate(outputs):
        lines += [
            f'%z{index} = getelementptr double, ptr %out, i64 {index}',
            f'store double {name}, ptr %z{index}, align 8',
        ]
    arguments = ', '.join([f'ptr noalias %in{group}' for group in range(groups)])
    text = '\n'.join(lines)
    return f'define internal void @single({arguments}, ptr noalias %out) {{\n{text}\nret void\n}}'


def _finite(program: Program) -> str:
    """Return ``i1 @acceptable(ptr, ...)``: every input finite, every angle in range."""
    lines: list[str] = []
    terms: list[str] = []
    angles = _angle_inputs(program)
    checks: list[str] = []
    for group, index, name in _input_names(program):
        tag = f'{group}_{index}'
        lines += [
            f'%a{tag} = getelementptr double, ptr %in{group}, i64 {index}',
            f'%v{tag} = load double, ptr %a{tag}, align 8',
        ]
        if name in angles:
            lines += [
                f'%b{tag} = call double @llvm.fabs.f64(double %v{tag})',
                f'%c{tag} = fcmp ole double %b{tag}, {hexadecimal(LARGEST_ANGLE)}',
            ]
            checks.append(f'%c{tag}')
        else:
            lines.append(f'%m{tag} = fmul double %v{tag}, {hexadecimal(0.0)}')
            terms.append(f'%m{tag}')
    if terms:
        total = _tree(lines, terms, 'fadd double', 't')
        lines.append(f'%sum = fcmp oeq double {total}, {hexadecimal(0.0)}')
        checks.append('%sum')
    verdict = _tree(lines, checks, 'and i1', 'k')
    arguments = ', '.join(f'ptr %in{group}' for group in range(len(program.inputs)))
    text = '\n'.join(lines)
    return f'define internal i1 @acceptable({arguments}) {{\n{text}\nret i1 {verdict}\n}}'


def _tree(lines: list[str], terms: Iterable[str], operation: str, stem: str) -> str:
    """Combine terms pairwise; return the name of the result."""
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


def _angle_inputs(program: Program) -> set[str]:
    """Return the names of the inputs on which an argument of a sine or cosine depends."""
    graph = program.graph
    arguments = [
        Symbol(graph, graph.nodes[index][1], False)
        for index in graph.live(program.outputs)
        if graph.nodes[index][0] in ('sin', 'cos')
    ]
    return {
        graph.nodes[index][1]
        for index in graph.live(arguments)
        if graph.nodes[index][0] == 'input'
    }


def _eight(program: Program) -> str:
    """Return ``i1 @eight(ptr, ..., ptr out)``: eight samples, scalar k of all in vector k.

    The result tells whether all inputs are finite and all angles in range.
    """
    vector = _kind(LANES)
    angles = _angle_inputs(program)
    lines: list[str] = []
    inputs: dict[str, str] = {}
    sums: list[str] = []
    checks: list[str] = []
    for group, index, name in _input_names(program):
        tag = f'{group}_{index}'
        lines += [
            f'%a{tag} = getelementptr {vector}, ptr %in{group}, i64 {index}',
            f'%v{tag} = load {vector}, ptr %a{tag}, align 64',
        ]
        inputs[name] = f'%v{tag}'
        if name in angles:
            lines += [
                f'%b{tag} = call {vector} @llvm.fabs.v{LANES}f64({vector} %v{tag})',
                f'%c{tag} = fcmp ole {vector} %b{tag}, {_vector(LARGEST_ANGLE, LANES)}',
            ]
            checks.append(f'%c{tag}')
        else:
            lines.append(f'%m{tag} = fmul {vector} %v{tag}, {_vector(0.0, LANES)}')
            sums.append(f'%m{tag}')
    if sums:
        total = _tree(lines, sums, f'fadd {vector}', 't')
        lines.append(f'%sum = fcmp oeq {vector} {total}, {_vector(0.0, LANES)}')
        checks.append('%sum')
    verdict = _tree(lines, checks, f'and <{LANES} x i1>', 'k')
    body = _Body(program, LANES, inputs)
    outputs = body.outputs()
    lines += body.lines
    for index, name in enumerate(outputs):
        lines += [
            f'%z{index} = getelementptr {vector}, ptr %out, i64 {index}',
            f'store {vector} {name}, ptr %z{index}, align 64',
        ]
    lines += [
        f'%bits = bitcast <{LANES} x i1> {verdict} to i{LANES}',
        f'%good = icmp eq i{LANES} %bits, -1',
        'ret i1 %good',
    ]
    arguments = ', '.join(f'ptr noalias %in{group}' for group in range(len(program.inputs)))
    text = '\n'.join(lines)
    return f'define internal i1 @eight({arguments}, ptr noalias %out) {{\n{text}\n}}'


def _transposition(name: str, rows_to_vectors: bool) -> str:
    """Return a function that moves eight rows to vectors (scalar k of all rows in vector k).

    Or back. ``void @name(ptr rows, ptr vectors, i64 width)``
    """
    source, target = ('row', 'vector') if rows_to_vectors else ('vector', 'row')
    lanes = []
    for lane in range(LANES):
        lanes += [
            f'%r{lane} = mul i64 %width, {lane}',
            f'%ri{lane} = add i64 %r{lane}, %k',
            f'%row{lane} = getelementptr double, ptr %rows, i64 %ri{lane}',
            f'%vi{lane} = add i64 %k8, {lane}',
            f'%vector{lane} = getelementptr double, ptr %vectors, i64 %vi{lane}',
            f'%x{lane} = load double, ptr %{source}{lane}, align 8',
            f'store double %x{lane}, ptr %{target}{lane}, align 8',
        ]
    text = '\n'.join(lanes)
    return f"""define internal void @{name}(ptr noalias %rows, ptr noalias %vectors, i64 %width) {{
entry:
br label %head
head:
%k = phi i64 [ 0, %entry ], [ %next, %body ]
%more = icmp slt i64 %k, %width
br i1 %more, label %body, label %done
body:
%k8 = mul i64 %k, {LANES}
{text}
%next = add i64 %k, 1
br label %head
done:
ret void
}}"""


def _batch(program: Program) -> str:
    """Return ``i64 @batch(i64 count, ptr, ..., ptr out)``.

    Samples are rows. The result is -1, or the first sample of the group of eight in which an
    input is not finite or an angle out of range; the rows before it are done.
    """
    groups = range(len(program.inputs))
    counts = [count for _, count in program.inputs]
    size = len(program.outputs)
    vector = _kind(LANES)
    pointers = ', '.join(f'ptr noalias %in{group}' for group in groups)
    tiles = ', '.join(f'ptr %tile{group}' for group in groups)
    rows = ', '.join(f'ptr %tp{group}' for group in groups)
    lines = [
        f'define i64 @batch(i64 %count, {pointers}, ptr noalias %out) {{',
        'entry:',
        *[f'%tile{g} = alloca [{counts[g]} x {vector}], align 64' for g in groups],
        f'%otile = alloca [{size} x {vector}], align 64',
        f'%whole = and i64 %count, {-LANES}',
        'br label %head',
        'head:',
        '%i = phi i64 [ 0, %entry ], [ %next, %store ]',
        '%more = icmp slt i64 %i, %whole',
        'br i1 %more, label %load, label %tail',
        'load:',
    ]
    for group in groups:
        lines += [
            f'%row{group} = mul i64 %i, {counts[group]}',
            f'%p{group} = getelementptr double, ptr %in{group}, i64 %row{group}',
            f'call void @to_vectors(ptr %p{group}, ptr %tile{group}, i64 {counts[group]})',
        ]
    lines += [
        f'%good = call i1 @eight({tiles}, ptr %otile)',
        'br i1 %good, label %store, label %bad',
        'bad:',
        'ret i64 %i',
        'store:',
        f'%orow = mul i64 %i, {size}',
        '%o = getelementptr double, ptr %out, i64 %orow',
        f'call void @to_rows(ptr %o, ptr %otile, i64 {size})',
        f'%next = add i64 %i, {LANES}',
        'br label %head',
        'tail:',
        '%j = phi i64 [ %i, %head ], [ %jn, %one ]',
        '%left = icmp slt i64 %j, %count',
        'br i1 %left, label %check, label %done',
        'check:',
        *[f'%tr{g} = mul i64 %j, {counts[g]}' for g in groups],
        *[f'%tp{g} = getelementptr double, ptr %in{g}, i64 %tr{g}' for g in groups],
        f'%fine = call i1 @acceptable({rows})',
        'br i1 %fine, label %one, label %refuse',
        'refuse:',
        'ret i64 %j',
        'one:',
        f'%to = mul i64 %j, {size}',
        '%tq = getelementptr double, ptr %out, i64 %to',
        f'call void @single({rows}, ptr %tq)',
        '%jn = add i64 %j, 1',
        'br label %tail',
        'done:',
        'ret i64 -1',
        '}',
    ]
    return '\n'.join(lines)


OPTIONAL_ARGUMENTS = {
    'inverse_dynamics': 3,
    'inverse_dynamics_with_wrench': 2,
    'forward_dynamics': 1,
}
"""Functions that may be called with so many more arguments, all of them None."""

IN_FULL = 'inverse_dynamics_in_full'
"""The function of which wrench, base motion and payload may be None, the last two not both."""

MOTION_ARGUMENTS = 3
"""q, qd, qdd: the arguments of :data:`IN_FULL` that must be there."""


def _arguments_counted(program: Program) -> list[str]:
    """Return the test that the call has as many arguments as this function answers for."""
    groups = len(program.inputs)
    if program.name == IN_FULL:
        return _in_full_counted(groups)
    extra = OPTIONAL_ARGUMENTS.get(program.name, 0)
    lines = [
        f'%enough = icmp eq i64 %nargs, {groups}',
        '%plain = icmp eq ptr %names, null',
        '%simple = and i1 %enough, %plain',
        f'br i1 %simple, label %arrays0, label %{"more" if extra else "fallback"}',
    ]
    if not extra:
        return lines
    lines += [
        'more:',
        f'%above = icmp ugt i64 %nargs, {groups}',
        f'%below = icmp ule i64 %nargs, {groups + extra}',
        '%between = and i1 %above, %below',
        '%candidate = and i1 %between, %plain',
        'br i1 %candidate, label %last0, label %fallback',
    ]
    for index in range(extra):
        following = f'%last{index + 1}' if index + 1 < extra else '%fallback'
        lines += [
            f'last{index}:',
            f'%lastp{index} = getelementptr ptr, ptr %args, i64 {groups + index}',
            f'%lasto{index} = load ptr, ptr %lastp{index}, align 8',
            f'%isnone{index} = icmp eq ptr %lasto{index}, @ned_none',
            f'br i1 %isnone{index}, label %ended{index}, label %fallback',
            f'ended{index}:',
            f'%ends{index} = icmp eq i64 %nargs, {groups + index + 1}',
            f'br i1 %ends{index}, label %arrays0, label {following}',
        ]
    return lines


def _in_full_counted(groups: int) -> list[str]:
    """Return the test for a base motion or a payload, and ``%last``, the payload or None."""
    return [
        f'%enough = icmp uge i64 %nargs, {groups - 1}',
        f'%most = icmp ule i64 %nargs, {groups}',
        '%within = and i1 %enough, %most',
        '%plain = icmp eq ptr %names, null',
        '%simple = and i1 %within, %plain',
        'br i1 %simple, label %base, label %fallback',
        'base:',
        f'%basep = getelementptr ptr, ptr %args, i64 {groups - 2}',
        '%baseo = load ptr, ptr %basep, align 8',
        '%nobase = icmp eq ptr %baseo, @ned_none',
        f'%hasload = icmp eq i64 %nargs, {groups}',
        'br i1 %hasload, label %load, label %judge',
        'load:',
        f'%loadp = getelementptr ptr, ptr %args, i64 {groups - 1}',
        '%loado = load ptr, ptr %loadp, align 8',
        'br label %judge',
        'judge:',
        '%last = phi ptr [ @ned_none, %base ], [ %loado, %load ]',
        '%noload = icmp eq ptr %last, @ned_none',
        '%neither = and i1 %nobase, %noload',
        'br i1 %neither, label %fallback, label %arrays0',
    ]


_DATA_OF = """\
define internal ptr @data_of(ptr %object, i32 %nd, i64 %rows, i64 %count) {
%typ = getelementptr i8, ptr %object, i64 8
%type = load ptr, ptr %typ, align 8
%isarray = icmp eq ptr %type, @ned_array_type
br i1 %isarray, label %array, label %refuse
array:
%dtp = getelementptr i8, ptr %object, i64 56
%dtype = load ptr, ptr %dtp, align 8
%isdouble = icmp eq ptr %dtype, @ned_float64
%ndp = getelementptr i8, ptr %object, i64 24
%has = load i32, ptr %ndp, align 4
%isnd = icmp eq i32 %has, %nd
%known = and i1 %isdouble, %isnd
br i1 %known, label %shape, label %refuse
shape:
%dap = getelementptr i8, ptr %object, i64 16
%data = load ptr, ptr %dap, align 8
%dmp = getelementptr i8, ptr %object, i64 32
%dm = load ptr, ptr %dmp, align 8
%stp = getelementptr i8, ptr %object, i64 40
%st = load ptr, ptr %stp, align 8
%axis32 = sub i32 %nd, 1
%axis = zext i32 %axis32 to i64
%lastp = getelementptr i64, ptr %dm, i64 %axis
%last = load i64, ptr %lastp, align 8
%stepp = getelementptr i64, ptr %st, i64 %axis
%step = load i64, ptr %stepp, align 8
%right = icmp eq i64 %last, %count
%dense = icmp eq i64 %step, 8
%address = ptrtoint ptr %data to i64
%rest = and i64 %address, 7
%aligned = icmp eq i64 %rest, 0
%fit = and i1 %right, %dense
%usable = and i1 %fit, %aligned
br i1 %usable, label %outer, label %refuse
outer:
%flat = icmp eq i64 %axis, 0
br i1 %flat, label %give, label %rowwise
rowwise:
%first = load i64, ptr %dm, align 8
%row = load i64, ptr %st, align 8
%wide = mul i64 %count, 8
%same = icmp eq i64 %first, %rows
%packed = icmp eq i64 %row, %wide
%good = and i1 %same, %packed
br i1 %good, label %give, label %refuse
give:
ret ptr %data
refuse:
ret ptr null
}"""


def _gathered(program: Program, path: str, nd: int, rows: str, after: str) -> list[str]:
    """Return the steps that take the data of every argument, or go to the fallback."""
    lines = []
    groups = len(program.inputs)
    for group, (_, count) in enumerate(program.inputs):
        following = f'{path}{group + 1}' if group + 1 < groups else after
        lines.append(f'{path}{group}:')
        if program.name == IN_FULL and group + 1 == groups:
            value = '%last'  # it may be missing
        else:
            value = f'%{path}o{group}'
            lines += [
                f'%{path}a{group} = getelementptr ptr, ptr %args, i64 {group}',
                f'{value} = load ptr, ptr %{path}a{group}, align 8',
            ]
        found = f'ptr @data_of(ptr {value}, i32 {nd}, i64 {rows}, i64 {count})'
        if program.name == IN_FULL and group >= MOTION_ARGUMENTS and nd == 1:
            lines += [
                f'%{path}is{group} = icmp eq ptr {value}, @ned_none',
                f'%{path}there{group} = call {found}',
                f'%{path}in{group} = select i1 %{path}is{group}, ptr @zeros, '
                f'ptr %{path}there{group}',
            ]
        else:
            lines.append(f'%{path}in{group} = call {found}')
        lines += [
            f'%{path}no{group} = icmp eq ptr %{path}in{group}, null',
            f'br i1 %{path}no{group}, label %fallback, label %{following}',
        ]
    return lines


def _has_quotient(program: Program) -> bool:
    graph = program.graph
    return any(graph.nodes[index][0] == 'div' for index in graph.live(program.outputs))


def _result_check(program: Program) -> list[str]:
    """Return the test that a result with quotients is finite; without quotients it is."""
    if not _has_quotient(program):
        return ['br label %give']
    lines: list[str] = []
    terms = []
    for index in range(len(program.outputs)):
        lines += [
            f'%q{index}a = getelementptr double, ptr %rd, i64 {index}',
            f'%q{index} = load double, ptr %q{index}a, align 8',
            f'%q{index}z = fmul double %q{index}, {hexadecimal(0.0)}',
        ]
        terms.append(f'%q{index}z')
    total = _tree(lines, terms, 'fadd double', 'qt')
    return [
        *lines,
        f'%qfine = fcmp oeq double {total}, {hexadecimal(0.0)}',
        'br i1 %qfine, label %give, label %drop',
        'drop:',
        'call void @Py_DecRef(ptr %result)',
        'br label %fallback',
    ]


def _entry(program: Program, name: str, takes_batches: bool) -> str:
    """Return the CPython vectorcall function: arrays in, array out, else the fallback.

    Layout of the objects (checked against the running interpreter before the code is used):
    type at 8, data at 16, number of dimensions (int) at 24, dimensions at 32, strides at 40,
    dtype at 56.
    """
    groups = len(program.inputs)
    shape = program.shape
    one = ', '.join(f'ptr %onein{group}' for group in range(groups))
    many = ', '.join(f'ptr %manyin{group}' for group in range(groups))
    new_array = (
        'call ptr @ned_new_array(ptr @ned_array_type, i32 {}, ptr {}, '
        'i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)'
    )
    lines = [
        f'define ptr @{name}(ptr %self, ptr %args, i64 %nargs, ptr %names) {{',
        'begin:',
        f'%extents = alloca [{len(shape) + 1} x i64], align 8',
        *_arguments_counted(program),
        'arrays0:',
        '%leader = load ptr, ptr %args, align 8',
        '%leadertp = getelementptr i8, ptr %leader, i64 8',
        '%leadertype = load ptr, ptr %leadertp, align 8',
        '%isarray = icmp eq ptr %leadertype, @ned_array_type',
        'br i1 %isarray, label %measure, label %fallback',
        'measure:',
        '%leaderndp = getelementptr i8, ptr %leader, i64 24',
        '%leadernd = load i32, ptr %leaderndp, align 4',
        '%isone = icmp eq i32 %leadernd, 1',
        f'br i1 %isone, label %one0, label %{"many" if takes_batches else "fallback"}',
        *_gathered(program, 'one', 1, '0', 'values'),
        'values:',
        f'%fine = call i1 @acceptable({one})',
        'br i1 %fine, label %compute, label %fallback',
        'compute:',
        f'%result = {new_array.format(len(shape), "@shape")}',
        '%failed = icmp eq ptr %result, null',
        'br i1 %failed, label %give, label %fill',
        'fill:',
        '%rdp = getelementptr i8, ptr %result, i64 16',
        '%rd = load ptr, ptr %rdp, align 8',
        f'call void @single({one}, ptr %rd)',
        *_result_check(program),
        'give:',
        'ret ptr %result',
    ]
    if takes_batches:
        lines += [
            'many:',
            '%istwo = icmp eq i32 %leadernd, 2',
            'br i1 %istwo, label %rowcount, label %fallback',
            'rowcount:',
            '%leaderdmp = getelementptr i8, ptr %leader, i64 32',
            '%leaderdm = load ptr, ptr %leaderdmp, align 8',
            '%rows = load i64, ptr %leaderdm, align 8',
            'br label %many0',
            *_gathered(program, 'many', 2, '%rows', 'allocate'),
            'allocate:',
            'store i64 %rows, ptr %extents, align 8',
        ]
        for axis, size in enumerate(shape):
            lines += [
                f'%ex{axis} = getelementptr i64, ptr %extents, i64 {axis + 1}',
                f'store i64 {size}, ptr %ex{axis}, align 8',
            ]
        lines += [
            f'%table = {new_array.format(len(shape) + 1, "%extents")}',
            '%none = icmp eq ptr %table, null',
            'br i1 %none, label %hand, label %work',
            'work:',
            '%tdp = getelementptr i8, ptr %table, i64 16',
            '%td = load ptr, ptr %tdp, align 8',
            # Other threads run meanwhile; the caller holds the arguments.
            '%state = call ptr @PyEval_SaveThread()',
            f'%stopped = call i64 @batch(i64 %rows, {many}, ptr %td)',
            'call void @PyEval_RestoreThread(ptr %state)',
            '%alldone = icmp slt i64 %stopped, 0',
            'br i1 %alldone, label %hand, label %discard',
            'discard:',
            'call void @Py_DecRef(ptr %table)',
            'br label %fallback',
            'hand:',
            'ret ptr %table',
        ]
    lines += [
        'fallback:',
        '%other = call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)',
        'ret ptr %other',
        '}',
    ]
    return '\n'.join(lines)


def module_text(program: Program) -> str:
    """Return the whole module: ``entry`` for Python, ``batch`` for many samples.

    Parameters
    ----------
    program : Program

    Returns
    -------
    str
        LLVM assembly without target lines; the same text for the same equations, so that its
        hash identifies the compiled code.
    """
    widths = (1, 4, LANES)
    declarations = [
        '@ned_array_type = external global i8',
        '@ned_float64 = external global i8',
        '@ned_none = external global i8',
        'declare ptr @ned_new_array(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)',
        'declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)',
        'declare void @Py_DecRef(ptr)',
        'declare ptr @PyEval_SaveThread()',
        'declare void @PyEval_RestoreThread(ptr)',
        f'@shape = private constant [{len(program.shape)} x i64] '
        f'[{", ".join(f"i64 {size}" for size in program.shape)}]',
        'declare double @llvm.fabs.f64(double)',
        f'declare <{LANES} x double> @llvm.fabs.v{LANES}f64(<{LANES} x double>)',
        *[
            f'declare <{lanes} x double> @llvm.fma.v{lanes}f64('
            f'<{lanes} x double>, <{lanes} x double>, <{lanes} x double>)'
            for lanes in widths
        ],
    ]
    if program.name == IN_FULL:
        most = max(count for _, count in program.inputs)
        declarations.append(f'@zeros = private constant [{most} x double] zeroinitializer')
    parts = [
        '\n'.join(declarations),
        *[sincos_function(lanes) for lanes in widths],
        _single(program),
        _finite(program),
        _eight(program),
        _transposition('to_vectors', True),
        _transposition('to_rows', False),
        _batch(program),
        _DATA_OF,
        _entry(program, 'entry_single', False),
        _entry(program, 'entry', not _has_quotient(program)),
    ]
    return '\n\n'.join(parts) + '\n'
