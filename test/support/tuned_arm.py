"""The shipped arm held by a controller: its model, a tuning, points to go to."""

from __future__ import annotations

import numpy as np

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints
from ne_dynamics.shipped import shipped_file

ROBOT = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
DYNAMICS = Dynamics(ROBOT, backend='python')
COMPILED = Dynamics(ROBOT)
"""The same to the last digits but one, for who asks often."""
LIMITS = ROBOT.limits('effort_limit')
Q = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
ZERO = np.zeros(6)


def make_tuning(mode=Mode.COMPUTED_TORQUE, **options) -> Tuning:
    """Return a tuning of the shipped arm: with gains of 100 and 20, otherwise the defaults.

    Parameters
    ----------
    mode : Mode
    **options
        Of `Tuning`; `kp`, `kv`, `terms`, `payload` and `dynamics` are those of its laws.
    """
    dynamics = options.pop('dynamics', DYNAMICS)
    gains = Gains.from_values(options.pop('kp', 100.0), options.pop('kv', 20.0), dynamics.n)
    terms, payload = options.pop('terms', Terms()), options.pop('payload', None)
    values = {
        'law': ControlLaw(dynamics, mode, gains, terms, payload),
        'hold_law': ControlLaw(dynamics, Mode.GRAVITY_COMPENSATION, terms=terms, payload=payload),
        'effort_limits': dynamics.robot.limits('effort_limit'),
        'effort_rates': np.array(options.pop('effort_rates', ()), dtype=np.float64),
    }
    return Tuning(**{**values, **options})


def make_waypoints(*points: TrajectoryPoint, robot=ROBOT, **rules) -> Waypoints:
    """Return checked points of all joints."""
    return Waypoints.from_points(robot.joints, robot.joint_names, points, **rules)


def follow(controller: Controller, *points: TrajectoryPoint, robot=ROBOT) -> None:
    """Let a controller follow points from its next state on."""
    controller.motion.follow(make_waypoints(*points, robot=robot))
