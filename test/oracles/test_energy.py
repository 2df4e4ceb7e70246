"""Bias, energies, momenta and the centre of mass: Pinocchio, conservation laws, closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from example_robots import EXAMPLE_ROBOTS
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot
from random_robots import random_tree
from rotor_trees import rotor_dynamics, rotor_oracle
from scipy.integrate import solve_ivp

import ne_dynamics as ned
from ne_dynamics.errors import ModelError

ROWS = 3
TOLERANCE = 1e-11
"""Relative to the largest number of the sample."""

TREES = [(1000, 2), (1005, 7), (1007, 9), (5, 14)]
COMPILED_TREES = [(1000, 2), (1005, 7)]
COMPILED_ROBOTS = ('Panda with', 'Baxter, left arm')

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


@pytest.mark.parametrize(
    ('backend', 'robot'),
    backend_cases(EXAMPLE_ROBOTS, lambda robot: robot.name.startswith(COMPILED_ROBOTS)),
    indirect=['backend'],
    ids=lambda case: getattr(case, 'name', case),
)
def test_robots_agree_with_pinocchio(robot, backend, assert_agree):
    """Real robots, chains from a link in the middle among them, agree in every form of call."""
    ours = urdf_dynamics(robot.path, backend, **robot.as_loaded)
    oracle = PinocchioRobot(robot.path.read_text(), ours.joint_names, GRAVITY, **robot.as_loaded)
    check_against_pinocchio(robot.name, ours, oracle, 7, assert_agree)


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


def simulate(ours, q, qd, effort, duration):
    """Integrate motion, power and force.

    Returns
    -------
    array, shape (3 n + 1,)
        Positions, velocities, the work of the efforts, and the integral of
        ``tau - f + dL/dq``.
    """
    n = ours.n

    def rate(time, state):
        q, qd, tau = state[:n], state[n : 2 * n], effort(time)
        net = tau - ours.friction_torque(qd)
        qdd = ours.forward_dynamics(q, qd, tau)
        return np.concatenate([qd, qdd, [net @ qd], net + ours.lagrangian_gradient(q, qd)])

    start = np.concatenate([q, qd, np.zeros(1 + n)])
    found = solve_ivp(rate, (0.0, duration), start, method='DOP853', rtol=1e-12, atol=1e-12)
    return found.y[:, -1]


@pytest.mark.parametrize('driven', [False, True], ids=['free', 'driven'])
@pytest.mark.parametrize('tree', [(1002, 4), (1005, 7)], ids=str)
def test_energy_and_momentum_over_a_simulated_motion(tree, driven, backend):
    """Over 0.4 s without friction T + V grows by the work done and p by the force's integral.

    The error is that of the integration.
    """
    ours = rotor_dynamics(*tree, backend, frictionless=True)
    sample = random_motion(55, 1, ours.n)
    q, qd = sample.q[0], 0.5 * sample.qd[0]
    amplitude = np.abs(ours.gravity_torque(q)).max() * (0.3 if driven else 0.0)
    phases = np.arange(ours.n)

    def effort(time):
        return amplitude * np.cos(3.0 * time + phases)

    def energies(q, qd):
        return ours.kinetic_energy(q, qd), ours.potential_energy(q)

    state = simulate(ours, q, qd, effort, duration=0.4)
    n = ours.n
    q_end, qd_end, work, impulse = state[:n], state[n : 2 * n], state[2 * n], state[2 * n + 1 :]
    start, end = energies(q, qd), energies(q_end, qd_end)
    assert abs(end[0] - start[0]) > 1e-2 * max(start[0], end[0])  # something happened
    scale = max(np.abs(start).max(), np.abs(end).max())
    assert abs(sum(end) - sum(start) - work) < 1e-9 * scale
    if not driven:
        assert work == 0.0
    change = ours.generalized_momentum(q_end, qd_end) - ours.generalized_momentum(q, qd)
    assert np.abs(change).max() > 0.0
    assert np.abs(change - impulse).max() < 1e-9 * np.abs(change).max()


MASS, LENGTH, TENSOR, G = 1.7, 0.6, (0.02, 0.03, 0.05), 9.81


CART_MASS = 2.5
CART = f"""<robot name="cart"><link name="rail"/><link name="cart"><inertial>
<mass value="{CART_MASS}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link><link name="arm"><inertial><origin xyz="0 0 {-LENGTH}"/>
<mass value="{MASS}"/><inertia ixx="{TENSOR[0]}" iyy="{TENSOR[1]}" izz="{TENSOR[2]}"
ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
<joint name="hinge" type="continuous"><parent link="cart"/><child link="arm"/>
<axis xyz="0 1 0"/></joint></robot>"""


def test_a_pendulum_on_a_cart(backend):
    ours = ned.Dynamics(ned.load_urdf(CART), gravity=(0.0, 0.0, -G), backend=backend)
    assert ours.joint_names == ('slide', 'hinge')
    rng = np.random.default_rng(8)
    for x, angle, speed, spin in rng.uniform(-2.0, 2.0, (5, 4)):
        q, qd = [x, angle], [speed, spin]
        sine, cosine = np.sin(angle), np.cos(angle)
        inertia, moment = MASS * LENGTH**2 + TENSOR[1], MASS * LENGTH
        # The arm's end is at x - l sin(angle): a positive turn about y swings it to -x.
        momentum = [
            (CART_MASS + MASS) * speed - moment * cosine * spin,
            inertia * spin - moment * cosine * speed,
        ]
        np.testing.assert_allclose(ours.generalized_momentum(q, qd), momentum, atol=1e-14)
        energy = np.dot(momentum, qd) / 2.0
        np.testing.assert_allclose(ours.kinetic_energy(q, qd), energy)
        potential = -moment * G * cosine
        np.testing.assert_allclose(ours.potential_energy(q), potential, atol=1e-14)
        gradient = [0.0, moment * sine * speed * spin - moment * G * sine]
        np.testing.assert_allclose(ours.lagrangian_gradient(q, qd), gradient, atol=1e-13)
        bias = [moment * sine * spin**2, moment * G * sine]
        np.testing.assert_allclose(ours.bias_torque(q, qd), bias, atol=1e-13)
        center = x - MASS / (CART_MASS + MASS) * LENGTH * sine
        np.testing.assert_allclose(ours.center_of_mass(q)[0], center, atol=1e-15)


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
