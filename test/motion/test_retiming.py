"""The same path in other times: what a controller makes of the points is within the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import Segments, bound_segments, sample_segments
from ne_dynamics.motion.time_scaling.retiming import retime
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints
from ne_dynamics.shipped import shipped_file

START = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
VIA = np.array([1.4, -0.4, 0.5, 0.4, 0.1, 1.1])
END = np.array([0.9, 0.0, 0.8, -0.2, 0.3, 1.5])
REST = np.zeros(6)
MEAN = (END - START) / 0.9

MOTIONS = {
    'one quintic': [
        TrajectoryPoint(0.0, START, REST, REST),
        TrajectoryPoint(0.5, VIA, REST, REST),
    ],
    'cubics': [
        TrajectoryPoint(0.0, START, REST),
        TrajectoryPoint(0.4, VIA, MEAN),
        TrajectoryPoint(0.9, END, REST),
    ],
    'lines': [
        TrajectoryPoint(0.0, START),
        TrajectoryPoint(0.4, VIA),
        TrajectoryPoint(0.9, END),
    ],
    'with a wait': [
        TrajectoryPoint(0.0, START, REST),
        TrajectoryPoint(0.4, VIA, REST),
        TrajectoryPoint(0.9, VIA, REST),
        TrajectoryPoint(1.2, END, REST),
    ],
    'in a millisecond': [
        TrajectoryPoint(0.0, START, REST),
        TrajectoryPoint(0.0005, VIA, MEAN * 800.0),
        TrajectoryPoint(0.001, END, REST),
    ],
}


@pytest.fixture(scope='module')
def robot():
    """Return the shipped arm as a chain."""
    return load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


@pytest.fixture(scope='module')
def dynamics(robot):
    """Return its dynamics."""
    return Dynamics(robot, backend='python')


def waypoints_of(robot, points, **options) -> Waypoints:
    """Return points as waypoints."""
    return Waypoints.from_points(robot.joints, robot.joint_names, points, **options)


def segments_of(waypoints) -> Segments:
    """Return what a controller makes of waypoints."""
    return Motion.between(waypoints.in_nanoseconds()).segments()


def distance_from_path(robot, path, motion) -> float:
    """Return how far samples of a motion are from the nearest of dense samples of a path."""
    dense = sample_segments(segments_of(waypoints_of(robot, path)), 4000)[0].reshape(-1, 6)
    samples = sample_segments(segments_of(motion), 4)[0].reshape(-1, 6)
    return max(float(np.abs(dense - q).max(axis=1).min()) for q in samples)


@pytest.mark.kept(3)
@pytest.mark.parametrize('is_fastest', [False, True], ids=['as sent at most', 'fastest'])
@pytest.mark.parametrize('name', MOTIONS)
def test_the_motion_between_the_points_is_within_the_limits(
    robot, dynamics, name, is_fastest
) -> None:
    """Velocities by bounds, accelerations and efforts, with a load, by dense samples."""
    limits = DemandLimits.of(robot.joints, robot.limits('effort_limit'))
    most = np.full(6, 60.0)
    limits = replace(limits, acceleration=most, deceleration=most)
    load = robot.payload_parameters(Inertia(3.0, (0.0, 0.0, 0.05), np.zeros((3, 3))))
    found = retime(
        dynamics,
        waypoints_of(robot, MOTIONS[name]),
        limits=limits,
        payload=load,
        is_fastest=is_fastest,
    )
    segments = segments_of(found.waypoints)
    # The bounds of a quarter are near to what is in it.
    which = np.repeat(np.arange(segments.begins.size), 4)
    low = np.tile(np.arange(4) / 4, segments.begins.size)
    lower, upper = bound_segments(segments.parts(which, low, low + 0.25))
    sizes = np.maximum(upper, -lower).max(axis=1)
    assert (sizes[1] <= 1.015 * limits.velocity).all()
    assert (sizes[2] <= 1.015 * 60.0).all()
    q, qd, qdd = (each.reshape(-1, 6) for each in sample_segments(segments, 24))
    assert np.abs(qdd).max() <= 1.011 * 60.0
    efforts = np.abs(dynamics.inverse_dynamics(q, qd, qdd, payload=load))
    assert (efforts.max(axis=0) <= 1.011 * 0.95 * limits.effort).all()
    assert distance_from_path(robot, MOTIONS[name], found.waypoints) < 10.0 * 1e-4
    # And some limit is met nearly all the time: it is as fast as can be.
    shares = np.concatenate(
        (
            efforts / (0.95 * limits.effort),
            np.abs(qd) / limits.velocity,
            np.abs(qdd) / 60.0,
        ),
        axis=1,
    ).max(axis=1)
    times = np.diff(segments.begins).size
    assert times > 20
    if is_fastest:
        assert np.median(shares) > 0.98


@pytest.mark.parametrize('name', MOTIONS)
def test_nowhere_is_the_motion_faster_than_it_was_sent(robot, dynamics, name) -> None:
    """Every point of the path is passed later, or at the same time."""
    sent = waypoints_of(robot, MOTIONS[name])
    found = retime(dynamics, sent)
    assert found.after > found.before == sent.times[-1]
    before = sample_segments(segments_of(sent), 50)[1].reshape(-1, 6)
    after = sample_segments(segments_of(found.waypoints), 4)[1].reshape(-1, 6)
    assert (np.abs(after).max(axis=0) <= 1.001 * np.abs(before).max(axis=0)).all()


def test_a_motion_that_can_be_made_stays_as_it_is(robot, dynamics) -> None:
    """The very waypoints of the sender come back."""
    points = [
        point._replace(time_from_start=20.0 * point.time_from_start)
        for point in MOTIONS['one quintic']
    ]
    sent = waypoints_of(robot, points)
    found = retime(dynamics, sent)
    assert found.waypoints is sent
    assert found.before == found.after == 10.0
    fastest = retime(dynamics, sent, is_fastest=True)
    assert fastest.after == pytest.approx(
        retime(dynamics, waypoints_of(robot, MOTIONS['one quintic']), is_fastest=True).after,
        rel=1e-6,
    )


def test_corners_become_points_at_rest(robot, dynamics) -> None:
    """Where linear segments meet the velocity is zero, and that is said."""
    found = retime(dynamics, waypoints_of(robot, MOTIONS['lines']))
    assert found.stops == 1
    (remark,) = found.remarks
    assert remark.startswith('1 corner of the path')
    at = int(np.abs(found.waypoints.positions - VIA).max(axis=1).argmin())
    np.testing.assert_allclose(found.waypoints.positions[at], VIA, atol=1e-12)
    for row in (0, at, -1):
        assert not found.waypoints.velocities[row].any()
    assert len(segments_of(found.waypoints).begins) + 1 == len(found.waypoints.times)


def test_the_fastest_motion_turns_round_on_a_line(robot, dynamics) -> None:
    """Inside of a segment: to rest there, as fast as two motions from rest to rest."""
    via = VIA - START
    there = [
        TrajectoryPoint(0.0, START, REST),
        TrajectoryPoint(0.5, VIA, 2.0 * via),
        TrajectoryPoint(1.0, VIA, REST),
    ]
    # The second cubic goes beyond its end and comes back: to (u - 2 u^2 + u^3) at u = 1 / 3.
    far = VIA + 0.5 * 2.0 * via * 4.0 / 27.0
    found = retime(dynamics, waypoints_of(robot, there), is_fastest=True)
    assert found.stops == 1
    pieces = [
        retime(
            dynamics,
            waypoints_of(robot, [TrajectoryPoint(0.0, a, REST), TrajectoryPoint(1.0, b, REST)]),
            is_fastest=True,
        )
        for a, b in ((START, far), (far, VIA))
    ]
    assert found.after == pytest.approx(sum(piece.after for piece in pieces), rel=2e-3)


@pytest.mark.parametrize('seed', range(6))
def test_turns_at_hardly_any_speed_are_passed_or_stops(robot, dynamics, seed) -> None:
    """Where a path turns within nanometres or millimetres: no slower than to rest in between."""
    rng = np.random.default_rng(seed)
    slow = rng.normal(size=6) * 10.0 ** rng.uniform(-10.0, -3.0)

    def through(velocity):
        points = zip((0.0, 0.5, 1.0), (START, VIA, END), (REST, velocity, REST), strict=True)
        return retime(
            dynamics,
            waypoints_of(robot, [TrajectoryPoint(*each) for each in points]),
            is_fastest=True,
        )

    passed, stopped = through(slow), through(REST)
    assert stopped.stops == 1
    assert passed.after <= 1.005 * stopped.after


def test_a_limit_that_is_missed_is_lowered_there_alone(robot, dynamics) -> None:
    """Friction that steps at one turn costs no time along the rest of the path."""
    joints = [
        replace(
            joint,
            coulomb_friction=0.05 * joint.effort_limit,
            friction=FrictionModel(
                static_friction=0.08 * joint.effort_limit,
                stribeck_velocity=0.1,
                smoothing_velocity=0.02,
            ),
        )
        for joint in robot.joints
    ]
    rubbing = replace(robot, joints=tuple(joints))
    found = retime(
        Dynamics(rubbing, backend='python'),
        waypoints_of(rubbing, MOTIONS['cubics']),
        is_fastest=True,
    )
    segments = segments_of(found.waypoints)
    q, qd, qdd = (each.reshape(-1, 6) for each in sample_segments(segments, 50)[:, 1:-1])
    efforts = np.abs(Dynamics(rubbing, backend='python').inverse_dynamics(q, qd, qdd))
    shares = efforts / (0.95 * rubbing.limits('effort_limit'))
    loads = np.concatenate((shares, np.abs(qd) / rubbing.limits('velocity_limit')), axis=1)
    assert loads.max() <= 1.01
    assert np.median(loads.max(axis=1)) > 0.99


def test_what_no_speed_makes_possible_is_refused(robot, dynamics) -> None:
    """A position beyond a limit between the points, a pose that cannot be held: with where."""
    far = START.copy()
    far[2] = robot.joints[2].upper - 0.01
    faster = REST.copy()
    faster[2] = 3.0
    points = [
        TrajectoryPoint(0.0, START, REST),
        TrajectoryPoint(1.0, far, faster),
        TrajectoryPoint(2.0, START, REST),
    ]
    with pytest.raises(
        InfeasibleMotionError, match=r"joint 'joint_3': position of .* expected at"
    ):
        retime(dynamics, waypoints_of(robot, points))
    heavy = robot.payload_parameters(Inertia(60.0, (0.0, 0.0, 0.1), np.zeros((3, 3))))
    with pytest.raises(InfeasibleMotionError, match='holding effort of'):
        retime(dynamics, waypoints_of(robot, MOTIONS['cubics']), payload=heavy)


def test_what_is_annotated_needs_no_more_than_was_planned(robot, dynamics) -> None:
    """Efforts of the new times are within the share of the limits, and hold the arm at the end."""
    found = retime(dynamics, waypoints_of(robot, MOTIONS['cubics']))
    result = annotate(dynamics, robot.joint_names, found.waypoints)
    assert result.nanoseconds[-1] == round(found.after * 1e9)
    most = 1.01 * 0.95 * robot.limits('effort_limit') + 0.1
    assert (np.abs(result.efforts).max(axis=0) <= most).all()
    np.testing.assert_allclose(result.efforts[-1], dynamics.gravity_torque(END), atol=1e-9)


def test_a_motion_that_begins_at_speed_keeps_velocity_and_acceleration_of_its_begin(
    robot, dynamics
) -> None:
    """It slows down where it turns too fast, long after its begin."""
    way = VIA - START
    first = TrajectoryPoint(0.0, START, 0.05 * way, 0.2 * way)
    points = [first, TrajectoryPoint(2.0, START + 0.3 * way, 0.2 * way, REST)]
    points.append(TrajectoryPoint(2.3, VIA, REST, REST))
    found = retime(dynamics, waypoints_of(robot, points)).waypoints
    assert found.times[-1] > points[-1].time_from_start
    np.testing.assert_allclose(found.velocities[0], 0.05 * way, rtol=1e-6)
    np.testing.assert_allclose(found.accelerations[0], 0.2 * way, rtol=0.05)
