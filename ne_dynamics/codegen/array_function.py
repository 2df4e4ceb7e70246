"""Run generated source on the arrays of any library: NumPy, JAX, PyTorch and others.

The source is that of :func:`~ne_dynamics.codegen.source.array_api_source`; here it gets its
namespace, and checks of what can be known without looking at a number: shapes and kinds.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ne_dynamics.codegen.functions import Function
from ne_dynamics.codegen.program import Program
from ne_dynamics.codegen.source import array_api_source
from ne_dynamics.codegen.symbols import CLAMP, FUNCTION_NAMES
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Robot

NAMES = ('broadcast_to', 'cos', 'full_like', 'reshape', 'sign', 'sin', 'stack')
"""What is taken of a namespace; all of it is in the Python array API standard since 2021.12.

Robots with friction beyond viscous and Coulomb take ``abs``, ``exp``, ``sqrt`` and ``tanh`` too,
and the control laws ``abs``, ``round`` and ``tanh``, which are there as well. The laws also take
``maximum`` and ``minimum``, in the standard since 2023.12.
"""

_FOR_CLAMP = ('maximum', 'minimum')


def require_namespace(xp: object, names: Iterable[str] = NAMES) -> None:
    """Raise an error that says what is missing when something is no namespace with these names.

    Raises
    ------
    InputError
    """
    missing = [name for name in names if not callable(getattr(xp, name, None))]
    if missing:
        what = getattr(xp, '__name__', None) if inspect.ismodule(xp) else type(xp).__name__
        raise InputError(
            'xp: expected a namespace of the Python array API standard, as numpy, jax.numpy or '
            f'torch, got {what}, which lacks {", ".join(missing)}'
        )


def make_array_function(
    program: Program, row: Function, robot: Robot, xp: Any
) -> Callable[..., Any]:
    """Return a program, traced of a row of the table, as a function of the arrays of a namespace.

    See :meth:`ne_dynamics.Dynamics.array_function`.

    Raises
    ------
    InputError
        When `xp` is no namespace of arrays.
    """
    nodes = program.graph.nodes
    used = {nodes[index][0] for index in program.live}
    required = sorted(
        {*NAMES, *(used & set(FUNCTION_NAMES)), *(_FOR_CLAMP if CLAMP in used else ())}
    )
    require_namespace(xp, required)
    arguments = {argument.name: argument.count(robot) for argument in row.arguments}
    text = array_api_source(program)
    return ArrayFunction(program.name, text, arguments, _describe(program, row, robot), xp)


class ArrayFunction:
    """Generated source as a function of the arrays of a namespace.

    A pickle and a copy hold the text, and the name of a namespace that is a module.

    Parameters
    ----------
    name : str
        Of the function in the text.
    text : str
        From :func:`~ne_dynamics.codegen.source.array_api_source`.
    arguments : mapping of str to int
        Scalars of each argument by its name, in order.
    doc : str
        Docstring of the function.
    xp : namespace
    """

    def __init__(
        self, name: str, text: str, arguments: Mapping[str, int], doc: str, xp: Any
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(each, inspect.Parameter.POSITIONAL_ONLY) for each in arguments]
        )
        self._text = text
        self._names, self._counts = tuple(arguments), tuple(arguments.values())
        self._xp = xp
        self._compute = _load(name, text)

    def __call__(self, *arrays: Any) -> Any:
        """Return the result; see :meth:`ne_dynamics.Dynamics.array_function`."""
        names, counts, xp = self._names, self._counts, self._xp
        if len(arrays) != len(names):
            raise InputError(
                f'{self.__name__}: expected {len(names)} arrays ({", ".join(names)}), '
                f'got {len(arrays)}'
            )
        try:
            for name, count, array in zip(names, counts, arrays, strict=True):
                _require_array(name, count, array, xp)
            return self._compute(xp, *_match_leading_shapes(names, counts, arrays, xp))
        except (TypeError, AttributeError) as error:
            for name, array in zip(names, arrays, strict=True):
                if _is_foreign(array, xp):
                    raise InputError(
                        f'{name}: expected an array of {_show_namespace(xp)}, got a '
                        f'{type(array).__module__}.{type(array).__qualname__}'
                    ) from error
            raise

    def __repr__(self) -> str:
        return f'<{self.__name__} on arrays of {_show_namespace(self._xp)}>'

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by construction."""
        arguments = dict(zip(self._names, self._counts, strict=True))
        held = self.__name__, self._text, arguments, self.__doc__
        if inspect.ismodule(self._xp):
            return _rebuild, (*held, self._xp.__name__)
        return ArrayFunction, (*held, self._xp)


