"""Matrices and forward dynamics of the natural orthogonal complement, 004 (7.45)-(7.58).

Functions take an arm in standard Denavit-Hartenberg frames, and the rest as
:meth:`Formulation.inverse_dynamics
<ne_dynamics.papers.forms.formulation.Formulation.inverse_dynamics>` does.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.model.rigid_body import cross_matrix
from ne_dynamics.papers.forms.formulation import Request
from ne_dynamics.papers.forms.natural_orthogonal_complement import (
    FORM,
    build_model,
    compute_bias,
    compute_inertia,
)
from ne_dynamics.papers.forms.strobing import solve_by_cholesky


def twist_shaping_matrix(arm, q):
    """Return T of (7.54), shape (6n, n): ``t = T qd``.

    Six rows a link: angular velocity [rad/s], then velocity of its mass centre [m/s], in the axes
    of frame 0.
    """
    FORM.check(arm, q=q)
    matrix = np.zeros((arm.n, 6, arm.n))
    for link, blocks in enumerate(build_model(arm, q).shape):
        for joint, (angular, linear) in enumerate(blocks):
            matrix[link, :, joint] = [*angular, *linear]
    return matrix.reshape(6 * arm.n, arm.n)


def constraint_matrix(arm, q):
    """Return K of (7.50), shape (6n, 6n): ``K t = 0``.

    Six rows a joint: for one that turns, relative rates across its axis, and the velocity of O_i
    as a point of both links; for one that slides, relative rates, and relative velocity across its
    axis.
    """
    FORM.check(arm, q=q)
    model = build_model(arm, q)
    axes, joints, centers = (np.array(x) for x in (model.axes, model.joints, model.centers))
    identity, zero = np.eye(3), np.zeros((3, 3))
    matrix = np.zeros((6 * arm.n, 6 * arm.n))
    for index, link in enumerate(arm.links):
        axis, joint, center = axes[index], joints[index], centers[index]
        before = centers[index - 1] if index > 0 else joint
        if link.is_prismatic:
            angular, linear = identity, cross_matrix(axis)
            own, other = zero, linear @ cross_matrix(center - before)
        else:
            angular, linear = cross_matrix(axis), identity
            own, other = cross_matrix(center - joint), cross_matrix(joint - before)
        rows = slice(6 * index, 6 * index + 6)
        matrix[rows, rows] = np.block([[angular, zero], [own, linear]])
        if index > 0:
            inner = slice(6 * index - 6, 6 * index)
            matrix[rows, inner] = -np.block([[angular, zero], [-other, linear]])
    return matrix


def generalized_inertia_matrix(arm, q):
    """Return I(q) of (7.58), n rows of n scalars [kg m^2, kg m, kg]."""
    FORM.check(arm, q=q)
    return compute_inertia(arm, build_model(arm, q))


def bias(arm, q, qd, *, gravity, wrench=None, base_motion=None):
    """Return what the drives give at zero acceleration, n scalars [N m or N]."""
    FORM.check(arm, q=q, qd=qd, gravity=gravity, wrench=wrench, base_motion=base_motion)
    request = Request(arm, q, qd, [0.0] * arm.n, gravity, wrench, base_motion)
    return compute_bias(request, build_model(arm, q))


def forward_dynamics(arm, q, qd, tau, *, gravity, wrench=None, base_motion=None):
    """Return the accelerations that efforts tau give [rad/s^2 or m/s^2]: (7.57) solved.

    The model (7.45) is that of the state.
    """
    FORM.check(arm, q=q, qd=qd, tau=tau, gravity=gravity, wrench=wrench, base_motion=base_motion)
    rest = bias(arm, q, qd, gravity=gravity, wrench=wrench, base_motion=base_motion)
    return solve_by_cholesky(
        generalized_inertia_matrix(arm, q),
        [effort - known for effort, known in zip(tau, rest, strict=True)],
    )
