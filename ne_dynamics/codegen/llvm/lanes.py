"""Numbers and types on lanes, as LLVM writes them."""

from __future__ import annotations

import struct


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
