"""Functions of nodes other than sine and cosine, as instructions of a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ne_dynamics.codegen.llvm.lanes import (
    INTRINSICS,
    PACKED,
    SERIES,
    SINCOS_LANES,
    format_constant,
    format_double,
    format_type,
)
from ne_dynamics.codegen.symbols import CLAMP, FUNCTION_NAMES, SIGNED_FUNCTIONS, Graph, Symbol


class FunctionBody(Protocol):
    """What writes the nodes of a program; see :mod:`~ne_dynamics.codegen.llvm.equations`."""

    graph: Graph
    lanes: int
    kind: str
    lines: list[str]
    names: dict[int, str]
    live: tuple[int, ...]

    def write_node(self, index: int) -> None:
        """Write a node whose arguments are written."""


def write_early_series(body: FunctionBody, early: set[int]) -> None:
    """Compute functions of one sample that depend on no other function, side by side."""
    dependent: set[int] = set()
    groups: dict[tuple[str, bool], list[int]] = {}
    for index in body.live:
        key = body.graph.nodes[index]
        if key[0] in SERIES and key[1] not in dependent:
            groups.setdefault((key[0], _is_negated(body, index)), []).append(index)
        if key[0] in FUNCTION_NAMES or any(
            argument in dependent for argument in body.graph.arguments(index)
        ):
            dependent.add(index)
    arguments = {body.graph.nodes[index][1] for group in groups.values() for index in group}
    for index in body.graph.live([Symbol(body.graph, each, False) for each in arguments]):
        if index not in early:
            body.write_node(index)
    for (operation, is_negated), group in groups.items():
        for start in range(0, len(group), PACKED):
            _series_on_lanes(body, operation, is_negated, group[start : start + PACKED])


def _is_negated(body: FunctionBody, index: int) -> bool:
    key = body.graph.nodes[index]
    return key[0] in SIGNED_FUNCTIONS and bool(key[2])


def _series_on_lanes(
    body: FunctionBody, operation: str, is_negated: bool, group: Sequence[int]
) -> None:
    """Compute a function of several nodes of one sample, a node a lane."""
    width = next(lanes for lanes in SINCOS_LANES if lanes >= len(group))
    kind = format_type(width) if width > 1 else '<1 x double>'
    zero = format_double(0.0)
    packed = f'<{", ".join([f"double {zero}"] * width)}>'
    for lane, index in enumerate(group):
        name, value = f'%e{index}_in', body.names[body.graph.nodes[index][1]]
        pair = f'{packed}, double {value}'
        body.lines.append(f'{name} = insertelement {kind} {pair}, i32 {lane}')
        packed = name
    call = f'%e{group[0]}'
    if is_negated:
        body.lines.append(f'{call}_minus = fneg {kind} {packed}')
        packed = f'{call}_minus'
    body.lines.append(f'{call} = call {kind} @{operation}{width}({kind} {packed})')
    for lane, index in enumerate(group):
        body.names[index] = f'%n{index}'
        body.lines.append(f'%n{index} = extractelement {kind} {call}, i32 {lane}')


def write_function(body: FunctionBody, index: int) -> None:
    """Compute a function of nodes that are written."""
    operation, argument = body.graph.nodes[index][:2]
    if operation == 'sign':
        _sign(body, index)
        return
    if operation == CLAMP:
        _clamp(body, index)
        return
    name, is_negated = f'%n{index}', _is_negated(body, index)
    if operation in SERIES and body.lanes == 1:
        _series_on_lanes(body, operation, is_negated, [index])
        return
    value = body.names[argument]
    if is_negated:
        body.lines.append(f'{name}_minus = fneg {body.kind} {value}')
        value = f'{name}_minus'
    if operation in SERIES:
        function = f'{operation}{body.lanes}'
    else:
        suffix = 'f64' if body.lanes == 1 else f'v{body.lanes}f64'
        function = f'llvm.{INTRINSICS[operation]}.{suffix}'
    body.lines.append(f'{name} = call {body.kind} @{function}({body.kind} {value})')
    body.names[index] = name


def _clamp(body: FunctionBody, index: int) -> None:
    """Hold a number within a magnitude; NaN of either stays."""
    name, kind = f'%n{index}', body.kind
    value, limit = (body.names[argument] for argument in body.graph.arguments(index))
    condition = 'i1' if body.lanes == 1 else f'<{body.lanes} x i1>'
    body.lines += [
        f'{name}_minus = fneg {kind} {limit}',
        f'{name}_b = fcmp olt {kind} {value}, {name}_minus',
        f'{name}_low = select {condition} {name}_b, {kind} {name}_minus, {kind} {value}',
        f'{name}_a = fcmp ogt {kind} {name}_low, {limit}',
        f'{name}_in = select {condition} {name}_a, {kind} {limit}, {kind} {name}_low',
        f'{name}_u = fcmp uno {kind} {limit}, {limit}',
        f'{name} = select {condition} {name}_u, {kind} {limit}, {kind} {name}_in',
    ]
    body.names[index] = name


def _sign(body: FunctionBody, index: int) -> None:
    """Compute -1, 0 or 1."""
    name, kind = f'%n{index}', body.kind
    zero, one = format_constant(0.0, body.lanes), format_constant(1.0, body.lanes)
    minus = format_constant(-1.0, body.lanes)
    condition = 'i1' if body.lanes == 1 else f'<{body.lanes} x i1>'
    argument = body.names[body.graph.nodes[index][1]]
    body.lines += [
        f'{name}_p = fcmp ogt {kind} {argument}, {zero}',
        f'{name}_m = fcmp olt {kind} {argument}, {zero}',
        f'{name}_s = select {condition} {name}_m, {kind} {minus}, {kind} {zero}',
        f'{name} = select {condition} {name}_p, {kind} {one}, {kind} {name}_s',
    ]
    body.names[index] = name
