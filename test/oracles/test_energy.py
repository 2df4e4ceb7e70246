"""Bias, energies, momenta and the centre of mass: Pinocchio, conservation laws, closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form
from example_robots import EXAMPLE_ROBOTS
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases, choose_seeds, urdf_dynamics
from pinocchio_oracle import PinocchioRobot, UrdfTopology
from random_robots import random_tree
from rotor_trees import load_rotor_tree, rotor_dynamics, rotor_oracle, rotor_tree

import ne_dynamics as ned
from ne_dynamics.errors import ModelError

ROWS = 3
TOLERANCE = 1e-11
"""Relative to the largest number of the sample."""

TREES = [(seed, 1 + seed % 9) for seed in choose_seeds(1000, 12, 36)] + [(5, 14), (6, 25)]
COMPILED_TREES = [*TREES[:5], (5, 14)]
COMPILED_ROBOTS = ('Panda with', 'Baxter, left arm')

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)


def test_the_trees_are_what_they_are_said_to_be():
    """Among the trees are mimic, prismatic and fixed joints, rotors, branches, several roots."""
    robots = [load_rotor_tree(*tree) for tree in TREES]
    kinds = {kind for tree in TREES for kind in rotor_tree(*tree).kinds}
    assert kinds == {'revolute', 'continuous', 'prismatic', 'fixed', 'mimic'}
    assert {robot.n for robot in robots} >= {*range(1, 10), 14, 25}
    assert sum(not robot.is_chain for robot in robots) > 10
    roots = [sum(body.parent == -1 for body in robot.bodies) for robot in robots]
    assert max(roots) > 1
    for key in ('reflected_inertia', 'viscous_friction', 'coulomb_friction'):
        assert sum(robot.joint_values(key).any() for robot in robots) > len(robots) / 2


def quantities_against(ours, oracle, sample):
    """Return what the oracle says of each quantity, with the scale that its error has.

    Returns
    -------
    dict of str to (tuple of array, array, float)
        Arguments, expected results row by row, scale.
    """
    q, qd = sample.q, sample.qd
    mass = oracle.moving_mass
    com = np.array([oracle.center_of_mass(row) for row in q])
    motions = zip(q, qd, sample.qdd, strict=True)
    torque = max(np.abs(oracle.inverse_dynamics(*row)).max() for row in motions)
    energy = mass * np.linalg.norm(oracle.gravity) * np.abs(com).max()
    pairs = list(zip(q, qd, strict=True))
    momenta = [oracle.mass_matrix(row) @ speed for row, speed in pairs]
    joints = [body.joint_name for body in ours.robot.bodies]
    triples = list(zip(q, qd, sample.qdd, strict=True))
    return {
        'center_of_mass_jacobian': (
            (q,),
            [oracle.center_of_mass_jacobian(row) for row in q],
            None,
        ),
        'centroidal_momentum': (
            (q, qd),
            [oracle.centroidal_momentum(*pair) for pair in pairs],
            None,
        ),
        'centroidal_momentum_matrix': (
            (q,),
            [oracle.centroidal_momentum_matrix(row) for row in q],
            None,
        ),
        'centroidal_momentum_rate': (
            (q, qd, sample.qdd),
            [oracle.centroidal_momentum_rate(*triple) for triple in triples],
            None,
        ),
        'kinetic_energy_regressor': (
            (q, qd),
            [oracle.kinetic_energy_regressor(*pair, joints) for pair in pairs],
            None,
        ),
        'potential_energy_regressor': (
            (q,),
            [oracle.potential_energy_regressor(row, joints) for row in q],
            None,
        ),
        'joint_wrenches': (
            (q, qd, sample.qdd),
            [oracle.joint_wrenches(*triple, joints) for triple in triples],
            None,
        ),
        'link_velocities': (
            (q, qd),
            [oracle.link_velocities(*pair, ours.link_names) for pair in pairs],
            None,
        ),
        'link_accelerations': (
            (q, qd, sample.qdd),
            [oracle.link_accelerations(*triple, ours.link_names) for triple in triples],
            None,
        ),
        'bias_torque': ((q, qd), [oracle.bias_torque(*pair) for pair in pairs], torque),
        'kinetic_energy': ((q, qd), [oracle.kinetic_energy(*pair) for pair in pairs], None),
        'potential_energy': ((q,), [oracle.potential_energy(row) for row in q], energy),
        'center_of_mass': ((q,), com, None),
        'generalized_momentum': ((q, qd), momenta, None),
        'lagrangian_gradient': (
            (q, qd),
            [oracle.lagrangian_gradient(*pair) for pair in pairs],
            torque,
        ),
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


@pytest.mark.parametrize('tree', TREES[:8], ids=str)
def test_a_wrench_at_the_tip_reaches_the_joints(tree, assert_agree):
    """With what the tip exerts, the wrenches at the joints equal Pinocchio's forces."""
    subject = random_tree(*tree)
    robot = replace(ned.load_urdf(subject.urdf), tip_link=subject.tip)
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
    oracle = PinocchioRobot(subject.urdf, ours.joint_names, GRAVITY, wrench_link=subject.tip)
    sample = random_motion(tree[0], 1, ours.n)
    motion = [values[0] for values in (sample.q, sample.qd, sample.qdd)]
    wrench = np.random.default_rng(tree[0]).normal(0.0, 10.0, 6)
    joints = [body.joint_name for body in robot.bodies]
    expected = oracle.joint_wrenches(*motion, joints, wrench)
    computed = ours.joint_wrenches(*motion, wrench)
    assert_agree('random trees', 'joint_wrenches', computed, expected, None, TOLERANCE)


