"""Parameters of the node for each part of a run. Needs no ROS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml

from ne_dynamics.commission.motions import lengths, velocity_limits
from ne_dynamics.commission.thresholds import NODE_SETTINGS
from ne_dynamics.control import GUARD_LIMITS
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.gains.files import NODE, nest_names
from ne_dynamics.model.rigid_body import FloatArray


def common_parameters(
    model: Mapping[str, Any], listened: Mapping[str, Any], is_simulated: bool
) -> dict[str, Any]:
    """Return what the node is told for every part of a run.

    `model` has the parameters by which it reads the model, `listened` what listening has found:
    `rate` [Hz] and `reports_velocity`. Time may be the simulation's.
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

    By the rate of the states [Hz]; 0 where it is not known.
    """
    return max(0.1, NODE_SETTINGS.states_to_wait / rate) if rate > 0.0 else math.inf


def gentle_parameters(dynamics: Dynamics, position: FloatArray) -> dict[str, Any]:
    """Return the law for an arm of which only the given model is known.

    Feed-forward without friction and PD, as stiff as its motors are strong: friction of 0.3 of an
    effort limit is overcome within 0.2 rad. Joints may stick: that is no fault. The arm stands at
    the position, shape (n,) [rad or m].
    """
    robot = dynamics.robot
    limits = robot.limits('effort_limit')  # finite: the run has checked it
    stiffness = NODE_SETTINGS.gentle_stiffness * limits / lengths(robot)
    inertia = np.diag(dynamics.mass_matrix(position)) + limits / GUARD_LIMITS.fastest_drive
    damping = np.maximum(
        NODE_SETTINGS.gentle_damping_time * stiffness, 1.4 * np.sqrt(stiffness * inertia)
    )
    tolerance = NODE_SETTINGS.lenience * NODE_SETTINGS.gentle_tolerance * lengths(robot)
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
    overcome what its friction is more than the model says. The gains are parameters of the node
    for computed torque, and efforts by the mass matrix of the identified model at a position,
    shape (n,) [rad or m].
    """
    robot = dynamics.robot
    static = np.array(
        [
            max(joint.coulomb_friction, joint.friction.static_friction or 0.0)
            + joint.friction.hysteresis_friction
            for joint in robot.joints
        ]
    )
    static += robot.coupled_friction
    stiffness = np.asarray(gains['computed_torque.kp']) * np.diag(dynamics.mass_matrix(position))
    length = lengths(robot)
    way = np.minimum(
        NODE_SETTINGS.stuck_share * static / stiffness, NODE_SETTINGS.largest_sticking_way * length
    )
    usual = np.maximum(0.02 * velocity_limits(robot), NODE_SETTINGS.sticking_way * length)
    return {'following_error.frozen': np.maximum(usual, way).tolist()}


def parameter_text(parameters: Mapping[str, Any]) -> str:
    """Return a parameter file of the node."""
    document = {NODE: {'ros__parameters': nest_names(parameters)}}
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=99)
