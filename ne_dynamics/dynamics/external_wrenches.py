"""Wrenches of the environment on any links: what they add to the efforts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import Given, check_rows, match_samples, require_finite
from ne_dynamics.codegen.programs import make_overflow_error
from ne_dynamics.dynamics.friction import FrictionMethods
from ne_dynamics.dynamics.kinematics import KinematicsMethods
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray


class ExternalWrenchMethods(FrictionMethods, KinematicsMethods):
    """Efforts of wrenches on links, and of the friction that they load."""

    if TYPE_CHECKING:

        def without_friction(self) -> Any:
            """Return the dynamics without friction: a method of what stands on this."""

    def _compute_external_load(
        self,
        method: str,
        q: ArrayLike,
        qd: ArrayLike,
        external_wrenches: Mapping[str, ArrayLike],
        out: FloatArray | None,
        loads: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None],
    ) -> FloatArray:
        """Return what wrenches on links exert on the joints, less what they add to friction.

        Parameters
        ----------
        method : str
            Who asks, for messages.
        q, qd, external_wrenches, out
            As the method takes them.
        loads : tuple
            Wrench, base motion and payload, likewise.
        """
        efforts = self._compute_external_efforts(q, external_wrenches, out)
        if not any(joint.friction.depends_on_load for joint in self._structure.joints):
            return efforts
        rest = np.zeros(np.shape(q))
        load = self.without_friction().inverse_dynamics(q, qd, rest, *loads)
        with np.errstate(over='ignore'):
            total = load - efforts
        self._require_finite_sum(method, total, external_wrenches)
        with np.errstate(over='ignore', invalid='ignore'):
            more = self.friction_torque(qd, load=total) - self.friction_torque(qd, load=load)
            return np.asarray(efforts - more)

    def _compute_external_efforts(
        self,
        q: ArrayLike,
        external_wrenches: Mapping[str, ArrayLike],
        out: FloatArray | None,
    ) -> FloatArray:
        """Return the efforts that wrenches on links exert on the joints."""
        if not isinstance(external_wrenches, Mapping):
            raise InputError(
                'external_wrenches: expected a mapping of names of links to wrenches, got '
                f'{type(external_wrenches).__name__}'
            )
        positions = check_rows(q, 'q', self.n)
        efforts = np.zeros_like(positions)
        for link, wrench in external_wrenches.items():
            name = f'external_wrenches[{link!r}]'
            self._structure.link(link)  # raises
            given = [Given('q', q, self.n), Given(name, wrench, 6, serves_all=True)]
            arrays, _ = match_samples(given)
            require_finite(given, arrays)
            if out is not None and np.may_share_memory(out, np.asarray(wrench)):
                raise InputError(
                    f'out: expected memory of its own, got an array that overlaps {name}'
                )
            jacobians = self.jacobian(positions, link, 'tip')
            with np.errstate(over='ignore', invalid='ignore'):
                efforts += np.einsum('ijk,ij->ik', jacobians, arrays[1])
        return efforts[0] if np.ndim(q) == 1 else efforts

    def _require_finite_sum(
        self, method: str, result: FloatArray, external_wrenches: Mapping[str, ArrayLike]
    ) -> None:
        """Raise an error when wrenches on links made a result overflow."""
        if not np.isfinite(result).all():
            names = [f'external_wrenches[{link!r}]' for link in external_wrenches]
            sizes = [np.asarray(wrench, dtype=float) for wrench in external_wrenches.values()]
            raise make_overflow_error(method, names, sizes)
