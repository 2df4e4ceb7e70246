"""All positions of an arm for one pose."""

import numpy as np
import pytest
import yaml

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

FLIP = np.array([0.0, 0.0, 0.0, np.pi, 0.0, np.pi])
"""Of a spherical wrist: q4 + pi, -q5, q6 + pi is the same pose."""


def make_free_arm(tmp_path, name):
    """Return the dynamics of a shipped arm in DH parameters without the limits of its joints."""
    description = yaml.safe_load(shipped_file(name).read_text())
    for joint in description['joints']:
        joint.pop('limits', None)
    path = tmp_path / name
    path.write_text(yaml.safe_dump(description))
    return ned.Dynamics(ned.load_dh(path), backend='python')


def wrap(angles):
    """Return angles within half a turn of zero."""
    return (np.asarray(angles) + np.pi) % (2.0 * np.pi) - np.pi


def is_listed(branches, q):
    """Return whether a position is among others, full turns aside."""
    return bool((np.abs(wrap(branches - q)).max(axis=1) < 1e-6).any())


def test_a_puma_has_eight_branches(tmp_path):
    """Shoulder, elbow and wrist each have two ways: 8 positions, the flipped wrist among them."""
    dynamics = make_free_arm(tmp_path, 'puma560_standard_dh.yaml')
    rng = np.random.default_rng(5)
    for q in rng.uniform(-1.2, 1.2, (3, 6)):
        target = dynamics.forward_kinematics(q)
        branches = ned.inverse_kinematics_branches(dynamics, target)
        assert branches.shape == (8, 6)
        assert is_listed(branches, q)
        for branch in branches:
            np.testing.assert_allclose(
                dynamics.forward_kinematics(branch), target, rtol=0.0, atol=2e-9
            )
            flipped = (branch + FLIP) * [1, 1, 1, 1, -1, 1]
            np.testing.assert_allclose(dynamics.forward_kinematics(flipped), target, atol=4e-9)
            assert is_listed(branches, flipped)


def test_branches_are_within_the_limits_and_nearest_first():
    """Those beyond a limit are not listed; the first is the one nearest to the middle."""
    dynamics = ned.Dynamics(
        ned.load_dh(shipped_file('puma560_standard_dh.yaml')), backend='python'
    )
    lower, upper = dynamics.robot.limits('lower'), dynamics.robot.limits('upper')
    target = dynamics.forward_kinematics([0.5, 0.4, 0.6, 0.7, 0.8, 0.9])
    branches = ned.inverse_kinematics_branches(dynamics, target)
    assert ((lower <= branches) & (branches <= upper)).all()
    distances = np.linalg.norm(branches - 0.5 * (lower + upper), axis=1)
    assert (np.diff(distances) >= 0.0).all()
    found = ned.inverse_kinematics(dynamics, target)
    assert is_listed(branches, found)


def test_an_aligned_wrist_is_one_branch_and_not_a_line(tmp_path):
    """Where only the sum of two joints counts, one position stands for all of them."""
    dynamics = make_free_arm(tmp_path, 'puma560_standard_dh.yaml')
    q = np.array([0.3, 0.4, 0.5, 0.0, 0.0, 0.6])
    branches = ned.inverse_kinematics_branches(dynamics, dynamics.forward_kinematics(q))
    aligned = branches[np.abs(wrap(branches[:, 4])) < 1e-3]
    same_arm = aligned[np.abs(wrap(aligned[:, :3] - q[:3])).max(axis=1) < 1e-3]
    assert len(same_arm) == 1
    assert wrap(same_arm[0, 3] + same_arm[0, 5] - 0.6) == pytest.approx(0.0, abs=1e-3)


def test_a_redundant_arm_has_no_list(tmp_path):
    """Four joints in a plane have a line of positions for a pose: the error counts them."""
    path = tmp_path / 'arm.yaml'
    rows = [{'a': 0.3} for _ in range(4)]
    path.write_text(yaml.safe_dump({'convention': 'standard', 'joints': rows}))
    dynamics = ned.Dynamics(ned.load_dh(path), backend='python')
    target = dynamics.forward_kinematics([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(InputError, match="4 joints that move 'link_4' in 3 directions"):
        ned.inverse_kinematics_branches(dynamics, target)
    found = ned.inverse_kinematics(dynamics, target)
    np.testing.assert_allclose(dynamics.forward_kinematics(found), target, rtol=0.0, atol=2e-9)