@pytest.mark.parametrize('tree', TREES[:8], ids=str)
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

    def call(*given, out=None):
        named = dict(zip(names, given[4:], strict=True))
        return ours.joint_wrenches(*given[:4], external_wrenches=named, out=out)

    for form, computed in call_in_every_form(call, *motion, *on_links).items():
        assert_agree('random trees', f'joint_wrenches ({form})', computed, expected, None, 1e-11)


def test_the_part_along_the_axis_is_the_effort():
    """The wrench at a joint, along its axis, is the effort without friction and rotor inertia."""
    robot = load_rotor_tree(1003, 6)
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
    q, qd, qdd = np.random.default_rng(3).uniform(-1.0, 1.0, (3, robot.n))
    efforts = np.zeros(robot.n)
    for body, row in zip(robot.bodies, ours.joint_wrenches(q, qd, qdd), strict=True):
        part = row[:3] if body.joint_type == 'prismatic' else row[3:]
        efforts[body.coordinate] += body.multiplier * (body.axis @ part)
    expected = ours.regressor(q, qd, qdd) @ ours.inertial_parameters()
    np.testing.assert_allclose(efforts, expected, rtol=1e-10, atol=1e-10)


def test_the_regressors_give_the_energies():
    """The regressors of the energies times the inertial parameters are the energies."""
    robot = load_rotor_tree(1004, 7)
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
    q, qd = np.random.default_rng(4).uniform(-1.0, 1.0, (2, robot.n))
    parameters = ours.inertial_parameters()
    rotors = robot.joint_values('reflected_inertia') @ qd**2 / 2.0
    kinetic = ours.kinetic_energy_regressor(q, qd) @ parameters + rotors
    np.testing.assert_allclose(kinetic, ours.kinetic_energy(q, qd), rtol=1e-12)
    potential = ours.potential_energy_regressor(q) @ parameters
    np.testing.assert_allclose(potential, ours.potential_energy(q), rtol=1e-12, atol=1e-12)


def moving_base_cases():
    """Return random trees with a link below the root that has joints beyond it."""
    cases = []
    for seed in range(1100, 1140):
        subject = random_tree(seed, 8)
        topology = UrdfTopology(subject.urdf)
        for base in topology.links:
            inside = topology.joints_beyond(base)
            if base == topology.root or len(inside) < 3:
                continue
            if all(
                (m.source in inside) == (name in inside) for name, m in topology.mimics.items()
            ):
                cases.append((seed, base))
                break
    return cases[:10]


@pytest.mark.parametrize(('seed', 'base'), moving_base_cases())
def test_a_base_in_the_middle_of_a_tree(seed, base, assert_agree):
    """Energy and centre of mass refer to the frame of the base link, wherever it is."""
    subject = random_tree(seed, 8)
    ours = urdf_dynamics(subject.urdf, 'python', base_link=base)
    oracle = PinocchioRobot(subject.urdf, ours.joint_names, GRAVITY, base_link=base)
    check_against_pinocchio('subtrees', ours, oracle, seed, assert_agree)


