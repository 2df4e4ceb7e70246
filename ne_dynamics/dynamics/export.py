"""The generated equations as text, as files, as functions of other arrays; what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.programs import list_functions
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError


class ExportMethods(CheckedCalls):
    """Export of the generated code as text, files and array functions; operation counts."""

    def operation_counts(
        self, functions: Sequence[str] | None = None
    ) -> dict[str, tuple[int, int]]:
        """Return (multiplications, additions) of the generated code, by function.

        Divisions count as multiplications and subtractions as additions; changes of sign, sines
        and cosines are not counted. The functions of :meth:`missing_functions` are left out.

        Parameters
        ----------
        functions : sequence of str, optional
            As for :meth:`source_files`; default: all.
        """
        counts = {}
        if functions is None:
            missing = self.missing_functions()
            functions = [one for one in list_functions(self._structure) if one not in missing]
        for name in functions:
            count = self._folded_evaluator.interpret(name).program.count()
            counts[name] = (count.multiplications, count.additions)
        return counts

    def missing_functions(self) -> dict[str, str]:
        """Return the functions that this robot does not have: name to reason.

        If a joint moves neither mass nor rotor inertia, there is no forward dynamics; without any
        mass, no centre of mass. The methods raise ModelError with the same reason.
        """
        return self._folded_evaluator.find_missing(list_functions(self._structure))

    def source(self, function: str = 'inverse_dynamics', language: str = 'python') -> str:
        """Return the generated code of a function as self-contained text.

        Parameters
        ----------
        function : str
            One of the keys of :meth:`operation_counts`.
        language : str
            'python' (floats; run by the backend 'python'), 'numpy' (arrays of shape (..., n)),
            'array-api' (run by :meth:`array_function`; its first argument is the namespace) or 'c'
            (C99).

        Returns
        -------
        str
            The same text for the same robot; it contains no date.

        Raises
        ------
        InputError
            When there is no such function or language.
        ModelError
            When this robot does not have the function, see :meth:`missing_functions`.
        """
        from ne_dynamics.codegen.exported_text import write_function

        self._require_function(function, 'function')
        return write_function(self._folded_evaluator, self._subject, function, language)

    def array_function(self, name: str, xp: Any) -> Callable[..., Any]:
        """Return one of the functions for the arrays of another library (JAX, PyTorch, ...).

        Parameters
        ----------
        name : str
            One of the keys of :meth:`operation_counts`.
        xp : namespace
            A namespace of the Python array API standard: ``numpy``, ``jax.numpy``, ``torch``,
            ``array_api_strict``, or one from the package array-api-compat.

        Returns
        -------
        callable
            Takes all arguments of its signature by position, as floating-point arrays of shape
            ``(..., count)`` whose leading axes broadcast, and returns an array of shape ``(...,
            *shape)`` with their dtype and device, in the units of the method. The batch axes
            always come first.

            It has no data-dependent control flow, so it can be compiled, vectorized and
            differentiated: ``jax.jit``, ``jax.vmap``, ``jax.grad``, ``torch.func``. The derivative
            of the sign in Coulomb friction is zero. Values are not checked: results may not be
            finite. It raises InputError when an argument is not an array of the namespace, has a
            wrong last axis or dtype, or does not broadcast. It can be pickled if `xp` can, or is a
            module.

        Raises
        ------
        InputError
            When there is no such function, or `xp` lacks an operation that it needs.
        ModelError
            When this robot does not have the function, see :meth:`missing_functions`.

        Notes
        -----
        JAX computes in single precision unless ``jax_enable_x64`` is set. One sample in single
        precision stays so with NumPy 2 or newer. Call this method once and keep the result:
        ``jax.jit`` compiles each result anew. JAX 0.10 makes slow CPU code of long functions; the
        environment variable ``XLA_FLAGS=--xla_cpu_use_fusion_emitters=false`` avoids that.
        """
        from ne_dynamics.codegen.array_function import make_array_function

        self._require_function(name, 'name')
        program = self._folded_evaluator.interpret(name).program
        return make_array_function(program, FUNCTIONS[name], self._structure, xp)

    def _require_function(self, function: str, argument: str) -> None:
        names = list_functions(self._structure)
        if function not in names:
            raise InputError(f'{argument}: expected one of {", ".join(names)}, got {function!r}')

    def source_files(
        self,
        language: str = 'c',
        prefix: str | None = None,
        functions: Sequence[str] | None = None,
    ) -> dict[str, str]:
        """Return the generated code of all functions as files of a library or module.

        The functions of :meth:`missing_functions` are left out; the header lists them.

        Parameters
        ----------
        language : str
            'c': a C99 library with header, CMake project and test. 'python' (floats), 'numpy' or
            'array-api' (arrays of shape (..., n)): a module.
        prefix : str, optional
            Prefix of the file names and of all names in the C library; default: derived from the
            robot's name. Robots that are linked into one program need different prefixes.
        functions : sequence of str, optional
            Keys of :meth:`operation_counts`, 'control_effort' or 'control_effort_in_full';
            default: all keys of :meth:`operation_counts`.

        Returns
        -------
        dict of str to str
            File name to text: plain ASCII, the same text for the same robot.

        Raises
        ------
        InputError
            When there is no such language or function, the prefix is not a lower-case identifier,
            or a result overflows at a sample of the test.
        ModelError
            When the mass matrix is singular at a sample of the test.
        """
        from ne_dynamics.codegen.exported_text import write_files

        return write_files(self._folded_evaluator, self._subject, language, prefix, functions)
