"""The two ways from pose A to pose B of the six-link manipulator."""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.papers.studies import six_link
from ne_dynamics.papers.studies.six_link_paths import PRINTED_POSITIONS
from ne_dynamics.shipped import shipped_file


@pytest.fixture(scope='module')
def ways():
    """Return both ways, and the dynamics."""
    dynamics = ned.Dynamics(ned.load_dh(shipped_file('six_link_dh.yaml')), backend='python')
    return dynamics, six_link.study()[1]


def test_the_tip_stays_on_the_line_with_its_orientation(ways):
    """Along the line, position and printed orientation are kept, within the limits."""
    dynamics, found = ways
    motion = found['line'].motion
    poses = dynamics.forward_kinematics(motion.q)
    np.testing.assert_allclose(poses[:, :2, 3], [PRINTED_POSITIONS[0][:2]] * 601, atol=1e-9)
    np.testing.assert_allclose(poses[:, :3, 0], [(0.0, 0.0, 1.0)] * 601, atol=2e-9)
    np.testing.assert_allclose(poses[:, :3, 1], [(1.0, 0.0, 0.0)] * 601, atol=2e-9)
    assert (dynamics.robot.limits('lower') <= motion.q).all()
    assert (motion.q <= dynamics.robot.limits('upper')).all()


def test_joints_on_trapezoids_leave_the_line(ways):
    """Both prescriptions exclude each other: each way keeps its own and breaks the other's."""
    _, found = ways
    line, joint = found['line'].departure, found['joint'].departure
    assert line.from_line < 1e-9
    assert line.from_orientation < 1e-9
    assert np.rad2deg(line.from_trapezoid) > 4.0
    assert joint.from_trapezoid == 0.0
    assert joint.from_line == pytest.approx(10.9e-3, abs=0.05e-3)
    assert np.rad2deg(joint.from_orientation) == pytest.approx(2.6, abs=0.05)


def test_pinocchio_finds_the_torques_of_the_line(ways):
    """From positions alone, by differences; joints 5 and 6 carry nothing."""
    pin = pytest.importorskip('pinocchio', reason='needs Pinocchio (pip install pin)')
    dynamics, found = ways
    model = pin.Model()
    model.gravity.linear = dynamics.gravity
    last, placement = 0, pin.SE3.Identity()
    for index, body in enumerate(dynamics.robot.bodies):
        pose = body.pose_in_parent
        last = model.addJoint(
            last, pin.JointModelRZ(), pin.SE3(pose.rotation, pose.translation), f'{index}'
        )
        inertia = body.inertia
        model.appendBodyToJoint(
            last,
            pin.Inertia(inertia.mass, inertia.center_of_mass, inertia.inertia_about_com),
            placement,
        )
    data = model.createData()
    way = found['line']
    q, step = way.motion.q, way.motion.time[1]
    for index in (60, 150, 250, 350, 450, 560):
        before, here, after = q[index - 1 : index + 2]
        expected = pin.rnea(
            model, data, here, (after - before) / (2 * step), (after - 2 * here + before) / step**2
        )
        np.testing.assert_allclose(way.torques.total[index], expected, rtol=0.0, atol=1e-3)
        np.testing.assert_allclose(expected[4:], 0.0, atol=1e-4)
    assert np.abs(way.torques.total[:, 4:]).max() < 1e-9


def test_the_path_that_is_asked_for_comes_first():
    """The report's data are those of the path; an unknown one is an error that names both."""
    report, found = six_link.study(2.0, 'joint')
    assert list(found) == ['joint', 'line']
    assert report.data['path'] == 'joint'
    np.testing.assert_array_equal(report.data['total'], found['joint'].torques.total)
    with pytest.raises(InputError, match="path: expected one of line, joint, got 'arc'"):
        six_link.study(1.0, 'arc')
