"""Payloads, moving bases and wrenches on any link, in both dynamics, against Pinocchio."""

from dataclasses import replace
from itertools import compress, product

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from motion_samples import random_motion
from oracle_measure import COMPILED, GRAVITY, backend_cases
from random_inertias import random_inertia
from rotor_trees import rotor_dynamics, rotor_oracle
from urdf_text import joint_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
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


def random_load(tree):
    """Return the inertia of a payload."""
    return random_inertia(np.random.default_rng([tree[0], 11]))


def loaded_oracle(tree, load, floating=False):
    """Return Pinocchio's robot with the load fixed to the tip."""
    oracle = rotor_oracle(*tree, floating=floating)
    if load is not None:
        oracle.add_payload(load.mass, load.center_of_mass, load.inertia_about_com)
    return oracle


@every_tree
def test_gravity_and_mass_matrix_with_a_payload(tree, backend, assert_agree):
    """Both are those of Pinocchio's model with the body appended, in every form of call."""
    ours, load = rotor_dynamics(*tree, backend), random_load(tree)
    oracle, plain = loaded_oracle(tree, load), loaded_oracle(tree, None)
    q = random_motion(tree[0], ROWS, ours.n).q
    parameters = np.tile(ours.robot.payload_parameters(load), (ROWS, 1))
    scale = np.abs([oracle.mass_matrix(row) for row in q]).max() * np.linalg.norm(GRAVITY)
    for name, size in (('mass_matrix', None), ('gravity_torque', scale)):
        method = getattr(ours, name)

        def carry(q, payload, out=None, method=method):
            return method(q, payload=payload, out=out)

        loaded, unloaded = (
            np.array([getattr(each, name)(row) for row in q]) for each in (oracle, plain)
        )
        for form, computed in call_in_every_form(carry, q, parameters).items():
            assert_agree('loads', f'{name} ({form})', computed, loaded, size, TOLERANCE)
        one_for_all = method(q, payload=parameters[0])
        assert_agree('loads', f'{name}, one for all', one_for_all, loaded, size, TOLERANCE)
        nothing = method(q, payload=np.zeros(10))
        assert_agree('loads', f'{name}, no load', nothing, unloaded, size, TOLERANCE)
        assert np.abs(unloaded - loaded).max() > 1e-6 * np.abs(loaded).max()


KEYS = ('wrench', 'base_motion', 'payload')
CASES = [
    *[(tuple(compress(KEYS, chosen)), 0) for chosen in product((False, True), repeat=3)],
    ((), 3),
    ((), 99),
    (KEYS, 2),
]
"""Loads, and on how many links there are wrenches besides."""


@pytest.mark.kept(16)
@every_tree
@pytest.mark.parametrize(('keys', 'links'), CASES, ids=str)
def test_dynamics_with_loads(tree, backend, keys, links, assert_agree):
    """The efforts of a motion are Pinocchio's, and give it back, in every form of call.

    The deviation is taken through the mass matrix, which removes the robot's conditioning.
    """
    ours = rotor_dynamics(*tree, backend)
    load = random_load(tree) if 'payload' in keys else None
    oracle = loaded_oracle(tree, load, floating='base_motion' in keys)
    sample = random_motion(tree[0] + links, ROWS, ours.n)
    wrench, base = (getattr(sample, key) if key in keys else None for key in KEYS[:2])
    payload = None if load is None else np.tile(ours.robot.payload_parameters(load), (ROWS, 1))
    # On machine code each link is a function to compile.
    on_links = random_wrenches(ours.robot, tree[0], min(links, 3 if backend in COMPILED else 99))
    rigid = np.array(
        [
            oracle.inverse_dynamics(
                *(sample.q[row], sample.qd[row], sample.qdd[row]),
                None if wrench is None else wrench[row],
                None if base is None else base[row],
                {name: values[row] for name, values in on_links.items()},
            )
            for row in range(ROWS)
        ]
    )
    tau = rigid + [oracle.friction_torque(qd) for qd in sample.qd]
    loads = wrench, base, payload, *on_links.values()

    def in_every_form(method, *motion):
        if on_links:
            method = under_wrenches(method, on_links, first=6)
        return call_in_every_form(method, *motion, *loads).items()

    largest = max(np.abs(rigid).max(), 10.0 if on_links else 0.0)
    for form, found in in_every_form(ours.inverse_dynamics, sample.q, sample.qd, sample.qdd):
        assert_agree('loads', f'inverse ({form})', found, tau, largest, TOLERANCE)
    fixed = loaded_oracle(tree, load)
    masses = np.array([fixed.mass_matrix(q) for q in sample.q])
    terms = np.abs(masses) @ np.abs(sample.qdd)[..., None]
    scale = max(np.abs(tau).max(), terms.max(), 10.0 if on_links else 0.0)
    for form, found in in_every_form(ours.forward_dynamics, sample.q, sample.qd, tau):
        deviation = (masses @ (found - sample.qdd)[..., None])[..., 0]
        assert_agree('loads', f'forward ({form})', deviation, 0.0 * tau, scale, TOLERANCE)


def random_wrenches(robot, seed, count):
    """Return wrenches on some links of a robot, fixed ones and the base among them."""
    rng = np.random.default_rng([seed, 12])
    chosen = rng.permutation([link.name for link in robot.links])[:count]
    return {str(name): rng.uniform(-10.0, 10.0, (ROWS, 6)) for name in chosen}


# ---- input that cannot be used


@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics'])
def test_a_wrench_so_large_that_the_result_overflows_is_refused(method, backend):
    """Two wrenches of 1.5e308 on one link, or one with a long lever, give no infinity."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    arm, huge = ned.Dynamics(robot, backend=backend), np.full(6, 1.5e308)
    for q, wrenches in product(
        (np.zeros(6), np.zeros((2, 6))), ({'tcp': huge}, {'tcp': huge, 'flange': huge})
    ):
        for _ in range(2):
            with pytest.raises(InputError, match=r'overflow|finite'):
                getattr(arm, method)(q, q, q, external_wrenches=wrenches)


def test_a_load_that_makes_the_mass_matrix_singular_is_refused(backend):
    """A payload that takes the last inertia away leaves no acceleration to compute."""
    robot = ned.load_urdf(
        robot_xml(
            *('base', link_xml('arm', moments=(1, 1, 1))),
            joint_xml('hinge', 'base', 'arm', 'continuous'),
        )
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
    payload = random_load((4,))
    moving = next(link.name for link in robot.links if link.body == 1)
    with pytest.raises(ModelError, match=f'{moving}.*{robot.tip_link}'):
        robot.payload_parameters(payload, moving)
    with pytest.raises(ModelError, match='nowhere'):
        robot.payload_parameters(payload, 'nowhere')
    with pytest.raises(ModelError, match='tip'):
        replace(robot, tip_link=None).payload_parameters(payload)
