"""How far, how late and how near to one another waypoints may be, and what a refusal names."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gain_record import SLIDING

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.motion import Motion, TrajectoryPoint, Waypoints, resting_state
from ne_dynamics.motion.limit_violation import LimitViolation, Quantity, describe

JOINTS = load_urdf(SLIDING).joints
"""A slide from -1 to 1 m, and a hinge from -2 to 2 rad."""

ENDLESS = tuple(replace(joint, lower=-math.inf, upper=math.inf) for joint in JOINTS)


def go(place, time=1.0, joints=JOINTS):
    """Return waypoints from zero, of which the second is somewhere at some time."""
    points = [TrajectoryPoint(0.0, [0.0, 0.0]), TrajectoryPoint(time, [place, 0.0])]
    return Waypoints.from_points(joints, ['lift', 'arm'], points)


def test_positions_may_lie_a_micrometre_beyond_their_limits():
    go(1.0 + 0.7e-6)
    with pytest.raises(TrajectoryError, match="'lift': expected -1 to 1"):
        go(1.0 + 1.5e-6)


def test_positions_and_times_have_ends():
    go(0.9e9, joints=ENDLESS)
    with pytest.raises(TrajectoryError, match=r'expected a finite number of at most 1e\+09'):
        go(1.5e9, joints=ENDLESS)
    go(0.5, 0.9e10)
    with pytest.raises(TrajectoryError, match=r'time_from_start: expected <= 1e\+10 s'):
        go(0.5, 1.5e10)


def test_waypoints_are_a_microsecond_apart():
    start = resting_state(np.zeros(2))
    Motion.through(go(0.0, 1.5e-6), now=0.0, start_state=start)
    with pytest.raises(TrajectoryError, match='expected 1e-06 s between two points'):
        Motion.through(go(0.0, 0.7e-6), now=0.0, start_state=start)


def test_a_refusal_names_three_quantities():
    found = [
        LimitViolation.of(quantity, JOINTS, 0, 0.5, 3.0, 1.0) for quantity in list(Quantity)[:4]
    ]
    assert describe(found).endswith('; and 1 more')
    assert 'more' not in describe(found[:3])
