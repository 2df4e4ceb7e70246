"""Run generated source on floats and on NumPy arrays, without a compiler."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ne_dynamics.algorithms.scalars import elementary
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.source import python_source
from ne_dynamics.model.robot import FloatArray

_ON_FLOATS: Mapping[str, Callable[..., Any]] = {
    'sin': math.sin,
    'cos': math.cos,
    'sign': elementary.sign,
    # These two give what arrays give where math raises an error.
    'exp': elementary.exp,
    'sqrt': elementary.sqrt,
    'tanh': math.tanh,
    'fabs': math.fabs,
    'rint': elementary.nearest,
    'clamp': elementary.clamp,
}
_ON_ARRAYS: Mapping[str, Callable[..., Any]] = {
    'sin': np.sin,
    'cos': np.cos,
    'sign': np.sign,
    'exp': np.exp,
    'sqrt': np.sqrt,
    'tanh': np.tanh,
    'fabs': np.fabs,
    'rint': np.rint,
    'clamp': elementary.clamp,
}


class PythonKernel:
    """A program as executable Python.

    Parameters
    ----------
    program : Program

    Attributes
    ----------
    source : str
        The generated text, exactly what is executed.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.source = python_source(program)
        code = compile(self.source, f'<generated {program.name}>', 'exec')
        self._on_floats = _load(code, program.name, _ON_FLOATS)
        self._on_arrays = _load(code, program.name, _ON_ARRAYS)

    def single(self, *arguments: FloatArray) -> FloatArray:
        """Evaluate one sample; arguments of shape (count,), result of the program's shape."""
        flat = self._on_floats(*[argument.tolist() for argument in arguments])
        return np.array(flat, dtype=np.float64).reshape(self.program.shape)

    def batch(self, *arguments: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Evaluate N samples; arguments of shape (N, count), result (N, ``*shape``).

        What all samples share has shape (1, count).

        A result that overflows, or a quotient by zero, is for the caller to judge.
        """
        samples = arguments[0].shape[0]
        own = arguments[: len(self.program.own_inputs)]
        shared = [argument.T for argument in arguments[len(own) :]]
        result = np.empty((samples, *self.program.shape)) if out is None else out
        flat = result.reshape(samples, len(self.program.outputs))
        block = 1024  # intermediate arrays stay in the cache
        for start in range(0, samples, block):
            rows = slice(start, start + block)
            columns = [np.ascontiguousarray(argument[rows].T) for argument in own]
            columns += shared
            with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
                outputs = self._on_arrays(*columns)
            for index, values in enumerate(outputs):
                flat[rows, index] = values
        return result


def _load(code: Any, name: str, functions: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    namespace: dict[str, Any] = {'__builtins__': {}, **functions}
    exec(code, namespace)
    # Out of its own namespace: else the two hold each other.
    function: Callable[..., Any] = namespace.pop(name)
    return function
