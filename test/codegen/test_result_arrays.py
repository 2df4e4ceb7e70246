"""The argument `out`: the result in an array of the caller."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

METHODS = {'inverse_dynamics': 3, 'mass_matrix': 1, 'gravity_torque': 1, 'friction_torque': 1}
"""Methods that are tried, with the number of their arguments."""


@pytest.fixture
def arm(backend):
    """Dynamics on one backend; with the code that test_compiled.py needs too."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    return ned.Dynamics(robot, gravity=(0.3, -0.2, -9.80665), backend=backend)


def arguments_of(method, size=None):
    """Return random arguments of a method: a list of arrays."""
    shape = (METHODS[method], 6) if size is None else (METHODS[method], size, 6)
    return list(np.random.default_rng(len(method)).uniform(-1.0, 1.0, shape))


def test_every_method_that_computes_takes_out():
    """What takes positions or velocities and returns arrays has it, by name only."""
    for name, method in inspect.getmembers(ned.Dynamics, inspect.isfunction):
        parameters = inspect.signature(method).parameters
        if not name.startswith('_') and name != 'rounding_bound' and {'q', 'qd'} & set(parameters):
            assert parameters['out'].kind is inspect.Parameter.KEYWORD_ONLY, name


def freeze(array):
    """Return an array that nobody may write to."""
    array.setflags(write=False)
    return array


def shift_by_a_byte(shape):
    """Return an array one byte off the places of its numbers."""
    size = int(np.prod(shape))
    return np.zeros(8 * size + 8, np.uint8)[1 : 8 * size + 1].view(np.float64).reshape(shape)


BAD = {
    'a list': (lambda shape: np.zeros(shape).tolist(), 'expected an array, got list'),
    'float32': (lambda shape: np.zeros(shape, np.float32), 'expected dtype float64, got float32'),
    'integers': (lambda shape: np.zeros(shape, int), 'expected dtype float64, got int64'),
    'byte order': (lambda shape: np.zeros(shape, '>f8'), 'expected dtype float64, got >f8'),
    'a larger one': (lambda shape: np.zeros((*shape, 1)), 'expected shape'),
    'another length': (lambda shape: np.zeros((shape[0] + 1, *shape[1:])), 'expected shape'),
    'read-only': (lambda shape: freeze(np.zeros(shape)), 'read-only'),
    'strided': (lambda shape: np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2], 'not contiguous'),
    'unaligned': (shift_by_a_byte, 'not aligned'),
    'masked': (lambda shape: np.ma.zeros(shape), 'expected an array, got MaskedArray'),
}


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
    """An array that overlaps an argument would be read after it was written; beside is apart."""
    arguments = arguments_of(method, size)
    expected = getattr(arm, method)(*arguments)
    for index, argument in enumerate(arguments):
        count = argument.size
        for shift in (0, 2, count):
            memory = np.zeros(2 * count)
            moved, out = (
                memory[start : start + count].reshape(argument.shape) for start in (0, shift)
            )
            moved[...] = argument
            changed = [*arguments[:index], moved, *arguments[index + 1 :]]
            if shift == count:
                np.testing.assert_array_equal(getattr(arm, method)(*changed, out=out), expected)
            else:
                with pytest.raises(InputError, match='overlaps an argument'):
                    getattr(arm, method)(*changed, out=out)
            np.testing.assert_array_equal(moved, argument)
