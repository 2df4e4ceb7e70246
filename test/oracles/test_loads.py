"""Payloads, moving bases and wrenches on any link, in both dynamics, against Pinocchio."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from motion_samples import random_motion
from oracle_measure import COMPILED, GRAVITY, backend_cases
from rotor_trees import rotor_dynamics, rotor_oracle

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

ROWS = 3
TOLERANCE = 1e-11
"""Relative to the largest number of the sample."""

TREES = [(1400, 6), (1402, 8), (1405, 2), (1421, 14)]
COMPILED_TREES = [(1400, 6), (1405, 2)]

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)


def random_load(seed):
    """Return a real body with a full tensor, off the origin."""
    rng = np.random.default_rng([seed, 11])
    mass = rng.uniform(0.5, 5.0)
    x, y, z = mass * rng.uniform(0.05, 0.3, 3) ** 2
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T
    return Inertia(mass, rng.uniform(-0.3, 0.3, 3), 0.5 * (tensor + tensor.T))


def loaded_oracle(tree, load, floating=False):
    """Return Pinocchio's robot with the load fixed to the tip."""
    oracle = rotor_oracle(*tree, floating=floating)
    if load is not None:
        oracle.add_payload(load.mass, load.center_of_mass, load.inertia_about_com)
    return oracle


@every_tree
def test_gravity_and_mass_matrix_with_a_payload(tree, backend, assert_agree):
    """Both are those of Pinocchio's model with the body appended, in every form of call."""
    ours, load = rotor_dynamics(*tree, backend), random_load(tree[0])
    oracle, plain = loaded_oracle(tree, load), loaded_oracle(tree, None)
    q = random_motion(tree[0], ROWS, ours.n).q
    parameters = np.tile(ours.robot.payload_parameters(load), (ROWS, 1))
    masses = np.array([oracle.mass_matrix(row) for row in q])
    gravity = np.array([oracle.gravity_torque(row) for row in q])
    scale = np.abs(masses).max() * np.linalg.norm(GRAVITY)

    def mass_matrix(q, payload, out=None):
        return ours.mass_matrix(q, payload=payload, out=out)

    def gravity_torque(q, payload, out=None):
        return ours.gravity_torque(q, payload=payload, out=out)

    for form, computed in call_in_every_form(mass_matrix, q, parameters).items():
        assert_agree('loads', f'mass matrix ({form})', computed, masses, None, TOLERANCE)
    for form, computed in call_in_every_form(gravity_torque, q, parameters).items():
        assert_agree('loads', f'gravity ({form})', computed, gravity, scale, TOLERANCE)
    by_name = ours.mass_matrix(q, payload=parameters[0])
    assert_agree('loads', 'one load for all', by_name, masses, None, TOLERANCE)
    by_name = ours.gravity_torque(q, payload=parameters[0])
    assert_agree('loads', 'one load for all', by_name, gravity, scale, TOLERANCE)
    without = np.array([plain.mass_matrix(row) for row in q])
    assert np.abs(without - masses).max() > 1e-6 * np.abs(masses).max()
    unloaded = ours.mass_matrix(q, payload=np.zeros(10))
    assert_agree('loads', 'no load', unloaded, without, None, TOLERANCE)


