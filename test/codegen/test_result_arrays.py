"""The argument `out`: the result in an array of the caller."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from method_tables import ALL_CALLS

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

METHODS = {**ALL_CALLS, 'regressor_gradient': ('q', 'qd', 'qdd', 'weights')}

OTHERS = {'computed_torque', 'feedforward_pd', 'control_effort', 'disturbance_residuals'}
"""Tested where the control laws are."""

BACKENDS = ['python', 'compiled']


@pytest.fixture(scope='module')
def arms(session_cache):
    """Dynamics of the shipped arm by backend; with the code that test_compiled.py needs too."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('NE_DYNAMICS_CACHE', str(session_cache))
        return {
            name: ned.Dynamics(robot, gravity=(0.3, -0.2, -9.80665), backend=backend)
            for name, backend in (('python', 'python'), ('compiled', 'auto'))
        }


@pytest.fixture(params=BACKENDS)
def arm(request, arms):
    """Dynamics on one backend; skips where there is no compiler."""
    if arms[request.param].backend != request.param:
        pytest.skip('a compiler (llvmlite 0.45 or newer) is not installed')
    return arms[request.param]


def arguments_of(method, size=None):
    """Return random arguments of a method: a list of arrays."""
    rng = np.random.default_rng(len(method))
    widths = {'wrench': 6, 'base_motion': 9, 'payload': 10, 'weights': 6 * 60}
    arguments = [
        rng.uniform(-1.0, 1.0, (size or 1, widths.get(name, 6)))[
            0 if size is None else slice(None)
        ]
        for name in METHODS[method]
    ]
    if 'weights' in METHODS[method]:
        arguments[-1] = arguments[-1].reshape(*arguments[-1].shape[:-1], 6, 60)
    return arguments


def test_every_method_that_computes_takes_out():
    """What takes positions or velocities and returns arrays has it, by name only."""
    for name, method in inspect.getmembers(ned.Dynamics, inspect.isfunction):
        parameters = inspect.signature(method).parameters
        if not name.startswith('_') and name != 'rounding_bound' and {'q', 'qd'} & set(parameters):
            assert parameters['out'].kind is inspect.Parameter.KEYWORD_ONLY, name
            assert name in {method.split()[0] for method in METHODS} | OTHERS, name


@pytest.mark.kept(8)
@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('size', [None, 0, 1, 9, 40])
def test_the_result_is_written_into_out(method, size, arm):
    """What is returned is `out` itself, with the very numbers of a call without it."""
    function = method.split()[0]
    arguments = arguments_of(method, size)
    keywords = {'payload': arguments.pop()} if method.endswith('with payload') else {}
    expected = np.asarray(getattr(arm, function)(*arguments, **keywords))
    for turn in range(3):
        out = np.full(expected.shape, np.nan)
        result = getattr(arm, function)(*arguments, out=out, **keywords)
        assert result is out, turn
        np.testing.assert_array_equal(out, expected)
    row = np.full((3, *expected.shape), np.nan)
    getattr(arm, function)(*arguments, out=row[1, ...], **keywords)
    np.testing.assert_array_equal(row[1], expected)
    assert np.isnan(row[[0, 2]]).all()


BAD = {
    'a list': (lambda shape: np.zeros(shape).tolist(), 'expected an array, got list'),
    'float32': (lambda shape: np.zeros(shape, np.float32), 'expected dtype float64, got float32'),
    'integers': (lambda shape: np.zeros(shape, int), 'expected dtype float64, got int64'),
    'byte order': (lambda shape: np.zeros(shape, '>f8'), 'expected dtype float64, got >f8'),
    'a larger one': (lambda shape: np.zeros((*shape, 1)), 'expected shape'),
    'another length': (lambda shape: np.zeros((shape[0] + 1, *shape[1:])), 'expected shape'),
    'read-only': (lambda shape: _frozen(np.zeros(shape)), 'read-only'),
    'strided': (lambda shape: np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2], 'not contiguous'),
    'unaligned': (lambda shape: _unaligned(shape), 'not aligned'),
    'masked': (lambda shape: np.ma.zeros(shape), 'expected an array, got MaskedArray'),
}


def _frozen(array):
    array.setflags(write=False)
    return array


def _unaligned(shape):
    size = int(np.prod(shape))
    return np.zeros(8 * size + 8, np.uint8)[1 : 8 * size + 1].view(np.float64).reshape(shape)


@pytest.mark.parametrize('kind', BAD)
@pytest.mark.parametrize('size', [None, 9])
@pytest.mark.parametrize('method', ['inverse_dynamics', 'mass_matrix', 'friction_torque'])
def test_an_array_that_cannot_take_the_result_is_refused(kind, size, method, arm):
    """The error says what was expected of `out`; nothing is written into it."""
    make, message = BAD[kind]
    arguments = arguments_of(method, size)
    shape = getattr(arm, method)(*arguments).shape
    out = make(shape)
    before = np.array(out)
    for _ in range(2):
        with pytest.raises(InputError, match=f'^out: .*{message}'):
            getattr(arm, method)(*arguments, out=out)
        np.testing.assert_array_equal(np.array(out), before)


@pytest.mark.parametrize('size', [None, 9])
@pytest.mark.parametrize('method', ['gravity_torque', 'inverse_dynamics', 'friction_torque'])
def test_a_result_over_an_argument_is_refused(method, size, arm):
    """An array that overlaps an argument would be read after it was written."""
    arguments = arguments_of(method, size)
    getattr(arm, method)(*arguments)
    for index, argument in enumerate(arguments):
        before = argument.copy()
        with pytest.raises(InputError, match='overlaps an argument'):
            getattr(arm, method)(*arguments, out=argument)
        np.testing.assert_array_equal(argument, before)
        memory = np.zeros(argument.size + 8)
        moved = memory[3 : 3 + argument.size].reshape(argument.shape)
        moved[...] = argument
        shifted = memory[5 : 5 + argument.size].reshape(argument.shape)
        changed = [*arguments[:index], moved, *arguments[index + 1 :]]
        with pytest.raises(InputError, match='overlaps an argument'):
            getattr(arm, method)(*changed, out=shifted)
        np.testing.assert_array_equal(moved, before)
        # Side by side is apart.
        beside = np.zeros(2 * argument.size)
        left, right = (part.reshape(argument.shape) for part in np.split(beside, 2))
        left[...] = argument
        changed = [*arguments[:index], left, *arguments[index + 1 :]]
        expected = getattr(arm, method)(*arguments)
        np.testing.assert_array_equal(getattr(arm, method)(*changed, out=right), expected)
