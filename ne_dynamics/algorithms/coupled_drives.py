"""Drives that turn with several coordinates, over generic scalars.

With the ratios r of a drive its shaft turns at ``v = sum of r_j qd_j``. An effort e at the shaft
is ``r_j e`` at coordinate j, for the power ``e v`` is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.mechanism import MechanismDrive
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector


def combine_rates(drive: MechanismDrive, rates: Sequence[Scalar]) -> Scalar:
    """Return the velocity, or acceleration, of a drive's shaft by those of the coordinates."""
    total: Scalar = 0.0
    for index, ratio in drive.ratios:
        total = total + ratio * rates[index]
    return total


def distribute_efforts(
    drives: Sequence[MechanismDrive], efforts: Sequence[Scalar], added: Sequence[Scalar]
) -> Vector:
    """Return the efforts of all coordinates with those of the drives' shafts.

    Parameters
    ----------
    drives : sequence of MechanismDrive
    efforts : sequence of n scalars
        Of the coordinates without the drives, or momenta.
    added : sequence of scalars
        Of each shaft.
    """
    result = list(efforts)
    for drive, effort in zip(drives, added, strict=True):
        for index, ratio in drive.ratios:
            result[index] = result[index] + ratio * effort
    return result


def inertial_efforts(drives: Sequence[MechanismDrive], rates: Sequence[Scalar]) -> Vector:
    """Return what the rotors of drives take, or their momenta, at their shafts.

    Parameters
    ----------
    drives : sequence of MechanismDrive
    rates : sequence of n scalars
        Accelerations of the coordinates, or velocities.
    """
    return [drive.reflected_inertia * combine_rates(drive, rates) for drive in drives]
