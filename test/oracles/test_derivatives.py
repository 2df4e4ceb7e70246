"""Derivatives of both dynamics: Pinocchio, differences, and the identities between them."""

import functools

import numpy as np
import pytest
from calling_forms import call_in_every_form
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases
from rotor_trees import rotor_dynamics, rotor_oracle

import ne_dynamics as ned
from ne_dynamics.errors import ModelError

ROWS = 3
TREES = [(1200, 4), (1205, 9), (1300, 11), (1301, 12)]
"""Up to ten joints and beyond: larger robots take another way."""

COMPILED_TREES = [(1200, 4), (1300, 11)]

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)

PARTS = {
    'inverse_dynamics_derivatives': ('dtau/dq', 'dtau/dqd', 'dtau/dqdd'),
    'forward_dynamics_derivatives': ('dqdd/dq', 'dqdd/dqd', 'dqdd/dtau'),
}


@functools.cache
def motion_of(seed, n):
    """Return a random motion with velocities away from zero, where Coulomb friction jumps."""
    sample = random_motion(seed, ROWS, n)
    sample.qd[...] += 0.1 * np.sign(sample.qd)
    return sample


def check_parts(name, quantity, form, computed, expected, assert_agree, tolerance=1e-9):
    """Compare the three matrices, each relative to its largest entry."""
    for part, found, right in zip(PARTS[quantity], computed, expected, strict=True):
        scale = max(np.abs(right).max(), 1e-3 * np.abs(expected[0]).max())
        assert_agree(name, f'{part} ({form})', found, right, scale, tolerance)


def check_inverse(name, ours, oracle, seed, assert_agree):
    """Compare with computeRNEADerivatives, every form of call."""
    sample = motion_of(seed, ours.n)
    motion = sample.q, sample.qd, sample.qdd
    rows = [oracle.inverse_dynamics_derivatives(*row) for row in zip(*motion, strict=True)]
    expected = np.stack(rows, axis=1)
    quantity = 'inverse_dynamics_derivatives'
    method = ours.inverse_dynamics_derivatives
    for form, computed in call_in_every_form(method, *motion, axis=1).items():
        assert computed.shape == (3, ROWS, ours.n, ours.n)
        check_parts(name, quantity, form, computed, expected, assert_agree)


