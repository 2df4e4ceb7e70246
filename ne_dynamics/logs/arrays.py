"""Arrays of logs: in memory while they are small, above that in files that are mapped into memory.

The files have no name, in the folder for temporary files: they are gone with the process, whatever
ends it. A mapped array is read as any other one; :func:`release_pages` gives the memory back that
reading it has taken.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import pickle
import tempfile
import weakref
from collections.abc import Iterator
from typing import IO, TypeVar

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.model.rigid_body import FloatArray

PAGE = mmap.ALLOCATIONGRANULARITY

_Value = TypeVar('_Value')

_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


def release_pages() -> None:
    """Give back the memory that mapped arrays take; they are read anew where they are needed."""
    for item in list(_mapped):
        item.madvise(mmap.MADV_DONTNEED)


class ArrayStore:
    """Keeps arrays of one task, and counts them."""

    def __init__(self) -> None:
        self._size = 0
        self._stream: IO[bytes] | None = None

    def is_full(self, size: int) -> bool:
        """Tell whether so many bytes more are to be mapped, and count them."""
        self._size += size
        return self._size > LOGS.in_memory

    def keep(self, value: _Value) -> _Value:
        """Return what is equal to a value, its arrays mapped where they are not small any more.

        An InputError where there is no room for it.
        """
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, 5, buffer_callback=buffers.append)
        parts = [buffer.raw() for buffer in buffers]
        if not parts or not self.is_full(sum(part.nbytes for part in parts)):
            return value
        with _room():
            if self._stream is None:
                self._stream = _open_unnamed()
            start = -(-self._stream.seek(0, 2) // PAGE) * PAGE
            places = [0]
            for part in parts:
                self._stream.seek(start + places[-1])
                self._stream.write(part)
                places.append(places[-1] + -(-part.nbytes // 64) * 64)
            self._stream.truncate(start + max(places[-1], 1))
            self._stream.flush()
        view = memoryview(_map(self._stream, start, max(places[-1], 1)))
        mapped = [
            view[place : place + part.nbytes]
            for place, part in zip(places[:-1], parts, strict=True)
        ]
        result: _Value = pickle.loads(head, buffers=mapped)
        return result


class GrowingArray:
    """Rows that come one after another; a store counts them."""

    def __init__(self, store: ArrayStore) -> None:
        self._store = store
        self._shape = (0, 0)
        self._stream: IO[bytes] = io.BytesIO()

    def append(self, rows: FloatArray) -> None:
        """Add rows, shape (K, m); an InputError where there is no room for them."""
        self._shape = (self._shape[0] + rows.shape[0], rows.shape[1])
        is_full = self._store.is_full(rows.nbytes) and rows.nbytes
        with _room():
            if is_full and isinstance(self._stream, io.BytesIO):
                in_memory, self._stream = self._stream, _open_unnamed()
                self._stream.write(in_memory.getbuffer())
            self._stream.write(np.ascontiguousarray(rows).data)

    def finish(self) -> FloatArray:
        """Return all rows, shape (N, m), not to be written to."""
        if isinstance(self._stream, io.BytesIO):
            return np.frombuffer(self._stream.getbuffer().toreadonly()).reshape(self._shape)
        with _room():
            self._stream.flush()
        size = 8 * self._shape[0] * self._shape[1]
        return np.frombuffer(_map(self._stream, 0, size)).reshape(self._shape)


def _open_unnamed() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix='ne_dynamics')


def _map(stream: IO[bytes], start: int, size: int) -> mmap.mmap:
    result = mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ, offset=start)
    _mapped.add(result)
    return result


@contextlib.contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f'cannot keep what was read in {tempfile.gettempdir()}: {error.strerror}; '
            'expected room for about as much as the logs take: set TMPDIR to a folder '
            'that has it'
        ) from error
