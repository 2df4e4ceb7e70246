"""Mass matrix, Coriolis coefficients, energies, forward dynamics and the twist-shaping matrix."""

from __future__ import annotations

import numpy as np
import orthogonal_complement as complement
import pytest
from arm_energies import kinetic_energy, potential_energy
from arm_motion import forward_dynamics, frame_poses, outward_motion
from formulation_cases import (
    GENERAL,
    GRAVITY,
    TOLERANCE,
    arm_for,
    random_motion,
    relative_error,
)

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.papers.forms import FORMULATIONS, lagrange_euler, strobing
from ne_dynamics.papers.forms.transform_derivatives import ChainTransforms

SEEDS = range(16)


def case(seed, name='luh_walker_paul', **options):
    """Return a random arm of 1 to 8 joints and a motion of it."""
    rng = np.random.default_rng([7, seed])
    n = 1 + seed % 8
    return arm_for(name, rng, n, **options), random_motion(rng, n)


@pytest.mark.parametrize('seed', SEEDS)
def test_mass_matrices_are_equal_symmetric_and_positive_definite(seed):
    """M by strobing any form, D of Lagrange and I of the orthogonal complement are one matrix,
    symmetric and positive definite, and Pinocchio's.
    """
    from pinocchio_arm import PinocchioArm

    arm, motion = case(seed)
    expected = PinocchioArm(arm, GRAVITY).mass_matrix(motion.q)
    matrices = [
        lagrange_euler.mass_matrix(arm, ChainTransforms(arm, motion.q)),
        complement.generalized_inertia_matrix(arm, motion.q),
        *(
            strobing.mass_matrix(arm, motion.q, FORMULATIONS[name].inverse_dynamics)
            for name in GENERAL
        ),
    ]
    for matrix in map(np.array, matrices):
        assert relative_error(matrix, expected) <= TOLERANCE
        assert (matrix == matrix.T).all()
        assert np.linalg.eigvalsh(matrix).min() > 0.0


@pytest.mark.parametrize('seed', SEEDS)
def test_columns_of_m_are_symmetric_without_being_mirrored(seed):
    """The recursion's own columns of M are symmetric to round-off: nothing is hidden by using
    one triangle.
    """
    arm, motion = case(seed)
    rigid, zeros = arm.rigid(), [0.0] * arm.n
    function = FORMULATIONS['luh_walker_paul'].inverse_dynamics
    columns = [
        function(rigid, motion.q, zeros, unit, gravity=(0.0, 0.0, 0.0))
        for unit in np.eye(arm.n).tolist()
    ]
    matrix = np.array(columns)
    assert relative_error(matrix, matrix.T) <= 1e-12


@pytest.mark.parametrize('seed', SEEDS)
def test_velocity_coefficients_by_strobing_are_those_of_lagrange(seed):
    """C^i_jk by strobing, with the pure squares subtracted, equals h_ijk of Lagrange."""
    arm, motion = case(seed)
    transforms = ChainTransforms(arm, motion.q)
    strobed = np.array(strobing.velocity_coefficients(arm, motion.q))
    derived = np.array(lagrange_euler.velocity_coefficients(arm, transforms))
    inertia = lagrange_euler.mass_matrix(arm, transforms)
    scale = max(np.abs(derived).max(), np.abs(inertia).max())
    assert relative_error(strobed, derived, scale) <= TOLERANCE
    assert (strobed == strobed.transpose(0, 2, 1)).all()


def test_one_run_with_two_unit_rates_mixes_three_coefficients():
    """The effort of qd_j = qd_k = 1 is C_jj + C_kk + 2 C_jk, which the source takes for C_jk."""
    arm, motion = case(5, prismatic=0.0)
    coefficients = np.array(
        lagrange_euler.velocity_coefficients(arm, ChainTransforms(arm, motion.q))
    )
    zeros = [0.0] * arm.n
    function = FORMULATIONS['luh_walker_paul'].inverse_dynamics
    rates = [1.0, 1.0] + [0.0] * (arm.n - 2)
    run = function(arm.rigid(), motion.q, rates, zeros, gravity=(0.0, 0.0, 0.0))
    mixed = coefficients[:, 0, 0] + coefficients[:, 1, 1] + 2.0 * coefficients[:, 0, 1]
    assert relative_error(run, mixed) <= TOLERANCE
    assert relative_error(run, coefficients[:, 0, 1]) > 0.1


