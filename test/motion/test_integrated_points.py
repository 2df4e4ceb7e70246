"""Points without positions: integrated by the mean of both ends, judged as any other."""

from __future__ import annotations

import numpy as np
import pytest
from motion_loop import node_controller, shipped_arm

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.integrated_points import integrated
from ne_dynamics.motion.waypoints import DesiredState, TrajectoryPoint, Waypoints, resting_state

JOINTS = (Joint('a', lower=-3.0, upper=3.0), Joint('b', lower=-3.0, upper=3.0))
ROBOT = shipped_arm()
Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
STILL = np.zeros(6)


def lacking(*points: TrajectoryPoint, may_end_moving: bool = False) -> Waypoints:
    """Return waypoints of two joints, some of them without positions."""
    return Waypoints.from_points(
        JOINTS,
        ('a', 'b'),
        points,
        allow_nonzero_velocity_at_end=may_end_moving,
        allow_integration=True,
    )


def test_velocities_are_integrated_by_the_mean_of_both_ends() -> None:
    """From the state of the begin on, and on from positions that are given."""
    waypoints = lacking(
        TrajectoryPoint(1.0, (), (1.0, 0.0)),
        TrajectoryPoint(1.5, (0.5, 0.5), (0.0, 1.0)),
        TrajectoryPoint(2.0, (), (0.0, 0.0)),
    )
    start = DesiredState(np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.zeros(2))
    found = integrated(waypoints, start, 0.0)
    np.testing.assert_allclose(found.positions, [[1.75, 1.5], [0.5, 0.5], [0.5, 0.75]])
    assert found.orders == (1, 1, 1)
    assert found.carried is None
    # Half of the first interval is over, with what it had to say.
    later = integrated(waypoints, start, 0.5)
    np.testing.assert_allclose(later.positions[0], [1.375, 1.75])


def test_accelerations_are_integrated_twice() -> None:
    """First to velocities, these to positions; the points carry all three then."""
    waypoints = lacking(
        TrajectoryPoint(1.0, (), (), (1.0, -1.0)), TrajectoryPoint(2.0, (), (), (-2.0, 2.0))
    )
    found = integrated(waypoints, resting_state([0.0, 1.0]), 0.0)
    np.testing.assert_allclose(found.velocities, [[0.5, -0.5], [0.0, 0.0]])
    np.testing.assert_allclose(found.positions, [[0.25, 0.75], [0.5, 0.5]])
    assert found.orders == (2, 2)


def test_who_may_not_send_them_is_told_what_allows_it() -> None:
    """The point and the field are named, and the parameter; nothing at all is never enough."""
    points = [TrajectoryPoint(1.0, (0.1, 0.1)), TrajectoryPoint(2.0, (), (0.0, 0.0))]
    with pytest.raises(
        TrajectoryError, match=r'point 1: positions: .*allow_integration_in_goal_trajectories'
    ):
        Waypoints.from_points(JOINTS, ('a', 'b'), points)
    with pytest.raises(TrajectoryError, match=r'point 0: .*expected at least one of them'):
        lacking(TrajectoryPoint(1.0, (), (), (), (1.0, 1.0)))


def test_where_they_lead_beyond_the_limits_they_are_refused() -> None:
    """The positions that follow are judged as if they had been sent; the arm stays held."""
    controller = node_controller(ROBOT)
    controller.update(Q, STILL, 10.0)
    fast = np.zeros(6)
    fast[2] = 1.0
    points = [TrajectoryPoint(t, (), fast * (t < 3.0)) for t in (1.0, 2.0, 3.0)]
    waypoints = Waypoints.from_points(
        ROBOT.joints, ROBOT.joint_names, points, allow_integration=True
    )
    with pytest.raises(TrajectoryError, match="'joint_3': position"):
        controller.motion.follow(waypoints)
    np.testing.assert_array_equal(controller.update(Q, STILL, 10.002).desired.position, Q)
