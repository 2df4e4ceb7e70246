"""Compile LLVM text with llvmlite (the compiler package of Numba), keep it, and call it."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ne_dynamics.codegen.cache import ObjectCache
from ne_dynamics.codegen.entry_call import Owner, Signature
from ne_dynamics.codegen.llvm.cpython_entry import (
    is_layout_known,
    list_symbols,
    make_builtin,
    write_entry,
)
from ne_dynamics.codegen.llvm.equations import (
    choose_lanes,
    write_declarations,
    write_several,
    write_single,
)
from ne_dynamics.codegen.llvm.loops import ALIGNMENT, measure_tile, write_batch
from ne_dynamics.codegen.llvm.object_loader import load_object
from ne_dynamics.codegen.llvm.processor import describe_machine
from ne_dynamics.codegen.llvm.thresholds import LLVM
from ne_dynamics.codegen.program import Program
from ne_dynamics.errors import BackendError
from ne_dynamics.model.robot import FloatArray

if TYPE_CHECKING:
    from ne_dynamics.codegen.llvm.thread_pool import Sharing


MAPS_PER_FUNCTION = 3
"""Memory maps that a loaded function takes."""

_busy = threading.RLock()
"""Held while LLVM works. A fork waits for it, so that no child inherits LLVM half-way."""

_engines: weakref.WeakValueDictionary[str, Engine] = weakref.WeakValueDictionary()
"""Loaded code by key, for as long as somebody uses it."""


_unused: list[Any] = []
"""Code that nobody uses any more."""


def _unload_unused() -> None:
    """Unload what nobody uses any more; to be called while LLVM is at rest."""
    while _unused:
        _unused.pop().close()


class Engine:
    """Machine code in memory.

    When nobody refers to it any more it is unloaded, before other code is loaded. Not at once:
    among garbage that is collected in a cycle, parts of LLVM would be closed before what needs
    them, and code before what was made of it.

    Parameters
    ----------
    execution : LoadedObject, or ExecutionEngine of llvmlite
    """

    __slots__ = ('__weakref__', '_execution')

    def __init__(self, execution: Any) -> None:
        self._execution = execution
        weakref.finalize(self, _unused.append, execution).atexit = False

    def address(self, function: str) -> int:
        """Return the address of a function."""
        with _busy:
            return int(self._execution.get_function_address(function))


class Toolchain:
    """The compiler for this machine, with the symbols that generated entries need.

    llvmlite is started when something is to be compiled, unless an earlier process has kept what
    it says of this machine.

    Attributes
    ----------
    has_entry : bool
        Whether the layout of this interpreter's objects is known.
    identity : str
        All that machine code depends on, but for what it was compiled from.
    cpu, features : str
        The processor, as LLVM calls it.
    lanes : int
        See :func:`count_lanes`.

    Raises
    ------
    BackendError
        When llvmlite is missing or does not know what is written for it.
    """

    def __init__(self) -> None:
        self.has_entry = is_layout_known()
        self._library: Any = None
        facts, cache = describe_machine(), ObjectCache()
        key = cache.key('toolchain', facts)
        kept = cache.read(key) if facts else None
        if kept is None:
            self.identity = self._start().identity
            if facts:
                cache.write(key, self.identity.encode())
        else:
            self.identity = kept.decode()
        _, self.cpu, self.features = self.identity.split('\n')[:3]
        self.lanes = count_lanes(self.features)

    def _start(self) -> Any:
        """Return LLVM, started at first use."""
        if self._library is None:
            from ne_dynamics.codegen.llvm.library import Library

            self._library = Library()
        return self._library

    @property
    def binding(self) -> Any:
        """The module ``llvmlite.binding``."""
        return self._start().binding

    def compile(self, text: str) -> bytes:
        """Return the object code of a module."""
        code: bytes = self._start().compile(text, self.cpu, self.features)
        return code

    def assemble(self, text: str) -> str:
        """Return the assembly text of what :meth:`compile` makes of a module."""
        assembly: str = self._start().assemble(text, self.cpu, self.features)
        return assembly

    def load(self, code: bytes, symbols: Mapping[str, int]) -> Engine:
        """Return object code, linked and ready to run.

        Parameters
        ----------
        code : bytes
        symbols : mapping of str to int
            Addresses of everything from outside that the code uses.

        Raises
        ------
        BackendError
            When the system lets this process have no more memory maps.
        """
        most = _most_functions()
        _unload_unused()
        if len(_engines) >= most:
            raise BackendError(
                f"backend 'compiled': expected at most {most} functions in use at a time (each "
                f'takes {MAPS_PER_FUNCTION} memory maps, vm.max_map_count), got one more; '
                'drop Dynamics that are not needed any more'
            )
        loaded = load_object(code, symbols)
        if loaded is None:
            loaded = self._start().load(code, symbols, self.cpu, self.features)
        return Engine(loaded)


def _most_functions() -> int:
    """Return how many functions may be loaded at a time; Linux counts a process's maps."""
    global _most
    if _most is None:
        try:
            with open('/proc/sys/vm/max_map_count', encoding='ascii') as file:
                maps = int(file.read())
        except (OSError, ValueError):
            maps = 65_530
        # Some are left to the rest of the process.
        _most = max(1000, (maps - 10_000) // MAPS_PER_FUNCTION)
    return _most


_most: int | None = None
_toolchain: Toolchain | BackendError | None = None


def toolchain() -> Toolchain:
    """Return the compiler, started at first use.

    Raises
    ------
    BackendError
        When llvmlite is not installed or too old.
    """
    global _toolchain
    with _busy:
        if _toolchain is None:
            try:
                _toolchain = Toolchain()
            except BackendError as error:
                _toolchain = error
        if isinstance(_toolchain, BackendError):
            raise BackendError(str(_toolchain)) from _toolchain.__cause__
        return _toolchain


def count_lanes(features: str) -> int:
    """Return how many samples a batch computes side by side, at most, on a processor.

    Eight where they fill one of 32 registers; else four, since of eight, two registers a value, so
    many wait in memory that nothing is won, and the code is half as long again.

    Parameters
    ----------
    features : str
        As LLVM lists them.
    """
    return LLVM.most_lanes if '+avx512f' in features.split(',') else LLVM.most_lanes // 2


def write_module(
    program: Program, signature: Signature | None, most_lanes: int = LLVM.most_lanes
) -> str:
    """Return the whole module: ``batch`` for many samples and, with a signature, ``entry``.

    Parameters
    ----------
    program : Program
    signature : Signature, optional
        How Python calls the entry. Without one the module uses nothing from outside.
    most_lanes : int
        Samples that are computed side by side, at most; see :func:`count_lanes`.

    Returns
    -------
    str
        LLVM assembly without target lines; the same text for the same equations, so that its
        hash identifies the compiled code.
    """
    lanes = choose_lanes(program, most_lanes)
    parts = [
        write_declarations(program),
        write_single(program),
        *([write_several(program, lanes)] if lanes > 1 else []),
        write_batch(program, lanes),
    ]
    if signature is not None:
        parts.append(write_entry(program, signature, lanes))
    return '\n\n'.join(parts) + '\n'


class CompiledKernel:
    """A program as machine code.

    Parameters
    ----------
    program : Program
    cache : ObjectCache
        Where object code is kept between processes.
    announce : callable, optional
        Called with a line of text before a compilation that will be noticed.
    signature : Signature, optional
        How Python calls the entry; default: all inputs by place.

    Attributes
    ----------
    was_cached : bool
        Whether the machine code was there already.
    has_entry : bool
        Whether :meth:`entry` can be called.
    most_rows : array, shape (1,)
        Rows of a batch that are not worth sharing among threads; infinite until it is measured.
    """

    def __init__(
        self,
        program: Program,
        cache: ObjectCache,
        announce: Callable[[str], None] | None = None,
        signature: Signature | None = None,
    ) -> None:
        tools = toolchain()
        self.has_entry = tools.has_entry
        self.most_rows = np.array([np.inf])
        self._sharing: Sharing | None = None
        self._name = program.name
        self._shape = program.shape
        self._size = len(program.outputs)
        wanted = signature or Signature.of(program)
        text = write_module(program, wanted if self.has_entry else None, tools.lanes)
        key = cache.key(tools.identity, text)
        self.was_cached = True
        with _busy:
            engine = _engines.get(key)
            if engine is None:
                code = cache.read(key)
                if code is None:
                    self.was_cached = False
                    if announce is not None:
                        announce(f'compiling {program.name}')
                    code = tools.compile(text)
                    cache.write(key, code)
                symbols = list_symbols(wanted.parameters) if self.has_entry else {}
                engine = _engines[key] = tools.load(code, symbols)
        self._engine = engine
        self._tile = measure_tile(program, choose_lanes(program, tools.lanes))
        pointers = [ctypes.c_void_p] * (len(program.inputs) + 2)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *pointers)
        self._batch = prototype(engine.address('batch'))
        self._single: Callable[..., FloatArray | None] | None = None
        self._is_shared = program.is_shared
        if self.has_entry and not program.is_shared:
            self._single = self.entry(Owner(None, _refuse, self.most_rows), program.name)

    def entry(self, owner: Owner, name: str, doc: str = '') -> Callable[..., Any]:
        """Return a builtin that runs the checked equations, or calls what follows it.

        Parameters
        ----------
        owner : Owner
            ``owner.following`` gets the call unchanged whenever an argument is not a float64
            array of the right shape, or a number in it is not for these equations.
        name, doc : str
            What tools show.
        """
        return make_builtin(self._engine.address('entry'), self._engine, owner, name, doc)

    def batch(
        self, *arguments: FloatArray, threads: int = 1, out: FloatArray | None = None
    ) -> FloatArray | None:
        """Evaluate N samples; None when one of them is not for these equations.

        Parameters
        ----------
        arguments : arrays, shape (N, count)
            Of what all samples share: shape (1, count).
        threads : int
            How many may share the work.
        out : array, shape (N, ``*shape``), optional
            For the result: float64, C order, apart from the arguments.
        """
        samples = arguments[0].shape[0]
        if samples == 1 and self._single is not None and out is None:
            row = self._single(*[argument[0] for argument in arguments])
            if row is not None:
                return row[np.newaxis]
        arrays = [np.ascontiguousarray(argument) for argument in arguments]
        result = np.empty((samples, *self._shape)) if out is None else out
        steps = [8 * array.shape[1] for array in arrays]
        if self._is_shared:
            steps[-1] = 0
        sources = [array.ctypes.data for array in arrays]
        target = result.ctypes.data

        def run(start: int, stop: int) -> bool:
            pointers = [at + start * step for at, step in zip(sources, steps, strict=True)]
            to = target + start * self._size * 8
            memory = np.empty(self._tile + ALIGNMENT, dtype=np.uint8)
            tile = -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT
            return bool(self._batch(stop - start, *pointers, to, tile) < 0)

        if threads == 1 or samples <= LLVM.chunk_samples:
            is_good = run(0, samples)
        else:
            if self._sharing is None:
                from ne_dynamics.codegen.llvm.thread_pool import Sharing

                self._sharing = Sharing(self.most_rows, LLVM.chunk_samples)
            is_good = self._sharing.run(run, samples, threads)
        return result if is_good else None


def _refuse(*_: Any, **__: Any) -> None:
    """Answer for an entry that does not take its arguments."""


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(
        before=_busy.acquire, after_in_parent=_busy.release, after_in_child=_busy.release
    )
