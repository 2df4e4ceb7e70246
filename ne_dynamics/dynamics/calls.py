"""How a call is made: check its arguments, choose the row that answers, compute it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import (
    Given,
    check_result,
    check_rows,
    match_samples,
    require_finite,
)
from ne_dynamics.codegen.functions import (
    Function,
    argument_places,
    choose_function,
    method_arguments,
    names_only,
)
from ne_dynamics.dynamics.entries import CompiledEntries
from ne_dynamics.model.robot import FloatArray

_FLOAT = np.dtype(np.float64)


class CheckedCalls(CompiledEntries):
    """What every method that computes ends in."""

    def _answer(
        self,
        method: str,
        values: tuple[ArrayLike | None, ...],
        out: FloatArray | None,
        *,
        link: str | None = None,
        row: Function | None = None,
    ) -> FloatArray:
        """Check the arguments of a method, choose the function that answers, and compute it."""
        if link is not None and not isinstance(link, str):
            self._structure.link(link)  # raises
        if self._facade is not None and link is None and (row is None or row.method):
            answer = self._ask_entry_for_lists(method, values, out)
            if answer is not None:
                return answer
        if self._structure.tip_link is None:
            self._require_tip_for_loads(method, values)
        if row is None:
            row = choose_function(method, tuple([value is not None for value in values]))
        given = []
        for place, argument in zip(argument_places(row), row.arguments, strict=True):
            value, count = values[place], argument.count(self._structure)
            if value is None and argument.name in row.optional:
                value = np.zeros(count)
            given.append(
                Given(argument.name, value, count, argument.serves_all, argument.is_nonnegative)  # type: ignore[arg-type]
            )
        arrays, is_single = match_samples(given)
        if row.needs_tip and link is None and self._structure.tip_link is None:
            require_finite(given, arrays)
            _ = self._structure.tip  # raises
        rows_out = None
        if out is not None:
            shape = row.shape(self._structure)
            rows = shape if is_single else _join_shape(arrays[0].shape[0], shape, row.is_stacked)
            rows_out = check_result(out, rows, arrays)
            rows_out = rows_out[np.newaxis] if is_single else rows_out
            if row.is_stacked and not is_single:
                rows_out = None  # its samples are apart
        result = self._evaluator.evaluate(
            row.name, arrays, lambda: require_finite(given, arrays), link, rows_out
        )
        if link is None and row.name not in self._with_entry:
            self._note_answer(row)
        if is_single:
            return result[0] if out is None else out
        if row.is_stacked:
            result = np.ascontiguousarray(np.moveaxis(result, 1, 0))
            if out is not None:
                out[...] = result
        return result if out is None else out

    def _ask_entry_for_lists(
        self, method: str, values: tuple[ArrayLike | None, ...], out: FloatArray | None
    ) -> FloatArray | None:
        """Return the answer of the entry, which takes no lists, to arrays in place of them.

        None where no number is in a list, or where they are for the checks to name. What the
        entry does not take comes back as arrays, and no third time.
        """
        shown = None if self._facade is None else self._facade()
        entry = None if shown is None else shown.__dict__.get(method)
        if entry is None:
            return None
        arrays, has_lists = [], False
        for value in values:
            if isinstance(value, (list, tuple)):
                try:
                    value = np.array(value)
                except ValueError:  # rows of different length
                    return None
                if value.dtype != _FLOAT:
                    if value.dtype.kind != 'i':
                        return None
                    value = value.astype(_FLOAT)
                has_lists = True
            arrays.append(value)
        if not has_lists:
            return None
        named = {name: arrays.pop() for name in reversed(names_only(method))}
        while arrays[-1] is None:
            arrays.pop()
        if out is not None:
            named['out'] = out
        answer: FloatArray = entry(*arrays, **named)
        return answer

    def _require_tip_for_loads(self, method: str, values: Sequence[ArrayLike | None]) -> None:
        """Raise an error when a payload, or a wrench that is not zero, has no tip to act on."""
        names = [argument.name for argument in method_arguments(method)]
        given = dict(zip(names, values, strict=False))
        wrench = given.get('wrench')
        if given.get('payload') is not None or (
            wrench is not None and check_rows(wrench, 'wrench', 6).any()
        ):
            _ = self._structure.tip  # raises


def _join_shape(samples: int, shape: tuple[int, ...], is_stacked: bool) -> tuple[int, ...]:
    """Return the shape of a batch's result."""
    return (shape[0], samples, *shape[1:]) if is_stacked else (samples, *shape)