@pytest.mark.parametrize('seed', SEEDS)
def test_md_minus_2c_is_skew(seed):
    """With C from the strobed Christoffel coefficients, Md - 2C is skew; Md by central
    differences along the motion.
    """
    arm, motion = case(seed)
    q, qd = np.array(motion.q), np.array(motion.qd)
    step = 1e-4
    # Fourth order, so that the difference quotient is good to 1e-10 or so.
    near, far = (
        np.array(strobing.mass_matrix(arm, (q + h * qd).tolist()))
        - np.array(strobing.mass_matrix(arm, (q - h * qd).tolist()))
        for h in (step, 2.0 * step)
    )
    rate = (8.0 * near - far) / (12.0 * step)
    coriolis = np.array(strobing.coriolis_matrix(arm, motion.q, motion.qd))
    residual = rate - 2.0 * coriolis
    scale = np.abs(strobing.mass_matrix(arm, motion.q)).max()
    assert relative_error(residual, -residual.T, scale) <= 1e-8


@pytest.mark.parametrize('seed', SEEDS)
def test_terms_add_up_to_the_inverse_dynamics(seed):
    """M qdd + C qd + G + friction is the effort, for Dynamics' terms as for the strobed ones."""
    arm, motion = case(seed)
    dynamics = ned.Dynamics(arm.robot(), gravity=GRAVITY, backend='python')
    expected = dynamics.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    coriolis = np.array(strobing.coriolis_matrix(arm, motion.q, motion.qd))
    computed = (
        np.array(strobing.mass_matrix(arm, motion.q)) @ motion.qdd
        + coriolis @ motion.qd
        + strobing.gravity_torque(arm, motion.q, gravity=GRAVITY)
        + dynamics.friction_torque(motion.qd)
    )
    assert relative_error(computed, expected) <= TOLERANCE
    assert (
        relative_error(
            coriolis, dynamics.coriolis_matrix(motion.q, motion.qd), np.abs(expected).max()
        )
        <= TOLERANCE
    )


@pytest.mark.parametrize('seed', range(40))
def test_three_forward_dynamics_agree_with_aba(seed):
    """The orthogonal complement, strobing with Cholesky and Pinocchio's articulated bodies give
    one acceleration, with friction and tip wrench.
    """
    from pinocchio_arm import PinocchioArm

    arm, motion = case(seed)
    rng = np.random.default_rng(seed)
    tau = rng.uniform(-50.0, 50.0, arm.n).tolist()
    state = arm, motion.q, motion.qd, tau
    more = {'gravity': GRAVITY, 'wrench': motion.wrench}
    expected = PinocchioArm(arm, GRAVITY).forward_dynamics(*state[1:], wrench=motion.wrench)
    assert relative_error(complement.forward_dynamics(*state, **more), expected) <= TOLERANCE
    assert relative_error(forward_dynamics(*state, **more), expected) <= TOLERANCE


@pytest.mark.parametrize('name', FORMULATIONS)
def test_forward_dynamics_undoes_the_inverse(name):
    """Strobing any form, forward dynamics returns the acceleration that inverse dynamics took."""
    function = FORMULATIONS[name].inverse_dynamics
    for seed in range(8):
        arm, motion = case(seed, name)
        more = {'gravity': GRAVITY, 'wrench': motion.wrench}
        tau = function(arm, motion.q, motion.qd, motion.qdd, **more)
        found = forward_dynamics(arm, motion.q, motion.qd, tau, formulation=function, **more)
        assert relative_error(found, motion.qdd) <= TOLERANCE


