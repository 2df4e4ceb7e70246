"""Compile LLVM text with llvmlite (the compiler package of Numba), keep it, and call it."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ne_dynamics.codegen.cache import ObjectCache
from ne_dynamics.codegen.llvm import module_text
from ne_dynamics.codegen.source import Program
from ne_dynamics.errors import BackendError
from ne_dynamics.model.robot import FloatArray

ARRAY_API_TYPE = 2
ARRAY_API_NEW = 93
_METHOD_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_INTERPRETER_FUNCTIONS = (
    'PyObject_Vectorcall',
    'Py_DecRef',
    'PyEval_SaveThread',
    'PyEval_RestoreThread',
)

SAMPLES_PER_THREAD = 8192
"""A batch is shared among threads only when each gets at least this many samples."""

_engines: dict[str, Any] = {}
"""Compiled modules by key: code stays where it is for the life of the process."""


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ('name', ctypes.c_char_p),
        ('function', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('doc', ctypes.c_char_p),
    )


class Toolchain:
    """The compiler for this machine, with the symbols that generated entries need."""

    def __init__(self) -> None:
        try:
            from llvmlite import binding
        except ImportError as error:
            raise BackendError(
                "backend 'numba': expected the package numba to be installed "
                f'(pip install "ne_dynamics[fast]"): {error}'
            ) from error
        self.binding = binding
        try:
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
        except RuntimeError:
            pass  # newer releases initialise themselves and say so by this error
        self.cpu = binding.get_host_cpu_name()
        try:
            self.features = binding.get_host_cpu_features().flatten()
        except RuntimeError:
            self.features = ''
        self.has_entry = self._register_symbols()
        self.identity = '\n'.join(
            (
                binding.get_default_triple(),
                self.cpu,
                self.features,
                '.'.join(str(part) for part in binding.llvm_version_info),
                sysconfig.get_config_var('SOABI') or sys.version,
            )
        )

    def _register_symbols(self) -> bool:
        """Make the interpreter's symbols known; return whether direct entries can be used."""
        if not _layout_is_known():
            return False
        table = _array_api()
        symbols = {
            'ned_array_type': id(np.ndarray),
            'ned_float64': id(np.dtype(np.float64)),
            'ned_none': id(None),
            'ned_new_array': table[ARRAY_API_NEW],
            **{
                name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
                for name in _INTERPRETER_FUNCTIONS
            },
        }
        for name, address in symbols.items():
            self.binding.add_symbol(name, address)
        return True

    def target_machine(self) -> Any:
        """Return the code generator for this processor."""
        target = self.binding.Target.from_default_triple()
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc='pic', codemodel='jitdefault',
            jit=True,
        )  # fmt: skip

    def compile(self, text: str) -> bytes:
        """Return the object code of a module."""
        module = self.binding.parse_assembly(text)
        module.triple = self.binding.get_default_triple()
        module.verify()
        machine = self.target_machine()
        machine.set_asm_verbosity(False)
        module.data_layout = str(machine.target_data)
        _optimise(self.binding, machine, module)
        code: bytes = machine.emit_object(module)
        return code

    def load(self, code: bytes) -> Any:
        """Return an engine that holds object code, ready to run."""
        backing = self.binding.parse_assembly('')
        engine = self.binding.create_mcjit_compiler(backing, self.target_machine())
        engine.add_object_file(self.binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine


def _optimise(binding: Any, machine: Any, module: Any) -> None:
    """Inline the small functions; the text is straight-line and folded already."""
    options = binding.create_pipeline_tuning_options(speed_level=1)
    builder = binding.create_pass_builder(machine, options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)


_toolchain: Toolchain | None = None

_compiling = threading.Lock()


def toolchain() -> Toolchain:
    """Return the compiler, started at first use.

    Raises
    ------
    BackendError
        When llvmlite is not installed.
    """
    global _toolchain
    with _compiling:
        if _toolchain is None:
            _toolchain = Toolchain()
        return _toolchain


def _array_api() -> Any:
    module = importlib.import_module('numpy._core._multiarray_umath')

    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address = get_pointer(module._ARRAY_API, None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


def _layout_is_known() -> bool:
    """Compare the layout that entries rely on with what this interpreter really has."""
    if sys.implementation.name != 'cpython' or sysconfig.get_config_var('Py_GIL_DISABLED'):
        return False
    if object.__basicsize__ != 16 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    try:
        table = _array_api()
    except (ImportError, AttributeError, ValueError):
        return False
    probe = np.arange(6.0).reshape(2, 3)

    def pointer(address: int) -> int | None:
        return ctypes.c_void_p.from_address(address).value

    base = id(probe)
    dimensions, strides = pointer(base + 32), pointer(base + 40)
    return bool(
        table[ARRAY_API_TYPE] == id(np.ndarray)
        and pointer(base + 8) == id(np.ndarray)
        and pointer(base + 16) == probe.ctypes.data
        and ctypes.c_int.from_address(base + 24).value == 2
        and dimensions is not None
        and strides is not None
        and ctypes.c_ssize_t.from_address(dimensions + 8).value == 3
        and ctypes.c_ssize_t.from_address(strides).value == 24
        and pointer(base + 56) == id(np.dtype(np.float64))
        and all(hasattr(ctypes.pythonapi, name) for name in _INTERPRETER_FUNCTIONS)
    )


class CompiledKernel:
    """A program as machine code.

    Parameters
    ----------
    program : Program
    cache : ObjectCache
        Where object code is kept between processes.
    announce : callable, optional
        Called with a line of text before a compilation that will be noticed.

    Attributes
    ----------
    was_cached : bool
        Whether the machine code was there already.
    """

    def __init__(
        self,
        program: Program,
        cache: ObjectCache,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        self.program = program
        tools = toolchain()
        text = module_text(program)
        key = cache.key(tools.identity, text)
        self.was_cached = True
        with _compiling:
            engine = _engines.get(key)
            if engine is None:
                code = cache.read(key)
                if code is None:
                    self.was_cached = False
                    if announce is not None:
                        announce(f'compiling {program.name}')
                    code = tools.compile(text)
                    cache.write(key, code)
                engine = _engines[key] = tools.load(code)
        self._has_entry = tools.has_entry
        self._entry_address = engine.get_function_address('entry')
        self._single_address = engine.get_function_address('entry_single')
        pointers = [ctypes.c_void_p] * (len(program.inputs) + 1)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *pointers)
        self._batch = prototype(engine.get_function_address('batch'))

    def entry(
        self, name: str, fallback: Callable[..., Any], doc: str, takes_batches: bool = True
    ) -> Callable[..., Any]:
        """Return a builtin that runs the checked equations, or calls the fallback.

        Parameters
        ----------
        name : str
        fallback : callable
            Gets the call unchanged whenever an argument is not a finite float64 array of the
            right shape.
        doc : str
        takes_batches : bool
            Whether (N, count) arrays are answered too, on one core.

        Returns
        -------
        callable
        """
        if not self._has_entry:
            return fallback
        address = self._entry_address if takes_batches else self._single_address
        definition = _MethodDefinition(
            name.encode(), address, _METHOD_FASTCALL_KEYWORDS, doc.encode()
        )
        _definitions.append(definition)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        builtin: Callable[..., Any] = make(ctypes.addressof(definition), fallback, None)
        return builtin

    def batch(self, *arguments: FloatArray, threads: int = 1) -> FloatArray | None:
        """Evaluate N samples; None when an input needs the slow path (see ``LARGEST_ANGLE``)."""
        arrays = [np.ascontiguousarray(argument) for argument in arguments]
        samples = arrays[0].shape[0]
        size = len(self.program.outputs)
        result = np.empty((samples, size))
        share = max(SAMPLES_PER_THREAD, -(-samples // max(threads, 1)))
        starts = range(0, samples, -(-share // 8) * 8)

        def run(start: int) -> int:
            stop = min(samples, start + starts.step)
            pointers = [array.ctypes.data + start * array.strides[0] for array in arrays]
            return int(self._batch(stop - start, *pointers, result.ctypes.data + start * size * 8))

        if len(starts) <= 1:
            outcomes = [run(start) for start in starts]
        else:
            outcomes = list(_pool().map(run, starts))
        if any(outcome >= 0 for outcome in outcomes):
            return None
        return result.reshape((samples, *self.program.shape))


_definitions: list[_MethodDefinition] = []
"""Method definitions that builtins point to; they live as long as the process."""

_executor: ThreadPoolExecutor | None = None


def _pool() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(os.cpu_count() or 1, 'ne_dynamics')
    return _executor
