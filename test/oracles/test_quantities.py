"""Energies, momenta, wrenches in joints, poses, Jacobians and their rates, against Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases
from rotor_trees import rotor_dynamics, rotor_oracle

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError, NeDynamicsError

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


def list_quantities(ours, oracle, sample):
    """Yield name, arguments, what the oracle says row by row, and the scale of its error.

    Where the scale is None, it is the largest number of the result.
    """
    links, joints = ours.link_names, [body.joint_name for body in ours.robot.bodies]
    motion = sample.q, sample.qd, sample.qdd
    torque = max(np.abs(oracle.inverse_dynamics(*row)).max() for row in zip(*motion, strict=True))
    reach = max(np.abs(oracle.center_of_mass(row)).max() for row in sample.q)
    energy = oracle.moving_mass * np.linalg.norm(oracle.gravity) * reach
    named = {
        'potential_energy_regressor': joints,
        'kinetic_energy_regressor': joints,
        'joint_wrenches': joints,
        'link_velocities': links,
        'link_accelerations': links,
    }
    others = {
        'generalized_momentum': lambda q, qd: oracle.mass_matrix(q) @ qd,
        'link_poses': lambda q: [oracle.forward_kinematics(q, link=link) for link in links],
    }
    scales = {'potential_energy': energy, 'bias_torque': torque, 'lagrangian_gradient': torque}
    for count, names in QUANTITIES.items():
        for name in names:
            function = others.get(name) or getattr(oracle, name)
            more = [named[name]] if name in named else []
            rows = zip(*motion[:count], strict=True)
            expected = [function(*row, *more) for row in rows]
            yield name, motion[:count], expected, scales.get(name)


QUANTITIES = {
    1: (
        *('center_of_mass', 'center_of_mass_jacobian', 'centroidal_momentum_matrix'),
        *('potential_energy', 'potential_energy_regressor', 'link_poses'),
    ),
    2: (
        *('bias_torque', 'kinetic_energy', 'kinetic_energy_regressor', 'centroidal_momentum'),
        *('generalized_momentum', 'lagrangian_gradient', 'link_velocities'),
    ),
    3: ('centroidal_momentum_rate', 'joint_wrenches', 'link_accelerations'),
}
"""Methods by how many of positions, velocities and accelerations they take."""


@every_tree
def test_trees_agree_with_pinocchio(tree, backend, assert_agree):
    """Random trees under tilted gravity, with rotors, agree in every form of call."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    sample = random_motion(tree[0], ROWS, ours.n)
    assert sorted(ours.link_names) == sorted(link.name for link in ours.robot.links)
    for name, arguments, expected, scale in list_quantities(ours, oracle, sample):
        for form, computed in call_in_every_form(getattr(ours, name), *arguments).items():
            what = f'{name} ({form})'
            assert_agree('random trees', what, computed, expected, scale, TOLERANCE)
    poses = ours.link_poses(sample.q)
    assert (poses[..., 3, :] == [0.0, 0.0, 0.0, 1.0]).all()
    base = poses[0, ours.link_names.index(ours.robot.base_link)]
    np.testing.assert_allclose(base, np.eye(4), atol=1e-14)


@pytest.mark.kept(6)
@every_tree
@pytest.mark.parametrize('axes', ['base', 'tip', 'world'])
def test_jacobians_and_their_rates(tree, axes, backend, assert_agree):
    """They are Pinocchio's, of the tip and of named links, mimic joints included."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    sample = random_motion(22, ROWS, ours.n)
    links = [name for name in ours.link_names if name != ours.robot.base_link]
    for link in (None, *map(str, np.random.default_rng(ours.n).permutation(links)[:3])):
        jacobian = np.array([ours.jacobian(q, link, axes) for q in sample.q])
        right = [oracle.jacobian(q, axes, link) for q in sample.q]
        assert_agree('random trees', f'Jacobian ({axes})', jacobian, right, None, TOLERANCE)
        motion = sample.q, sample.qd
        expected = np.array(
            [
                oracle.jacobian_rate(*row, link or oracle.tip, axes)
                for row in zip(*motion, strict=True)
            ]
        )
        scale = max(np.abs(expected).max(), np.abs(jacobian).max())

        def rate(q, qd, out=None, link=link):
            return ours.jacobian_rate(q, qd, link, axes, out=out)

        for form, computed in call_in_every_form(rate, *motion).items():
            what = f'rate ({axes}, {form})'
            assert_agree('random trees', what, computed, expected, scale, TOLERANCE)


@pytest.mark.kept(4)
@every_tree
def test_wrenches_on_links_reach_the_joints(tree, backend, assert_agree):
    """With wrenches on all links too, and one on the tip, in every form of call."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    sample = random_motion(tree[0], 2, ours.n)
    motion = sample.q, sample.qd, sample.qdd, sample.wrench
    names = ours.link_names
    on_links = np.random.default_rng(tree[0]).normal(0.0, 10.0, (len(names), 2, 6))
    joints = [body.joint_name for body in ours.robot.bodies]
    expected = [
        oracle.joint_wrenches(*row[:3], joints, row[3], dict(zip(names, wrenches, strict=True)))
        for *row, wrenches in zip(*motion, on_links.swapaxes(0, 1), strict=True)
    ]
    call = under_wrenches(ours.joint_wrenches, names, first=4)
    for form, computed in call_in_every_form(call, *motion, *on_links).items():
        assert_agree('random trees', f'joint_wrenches ({form})', computed, expected, None, 1e-11)


# ---- what has no answer


def test_unknown_links_and_axes_are_refused_by_name(backend):
    """The rate of a Jacobian takes a link of the robot, and base, tip or world axes."""
    ours = rotor_dynamics(1005, 7, backend)
    zero = np.zeros(ours.n)
    for _ in range(2):
        with pytest.raises(NeDynamicsError, match='nowhere'):
            ours.jacobian_rate(zero, zero, 'nowhere')
        for axes in ('wrist', '', None, 0):
            with pytest.raises(InputError, match='axes'):
                ours.jacobian_rate(zero, zero, axes=axes)


def test_without_a_tip_a_link_must_be_named(backend):
    robot = replace(rotor_dynamics(1005, 7, backend).robot, tip_link=None)
    ours = ned.Dynamics(robot, GRAVITY, backend)
    zero = np.zeros(ours.n)
    for _ in range(2):
        with pytest.raises(ModelError, match='tip'):
            ours.jacobian_rate(zero, zero)
        assert ours.jacobian_rate(zero, zero, ours.link_names[-1]).shape == (6, ours.n)
        assert ours.link_poses(zero).shape == (len(ours.link_names), 4, 4)


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
