"""Equations that are linear in a load and in what else is unknown, and their solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.errors import PayloadError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


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

    def solve(self, robot: Robot) -> tuple[FloatArray, FloatArray, float]:
        """Return (m, m c) by weighted least squares, their covariance, and the misfit.

        What turns out large for its width shows that this was too small: it is widened.

        Raises
        ------
        PayloadError
            When what is left is larger than expected, and more than a part of what is explained,
            or the model would have to be wrong.
        """
        if not self._is_finite:
            raise PayloadError('expected finite efforts and readings that do not overflow')
        rows = np.concatenate([self.load, self.rest], axis=1)
        weight = 1.0 / (self.deviation**2 * self.repeats)
        # Of the load nothing is known beforehand [kg, kg m]; finite where no pose tells it.
        width = np.concatenate([np.full(4, 100.0), self.width])
        weighted = rows.T * weight
        normal, right = weighted @ rows, weighted @ self.right
        for _ in range(5):
            # In units of the widths the matrix is well scaled, whatever the units of the rest.
            inverse = np.linalg.inv(width[:, np.newaxis] * normal * width + np.eye(width.size))
            covariance = width[:, np.newaxis] * inverse * width
            solution = covariance @ right
            width[4:] = np.maximum(width[4:], PAYLOAD.widening * np.abs(solution[4:]))
        left = (self.right - rows @ solution) / self.deviation
        explained = self.load @ solution[:4] / self.deviation
        misfit, size = (float(np.sqrt(np.mean(part * part))) for part in (left, explained))
        if not misfit <= max(PAYLOAD.largest_misfit, PAYLOAD.largest_rest * size):
            raise PayloadError(
                f'the fit leaves too much: {misfit:.2g} times what friction, noise and errors of '
                f'the model are expected to leave, where a load explains {size:.2g}; expected one '
                'load that does not change, nothing that touches the arm, and readings of the '
                'right meaning, sign and unit'
            )
        scales = solution[4:][self.scales]
        if (np.abs(scales) > PAYLOAD.largest_scale_error).any():
            worst = int(np.abs(scales).argmax())
            name = robot.joint_names[worst % robot.n]
            raise PayloadError(
                f"a load fits only if the model's own effort of joint {name!r} is "
                f'off by {100.0 * scales[worst]:.0f} %; expected a model that is right within '
                f'{100.0 * PAYLOAD.largest_scale_error:.0f} %, and torques in N m or N'
            )
        return solution[:4], covariance[:4, :4] * max(1.0, misfit**2), misfit

    @property
    def _is_finite(self) -> bool:
        """Whether all numbers can be squared and summed."""
        return all(
            bool(np.isfinite(np.square(part).sum()))
            for part in (self.load, self.rest, self.right, self.deviation)
        )
