"""Energy, momentum, and the centre of mass."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.dynamics.calls import CheckedCalls
from ne_dynamics.model.robot import FloatArray


class EnergyMethods(CheckedCalls):
    """Energies, momenta and the centre of mass."""

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray | float:
        """Return the kinetic energy ``qd^T M(q) qd / 2``, a float or shape (N,) [J].

        Rotor inertia is included.
        """
        return _as_scalar(self._answer('kinetic_energy', (q, qd), out), out)

    def potential_energy(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray | float:
        """Return the potential energy of all moving links in gravity, a float or shape (N,) [J].

        It is zero when their common centre of mass is level with the base frame's origin.
        """
        return _as_scalar(self._answer('potential_energy', (q,), out), out)

    def generalized_momentum(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``M(q) qd`` with rotor inertia, shape (n,) or (N, n) [kg m^2/s or kg m/s]."""
        return self._answer('generalized_momentum', (q, qd), out)

    def lagrangian_gradient(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return ``dL/dq = C(q, qd)^T qd - g(q)``, shape (n,) or (N, n) [N m or N].

        The generalized momentum p changes by ``dp/dt = tau - f + dL/dq``, for efforts tau and
        friction f. A momentum observer integrates this (De Luca and Mattone 2003). C is
        :meth:`coriolis_matrix`.
        """
        return self._answer('lagrangian_gradient', (q, qd), out)

    def center_of_mass(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the centre of mass of all moving links, shape (3,) or (N, 3) [m], in base axes.

        Raises
        ------
        ModelError
            When no moving link has a mass.
        """
        return self._answer('center_of_mass', (q,), out)

    def center_of_mass_jacobian(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the Jacobian of :meth:`center_of_mass`, shape (3, n) or (N, 3, n) [m or 1].

        ``center_of_mass_jacobian @ qd`` is its velocity in base axes. Raises ModelError as
        :meth:`center_of_mass` does.
        """
        return self._answer('center_of_mass_jacobian', (q,), out)

    def centroidal_momentum(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the centroidal momentum of all moving links, shape (6,) or (N, 6), in base axes.

        Linear [kg m/s], then angular about :meth:`center_of_mass` [kg m^2/s]; without rotor
        inertia. Raises ModelError as :meth:`center_of_mass` does.
        """
        return self._answer('centroidal_momentum', (q, qd), out)

    def centroidal_momentum_matrix(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the matrix A(q) with ``centroidal_momentum = A @ qd``, shape (6, n) or (N, 6, n).

        Raises ModelError as :meth:`center_of_mass` does.
        """
        return self._answer('centroidal_momentum_matrix', (q,), out)

    def centroidal_momentum_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the time derivative of :meth:`centroidal_momentum`, shape (6,) or (N, 6).

        Force [N], then moment about the centre of mass [N m], in base axes: the sum of all
        external forces, gravity included. Raises ModelError as :meth:`center_of_mass` does.
        """
        return self._answer('centroidal_momentum_rate', (q, qd, qdd), out)


def _as_scalar(result: FloatArray, out: FloatArray | None) -> FloatArray | float:
    """Return the result of one sample as a float, unless there is an array for it."""
    return result if out is not None or np.ndim(result) else float(result)
