"""Exponential and hyperbolic tangent in machine code, and how the graph folds them."""

import math

import numpy as np
import pytest

from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.python_kernel import PythonKernel
from ne_dynamics.codegen.source import python_source
from ne_dynamics.codegen.symbols import Graph


def functions(x):
    """Return exponential and hyperbolic tangent of symbols."""
    return [[each.exp() for each in x], [each.tanh() for each in x]]


@pytest.fixture(scope='module')
def kernel(compile_program):
    """Machine code of both functions of one argument."""
    return compile_program(trace('functions', (('x', 1),), (2, 1), functions))[0]


def hard_arguments():
    """Return arguments of every size, both signs, up to where the exponential overflows."""
    rng = np.random.default_rng(6)
    sizes = [1e-8, 1e-3, 0.3, 1.0, 3.0, 25.0, 40.0, 700.0, 746.0]
    parts = [rng.uniform(0.0, size, 300) for size in sizes]
    parts.append(np.exp(rng.uniform(-740.0, 6.0, 600)))
    # Next to odd multiples of ln(2) / 2, where the reduction changes over.
    turns = (np.arange(0, 1000, 7) + 0.5) * math.log(2.0)
    parts += [turns, np.nextafter(turns, 0.0), np.nextafter(turns, 800.0)]
    special = [0.0, 5e-324, 1e-310, 2.3e-308, 1e-16, 40.0, 700.0, 708.4, 709.78, 745.1, 745.2]
    special += [746.0, 1e3, 1e10, 1e60]
    values = np.concatenate([*parts, special])
    values = np.concatenate([values, -values])
    return values[values < 709.78]


def test_both_are_exact_to_the_last_places(kernel):
    """On eight lanes the exponential is off by 2 units of the last place at most, tanh by 4."""
    arguments = hard_arguments()
    computed = kernel.batch(arguments[:, None])[:, :, 0]
    wide = arguments.astype(np.longdouble)  # the C library's, of 64 bits at least
    for found, exact, places in zip(
        computed.T, (np.exp(wide), np.tanh(wide)), (2, 4), strict=True
    ):
        unit = np.spacing(np.abs(exact.astype(float)))
        assert (np.abs(found - exact) <= places * unit).all()


@pytest.mark.parametrize('bad', [709.79, 1e5, math.inf, math.nan])
def test_overflow_and_what_is_no_number_are_not_answered(bad, kernel):
    """Machine code reports a result that is not finite, and inputs that are none."""
    for rows in (1, 8, 9):
        column = np.zeros((rows, 1))
        column[-1] = bad
        assert kernel.batch(column) is None


def test_python_gives_infinity_and_nan_where_math_raises():
    """One sample of generated Python is what a batch is, where the result is not finite."""
    program = trace('both', (('x', 1),), (2,), lambda x: [x[0].exp(), x[0].sqrt()])
    kernel = PythonKernel(program)
    for x in (800.0, -1.0, 2.0):
        single = kernel.single(np.array([x]))
        np.testing.assert_array_equal(single, kernel.batch(np.array([[x], [x]]))[0])
    assert kernel.single(np.array([800.0]))[0] == math.inf
    assert math.isnan(kernel.single(np.array([-1.0]))[1])


# ---- the graph


def test_signs_are_pulled_out_or_kept_as_the_function_wants():
    """The tangent is odd, the magnitude even; exponential and root keep the sign inside."""
    graph = Graph()
    x = graph.input('x1')
    assert repr((-x).tanh()) == repr(-(x.tanh()))
    assert repr((-x).absolute()) == repr(x.absolute())
    assert repr((-x).exp()) != repr(x.exp())
    assert (-x).exp().index == (-x).exp().index

    def function(x):
        return [x[0].exp(), (-x[0]).exp(), (-(x[0] * x[0])).exp(), (-x[0]).sqrt(), (-x[0]).tanh()]

    text = python_source(trace('f', (('x', 1),), (5,), function))
    for expected in ('exp(x1)', 'exp(-x1)', 'exp(-x1*x1)', 'sqrt(-x1)', 'tanh(x1)'):
        assert f' = {expected}\n' in text
