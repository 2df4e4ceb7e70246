"""Numbers that are finite alone and overflow together are refused where they meet."""

from __future__ import annotations

import json
import re
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ne_dynamics as ned
from ne_dynamics.errors import ModelError, NeDynamicsError
from ne_dynamics.model.rigid_body import Inertia, Transform
from ne_dynamics.model.robot import Body, Joint, JointType, Link, Robot

LARGEST = sys.float_info.max
AXIS = (0.0, 0.0, 1.0)
SEEDED = settings(derandomize=True, deadline=None)
finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10.0, 10.0),
    st.sampled_from(
        [0.0, -0.0, 1.0, LARGEST, -LARGEST, 1e308, 1e200, -1e200, 1e154, 1e100, 5e-324, 1e-300]
    ),
)
vectors = st.tuples(finite, finite, finite)
tensors = st.tuples(finite, finite, finite, finite, finite, finite).map(
    lambda t: np.array([[t[0], t[1], t[2]], [t[1], t[3], t[4]], [t[2], t[4], t[5]]])
)
transforms = st.builds(lambda xyz, rpy: sound(Transform.from_xyz_rpy, xyz, rpy), vectors, vectors)
inertias = st.builds(lambda *values: sound(Inertia, *values), finite, vectors, tensors)


def sound(call, *args):
    """Return what a call returns, None for an error of ours; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        try:
            return call(*args)
        except NeDynamicsError:
            return None


def robot_of(joint, inertia, pose, multiplier=1.0, offset=0.0):
    """Return a robot of two bodies that are alike."""
    bodies = [
        Body(f'l{i}', joint.name, i - 1, joint.type, AXIS, pose, 0, multiplier, offset)
        for i in range(2)
    ]
    links = [
        Link('base', -1, Transform.identity(), None),
        Link('l0', 0, pose, 'base', inertia),
        Link('l1', 1, pose, 'l0', inertia),
        Link('hand', 1, pose, 'l1', inertia),
    ]
    return Robot('r', (joint,), bodies, links, 'base', 'hand')


@SEEDED
@given(st.lists(finite, min_size=9, max_size=9), vectors, vectors)
def test_any_transform_is_sound_or_refused(rotation, translation, rpy):
    for pose in (
        sound(Transform, np.reshape(rotation, (3, 3)), translation),
        sound(Transform.from_xyz_rpy, translation, rpy),
    ):
        if pose is not None:
            assert np.isfinite(pose.matrix).all()
            assert np.abs(pose.rotation @ pose.rotation.T - np.eye(3)).max() <= 1e-6
            inverse = sound(pose.inverse)
            assert inverse is None or np.isfinite(inverse.matrix).all()
            twice = sound(pose.__matmul__, pose)
            assert twice is None or np.isfinite(twice.matrix).all()


@SEEDED
@given(finite, vectors, tensors, transforms)
def test_any_inertia_is_sound_or_refused(mass, com, tensor, pose):
    inertia = sound(Inertia, mass, com, tensor)
    if inertia is None:
        return
    others = [inertia, sound(inertia.__add__, inertia)]
    if pose is not None:
        others.append(sound(inertia.transformed, pose))
    for each in filter(None, others):
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            for values in (each.first_moment, each.inertia_about_origin, each.parameters):
                assert np.isfinite(values).all()


@SEEDED
@given(transforms, inertias, finite, finite, finite, finite)
def test_any_robot_has_finite_equations_or_is_refused(
    pose, inertia, multiplier, offset, rotor, gear
):
    joint = sound(
        lambda: Joint('j', JointType.PRISMATIC, rotor_inertia=abs(rotor), gear_ratio=gear)
    )
    if None in (pose, inertia, joint):
        return
    robot = sound(robot_of, joint, inertia, pose, multiplier, offset)
    if robot is None:
        return
    for body in robot.bodies:
        assert np.isfinite(body.inertia.parameters).all()
    dynamics = ned.Dynamics(robot, backend='python')
    for function in ('inverse_dynamics', 'mass_matrix', 'forward_kinematics'):
        assert not re.search(r'\b(inf|nan)\b', dynamics.source(function))


def robot_of_base_and(joint, *inertias):
    """Return a robot whose one body is lumped of links at its origin: l0, l1 ..."""
    pose = Transform.identity()
    links = [Link(f'l{i}', 0, pose, 'base', inertia) for i, inertia in enumerate(inertias)]
    body = Body('l0', joint.name, -1, joint.type, (0.0, 0.0, 1.0), pose, 0)
    return Robot('r', (joint,), [body], [Link('base', -1, pose, None), *links], 'base', 'l0')


def test_messages_name_the_thing():
    """The message says which joint, link or body, which key, what was expected and what came."""
    joint = Joint('lift', JointType.PRISMATIC)
    with pytest.raises(ModelError, match=r"joint 'lift': gear_ratio and rotor_inertia: .*1e\+300"):
        Joint('lift', gear_ratio=1e5, rotor_inertia=1e300)
    heavy = Inertia(1e308, np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(ModelError, match=r"link 'l1': inertia, lumped into body 'l0'.*inf"):
        robot_of_base_and(joint, heavy, heavy)
    far = Transform.from_translation((0.0, 0.0, 1e152))
    with pytest.raises(
        ModelError, match=r"body 'l0': pose_in_parent and offset: expected .*got 1e\+152 m"
    ):
        robot_of(joint, Inertia.zero(), far)
    loaded = robot_of_base_and(joint, Inertia(1e299, np.zeros(3), np.zeros((3, 3))))
    with pytest.raises(ModelError, match=r"payload on link 'l0': mass .*finite.*inf"):
        loaded.with_payload(Inertia(LARGEST, np.zeros(3), np.zeros((3, 3))))
    with pytest.raises(ModelError, match=r"joint 'lift': type: expected one of .*got 'planar'"):
        Joint('lift', 'planar')


ROW = {
    'name': 'turn',
    'a': 0.3,
    'mass': 2.0,
    'center_of_mass': [0.1, 0.0, 0.0],
    'inertia': [1, 1, 1],
}


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'gear_ratio': 1e200}, "joint 'turn': gear_ratio"),
        ({'gear_ratio': 1e10, 'rotor_inertia': 1e300}, "joint 'turn': gear_ratio and rotor_in"),
        ({'rotor_inertia': 1e308, 'gear_ratio': -2.0}, "joint 'turn': gear_ratio and rotor_in"),
        ({'theta': 1.7e308, 'offset': 1.7e308}, "joint 'turn': theta \\+ offset: expected"),
        ({'type': 'prismatic', 'd': 1e308, 'offset': 1e308}, "joint 'turn': d \\+ offset"),
        ({'mass': 1e300, 'center_of_mass': [1e10, 0.0, 0.0]}, "joint 'turn': mass and center"),
        ({'mass': 1e308}, "body 'link_1': mass"),
        ({'center_of_mass': [1e200, 0.0, 0.0]}, "joint 'turn': mass and center_of_mass"),
        ({'a': 1e200}, "link 'link_1': inertia"),
    ],
)
@pytest.mark.filterwarnings('error')
def test_dh_files_are_refused_by_joint_and_key(change, message, tmp_path):
    row = ROW | change
    document = {'convention': 'standard', 'joints': [row, row | {'name': 'turn_2'}]}
    path = tmp_path / 'arm.yaml'
    path.write_text(json.dumps(document), encoding='utf-8')  # JSON is YAML
    with pytest.raises(ModelError, match=message):
        ned.load_dh(path)


URDF = """<robot name="r">
  <link name="base"/>
  <link name="arm"><inertial><mass value="2"/><origin xyz="0 0 0.1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="tool"><inertial><mass value="3"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="finger"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="glue" type="fixed"><parent link="arm"/><child link="tool"/>
    <origin xyz="0 0 0.5"/></joint>
  <joint name="slide" type="prismatic"><parent link="tool"/><child link="finger"/>
    <mimic joint="turn" multiplier="2" offset="4"/><dynamics damping="5" friction="6"/></joint>
</robot>
"""


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'mass value="2"': 'mass value="1e308"', 'mass value="3"': 'mass value="1e308"'}, 'tool'),
        ({'xyz="0 0 0.1"': 'xyz="0 0 1e200"'}, "link 'arm': inertial: mass and center_of_mass"),
        ({'xyz="0 0 0.5"': 'xyz="0 0 1e200"'}, "link 'tool': inertia, lumped into body 'arm'"),
        ({'mass value="3"': 'mass value="1e301"'}, "body 'arm': mass, inertia and multiplier"),
        (
            {'multiplier="2"': 'multiplier="1e160"'},
            "joint 'slide': mimic multiplier: expected at most",
        ),
        ({'offset="4"': 'offset="1e200"'}, "body 'finger': pose_in_parent and offset: expected"),
    ],
)
@pytest.mark.filterwarnings('error')
def test_urdfs_are_refused_by_name(changes, message):
    """A URDF whose numbers overflow together is refused by link, joint or body."""
    assert ned.load_urdf(URDF).n == 1
    text = URDF
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(ModelError, match=message):
        ned.load_urdf(text)
