"""Robots with drives that turn with several joints."""

from dataclasses import replace

import numpy as np

from ne_dynamics.model.coupled_drive import CoupledDrive


def couple(robot, seed=0):
    """Return the robot with three random coupled drives; each second one has a smoothing velocity.

    Parameters
    ----------
    robot : Robot
        Of two joints at least.
    seed : int
    """
    rng = np.random.default_rng([seed, robot.n])
    drives = []
    for number in range(3):
        size = int(rng.integers(2, min(robot.n, 3) + 1))
        joints = rng.permutation(robot.joint_names)[:size]
        drives.append(
            CoupledDrive(
                f'drive {number}',
                tuple(map(str, joints)),
                tuple(rng.choice([-1.0, 1.0, 0.7, -2.3], size)),
                rotor_inertia=rng.uniform(0.01, 0.2),
                gear_ratio=rng.uniform(-3.0, 3.0),
                viscous_friction=rng.uniform(0.1, 1.0),
                coulomb_friction=rng.uniform(0.1, 1.0),
                smoothing_velocity=0.3 * (number % 2),
            )
        )
    return replace(robot, coupled_drives=tuple(drives))


def shaft_rows(robot):
    """Return the shafts' velocities by those of the joints, shape (drives, n), by the names."""
    rows = np.zeros((len(robot.coupled_drives), robot.n))
    for row, drive in zip(rows, robot.coupled_drives, strict=True):
        for joint, ratio in zip(drive.joints, drive.ratios, strict=True):
            row[robot.joint_names.index(joint)] = ratio
    return rows


def shaft_inertias(robot):
    """Return the inertias that the shafts feel, shape (drives,) [kg m^2]."""
    return np.array([drive.gear_ratio**2 * drive.rotor_inertia for drive in robot.coupled_drives])


def shaft_friction(robot, rates):
    """Return friction at the shafts for their velocities, shape (N, drives) [N m]."""
    columns = []
    for drive, rate in zip(robot.coupled_drives, rates.T, strict=True):
        width = drive.smoothing_velocity
        direction = np.sign(rate) if width == 0.0 else np.tanh(rate / width)
        columns.append(drive.viscous_friction * rate + drive.coulomb_friction * direction)
    return np.stack(columns, axis=-1)