def test_bias_is_the_effort_at_zero_acceleration():
    """The bias of the orthogonal complement is the recursion's effort without acceleration."""
    for seed in SEEDS:
        arm, motion = case(seed)
        more = {'gravity': GRAVITY, 'wrench': motion.wrench}
        expected = FORMULATIONS['luh_walker_paul'].inverse_dynamics(
            arm, motion.q, motion.qd, [0.0] * arm.n, **more
        )
        computed = complement.bias(arm, motion.q, motion.qd, **more)
        assert relative_error(computed, expected) <= TOLERANCE


@pytest.mark.parametrize('seed', SEEDS)
def test_twist_shaping_matrix_gives_the_twists(seed):
    """T qd has the velocities of the mass centres (by differences of their positions) and the
    angular velocities of the recursion.
    """
    arm, motion = case(seed, base_and_tool=False)
    q, qd = np.array(motion.q), np.array(motion.qd)
    twists = (np.array(complement.twist_shaping_matrix(arm, motion.q)) @ qd).reshape(arm.n, 6)

    def centers(position):
        poses = frame_poses(arm, position.tolist())[1:]
        return np.array(
            [
                pose.rotation @ link.center_of_mass + pose.translation
                for pose, link in zip(poses, arm.links, strict=True)
            ]
        )

    step = 1e-5
    velocities = (centers(q + step * qd) - centers(q - step * qd)) / (2.0 * step)
    assert relative_error(twists[:, 3:], velocities, 1.0) <= 1e-7
    outward = outward_motion(arm, motion.q, motion.qd, motion.qdd, gravity=GRAVITY)
    poses = frame_poses(arm, motion.q)[1:]
    rotations = [pose.rotation for pose in poses]
    for index, rotation in enumerate(rotations):
        assert relative_error(rotation @ outward[index].w, twists[index, :3], 1.0) <= 1e-12
        assert relative_error(rotation @ outward[index].cd, twists[index, 3:], 1.0) <= 1e-12
        assert relative_error(rotation @ outward[index].c, centers(q)[index], 1.0) <= 1e-12


@pytest.mark.parametrize('seed', SEEDS)
def test_twist_shaping_matrix_is_a_complement_of_the_constraints(seed):
    """K T = 0, and T spans all of the null space of K, whose dimension is the number of joints."""
    arm, motion = case(seed)
    shaping = np.array(complement.twist_shaping_matrix(arm, motion.q), dtype=float)
    constraints = np.array(complement.constraint_matrix(arm, motion.q), dtype=float)
    assert constraints.shape == (6 * arm.n, 6 * arm.n)
    assert np.abs(constraints @ shaping).max() <= 1e-12
    assert np.linalg.matrix_rank(shaping) == arm.n
    assert np.linalg.matrix_rank(constraints) == 5 * arm.n


@pytest.mark.parametrize('seed', SEEDS)
def test_energies_are_those_of_pinocchio(seed):
    """Kinetic energy equals Pinocchio's, and so do differences of potential energy."""
    from pinocchio_arm import PinocchioArm

    arm, motion = case(seed)
    oracle = PinocchioArm(arm, GRAVITY)
    kinetic, potential = oracle.energy(motion.q, motion.qd)
    assert relative_error([kinetic_energy(arm, motion.q, motion.qd)], [kinetic]) <= (TOLERANCE)
    zeros = [0.0] * arm.n
    expected = potential - oracle.energy(zeros, zeros)[1]
    computed = potential_energy(arm, motion.q, gravity=GRAVITY) - potential_energy(
        arm, zeros, gravity=GRAVITY
    )
    assert computed == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_cholesky_solves_and_refuses_what_is_not_positive_definite():
    """The factors solve a positive definite system; another one is refused with its pivot."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    matrix, right = root @ root.T + np.eye(5), rng.normal(size=5)
    solved = strobing.solve_by_cholesky(matrix.tolist(), right.tolist())
    assert relative_error(solved, np.linalg.solve(matrix, right)) <= 1e-12
    with pytest.raises(ModelError, match=r'index 1: expected a positive definite.*pivot -3'):
        strobing.solve_by_cholesky([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0])
