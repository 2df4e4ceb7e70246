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


def pair(tree, backend):
    """Return the dynamics with coupled drives, and those of the same robot without."""
    robot = load_rotor_tree(*tree)
    coupled = couple(robot, tree[0])
    return ned.Dynamics(coupled, GRAVITY, backend), ned.Dynamics(robot, GRAVITY, 'python')


@every_tree
def test_lagrange_with_the_shafts_as_bodies(backend, tree):
    """Kinetic energy gets ``J v^2 / 2`` of each shaft; all else follows from it."""
    dynamics, plain = pair(tree, backend)
    robot = dynamics.robot
    rows, inertias = shaft_rows(robot), shaft_inertias(robot)
    added = (rows.T * inertias) @ rows
    q, qd, qdd = samples(robot.n, tree[0])
    shafts = qd @ rows.T
    friction = shaft_friction(robot, shafts) @ rows
    for _ in range(2):  # before and after it is compiled
        assert_close(
            dynamics.kinetic_energy(q, qd), plain.kinetic_energy(q, qd) + shafts**2 @ inertias / 2
        )
        assert_close(
            dynamics.generalized_momentum(q, qd), plain.generalized_momentum(q, qd) + qd @ added
        )
        assert_close(dynamics.mass_matrix(q), plain.mass_matrix(q) + added)
        assert_close(dynamics.coriolis_matrix(q, qd), plain.coriolis_matrix(q, qd))
        assert_close(dynamics.lagrangian_gradient(q, qd), plain.lagrangian_gradient(q, qd))
        assert_close(dynamics.friction_torque(qd), plain.friction_torque(qd) + friction)
        effort = dynamics.inverse_dynamics(q, qd, qdd)
        assert_close(effort, plain.inverse_dynamics(q, qd, qdd) + qdd @ added + friction)
        single = dynamics.inverse_dynamics(q[1], qd[1], qdd[1])
        assert_close(single, effort[1])
        assert_close(dynamics.forward_dynamics(q, qd, effort), qdd, 1e-7)


@every_tree
def test_derivatives_are_those_of_the_efforts(backend, tree):
    """The mass matrix is the slope by the acceleration, damping that by the velocity."""
    dynamics, _ = pair(tree, backend)
    q, qd, qdd = samples(dynamics.n, tree[0])
    qd[0] = 0.4
    by_q, by_qd, by_qdd = dynamics.inverse_dynamics_derivatives(q, qd, qdd)
    assert_close(by_qdd, dynamics.mass_matrix(q))
    step = 1e-6
    for place, slopes in ((0, by_q), (1, by_qd)):
        for joint in range(dynamics.n):
            moved = [np.array([q, qd, qdd]), np.array([q, qd, qdd])]
            moved[0][place][:, joint] += step
            moved[1][place][:, joint] -= step
            up, down = (dynamics.inverse_dynamics(*each) for each in moved)
            scale = np.abs(up).max()
            difference = (up - down) / (2.0 * step)
            np.testing.assert_allclose(slopes[..., joint], difference, atol=1e-6 * scale)


@every_tree
def test_loads_and_other_parameters_keep_the_drives(backend, tree):
    """Wrench, payload, moving base; inertias and friction as arguments; no friction."""
    dynamics, plain = pair(tree, backend)
    robot, n = dynamics.robot, dynamics.n
    q, qd, qdd = samples(n, tree[0])
    rng = np.random.default_rng(tree)
    payload = np.array([2.0, 0.1, -0.2, 0.3, 0.4, 0.01, 0.5, 0.02, -0.01, 0.6])
    loads = rng.uniform(-2.0, 2.0, 6), rng.uniform(-1.0, 1.0, 9), payload
    rows = shaft_rows(robot)
    added = qdd @ ((rows.T * shaft_inertias(robot)) @ rows)
    friction = shaft_friction(robot, qd @ rows.T) @ rows
    effort = dynamics.inverse_dynamics(q, qd, qdd, *loads)
    assert_close(effort, plain.inverse_dynamics(q, qd, qdd, *loads) + added + friction)
    assert_close(dynamics.forward_dynamics(q, qd, effort, *loads), qdd, 1e-7)
    free = dynamics.without_friction()
    expected = plain.without_friction().inverse_dynamics(q, qd, qdd) + added
    assert_close(free.inverse_dynamics(q, qd, qdd), expected)
    given = {
        'inertial': 1.2 * dynamics.inertial_parameters(),
        'viscous_friction': rng.uniform(0.0, 1.0, n),
        'rotor_inertia': rng.uniform(0.0, 0.2, n),
    }
    changed, other = (each.with_parameters(**given) for each in (dynamics, plain))
    expected = other.inverse_dynamics(q, qd, qdd) + added + friction
    assert_close(changed.inverse_dynamics(q, qd, qdd), expected)
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
