"""Rows of the linear problem: what every parameter does to the effort of a joint, filtered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.friction_terms import (
    TERMS,
    compute_columns,
    compute_kept_effort,
)
from ne_dynamics.identification.signals import Signals, Stretch
from ne_dynamics.model.rigid_body import FloatArray

PER_BODY = 10
WINDOW = 4000
"""Samples of a stretch that are computed at once."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of some samples.

    Attributes
    ----------
    samples : int array, shape (K,)
        Which of the :class:`~ne_dynamics.identification.signals.Signals`.
    matrix : array, shape (K, n, 10 b + TERMS)
        For each joint the columns of the b bodies that are fitted, then of its own terms.
    effort : array, shape (K, n)
        Measured, without what is given and not fitted [N m or N].
    """

    samples: NDArray[np.intp]
    matrix: FloatArray
    effort: FloatArray


def generate_rows(
    dynamics: Dynamics, load_dynamics: Dynamics, signals: Signals, bodies: list[int]
) -> Iterator[Rows]:
    """Yield the rows of a log, window by window: nothing of its length is held.

    Parameters
    ----------
    dynamics : Dynamics
        The given robot: what shapes its friction, and the bodies that are not fitted.
    load_dynamics : Dynamics
        Of the robot by whose inertias the load of a joint is computed.
    signals : Signals
    bodies : list of int
        Those whose parameters are columns.
    """
    robot = dynamics.robot
    rigid, loaded = dynamics.without_friction(), load_dynamics.without_friction()
    fixed = np.ones(len(robot.bodies), dtype=bool)
    fixed[bodies] = False
    given = np.array([body.inertia.parameters for body in robot.bodies])
    largest = largest_velocities(signals)
    first = 0
    for stretch in signals.stretches:
        for window, kept in stretch.windows(WINDOW):
            samples = first + kept
            full = _compute_regressor(rigid, window)
            count, n = full.shape[:2]
            inertial = full[:, :, bodies].reshape(count, -1)
            matrix = np.empty((kept.size, n, PER_BODY * len(bodies) + TERMS))
            matrix[:, :, :-TERMS] = window.filtered(inertial).reshape(kept.size, n, -1)
            kept_effort = np.einsum('snbp,bp->sn', full[:, :, fixed], given[fixed])
            load = compute_load(loaded, window)
            for index, joint in enumerate(robot.joints):
                motion = window.velocity[:, index]
                direction = window.direction[:, index]
                terms = compute_columns(
                    joint,
                    motion,
                    window.acceleration[:, index],
                    direction,
                    load[:, index],
                    float(largest[index]),
                )
                matrix[:, index, -TERMS:] = window.filtered(terms)
                kept_effort[:, index] += compute_kept_effort(
                    joint, motion, direction, load[:, index]
                )
            effort = signals.effort[samples] - window.filtered(kept_effort)
            yield Rows(samples, matrix, effort)
        first += stretch.kept.size


def largest_velocities(signals: Signals) -> FloatArray:
    """Return the largest velocity of each joint [rad/s or m/s], shape (n,)."""
    result: FloatArray = np.abs(signals.velocity).max(axis=0)
    return result


def compute_load(dynamics: Dynamics, motion: Stretch) -> FloatArray:
    """Return the effort without acceleration that friction may depend on, shape (D, n)."""
    return dynamics.bias_torque(motion.position, motion.velocity)


def _compute_regressor(dynamics: Dynamics, motion: Stretch) -> FloatArray:
    full = dynamics.regressor(motion.position, motion.velocity, motion.acceleration)
    return full.reshape(*full.shape[:2], -1, PER_BODY)
