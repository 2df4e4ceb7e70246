"""Partial derivatives of the inverse and the forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from ne_dynamics.dynamics.external_wrenches import ExternalWrenchMethods
from ne_dynamics.model.robot import FloatArray


class DerivativeMethods(ExternalWrenchMethods):
    """Partial derivatives of inverse and forward dynamics, three stacked matrices each."""

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`inverse_dynamics` by q, qd and qdd.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities and accelerations [rad/s^2 or m/s^2].
        wrench, base_motion, payload, external_wrenches : optional
            As for :meth:`inverse_dynamics`; taken as constant in their own axes.
        out : array, shape (3, n, n) or (3, N, n, n), optional
            Array for the result.

        Returns
        -------
        array, shape (3, n, n) or (3, N, n, n)
            Unpacks as ``dtau_dq, dtau_dqd, dtau_dqdd``. Entry (i, j) of each is the derivative of
            effort i by the value of joint j; the last is the mass matrix. Friction is included;
            the derivative of a sign is taken as zero.

        Raises
        ------
        InputError, ModelError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        Exact derivatives of the traced recursion, not finite differences; see
        :func:`ne_dynamics.codegen.differentiation.differentiate`.
        """
        motion, loads = (q, qd, qdd), (wrench, base_motion, payload)
        method = 'inverse_dynamics_derivatives'
        return self._answer_under_loads(method, motion, loads, external_wrenches, out)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`forward_dynamics` by q, qd and tau.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
            Joint positions [rad or m], velocities [rad/s or m/s] and efforts [N m or N].
        wrench, base_motion, payload, external_wrenches : optional
            As for :meth:`inverse_dynamics`; taken as constant in their own axes.
        out : array, shape (3, n, n) or (3, N, n, n), optional
            Array for the result.

        Returns
        -------
        array, shape (3, n, n) or (3, N, n, n)
            Unpacks as ``dqdd_dq, dqdd_dqd, dqdd_dtau``; the last is the inverse of the mass
            matrix. Friction is included; the derivative of a sign is taken as zero.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        ModelError
            As for :meth:`inverse_dynamics`, and when the mass matrix is singular.

        Notes
        -----
        ``dqdd/dx = -M^-1 dtau/dx`` at the acceleration that the efforts cause.
        """
        motion, loads = (q, qd, tau), (wrench, base_motion, payload)
        method = 'forward_dynamics_derivatives'
        return self._answer_under_loads(method, motion, loads, external_wrenches, out)
