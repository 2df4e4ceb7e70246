"""What a joint trajectory controller makes of annotated points, beside the true efforts."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from example_robots import EXAMPLES, load_arm
from jtc_interpolation import NANO, JointTrajectoryController
from oracle_measure import GRAVITY, urdf_dynamics

from ne_dynamics import Dynamics
from ne_dynamics.algorithms.hysteresis import follow_hysteresis
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.errors import ParameterError, TrajectoryError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

RAMP_NS = round(1e-4 * NANO)
KINOVA = 'Kinova j2s6s200 (continuous)'


@functools.cache
def dynamics_of(name: str) -> Dynamics:
    """Return the dynamics of a robot, without a compiler."""
    return Dynamics(load_arm(name), backend='python')


def random_points(rng, dynamics, count, order, *, spread=1.0, spacing=(0.3, 1.5), start=0.0):
    """Return points of a random motion that ends at rest."""
    n = dynamics.n
    lower = np.maximum(dynamics.robot.limits('lower'), -np.pi)
    upper = np.minimum(dynamics.robot.limits('upper'), np.pi)
    times = start + np.concatenate(([0.0], np.cumsum(rng.uniform(*spacing, count - 1))))
    q = lower + (upper - lower) * (0.5 + spread * rng.uniform(-0.45, 0.45, (count, n)))
    v = spread * rng.uniform(-1.0, 1.0, (count, n))
    a = spread * rng.uniform(-2.0, 2.0, (count, n))
    v[-1] = a[-1] = 0.0
    fields = (q, v, a)[: order + 1]
    return [
        TrajectoryPoint(round(t, 6), *(field[k] for field in fields))
        for k, t in enumerate(times.tolist())
    ]


def annotated(dynamics, points, names=None, *, ends_moving=False, **options):
    """Return the annotated trajectory of points given in an order of names."""
    names = dynamics.joint_names if names is None else names
    waypoints = Waypoints.from_points(
        dynamics.robot.joints, names, points, allow_nonzero_velocity_at_end=ends_moving
    )
    return annotate(dynamics, names, waypoints, **options)


def is_in_a_step(result, times):
    """Return which times are in a ramp, or so near a reversal that its side is undecided."""
    knots = result.nanoseconds
    i = np.searchsorted(knots, times, side='right') - 1
    i = np.clip(i, 0, knots.size - 2)
    return np.diff(knots)[i] <= RAMP_NS


def deviation(result, true_effort, per_interval=20):
    """Return the largest deviation of each joint that a controller sees, outside the steps."""
    controller = JointTrajectoryController(result.points)
    times = controller.dense_times(per_interval)
    times = times[~is_in_a_step(result, times)]
    seen = controller.samples(times)
    true = true_effort(seen.position, seen.velocity, seen.acceleration)
    return np.abs(seen.effort - true).max(axis=0)


@pytest.mark.kept(4)
@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize('name', ['UR5', 'Panda, fingers locked', KINOVA])
def test_three_arms_stay_within_the_tolerance_by_pinocchio(name: str, order: int) -> None:
    """On the sender's motion, 50 times denser than the points, but for one ramp a step."""
    pytest.importorskip('pinocchio', reason='needs Pinocchio: pip install pin')
    from pinocchio_oracle import PinocchioRobot

    arm = EXAMPLES[name]
    dynamics = urdf_dynamics(arm.path, 'python', **arm.as_loaded)
    oracle = PinocchioRobot(arm.path.read_text(), dynamics.joint_names, GRAVITY, **arm.as_loaded)
    rng = np.random.default_rng(20 + order)
    for tolerance in (1.0, 0.1):
        points = random_points(rng, dynamics, 4, order)
        result = annotated(dynamics, points, effort_tolerance=tolerance)
        assert result.deviation.max() <= tolerance
        knots = result.nanoseconds
        inside = (np.diff(knots)[:, np.newaxis] * (np.arange(50) + 0.5) / 50).astype(np.int64)
        times = (knots[:-1, np.newaxis] + inside).ravel()
        rows = zip(*JointTrajectoryController(points).samples(times)[:3], strict=True)
        true = np.array(
            [oracle.inverse_dynamics(*row) + oracle.friction_torque(row[1]) for row in rows]
        )
        seen = [np.interp(times, knots, column) for column in result.efforts.T]
        off = np.abs(np.transpose(seen) - true).max(axis=1).reshape(inside.shape).max(axis=1)
        is_beyond = off > tolerance
        assert is_beyond.sum() <= result.steps
        assert (np.diff(knots)[is_beyond] <= RAMP_NS).all()
        assert off[~is_beyond].max() > 0.4 * tolerance


