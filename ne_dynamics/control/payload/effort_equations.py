"""What a load, friction and errors of the model make of the joint efforts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.payload.carrier import Carrier, PayloadSource, measured_load_by
from ne_dynamics.control.payload.equations import PayloadEquations
from ne_dynamics.control.payload.motion_windows import Window
from ne_dynamics.control.payload.states import MOVING_KIND, STANDING_KIND, MotionStates
from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import Base, Compensation, Terms
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import JointType, Robot


def make_effort_equations(
    carrier: Carrier, windows: Sequence[Window], states: MotionStates, source: PayloadSource
) -> PayloadEquations:
    """Return the equations of the joint efforts, joint by joint."""
    dynamics = carrier.dynamics
    robot, n = dynamics.robot, dynamics.n
    moving, standing = states.kind == MOVING_KIND, states.kind == STANDING_KIND
    to_tip = carrier.first_moments_to_tip
    load, own, right, weights = [], [], [], []
    compensation, bodies = Compensation(dynamics, Terms()), dynamics.without_friction()
    for window, moves in zip(windows, moving, strict=True):
        rigid, added = _load_efforts(bodies, window)
        load.append(added @ to_tip)
        own.append(rigid)
        expected = _effort_with_friction(compensation, window, moves)
        right.append(np.asarray(measured_load_by(window, source)) - expected)
        weights.append(_weight_errors(bodies, window))
    model = np.array(own)
    friction = _believed_friction(robot, model)
    directions = np.where(moving, 1.0, 0.5) * states.direction
    of_joints = directions, np.array([window.velocity for window in windows]), model
    # Of a joint alone: its friction, Coulomb and viscous, and the scale of its own effort.
    own_columns = [rows[:, :, np.newaxis] * np.eye(n) for rows in of_joints]
    rest = np.concatenate([*own_columns, np.array(weights)], axis=2)
    of_friction = PAYLOAD.moving_share * friction, friction
    deviation = np.select([moving, standing], of_friction, 2.0 * friction)
    deviation = np.hypot(deviation, PAYLOAD.model_share * model)
    viscous = robot.joint_values('viscous_friction') + friction / PAYLOAD.viscous_velocity
    model_errors = np.full(n, PAYLOAD.scale_error), np.full(2 * n, PAYLOAD.weight_error)
    return PayloadEquations(
        np.concatenate(load),
        rest.reshape(-1, 5 * n),
        np.concatenate(right),
        deviation.ravel(),
        states.repeats.ravel(),
        np.concatenate([friction, viscous, *model_errors]),
        slice(2 * n, 5 * n),
    )


def _believed_friction(robot: Robot, model: FloatArray) -> FloatArray:
    """Return what friction may be off by, shape (n,) [N m or N]."""
    limits = robot.limits('effort_limit')
    largest = np.abs(model).max(axis=0)
    limits = np.where(np.isfinite(limits) & (limits > 0.0), limits, largest.max())
    coulomb = robot.joint_values('coulomb_friction') + robot.coupled_friction
    static = [joint.friction.static_friction or 0.0 for joint in robot.joints]
    of_path = [joint.friction.hysteresis_friction for joint in robot.joints]
    friction: FloatArray = np.maximum(coulomb, static) + of_path + PAYLOAD.friction_share * limits
    # A model without weight and limits believes anything.
    return np.maximum(friction, 1e-6)


def _effort_with_friction(
    compensation: Compensation, window: Window, moves: NDArray[np.bool_]
) -> FloatArray:
    """Return the effort of the arm alone, with the friction of the joints that move."""
    rate = np.where(moves, window.velocity, 0.0)
    base = None if window.base is None else Base(window.base, window.base)
    motion = window.position, window.velocity, window.acceleration
    return compensation.effort(*motion, rate, None, base)


def _load_efforts(rigid: Dynamics, window: Window) -> tuple[FloatArray, FloatArray]:
    """Return the effort of the arm alone, shape (n,), and what a load adds, shape (n, 4).

    The columns are those of unit mass and unit first moments at the tip.
    """
    motion = window.position, window.velocity, window.acceleration
    alone = rigid.inverse_dynamics(*motion, None, window.base, np.zeros(10))
    columns = [
        rigid.inverse_dynamics(*motion, None, window.base, unit) - alone for unit in np.eye(10)[:4]
    ]
    return alone, np.stack(columns, axis=1)


def _weight_errors(rigid: Dynamics, window: Window) -> FloatArray:
    """Return what errors of the weight beyond each joint add to the efforts, shape (n, 2 n).

    First along the lever on which it turns about its joint, then across, as shares of the weight.
    The efforts g at rest are a constant and a sine of the angle of any one joint: the sine is what
    turns with that joint, (g(q) - g(q + pi)) / 2, and a quarter of a turn on it acts across. What
    a joint shifts has no lever.
    """
    still, none = np.zeros(rigid.n), np.zeros(10)
    along, across = np.zeros((2, rigid.n, rigid.n))
    here = rigid.inverse_dynamics(window.position, still, still, None, window.base, none)
    for index, joint in enumerate(rigid.robot.joints):
        if joint.type is JointType.PRISMATIC:
            continue
        quarter = np.zeros(rigid.n)
        quarter[index] = 0.5 * math.pi
        before, after = (
            rigid.inverse_dynamics(position, still, still, None, window.base, none)
            for position in (window.position - quarter, window.position + quarter)
        )
        # g(q - pi/2) + g(q + pi/2) is twice the constant.
        along[:, index] = here - 0.5 * (before + after)
        across[:, index] = 0.5 * (after - before)
    return np.hstack([along, across])
