"""The generated equations as text, as files, as functions of other arrays; what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.programs import list_functions
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError


class ExportMethods(CheckedCalls):
    """The equations for use elsewhere."""

    def operation_counts(
        self, functions: Sequence[str] | None = None
    ) -> dict[str, tuple[int, int]]:
        """Return (multiplications, additions) of the generated source of each function.

        Divisions count as multiplications, differences as additions; changes of sign, sines and
        cosines are not counted. What :meth:`missing_functions` names is left out.

        Parameters
        ----------
        functions : sequence of str, optional
            As :meth:`source_files` takes them.
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
        """Return the functions that this robot does not have, by name, with the reason.

        Where a joint moves neither mass nor rotor inertia there is no forward dynamics, and
        without any mass no centre of mass. The methods raise ModelError with the same reason.
        """
        return self._folded_evaluator.find_missing(list_functions(self._structure))

    def source(self, function: str = 'inverse_dynamics', language: str = 'python') -> str:
        """Return the generated equations of a function as text that runs on its own.

        Parameters
        ----------
        function : str
            One of the keys of :meth:`operation_counts`.
        language : str
            'python' (floats: what the backend 'python' executes), 'numpy' (arrays of shape
            (..., n)), 'array-api' (what :meth:`array_function` executes; the namespace comes
            first) or 'c' (C99).

        Returns
        -------
        str
            The same text for the same robot: it carries no date.

        Raises
        ------
        InputError
            When there is no such function or language.
        ModelError
            When this robot does not have it, see :meth:`missing_functions`.
        """
        from ne_dynamics.codegen.exported_text import write_function

        self._require_function(function, 'function')
        return write_function(self._folded_evaluator, self._subject, function, language)

    def array_function(self, name: str, xp: Any) -> Callable[..., Any]:
        """Return a function that computes with the arrays of another library.

        Parameters
        ----------
        name : str
            One of the keys of :meth:`operation_counts`.
        xp : namespace
            Of the Python array API standard: ``numpy``, ``jax.numpy``, ``torch``,
            ``array_api_strict``, or what the package array-api-compat makes of a library.

        Returns
        -------
        callable
            Takes arrays of shape ``(..., count)`` by place, in the order of its signature, all of
            them, and returns an array of shape ``(..., *shape)`` in the units of the method. The
            axes of the samples come first in every function; those of the arguments broadcast.
            dtype and device are those of the arguments, which are floating-point.

            What it does depends on shapes alone, so that it can be compiled, mapped and
            differentiated: ``jax.jit``, ``jax.vmap``, ``jax.grad``, ``torch.func``. The
            derivative of the sign in Coulomb friction is zero. Numbers are not looked at: what is
            not finite, or gives no finite result, goes through. It raises InputError when an
            argument is no array, or one that the namespace does not take, has another last axis
            or dtype, or does not broadcast. It can be pickled where `xp` can, or is a module.

        Raises
        ------
        InputError
            When there is no such function, or `xp` lacks what it takes.
        ModelError
            When this robot does not have it, see :meth:`missing_functions`.

        Notes
        -----
        JAX computes in single precision unless ``jax_enable_x64`` is set. One sample in single
        precision stays so with NumPy 2 or newer. Keep the function: each call makes another one,
        which ``jax.jit`` compiles anew. JAX 0.10 makes slow code of long functions for processors
        (CPUs): the environment's ``XLA_FLAGS=--xla_cpu_use_fusion_emitters=false`` avoids that.
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
        """Return the generated equations of all functions as files to build on.

        What :meth:`missing_functions` names is left out, and the header says so.

        Parameters
        ----------
        language : str
            'c': a C99 library with its header, CMake project and test. 'python' (floats), 'numpy'
            or 'array-api' (arrays of shape (..., n)): a module.
        prefix : str, optional
            First part of the names of the files, and of all names in the C library; default: made
            of the robot's name. Robots that are linked into one program need different ones.
        functions : sequence of str, optional
            Keys of :meth:`operation_counts`, 'control_effort' or 'control_effort_in_full'; all
            of the former when omitted.

        Returns
        -------
        dict of str to str
            Text by file name: plain ASCII, the same text for the same robot.

        Raises
        ------
        InputError
            When there is no such language, the prefix is no lower-case identifier, or a result
            overflows at a sample of the test.
        ModelError
            When the mass matrix is singular at a sample of the test.
        """
        from ne_dynamics.codegen.exported_text import write_files

        return write_files(
            self._folded_evaluator,
            self._subject,
            self.missing_functions,
            language,
            prefix,
            functions,
        )
