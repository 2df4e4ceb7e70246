"""Numbers and types on lanes, as LLVM writes them."""

from __future__ import annotations

import struct

from ne_dynamics.codegen.llvm.thresholds import LLVM

PACKED = 4
"""Operands of one sample in a vector; eight took twice the time (Sapphire Rapids)."""

SINCOS_LANES = (1, PACKED, LLVM.most_lanes)
"""Angles of which sine and cosine are computed at once, and arguments of other functions."""

INTRINSICS = {'sqrt': 'sqrt', 'abs': 'fabs', 'round': 'rint'}
"""Functions that LLVM has, by operation."""

SERIES = ('exp', 'tanh')
"""Functions of :mod:`ne_dynamics.codegen.llvm.exponential`, which are computed on lanes."""


def format_double(value: float) -> str:
    """Return a double as LLVM writes it exactly."""
    return f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'


def format_constant(value: float, lanes: int) -> str:
    """Return a number on all lanes."""
    number = format_double(value)
    return number if lanes == 1 else f'<{", ".join([f"double {number}"] * lanes)}>'


def format_type(lanes: int) -> str:
    """Return the type of a number on this many lanes."""
    return 'double' if lanes == 1 else f'<{lanes} x double>'


class LaneWriter:
    """Writes a function on lanes: instructions on vectors, of one lane too, without a library.

    Attributes
    ----------
    kind, integer : str
        Types of a vector of doubles, and of as many whole numbers.
    lines : list of str
        The instructions.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.kind = f'<{lanes} x double>'
        self.integer = f'<{lanes} x i64>'
        self.lines: list[str] = []

    def number(self, value: float) -> str:
        """Return a number on all lanes."""
        return f'<{", ".join([f"double {format_double(value)}"] * self.lanes)}>'

    def whole(self, value: int) -> str:
        """Return a whole number on all lanes."""
        return f'<{", ".join([f"i64 {value}"] * self.lanes)}>'

    def apply(self, name: str, operation: str, a: str, b: str) -> str:
        """Apply an operation; return the name of the result."""
        self.lines.append(f'%{name} = {operation} {self.kind} {a}, {b}')
        return f'%{name}'

    def add_product(self, name: str, a: str, b: str, c: str) -> str:
        """Compute a b + c, rounded once."""
        kind = self.kind
        self.lines.append(
            f'%{name} = call {kind} @llvm.fma.v{self.lanes}f64({kind} {a}, {kind} {b}, {kind} {c})'
        )
        return f'%{name}'

    def text(self, name: str, kind: str, result: str) -> str:
        """Return the function of a vector, and its result, of this type."""
        head = f'define internal {kind} @{name}{self.lanes}({self.kind} %x) alwaysinline {{'
        return '\n'.join([head, *self.lines, f'ret {kind} {result}', '}'])
