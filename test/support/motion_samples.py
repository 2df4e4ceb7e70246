"""Random motions and wrenches, seeded, to compare two descriptions of a robot at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MotionSample:
    """Rows of joint positions, velocities, accelerations and of tip wrenches.

    Attributes
    ----------
    q, qd, qdd : array, shape (N, n)
        [rad or m, and per second, per second squared]
    wrench : array, shape (N, 6)
        Force [N] and moment [N m], large enough to matter beside the robot's own torques.
    base_motion : array, shape (N, 9)
        Angular velocity [rad/s], angular acceleration [rad/s^2], linear acceleration [m/s^2].
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    wrench: np.ndarray
    base_motion: np.ndarray

    def __len__(self):
        return len(self.q)


def random_motion(seed, rows, n):
    """Return a :class:`MotionSample` of `rows` rows for `n` joints."""
    rng = np.random.default_rng([seed, rows, n])
    return MotionSample(
        q=rng.uniform(-2.0, 2.0, (rows, n)),
        qd=rng.uniform(-2.0, 2.0, (rows, n)),
        qdd=rng.uniform(-3.0, 3.0, (rows, n)),
        wrench=rng.uniform(-10.0, 10.0, (rows, 6)),
        base_motion=rng.uniform(-2.0, 2.0, (rows, 9)),
    )


def inverse_dynamics_rows(oracle, sample, wrench=False):
    """Return an oracle's torques at every row, shape (N, n), without friction."""
    return np.array(
        [
            oracle.inverse_dynamics(
                sample.q[row],
                sample.qd[row],
                sample.qdd[row],
                wrench=sample.wrench[row] if wrench else None,
            )
            for row in range(len(sample))
        ]
    )