@every_tree
def test_energy_and_momentum_are_forms_of_the_mass_matrix(tree, backend, assert_agree):
    """Momentum is M qd, energy qd^T M qd / 2, bias the inverse dynamics less friction."""
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(51, ROWS, ours.n)
    for q, qd, qdd in zip(sample.q, sample.qd, sample.qdd, strict=True):
        mass = ours.mass_matrix(q)
        momentum = ours.generalized_momentum(q, qd)
        assert_agree('identities', 'momentum', momentum, mass @ qd, tolerance=TOLERANCE)
        energy = ours.kinetic_energy(q, qd)
        assert isinstance(energy, float)
        assert_agree('identities', 'kinetic', energy, qd @ mass @ qd / 2.0, tolerance=TOLERANCE)
        torque = ours.inverse_dynamics(q, qd, qdd)
        terms = mass @ qdd + ours.bias_torque(q, qd) + ours.friction_torque(qd)
        assert_agree('identities', 'bias', terms, torque, tolerance=TOLERANCE)
        rest = ours.bias_torque(q, np.zeros(ours.n))
        gravity = ours.gravity_torque(q)
        largest = np.abs(torque).max()
        assert_agree('identities', 'bias at rest', rest, gravity, largest, TOLERANCE)
        rates = ours.coriolis_matrix(q, qd).T @ qd - gravity
        gradient = ours.lagrangian_gradient(q, qd)
        assert_agree('identities', 'gradient', gradient, rates, largest, TOLERANCE)


@every_tree
def test_potential_energy_is_the_height_of_the_centre_of_mass(tree, backend, assert_agree):
    """V = - m g . c, its gradient along a direction is the power of the gravity torque."""
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(52, ROWS, ours.n)
    mass = sum(body.inertia.mass for body in ours.robot.bodies)
    for q, qd in zip(sample.q, sample.qd, strict=True):
        energy = ours.potential_energy(q)
        assert isinstance(energy, float)
        center = ours.center_of_mass(q)
        scale = mass * np.linalg.norm(ours.gravity) * np.linalg.norm(center)
        expected = -mass * ours.gravity @ center
        assert_agree('identities', 'height', energy, expected, scale, TOLERANCE)
        rate = differentiate_along(lambda t: ours.potential_energy(q + t * qd))  # noqa: B023
        power = ours.gravity_torque(q) @ qd
        assert_agree('differences', 'potential', rate, power, scale, tolerance=1e-10)


def differentiate_along(function, step=5e-3):
    """Return the derivative at zero by central differences of sixth order.

    The error of a function with frequencies up to ten is below ``10^7 step^6 / 140``, 1e-9 of
    it, and the rounding below ``1e-16 / step``.
    """
    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    return sum(
        weight * (np.asarray(function(k * step)) - np.asarray(function(-k * step)))
        for k, weight in weights.items()
    ) / (60.0 * step)


@every_tree
def test_gradient_of_the_lagrangian(tree, backend, assert_agree):
    """dL/dq is what central differences of T - V give (sixth order, step 5e-3)."""
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(53, 1, ours.n)
    q, qd = sample.q[0], sample.qd[0]

    def lagrangian(position):
        return ours.kinetic_energy(position, qd) - ours.potential_energy(position)

    rates = [
        differentiate_along(lambda t, unit=unit: lagrangian(q + t * unit))
        for unit in np.eye(ours.n)
    ]
    scale = max(np.abs(rates).max(), abs(lagrangian(q)))
    gradient = ours.lagrangian_gradient(q, qd)
    assert_agree('differences', 'Lagrangian', gradient, rates, scale, tolerance=1e-9)


@every_tree
def test_energy_and_momentum_change_as_mechanics_says(tree, backend, assert_agree):
    """d(T+V)/dt = qd . (tau - f), dp/dt = tau - f + dL/dq along the motion that tau gives."""
    ours = rotor_dynamics(*tree, backend)
    sample = random_motion(54, 1, ours.n)
    q, qd, qdd = sample.q[0], sample.qd[0], sample.qdd[0]
    rigid = ours.inverse_dynamics(q, qd, qdd) - ours.friction_torque(qd)

    def energy(t):
        position, velocity = q + t * qd + t * t / 2.0 * qdd, qd + t * qdd
        return ours.kinetic_energy(position, velocity) + ours.potential_energy(position)

    def momentum(t):
        return ours.generalized_momentum(q + t * qd + t * t / 2.0 * qdd, qd + t * qdd)

    power = np.abs(rigid * qd).sum() + abs(energy(0.0))
    computed = differentiate_along(energy)
    assert_agree('differences', 'power', computed, rigid @ qd, power, tolerance=1e-9)
    expected = rigid + ours.lagrangian_gradient(q, qd)
    scale = np.abs(expected).max() + np.abs(momentum(0.0)).max()
    rate = differentiate_along(momentum)
    assert_agree('differences', 'momentum', rate, expected, scale, tolerance=1e-9)