@every_tree
def test_inverse_dynamics_of_trees_against_pinocchio(tree, backend, assert_agree):
    """With rotors, friction and mimic joints they are computeRNEADerivatives."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    check_inverse('random trees', ours, oracle, tree[0], assert_agree)


def efforts_of(ours, oracle, sample):
    """Return efforts of the size that the motion takes, shape (N, n)."""
    motion = zip(sample.q, sample.qd, sample.qdd, strict=True)
    return np.array(
        [oracle.inverse_dynamics(*row) + oracle.friction_torque(row[1]) for row in motion]
    )


def expected_forward(oracle, q, qd, tau):
    """Return what Pinocchio says, with mimic joints by way of the inverse dynamics."""
    if not oracle.has_mimics:
        return oracle.forward_dynamics_derivatives(q, qd, tau)
    mass = oracle.mass_matrix(q)
    rest = tau - oracle.bias_torque(q, qd) - oracle.friction_torque(qd)
    by_q, by_qd, _ = oracle.inverse_dynamics_derivatives(q, qd, np.linalg.solve(mass, rest))
    n = len(mass)
    return (
        np.linalg.solve(mass, np.hstack([-by_q, -by_qd, np.eye(n)]))
        .reshape(n, 3, n)
        .swapaxes(0, 1)
    )


def check_forward(name, ours, oracle, seed, assert_agree):
    """Compare with computeABADerivatives, every form of call, through the mass matrix.

    The mass matrix takes out what the conditioning of the robot puts in: each part times the
    mass matrix is measured against the size of the terms of that product.
    """
    sample = motion_of(seed, ours.n)
    tau = efforts_of(ours, oracle, sample)
    arguments = sample.q, sample.qd, tau
    expected = [expected_forward(oracle, *row) for row in zip(*arguments, strict=True)]
    masses = [oracle.mass_matrix(q) for q in sample.q]
    quantity = 'forward_dynamics_derivatives'
    forms = call_in_every_form(ours.forward_dynamics_derivatives, *arguments, axis=1)
    for form, computed in forms.items():
        assert computed.shape == (3, ROWS, ours.n, ours.n)
        for row, (mass, right) in enumerate(zip(masses, expected, strict=True)):
            for part, found, matrix in zip(PARTS[quantity], computed[:, row], right, strict=True):
                deviation = mass @ (found - matrix)
                scale = (np.abs(mass) @ np.abs(matrix)).max()
                zero = np.zeros_like(deviation)
                scale = max(scale, 1e-3 * (np.abs(mass) @ np.abs(right[0])).max())
                assert_agree(name, f'{part} ({form})', deviation, zero, scale, 1e-9)


@every_tree
def test_forward_dynamics_of_trees_against_pinocchio(tree, backend, assert_agree):
    """With rotors and friction they are computeABADerivatives, or -M^-1 dtau/dx."""
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    check_forward('random trees', ours, oracle, tree[0], assert_agree)


@pytest.mark.parametrize('n', [4, 11])
def test_the_slope_of_a_sign_is_zero_at_rest_too(n, backend):
    """At zero velocity, where Coulomb friction jumps, the slopes are finite and without it."""
    ours = rotor_dynamics(1300, n, backend)
    assert ours.robot.joint_values('coulomb_friction').any()
    smooth = ned.Dynamics(
        ours.robot.with_joint_values('coulomb_friction', np.zeros(n)), GRAVITY, backend
    )
    q, zero = random_motion(1, 1, n).q[0], np.zeros(n)
    for quantity in PARTS:
        computed = getattr(ours, quantity)(q, zero, zero)
        assert np.isfinite(computed).all()
        expected = getattr(smooth, quantity)(q, zero, zero)
        np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-11 * abs(expected).max())


def hinges(n, massless, coincident, backend):
    """Return a chain of n hinges about z; the link of index `massless` has no mass.

    The hinge after it is on the same axis where `coincident`, else 0.4 m further.
    """
    links = ['<link name="link_0"/>']
    joints = []
    for index in range(n):
        inertial = (
            '<inertial><origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="0.1" iyy="0.1"'
            ' izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
        )
        step = 0.0 if coincident and index == massless + 1 else 0.4
        inertial = '' if index == massless else inertial
        links.append(f'<link name="link_{index + 1}">{inertial}</link>')
        joints.append(
            f'<joint name="joint_{index}" type="continuous"><origin xyz="{step} 0 0"/>'
            f'<parent link="link_{index}"/><child link="link_{index + 1}"/><axis xyz="0 0 1"/>'
            '</joint>'
        )
    text = f'<robot name="hinges">{"".join(links + joints)}</robot>'
    return ned.Dynamics(ned.load_urdf(text), gravity=GRAVITY, backend=backend)


@pytest.mark.parametrize('n', [3, 11])
@pytest.mark.parametrize('kind', ['nothing to move', 'coincident axes'])
def test_a_singular_mass_matrix_is_refused(n, kind, backend):
    """Without a mass matrix that can be inverted there are no slopes; the error names the joint.

    Either the last link has no mass, or a massless link is between two hinges on one axis.
    """
    if kind == 'nothing to move':
        ours, message = hinges(n, n - 1, False, backend), f'{n - 1}'
    else:
        ours, message = hinges(n, n - 2, True, backend), f'{n - 2}|singular'
    for arguments in ([np.full(n, 0.3)] * 3, [np.full((2, n), 0.3)] * 3):
        assert np.isfinite(ours.inverse_dynamics_derivatives(*arguments)).all()
        for _ in range(2):
            with pytest.raises(ModelError, match=message):
                ours.forward_dynamics_derivatives(*arguments)
            with pytest.raises(ModelError, match=message):
                ours.forward_dynamics(*arguments)
