"""Terms of drives that turn with several joints: viscous and Coulomb friction, rotor inertia.

Each number of a drive is one column of several joints, for an effort at the shaft is felt by all
that turn it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.identification.regression.friction_terms import TERMS, Term, find_smoothing
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

DRIVE_TERMS = (Term.VISCOUS, Term.COULOMB, Term.ROTOR)
"""Columns of a drive, in their order."""


def compute_drive_columns(
    robot: Robot, velocity: FloatArray, acceleration: FloatArray, largest: FloatArray
) -> FloatArray:
    """Return the effort of one unit of each number of each of k drives, shape (D, n, 3 k).

    For velocities and accelerations of the joints, shape (D, n) [rad/s or m/s, and per second],
    and their largest velocities, shape (n,).
    """
    columns = np.zeros((*velocity.shape, 0))
    for drive, row in zip(robot.coupled_drives, robot.coupling_matrix, strict=True):
        rate = velocity @ row
        smooth = FrictionModel(smoothing_velocity=find_width(drive, row, largest))
        coulomb = cast('FloatArray', compute_friction(smooth, 0.0, 1.0, rate, 0.0))
        shaft = np.stack([rate, coulomb, acceleration @ row], axis=1)
        columns = np.concatenate([columns, shaft[:, np.newaxis] * row[:, np.newaxis]], axis=2)
    return columns


def find_width(drive: CoupledDrive, row: FloatArray, largest: FloatArray) -> float:
    """Return the width of the change of sign of a drive's Coulomb friction [rad/s].

    By its ratios, `row`, and the largest velocities of the joints, shape (n,) [rad/s or m/s].
    """
    return drive.smoothing_velocity or find_smoothing(float(np.abs(row) @ largest))


def given_drive_values(robot: Robot) -> FloatArray:
    """Return what the drives are given with of each term, shape (k, TERMS)."""
    values = np.zeros((len(robot.coupled_drives), TERMS))
    for row, drive in zip(values, robot.coupled_drives, strict=True):
        row[Term.VISCOUS] = drive.viscous_friction
        row[Term.COULOMB] = drive.coulomb_friction
        row[Term.ROTOR] = drive.reflected_inertia
    return values


def with_drive_values(
    drive: CoupledDrive, values: dict[Term, float], width: float
) -> CoupledDrive:
    """Return a drive with fitted numbers of :data:`DRIVE_TERMS`, and a width [rad/s]."""
    gear_ratio = drive.gear_ratio or 1.0
    return replace(
        drive,
        rotor_inertia=values[Term.ROTOR] / gear_ratio**2,
        gear_ratio=gear_ratio,
        viscous_friction=values[Term.VISCOUS],
        coulomb_friction=values[Term.COULOMB],
        smoothing_velocity=width,
    )
