"""The efforts as a linear function of the inertial parameters."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.arguments import read_array, read_rows
from ne_dynamics.codegen.functions import FUNCTIONS, REGRESSOR_GRADIENT
from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray


class RegressorMethods(CheckedCalls):
    """Regressors, and the inertial parameters they multiply."""

    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the regressor of the inertial parameters, shape (n, 10 b) or (N, n, 10 b).

        ``regressor @ inertial_parameters()`` is the inverse dynamics without friction and rotor
        inertia [N m or N]; b is the number of bodies.
        """
        return self._answer('regressor', (q, qd, qdd), out)

    def kinetic_energy_regressor(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the regressor of the kinetic energy, shape (10 b,) or (N, 10 b), for b bodies.

        ``kinetic_energy_regressor @ inertial_parameters()`` is the kinetic energy without rotor
        inertia [J].
        """
        return self._answer('kinetic_energy_regressor', (q, qd), out)

    def potential_energy_regressor(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the regressor of the potential energy, shape (10 b,) or (N, 10 b), for b bodies.

        ``potential_energy_regressor @ inertial_parameters()`` is :meth:`potential_energy` [J].
        """
        return self._answer('potential_energy_regressor', (q,), out)

    def regressor_gradient(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        weights: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the gradient of a weighted sum of the entries of :meth:`regressor`.

        This is the adjoint of the regressor, for objectives that depend on it. With weights
        ``l_i p_j`` it is the gradient of ``l @ tau`` for the parameters p.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities and accelerations [rad/s^2 or m/s^2].
        weights : array-like, shape (n, 10 b) or (N, n, 10 b)
            Weight of each entry, for b bodies; taken as constant.
        out : array, shape (3, n) or (3, N, n), optional
            Array for the result.

        Returns
        -------
        array, shape (3, n) or (3, N, n)
            Gradient of ``sum_ij weights_ij regressor_ij`` by q, by qd and by qdd.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        Reverse-mode differentiation of the traced regressor, about five times its operations; see
        :func:`ne_dynamics.codegen.differentiation.pull_back`.
        """
        row = FUNCTIONS[REGRESSOR_GRADIENT]
        count = row.arguments[-1].count(self._structure)
        given = _read_weights(weights, (self.n, count // self.n), q)
        flat = given.reshape(*given.shape[:-2], count)
        return self._answer(row.name, (q, qd, qdd, flat), out, row=row)

    def inertial_parameters(self) -> FloatArray:
        """Return the inertial parameters that :meth:`regressor` multiplies, shape (10 b,).

        For each body: mass [kg], first moment (3) [kg m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2]
        about the origin of the body's frame in the model, in its axes.
        """
        given = self._subject.given.inertial
        if given is not None:
            return given.copy()
        return np.concatenate([body.inertia.parameters for body in self._structure.bodies])


def _read_weights(weights: ArrayLike, shape: tuple[int, int], q: ArrayLike) -> FloatArray:
    """Return weights that go with positions, shape (n, 10 b) or (N, n, 10 b)."""
    given = read_array(weights, 'weights')
    if given.ndim not in (2, 3) or given.shape[-2:] != shape:
        raise InputError(
            f'weights: expected shape {shape} or (N, {shape[0]}, {shape[1]}), got {given.shape}'
        )
    samples = read_rows(q, 'q', shape[0]).shape[0]
    expected = shape if np.ndim(q) == 1 else (samples, *shape)
    if given.shape != expected:
        raise InputError(
            f'weights: expected shape {expected} to go with q of shape {np.shape(q)}, got '
            f'{given.shape}'
        )
    if not math.isfinite(np.vdot(given, given)) and not np.isfinite(given).all():
        index = tuple(int(place) for place in np.argwhere(~np.isfinite(given))[0])
        raise InputError(f'weights: expected finite numbers, got {given[index]} at index {index}')
    return given
