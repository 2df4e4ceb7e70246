"""How much of the efforts in a log a model explains, joint by joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ne_dynamics.algorithms.hysteresis import compute_friction_along
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.drive_friction import DriveFriction
from ne_dynamics.errors import InputError
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.logs import Log, Signals, filtered
from ne_dynamics.logs.sums import Sums
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True)
class JointResidual:
    """How well a model reproduces the measured effort of one joint.

    Attributes
    ----------
    name, unit : str
        Joint, and unit of its effort.
    rms_measured, rms_model, rms_difference : float
        Root mean squares of the filtered efforts and of their difference [N m or N].
    explained : float
        ``1 - (rms_difference / rms_measured)^2``; negative when the model is worse than no model,
        NaN when the measured effort is zero.
    """

    name: str
    unit: str
    rms_measured: float
    rms_model: float
    rms_difference: float
    explained: float

    def as_json(self) -> dict[str, Any]:
        """Return the figures as data for JSON; numbers that are not finite become None."""
        return {
            'joint': self.name,
            'unit': self.unit,
            'rms_measured': self.rms_measured,
            'rms_model': self.rms_model,
            'rms_difference': self.rms_difference,
            'explained': finite_or_none(self.explained),
        }


@dataclass(frozen=True, eq=False)
class EffortSums(Sums):
    """Sums of squares of measured and computed efforts, and of their difference.

    Attributes
    ----------
    count : int
        Samples.
    measured, computed, difference : array, shape (n,)
        [(N m)^2 or N^2]
    """

    count: int
    measured: FloatArray
    computed: FloatArray
    difference: FloatArray

    @classmethod
    def of(cls, measured: FloatArray, computed: FloatArray) -> EffortSums:
        """Return the sums of efforts, shape (M, n) each."""
        tables = measured, computed, measured - computed
        return cls(measured.shape[0], *((table * table).sum(axis=0) for table in tables))

    def describe(self, robot: Robot) -> tuple[JointResidual, ...]:
        """Return the root mean squares, joint by joint."""
        results = []
        columns = zip(self.measured, self.computed, self.difference, strict=True)
        for joint, squares in zip(robot.joints, columns, strict=True):
            size, model, rest = (math.sqrt(float(each) / max(self.count, 1)) for each in squares)
            explained = 1.0 - (rest / size) ** 2 if size > 0.0 else math.nan
            unit = joint.type.effort_unit
            results.append(JointResidual(joint.name, unit, size, model, rest, explained))
        return tuple(results)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measured and computed efforts of a log.

    Attributes
    ----------
    signals : Signals
        The filtered log.
    model_effort : array, shape (M, n)
        Efforts of the model, filtered like the measured ones [N m or N].
    joints : tuple of JointResidual
    """

    signals: Signals
    model_effort: FloatArray
    joints: tuple[JointResidual, ...]


def evaluate(
    model: Robot | Dynamics, log: Log, *, cutoff_frequency: float | None = None
) -> Evaluation:
    """Compare the measured efforts of a log with those that a model computes for its motion.

    Parameters
    ----------
    model : Robot or Dynamics
        For a Robot, gravity is (0, 0, -9.80665) in base axes.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        [Hz], see :func:`~ne_dynamics.logs.signals.filtered`.

    Raises
    ------
    InputError
        When the log has other joints, or cannot be filtered with this cut-off.
    """
    dynamics = as_dynamics(model)
    require_joints(dynamics.robot, log)
    signals = filtered(log, dynamics.robot.limits('effort_limit'), cutoff_frequency)
    effort = model_effort(dynamics, signals)
    sums = EffortSums.of(signals.effort, effort)
    return Evaluation(signals, effort, sums.describe(dynamics.robot))


def as_dynamics(model: Robot | Dynamics) -> Dynamics:
    """Return the dynamics of a robot; of an upright base when only the robot is given.

    A log is a batch or two: nothing is compiled for it.
    """
    return model if isinstance(model, Dynamics) else Dynamics(model, backend='python')


def without_joint_friction(dynamics: Dynamics) -> Dynamics:
    """Return the dynamics without friction but that of drives that turn with several joints."""
    drives = dynamics.robot.coupled_drives
    if not drives:
        return dynamics.without_friction()
    robot = replace(dynamics.robot.without_friction(), coupled_drives=drives)
    return Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)


def require_joints(robot: Robot, log: Log) -> None:
    """Refuse a log of other joints, or in another order, by an InputError."""
    if log.joint_names != robot.joint_names:
        raise InputError(
            f'log {log.source}: expected the joints {", ".join(robot.joint_names)}, got '
            f'{", ".join(log.joint_names)}'
        )


def model_effort(dynamics: Dynamics, signals: Signals) -> FloatArray:
    """Return the efforts of a model for filtered signals, shape (M, n) [N m or N].

    They are those of the motion at a higher rate, filtered like the measured ones, steps of
    friction included.
    """
    rigid, drives = dynamics.without_friction(), DriveFriction.of(dynamics.robot)
    parts = []
    for segment in signals.segments:
        motion = segment.position, segment.velocity
        effort = np.array(rigid.inverse_dynamics(*motion, segment.acceleration))
        load = rigid.bias_torque(*motion)
        if drives is not None:
            effort += drives.effort(segment.velocity)
        for index, joint in enumerate(dynamics.robot.joints):
            effort[:, index] += compute_friction_along(
                joint.friction,
                joint.viscous_friction,
                joint.coulomb_friction,
                segment.position[:, index],
                segment.velocity[:, index],
                load[:, index],
                segment.direction[:, index],
            )
        parts.append(segment.filtered(effort))
    return np.concatenate([np.zeros((0, dynamics.robot.n)), *parts])


def rms(values: FloatArray) -> FloatArray:
    """Return the root mean square of each column."""
    return np.asarray(np.sqrt(np.mean(values * values, axis=0)))


def describe_residuals(joints: Sequence[JointResidual]) -> list[str]:
    """Return how well a model reproduces efforts, joint by joint, as a table in lines."""
    width = max(len(joint.name) for joint in joints)
    lines = [f'  {"":{width}}  {"measured":>10}  {"model":>10}  {"difference":>10}  explained']
    for joint in joints:
        explained = f'{100.0 * joint.explained:8.1f} %' if math.isfinite(joint.explained) else '-'
        lines.append(
            f'  {joint.name:{width}}  {joint.rms_measured:10.4g}  {joint.rms_model:10.4g}  '
            f'{joint.rms_difference:10.4g}  {explained:>9}'
        )
    return lines
