"""Rows of the linear problem: what every parameter does to the effort of a joint, filtered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.regression.drive_terms import (
    DRIVE_TERMS,
    compute_drive_columns,
    given_drive_values,
)
from ne_dynamics.identification.regression.friction_terms import (
    TERMS,
    Term,
    compute_columns,
    compute_kept_effort,
    compute_path_columns,
)
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Signals
from ne_dynamics.logs.stretch import Stretch
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

PER_BODY = 10
"""Inertial parameters of a body."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of some samples.

    Attributes
    ----------
    samples : int array, shape (K,)
        Which of the :class:`~ne_dynamics.logs.stretch.Signals`.
    matrix : array, shape (K, n, 10 b + TERMS + 3 k)
        For each joint the columns of the b bodies that are fitted, then of its own terms, then of
        the k coupled drives.
    effort : array, shape (K, n)
        Measured, without what is given and not fitted [N m or N].
    """

    samples: NDArray[np.intp]
    matrix: FloatArray
    effort: FloatArray


def generate_rows(dynamics: Dynamics, signals: Signals, bodies: list[int]) -> Iterator[Rows]:
    """Yield the rows of a log, window by window: nothing of its length is held.

    Coupled drives are not fitted. The given robot has what shapes its friction, and the bodies
    that are not fitted; parameters of the others, `bodies`, are columns.
    """
    inertial = generate_inertial_rows(dynamics, signals, bodies)
    terms = generate_term_rows(dynamics, dynamics, signals, largest_velocities(signals))
    given = given_drive_values(dynamics.robot)[:, DRIVE_TERMS].ravel()
    for first, second in zip(inertial, terms, strict=True):
        yield Rows(
            first.samples,
            np.concatenate([first.matrix, second.matrix[:, :, :TERMS]], axis=2),
            first.effort - second.effort - second.matrix[:, :, TERMS:] @ given,
        )


def generate_inertial_rows(
    dynamics: Dynamics, signals: Signals, bodies: list[int]
) -> Iterator[Rows]:
    """Yield the columns of some bodies, and the efforts without what the other bodies take."""
    robot, rigid = dynamics.robot, dynamics.without_friction()
    fixed = np.ones(len(robot.bodies), dtype=bool)
    fixed[bodies] = False
    given = np.array([body.inertia.parameters for body in robot.bodies])
    for samples, _, window, _ in _generate_windows(signals):
        full = _compute_regressor(rigid, window)
        count, n = full.shape[:2]
        inertial = full[:, :, bodies].reshape(count, -1)
        # Bodies before a joint do nothing to it.
        acting = inertial.any(axis=0)
        matrix = np.zeros((samples.size, inertial.shape[1]))
        matrix[:, acting] = window.filtered(inertial[:, acting])
        effort = signals.effort[samples]
        if fixed.any():
            kept_effort = np.einsum('snbp,bp->sn', full[:, :, fixed], given[fixed])
            effort = effort - window.filtered(kept_effort)
        yield Rows(samples, matrix.reshape(samples.size, n, -1), effort)


def generate_term_rows(
    dynamics: Dynamics,
    load_dynamics: Dynamics,
    signals: Signals,
    largest: FloatArray,
) -> Iterator[Rows]:
    """Yield the columns of joints' own terms and of drives, and efforts that are given and kept.

    `load_dynamics` are of the robot by whose inertias the load of a joint is computed; `largest`
    are velocities of the joints, shape (n,) [rad/s or m/s].
    """
    robot, loaded = dynamics.robot, load_dynamics.without_friction()
    whole, paths = None, []
    for samples, stretch, window, part in _generate_windows(signals):
        if stretch is not whole:
            # What depends on the path begins with the stretch, wherever a window does.
            whole = stretch
            paths = [
                compute_path_columns(joint, stretch.position[:, index])
                for index, joint in enumerate(robot.joints)
            ]
        # Without acceleration: what friction may depend on.
        load = loaded.bias_torque(window.position, window.velocity)
        columns, kept_efforts = [], []
        for index, joint in enumerate(robot.joints):
            velocity, acceleration, direction, pressing = (
                table[:, index]
                for table in (window.velocity, window.acceleration, window.direction, load)
            )
            path, state = (each[part] for each in paths[index])
            own = compute_columns(
                joint, velocity, acceleration, direction, pressing, float(largest[index])
            )
            own[:, Term.HYSTERESIS] = path
            columns.append(own)
            kept_efforts.append(compute_kept_effort(joint, velocity, direction, pressing, state))
        matrix = window.filtered(np.concatenate(columns, axis=1))
        matrix = matrix.reshape(samples.size, robot.n, TERMS)
        effort = window.filtered(np.stack(kept_efforts, axis=1))
        if robot.coupled_drives:
            matrix = np.concatenate([matrix, _filter_drives(robot, window, largest)], axis=2)
        yield Rows(samples, matrix, effort)


def compute_drive_rows(robot: Robot, signals: Signals, largest: FloatArray) -> FloatArray:
    """Return the columns of a robot's k coupled drives for all samples, shape (M, n, 3 k).

    `largest` are velocities of the joints, shape (n,) [rad/s or m/s].
    """
    count = len(DRIVE_TERMS) * len(robot.coupled_drives)
    found = np.zeros((signals.times.size, robot.n, count))
    for samples, _, window, _ in _generate_windows(signals):
        found[samples] = _filter_drives(robot, window, largest)
    return found


def _filter_drives(robot: Robot, window: Stretch, largest: FloatArray) -> FloatArray:
    columns = compute_drive_columns(robot, window.velocity, window.acceleration, largest)
    filtered = window.filtered(columns.reshape(len(columns), -1))
    return filtered.reshape(len(filtered), *columns.shape[1:])


def _generate_windows(
    signals: Signals,
) -> Iterator[tuple[NDArray[np.intp], Stretch, Stretch, slice]]:
    """Yield kept samples, their stretch, a window that holds them, and its part of it."""
    first = 0
    for stretch in signals.stretches:
        for window, kept, part in stretch.windows(IDENTIFICATION.samples_at_once):
            yield first + kept, stretch, window, part
        first += stretch.kept.size


def largest_velocities(signals: Signals) -> FloatArray:
    """Return the largest velocity of each joint [rad/s or m/s], shape (n,)."""
    result: FloatArray = np.abs(signals.velocity).max(axis=0, initial=0.0)
    return result


def _compute_regressor(dynamics: Dynamics, motion: Stretch) -> FloatArray:
    full = dynamics.regressor(motion.position, motion.velocity, motion.acceleration)
    return full.reshape(*full.shape[:2], -1, PER_BODY)
