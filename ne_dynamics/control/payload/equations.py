"""Equations that are linear in a load and in what else is unknown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, Transform


class PayloadEquations(NamedTuple):
    """Rows of a linear problem: ``right = load @ (m, m c) + rest @ unknown + error``.

    Attributes
    ----------
    load : array, shape (rows, 4)
        First moment in the frame of the load's link.
    rest : array, shape (rows, k)
    right, deviation : array, shape (rows,)
        `deviation` is that of the error.
    repeats : array, shape (rows,)
        How many rows have the same error.
    width : array, shape (k,)
        Of the unknown rest beforehand; its mean is 0.
    scales : slice
        Those of the rest that are errors of scale, joint by joint.
    """

    load: FloatArray
    rest: FloatArray
    right: FloatArray
    deviation: FloatArray
    repeats: FloatArray
    width: FloatArray
    scales: slice


def first_moments_to_tip(link_to_tip: Transform) -> FloatArray:
    """Return the matrix from (m, m c) in the frame of a link to that of the tip, shape (4, 4)."""
    matrix = np.eye(4)
    matrix[1:, 1:] = link_to_tip.rotation
    matrix[1:, 0] = link_to_tip.translation
    return matrix
