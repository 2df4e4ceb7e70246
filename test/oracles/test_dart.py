"""The description for Gazebo in DART, Gazebo's physics engine unless it is told otherwise."""

from pathlib import Path

import numpy as np
import pytest
from oracle_measure import relative_error

import ne_dynamics as ned
from ne_dynamics.control.sensors.wrench import wrench_matrix
from ne_dynamics.simulation.descriptions.gazebo_description import gazebo_description

dart = pytest.importorskip('dartpy', reason='needs DART (pip install dartpy)')

ARM = Path(__file__).resolve().parents[2] / 'config' / 'six_axis_arm.urdf'
GRAVITY = (0.0, 0.0, -9.80665)
SAMPLES = 100
TOLERANCE = 1e-9
MASSLESS = ('base_link', 'tcp')
NO_INERTIA = 1e-13
"""DART gives links without inertia 1 kg; Gazebo's parser leaves them out."""


@pytest.fixture(scope='module')
def description():
    """Return the shipped arm as Gazebo gets it, mounted askew so that no gravity is hidden."""
    return gazebo_description(
        ARM,
        'controllers.yaml',
        sensor_joint='ft_sensor_joint',
        mount_xyz=(0.1, 0.2, 0.3),
        mount_rpy=(0.4, -0.3, 0.2),
    )


@pytest.fixture(scope='module')
def dynamics(description):
    """Return our dynamics of it."""
    return ned.Dynamics(ned.load_urdf(description, tip_link='tcp'), backend='python')


@pytest.fixture
def skeleton(description, dynamics):
    """Return it in DART."""
    skeleton = dart.utils.DartLoader().parseSkeletonString(description, '')
    skeleton.setGravity(GRAVITY)
    tiny = dart.dynamics.Inertia(NO_INERTIA, np.zeros(3), NO_INERTIA * np.eye(3))
    for name in MASSLESS:
        skeleton.getBodyNode(name).setInertia(tiny)
    names = [skeleton.getDof(index).getName() for index in range(skeleton.getNumDofs())]
    assert tuple(names) == dynamics.joint_names
    return skeleton


@pytest.fixture
def motions(dynamics):
    """Return random positions, velocities and accelerations, shape (3, SAMPLES, n)."""
    return np.random.default_rng(7).uniform(-3.0, 3.0, (3, SAMPLES, dynamics.n))


def move(skeleton, q, qd, qdd):
    """Let DART compute the wrench in every joint of a motion."""
    skeleton.setPositions(q)
    skeleton.setVelocities(qd)
    skeleton.setAccelerations(qdd)
    skeleton.computeInverseDynamics()


def sensor_reading(skeleton, q, qd, qdd):
    """Return what Gazebo's sensor reads: force and moment, in the axes of its child link.

    Gazebo takes the wrench that DART says the parent link exerts on the child link (moment first)
    and negates it for `child_to_parent`.
    """
    move(skeleton, q, qd, qdd)
    moment, force = np.split(np.asarray(skeleton.getBodyNode('ft_sensor').getBodyForce()), 2)
    return -np.concatenate([force, moment])


def test_properties_of_joints_are_those_of_dart(dynamics, skeleton):
    """Damping and friction of every joint, and its limits, are the same in DART."""
    for joint in dynamics.robot.joints:
        other = skeleton.getJoint(joint.name)
        assert other.getDampingCoefficient(0) == joint.viscous_friction
        assert other.getCoulombFriction(0) == joint.coulomb_friction
        assert other.getPositionLowerLimit(0) == joint.lower
        assert other.getPositionUpperLimit(0) == joint.upper
        assert other.getForceUpperLimit(0) == joint.effort_limit


def test_dynamics_are_those_of_dart(dynamics, skeleton, motions):
    """Mass matrix, gravity and Coriolis efforts agree with DART at random positions."""
    ours = {'mass': [], 'gravity': [], 'coriolis': []}
    theirs = {'mass': [], 'gravity': [], 'coriolis': []}
    for q, qd in zip(*motions[:2], strict=True):
        skeleton.setPositions(q)
        skeleton.setVelocities(qd)
        theirs['mass'].append(skeleton.getMassMatrix())
        theirs['gravity'].append(skeleton.getGravityForces())
        theirs['coriolis'].append(skeleton.getCoriolisForces())
        ours['mass'].append(dynamics.mass_matrix(q))
        ours['gravity'].append(dynamics.gravity_torque(q))
        ours['coriolis'].append(dynamics.coriolis_matrix(q, qd) @ qd)
    for name, expected in theirs.items():
        assert relative_error(ours[name], expected) < TOLERANCE, name


def test_sensor_reading_has_the_sign_the_node_expects(dynamics, skeleton, motions):
    """What Gazebo's sensor reads is `on_tool`: with it, the cut model needs the whole effort."""
    whole = dynamics.robot
    cut = ned.Dynamics(whole.cut_beyond('flange'), backend='python')
    flange, sensor = whole.link('flange'), whole.link('ft_sensor')
    to_flange = wrench_matrix(flange.pose_in_body.inverse() @ sensor.pose_in_body)
    efforts, expected = [], []
    for q, qd, qdd in zip(*motions, strict=True):
        on_environment = -to_flange @ sensor_reading(skeleton, q, qd, qdd)
        efforts.append(cut.inverse_dynamics(q, qd, qdd, on_environment))
        expected.append(dynamics.inverse_dynamics(q, qd, qdd))
    assert relative_error(efforts, expected) < TOLERANCE


def test_reported_effort_has_our_sign(dynamics, skeleton, motions):
    """What Gazebo reports as the effort of a joint that stands is what our dynamics ask for.

    It is the moment that the parent link exerts on the child link, about the joint's axis; on a
    joint that moves, its friction has been taken off.
    """
    bodies = dynamics.robot.bodies
    rest = np.zeros(dynamics.n)
    for q, _, qdd in zip(*motions, strict=True):
        move(skeleton, q, rest, qdd)
        moments = [skeleton.getBodyNode(body.name).getBodyForce()[:3] for body in bodies]
        efforts = [body.axis @ moment for body, moment in zip(bodies, moments, strict=True)]
        assert relative_error(efforts, dynamics.inverse_dynamics(q, rest, qdd)) < TOLERANCE
