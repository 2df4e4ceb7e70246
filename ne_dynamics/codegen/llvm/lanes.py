"""Numbers and types on lanes, as LLVM writes them."""

from __future__ import annotations

import struct

from ne_dynamics.codegen.llvm.thresholds import LLVM

SINCOS_LANES = (1, LLVM.packed_operands, LLVM.most_lanes)
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