def check_dynamics(what, ours, oracle, sample, scale_of, assert_agree, **loads):
    """The efforts of a motion are Pinocchio's, and give it back, in every form of call.

    The deviation is taken through the mass matrix, which removes the robot's conditioning.
    """
    wrench, base, payload = (loads.get(key) for key in ('wrench', 'base_motion', 'payload'))
    rows = range(len(sample))
    rigid = np.array(
        [
            oracle.inverse_dynamics(
                sample.q[row],
                sample.qd[row],
                sample.qdd[row],
                None if wrench is None else wrench[row],
                None if base is None else base[row],
            )
            for row in rows
        ]
    )
    tau = rigid + [oracle.friction_torque(qd) for qd in sample.qd]
    payloads = None if payload is None else np.tile(payload, (len(sample), 1))
    arguments = sample.q, sample.qd, tau, wrench, base, payloads
    inverse = sample.q, sample.qd, sample.qdd, wrench, base, payloads
    largest = np.abs(rigid).max()
    for form, found in call_in_every_form(ours.inverse_dynamics, *inverse).items():
        assert_agree('loads', f'{what}, inverse ({form})', found, tau, largest, TOLERANCE)
    masses = [scale_of(q) for q in sample.q]
    moments = [np.abs(m) @ np.abs(qdd) for m, qdd in zip(masses, sample.qdd, strict=True)]
    scale = max(np.abs(tau).max(), np.abs(moments).max())
    for form, found in call_in_every_form(ours.forward_dynamics, *arguments).items():
        deviation = [masses[row] @ (found[row] - sample.qdd[row]) for row in rows]
        assert_agree('loads', f'{what} ({form})', deviation, 0.0 * tau, scale, TOLERANCE)


@pytest.mark.kept(12)
@every_tree
@pytest.mark.parametrize('wrench', [False, True], ids=['', 'wrench'])
@pytest.mark.parametrize('base', [False, True], ids=['', 'base'])
@pytest.mark.parametrize('payload', [False, True], ids=['', 'payload'])
def test_dynamics_with_loads(tree, backend, wrench, base, payload, assert_agree):
    """Under each combination of tip wrench, moving base and payload."""
    ours = rotor_dynamics(*tree, backend)
    load = random_load(tree[0]) if payload else None
    oracle = loaded_oracle(tree, load, floating=base)
    sample = random_motion(tree[0], ROWS, ours.n)
    loads = {
        'wrench': sample.wrench if wrench else None,
        'base_motion': sample.base_motion if base else None,
        'payload': ours.robot.payload_parameters(load) if payload else None,
    }
    fixed = loaded_oracle(tree, load)
    check_dynamics('loads', ours, oracle, sample, fixed.mass_matrix, assert_agree, **loads)


def random_wrenches(robot, seed, count, rows):
    """Return wrenches on some links of a robot, fixed ones and the base among them."""
    rng = np.random.default_rng([seed, 12])
    names = [link.name for link in robot.links]
    chosen = rng.permutation(names)[: min(count, len(names))]
    return {str(name): rng.uniform(-10.0, 10.0, (rows, 6)) for name in chosen}


def row_of(wrenches, row):
    """Return the wrenches of one sample."""
    return {name: values[row] for name, values in wrenches.items()}


