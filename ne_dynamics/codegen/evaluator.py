"""Compute the functions of one robot, by machine code or by Python."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ne_dynamics.codegen.cache import ObjectCache
from ne_dynamics.codegen.entry_call import Signature
from ne_dynamics.codegen.functions import (
    FUNCTIONS,
    WEIGHTED_BY_MASS,
    Function,
    decisive_arguments,
    method_arguments,
    names_only,
)
from ne_dynamics.codegen.programs import make_overflow_error, trace_function
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.thresholds import CODEGEN
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.robot import FloatArray, Robot

if TYPE_CHECKING:
    from ne_dynamics.codegen.llvm.compiler import CompiledKernel
    from ne_dynamics.codegen.python_kernel import PythonKernel


class Evaluator:
    """The functions of one robot, each traced, and compiled if wanted, at first use.

    Parameters
    ----------
    subject : Subject
    is_compiled : bool
        Whether there is machine code; else Python runs the generated source.
    threads : int
        Threads that share a batch of machine code.
    """

    def __init__(self, subject: Subject, is_compiled: bool, threads: int) -> None:
        self.subject = subject
        self.is_compiled = is_compiled
        self.threads = threads
        self._interpreted: dict[tuple[str, str | None], PythonKernel] = {}
        self._compiled: dict[tuple[str, str | None], CompiledKernel] = {}
        self._too_large: set[tuple[str, str | None]] = set()
        self._cache = ObjectCache()
        self._traced = subject
        self.parameters: FloatArray | None = None

    def bind(self, subject: Subject) -> Evaluator:
        """Return an evaluator of the same programs for other numbers.

        Parameters
        ----------
        subject : Subject
            From :meth:`Subject.with_parameters`; the equations of this one must take them.
        """
        bound = copy.copy(self)
        bound.subject = subject
        parameters = subject.parameters
        bound.parameters = parameters
        bound.is_compiled = self.is_compiled and bool(
            np.abs(parameters).max() < CODEGEN.largest_parameter
        )
        return bound

    def loaded(self, name: str, link: str | None = None) -> CompiledKernel | None:
        """Return the machine code of a function when it was used before."""
        return self._compiled.get((name, link))

    def load(self, name: str, link: str | None = None) -> CompiledKernel | None:
        """Return the machine code of a function, compiled at first use.

        None for a function so large that it would take much of a thread's stack.
        """
        kernel = self._compiled.get((name, link))
        if kernel is None and (name, link) not in self._too_large:
            # Only this backend needs the compiler.
            from ne_dynamics.codegen.llvm.compiler import CompiledKernel
            from ne_dynamics.codegen.llvm.equations import fits_stack
            from ne_dynamics.codegen.llvm.thresholds import LLVM

            program = trace_function(self._traced, name, link, is_compiled=True)
            if not fits_stack(program):
                self._too_large.add((name, link))
                return None
            is_long = program.count().arithmetic > 4000  # a second or so
            kernel = CompiledKernel(
                program,
                self._cache,
                _announce if is_long else None,
                _signature(FUNCTIONS[name]),
            )
            if self.threads > 1:
                kernel.most_rows[0] = LLVM.chunk_samples
            kernel = self._compiled.setdefault((name, link), kernel)
        return kernel

    def interpret(self, name: str, link: str | None = None) -> PythonKernel:
        """Return a function as Python source that runs."""
        kernel = self._interpreted.get((name, link))
        if kernel is None:
            from ne_dynamics.codegen.python_kernel import PythonKernel

            kernel = PythonKernel(trace_function(self._traced, name, link))
            self._interpreted[name, link] = kernel
        return kernel

    def find_missing(self, names: Iterable[str]) -> dict[str, str]:
        """Return which functions do not exist for this robot, and why, by name."""
        missing = {}
        for name in names:
            try:
                self.interpret(name)
            except ModelError as error:
                missing[name] = str(error)
        return missing

    def evaluate(
        self,
        name: str,
        arrays: Sequence[FloatArray],
        check: Callable[[], None],
        link: str | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return a function of N samples.

        Parameters
        ----------
        name : str
            A row of the table.
        arrays : arrays, shape (N, count)
        check : callable
            Raises an error when a number of the call is not finite. It is called where machine
            code has not made sure of that.
        link : str, optional
            Link of a pose or Jacobian, in place of the tip.
        out : array, shape (N, ``*shape``), optional
            For the result: float64, C order, apart from the arguments.

        Returns
        -------
        array, shape (N, ``*shape``)
            Finite; `out` when it is given.

        Raises
        ------
        ModelError
            When the mass matrix is singular.
        InputError
            When the result overflows.
        """
        row = FUNCTIONS[name]
        shared = [] if self.parameters is None else [self.parameters[np.newaxis]]
        if self.is_compiled and row.is_written_out(self.subject.structure, is_compiled=True):
            if (name, link) not in self._compiled:
                check()  # before anything is compiled for it
            kernel = self.load(name, link)
            if kernel is not None:
                rows = kernel.batch(*arrays, *shared, threads=self.threads, out=out)
                if rows is not None:
                    return rows
        is_written_out = row.is_written_out(self.subject.structure)
        if is_written_out or not self.is_compiled:
            check()
        if is_written_out:
            result = self._interpret(name, [*arrays, *shared], link, out)
        else:
            result = self._assemble(row, arrays, check)
            if out is not None:
                out[...] = result
                result = out
        # A square sum is finite only when its terms are, and quicker than to look at each.
        if not math.isfinite(np.vdot(result, result)) and not np.isfinite(result).all():
            check()
            raise self._explain(row, arrays)
        return result

    def _assemble(
        self, row: Function, arrays: Sequence[FloatArray], check: Callable[[], None]
    ) -> FloatArray:
        def ask(name: str, *parts: FloatArray) -> FloatArray:
            return self.evaluate(name, parts, check)

        from ne_dynamics.codegen.assembly import ASSEMBLIES

        assemble = ASSEMBLIES[row.name]
        with np.errstate(over='ignore', invalid='ignore'):
            try:
                return np.ascontiguousarray(assemble(ask, self.subject, *arrays))
            except InputError as error:  # it names a function that nobody has asked for
                check()
                raise self._explain(row, arrays) from error

    def _explain(self, row: Function, arrays: Sequence[FloatArray]) -> InputError | ModelError:
        """Return the error for a result that is not finite although the arguments are."""
        if row.name.startswith('forward_dynamics'):
            matrices = self.evaluate('mass_matrix', arrays[:1], lambda: None)
            with np.errstate(all='ignore'):
                is_regular = (np.linalg.cond(matrices) < 1.0 / np.finfo(float).eps).all()
            if not is_regular:
                return ModelError(
                    f'robot {self.subject.robot.name!r}: the mass matrix is singular at one of '
                    'the positions'
                )
        if row.name in WEIGHTED_BY_MASS and not sum(
            body.inertia.mass for body in self.subject.robot.bodies
        ):
            return make_weightless_error(self.subject.robot)
        names = [argument.name for argument in row.arguments]
        return make_overflow_error(row.method or row.name, names, arrays, self.subject)

    def _interpret(
        self,
        name: str,
        arrays: Sequence[FloatArray],
        link: str | None,
        out: FloatArray | None,
    ) -> FloatArray:
        kernel = self.interpret(name, link)
        if arrays[0].shape[0] != 1:
            return kernel.batch(*arrays, out=out)
        try:
            single = kernel.single(*[array[0] for array in arrays])[np.newaxis]
        except ZeroDivisionError as error:
            if name in WEIGHTED_BY_MASS:
                raise make_weightless_error(self.subject.robot) from error
            raise ModelError(
                f'robot {self.subject.robot.name!r}: the mass matrix is singular at q = '
                f'{arrays[0][0].tolist()}'
            ) from error
        except (ValueError, OverflowError) as error:  # the sine of an infinite angle
            raise InputError(
                f'q: expected positions whose angles are finite, got {arrays[0][0].tolist()}'
            ) from error
        if out is None:
            return single
        out[...] = single
        return out


def make_weightless_error(robot: Robot) -> ModelError:
    """Return the error for the centre of mass of what has no mass."""
    return ModelError(
        f'robot {robot.name!r}: center of mass: expected moving links with mass, got 0 kg'
    )


def _signature(row: Function) -> Signature:
    taken = tuple(argument.name for argument in row.arguments)
    if not row.method:
        return Signature(taken, taken)
    return Signature(
        tuple(argument.name for argument in method_arguments(row.method)),
        taken,
        row.optional,
        decisive_arguments(row),
        names_only(row.method),
        takes_batches=not row.is_stacked,
    )


def _announce(text: str) -> None:
    if sys.stderr.isatty():
        print(f'ne_dynamics: {text} ...', file=sys.stderr, flush=True)
