"""The motion that errors are predicted for: as far, as fast and as long as is said."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gain_record import SLIDING

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.gains.motion import make_test_motion, sample_waypoints
from ne_dynamics.gains.plants import gather_plants, pose_range
from ne_dynamics.gains.request import GainRequest
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.motion import TrajectoryPoint, Waypoints

REQUEST = GainRequest(poses=2)


def make_motion(request=REQUEST, **changes):
    """Return the motion of a lift with an arm, without weight; the changes are of both joints."""
    robot = load_urdf(SLIDING)
    joints = (replace(joint, **changes) for joint in robot.joints)
    dynamics = Dynamics(replace(robot, joints=tuple(joints)), (0.0, 0.0, 0.0), backend='python')
    motion = make_test_motion(dynamics, gather_plants(dynamics, request), request)
    efforts = dynamics.inverse_dynamics(motion.position, motion.velocity, motion.acceleration)
    return motion, np.abs(efforts)


@pytest.mark.parametrize(
    ('lower', 'upper', 'drawn'),
    [
        (-math.inf, math.inf, (-0.5, 0.5)),
        (-math.inf, -0.2, (-1.2, -0.2)),
        (0.1, math.inf, (0.1, 1.1)),
        (-0.1, 0.3, (-0.1, 0.3)),
    ],
)
def test_a_slide_without_limits_is_looked_at_over_a_metre(lower, upper, drawn):
    lift, _ = load_urdf(SLIDING).joints
    assert pose_range(replace(lift, lower=lower, upper=upper)) == pytest.approx(drawn)


@pytest.mark.parametrize(
    ('changes', 'ways'), [({}, (0.1, 0.5)), ({'lower': -0.1, 'upper': 0.1}, (0.06, 0.06))]
)
def test_joints_go_a_small_way_and_a_part_of_their_range(changes, ways):
    motion, _ = make_motion(**changes)
    np.testing.assert_allclose(np.ptp(motion.position, axis=0), ways, rtol=1e-4)


@pytest.mark.parametrize(('limit', 'fastest'), [(1.0, 0.5), (0.0, 0.75), (math.inf, 0.75)])
def test_velocities_stay_within_half_of_their_limits_or_of_the_usual_one(limit, fastest):
    motion, _ = make_motion(velocity_limit=limit)
    assert np.abs(motion.velocity).max() == pytest.approx(fastest, rel=1e-3)


def test_a_motion_lasts_as_long_as_is_said():
    """No shorter where nothing limits it, no longer where the motors can hardly move the arm."""
    motion, _ = make_motion(velocity_limit=100.0)
    assert motion.duration == pytest.approx(2.0 * 0.6 + 0.2)
    motion, _ = make_motion(replace(REQUEST, effort_limits=1e-6))
    assert 2.0 * 8.0 <= motion.duration - 0.2 <= 2.0 * 8.0 * 1.15 + 0.01


def test_efforts_come_near_their_share():
    request = replace(REQUEST, effort_limits=1.0)
    motion, efforts = make_motion(request, velocity_limit=100.0)
    assert motion.duration > 1.5
    # They fall by the square of the factor by which a motion is slowed down.
    assert 0.7 / 1.15**2 < efforts.max() <= 0.7


def test_a_motion_of_too_many_periods_is_refused():
    joints = load_urdf(SLIDING).joints
    points = [TrajectoryPoint(time, [place, place]) for time, place in ((0.0, 0.0), (130.0, 0.1))]
    waypoints = Waypoints.from_points(joints, ['lift', 'arm'], points)
    sample_waypoints(waypoints, np.zeros(2), 0.003, 'slow')
    with pytest.raises(InputError, match='expected at most 60000 periods of 2 ms, got 651'):
        sample_waypoints(waypoints, np.zeros(2), 0.002, 'slow')
