"""Partial derivatives of the inverse and the forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from ne_dynamics.dynamics.external_wrenches import ExternalWrenchMethods
from ne_dynamics.model.robot import FloatArray


class DerivativeMethods(ExternalWrenchMethods):
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
        external_wrenches: Mapping[str, ArrayLike] | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the partial derivatives of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, qd, qdd : array-like, shape (n,) or (N, n)
        wrench, base_motion, payload, external_wrenches : optional
            As :meth:`inverse_dynamics` takes them; constant in their own axes, those on links in
            the axes of the link.
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
        """Return the partial derivatives of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, qd, tau : array-like, shape (n,) or (N, n)
        wrench, base_motion, payload, external_wrenches : optional
            As :meth:`inverse_dynamics` takes them; constant in their own axes, those on links in
            the axes of the link.
        out : array, shape (3, n, n) or (3, N, n, n), optional
            For the result.

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
        motion, loads = (q, qd, tau), (wrench, base_motion, payload)
        method = 'forward_dynamics_derivatives'
        return self._answer_under_loads(method, motion, loads, external_wrenches, out)
