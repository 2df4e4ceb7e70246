"""Who does the work on the pieces of logs: this process, with what it keeps on disk.

A fit asks the same of every piece: one function, its own arguments, and what all share. What a
piece came to may be kept for the next question (a :class:`Kept` in the place of an argument), and
what is small comes back, in the order of the pieces, whoever finishes first.
"""

from __future__ import annotations

import contextlib
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

from ne_dynamics.errors import InputError

IN_MEMORY = 2
"""Pieces that are kept in memory; more of them go to disk."""

Progress = Callable[[str, Iterator[Any], int], Iterator[Any]]
"""Shows how far a step is: its name, its results as they come, and their number."""


class Kept:
    """A place where a result is kept; only its runner knows more."""


class Runner(Protocol):
    """Calls a function for each piece."""

    def keep(
        self,
        name: str,
        function: Callable[..., tuple[Any, Any]],
        arguments: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> tuple[list[Kept], list[Any]]:
        """Return what is kept of each piece, and what is small.

        Parameters
        ----------
        name : str
            Of the step, for people.
        function : callable
            Of the module level; takes own and shared arguments, returns what is kept and what
            comes back.
        arguments : sequence of tuple
            Of each piece.
        *shared
            Arguments of all.
        """

    def map(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> Iterator[Any]:
        """Yield what the function returns for each piece, in their order."""

    def release(self, kept: Iterable[Kept]) -> None:
        """Forget what was kept."""


@dataclass
class _InMemory(Kept):
    value: Any


@dataclass
class _OnDisk(Kept):
    stream: IO[bytes]
    place: int


class LocalRunner:
    """Does the work in this process.

    Results that are kept go into files without a name in the folder for temporary files: they
    are gone with the process, whatever ends it.

    Parameters
    ----------
    progress : callable, optional
        Shows how far it is.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> LocalRunner:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._files:
            with contextlib.suppress(OSError):
                stream.close()

    def keep(
        self,
        name: str,
        function: Callable[..., tuple[Any, Any]],
        arguments: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> tuple[list[Kept], list[Any]]:
        """Return what is kept of each piece, and what is small.

        Raises
        ------
        InputError
            When there is no room for it.
        """
        kept: list[Kept] = []
        small = []
        stream = None
        for value, summary in self.map(name, function, arguments, *shared):
            small.append(summary)
            if len(arguments) <= IN_MEMORY:
                kept.append(_InMemory(value))
                continue
            try:
                if stream is None:
                    stream = tempfile.TemporaryFile(prefix='ne_dynamics')  # noqa: SIM115
                    self._files.append(stream)
                kept.append(_OnDisk(stream, stream.seek(0, 2)))
                pickle.dump(value, stream, protocol=5)
                stream.flush()
            except OSError as error:
                raise InputError(
                    f'cannot keep what was filtered in {tempfile.gettempdir()}: {error.strerror}; '
                    'expected room for about as much as the logs take: set TMPDIR to a folder '
                    'that has it'
                ) from error
        return kept, small

    def map(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> Iterator[Any]:
        """Yield what the function returns for each piece, in their order."""

        def generate() -> Iterator[Any]:
            for own in arguments:
                yield function(*map(_load, own), *shared)

        if self._progress is None or len(arguments) < 2:
            return generate()
        return self._progress(name, generate(), len(arguments))

    def release(self, kept: Iterable[Kept]) -> None:
        """Forget what was kept, with all that was kept in the same step."""
        for item in kept:
            if isinstance(item, _OnDisk):
                item.stream.close()
            elif isinstance(item, _InMemory):
                item.value = None


def _load(argument: Any) -> Any:
    if isinstance(argument, _InMemory):
        return argument.value
    if isinstance(argument, _OnDisk):
        argument.stream.seek(argument.place)
        return pickle.load(argument.stream)
    return argument
