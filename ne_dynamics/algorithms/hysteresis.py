"""Friction that turns round with a joint only gradually: its state, and its effort.

The state z of a joint, between -1 and 1, follows the position alone, at any velocity (Dahl 1968
and 1976, with exponent 1)::

    dz = (sign(dq) - z) |dq| / hysteresis_displacement

As long as a joint moves in one direction this has a solution in closed form, so a step is exact
however long it is. The effort is hysteresis_friction z.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.algorithms.joint_friction import compute_direction, compute_friction
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.scalars.elementary import absolute, exp, sign
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.model.friction import HYSTERESIS_WITHOUT_PATH, FrictionModel
from ne_dynamics.model.rigid_body import FloatArray


def move_hysteresis(friction: FrictionModel, state: Scalar, displacement: Scalar) -> Scalar:
    """Return the state of the hysteresis after a motion in one direction.

    Parameters
    ----------
    friction : FrictionModel
        Of the joint.
    state : scalar
        Before, between -1 and 1.
    displacement : scalar
        [rad or m]

    Returns
    -------
    scalar
        `state` itself without hysteresis.
    """
    if not friction.has_hysteresis:
        return state
    towards = sign(displacement)
    length = -1.0 / friction.hysteresis_displacement
    return towards + (state - towards) * exp(length * absolute(displacement))


def compute_hysteresis(
    friction: FrictionModel,
    state: Scalar,
    rate: Scalar,
    direction: Scalar | None = None,
    smoothing_velocity: Scalar | None = None,
) -> Scalar:
    """Return what the path adds to :func:`~.joint_friction.compute_friction` [N m or N].

    Parameters
    ----------
    friction : FrictionModel
    state : scalar
        Of the hysteresis, between -1 and 1.
    rate, direction, smoothing_velocity : scalar
        As :func:`~.joint_friction.compute_friction` was given them.
    """
    if not friction.has_hysteresis:
        return 0.0
    turned = compute_direction(friction, rate, direction, smoothing_velocity)
    return friction.hysteresis_friction * (state - HYSTERESIS_WITHOUT_PATH * turned)


def friction_hysteresis(
    mechanism: Mechanism,
    state: Sequence[Scalar],
    displacement: Sequence[Scalar],
    rate: Sequence[Scalar],
    smoothing_velocity: Scalar | None = None,
) -> list[list[Scalar]]:
    """Return the states of all joints after a motion, and what they add to friction.

    Parameters
    ----------
    mechanism : Mechanism
    state, displacement, rate : sequence of n scalars
        As :func:`move_hysteresis` and :func:`compute_hysteresis` take them.
    smoothing_velocity : scalar, optional
        As :func:`~.joint_friction.compute_friction` takes it.

    Returns
    -------
    list of two lists of n scalars
        States, and efforts [N m or N].
    """
    after = [
        move_hysteresis(friction, before, moved)
        for friction, before, moved in zip(mechanism.friction, state, displacement, strict=True)
    ]
    efforts = [
        compute_hysteresis(friction, reached, each, smoothing_velocity=smoothing_velocity)
        for friction, reached, each in zip(mechanism.friction, after, rate, strict=True)
    ]
    return [after, efforts]


def follow_hysteresis(position: FloatArray, displacement: float, state: float = 0.0) -> FloatArray:
    """Return the states of a hysteresis along a path, shape (N,).

    Parameters
    ----------
    position : array, shape (N,)
        [rad or m]
    displacement : float
        Greater than 0 [rad or m].
    state : float
        At the first position, between -1 and 1; 0 where nobody knows.
    """
    result = np.full(position.size, state)
    steps = np.diff(position)
    moving = np.flatnonzero(steps)
    if not moving.size:
        return result
    towards = np.sign(steps[moving])
    # Runs of steps in one direction; within each the solution is that of its begin.
    starts = np.concatenate([[0], np.flatnonzero(np.diff(towards)) + 1])
    begins = moving[starts]
    turns = position[begins]
    lasting = np.exp(-np.abs(np.diff(np.append(turns, position[-1]))) / displacement)
    at_begin = np.empty(starts.size)
    present = state
    for index, (aim, part) in enumerate(
        zip(towards[starts].tolist(), lasting.tolist(), strict=True)
    ):
        at_begin[index] = present
        present = aim + (present - aim) * part
    run = np.searchsorted(begins, np.arange(begins[0] + 1, position.size), side='left') - 1
    aims = towards[starts][run]
    travelled = np.abs(position[begins[0] + 1 :] - turns[run])
    result[begins[0] + 1 :] = aims + (at_begin[run] - aims) * np.exp(-travelled / displacement)
    return result


def compute_friction_along(
    friction: FrictionModel,
    viscous: float,
    coulomb: float,
    position: FloatArray,
    rate: FloatArray,
    load: FloatArray,
    direction: FloatArray | None = None,
) -> FloatArray:
    """Return the friction of one joint along its path, shape (N,) [N m or N].

    Parameters
    ----------
    friction : FrictionModel
    viscous, coulomb : float
    position : array, shape (N,)
        One after another, closer than the joint turns round [rad or m].
    rate, load, direction : array, shape (N,)
        As :func:`~.joint_friction.compute_friction` takes them.
    """
    effort = compute_friction(friction, viscous, coulomb, rate, load, direction)
    if friction.has_hysteresis:
        states = follow_hysteresis(position, friction.hysteresis_displacement)
        effort = effort + compute_hysteresis(friction, states, rate, direction)
    return np.array(np.broadcast_to(np.asarray(effort, dtype=np.float64), rate.shape))
