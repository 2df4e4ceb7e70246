"""Wrenches of the environment on any links: how a call with them is made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.loads import move_wrench
from ne_dynamics.arguments import Given, match_samples, require_finite
from ne_dynamics.codegen.functions import FUNCTIONS, TWIST, method_arguments
from ne_dynamics.codegen.programs import ResultOverflowError, make_overflow_error
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import BASE, FloatArray, Link


class ExternalWrenchMethods(CheckedCalls):
    """Calls with wrenches on links, which become one array of wrenches on bodies."""

    def _answer_under_loads(
        self,
        method: str,
        motion: tuple[ArrayLike, ...],
        loads: tuple[ArrayLike | None, ...],
        external_wrenches: Mapping[str, ArrayLike] | None,
        out: FloatArray | None,
    ) -> FloatArray:
        """Answer a call with three numbers of each joint; wrench, base motion and payload."""
        values = *motion, *loads
        if external_wrenches is None:
            return self._answer(method, values, out)
        on_links = self._read_wrenches(motion[0], external_wrenches, out)
        if not on_links:
            return self._answer(method, values, out)
        row = FUNCTIONS[f'{method}_with_external_wrenches']
        try:
            on_bodies = self._gather_on_bodies(on_links, np.ndim(motion[0]) == 1)
            return self._answer(method, (*values, on_bodies), out, row=row)
        except ResultOverflowError as error:
            names = [argument.name for argument in method_arguments(method)]
            named = dict(zip(names, values, strict=True))
            named |= {_name_of(link.name): wrenches for link, wrenches in on_links}
            given = {name: np.asarray(each) for name, each in named.items() if each is not None}
            raise make_overflow_error(
                method, list(given), list(given.values()), self._subject
            ) from error

    def _read_wrenches(
        self,
        q: ArrayLike,
        external_wrenches: Mapping[str, ArrayLike],
        out: FloatArray | None,
    ) -> list[tuple[Link, FloatArray]]:
        """Return links and what acts on them, shape (N, 6) each."""
        if not isinstance(external_wrenches, Mapping):
            raise InputError(
                'external_wrenches: expected a mapping of names of links to wrenches, got '
                f'{type(external_wrenches).__name__}'
            )
        links = [self._structure.link(name) for name in external_wrenches]
        given = [Given('q', q, self.n)]
        for name, wrench in external_wrenches.items():
            given.append(Given(_name_of(name), wrench, TWIST, serves_all=True))
        arrays, _ = match_samples(given)
        require_finite(given, arrays)
        for each in given[1:]:
            if out is not None and np.may_share_memory(out, np.asarray(each.value)):
                raise InputError(
                    f'out: expected memory of its own, got an array that overlaps {each.name}'
                )
        return list(zip(links, arrays[1:], strict=True))

    def _gather_on_bodies(
        self, on_links: list[tuple[Link, FloatArray]], is_single: bool
    ) -> FloatArray:
        """Return wrenches on bodies, shape (6 b,) or (N, 6 b), those of links added up.

        Raises
        ------
        ResultOverflowError
        """
        samples = len(on_links[0][1])
        result = np.zeros((samples, len(self._structure.bodies), TWIST))
        with np.errstate(over='ignore', invalid='ignore'):
            for link, wrenches in on_links:
                if link.body == BASE:
                    continue
                # Floats are the faster scalars for one sample, arrays for many.
                wrench = wrenches[0].tolist() if samples == 1 else list(wrenches.T)
                force, moment = move_wrench(link.pose_in_body, wrench)
                result[:, link.body] += np.array([*force, *moment]).T
        if not np.isfinite(result).all():
            raise ResultOverflowError('external_wrenches: their sum on a body overflows')
        flat = result.reshape(samples, TWIST * len(self._structure.bodies))
        return flat[0] if is_single else flat


def _name_of(link: str) -> str:
    """Return what messages call the wrench on a link."""
    return f'external_wrenches[{link!r}]'
