"""Drives that turn with several joints: Lagrange's equations and MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest
from coupled_robots import couple, shaft_friction, shaft_inertias, shaft_rows
from oracle_measure import GRAVITY, backend_cases
from rotor_trees import load_rotor_tree

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.friction import FrictionModel

TREES = [(40, 2), (43, 5), (47, 9), (5, 14)]
COMPILED_TREES = [(40, 2), (43, 5)]
ROWS = 3

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)


def samples(n, seed=0):
    """Return q, qd, qdd, shape (ROWS, n); the first is at rest."""
    motion = np.random.default_rng([seed, n]).uniform(-2.0, 2.0, (3, ROWS, n))
    motion[1, 0] = 0.0
    return motion


def assert_close(found, expected, tolerance=1e-10):
    """Assert agreement relative to the largest entry."""
    scale = max(np.abs(expected).max(), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


class Shafts:
    """A robot with coupled drives, the same without, and what the shafts add.

    Attributes
    ----------
    dynamics, plain : Dynamics
    rows : array, shape (k, n)
    inertia : array, shape (n, n)
        Of the shafts, by the joints.
    """

    def __init__(self, tree, backend):
        robot = load_rotor_tree(*tree)
        self.robot = couple(robot, tree[0])
        self.dynamics = ned.Dynamics(self.robot, GRAVITY, backend)
        self.plain = ned.Dynamics(robot, GRAVITY, 'python')
        self.rows = shaft_rows(self.robot)
        self.inertia = (self.rows.T * shaft_inertias(self.robot)) @ self.rows

    def friction(self, qd):
        """Return what the joints need for the friction of the shafts."""
        return shaft_friction(self.robot, qd @ self.rows.T) @ self.rows


@pytest.fixture
def shafts(tree, backend):
    """Return the robot of a tree with and without coupled drives."""
    return Shafts(tree, backend)


@every_tree
def test_lagrange_with_the_shafts_as_bodies(shafts, tree):
    """Kinetic energy gets ``J v^2 / 2`` of each shaft; all else follows from it."""
    dynamics, plain, added = shafts.dynamics, shafts.plain, shafts.inertia
    q, qd, qdd = samples(dynamics.n, tree[0])
    friction = shafts.friction(qd)
    effort = plain.inverse_dynamics(q, qd, qdd) + qdd @ added + friction
    energy = np.einsum('ni,ij,nj->n', qd, added, qd) / 2.0
    for _ in range(2):  # before and after it is compiled
        for method, arguments, more in (
            ('kinetic_energy', (q, qd), energy),
            ('generalized_momentum', (q, qd), qd @ added),
            ('mass_matrix', (q,), added),
            ('coriolis_matrix', (q, qd), 0.0),
            ('lagrangian_gradient', (q, qd), 0.0),
            ('friction_torque', (qd,), friction),
            ('inverse_dynamics', (q, qd, qdd), qdd @ added + friction),
        ):
            expected = getattr(plain, method)(*arguments) + more
            assert_close(getattr(dynamics, method)(*arguments), expected)
        assert_close(dynamics.inverse_dynamics(q[1], qd[1], qdd[1]), effort[1])
        assert_close(dynamics.forward_dynamics(q, qd, effort), qdd, 1e-7)


@every_tree
def test_derivatives_are_those_of_the_efforts(shafts, tree):
    """The mass matrix is the slope by the acceleration, damping that by the velocity."""
    dynamics = shafts.dynamics
    motion = samples(dynamics.n, tree[0])
    motion[1, 0] = 0.4
    slopes = dynamics.inverse_dynamics_derivatives(*motion)
    assert_close(slopes[2], dynamics.mass_matrix(motion[0]))
    step = 1e-6
    for place in (0, 1):
        for joint in range(dynamics.n):
            shift = np.zeros_like(motion)
            shift[place, :, joint] = step
            up, down = (dynamics.inverse_dynamics(*(motion + s * shift)) for s in (1.0, -1.0))
            np.testing.assert_allclose(
                slopes[place][..., joint], (up - down) / (2.0 * step), atol=1e-6 * np.abs(up).max()
            )


@every_tree
def test_loads_and_other_parameters_keep_the_drives(shafts, tree):
    """Wrench, payload, moving base; inertias and friction as arguments; no friction."""
    dynamics, plain, n = shafts.dynamics, shafts.plain, shafts.dynamics.n
    q, qd, qdd = samples(n, tree[0])
    rng = np.random.default_rng(tree)
    payload = np.array([2.0, 0.1, -0.2, 0.3, 0.4, 0.01, 0.5, 0.02, -0.01, 0.6])
    loads = rng.uniform(-2.0, 2.0, 6), rng.uniform(-1.0, 1.0, 9), payload
    added, friction = qdd @ shafts.inertia, shafts.friction(qd)
    effort = dynamics.inverse_dynamics(q, qd, qdd, *loads)
    assert_close(effort, plain.inverse_dynamics(q, qd, qdd, *loads) + added + friction)
    assert_close(dynamics.forward_dynamics(q, qd, effort, *loads), qdd, 1e-7)
    given = {
        'inertial': 1.2 * dynamics.inertial_parameters(),
        'viscous_friction': rng.uniform(0.0, 1.0, n),
        'rotor_inertia': rng.uniform(0.0, 0.2, n),
    }
    changed, other = (each.with_parameters(**given) for each in (dynamics, plain))
    for found, free, more in (
        (dynamics.without_friction(), plain.without_friction(), added),
        (changed, other, added + friction),
    ):
        expected = free.inverse_dynamics(q, qd, qdd) + more
        assert_close(found.inverse_dynamics(q, qd, qdd), expected)
    assert_close(changed.without_friction().mass_matrix(q), changed.mass_matrix(q))


@pytest.mark.parametrize('tree', [(40, 2), (45, 7)], ids=str)
def test_mujoco_accelerates_as_the_inverse_dynamics_ask(tree):
    """Efforts, MuJoCo's tendons with armature and damping, and back: the identity closes."""
    mujoco = pytest.importorskip('mujoco')
    from ne_dynamics.simulation.mujoco_model import MujocoArm

    robot = load_rotor_tree(*tree)
    # Without mimic joints, which MuJoCo ties softly; its dry friction is a constraint.
    assert robot.is_chain
    assert len(robot.bodies) == robot.n
    robot = robot.with_joint_values('coulomb_friction', np.zeros(robot.n))
    robot = couple(robot, tree[0])
    drives = [replace(drive, coulomb_friction=0.0) for drive in robot.coupled_drives]
    robot = replace(robot, coupled_drives=tuple(drives), tip_link=None)
    assert all(joint.friction == FrictionModel() for joint in robot.joints)
    dynamics = ned.Dynamics(robot, backend='python')
    arm = MujocoArm(robot)
    for q, qd, effort in zip(*samples(robot.n, tree[0]), strict=True):
        arm.reset(q)
        arm.data.qvel[:] = qd
        arm.data.qfrc_applied[:] = 20.0 * effort
        mujoco.mj_forward(arm.model, arm.data)
        assert_close(arm.mass_matrix(), dynamics.mass_matrix(q), 1e-12)
        again = dynamics.inverse_dynamics(q, qd, arm.data.qacc)
        assert_close(again, 20.0 * effort, 1e-9)


def test_mujoco_refuses_a_rotor_that_turns_with_two_branches():
    """Its mass matrix has no entries for joints of which none carries the other."""
    pytest.importorskip('mujoco')
    from ne_dynamics.simulation.mujoco_model import MujocoArm

    robot = couple(load_rotor_tree(47, 9), 47)
    with pytest.raises(ModelError, match=r"coupled drive 'drive \d': .* of one chain"):
        MujocoArm(robot)
    still = [replace(drive, rotor_inertia=0.0) for drive in robot.coupled_drives]
    assert MujocoArm(replace(robot, coupled_drives=tuple(still))).model.ntendon == 3
