"""Inertial parameters as a 4 x 4 matrix, and which of them a body can have.

With the density rho of a body, ``P = integral of rho [r; 1] [r; 1]^T``: second moments, first
moment and mass. Some distribution of mass with volume has the ten parameters exactly when P is
positive definite (Wensing, Kim, Slotine 2018, "Linear matrix inequalities for physically
consistent inertial parameter identification", IEEE RA-L 3(1)); that is, mass > 0, principal
moments > 0, and the triangle inequality.

How far a body is from another is measured by
``D(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4`` (Lee, Wensing, Park 2020, "Geometric robot
dynamic identification: a convex programming approach", IEEE T-RO 36(2)). It does not depend on
units or axes, is convex in the parameters, and infinite where no body is: who minimises it
together with squared residuals stays among the bodies, and has one minimum.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray, Inertia


def _basis() -> FloatArray:
    basis = np.zeros((10, 4, 4))
    basis[0, 3, 3] = 1.0
    for axis in range(3):
        basis[1 + axis, axis, 3] = basis[1 + axis, 3, axis] = 1.0
    pairs = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    for index, (row, column) in enumerate(pairs, start=4):
        if row == column:
            basis[index, :3, :3] = 0.5 * np.eye(3)
            basis[index, row, row] = -0.5
        else:
            basis[index, row, column] = basis[index, column, row] = -1.0
    basis.setflags(write=False)
    return basis


BASIS = _basis()
"""P of each unit parameter, shape (10, 4, 4): ``P = sum of parameters[k] * BASIS[k]``."""


def pseudo_inertia(parameters: FloatArray) -> FloatArray:
    """Return P, shape (4, 4), of ten parameters, shape (10,).

    Mass, first moment, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin.
    """
    result: FloatArray = np.tensordot(parameters, BASIS, axes=1)
    return result


def inertia_of(pseudo: FloatArray) -> Inertia:
    """Return the body with a pseudo-inertia, shape (4, 4), of a mass > 0; in the same frame."""
    mass, first = float(pseudo[3, 3]), pseudo[:3, 3]
    second_moment = pseudo[:3, :3] - np.outer(first, first) / mass
    second_moment = 0.5 * (second_moment + second_moment.T)
    return Inertia(mass, first / mass, np.trace(second_moment) * np.eye(3) - second_moment)


def is_body(pseudo: FloatArray) -> bool:
    """Tell whether a body can have this pseudo-inertia."""
    if not pseudo[3, 3] > 0.0:
        return False
    first = pseudo[:3, 3]
    moments = np.linalg.eigvalsh(pseudo[:3, :3] - np.outer(first, first) / pseudo[3, 3])
    return bool(moments[0] > 1e-9 * moments[-1] > 0.0)


def nearest_body(inertia: Inertia) -> Inertia:
    """Return an inertia with its second moments raised to what a body of its mass > 0 can have.

    The same object when nothing had to be raised.
    """
    tensor = inertia.inertia_about_com
    moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    lowest = 1e-4 * moments[-1]
    if not lowest > 0.0:
        lowest = inertia.mass * 0.01**2  # a point mass has a centimetre
    if moments[0] >= lowest:
        return inertia
    second_moment = (axes * np.maximum(moments, lowest)) @ axes.T
    second_moment = 0.5 * (second_moment + second_moment.T)
    return Inertia(
        inertia.mass, inertia.center_of_mass, np.trace(second_moment) * np.eye(3) - second_moment
    )


def compute_width(reference: FloatArray) -> FloatArray:
    """Return a root W of the covariance of a body whose prior scale is 1, shape (10, 10).

    ``W W^T`` is the inverse of the Hessian of D(P, P0) at P0, the pseudo-inertia of a body.
    """
    hessian = compute_hessian(reference)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(hessian)).T, dtype=np.float64)


def compute_divergence(pseudo: FloatArray, reference: FloatArray) -> float:
    """Return D(P, P0) of two positive definite matrices."""
    ratio = np.linalg.solve(reference, pseudo)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(ratio))


def compute_hessian(pseudo: FloatArray) -> FloatArray:
    """Return the Hessian of D(P, P0), whatever P0 is, in the parameters of P; shape (10, 10).

    Raises
    ------
    InputError
        When P is not that of a body, or not safely.
    """
    try:
        factor = np.linalg.cholesky(pseudo)
    except np.linalg.LinAlgError:
        factor = np.zeros((4, 4))
    if not (np.diag(factor) ** 2 > 1e-14 * np.diag(pseudo)).all():
        raise InputError('pseudo-inertia: expected a positive definite matrix, got none')
    root = np.linalg.inv(factor)
    turned = root @ BASIS @ root.T
    return np.asarray(np.einsum('kij,lij->kl', turned, turned), dtype=np.float64)