@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize('pause', [0.0, 1800.0], ids=['seconds', 'half an hour'])
def test_the_motion_stays_the_same(order: int, pause: float) -> None:
    """Positions, velocities and accelerations between all points, also after a long wait."""
    dynamics = dynamics_of('six_axis_arm')
    rng = np.random.default_rng(order)
    points = random_points(rng, dynamics, 5, order)
    if pause:
        rest = TrajectoryPoint(*points[2][:2], *[np.zeros(6)] * order)
        later = [each._replace(time_from_start=each[0] + pause) for each in (rest, *points[3:])]
        points = [*points[:2], rest, *later]
    result = annotated(dynamics, points, effort_tolerance=0.05)
    assert len(result) > len(points)
    before, after = JointTrajectoryController(points), JointTrajectoryController(result.points)
    times = rng.integers(0, before.times[-1], 2000)
    times = np.concatenate((times, before.times))
    old, new = before.samples(times), after.samples(times)
    np.testing.assert_allclose(new.position, old.position, atol=1e-11 if pause else 1e-12)
    np.testing.assert_allclose(new.velocity, old.velocity, atol=1e-9)
    steady = ~is_in_a_step(result, times)
    np.testing.assert_allclose(new.acceleration[steady], old.acceleration[steady], atol=1e-5)
    assert set(before.times) <= set(after.times)
    assert deviation(result, dynamics.inverse_dynamics).max() <= 0.05


@pytest.mark.parametrize('moves', ['velocity', 'acceleration'])
def test_a_last_point_that_moves_is_followed_by_one_at_rest(moves: str) -> None:
    """After a last point that is not at rest comes one that is, and carries gravity alone."""
    dynamics = dynamics_of('six_axis_arm')
    points = random_points(np.random.default_rng(7), dynamics, 3, 2)
    if moves == 'velocity':
        points[-1] = points[-1]._replace(velocities=np.full(6, 0.1))
    else:
        points[-1] = points[-1]._replace(accelerations=np.full(6, 0.1))
    result = annotated(dynamics, points, ends_moving=True)
    last = round(points[-1].time_from_start * NANO)
    assert result.nanoseconds[-2:].tolist() == [last, last + RAMP_NS]
    q = points[-1].positions
    np.testing.assert_allclose(result.positions[-2:], [q, q])
    assert not result.velocities[-1].any()
    assert not result.accelerations[-1].any()
    np.testing.assert_allclose(result.efforts[-1], dynamics.gravity_torque(q), atol=1e-9)
    np.testing.assert_allclose(
        result.efforts[-2],
        dynamics.inverse_dynamics(q, points[-1].velocities, points[-1].accelerations),
        atol=1e-9,
    )
    assert any('last point moves' in remark for remark in result.remarks)


def test_what_no_samples_can_resolve_is_refused() -> None:
    dynamics = dynamics_of('six_axis_arm')
    points = [
        TrajectoryPoint(0.0, np.full(6, -2.0), np.zeros(6), np.zeros(6)),
        TrajectoryPoint(2e-4, np.full(6, 2.0), np.zeros(6), np.zeros(6)),
    ]
    with pytest.raises(TrajectoryError, match='effort_tolerance: cannot be kept at about 0 s'):
        annotated(dynamics, points, effort_tolerance=1e-3)


@pytest.mark.parametrize('tolerance', [0.0, -1.0, np.nan, np.inf, [0.1, 0.2], 'much'])
def test_a_tolerance_that_makes_no_sense_is_refused(tolerance) -> None:
    """A tolerance is one positive number, or one for each joint."""
    dynamics = dynamics_of('six_axis_arm')
    with pytest.raises(ParameterError, match='effort_tolerance'):
        annotated(dynamics, [TrajectoryPoint(0.0, np.zeros(6))], effort_tolerance=tolerance)