def simulate(ours, q, qd, effort, step, steps):
    """Integrate motion, power and force by the classical Runge-Kutta method.

    Returns
    -------
    array, shape (3 n + 1,)
        Positions, velocities, the work of the efforts, and the integral of
        ``tau - f + dL/dq``.
    """
    n = ours.n

    def rate(time, state):
        q, qd = state[:n], state[n : 2 * n]
        tau = effort(time)
        net = tau - ours.friction_torque(qd)
        qdd = ours.forward_dynamics(q, qd, tau)
        return np.concatenate([qd, qdd, [net @ qd], net + ours.lagrangian_gradient(q, qd)])

    state = np.concatenate([q, qd, np.zeros(1 + n)])
    for index in range(steps):
        time = index * step
        k1 = rate(time, state)
        k2 = rate(time + step / 2.0, state + step / 2.0 * k1)
        k3 = rate(time + step / 2.0, state + step / 2.0 * k2)
        k4 = rate(time + step, state + step * k3)
        state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state


@pytest.mark.parametrize('driven', [False, True], ids=['free', 'driven'])
@pytest.mark.parametrize('tree', [(1000, 2), (1002, 4), (1005, 7)], ids=str)
def test_energy_and_momentum_over_a_simulated_motion(tree, driven, backend):
    """Over 0.4 s without friction T + V grows by the work done and p by the force's integral.

    The error is that of the integration: 1e-9 of the energies at a step of 1 ms.
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

    state = simulate(ours, q, qd, effort, step=1e-3, steps=400)
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

PENDULUM = f"""<robot name="pendulum"><link name="base"/><link name="arm"><inertial>
<origin xyz="0 0 {-LENGTH}"/><mass value="{MASS}"/><inertia ixx="{TENSOR[0]}" iyy="{TENSOR[1]}"
izz="{TENSOR[2]}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
<axis xyz="0 1 0"/><dynamics damping="0.3" friction="0.2"/></joint></robot>"""

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


def test_a_pendulum(backend):
    """A compound pendulum about y that hangs at zero: I qd^2 / 2, - m g l cos q."""
    ours = ned.Dynamics(ned.load_urdf(PENDULUM), gravity=(0.0, 0.0, -G), backend=backend)
    inertia = MASS * LENGTH**2 + TENSOR[1]
    for q, qd in ((0.7, 1.3), (-2.0, -0.4), (3.0, 0.0)):
        np.testing.assert_allclose(ours.kinetic_energy([q], [qd]), inertia * qd**2 / 2.0)
        weight = MASS * G * LENGTH
        np.testing.assert_allclose(ours.potential_energy([q]), -weight * np.cos(q))
        np.testing.assert_allclose(ours.generalized_momentum([q], [qd]), [inertia * qd])
        np.testing.assert_allclose(ours.lagrangian_gradient([q], [qd]), [-weight * np.sin(q)])
        np.testing.assert_allclose(ours.bias_torque([q], [qd]), [weight * np.sin(q)])
        center = [-LENGTH * np.sin(q), 0.0, -LENGTH * np.cos(q)]
        np.testing.assert_allclose(ours.center_of_mass([q]), center, atol=1e-15)


def test_a_pendulum_on_a_cart(backend):
    """The Lagrangian of the cart with a pendulum, written by hand."""
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


@pytest.mark.parametrize('rows', [0, 1, 9])
def test_energies_of_a_batch_have_one_number_a_row(rows, backend):
    """A batch of N rows gives shape (N,), an empty one (0,)."""
    ours = rotor_dynamics(1002, 4, backend)
    q = np.zeros((rows, 4))
    assert ours.potential_energy(q).shape == (rows,)
    assert ours.kinetic_energy(q, q).shape == (rows,)
    assert ours.center_of_mass(q).shape == (rows, 3)
