"""What machine code depends on, told without the compiler."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import sys
from collections.abc import Iterator

from ne_dynamics.codegen.llvm.object_loader import ExecutableMemory, is_supported

# cpuid of (leaf, part) into four numbers, and the low half of control register 0 by xgetbv.
_ASK = bytes.fromhex('5349 89d0 89f8 89f1 0fa2 418900 41895804 41894808 4189500c 5bc3')
_ASK_SAVED = bytes.fromhex('31c9 0f01d0 c3')
_SAVED_AT = 32

_LEAVES = ((0, 0), (1, 0), (7, 0), (7, 1), (0xD, 1), (0x14, 0), (0x19, 0), (0x24, 0))
_EXTENDED_LEAVES = ((0x80000000, 0), (0x80000001, 0), (0x80000008, 0))
"""What LLVM looks at to find the name of a processor and its features."""

_HAS_XGETBV = 1 << 27


def describe_machine() -> str:
    """Return what the compiler makes machine code for, and which compiler it is; '' if unknown.

    The processor is asked itself: what a file says of it is not true in an emulator.
    """
    compiler = _describe_compiler() if is_supported() else ''
    if not compiler:
        return ''
    try:
        words = list(_ask_processor())
    except OSError:
        return ''
    return '\n'.join([sys.implementation.cache_tag or sys.version, compiler, *words])


def _ask_processor() -> Iterator[str]:
    memory = ExecutableMemory(_SAVED_AT + len(_ASK_SAVED))
    memory.fill(_ASK.ljust(_SAVED_AT, b'\0') + _ASK_SAVED)
    numbers = (ctypes.c_uint32 * 4)()
    integer = ctypes.c_uint32
    ask = ctypes.CFUNCTYPE(None, integer, integer, ctypes.c_void_p)(memory.address)
    for leaf, part in (*_LEAVES, *_EXTENDED_LEAVES):
        ask(leaf, part, ctypes.addressof(numbers))
        a, b, c, d = numbers
        if leaf == 1:
            b = 0  # the number of the core
            if c & _HAS_XGETBV:
                saved = ctypes.CFUNCTYPE(integer)(memory.address + _SAVED_AT)
                yield f'saved {saved():x}'
        yield f'{leaf:x} {part} {a:x} {b:x} {c:x} {d:x}'
    memory.close()


def _describe_compiler() -> str:
    """Return which llvmlite is installed; '' where that is not known without its import."""
    with contextlib.suppress(ImportError, ValueError):
        found = importlib.util.find_spec('llvmlite')
        if found is not None and found.origin:
            folder = os.path.dirname(found.origin)
            with contextlib.suppress(OSError):
                library = os.stat(os.path.join(folder, 'binding', 'libllvmlite.so'))
                return f'{folder} {library.st_size} {library.st_mtime_ns}'
    return ''