@pytest.mark.kept(4)
@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize('smoothing', [0.0, 0.05])
def test_friction_with_hysteresis_follows_the_path(order: int, smoothing: float) -> None:
    """Efforts are those of the way from the first point on, through every turn; at the end too."""
    robot = dynamics_of('six_axis_arm').robot
    friction = FrictionModel(
        smoothing_velocity=smoothing, hysteresis_friction=8.0, hysteresis_displacement=0.15
    )
    still = [replace(joint, coulomb_friction=2.0) for joint in robot.joints[:2]]
    joints = [replace(joint, friction=friction) for joint in robot.joints[2:]]
    dynamics = Dynamics(replace(robot, joints=(*still, *joints)), backend='python')
    points = random_points(np.random.default_rng(order), dynamics, 5, order)
    result = annotated(dynamics, points, effort_tolerance=0.1)
    controller = JointTrajectoryController(result.points)
    times = controller.dense_times(40)
    seen = controller.samples(times)
    states = np.stack(
        [
            follow_hysteresis(column, joint.friction.hysteresis_displacement or 1.0)
            for column, joint in zip(seen.position.T, dynamics.robot.joints, strict=True)
        ],
        axis=1,
    )
    zero = np.zeros_like(states)
    more = dynamics.friction_hysteresis(states, zero, seen.velocity)[1]
    expected = more + dynamics.inverse_dynamics(seen.position, seen.velocity, seen.acceleration)
    off = np.abs(seen.effort - expected)[~is_in_a_step(result, times)]
    assert off.max() <= 0.1 + 0.02
    assert np.abs(more).max() > 3.0
    final = dynamics.gravity_torque(result.positions[-1])
    final[2:] += 8.0 * states[-1, 2:]
    np.testing.assert_allclose(result.efforts[-1], final, atol=0.02)
    without = annotated(dynamics, points, effort_tolerance=0.1, terms=Terms(friction=False))
    assert deviation(without, dynamics.without_friction().inverse_dynamics).max() <= 0.1


def test_a_joint_that_comes_to_rest_at_the_end_does_not_turn_there() -> None:
    """Rounding may put the zero of its velocity a little before the last point; it is none."""
    dynamics = dynamics_of('six_axis_arm')
    joints = [replace(joint, coulomb_friction=5.0) for joint in dynamics.robot.joints]
    dynamics = Dynamics(replace(dynamics.robot, joints=tuple(joints)), backend='python')
    for seed in range(25):
        points = random_points(np.random.default_rng(seed), dynamics, 4, 1 + seed % 2)
        end = round(points[-1].time_from_start * 1e9)
        result = annotated(dynamics, points, effort_tolerance=5.0)
        assert result.nanoseconds[-1] == end or result.nanoseconds[-2] == end
        still = dynamics.gravity_torque(result.positions[-1])
        np.testing.assert_allclose(result.efforts[-1], still, atol=1e-9)


@pytest.mark.parametrize('smoothing', [0.0, 0.05])
def test_friction_of_any_kind_is_within_the_tolerance(smoothing: float) -> None:
    """With static friction, load and offset the points follow the efforts of the same model."""
    robot = dynamics_of('six_axis_arm').robot
    friction = FrictionModel(
        static_friction=9.0,
        stribeck_velocity=0.1,
        smoothing_velocity=smoothing,
        load_coefficient=0.05,
        friction_asymmetry=0.5,
        friction_offset=-1.0,
        square_root_friction=0.6,
        cubic_friction=0.2,
    )
    joints = [replace(joint, coulomb_friction=5.0, friction=friction) for joint in robot.joints]
    dynamics = Dynamics(replace(robot, joints=tuple(joints)), backend='python')
    points = random_points(np.random.default_rng(17), dynamics, 3, 2)
    result = annotated(dynamics, points, effort_tolerance=0.2)
    assert deviation(result, dynamics.inverse_dynamics).max() <= 0.2
    assert any('changes its sign' in remark for remark in result.remarks) == (smoothing == 0.0)
    # At the end it rests, and has what holds the arm: gravity and the offset.
    hold = dynamics.gravity_torque(result.positions[-1]) - 1.0
    np.testing.assert_allclose(result.efforts[-1], hold, atol=1e-9)
    without = annotated(dynamics, points, effort_tolerance=0.2, terms=Terms(friction=False))
    rigid = dynamics.without_friction()
    assert deviation(without, rigid.inverse_dynamics).max() <= 0.2
    no_gravity = annotated(dynamics, points, effort_tolerance=0.2, terms=Terms(gravity=False))

    def without_gravity(q, qd, qdd):
        return dynamics.inverse_dynamics(q, qd, qdd) - dynamics.gravity_torque(q)

    assert deviation(no_gravity, without_gravity).max() <= 0.2


def test_one_point_holds() -> None:
    """Where it is due later what comes before it is unknown, and that is said."""
    dynamics = dynamics_of('six_axis_arm')
    q = np.array([0.1, -0.5, 0.7, 0.2, -0.3, 0.4])
    for point in (TrajectoryPoint(0.0, q), TrajectoryPoint(2.0, q, np.zeros(6))):
        result = annotated(dynamics, [point])
        assert len(result) == 1
        np.testing.assert_allclose(result.efforts[0], dynamics.gravity_torque(q))
        assert ['unknown' in remark for remark in result.remarks] == [True] * bool(point[0])
