"""Link object code for x86-64 under Linux into memory, without LLVM.

LLVM's library takes 25 ms and 45 MB of each process that loads it. Where the machine code is kept
from an earlier process, a new one needs nothing of LLVM but its linker. This is as much of one as
that code asks for: its sections side by side, addresses relative to the code, and a table of the
interpreter's functions. For anything else :func:`load_object` answers None, and LLVM links.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass

_ELF_64 = b'\x7fELF\x02\x01\x01'
_X86_64 = 62
_SYMBOLS, _RELOCATIONS, _ZEROS = 2, 4, 8  # types of sections
_IN_MEMORY = 2  # a flag of sections
_UNDEFINED = 0  # the section of symbols from outside
_ABSOLUTE_64, _RELATIVE, _CALL = 1, 2, 4  # types of relocations
_BY_TABLE = (9, 41, 42)

_HEADER = struct.Struct('<16sHHIQQQIHHHHHH')
_SECTION = struct.Struct('<IIQQQQIIQQ')
_SYMBOL = struct.Struct('<IBBHQQ')
_RELOCATION = struct.Struct('<QQq')

# An entry of the table: an address, and a jump there for calls, relative to its own end.
_ENTRY = struct.Struct('<Q6s2x')
_JUMP = b'\xff\x25' + struct.pack('<i', -14)
_JUMP_AT = 8


def is_supported() -> bool:
    """Return whether this is a process of the kind that this module links for."""
    is_wide = struct.calcsize('P') == 8  # a process of 32 bits may run there
    return sys.platform == 'linux' and os.uname().machine == 'x86_64' and is_wide


class ExecutableMemory:
    """Memory that holds code, and is not written to any more.

    Attributes
    ----------
    address : int
        Where it begins.
    """

    def __init__(self, size: int) -> None:
        self._memory = mmap.mmap(-1, size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))

    def fill(self, image: bytes) -> None:
        """Write the code, once.

        Raises
        ------
        OSError
            When the system lets no memory be executed that was written.
        """
        self._memory[: len(image)] = image
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        if protect(self.address, len(self._memory), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
            raise OSError(ctypes.get_errno(), 'mprotect')

    def close(self) -> None:
        """Give the memory back; nobody may run it any more."""
        self._memory.close()


@dataclass(frozen=True)
class LoadedObject:
    """Object code in memory: addresses by name, as an ``ExecutionEngine`` of llvmlite has them."""

    memory: ExecutableMemory
    functions: Mapping[str, int]

    def get_function_address(self, name: str) -> int:
        """Return the address of a function."""
        return self.functions[name]

    def close(self) -> None:
        """Give the memory back."""
        self.memory.close()


class _NotHandled(Exception):
    """The object asks for what only a whole linker does."""


def load_object(code: bytes, outside: Mapping[str, int]) -> LoadedObject | None:
    """Return object code ready to run, or None when that takes another linker.

    Parameters
    ----------
    code : bytes
        An ELF object.
    outside : mapping of str to int
        Addresses of what it uses and does not hold.
    """
    if not is_supported():
        return None
    try:
        return _Linker(code, outside).link()
    except (_NotHandled, OSError):
        return None


class _Linker:
    """Places the sections of one object, and fills in its addresses."""

    def __init__(self, code: bytes, outside: Mapping[str, int]) -> None:
        header = _HEADER.unpack_from(code)
        if not header[0].startswith(_ELF_64) or header[2] != _X86_64:
            raise _NotHandled
        start, size, count = header[6], header[11], header[12]
        self.code = code
        self.outside = outside
        self.sections = [_SECTION.unpack_from(code, start + size * i) for i in range(count)]
        self.places: dict[int, int] = {}
        end = 0
        for index, section in enumerate(self.sections):
            if section[2] & _IN_MEMORY:
                self.places[index] = end = -(-end // max(1, section[8])) * max(1, section[8])
                end += section[5]
        (table,) = (section for section in self.sections if section[1] == _SYMBOLS)
        names = self.sections[table[6]]
        self.symbols = list(_SYMBOL.iter_unpack(code[table[4] : table[4] + table[5]]))
        self.names = code[names[4] : names[4] + names[5]]
        self.table = -(-end // _ENTRY.size) * _ENTRY.size
        self.entries: dict[int, int] = {}

    def link(self) -> LoadedObject:
        """Return the object in memory."""
        image = bytearray(self.table + _ENTRY.size * len(self.symbols))
        memory = ExecutableMemory(len(image))
        for index, place in self.places.items():
            _, kind, _, _, offset, size = self.sections[index][:6]
            if kind != _ZEROS:
                image[place : place + size] = self.code[offset : offset + size]
        for section in self.sections:
            if section[1] == _RELOCATIONS and section[7] in self.places:
                self._relocate(section, image, memory.address)
        memory.fill(bytes(image))
        functions = {
            self._name(symbol): memory.address + self.places[symbol[3]] + symbol[4]
            for symbol in self.symbols
            if symbol[1] >> 4 and symbol[3] in self.places
        }
        return LoadedObject(memory, functions)

    def _name(self, symbol: tuple[int, ...]) -> str:
        start = symbol[0]
        return self.names[start : self.names.index(b'\0', start)].decode()

    def _relocate(self, section: tuple[int, ...], image: bytearray, base: int) -> None:
        """Fill in the addresses of one section; they are relative to the image."""
        first, size, start = section[4], section[5], self.places[section[7]]
        for offset, info, addend in _RELOCATION.iter_unpack(self.code[first : first + size]):
            kind, index, place = info & 0xFFFFFFFF, info >> 32, start + offset
            symbol = self.symbols[index]
            own = self.places.get(symbol[3])
            if kind in _BY_TABLE:
                target = self._entry(index, image, base)
            elif own is not None:
                target = own + symbol[4]
            elif kind == _CALL:
                target = self._entry(index, image, base) + _JUMP_AT
            else:
                raise _NotHandled
            if kind == _ABSOLUTE_64:
                struct.pack_into('<Q', image, place, base + target + addend)
            elif kind in (_RELATIVE, _CALL, *_BY_TABLE):
                struct.pack_into('<i', image, place, target + addend - place)
            else:
                raise _NotHandled

    def _entry(self, index: int, image: bytearray, base: int) -> int:
        """Return the place of a symbol's entry in the table, making it when it is new."""
        place = self.entries.get(index)
        if place is None:
            symbol = self.symbols[index]
            if symbol[3] in self.places:
                address = base + self.places[symbol[3]] + symbol[4]
            elif symbol[3] == _UNDEFINED and self._name(symbol) in self.outside:
                address = self.outside[self._name(symbol)]
            else:
                raise _NotHandled
            place = self.entries[index] = self.table + _ENTRY.size * len(self.entries)
            _ENTRY.pack_into(image, place, address, _JUMP)
        return place
