"""Lists as arguments: the same results and errors as arrays, by the same machine code."""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

LOAD = np.array([1.0, 0.1, 0.0, 0.05, 0.02, 0.0, 0.02, 0.0, 0.0, 0.02])
CALLS = {
    'inverse_dynamics': [(6, 6, 6), (6, 6, 6, 6), (6, 6, 6, None, 9), (6, 6, 6, 6, 9, LOAD)],
    'forward_dynamics': [(6, 6, 6), (6, 6, 6, 6)],
    'bias_torque': [(6, 6)],
    'gravity_torque': [(6,)],
    'mass_matrix': [(6,)],
    'coriolis_matrix': [(6, 6)],
    'forward_kinematics': [(6,)],
    'jacobian': [(6,)],
    'jacobian_rate': [(6, 6)],
    'link_poses': [(6,)],
    'generalized_momentum': [(6, 6)],
    'regressor': [(6, 6, 6)],
    'joint_wrenches': [(6, 6, 6), (6, 6, 6, 6)],
    'inverse_dynamics_derivatives': [(6, 6, 6)],
}


@pytest.fixture(scope='module', params=['python', 'compiled'])
def dynamics(request):
    """Return the dynamics of the shipped arm."""
    if request.param == 'compiled':
        pytest.importorskip('llvmlite', reason='llvmlite is missing')
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return ned.Dynamics(robot, backend=request.param)


@pytest.mark.parametrize(
    ('method', 'shapes'), [(method, one) for method, each in CALLS.items() for one in each]
)
def test_lists_are_answered_as_arrays(dynamics, method, shapes):
    """One sample, a batch, lists among arrays, whole numbers, and arguments that are left out."""
    rng = np.random.default_rng(1)
    single = [
        shape if shape is None or shape is LOAD else rng.normal(size=shape) for shape in shapes
    ]
    for arrays in (
        single,
        [None if one is None else np.round(one) for one in single],
        [None if one is None else np.tile(one, (3, 1)) for one in single],
    ):
        expected = getattr(dynamics, method)(*arrays)
        for first in (0, 1):
            given = [
                one if one is None or place < first else one.tolist()
                for place, one in enumerate(arrays)
            ]
            np.testing.assert_array_equal(getattr(dynamics, method)(*given), expected)


@pytest.mark.parametrize('method', ['inverse_dynamics', 'mass_matrix', 'joint_wrenches'])
def test_lists_do_not_take_the_long_way(dynamics, method, monkeypatch):
    """Once machine code answers, no check of Python's looks at lists, tuples or whole numbers."""
    if dynamics.backend != 'compiled':
        pytest.skip('Python checks all arguments where there is no machine code')
    values = np.random.default_rng(2).uniform(-1.0, 1.0, (len(CALLS[method][0]), 6))
    getattr(dynamics, method)(*values)  # compiles
    call = getattr(dynamics, method)
    whole = np.arange(values.size).reshape(values.shape)
    expected = [call(*values), call(*whole.astype(float)), call(*values[:, np.newaxis])]
    monkeypatch.setattr('ne_dynamics.dynamics.calls.match_samples', None)
    found = [
        call(*values.tolist()),
        call(*map(tuple, whole.tolist())),
        call(*values[:, np.newaxis].tolist()),
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    out = np.empty_like(expected[0])
    assert call(*values.tolist(), out=out) is out
    np.testing.assert_array_equal(out, expected[0])
