"""How far each body may be from the given one, by what a fit has made of it.

The given inertias of an arm are often nearly right but for one: a tool that the model lacks, a
link drawn hollow. A prior scale that is right for the others is too small for that body, and links
next to it take over what it cannot be. MacKay 1992, "Bayesian interpolation", Neural Computation
4(3): if the log tells g of the ten parameters of a body, and D is its divergence from the given
one, the prior scale s by which this is likeliest has ``s^2 = 2 D / g``, since near by D is half
the squared distance.
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.identification.regression.pseudo_inertia import (
    compute_divergence,
    compute_hessian,
)
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.regression.solver import Problem, Solution
from ne_dynamics.model.rigid_body import FloatArray


def compute_covariance(
    problem: Problem, solution: Solution, prior_scales: FloatArray
) -> FloatArray:
    """Return the covariance of all m parameters of a problem's solution, shape (m, m).

    With other prior scales of the bodies, shape (b,), in the place of those of the problem.
    """
    matrix = problem.factor[:, :-1]
    hessian = matrix.T @ matrix
    for place, prior in _compute_priors(solution, prior_scales):
        hessian[place, place] += prior
    numbers = slice(PER_BODY * len(prior_scales), None)
    hessian[numbers, numbers] += np.diag(1.0 / problem.scales**2)
    # Scaled, so that units do not spoil the inverse.
    size = 1.0 / np.sqrt(np.diag(hessian))
    inverse = np.linalg.inv(hessian * size * size[:, np.newaxis])
    result: FloatArray = inverse * size * size[:, np.newaxis]
    return result


def find_doubts(
    problem: Problem, solution: Solution, prior_scale: float, steady: float
) -> FloatArray:
    """Return how far each body may be off, by how far bodies may be; at least 1; shape (b,).

    Bodies may be off by the prior scale, as a part of themselves. So many parameters as `steady`
    says, beside those that the log tells, are off by that: a body of which the log tells little is
    not doubted for it.
    """
    covariance = compute_covariance(problem, solution, problem.prior_scales)
    squares = np.ones(len(problem.prior_scales))
    for index, (place, prior) in enumerate(_compute_priors(solution, problem.prior_scales)):
        identified = PER_BODY - float((covariance[place, place] * prior).sum())
        distance = compute_divergence(solution.pseudo_inertias[index], problem.references[index])
        squares[index] = (2.0 * distance / prior_scale**2 + steady) / (
            max(identified, 0.0) + steady
        )
    result: FloatArray = np.sqrt(np.maximum(squares, 1.0))
    return result


def _compute_priors(
    solution: Solution, prior_scales: FloatArray
) -> list[tuple[slice, FloatArray]]:
    """Return the columns of each body and the Hessian of its prior."""
    bodies = zip(solution.pseudo_inertias, prior_scales, strict=True)
    return [
        (slice(PER_BODY * index, PER_BODY * (index + 1)), compute_hessian(pseudo) / prior_scale**2)
        for index, (pseudo, prior_scale) in enumerate(bodies)
    ]
