"""Damped least squares from many starts side by side, within limits.

Levenberg (1944), Marquardt (1963), with a damping that shrinks with the squared error as Sugihara
(2011, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method") has it, so
that the last steps are those of Newton even where the Jacobian is nearly singular. At a limit the
step is projected (Kanzow, Yamashita and Fukushima, 2004).
"""

from __future__ import annotations

import numpy as np

from ne_dynamics.kinematics.pose_problem import PoseProblem
from ne_dynamics.model.robot import FloatArray

MOST_STEPS = 120
"""Steps of a descent."""

MOST_IDLE_STEPS, IDLE = 15, 1e-3
"""A descent ends after so many steps in a row that each take less than this part off the squared
error: the pose cannot be met from there. Near a singular target a step takes off most of it."""

LARGEST_STEP = 0.6
"""Of joints that turn [rad]: from there the linear model is worthless. Sliding is linear."""

GOOD_ENOUGH = 1e-13
"""Scaled error at which a descent ends."""

FIRST_DAMPING, SMALLEST_DAMPING = 1e-2, 1e-6
"""Of the squared error, up to an error of 1."""

DAMPING_AFTER_SUCCESS, DAMPING_AFTER_FAILURE = 0.2, 5.0

DAMPING_FLOOR = 1e-24
"""Keeps the division finite where a direction has no effect at all."""


def descend(problem: PoseProblem, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where descents of the error from several starts end.

    Parameters
    ----------
    problem : PoseProblem
    starts : array, shape (N, n)
        Joint positions [rad or m]; moved into the limits.

    Returns
    -------
    positions : array, shape (N, n)
        Within the limits. Joints that do not move the link stay where they started.
    errors : array, shape (N, 6)
        Scaled, see :class:`~ne_dynamics.kinematics.pose_problem.PoseProblem`.
    """
    positions = problem.clip(starts)
    errors = problem.compute_errors(positions)
    costs = _square(errors)
    damping = np.full(len(positions), FIRST_DAMPING)
    idle_steps = np.zeros(len(positions), dtype=int)
    for _ in range(MOST_STEPS):
        open_ = np.flatnonzero((costs > GOOD_ENOUGH**2) & (idle_steps < MOST_IDLE_STEPS))
        if open_.size == 0:
            break
        here = positions[open_]
        # Beyond an error of 1 the damping grows no more: sliding joints are far away, not lost.
        damped = damping[open_] * np.minimum(costs[open_], 1.0)
        steps = compute_steps(problem, here, errors[open_], damped)
        there = problem.clip(here + steps)
        new_errors = problem.compute_errors(there)
        new_costs = _square(new_errors)
        is_better = new_costs < costs[open_]
        is_idle = new_costs > (1.0 - IDLE) * costs[open_]
        idle_steps[open_] = np.where(is_idle, idle_steps[open_] + 1, 0)
        taken = open_[is_better]
        positions[taken], errors[taken] = there[is_better], new_errors[is_better]
        costs[taken] = new_costs[is_better]
        factors = np.where(is_better, DAMPING_AFTER_SUCCESS, DAMPING_AFTER_FAILURE)
        damping[open_] = np.maximum(damping[open_] * factors, SMALLEST_DAMPING)
    return positions, errors


def compute_steps(
    problem: PoseProblem, positions: FloatArray, errors: FloatArray, damping: FloatArray
) -> FloatArray:
    """Return the damped least-squares steps towards the target.

    Parameters
    ----------
    problem : PoseProblem
    positions : array, shape (N, n)
        Within the limits.
    errors : array, shape (N, 6)
        Scaled.
    damping : array, shape (N,)
        Squares of singular values, scaled.

    Returns
    -------
    array, shape (N, n)
        [rad or m]; joints at a limit beyond which the error would fall stay.
    """
    movers = problem.movers
    jacobians = problem.compute_jacobians(positions)
    # The error falls along J^T e: the rotation vector of the error is along its own gradient.
    slopes = np.einsum('nij,ni->nj', jacobians, errors)
    here = positions[:, movers]
    is_held = ((here >= problem.upper[movers]) & (slopes > 0.0)) | (
        (here <= problem.lower[movers]) & (slopes < 0.0)
    )
    jacobians *= ~is_held[:, None, :]
    # (J^T J + damping)^-1 J^T e = V s / (s^2 + damping) U^T e
    left, values, right = np.linalg.svd(jacobians, full_matrices=False)
    gains = values / (values**2 + damping[:, None] + DAMPING_FLOOR)
    moves = np.einsum('nki,nk,njk,nj->ni', right, gains, left, errors)
    largest = np.abs(moves * problem.is_turning[movers]).max(axis=1, keepdims=True)
    moves *= np.minimum(1.0, LARGEST_STEP / np.maximum(largest, LARGEST_STEP))
    steps = np.zeros_like(positions)
    steps[:, movers] = moves * problem.scale[movers]
    return steps


def _square(errors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum('ni,ni->n', errors, errors))
