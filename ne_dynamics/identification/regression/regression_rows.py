"""Rows of the linear problem: what every parameter does to the effort of a joint, filtered.

What costs most is what a motion does to every inertial parameter, at a higher rate and filtered.
It does not depend on the fit, so it is computed once, and only columns that a joint has are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.regression.drive_terms import DRIVE_TERMS, compute_drive_columns
from ne_dynamics.identification.regression.friction_terms import (
    TERMS,
    Term,
    compute_columns,
    compute_kept_effort,
    compute_path_columns,
)
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Signals
from ne_dynamics.logs.segment import Segment
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

PER_BODY = 10
"""Inertial parameters of a body."""


@dataclass(frozen=True)
class Place:
    """Where the filtered samples of a piece are among those of all logs.

    Attributes
    ----------
    first : int
        Number of its first one.
    fitted : int
        How many of all are fitted before the others are predicted.
    blocks : int
        Of the fitted ones.
    """

    first: int
    fitted: int
    blocks: int

    def find_blocks(self, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the block of each sample of the piece; `blocks` for those held out."""
        number = self.first + samples
        result: NDArray[np.intp] = np.where(
            number < self.fitted, number * self.blocks // max(self.fitted, 1), self.blocks
        )
        return result


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of some samples.

    Attributes
    ----------
    samples : int array, shape (K,)
        Which of the :class:`~ne_dynamics.logs.segment.Signals`.
    matrix : array, shape (K, n, 10 b + TERMS + 3 k)
        For each joint the columns of the b bodies that are fitted, then of its own terms, then of
        the k coupled drives.
    effort : array, shape (K, n)
        Measured, without what is given and not fitted [N m or N].
    """

    samples: NDArray[np.intp]
    matrix: FloatArray
    effort: FloatArray


@dataclass(frozen=True, eq=False)
class PieceRows:
    """Rows of the linear problem that a piece makes.

    Attributes
    ----------
    place : Place
    used : bool array, shape (M, n)
        Where a joint moves and its effort is not cut off, of the joints whose efforts are used.
    columns : int
        Of the bodies.
    acting : tuple of n int arrays
        Columns of the bodies that a joint has.
    inertial : tuple of n arrays, shape (M, columns that the joint has)
    effort : array, shape (M, n)
        Measured, without that of bodies that are not fitted [N m or N].
    terms : array, shape (M, n, TERMS + 3 k)
        Of the joints, then of the k coupled drives.
    kept_effort : array, shape (M, n)
        Of friction that is given and not fitted [N m or N].
    """

    place: Place
    used: NDArray[np.bool_]
    columns: int
    acting: tuple[NDArray[np.intp], ...]
    inertial: tuple[FloatArray, ...]
    effort: FloatArray
    terms: FloatArray
    kept_effort: FloatArray

    @classmethod
    def compute(
        cls,
        place: Place,
        dynamics: Dynamics,
        signals: Signals,
        bodies: list[int],
        largest: FloatArray,
    ) -> PieceRows:
        """Return the rows of signals, with loads by the given inertias.

        The given robot has what shapes its friction, and the bodies that are not fitted;
        parameters of the others, `bodies`, are columns. `largest` are velocities of the joints,
        shape (n,) [rad/s or m/s].
        """
        acting = _find_acting(dynamics, bodies)
        inertial, effort = _compute_inertial_rows(dynamics, signals, bodies, acting)
        terms = compute_term_rows(dynamics, dynamics, signals, largest)
        columns = PER_BODY * len(bodies)
        return cls(place, signals.usable, columns, acting, inertial, effort, *terms)

    @property
    def width(self) -> int:
        """Number of columns, without the effort."""
        return self.columns + int(self.terms.shape[2])

    def generate(self) -> Iterator[Rows]:
        """Yield all rows, some at a time."""
        total, n = self.effort.shape
        for first in range(0, total, IDENTIFICATION.samples_at_once):
            part = slice(first, min(first + IDENTIFICATION.samples_at_once, total))
            matrix = np.zeros((part.stop - first, n, self.columns + self.terms.shape[2]))
            for joint, places in enumerate(self.acting):
                matrix[:, joint, places] = self.inertial[joint][part]
            matrix[:, :, self.columns :] = self.terms[part]
            effort = self.effort[part] - self.kept_effort[part]
            yield Rows(np.arange(first, part.stop), matrix, effort)


def _find_acting(dynamics: Dynamics, bodies: list[int]) -> tuple[NDArray[np.intp], ...]:
    """Return the columns of the bodies that are not 0 for each joint, whatever the motion."""
    n = dynamics.robot.n
    motion = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 20, n))
    full = dynamics.without_friction().regressor(*motion)
    rows = full.reshape(20, n, -1, PER_BODY)[:, :, bodies].reshape(20, n, -1)
    return tuple(np.flatnonzero(rows[:, joint].any(axis=0)) for joint in range(n))


def _compute_inertial_rows(
    dynamics: Dynamics,
    signals: Signals,
    bodies: list[int],
    acting: tuple[NDArray[np.intp], ...],
) -> tuple[tuple[FloatArray, ...], FloatArray]:
    """Return the columns of bodies, and the efforts without what the other bodies take."""
    robot, rigid = dynamics.robot, dynamics.without_friction()
    fixed = np.ones(len(robot.bodies), dtype=bool)
    fixed[bodies] = False
    given = np.array([body.inertia.parameters for body in robot.bodies])
    inertial = tuple(np.zeros((signals.times.size, places.size)) for places in acting)
    borders = np.cumsum([places.size for places in acting])[:-1]
    effort = np.zeros(signals.effort.shape)
    for samples, _, window, _ in _generate_windows(signals):
        full = rigid.regressor(window.position, window.velocity, window.acceleration)
        full = full.reshape(*full.shape[:2], -1, PER_BODY)
        columns = full[:, :, bodies].reshape(*full.shape[:2], -1)
        own = [columns[:, joint, places] for joint, places in enumerate(acting)]
        filtered = np.split(window.filtered(np.concatenate(own, axis=1)), borders, axis=1)
        for table, part in zip(inertial, filtered, strict=True):
            table[samples] = part
        effort[samples] = signals.effort[samples]
        if fixed.any():
            kept_effort = np.einsum('snbp,bp->sn', full[:, :, fixed], given[fixed])
            effort[samples] -= window.filtered(kept_effort)
    return inertial, effort


def compute_term_rows(
    dynamics: Dynamics, load_dynamics: Dynamics, signals: Signals, largest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the columns of joints' own terms and of drives, and efforts that are given and kept.

    As :class:`PieceRows` has them. `load_dynamics` are of the robot by whose inertias the load of
    a joint is computed; `largest` are velocities of the joints, shape (n,) [rad/s or m/s].
    """
    robot, loaded = dynamics.robot, load_dynamics.without_friction()
    shape = signals.effort.shape
    terms = np.zeros((*shape, TERMS + len(DRIVE_TERMS) * len(robot.coupled_drives)))
    kept_effort = np.zeros(shape)
    whole, paths = None, []
    for samples, segment, window, part in _generate_windows(signals):
        if segment is not whole:
            # What depends on the path begins with the segment, wherever a window does.
            whole = segment
            paths = [
                compute_path_columns(joint, segment.position[:, index])
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
        filtered = window.filtered(np.concatenate(columns, axis=1))
        terms[samples, :, :TERMS] = filtered.reshape(samples.size, robot.n, TERMS)
        kept_effort[samples] = window.filtered(np.stack(kept_efforts, axis=1))
    if robot.coupled_drives:
        terms[:, :, TERMS:] = compute_drive_rows(robot, signals, largest)
    return terms, kept_effort


def compute_drive_rows(robot: Robot, signals: Signals, largest: FloatArray) -> FloatArray:
    """Return the columns of a robot's k coupled drives for all samples, shape (M, n, 3 k).

    `largest` are velocities of the joints, shape (n,) [rad/s or m/s].
    """
    count = len(DRIVE_TERMS) * len(robot.coupled_drives)
    found = np.zeros((signals.times.size, robot.n, count))
    for samples, _, window, _ in _generate_windows(signals):
        columns = compute_drive_columns(robot, window.velocity, window.acceleration, largest)
        filtered = window.filtered(columns.reshape(len(columns), -1))
        found[samples] = filtered.reshape(samples.size, robot.n, count)
    return found


def _generate_windows(
    signals: Signals,
) -> Iterator[tuple[NDArray[np.intp], Segment, Segment, slice]]:
    """Yield kept samples, their segment, a window that holds them, and its part of it."""
    first = 0
    for segment in signals.segments:
        for window, kept, part in segment.windows(IDENTIFICATION.samples_at_once):
            yield first + kept, segment, window, part
        first += segment.kept.size
