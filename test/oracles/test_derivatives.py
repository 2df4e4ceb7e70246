"""Derivatives of both dynamics under every load: Pinocchio, differences, and identities."""

import numpy as np
import pytest
from calling_forms import call_in_every_form, under_wrenches
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases
from random_inertias import random_inertia
from rotor_trees import rotor_dynamics, rotor_oracle
from urdf_text import joint_xml, link_xml, robot_xml

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


def motion_of(seed, n):
    """Return a random motion with velocities away from zero, where Coulomb friction jumps."""
    sample = random_motion(seed, ROWS, n)
    return sample.q, sample.qd + 0.1 * np.sign(sample.qd), sample.qdd


def draw_wrenches(robot, rng):
    """Return wrenches on half of all links, the base and one that is fixed among them."""
    names = [link.name for link in robot.links]
    moving = {body.name for body in robot.bodies}
    chosen = {robot.base_link, *names[::2], [each for each in names if each not in moving][-1]}
    return {name: rng.uniform(-10.0, 10.0, (ROWS, 6)) for name in sorted(chosen)}


@pytest.mark.kept(12)
@every_tree
@pytest.mark.parametrize('load', ['nothing', 'wrench', 'payload', 'wrenches on links'])
def test_derivatives_of_trees_against_pinocchio(tree, load, backend, assert_agree):
    """With rotors, friction and mimic joints, under loads that are constant in their own axes.

    They are computeRNEADerivatives and computeABADerivatives, or -M^-1 dtau/dx. The latter are
    compared through the mass matrix, which takes out what the conditioning of the robot puts in:
    each part times the mass matrix is measured against the size of the terms of that product.
    """
    ours, oracle = rotor_dynamics(*tree, backend), rotor_oracle(*tree)
    rng = np.random.default_rng(tree[0])
    motion = motion_of(tree[0], ours.n)
    wrench = payload = None
    on_links = draw_wrenches(ours.robot, rng) if load == 'wrenches on links' else {}
    if load == 'wrench':
        wrench = rng.normal(0.0, 10.0, (ROWS, 6))
    if load == 'payload':
        carried = random_inertia(rng)
        payload = np.tile(carried.parameters, (ROWS, 1))
        oracle.add_payload(carried.mass, carried.center_of_mass, carried.inertia_about_com)
    rows = [
        (
            *[each[row] for each in motion],
            None if wrench is None else wrench[row],
            {name: values[row] for name, values in on_links.items()},
        )
        for row in range(ROWS)
    ]
    inverse = [oracle.inverse_dynamics_derivatives(*row) for row in rows]
    tau = np.array(
        [
            oracle.inverse_dynamics(*row[:4], None, row[4]) + oracle.friction_torque(row[1])
            for row in rows
        ]
    )
    given = wrench, None, payload, *on_links.values()

    def in_every_form(method, *three):
        method = under_wrenches(method, on_links, first=6) if on_links else method
        forms = call_in_every_form(method, *three, *given, axis=1)
        assert all(found.shape == (3, ROWS, ours.n, ours.n) for found in forms.values())
        return [(form, found[:, row], row) for form, found in forms.items() for row in range(ROWS)]

    quantity = 'inverse_dynamics_derivatives'
    for form, found, row in in_every_form(ours.inverse_dynamics_derivatives, *motion):
        for part, ones, right in zip(PARTS[quantity], found, inverse[row], strict=True):
            scale = max(np.abs(right).max(), 1e-3 * np.abs(inverse[row][0]).max())
            assert_agree('random trees', f'{part} ({form})', ones, right, scale, 1e-9)
    quantity = 'forward_dynamics_derivatives'
    for form, found, row in in_every_form(ours.forward_dynamics_derivatives, *motion[:2], tau):
        by_q, by_qd, mass = inverse[row]
        right = np.linalg.solve(mass, np.array([-by_q, -by_qd, np.eye(ours.n)]))
        if load == 'nothing' and not oracle.has_mimics:
            right = oracle.forward_dynamics_derivatives(motion[0][row], motion[1][row], tau[row])
        sizes = [(np.abs(mass) @ np.abs(each)).max() for each in right]
        for part, ones, matrix, size in zip(PARTS[quantity], found, right, sizes, strict=True):
            deviation = mass @ (ones - matrix)
            scale = max(size, 1e-3 * sizes[0])
            zero = np.zeros_like(deviation)
            assert_agree('random trees', f'{part} ({form})', deviation, zero, scale, 1e-9)


@pytest.mark.kept(4)
@every_tree
def test_derivatives_under_all_loads_are_differences(tree, backend):
    """With wrench, moving base, payload and wrenches on links they are those of the efforts."""
    ours = rotor_dynamics(*tree, backend)
    rng = np.random.default_rng(tree[0])
    motion = [each[0] for each in motion_of(tree[0], ours.n)]
    loads = {
        'wrench': rng.normal(0.0, 10.0, 6),
        'base_motion': rng.normal(0.0, 1.0, 9),
        'payload': random_inertia(rng).parameters,
        'external_wrenches': {ours.link_names[-1]: rng.normal(0.0, 10.0, 6)},
    }
    tau = ours.inverse_dynamics(*motion, **loads)
    by_q, by_qd, matrix = parts = ours.inverse_dynamics_derivatives(*motion, **loads)
    for place, part in enumerate(parts):
        for joint, step in enumerate(1e-5 * np.eye(ours.n)):
            ends = []
            for sign in (1.0, -1.0):
                moved = list(motion)
                moved[place] = motion[place] + sign * step
                ends.append(ours.inverse_dynamics(*moved, **loads))
            scale = max(np.abs(part).max(), np.abs(tau).max())
            difference = (ends[0] - ends[1]) / 2e-5
            np.testing.assert_allclose(part[:, joint], difference, rtol=0, atol=1e-6 * scale)
    found = ours.forward_dynamics_derivatives(*motion[:2], tau, **loads)
    for one, right in zip(found, (-by_q, -by_qd, np.eye(ours.n)), strict=True):
        np.testing.assert_allclose(matrix @ one, right, rtol=0, atol=1e-7 * np.abs(right).max())


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
    links, joints = ['0'], []
    for index in range(n):
        name = str(index + 1)
        own = link_xml(name, 1, '0.3 0 0', moments=(0.1, 0.1, 0.1))
        links.append(name if index == massless else own)
        step = 0.0 if coincident and index == massless + 1 else 0.4
        joints.append(
            joint_xml(f'joint_{index}', str(index), name, 'continuous', xyz=f'{step} 0 0')
        )
    return ned.Dynamics(ned.load_urdf(robot_xml(*links, *joints)), GRAVITY, backend)


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
        for method in (ours.forward_dynamics_derivatives, ours.forward_dynamics):
            for _ in range(2):
                with pytest.raises(ModelError, match=message):
                    method(*arguments)