@every_tree
@pytest.mark.parametrize('count', [3, 99])
def test_wrenches_on_any_link(tree, count, backend, assert_agree):
    """Efforts under wrenches on some and on all links are Pinocchio's, and give the motion."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    if backend in COMPILED:
        count = min(count, 3)  # each link is a function to compile
    sample = random_motion(tree[0], ROWS, ours.n)
    motion = sample.q, sample.qd, sample.qdd
    wrenches = random_wrenches(ours.robot, tree[0] + count, count, ROWS)
    expected = np.array(
        [
            oracle.inverse_dynamics(
                *[values[row] for values in motion], external_wrenches=row_of(wrenches, row)
            )
            + oracle.friction_torque(sample.qd[row])
            for row in range(ROWS)
        ]
    )
    scale = max(np.abs(expected).max(), 10.0)
    inverse = under_wrenches(ours.inverse_dynamics, wrenches)
    for found in call_in_every_form(inverse, *motion, *wrenches.values()).values():
        assert_agree('loads', 'wrenches on links', found, expected, scale, TOLERANCE)
    masses = np.array([oracle.mass_matrix(q) for q in sample.q])
    scale = max(scale, (np.abs(masses) @ np.abs(sample.qdd)[..., None]).max())
    forward, zero = under_wrenches(ours.forward_dynamics, wrenches), np.zeros_like(expected)
    given = sample.q, sample.qd, expected, *wrenches.values()
    for found in call_in_every_form(forward, *given).values():
        deviation = (masses @ (found - sample.qdd)[..., None])[..., 0]
        assert_agree('loads', 'forward, wrenches', deviation, zero, scale, TOLERANCE)


@every_tree
def test_everything_at_once(tree, backend, assert_agree):
    """Tip wrench, moving base, payload and wrenches on two links together are Pinocchio's."""
    ours, load = rotor_dynamics(*tree, backend), random_load(tree[0])
    oracle, fixed = loaded_oracle(tree, load, floating=True), loaded_oracle(tree, load)
    sample = random_motion(tree[0] + 1, ROWS, ours.n)
    wrenches = random_wrenches(ours.robot, tree[0] + 3, 2, ROWS)
    payload = ours.robot.payload_parameters(load)
    for row in range(ROWS):
        q, qd, qdd = sample.q[row], sample.qd[row], sample.qdd[row]
        extras = sample.wrench[row], sample.base_motion[row]
        on_links = row_of(wrenches, row)
        expected = oracle.inverse_dynamics(q, qd, qdd, *extras, on_links)
        expected = expected + oracle.friction_torque(qd)
        mass = fixed.mass_matrix(q)
        scale = max(np.abs(expected).max(), (np.abs(mass) @ np.abs(qdd)).max(), 10.0)
        for _ in range(2):
            computed = ours.inverse_dynamics(
                q, qd, qdd, *extras, payload, external_wrenches=on_links
            )
            assert_agree('loads', 'everything', computed, expected, scale, TOLERANCE)
            found = ours.forward_dynamics(
                q, qd, expected, *extras, payload, external_wrenches=on_links
            )
            zero = np.zeros(ours.n)
            deviation = mass @ (found - qdd)
            assert_agree('loads', 'everything, forward', deviation, zero, scale, TOLERANCE)


# ---- input that cannot be used


@pytest.fixture
def arm(backend):
    """The shipped arm with its tip."""
    return ned.Dynamics(
        ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'), backend=backend
    )


METHODS = ('inverse_dynamics', 'forward_dynamics')


def test_a_wrench_so_large_that_the_result_overflows_is_refused(arm):
    """Two wrenches of 1.5e308 on one link, or one with a long lever, give no infinity."""
    zero = np.zeros(6)
    huge = np.full(6, 1.5e308)
    for method, batch in itertools.product(METHODS, (False, True)):
        q = np.zeros((2, 6)) if batch else zero
        for _ in range(2):
            with pytest.raises(InputError, match=r'overflow|finite'):
                getattr(arm, method)(q, q, q, external_wrenches={'tcp': huge})
            with pytest.raises(InputError, match=r'overflow|finite'):
                getattr(arm, method)(q, q, q, external_wrenches={'tcp': huge, 'flange': huge})


def test_a_load_that_makes_the_mass_matrix_singular_is_refused(backend):
    """A payload that takes the last inertia away leaves no acceleration to compute."""
    robot = ned.load_urdf(
        '<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>'
        '<axis xyz="0 0 1"/></joint></robot>',
        tip_link='arm',
    )
    ours = ned.Dynamics(robot, GRAVITY, backend)
    opposite = -robot.payload_parameters(robot.link('arm').inertia)
    zero = np.zeros(1)
    assert ours.mass_matrix(zero, payload=opposite) == 0.0
    for _ in range(2):
        with pytest.raises(ModelError):
            ours.forward_dynamics(zero, zero, np.ones(1), payload=opposite)


def test_a_payload_beyond_a_joint_is_refused_by_name():
    """A link that moves against the tip, an unknown one, or no tip at all is a model error."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    payload = random_load(4)
    moving = next(link.name for link in robot.links if link.body == 1)
    with pytest.raises(ModelError, match=f'{moving}.*{robot.tip_link}'):
        robot.payload_parameters(payload, moving)
    with pytest.raises(ModelError, match='nowhere'):
        robot.payload_parameters(payload, 'nowhere')
    with pytest.raises(ModelError, match='tip'):
        replace(robot, tip_link=None).payload_parameters(payload)
