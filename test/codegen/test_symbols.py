"""The tracer: folding changes no value, shares what is equal, and does the same every time."""

import hashlib
import os
import sys

import numpy as np
import pytest
from fresh_python import output_of
from random_expressions import (
    EPSILON,
    GROUPS,
    evaluate,
    random_expressions,
    random_rows,
    reference,
    traced,
)

import ne_dynamics as ned
from ne_dynamics.codegen.differentiation import differentiate, push_forward, substitute
from ne_dynamics.codegen.entry_call import Signature
from ne_dynamics.codegen.llvm.compiler import write_module
from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.programs import trace_function
from ne_dynamics.codegen.python_kernel import PythonKernel
from ne_dynamics.codegen.source import python_source
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Graph, Symbol
from ne_dynamics.shipped import shipped_file

UNITS_IN_LAST_PLACE = 16.0
"""How many of the bounds of :class:`Rounded` two orders of evaluation may be apart."""


def assert_within_rounding(computed, values, bounds):
    """Assert agreement wherever the reference is certain; return the share that is."""
    certain = np.isfinite(bounds) & np.isfinite(values)
    assert computed.shape == values.shape
    allowed = UNITS_IN_LAST_PLACE * EPSILON * np.where(certain, bounds, 0.0) + 1e-300
    deviation = np.where(certain, np.abs(computed - np.where(certain, values, computed)), 0.0)
    worst = np.unravel_index(np.argmax(deviation - allowed), deviation.shape)
    assert (deviation <= allowed).all(), (
        f'sample, expression {worst}: {computed[worst]!r}, expected {values[worst]!r} '
        f'+- {allowed[worst]:.3g}'
    )
    return certain.mean()


# ---- fuzz: folding, text and machine code compute what the expression says


@pytest.mark.parametrize('seed', range(8))
def test_random_expressions_keep_their_value_as_python_source_on_floats_and_arrays(seed):
    expressions = random_expressions(seed, 40)
    rows = random_rows(seed, 9)
    values, bounds = reference(expressions, rows)
    kernel = PythonKernel(traced(expressions))
    batch = kernel.batch(*rows)
    share = assert_within_rounding(batch, values, bounds)
    assert share > 0.6, 'too few expressions with a certain value to mean anything'
    singles = [kernel.single(*[group[k] for group in rows]) for k in range(len(rows[0]))]
    assert_within_rounding(np.array(singles), values, bounds)


@pytest.mark.parametrize('seed', range(100, 103))
def test_random_expressions_keep_their_value_as_machine_code(seed, compile_program):
    """Random expressions, compiled, agree with direct evaluation: batch, rest, single entry."""
    expressions = random_expressions(seed, 24, depth=5)
    rows = random_rows(seed, 19)  # two groups of eight and a rest of three
    values, bounds = reference(expressions, rows)
    # Quotients by zero and sines of huge angles may be refused; whatever can be relied on is not.
    is_sure = np.isfinite(values).all(axis=0) & np.isfinite(bounds).all(axis=0)
    expressions = [e for e, is_one_sure in zip(expressions, is_sure, strict=True) if is_one_sure]
    values, bounds = values[:, is_sure], bounds[:, is_sure]
    kernel, entry = compile_program(traced(expressions))
    share = assert_within_rounding(kernel.batch(*rows), values, bounds)
    assert share > 0.6, 'too few expressions with a certain value to mean anything'
    singles = [entry(*[group[k].copy() for group in rows]) for k in range(len(rows[0]))]
    assert_within_rounding(np.array(singles), values, bounds)


# ---- folding


