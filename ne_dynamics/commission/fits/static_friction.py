"""How much of friction at rest is fed forward, by what the arm does with it. Needs no ROS.

Friction that rises towards rest is hard to fit: what holds a joint that sticks tells nothing of
it, and a narrow Stribeck effect with much static friction explains what turns round nearly as well
as a wide one with less. But too much of it is seen when it is fed forward. Where it turns round,
the joint is pushed ahead of its motion, has less friction the faster it goes, overruns, sticks,
and swings about its motion for as long as it is slow. With too little it lags.

So the arm follows a motion that was not fitted, with the final gains. With joints that do not lag
where they are slow it is followed again with parts of what their static friction is above that of
Coulomb, and so much wider a Stribeck effect that friction at the Stribeck velocity stays: there
the joint moved, and the fit knows it. What counts for each joint is its least error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.commission.thresholds import FIT
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot


def with_part_of_rise(robot: Robot, parts: FloatArray) -> Robot:
    """Return the robot with less static friction, but the same at its Stribeck velocities.

    Parts, shape (n,), of the rise of static over Coulomb friction are left, more than 1/e; 1
    changes nothing.
    """
    joints = map(_with_part, robot.joints, parts.tolist())
    return replace(robot, joints=tuple(joints))


def _with_part(joint: Joint, part: float) -> Joint:
    static, coulomb = joint.friction.static_friction, joint.coulomb_friction
    if static is None or part == 1.0:
        return joint
    # part exp(-(w / wider)^2) = exp(-1)
    wider = joint.friction.stribeck_velocity / math.sqrt(1.0 + math.log(part))
    friction = replace(
        joint.friction,
        static_friction=coulomb + part * (static - coulomb),
        stribeck_velocity=wider,
    )
    return replace(joint, friction=friction)


def find_leads(robot: Robot, record: Record) -> FloatArray:
    """Return how far joints are ahead of their motion in the mean while they are slow, shape (n,).

    As parts of their RMS errors. A sample counts as much as the Stribeck effect is there. Zero for
    a joint whose friction does not rise towards rest, or that did not move.
    """
    chosen = np.isfinite(record.desired).all(axis=1) & np.isfinite(record.position).all(axis=1)
    record = record.part(chosen)
    velocity = np.gradient(record.desired, record.times, axis=0)
    ahead = (record.position - record.desired) * np.sign(velocity)
    standing = 1e-3 * np.abs(velocity).max(axis=0)  # there is no ahead
    leads = np.zeros(robot.n)
    for index, joint in enumerate(robot.joints):
        if not _rises(joint):
            continue
        speed = np.abs(velocity[:, index])
        weight = np.exp(-((speed / joint.friction.stribeck_velocity) ** 2))
        weight[speed <= standing[index]] = 0.0
        rms = math.sqrt(float(np.mean(ahead[:, index] ** 2)))
        if rms > 0.0 and weight.any():
            leads[index] = float(weight @ ahead[:, index]) / float(weight.sum()) / rms
    return leads


def _rises(joint: Joint) -> bool:
    return (joint.friction.static_friction or 0.0) > joint.coulomb_friction


@dataclass(frozen=True, eq=False)
class RiseTrial:
    """What the arm did with some parts of the rises.

    Attributes
    ----------
    parts : array, shape (n,)
    leads : array, shape (n,)
        See :func:`find_leads`.
    rms_error : array, shape (n,)
        [rad or m]
    """

    parts: FloatArray
    leads: FloatArray
    rms_error: FloatArray

    @classmethod
    def of(cls, robot: Robot, parts: FloatArray, record: Record) -> RiseTrial:
        """Return that of a record, in which the robot's friction was fed forward with parts."""
        return cls(parts, find_leads(robot, record), record.rms_error)

    def as_json(self) -> dict[str, Any]:
        """Return it as numbers in lists."""
        return {key: value.tolist() for key, value in vars(self).items()}


def choose_next_parts(robot: Robot, trials: Sequence[RiseTrial]) -> FloatArray | None:
    """Return the parts of the rises to be tried next, shape (n,); None when it is enough."""
    rises = np.array([_rises(joint) for joint in robot.joints])
    if not rises.any():
        return None
    if not trials:
        return np.ones(robot.n)
    if len(trials) == len(FIT.rise_parts):
        return None
    first, last = trials[0], trials[-1]
    tried = rises & (first.leads > -FIT.lagging_share)
    if last is not first:
        tried &= (last.parts < 1.0) & (last.rms_error < FIT.helping_share * first.rms_error)
    return np.where(tried, FIT.rise_parts[len(trials)], 1.0) if tried.any() else None


def choose_parts(robot: Robot, trials: Sequence[RiseTrial]) -> FloatArray:
    """Return the part of each joint's rise with the least error, shape (n,).

    Also between those that were tried: of three, by the parabola through the squared errors.
    """
    if not trials:
        return np.ones(robot.n)
    parts = np.array([trial.parts for trial in trials])
    errors = np.array([trial.rms_error for trial in trials])
    return np.array([_choose_part(*pair) for pair in zip(parts.T, errors.T, strict=True)])


def _choose_part(parts: FloatArray, errors: FloatArray) -> float:
    """Return the part of one joint's rise; that of the first trial is 1."""
    differs = parts < 1.0
    differs[0] = True
    polynomial = np.polynomial.Polynomial.fit(
        parts[differs], errors[differs] ** 2, differs.sum() - 1
    )
    between = np.linspace(1.0, parts.min(), 101)
    squares = polynomial(between)
    best = int(squares.argmin())
    is_worthwhile = squares[best] <= (FIT.worthwhile_share * errors[0]) ** 2
    return float(between[best]) if is_worthwhile else 1.0
