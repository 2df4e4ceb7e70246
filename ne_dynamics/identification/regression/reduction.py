"""A log as triangular factors: what a least-squares fit needs of it, whatever its length.

For each joint and each block the rows ``[matrix | effort]`` are reduced to the triangle R of their
QR factorisation, which has the same ``|matrix x - effort|`` for every x. Triangles of other rows
are put together by another QR: of windows of a log, of logs, of blocks. So a log is read once, in
any pieces and in any order, and every fold of a cross-validation is made of the same triangles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.identification.regression.regression_rows import Rows
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class Reduction:
    """Triangular factors of the rows of joints and blocks.

    Attributes
    ----------
    factors : array, shape (blocks, n, C + 1, C + 1)
        Upper triangles of C columns and, last, the effort.
    counts : array, shape (blocks, n)
        Rows in each, by their weight.
    """

    factors: FloatArray
    counts: FloatArray

    @classmethod
    def empty(cls, blocks: int, joints: int, columns: int) -> Reduction:
        """Return the reduction of no rows."""
        size = columns + 1
        return cls(np.zeros((blocks, joints, size, size)), np.zeros((blocks, joints)))

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return int(self.factors.shape[0])

    def add(self, rows: Rows, blocks: NDArray[np.intp], weights: FloatArray) -> Reduction:
        """Return the reduction with more rows, of K samples in blocks, shape (K,).

        Weights, shape (K, n), are of the squares; 0 leaves a sample out.
        """
        factors, counts = self.factors.copy(), self.counts.copy()
        table = np.concatenate([rows.matrix, rows.effort[:, :, np.newaxis]], axis=2)
        table *= np.sqrt(weights)[:, :, np.newaxis]
        for block in np.unique(blocks):
            inside = blocks == block
            for joint in range(table.shape[1]):
                chosen = inside & (weights[:, joint] > 0.0)
                if not chosen.any():
                    continue
                stacked = np.concatenate([factors[block, joint], table[chosen, joint]])
                factors[block, joint] = triangle(stacked)
                counts[block, joint] += float(weights[chosen, joint].sum())
        return Reduction(factors, counts)

    def merged_at(self, first: int, other: Reduction) -> Reduction:
        """Return the reduction with the rows of another, whose first block is a given one here."""
        factors, counts = self.factors.copy(), self.counts.copy()
        for block, joint in np.ndindex(*other.counts.shape):
            if other.counts[block, joint] > 0.0:
                place = first + block, joint
                stacked = np.concatenate([factors[place], other.factors[block, joint]])
                factors[place] = triangle(stacked)
                counts[place] += other.counts[block, joint]
        return Reduction(factors, counts)

    def selected(self, blocks: NDArray[np.bool_] | list[int]) -> Reduction:
        """Return the reduction of some blocks, put together into one."""
        chosen = self.factors[blocks]
        count, joints, size, _ = chosen.shape
        if count == 1:
            return replace(self, factors=chosen, counts=self.counts[blocks])
        factors = np.array(
            [triangle(chosen[:, joint].reshape(count * size, size)) for joint in range(joints)]
        )
        return Reduction(factors[np.newaxis], self.counts[blocks].sum(axis=0)[np.newaxis])


def triangle(table: FloatArray) -> FloatArray:
    """Return the triangle, shape (C, C), of the QR factorisation of a table, shape (K, C)."""
    size = table.shape[1]
    result = np.zeros((size, size))
    upper = np.asarray(np.linalg.qr(table, mode='r'), dtype=np.float64)
    result[: upper.shape[0]] = upper
    return result