@pytest.mark.parametrize(
    'function',
    [
        lambda x: x + 0.0,
        lambda x: 0.0 + x,
        lambda x: x - 0.0,
        lambda x: 1.0 * x,
        lambda x: x * 1.0,
        lambda x: x / 1.0,
        lambda x: 1.0 * -(-x + 0.0),
        lambda x: -1.0 * (x * -1.0),
        lambda x: 2.0 * (0.5 * x),
        lambda x: 3.0 * x - 2.0 * x,
        lambda x: +x,
        lambda x: 0.0 - (-x),
    ],
)
def test_what_changes_nothing_leaves_the_symbol(function):
    """Adding zero, multiplying by one and changing the sign twice cost no node."""
    graph = Graph()
    x = graph.input('x')
    result = function(x)
    assert isinstance(result, Symbol)
    assert (result.index, result.negative) == (x.index, False)


@pytest.mark.parametrize('number', [np.float64(2.0), np.float32(2.0), 2, True])
def test_numbers_of_other_types_are_written_as_plain_numbers(number):
    """A NumPy scalar or an int in traced arithmetic reaches the text as a float."""

    def function(x):
        (x,) = x
        return [number * x, x * number, number + x, x - number, x / number, number / x]

    program = trace('numbers', (('x', 1),), (6,), function)
    text = python_source(program)
    assert 'np.' not in text
    assert 'True' not in text
    value = float(number)
    expected = [value * 3.0, 3.0 * value, value + 3.0, 3.0 - value, 3.0 / value, value / 3.0]
    assert PythonKernel(program).single(np.array([3.0])) == pytest.approx(expected, rel=1e-15)


# ---- sharing


@pytest.mark.parametrize(
    ('left', 'right'),
    [
        (lambda a, b: a * b, lambda a, b: b * a),
        (lambda a, b: a + b, lambda a, b: b + a),
        (lambda a, b: a - b, lambda a, b: -(b - a)),
        (lambda a, b: (-a) * b, lambda a, b: a * (-b)),
        (lambda a, b: (-a) * (-b), lambda a, b: a * b),
        (lambda a, b: (-a) + (-b), lambda a, b: -(a + b)),
        (lambda a, b: (-a) + b, lambda a, b: b - a),
        (lambda a, b: -2.0 * a, lambda a, b: -(2.0 * a)),
        (lambda a, b: 2.0 * (3.0 * a), lambda a, b: 6.0 * a),
        (lambda a, b: a + a, lambda a, b: 2.0 * a),
        (lambda a, b: (2.0 * a) * (3.0 * b), lambda a, b: 6.0 * (a * b)),
        (lambda a, b: (-a) / b, lambda a, b: a / (-b)),
        (lambda a, b: (-a).sin(), lambda a, b: -(a.sin())),
        (lambda a, b: (-a).cos(), lambda a, b: a.cos()),
        (lambda a, b: (-a).sign(), lambda a, b: -(a.sign())),
        (lambda a, b: (a - b).sin(), lambda a, b: -((b - a).sin())),
    ],
)
def test_equal_expressions_are_one_node_with_one_sign(left, right):
    """Expressions that differ in order or in where the sign is written are the same symbol."""
    graph = Graph()
    a, b = graph.input('a'), graph.input('b')
    first, second = left(a, b), right(a, b)
    assert (first.index, first.negative) == (second.index, second.negative)
    # The second way of writing it adds nothing that is computed.
    assert graph.count([first, second]) == graph.count([first])


# ---- counts


# ---- derivatives


def _smooth(expression):
    """Whether an expression has no sign and no magnitude in it."""
    if isinstance(expression, float) or expression[0] == 'input':
        return True
    return expression[0] not in ('sign', 'abs') and all(_smooth(part) for part in expression[1:])


