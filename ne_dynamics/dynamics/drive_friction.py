"""Friction of drives that turn with several joints, on arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


class DriveFriction:
    """Friction of the coupled drives of a robot.

    Parameters
    ----------
    robot : Robot
    smoothing_velocity : float
        Width of the change of sign around rest where a drive gives none [rad/s]; 0: a step.

    Attributes
    ----------
    rows : array, shape (k, n)
        Velocities of the k shafts by those of the joints.
    changes_sign : tuple of k bool
        Whether the friction jumps, or is steep, where a shaft turns round.
    """

    def __init__(self, robot: Robot, smoothing_velocity: float = 0.0) -> None:
        self.rows = robot.coupling_matrix
        self._drives = [
            replace(drive, smoothing_velocity=smoothing_velocity)
            if drive.smoothing_velocity == 0.0
            else drive
            for drive in robot.coupled_drives
        ]
        self.changes_sign = tuple(drive.coulomb_friction > 0.0 for drive in self._drives)

    @classmethod
    def of(cls, robot: Robot, smoothing_velocity: float = 0.0) -> DriveFriction | None:
        """Return that of a robot; None where no coupled drive has friction."""
        has_friction = any(
            drive.viscous_friction or drive.coulomb_friction for drive in robot.coupled_drives
        )
        return cls(robot, smoothing_velocity) if has_friction else None

    def effort(self, qd: FloatArray, direction: FloatArray | None = None) -> FloatArray:
        """Return what the joints need for it, shape (n,) or (N, n) [N m or N].

        Parameters
        ----------
        qd : array, shape (n,) or (N, n)
            Velocities of the joints [rad/s or m/s].
        direction : array, shape (k,) or (N, k), optional
            In place of the sign of the shafts' velocities where that is a step.
        """
        rates = qd @ self.rows.T
        directions = [None] * len(self.rows) if direction is None else list(direction.T)
        found: list[Any] = [
            compute_friction(
                drive.friction,
                drive.viscous_friction,
                drive.coulomb_friction,
                rate,
                0.0,
                along,
            )
            for drive, rate, along in zip(self._drives, rates.T, directions, strict=True)
        ]
        shafts = np.stack([np.broadcast_to(each, rates.shape[:-1]) for each in found], axis=-1)
        return np.asarray(shafts @ self.rows, dtype=np.float64)

    def viscous_effort(self, qd: FloatArray) -> FloatArray:
        """Return what the joints need for the viscous part of it, shape (n,) [N m or N].

        Parameters
        ----------
        qd : array, shape (n,)
            [rad/s or m/s]
        """
        viscous = np.array([drive.viscous_friction for drive in self._drives])
        effort: FloatArray = (viscous * (self.rows @ qd)) @ self.rows
        return effort
