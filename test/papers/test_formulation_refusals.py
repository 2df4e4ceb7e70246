"""What a formulation does not cover, it says."""

import dataclasses

import numpy as np
import pytest
from formulation_cases import GRAVITY, arm_for, random_motion, without_drives

from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.papers.forms import FORMULATIONS, computed_torque_law
from ne_dynamics.papers.forms.random_arms import random_arm
from ne_dynamics.papers.forms.rk4 import simulate

N = 3


def call(name, arm, **changes):
    """Call a formulation with a random motion, some of it changed."""
    motion = random_motion(np.random.default_rng(1), arm.n)
    arguments = {'q': motion.q, 'qd': motion.qd, 'qdd': motion.qdd, 'gravity': GRAVITY, **changes}
    q, qd, qdd = (arguments.pop(key) for key in ('q', 'qd', 'qdd'))
    return FORMULATIONS[name].inverse_dynamics(arm, q, qd, qdd, **arguments)


def changed(arm, **changes):
    """Return the arm with its second row changed."""
    links = list(arm.links)
    links[1] = dataclasses.replace(links[1], **changes)
    return arm.with_links(links)


def arm_of(name):
    """Return an arm that the formulation covers."""
    return arm_for(name, np.random.default_rng(2), N)


@pytest.mark.parametrize('name', FORMULATIONS)
def test_the_register_says_where_a_formulation_comes_from(name):
    """Every entry names its document and equations."""
    form = FORMULATIONS[name]
    assert form.name == name
    assert form.document[:3] in ('000', '001', '002', '003', '004')
    assert form.document[:3] in form.equations


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'type': 'prismatic'}, r"joint 'joint_2': expected a revolute joint"),
        (
            {'inertia_about_com': np.array([[0.3, 0.01, 0], [0.01, 0.4, 0], [0, 0, 0.5]])},
            r'link 2: expected axial moments of inertia only',
        ),
        (
            {'center_of_mass': np.array([0.1, 0.2, 0.3])},
            r'link 2: expected the centre of mass half-way',
        ),
    ],
)
def test_sasaki_refuses_what_his_arrays_do_not_hold(change, message):
    """A sliding joint, a product of inertia and a mass centre elsewhere are named and refused."""
    arm = arm_of('sasaki_symbolic')
    if 'type' not in change:
        change = {'inertia': dataclasses.replace(arm.links[1].inertia, **change)}
    with pytest.raises(ModelError, match=message):
        call('sasaki_symbolic', changed(arm, **change))


@pytest.mark.parametrize('name', FORMULATIONS)
def test_coulomb_friction_and_rotors_are_refused(name):
    """No document has Coulomb friction or rotor inertia: they are named, not dropped."""
    arm = arm_of(name)
    with pytest.raises(ModelError, match=r"joint 'joint_2': expected no Coulomb friction, got 2"):
        call(name, changed(arm, coulomb_friction=2.0))
    with pytest.raises(ModelError, match=r"joint 'joint_2': expected no rotor inertia, got 0.1"):
        call(name, changed(arm, reflected_inertia=0.1))
    drives = changed(arm, coulomb_friction=2.0, reflected_inertia=0.1)
    assert call(name, without_drives(drives)) == call(name, arm)


@pytest.mark.parametrize('name', FORMULATIONS)
def test_arguments_of_wrong_length_or_value_are_refused(name):
    """A wrong length and a number that is not finite are refused by name; so are frames."""
    arm = arm_of(name)
    for given, message in (
        ({'qd': [0.0, 0.0]}, f'{name}: qd: expected {N} numbers, got 2'),
        ({'gravity': [9.8]}, 'gravity: expected 3 numbers, got 1'),
        ({'wrench': [0.0] * 3}, 'wrench: expected 6 numbers, got 3'),
        ({'q': [0.0, np.nan, 0.0]}, 'q: expected finite numbers, got nan at index 1'),
        ({'qdd': [np.array([0.0, np.inf])] * N}, 'qdd: expected finite numbers'),
        ({'base_motion': [0.0] * 6}, f'{name}: base_motion: expected 9 numbers, got 6'),
        ({'base_motion': [0.0] * 8 + [np.inf]}, 'base_motion: expected finite numbers, got inf'),
    ):
        with pytest.raises(InputError, match=message):
            call(name, arm, **given)
    other = 'standard' if arm.convention == 'modified' else 'modified'
    with pytest.raises(ModelError, match=f'{name}: expected {arm.convention} .* got {other}'):
        call(name, random_arm(np.random.default_rng(0), N, other))


def test_gains_that_are_not_square_are_refused():
    """A diagonal given as a vector is refused: the law takes full gain matrices."""
    arm, state = arm_of('luh_walker_paul'), [[0.0] * N] * 3
    for qd, kv, message in (
        ([0.0] * N, np.eye(N)[:2], 'kv: expected 3 rows of 3 numbers'),
        ([0.0], np.eye(N), 'desired_qd: expected 3 numbers, got 1'),
    ):
        with pytest.raises(InputError, match=message):
            computed_torque_law.by_substitution(
                arm, *state, qd, [0.0] * N, kp=np.eye(N), kv=kv, gravity=GRAVITY
            )


@pytest.mark.parametrize(
    ('kp', 'kv', 'match'),
    [
        (np.diag([1.0, 0.0]), np.eye(2), r'\(b\) kp is not positive definite .* joint 2 may stay'),
        ([[1.0, 0.1], [0.0, 1.0]], np.eye(2), r'\(b\) kp is not symmetric'),
        (np.eye(2), np.diag([1.0, -1.0]), r'\(a\) kv is not positive semidefinite'),
        (np.eye(2), np.diag([1.0, 0.0]), r'\(c\) kv damps no oscillation of joint 2'),
        (np.zeros((2, 2)), np.zeros((2, 2)), r'\(b\) kp .*; \(c\) kv'),
        (np.eye(2), np.eye(3), 'kv: expected 2 rows of 2 numbers'),
        ([[1.0, 0.0]], np.eye(1), 'kp: expected 1 rows of 1 numbers'),
        ([], [], 'kp: expected 1 rows of 1 numbers'),
        ([[np.nan]], [[1.0]], 'kp: expected finite numbers'),
    ],
)
def test_gains_without_a_promise_are_refused(kp, kv, match):
    """Gains that break a condition of 003, below (4.3), are refused, and all that is broken is
    named.
    """
    with pytest.raises(InputError, match=match):
        computed_torque_law.check_gains(kp, kv)


def test_the_gains_of_the_document_meet_its_conditions():
    """Kp = 100, Kv = 20 on the diagonals are accepted, and so are full matrices."""
    computed_torque_law.check_gains((100.0 * np.eye(6)).tolist(), (20.0 * np.eye(6)).tolist())
    computed_torque_law.check_gains([[2.0, 1.0], [1.0, 2.0]], [[1.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize(
    ('qd', 'step', 'steps', 'message'),
    [
        ([0.0], 0.0, 1, 'step: expected more than 0'),
        ([0.0, 0.0], 0.1, 1, 'qd: expected 1 numbers'),
        ([0.0], 0.1, -1, 'steps: expected 0 or more'),
    ],
)
def test_a_simulation_refuses_a_step_that_does_not_advance(qd, step, steps, message):
    """A step of zero, and velocities of another number than positions, are refused."""
    with pytest.raises(InputError, match=message):
        simulate(lambda t, q, qd: [0.0], [0.0], qd, step=step, steps=steps)
