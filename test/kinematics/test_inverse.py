"""Inverse kinematics: limits, starts, singular and impossible poses, and what is refused."""

import copy
import pickle

import numpy as np
import pytest
import yaml

import ne_dynamics as ned
from ne_dynamics.errors import InputError, InverseKinematicsError
from ne_dynamics.kinematics.pose import compute_rotation_vectors
from ne_dynamics.model.rigid_body import axis_angle_rotation
from ne_dynamics.shipped import shipped_file

SHIPPED = (
    'puma560_standard_dh.yaml',
    'puma560_modified_dh.yaml',
    'six_link_dh.yaml',
    'six_axis_arm.urdf',
)


def load_dynamics(name):
    """Return the dynamics of a shipped arm."""
    tip_link = 'tcp' if name.endswith('.urdf') else None
    return ned.Dynamics(ned.load_model(shipped_file(name), tip_link=tip_link), backend='python')


def make_arm(folder, joints, **more):
    """Return the dynamics of an arm in standard Denavit-Hartenberg rows."""
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump({'convention': 'standard', 'joints': joints, **more}))
    return ned.Dynamics(ned.load_dh(path), backend='python')


def make_planar_arm(folder, lengths, kind='revolute', **limits):
    """Return the dynamics of an arm that moves in the plane of x and y."""
    more = {'limits': limits} if limits else {}
    # Rows of their own: YAML would write one that is shared as an alias.
    rows = [{'type': kind, 'a': length, **copy.deepcopy(more)} for length in lengths]
    return make_arm(folder, rows)


@pytest.fixture
def puma():
    """Return the dynamics of the Puma 560."""
    return load_dynamics('puma560_standard_dh.yaml')


@pytest.mark.parametrize('name', SHIPPED)
def test_random_poses_are_met_within_the_limits(name):
    """Pose, position, pose: the same pose again, without a start and from elsewhere."""
    dynamics = load_dynamics(name)
    rng = np.random.default_rng(4)
    lower = np.maximum(dynamics.robot.limits('lower'), -np.pi)
    upper = np.minimum(dynamics.robot.limits('upper'), np.pi)
    for q in rng.uniform(lower, upper, (5, dynamics.n)):
        target = dynamics.forward_kinematics(q)
        for initial in (None, rng.uniform(lower, upper)):
            found = ned.inverse_kinematics(dynamics, target, initial)
            assert (dynamics.robot.limits('lower') <= found).all()
            assert (found <= dynamics.robot.limits('upper')).all()
            np.testing.assert_allclose(
                dynamics.forward_kinematics(found), target, rtol=0.0, atol=2e-9
            )


def test_a_limit_that_is_needed_is_kept_to(tmp_path):
    """A pose at the limits is met there, and one just beyond them is not."""
    dynamics = make_planar_arm(tmp_path, [0.5, 0.4, 0.3], lower=-0.8, upper=0.6)
    corner = np.array([0.6, -0.8, 0.6])
    found = ned.inverse_kinematics(dynamics, dynamics.forward_kinematics(corner))
    np.testing.assert_allclose(found, corner, rtol=0.0, atol=1e-8)
    beyond = dynamics.forward_kinematics(np.array([0.61, -0.8, 0.6]))
    with pytest.raises(InverseKinematicsError, match=r'at a limit there: .*joint_1') as caught:
        ned.inverse_kinematics(dynamics, beyond)
    assert (np.abs(caught.value.position + 0.1) <= 0.7).all()


