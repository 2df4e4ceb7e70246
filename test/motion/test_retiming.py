"""The same path in other times: what a controller makes of the points is within the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retimed_paths import (
    CUBICS,
    DYNAMICS,
    END,
    LINES,
    MEAN,
    REST,
    ROBOT,
    START,
    VIA,
    segments_of,
    waypoints_of,
)

from ne_dynamics import Dynamics
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.segments import bound_segments, sample_segments
from ne_dynamics.motion.time_scaling.retiming import retime

MOTIONS = {
    'one quintic': waypoints_of((0.0, START, REST, REST), (0.5, VIA, REST, REST)),
    'cubics': CUBICS,
    'lines': LINES,
    'with a wait': waypoints_of(
        (0.0, START, REST), (0.4, VIA, REST), (0.9, VIA, REST), (1.2, END, REST)
    ),
    'in a millisecond': waypoints_of(
        (0.0, START, REST), (0.0005, VIA, MEAN * 800.0), (0.001, END, REST)
    ),
}


def distance_from_path(path, motion) -> float:
    """Return how far samples of a motion are from the nearest of dense samples of a path."""
    dense = sample_segments(segments_of(path), 4000)[0].reshape(-1, 6)
    samples = sample_segments(segments_of(motion), 4)[0].reshape(-1, 6)
    return max(float(np.abs(dense - q).max(axis=1).min()) for q in samples)


@pytest.mark.kept(3)
@pytest.mark.parametrize('is_fastest', [False, True], ids=['as sent at most', 'fastest'])
@pytest.mark.parametrize('name', MOTIONS)
def test_the_motion_between_the_points_is_within_the_limits(name, is_fastest) -> None:
    """Velocities by bounds, accelerations and efforts, with a load, by dense samples."""
    sent = MOTIONS[name]
    limits = DemandLimits.of(ROBOT.joints, ROBOT.limits('effort_limit'))
    most = np.full(6, 60.0)
    limits = replace(limits, acceleration=most, deceleration=most)
    load = ROBOT.payload_parameters(Inertia(3.0, (0.0, 0.0, 0.05), np.zeros((3, 3))))
    found = retime(DYNAMICS, sent, limits=limits, payload=load, is_fastest=is_fastest)
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
    efforts = np.abs(DYNAMICS.inverse_dynamics(q, qd, qdd, payload=load))
    assert (efforts.max(axis=0) <= 1.011 * 0.95 * limits.effort).all()
    assert distance_from_path(sent, found.waypoints) < 10.0 * 1e-4
    # And some limit is met nearly all the time: it is as fast as can be.
    shares = np.concatenate(
        (
            efforts / (0.95 * limits.effort),
            np.abs(qd) / limits.velocity,
            np.abs(qdd) / 60.0,
        ),
        axis=1,
    ).max(axis=1)
    assert segments.begins.size > 21
    if is_fastest:
        assert np.median(shares) > 0.98


def test_a_motion_that_can_be_made_stays_as_it_is() -> None:
    """The very waypoints of the sender come back."""
    sent = waypoints_of((0.0, START, REST, REST), (10.0, VIA, REST, REST))
    found = retime(DYNAMICS, sent)
    assert found.waypoints is sent
    assert found.before == found.after == 10.0
    fastest = retime(DYNAMICS, sent, is_fastest=True)
    assert fastest.after == pytest.approx(
        retime(DYNAMICS, MOTIONS['one quintic'], is_fastest=True).after,
        rel=1e-6,
    )


def test_corners_become_points_at_rest() -> None:
    """Where linear segments meet the velocity is zero, and that is said."""
    found = retime(DYNAMICS, MOTIONS['lines'])
    assert found.stops == 1
    (remark,) = found.remarks
    assert remark.startswith('1 corner of the path')
    at = int(np.abs(found.waypoints.positions - VIA).max(axis=1).argmin())
    np.testing.assert_allclose(found.waypoints.positions[at], VIA, atol=1e-12)
    for row in (0, at, -1):
        assert not found.waypoints.velocities[row].any()
    assert len(segments_of(found.waypoints).begins) + 1 == len(found.waypoints.times)


def test_the_fastest_motion_turns_round_on_a_line() -> None:
    """Inside of a segment: to rest there, as fast as two motions from rest to rest."""
    via = VIA - START
    there = waypoints_of((0.0, START, REST), (0.5, VIA, 2.0 * via), (1.0, VIA, REST))
    # The second cubic goes beyond its end and comes back: to (u - 2 u^2 + u^3) at u = 1 / 3.
    far = VIA + 0.5 * 2.0 * via * 4.0 / 27.0
    found = retime(DYNAMICS, there, is_fastest=True)
    assert found.stops == 1
    pieces = [
        retime(DYNAMICS, waypoints_of((0.0, a, REST), (1.0, b, REST)), is_fastest=True)
        for a, b in ((START, far), (far, VIA))
    ]
    assert found.after == pytest.approx(sum(piece.after for piece in pieces), rel=2e-3)


@pytest.mark.parametrize('seed', range(6))
def test_turns_at_hardly_any_speed_are_passed_or_stops(seed) -> None:
    """Where a path turns within nanometres or millimetres: no slower than to rest in between."""
    rng = np.random.default_rng(seed)
    slow = rng.normal(size=6) * 10.0 ** rng.uniform(-10.0, -3.0)

    def through(velocity):
        points = zip((0.0, 0.5, 1.0), (START, VIA, END), (REST, velocity, REST), strict=True)
        return retime(DYNAMICS, waypoints_of(*points), is_fastest=True)

    passed, stopped = through(slow), through(REST)
    assert stopped.stops == 1
    assert passed.after <= 1.005 * stopped.after


def test_a_limit_that_is_missed_is_lowered_there_alone() -> None:
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
        for joint in ROBOT.joints
    ]
    rubbing = Dynamics(replace(ROBOT, joints=tuple(joints)), backend='python')
    found = retime(rubbing, CUBICS, is_fastest=True)
    segments = segments_of(found.waypoints)
    q, qd, qdd = (each.reshape(-1, 6) for each in sample_segments(segments, 50)[:, 1:-1])
    efforts = np.abs(rubbing.inverse_dynamics(q, qd, qdd))
    shares = efforts / (0.95 * ROBOT.limits('effort_limit'))
    loads = np.concatenate((shares, np.abs(qd) / ROBOT.limits('velocity_limit')), axis=1)
    assert loads.max() <= 1.01
    assert np.median(loads.max(axis=1)) > 0.99


def test_what_no_speed_makes_possible_is_refused() -> None:
    """A position beyond a limit between the points, a pose that cannot be held: with where."""
    far = START.copy()
    far[2] = ROBOT.joints[2].upper - 0.01
    faster = REST.copy()
    faster[2] = 3.0
    there = waypoints_of((0.0, START, REST), (1.0, far, faster), (2.0, START, REST))
    with pytest.raises(
        InfeasibleMotionError, match=r"joint 'joint_3': position of .* expected at"
    ):
        retime(DYNAMICS, there)
    heavy = ROBOT.payload_parameters(Inertia(60.0, (0.0, 0.0, 0.1), np.zeros((3, 3))))
    with pytest.raises(InfeasibleMotionError, match='holding effort of'):
        retime(DYNAMICS, MOTIONS['cubics'], payload=heavy)
