"""Partial derivatives of the inverse and the forward dynamics."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.model.robot import FloatArray


class DerivativeMethods(CheckedCalls):
    """Derivatives by q, qd, and qdd or tau, stacked: a result unpacks as three matrices."""

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
        wrench, base_motion, payload : array-like, optional
            As :meth:`inverse_dynamics` takes them; constant in their own axes.
        out : array, shape (3, n, n) or (3, N, n, n), optional
            For the result.

        Returns
        -------
        array, shape (3, n, n) or (3, N, n, n)
            It unpacks as ``dtau_dq, dtau_dqd, dtau_dqdd``: entry (i, j) of each is the
            derivative of effort i by number j. The last is the mass matrix. Friction is
            included; the derivative of a sign is taken as zero.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.

        Notes
        -----
        The traced recursion is differentiated, not approximated; see
        :func:`ne_dynamics.codegen.differentiation.differentiate`.
        """
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        values = q, qd, qdd, wrench, base_motion, payload
        return self._answer('inverse_dynamics_derivatives', values, out)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        payload: ArrayLike | None = None,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
        wrench, base_motion, payload, out : optional
            As for :meth:`inverse_dynamics_derivatives`.

        Returns
        -------
        array, shape (3, n, n) or (3, N, n, n)
            It unpacks as ``dqdd_dq, dqdd_dqd, dqdd_dtau``; the last is the inverse of the mass
            matrix. Friction is included; the derivative of a sign is taken as zero.

        Raises
        ------
        InputError
            As for :meth:`inverse_dynamics`.
        ModelError
            When the mass matrix is singular.

        Notes
        -----
        ``dqdd/dx = -M^-1 dtau/dx`` at the acceleration that the efforts give.
        """
        if payload is not None or (wrench is not None and base_motion is not None):
            self._require_tip_for_load(wrench, payload)
        values = q, qd, tau, wrench, base_motion, payload
        return self._answer('forward_dynamics_derivatives', values, out)