@pytest.mark.parametrize('turns', [-3, 0, 2])
def test_joints_stay_within_half_a_turn_of_the_start(turns, tmp_path):
    """Continuous joints are wrapped to the start, however many turns that is from zero."""
    dynamics = make_planar_arm(tmp_path, [0.5, 0.4, 0.3], 'continuous')
    q = np.array([0.3, 0.9, -0.4])
    start = q + 0.2 + 2.0 * np.pi * turns
    found = ned.inverse_kinematics(dynamics, dynamics.forward_kinematics(q), start)
    np.testing.assert_allclose(found, q + 2.0 * np.pi * turns, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize('name', SHIPPED)
def test_the_search_leaves_a_singular_start(name):
    """From a position where the tip cannot move in every direction, poses are met."""
    dynamics = load_dynamics(name)
    singular = np.zeros(dynamics.n)
    if name == 'six_axis_arm.urdf':
        singular[4] = np.pi / 2.0
    assert np.linalg.matrix_rank(dynamics.jacobian(singular), tol=1e-9) < dynamics.n
    rng = np.random.default_rng(9)
    for _ in range(4):
        q = np.clip(
            rng.uniform(-0.6, 0.6, dynamics.n),
            dynamics.robot.limits('lower'),
            dynamics.robot.limits('upper'),
        )
        target = dynamics.forward_kinematics(q)
        found = ned.inverse_kinematics(dynamics, target, singular)
        np.testing.assert_allclose(dynamics.forward_kinematics(found), target, rtol=0.0, atol=2e-9)


def test_a_pose_out_of_reach_is_an_error_that_has_the_nearest(puma):
    """The message names metres and radians; position and errors are those of its pose."""
    target = puma.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    target[:3, 3] *= 4.0
    with pytest.raises(InverseKinematicsError, match=r'misses it by .* m and .* rad') as caught:
        ned.inverse_kinematics(puma, target)
    error = caught.value
    pose = puma.forward_kinematics(error.position)
    assert error.position_error == pytest.approx(np.linalg.norm(pose[:3, 3] - target[:3, 3]))
    cosine = (np.trace(pose[:3, :3].T @ target[:3, :3]) - 1.0) / 2.0
    assert np.cos(error.orientation_error) == pytest.approx(cosine)
    assert error.position_error > 1.0
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert copy.copy(error).position_error == error.position_error


@pytest.mark.parametrize('far', [5.0, -50.0, 5000.0])
def test_a_long_rail_is_no_obstacle(far, tmp_path):
    """A sliding joint without limits goes as far as it takes, many lengths of the arm."""
    rows = [{'type': 'prismatic', 'alpha': np.pi / 2.0}, {'a': 0.3}, {'a': 0.2}]
    dynamics = make_arm(tmp_path, rows)
    target = dynamics.forward_kinematics([far, 0.4, 0.7])
    for initial in (None, np.zeros(3)):
        found = ned.inverse_kinematics(dynamics, target, initial)
        np.testing.assert_allclose(dynamics.forward_kinematics(found), target, rtol=0.0, atol=1e-9)


def change(index, value):
    """Return a function that changes one entry of a pose."""

    def apply(pose):
        pose[index] = value
        return pose

    return apply


@pytest.mark.parametrize(
    ('spoil', 'message'),
    [
        (lambda pose: pose[:3], r'target_pose: expected shape \(4, 4\), got \(3, 4\)'),
        (lambda pose: np.array([pose, pose]), r'expected shape \(4, 4\), got \(2, 4, 4\)'),
        (lambda pose: 'pose', 'expected real numbers'),
        (lambda pose: pose.astype(complex), 'expected real numbers, got complex128'),
        (lambda pose: [[1, 2], [3]], r'expected an array of shape \(4, 4\)'),
        (lambda pose: None, 'expected real numbers'),
        (lambda pose: np.ma.masked_array(pose), 'without mask'),
        (change((0, 3), np.nan), r'expected finite numbers, got nan at index \(0, 3\)'),
        (change((1, 1), np.inf), r'got inf at index \(1, 1\)'),
        (change((2, 3), -1e200), 'expected a translation of at most 1e\\+100 m'),
        (change((3, 0), 0.1), r'expected the last row \[0, 0, 0, 1\], got \[0.1, '),
        (change((3, 3), 2.0), 'expected the last row'),
        (change((0, 0), 3.0), 'expected a rotation matrix, got rows that are not orthonormal'),
        (change((0, 0), 1e200), 'expected a rotation matrix'),
        (lambda pose: pose @ np.diag([1.0, 1.0, -1.0, 1.0]), 'got a reflection'),
        (lambda pose: 0.0 * pose + np.diag([0, 0, 0, 1]), 'expected a rotation matrix'),
    ],
)
@pytest.mark.parametrize('function', [ned.inverse_kinematics, ned.inverse_kinematics_branches])
def test_what_is_no_pose_is_refused(puma, function, spoil, message):
    pose = puma.forward_kinematics(np.full(6, 0.3))
    with pytest.raises(InputError, match=message):
        function(puma, spoil(pose))


@pytest.mark.parametrize(
    ('initial', 'message'),
    [
        (np.zeros(5), r'initial_position: expected shape \(6,\)'),
        (np.zeros((1, 6)), r'initial_position: expected shape \(6,\), got \(1, 6\)'),
        ([0.0, 0.0, np.nan, 0.0, 0.0, 0.0], 'initial_position: expected finite numbers, got nan'),
        ('here', 'initial_position: expected real numbers'),
    ],
)
def test_a_bad_start_is_refused(puma, initial, message):
    with pytest.raises(InputError, match=message):
        ned.inverse_kinematics(puma, puma.forward_kinematics(np.zeros(6)), initial)


@pytest.mark.parametrize(
    ('link', 'message'),
    [
        ('nose', "link: no link 'nose'; the links are base, link_1"),
        (3, 'link: no link 3'),
        (['base'], 'link: no link'),
        ('base', "link: expected one that joints move, got 'base'"),
    ],
)
def test_a_bad_link_is_refused(puma, link, message):
    """An unknown link, and one that nothing moves, are errors that name it."""
    with pytest.raises(InputError, match=message):
        ned.inverse_kinematics(puma, np.eye(4), link=link)


def test_rotation_vectors_are_accurate_at_every_angle():
    """Axis times angle comes back, next to no turn and next to half a turn too."""
    rng = np.random.default_rng(3)
    for angle in (0.0, 1e-12, 1e-7, 0.3, 2.0, 3.0, np.pi - 1e-6, np.pi - 1e-9):
        for _ in range(20):
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            rotation = axis_angle_rotation(axis, angle)
            found = compute_rotation_vectors(rotation[None])[0]
            np.testing.assert_allclose(found, angle * axis, rtol=0.0, atol=2e-15 + 1e-15 * angle)
    half = compute_rotation_vectors(np.diag([-1.0, 1.0, -1.0])[None])[0]
    np.testing.assert_allclose(np.abs(half), [0.0, np.pi, 0.0], atol=1e-15)
