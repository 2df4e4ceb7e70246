"""Compiled entries, which take the place of methods once machine code answers."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from ne_dynamics.codegen.entry_call import Owner
from ne_dynamics.codegen.functions import Function, functions_for
from ne_dynamics.dynamics.core import SETTINGS, DynamicsCore, is_entry


class CompiledEntries(DynamicsCore):
    """Puts entries in front of methods.

    An entry is a builtin in the instance's ``__dict__``. It checks the arguments and computes, in
    machine code; what it does not take it hands to the entry of the next row, and the last one to
    the method.
    """

    _answered: ClassVar[type]
    """The class whose methods entries stand for: of one that a subclass has itself there is
    none."""

    def _note_answer(self, row: Function) -> None:
        """Install the entry of a row when machine code answers these dynamics for the first time.

        Whether these do counts, not whether the code is new: dynamics of other parameters share
        it, and have entries of their own, with their numbers.
        """
        evaluator = self._evaluator
        if not row.method or not evaluator.is_compiled or evaluator.loaded(row.name) is None:
            return
        self._with_entry.add(row.name)
        self._install_entries(row.method)

    def _install_entries(self, method: str) -> None:
        """Put the compiled functions in front of the method they answer for."""
        shown: CompiledEntries | None = self if self._facade is None else self._facade()
        if shown is None or getattr(type(self), method) is not getattr(self._answered, method):
            return  # nobody would call it, or a subclass has its own
        rows = functions_for(method)
        if not rows[0].shape(self._structure):
            return  # an entry returns arrays
        if self._structure.tip_link is None:
            # Without a tip a wrench or a payload is an error, which the method raises.
            rows = rows[:1]
        stand_in = shown._make_stand_in()
        function = getattr(self._answered, method)
        following: Callable[..., Any] = function.__get__(stand_in)
        for row in reversed(rows):
            kernel = self._evaluator.loaded(row.name)
            if kernel is not None and kernel.has_entry:
                parameters = self._evaluator.parameters
                owner = Owner(stand_in, following, kernel.most_rows, parameters)
                following = kernel.entry(owner, method, _builtin_doc(function))
        if is_entry(following):
            shown.__dict__[method] = following

    def _make_stand_in(self) -> CompiledEntries:
        """Return the same dynamics without entries.

        An entry refers to it in place of these dynamics, which refer to the entry. So there is no
        reference cycle, and the machine code is unloaded as soon as its last user is gone.
        """
        stand_in = object.__new__(type(self))
        stand_in.__dict__.update(
            {key: self.__dict__[key] for key in SETTINGS}, _facade=weakref.ref(self)
        )
        return stand_in


def _builtin_doc(method: Callable[..., Any]) -> str:
    """Return a docstring from which ``inspect.signature`` reads a builtin's arguments."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(method).parameters.items()
        if name != 'self'
    ]
    return f'{method.__name__}{inspect.Signature(parameters)}\n--\n\n{method.__doc__ or ""}'
