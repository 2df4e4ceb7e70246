"""Inverse dynamics of arms against MuJoCo's mj_inverse, on models that MuJoCo built from URDF."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from motion_samples import random_motion
from oracle_measure import GRAVITY, urdf_dynamics
from random_robots import random_tree

mujoco = pytest.importorskip('mujoco', reason='needs MuJoCo (pip install mujoco)')

ROWS = 5
FILES = {
    'UR5': next(robot for robot in EXAMPLE_ROBOTS if robot.name == 'UR5'),
    'Panda': next(robot for robot in EXAMPLE_ROBOTS if robot.name.startswith('Panda with')),
}
TIPS = {'UR5': 'tool0', 'Panda': 'panda_leftfinger'}
ARMS = tuple(FILES)


def without_geometry(text):
    """Return a URDF without meshes and shapes, told to keep every link and its inertia."""
    root = ElementTree.fromstring(text)
    for link in root.findall('link'):
        for shape in link.findall('visual') + link.findall('collision'):
            link.remove(shape)
    settings = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(
        settings,
        'compiler',
        fusestatic='false',
        discardvisual='true',
        inertiafromgeom='false',
        balanceinertia='false',
        boundmass='0',
        boundinertia='0',
    )
    return ElementTree.tostring(root, encoding='unicode')


class MujocoRobot:
    """A URDF in MuJoCo, called as ne_dynamics is; mimic joints are folded here."""

    def __init__(self, urdf, coordinates, gravity):
        self.model = mujoco.MjModel.from_xml_string(urdf)
        self.model.opt.gravity[:] = gravity
        # Limits, contacts, dry friction and mimic equalities are constraints: not wanted.
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)
        self.spread = np.zeros((self.model.nv, len(coordinates)))
        self.offset = np.zeros(self.model.nv)
        for joint in ElementTree.fromstring(urdf).findall('joint'):
            if joint.get('type') == 'fixed':
                continue
            mimic = joint.find('mimic')
            attributes = {} if mimic is None else mimic.attrib
            column = list(coordinates).index(attributes.get('joint', joint.get('name')))
            row = self.model.joint(joint.get('name')).dofadr[0]
            self.spread[row, column] = float(attributes.get('multiplier', '1'))
            self.offset[row] = float(attributes.get('offset', '0'))

    def inverse_dynamics(self, q, qd, qdd):
        """Return the joint torques, viscous friction included, shape (n,)."""
        self.data.qpos[:] = self.spread @ q + self.offset
        self.data.qvel[:] = self.spread @ qd
        self.data.qacc[:] = self.spread @ qdd
        mujoco.mj_inverse(self.model, self.data)
        return self.spread.T @ self.data.qfrc_inverse

    def link_inertia(self, link):
        """Return mass, centre of mass and tensor about it, in the link's axes."""
        body = self.model.body(link)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, body.iquat)
        rotation = rotation.reshape(3, 3)
        tensor = rotation @ np.diag(body.inertia) @ rotation.T
        return float(body.mass[0]), np.array(body.ipos), tensor


@functools.cache
def pair(arm, backend):
    """Return ours and MuJoCo's."""
    urdf = without_geometry(FILES[arm].path.read_text())
    ours = urdf_dynamics(urdf, backend, wrench_link=TIPS[arm])
    return ours, MujocoRobot(urdf, ours.joint_names, GRAVITY)


def check_link_inertias(name, robot, oracle, assert_agree):
    """Compare every link with an inertia."""
    for link in robot.links:
        if link.body < 0 or not link.has_inertial or link.inertia.mass == 0.0:
            continue
        mass, com, tensor = oracle.link_inertia(link.name)
        computed = link.inertia
        assert_agree(name, 'link mass', computed.mass, mass)
        assert_agree(name, 'link com', computed.center_of_mass, com, scale=1.0)
        assert_agree(name, 'link tensor', computed.inertia_about_com, tensor)


@pytest.mark.parametrize('arm', ARMS)
def test_link_inertias(arm, backend, assert_agree):
    """MuJoCo read the same inertias as we did: whatever differs later is the dynamics."""
    ours, oracle = pair(arm, backend)
    check_link_inertias(f'{arm} (MuJoCo)', ours.robot, oracle, assert_agree)


def test_rotated_inertials(backend, assert_agree):
    """MuJoCo 4 honours the rpy of an inertial, which earlier ones were known to lose, as we do."""
    if int(mujoco.__version__.split('.')[0]) < 4:
        pytest.skip(f'MuJoCo {mujoco.__version__} loses the rpy of URDF inertials; needs >= 4')
    subject = random_tree(3, 8)
    urdf = without_geometry(subject.urdf)
    ours = urdf_dynamics(urdf, backend, wrench_link=subject.tip)
    oracle = MujocoRobot(urdf, ours.joint_names, GRAVITY)
    check_link_inertias('random tree (MuJoCo)', ours.robot, oracle, assert_agree)


@pytest.mark.parametrize('arm', ARMS)
def test_inverse_dynamics(arm, backend, assert_agree):
    """Torques, viscous friction included, equal what mj_inverse finds."""
    ours, oracle = pair(arm, backend)
    sample = random_motion(11, ROWS, ours.n)
    expected = [
        oracle.inverse_dynamics(*motion)
        for motion in zip(sample.q, sample.qd, sample.qdd, strict=True)
    ]
    computed = ours.inverse_dynamics(sample.q, sample.qd, sample.qdd)
    assert_agree(f'{arm} (MuJoCo)', 'inverse dynamics', computed, expected)


def test_random_tree(backend, assert_agree):
    """A random tree with every joint type equals mj_inverse plus our dry friction."""
    subject = random_tree(3, 8)
    urdf = without_geometry(subject.urdf)
    ours = urdf_dynamics(urdf, backend, wrench_link=subject.tip)
    oracle = MujocoRobot(urdf, ours.joint_names, GRAVITY)
    sample = random_motion(14, ROWS, ours.n)
    for q, qd, qdd in zip(sample.q, sample.qd, sample.qdd, strict=True):
        velocity = oracle.spread @ qd
        dry = oracle.spread.T @ (oracle.model.dof_frictionloss * np.sign(velocity))
        expected = oracle.inverse_dynamics(q, qd, qdd) + dry
        computed = ours.inverse_dynamics(q, qd, qdd)
        assert_agree('random tree (MuJoCo)', 'inverse dynamics', computed, expected)