def _rebuild(
    name: str, text: str, arguments: Mapping[str, int], doc: str, module: str
) -> ArrayFunction:
    return ArrayFunction(name, text, arguments, doc, importlib.import_module(module))


def _load(name: str, text: str) -> Callable[..., Any]:
    code = compile(text, f'<generated {name}>', 'exec')
    # With builtins, unlike the text on floats: PyTorch imports by those of its caller.
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    # Out of its own namespace: else the two hold each other.
    function: Callable[..., Any] = namespace.pop(name)
    return function


def _show_namespace(xp: Any) -> str:
    return str(getattr(xp, '__name__', type(xp).__name__))


def _is_foreign(array: Any, xp: Any) -> bool:
    """Return whether an array comes from another package than a namespace, by their names."""
    parts = _show_namespace(xp).replace('jax', 'jax.jaxlib').split('.')
    return type(array).__module__.partition('.')[0] not in parts


def _require_array(name: str, count: int, array: Any, xp: Any) -> None:
    shape, dtype = getattr(array, 'shape', None), getattr(array, 'dtype', None)
    if shape is None or dtype is None:
        raise InputError(f'{name}: expected an array, got {type(array).__name__}')
    if isinstance(array, np.ma.MaskedArray):
        raise InputError(f'{name}: expected an array without mask, got a masked array')
    if isinstance(array, np.matrix):
        raise InputError(f'{name}: expected an array, got a matrix, whose arithmetic is another')
    if len(shape) == 0 or shape[-1] != count:
        raise InputError(f'{name}: expected shape (..., {count}), got {tuple(shape)}')
    if not _is_real_floating(dtype, xp):
        raise InputError(f'{name}: expected real floating-point numbers, got {dtype}')


def _is_real_floating(dtype: Any, xp: Any) -> bool:
    """Return whether a dtype is real and floating; True where the namespace cannot tell."""
    if hasattr(xp, 'isdtype'):
        return bool(xp.isdtype(dtype, 'real floating'))
    return bool(getattr(dtype, 'is_floating_point', True))  # torch


def _match_leading_shapes(
    names: Sequence[str], counts: Sequence[int], arrays: Sequence[Any], xp: Any
) -> Sequence[Any]:
    """Return arrays with one leading shape."""
    leading = [tuple(array.shape[:-1]) for array in arrays]
    if all(shape == leading[0] for shape in leading):
        return arrays
    common = leading[0]
    for name, count, shape in zip(names, counts, leading, strict=True):
        try:
            common = np.broadcast_shapes(common, shape)
        except ValueError as error:
            raise InputError(
                f'{name}: expected shape (..., {count}) with leading axes that broadcast with '
                f'{common} of the arguments before, got {(*shape, count)}'
            ) from error
    return [
        array if shape == common else xp.broadcast_to(array, (*common, count))
        for count, shape, array in zip(counts, leading, arrays, strict=True)
    ]


def _describe(program: Program, row: Function, robot: Robot) -> str:
    """Return the docstring of a function."""
    lines = [f'Compute {program.name} of {robot.name!r}.', '', 'Parameters', '----------']
    for argument in row.arguments:
        lines += [
            f'{argument.name} : array, shape (..., {argument.count(robot)})',
            f'    [{argument.unit}]',
        ]
    shape = ', '.join(['...', *map(str, program.shape)])
    return '\n'.join(
        [*lines, '', 'Returns', '-------', f'array, shape ({shape})', f'    [{row.returns}]', '']
    )
