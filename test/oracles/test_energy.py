"""Bias, energies, momenta and the centre of mass: Pinocchio, conservation laws, closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases
from pinocchio_oracle import PinocchioRobot
from random_robots import random_tree
from rotor_trees import rotor_dynamics, rotor_oracle

import ne_dynamics as ned
from ne_dynamics.errors import ModelError

ROWS = 3
TOLERANCE = 1e-11
"""Relative to the largest number of the sample."""

TREES = [(1000, 2), (1005, 7), (1007, 9), (5, 14)]
COMPILED_TREES = [(1000, 2), (1005, 7)]

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)


def quantities_against(ours, oracle, sample):
    """Return what the oracle says of each quantity, with the scale that its error has.

    Returns
    -------
    dict of str to (tuple of array, array, float)
        Arguments, expected results row by row, scale.
    """
    q, qd = sample.q, sample.qd
    motions = list(zip(q, qd, sample.qdd, strict=True))
    torque = max(np.abs(oracle.inverse_dynamics(*row)).max() for row in motions)
    reach = max(np.abs(oracle.center_of_mass(row)).max() for row in q)
    energy = oracle.moving_mass * np.linalg.norm(oracle.gravity) * reach
    joints = [body.joint_name for body in ours.robot.bodies]
    by_place = {
        'center_of_mass': (oracle.center_of_mass, None),
        'center_of_mass_jacobian': (oracle.center_of_mass_jacobian, None),
        'centroidal_momentum_matrix': (oracle.centroidal_momentum_matrix, None),
        'potential_energy': (oracle.potential_energy, energy),
        'potential_energy_regressor': (
            lambda q: oracle.potential_energy_regressor(q, joints),
            None,
        ),
    }
    by_velocity = {
        'bias_torque': (oracle.bias_torque, torque),
        'kinetic_energy': (oracle.kinetic_energy, None),
        'kinetic_energy_regressor': (
            lambda *pair: oracle.kinetic_energy_regressor(*pair, joints),
            None,
        ),
        'centroidal_momentum': (oracle.centroidal_momentum, None),
        'generalized_momentum': (lambda q, qd: oracle.mass_matrix(q) @ qd, None),
        'lagrangian_gradient': (oracle.lagrangian_gradient, torque),
        'link_velocities': (lambda *pair: oracle.link_velocities(*pair, ours.link_names), None),
    }
    by_acceleration = {
        'centroidal_momentum_rate': (oracle.centroidal_momentum_rate, None),
        'joint_wrenches': (lambda *row: oracle.joint_wrenches(*row, joints), None),
        'link_accelerations': (
            lambda *row: oracle.link_accelerations(*row, ours.link_names),
            None,
        ),
    }
    return {
        quantity: (arguments, [function(*row) for row in zip(*arguments, strict=True)], scale)
        for arguments, table in (
            ((q,), by_place),
            ((q, qd), by_velocity),
            ((q, qd, sample.qdd), by_acceleration),
        )
        for quantity, (function, scale) in table.items()
    }


def check_against_pinocchio(name, ours, oracle, seed, assert_agree):
    """Compare every quantity in every form of call."""
    sample = random_motion(seed, ROWS, ours.n)
    for quantity, (arguments, expected, scale) in quantities_against(ours, oracle, sample).items():
        method = getattr(ours, quantity)
        for form, computed in call_in_every_form(method, *arguments).items():
            what = f'{quantity} ({form})'
            assert_agree(name, what, computed, expected, scale, TOLERANCE)


@every_tree
def test_trees_agree_with_pinocchio(tree, backend, assert_agree):
    """Random trees under tilted gravity, with rotors, agree in every form of call."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    check_against_pinocchio('random trees', ours, oracle, tree[0], assert_agree)


@pytest.mark.parametrize('tree', TREES, ids=str)
@pytest.mark.parametrize('backend', ['python', 'auto'])
def test_wrenches_on_links_reach_the_joints(tree, backend, assert_agree):
    """With wrenches on all links too, and one on the tip, in every form of call."""
    subject = random_tree(*tree)
    robot = replace(ned.load_urdf(subject.urdf), tip_link=subject.tip)
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend=backend)
    oracle = PinocchioRobot(subject.urdf, ours.joint_names, GRAVITY, wrench_link=subject.tip)
    sample = random_motion(tree[0], 2, ours.n)
    motion = sample.q, sample.qd, sample.qdd, sample.wrench
    names = ours.link_names
    on_links = np.random.default_rng(tree[0]).normal(0.0, 10.0, (len(names), 2, 6))
    joints = [body.joint_name for body in robot.bodies]
    expected = [
        oracle.joint_wrenches(
            *[each[row] for each in motion[:3]],
            joints,
            motion[3][row],
            dict(zip(names, on_links[:, row], strict=True)),
        )
        for row in range(2)
    ]

    call = under_wrenches(ours.joint_wrenches, names, first=4)
    for form, computed in call_in_every_form(call, *motion, *on_links).items():
        assert_agree('random trees', f'joint_wrenches ({form})', computed, expected, None, 1e-11)


def test_nothing_that_moves_has_a_mass(backend):
    """Without mass there is no centre of mass, and the error says so; energies are zero."""
    text = (
        '<robot name="ghost"><link name="base"><inertial><mass value="3"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="arm"/><joint name="hinge" type="continuous"><parent link="base"/>'
        '<child link="arm"/></joint></robot>'
    )
    ours = ned.Dynamics(ned.load_urdf(text), backend=backend)
    for q in ([0.3], [[0.3], [0.4]]):
        for _ in range(2):
            for method, vectors in (
                ('center_of_mass', 1),
                ('center_of_mass_jacobian', 1),
                ('centroidal_momentum', 2),
                ('centroidal_momentum_matrix', 1),
                ('centroidal_momentum_rate', 3),
            ):
                with pytest.raises(ModelError, match='mass'):
                    getattr(ours, method)(*[q] * vectors)
        assert np.all(np.asarray(ours.potential_energy(q)) == 0.0)
        assert np.all(np.asarray(ours.kinetic_energy(q, q)) == 0.0)
