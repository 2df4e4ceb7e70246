"""Distances of an arm from itself and from planes; the oracle is MuJoCo's geometry."""

import numpy as np
import pytest

pytest.importorskip('coal', reason='coal is missing')
pytest.importorskip('mujoco', reason='mujoco is missing')

from excitation_arm import START, make_urdf, small_arm, small_limits, small_solids
from mujoco_distances import Geometry

import ne_dynamics as ned
from ne_dynamics.errors import ExcitationError
from ne_dynamics.excitation.body_frames import BodyFrames
from ne_dynamics.excitation.clearance import Clearance, PairDistances, Wall
from ne_dynamics.excitation.constraints import Constraints
from ne_dynamics.excitation.information import SampledMotion
from ne_dynamics.excitation.keep_out import FLOOR, KeepOut
from ne_dynamics.excitation.limits import ExcitationLimits
from ne_dynamics.excitation.solids import make_origins
from ne_dynamics.shipped import shipped_file

WALL = KeepOut(np.array([0.0, 3.0, 4.0]), -2.0)


@pytest.fixture(scope='module')
def clearance():
    """Return what the arm must not touch, in front of a floor and a slanted wall."""
    return Clearance(small_arm(), small_solids(), [FLOOR, WALL], 0.02, START, small_limits())


@pytest.fixture(scope='module')
def poses():
    """Return random poses within the limits."""
    limits = small_limits()
    return np.random.default_rng(7).uniform(limits.lower, limits.upper, (40, 4))


def test_distances_of_links_are_those_of_mujoco(clearance, poses):
    """Box, cylinder and sphere are as far apart as MuJoCo says, wherever they do not overlap."""
    geometry, frames = Geometry(make_urdf()), BodyFrames(small_arm(), poses)
    found, distances = 0, PairDistances(clearance.pairs, frames)
    for index, pair in enumerate(clearance.pairs):
        for row, pose in enumerate(poses):
            expected = geometry.measure(pose, pair.first.link, pair.second.link)
            distance = distances(row, index)
            if expected > 1e-3:
                found += 1
                assert distance == pytest.approx(expected, abs=1e-4)
            elif expected < -1e-3:
                assert distance < 0.0
    assert found > 100
    assert {pair.name for pair in clearance.pairs} == {
        'base and upper',
        'base and fore',
        'base and hand',
        'turret and fore',
        'turret and hand',
        'upper and hand',
    }


def test_distances_of_planes_are_those_of_corners(clearance, poses):
    """No point of a link's surface, as MuJoCo places it, is nearer to a plane."""
    geometry, frames = Geometry(make_urdf()), BodyFrames(small_arm(), poses)
    for wall in clearance.walls:
        distances, _ = wall.measure(frames)
        for row, pose in enumerate(poses):
            expected = geometry.measure_plane(
                pose, wall.solid.link, wall.plane.normal, wall.plane.distance
            )
            assert expected - 1e-3 <= distances[row] <= expected + 1e-6


@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_origins_of_links_given_by_dh_parameters_are_those_of_forward_kinematics(convention):
    """Also where the frame of a link, at its far end, is not its body's; and they move so."""
    robot = ned.load_dh(shipped_file(f'puma560_{convention}_dh.yaml'))
    dynamics = ned.Dynamics(robot, backend='python')
    places = {link.name: index for index, link in enumerate(robot.links)}
    positions = np.random.default_rng(3).uniform(-2.0, 2.0, (5, robot.n))
    frames, rows, step = BodyFrames(dynamics, positions), np.arange(5), 1e-6
    normals = np.broadcast_to(WALL.normal, (5, 3))
    for origin in make_origins(robot):

        def find_points(q, place=places[origin.link]):
            return dynamics.link_poses(q)[:, place, :3, 3]

        _, points = Wall(origin, WALL, 0.0, np.inf).measure(frames)
        np.testing.assert_allclose(points, find_points(positions), atol=1e-12)
        slopes = frames.differentiate(rows, np.full(5, origin.body), points, normals)
        for joint, moved in enumerate(step * np.eye(robot.n)):
            change = find_points(positions + moved) - find_points(positions - moved)
            expected = change @ WALL.normal / (2.0 * step)
            np.testing.assert_allclose(slopes[:, joint], expected, atol=1e-8)


def test_gradients_of_distances_are_those_of_finite_differences(clearance, poses):
    """The weighted sum of all numbers changes with the positions as its gradient says."""
    everything = np.full((len(poses), len(clearance.pairs)), -np.inf)

    def evaluate(position):
        constraints = Constraints(small_arm(), small_limits(), clearance, len(poses), 0.01, 0.0)
        motion = SampledMotion(position, 0.3 * position, 0.2 * position)
        return constraints.evaluate(motion, everything)

    groups = evaluate(poses)
    rng = np.random.default_rng(0)
    for index, group in enumerate(groups):
        # Where hulls are deep in each other the nearest points jump.
        weights = rng.uniform(size=group.values.shape) * (group.values < 0.2)
        slopes = group.pull_back(weights)
        gradient = slopes.position + 0.3 * slopes.velocity + 0.2 * slopes.acceleration
        step = 1e-6
        for _ in range(2):
            direction = rng.normal(size=poses.shape)
            ahead, behind = (
                (weights * evaluate(poses + s * direction)[index].values).sum()
                for s in (step, -step)
            )
            expected = (ahead - behind) / (2.0 * step)
            assert (gradient * direction).sum() == pytest.approx(expected, rel=2e-3, abs=2e-3)


def test_a_start_in_contact_is_refused():
    """The links are named, and so is a plane that the arm stands in."""
    robot = ned.load_urdf(make_urdf(elbow_limits=(-3.1, 3.1)), tip_link='hand')
    dynamics = ned.Dynamics(robot, backend='python')
    folded = np.array([0.0, 0.5, 3.0, 0.0])
    limits = ExcitationLimits.of_robot(dynamics, folded)
    with pytest.raises(ExcitationError, match=r'start: .* upper and hand in contact'):
        Clearance(dynamics, small_solids(), [], 0.02, folded, limits)
    free = Clearance(dynamics, small_solids(), [], 0.02, folded, limits, [('hand', 'upper')])
    assert 'upper and hand' not in {pair.name for pair in free.pairs}
    high = KeepOut(np.array([0.0, 0.0, 1.0]), 0.3)
    with pytest.raises(ExcitationError, match=r"link 'turret' 0\.\d+ m deep"):
        Clearance(small_arm(), small_solids(), [high], 0.02, START, small_limits())
