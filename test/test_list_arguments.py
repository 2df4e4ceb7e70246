"""Lists as arguments: the answer of the machine code, and the errors that arrays get."""

from __future__ import annotations

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

METHODS = {'inverse_dynamics': 3, 'mass_matrix': 1, 'jacobian': 1, 'joint_wrenches': 3}


@pytest.fixture(scope='module')
def arm():
    """The shipped arm, whose machine code has answered each method."""
    arm = ned.Dynamics(ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'))
    if arm.backend != 'compiled':
        pytest.skip('no compiler (extra fast)')
    for method, count in METHODS.items():
        getattr(arm, method)(*np.zeros((count, arm.n)))
    return arm


@pytest.mark.parametrize('method', METHODS)
def test_lists_are_answered_as_arrays_are(arm, method, monkeypatch):
    """Lists, tuples and whole numbers give the bits of arrays, without the long way of checks."""
    values = np.random.default_rng(2).uniform(-1.0, 1.0, (METHODS[method], arm.n))
    whole = np.arange(METHODS[method] * arm.n).reshape(values.shape)
    call = getattr(arm, method)
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


@pytest.mark.parametrize(
    ('bad', 'message'),
    [
        ([0.0] * 5, r'qd: expected shape \(6,\)'),
        (
            [0.0, np.nan, 0.0, 0.0, 0.0, 0.0],
            r'qd: expected finite numbers, got nan at index \(1,\)',
        ),
        (['1'] * 6, 'qd: expected real numbers, got str'),
        ([[0.0], [0.0, 1.0]], 'qd: expected an array of numbers'),
        ([10**400] * 6, 'qd: expected real numbers, got object'),
        ([True] * 6, 'qd: expected real numbers, got bool'),
    ],
    ids=['short', 'NaN', 'text', 'ragged', 'huge', 'bool'],
)
def test_wrong_lists_are_named(arm, bad, message):
    """What is wrong with a list is said as of an array."""
    for _ in range(2):
        with pytest.raises(InputError, match=message):
            arm.inverse_dynamics([0.0] * 6, bad, [0.0] * 6)
