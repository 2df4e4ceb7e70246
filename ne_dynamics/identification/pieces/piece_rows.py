"""Rows of a piece of a log, kept for the passes of a fit.

What costs most is what a motion does to every inertial parameter, at a higher rate and filtered.
It does not depend on the fit, so it is computed once, and only columns that a joint has are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.regression.drive_terms import DRIVE_TERMS
from ne_dynamics.identification.regression.friction_terms import TERMS
from ne_dynamics.identification.regression.regression_rows import (
    PER_BODY,
    Rows,
    generate_inertial_rows,
    generate_term_rows,
)
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Signals
from ne_dynamics.model.rigid_body import FloatArray


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
        """Return the rows of signals, with loads by the given inertias."""
        n, columns = dynamics.robot.n, PER_BODY * len(bodies)
        acting = _find_acting(dynamics, bodies)
        total = signals.times.size
        inertial = tuple(np.zeros((total, places.size)) for places in acting)
        effort = np.zeros((total, n))
        for rows in generate_inertial_rows(dynamics, signals, bodies):
            effort[rows.samples] = rows.effort
            for joint, places in enumerate(acting):
                inertial[joint][rows.samples] = rows.matrix[:, joint, places]
        empty = np.zeros((0, 0))
        piece = cls(place, signals.usable, columns, acting, inertial, effort, empty, empty)
        return piece.with_loads(signals, dynamics, dynamics, largest)

    def with_loads(
        self,
        signals: Signals,
        dynamics: Dynamics,
        load_dynamics: Dynamics,
        largest: FloatArray,
    ) -> PieceRows:
        """Return the rows with loads of the joints by other inertias."""
        count = TERMS + len(DRIVE_TERMS) * len(dynamics.robot.coupled_drives)
        terms = np.zeros((*self.effort.shape, count))
        kept_effort = np.zeros(self.effort.shape)
        for rows in generate_term_rows(dynamics, load_dynamics, signals, largest):
            terms[rows.samples], kept_effort[rows.samples] = rows.matrix, rows.effort
        return replace(self, terms=terms, kept_effort=kept_effort)

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
    rows = full.reshape(full.shape[0], n, -1, PER_BODY)[:, :, bodies].reshape(20, n, -1)
    return tuple(np.flatnonzero(rows[:, joint].any(axis=0)) for joint in range(n))
