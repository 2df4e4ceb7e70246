"""Parameters of the node for each part of a run. Needs no ROS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml

from ne_dynamics.commission.motions import velocity_limits
from ne_dynamics.control import GUARD_LIMITS
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

GENTLE_STIFFNESS = 1.5
"""Position gain of gentle motions: effort limits a radian, or a fifth of a metre [1/rad]."""

GENTLE_DAMPING_TIME = 0.1
"""Velocity gain over position gain, at least [s]."""

GENTLE_TOLERANCE = 0.6
"""Position error at which a gentle motion is given up [rad]; a fifth of it for slides [m]."""

LENIENCE = 2.5
"""By which the node's limit of the position error is wider than that of a run: it counts 0.4 of
it for a second, where a joint may stick for longer."""

STICKING = 0.06
"""By which a joint may stick behind its motion, at least [rad]; a fifth of it for slides [m]."""

STUCK_SHARE = 1.0
"""Of static friction, by which the feedback may change while a joint stands: one that has overrun
its motion by half of it sticks until it is as far behind."""

LARGEST_STICKING = 0.15
"""By which it may stick behind its motion for that, at most [rad]; likewise."""

STATES_TO_WAIT = 20.0
"""Periods of the states without which the node leaves the arm, and 0.1 s at least."""


def common_parameters(
    model: Mapping[str, Any], listened: Mapping[str, Any], is_simulated: bool
) -> dict[str, Any]:
    """Return what the node is told for every part of a run.

    Parameters
    ----------
    model : mapping
        Parameters by which it reads the model.
    listened : mapping
        What listening has found: `rate` [Hz] and `reports_velocity`.
    is_simulated : bool
        Whether time is the simulation's.
    """
    parameters: dict[str, Any] = {
        **model,
        'velocity_source': 'measured' if listened['reports_velocity'] else 'differentiated',
        'state_effort': 'ignore',
        'state_timeout': longest_silence(listened['rate']),
        'tracking_error.warn': [math.inf],
        'tracking_error.error': [math.inf],
    }
    if is_simulated:
        parameters |= {'use_sim_time': True, 'joint_states_reliability': 'reliable'}
    return parameters


def longest_silence(rate: float) -> float:
    """Return the time without a state after which the node leaves the arm [s].

    Parameters
    ----------
    rate : float
        Of the states [Hz]; 0 where it is not known.
    """
    return max(0.1, STATES_TO_WAIT / rate) if rate > 0.0 else math.inf


def gentle_parameters(dynamics: Dynamics, position: FloatArray) -> dict[str, Any]:
    """Return the law for an arm of which only the given model is known.

    Feed-forward without friction and PD, as stiff as its motors are strong: friction of 0.3 of an
    effort limit is overcome within 0.2 rad. Joints may stick: that is no fault.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    position : array, shape (n,)
        Where the arm stands [rad or m].
    """
    robot = dynamics.robot
    limits = robot.limits('effort_limit')  # finite: the run has checked it
    stiffness = GENTLE_STIFFNESS * limits / lengths(robot)
    inertia = np.diag(dynamics.mass_matrix(position)) + limits / GUARD_LIMITS.fastest_drive
    damping = np.maximum(GENTLE_DAMPING_TIME * stiffness, 1.4 * np.sqrt(stiffness * inertia))
    tolerance = LENIENCE * GENTLE_TOLERANCE * lengths(robot)
    return {
        'mode': 'feedforward_pd',
        'feedforward_pd.kp': stiffness.tolist(),
        'feedforward_pd.kv': damping.tolist(),
        'terms.friction': False,
        'following_error.position': tolerance.tolist(),
        'following_error.frozen': [math.inf],
    }


def sticking_parameters(
    dynamics: Dynamics, position: FloatArray, gains: Mapping[str, Any]
) -> dict[str, Any]:
    """Return how far a joint with dry friction may stick behind its motion.

    The node's own limit is the way at the velocity limit in 0.02 s, which is little for a slow arm
    whose joints stick. Gains of a late loop are small, and a joint has farther to go until they
    overcome what its friction is more than the model says.

    Parameters
    ----------
    dynamics : Dynamics
        The identified model.
    position : array, shape (n,)
        By whose mass matrix gains are efforts [rad or m].
    gains : mapping
        Parameters of the node for computed torque.
    """
    robot = dynamics.robot
    static = np.array(
        [
            max(joint.coulomb_friction, joint.friction.static_friction or 0.0)
            for joint in robot.joints
        ]
    )
    static += robot.coupled_friction
    stiffness = np.asarray(gains['computed_torque.kp']) * np.diag(dynamics.mass_matrix(position))
    length = lengths(robot)
    way = np.minimum(STUCK_SHARE * static / stiffness, LARGEST_STICKING * length)
    usual = np.maximum(0.02 * velocity_limits(robot), STICKING * length)
    return {'following_error.frozen': np.maximum(usual, way).tolist()}


def lengths(robot: Robot) -> FloatArray:
    """Return 1 for joints that turn [rad] and 0.2 for those that slide [m], shape (n,)."""
    return np.array([0.2 if joint.type.is_prismatic else 1.0 for joint in robot.joints])


def parameter_text(parameters: Mapping[str, Any]) -> str:
    """Return a parameter file of the node."""
    nested: dict[str, Any] = {}
    for name, value in parameters.items():
        *groups, last = name.split('.')
        place = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = list(value) if isinstance(value, tuple) else value
    document = {'/**/computed_torque': {'ros__parameters': nested}}
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=99)
