"""The adjoint of the regressor."""

from __future__ import annotations

import numpy as np
import pytest
from excitation_arm import make_urdf

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file


@pytest.fixture(params=['small', 'puma'])
def dynamics(request, backend):
    """Return dynamics of an arm with hinges and a slide, or of a Puma 560 by its DH file."""
    puma = shipped_file('puma560_standard_dh.yaml')
    robot = ned.load_urdf(make_urdf()) if request.param == 'small' else ned.load_dh(puma)
    return ned.Dynamics(robot, backend=backend)


@pytest.mark.kept(2)
def test_it_is_the_gradient_of_a_weighted_sum(dynamics):
    """By differences of the regressor; with weights l_i p_j it is that of l @ efforts."""
    rng = np.random.default_rng(1)
    motion = rng.uniform(-1.5, 1.5, (3, 20, dynamics.n))
    weights = rng.normal(size=dynamics.regressor(*motion).shape)
    gradient = dynamics.regressor_gradient(*motion, weights)
    assert gradient.shape == (3, 20, dynamics.n)
    for order in range(3):
        for joint in range(dynamics.n):
            shift = np.zeros_like(motion)
            shift[order, :, joint] = 1e-6
            ahead, behind = (
                (dynamics.regressor(*(motion + s * shift)) * weights).sum(axis=(1, 2))
                for s in (1.0, -1.0)
            )
            np.testing.assert_allclose(
                gradient[order, :, joint], (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-6
            )
    single = dynamics.regressor_gradient(*motion[:, 3], weights[3])
    np.testing.assert_allclose(single, gradient[:, 3], rtol=1e-12, atol=1e-12)
    rigid = ned.Dynamics(dynamics.robot.without_friction(), backend='python')
    rigid = rigid.with_parameters(rotor_inertia=np.zeros(rigid.n))
    factors = rng.normal(size=(20, dynamics.n))
    weights = factors[:, :, np.newaxis] * dynamics.inertial_parameters()
    expected = np.einsum('si,ksij->ksj', factors, rigid.inverse_dynamics_derivatives(*motion))
    found = dynamics.regressor_gradient(*motion, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_wrong_arguments_are_named():
    dynamics = ned.Dynamics(ned.load_urdf(make_urdf()), backend='python')
    rest = np.zeros(4)
    with pytest.raises(InputError, match=r'weights: expected shape \(4, 40\) or \(N, 4, 40\)'):
        dynamics.regressor_gradient(rest, rest, rest, np.zeros((4, 10)))
    with pytest.raises(InputError, match='weights: expected finite numbers, got nan'):
        dynamics.regressor_gradient(rest, rest, rest, np.full((4, 40), np.nan))