def test_derivatives_of_random_expressions_agree_with_complex_steps():
    step = 1e-30
    checked = 0
    names = [(group, k) for group, (_, size) in enumerate(GROUPS) for k in range(size)]
    for seed in range(6):
        expressions = [e for e in random_expressions([7, seed], 25, depth=4) if _smooth(e)]
        rows = random_rows(seed, 3)
        _, bounds = reference(expressions, rows)

        def slopes(*inputs, expressions=expressions):
            outputs = [evaluate(expression, inputs) for expression in expressions]
            return differentiate(outputs, [inputs[group][k] for group, k in names])

        program = trace('slopes', GROUPS, (len(expressions), len(names)), slopes)
        computed = PythonKernel(program).batch(*rows)
        for column, (group, k) in enumerate(names):
            inputs = [list(part.T + 0j) for part in rows]
            inputs[group][k] = inputs[group][k] + 1j * step
            shifted = [np.imag(evaluate(each, inputs)) / step for each in expressions]
            expected = np.stack([np.broadcast_to(each, 3) for each in shifted], axis=1)
            usable = np.isfinite(bounds) & (bounds < 1e6)
            error = np.abs(computed[:, :, column] - expected)
            error /= 1.0 + np.abs(expected) + np.where(usable, bounds, 0.0)
            assert (error[usable] < 1e-10).all()
            checked += int(usable.sum())
    assert checked > 500


def assert_same_twice(compute):
    """Assert that what a function makes of expressions and inputs is the same, in two ways."""
    for seed in range(6):
        expressions = [e for e in random_expressions([8, seed], 25, depth=4) if _smooth(e)]
        program = trace(
            'both',
            GROUPS,
            (2, len(expressions)),
            lambda *inputs, expressions=expressions: compute(expressions, *inputs),
        )
        found, expected = np.moveaxis(PythonKernel(program).batch(*random_rows(seed, 5)), 1, 0)
        usable = np.isfinite(expected) & (np.abs(expected) < 1e6)
        assert usable.mean() > 0.5
        error = np.abs(found - expected)[usable] / (1.0 + np.abs(expected[usable]))
        assert error.max() < 1e-9


def test_a_directional_derivative_is_the_product_of_slopes_and_direction():
    def compute(expressions, q, qd):
        outputs = [evaluate(expression, (q, qd)) for expression in expressions]
        directions = [qd[0], 0.5, -q[1], 0.0, q[2] * qd[1]]
        products = [
            sum(slope * direction for slope, direction in zip(slopes, directions, strict=True))
            for slopes in differentiate(outputs, [*q, *qd])
        ]
        return [push_forward(outputs, [*q, *qd], directions), products]

    assert_same_twice(compute)
    assert push_forward([3.0], [], []) == [0.0]


def test_what_is_substituted_is_computed_as_if_it_had_been_there():
    def compute(expressions, q, qd):
        placeholders = q[0].graph.inputs('placeholder', 3)
        values = [qd[0] * q[0], -q[1], 0.25]
        before, direct = (
            [evaluate(each, (some, qd)) for each in expressions] for some in (placeholders, values)
        )
        put = substitute(before, placeholders, values)
        live = q[0].graph.live(put)
        assert not {each.index for each in placeholders} & set(live)
        return [put, direct]

    assert_same_twice(compute)
    assert substitute([3.0], [], []) == [3.0]


# ---- the same text every time


def digest_of_texts():
    """Return a hash of the source and the LLVM text of random expressions and a shipped robot."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    subject = Subject(robot, (0.0, 0.0, -9.81), 1e-12)
    texts = []
    for program in [
        traced(random_expressions(3, 20)),
        *[
            trace_function(subject, name)
            for name in ('inverse_dynamics', 'mass_matrix', 'coriolis_matrix', 'regressor')
        ],
    ]:
        texts += [python_source(program), write_module(program, Signature.of(program))]
    return hashlib.sha256('\n'.join(texts).encode()).hexdigest()


def test_traces_are_the_same_text_in_every_process():
    """A second trace, and traces of processes with other hash seeds, are equal byte for byte."""
    expected = digest_of_texts()
    assert digest_of_texts() == expected
    here = os.path.dirname(__file__)
    places = os.pathsep.join([here, os.path.join(here, '..', 'support'), *sys.path])
    for hash_seed in ('0', '4242'):
        found = output_of(
            'import test_symbols\nprint(test_symbols.digest_of_texts())',
            PYTHONHASHSEED=hash_seed,
            PYTHONPATH=places,
        )
        assert found.strip() == expected
