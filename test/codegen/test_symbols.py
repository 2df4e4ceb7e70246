"""The tracer: folding changes no value, shares what is equal, and does the same every time."""

import ast
import hashlib
import os

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
from ne_dynamics.algorithms.scalars.elementary import cos, sign, sin
from ne_dynamics.codegen.cache import ObjectCache
from ne_dynamics.codegen.differentiation import differentiate, push_forward, substitute
from ne_dynamics.codegen.entry_call import Owner, Signature
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


def one(function, *names):
    """Trace a function of one-letter inputs; return what it returns."""
    graph = Graph()
    return function(*[graph.input(name) for name in names])


def count(function, *names):
    """Return (multiplications, additions, functions) of a function of inputs."""
    graph = Graph()
    result = function(*[graph.input(name) for name in names])
    outputs = result if isinstance(result, list) else [result]
    counts = graph.count(outputs)
    return counts.multiplications, counts.additions, counts.functions


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
def test_random_expressions_keep_their_value_as_machine_code(seed, compiler):
    """Random expressions, compiled, agree with direct evaluation: batch, rest, single entry."""
    from ne_dynamics.codegen.llvm.compiler import CompiledKernel

    expressions = random_expressions(seed, 24, depth=5)
    rows = random_rows(seed, 19)  # two groups of eight and a rest of three
    values, bounds = reference(expressions, rows)
    # Quotients by zero and sines of huge angles may be refused; whatever can be relied on is not.
    is_sure = np.isfinite(values).all(axis=0) & np.isfinite(bounds).all(axis=0)
    expressions = [e for e, is_one_sure in zip(expressions, is_sure, strict=True) if is_one_sure]
    values, bounds = values[:, is_sure], bounds[:, is_sure]
    kernel = CompiledKernel(traced(expressions), ObjectCache())
    share = assert_within_rounding(kernel.batch(*rows), values, bounds)
    assert share > 0.6, 'too few expressions with a certain value to mean anything'
    refused = []
    owner = Owner(None, lambda *arguments: refused.append(arguments), kernel.most_rows)
    entry = kernel.entry(owner, 'expressions')
    singles = [entry(*[group[k].copy() for group in rows]) for k in range(len(rows[0]))]
    assert not refused
    assert_within_rounding(np.array(singles), values, bounds)


def test_nested_functions_and_many_angles_compile(compiler):
    """More angles than fit one vector, and sines of sines, are computed on every path."""
    from ne_dynamics.codegen.llvm.compiler import CompiledKernel

    def function(q, qd):
        angles = [factor * q[0] + q[1] for factor in range(1, 12)]
        inner = [sin(angle) for angle in angles]
        return [
            *inner,
            *[cos(2.0 * value) for value in inner],
            sin(sin(sin(q[2]))),
            cos(cos(qd[0] * inner[0])),
            sin(sign(q[0]) + qd[1]),
        ]

    program = trace('angles', GROUPS, (25,), function)
    rows = random_rows(5, 11)
    values = np.array(
        [function(*[list(map(float, group[k])) for group in rows]) for k in range(11)]
    )
    kernel = CompiledKernel(program, ObjectCache())
    np.testing.assert_allclose(kernel.batch(*rows), values, rtol=0, atol=2e-14)
    np.testing.assert_allclose(PythonKernel(program).batch(*rows), values, rtol=0, atol=2e-14)


# ---- folding


@pytest.mark.parametrize(
    ('function', 'value'),
    [
        (lambda x: x - x, 0.0),
        (lambda x: x + (-x), 0.0),
        (lambda x: 0.0 * x, 0.0),
        (lambda x: x * -0.0, 0.0),
        (lambda x: 2.0 * x - (x + x), 0.0),
        (lambda x: 0.5 * x - x / 2.0, 0.0),
        (lambda x: x / x, 1.0),
        (lambda x: -x / x, -1.0),
        (lambda x: 0.0 / (x + 1.0), 0.0),
        (lambda x: (x * x) - (x * x), 0.0),
        (lambda x: x.sin() + (-x).sin(), 0.0),
        (lambda x: x.cos() - (-x).cos(), 0.0),
    ],
)
def test_what_does_not_depend_on_the_input_becomes_a_number(function, value):
    """Differences of equal terms, products with zero and own quotients are plain floats."""
    result = one(function, 'x')
    assert type(result) is float
    assert result == value


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
    program = trace(
        'numbers',
        (('x', 1),),
        (6,),
        lambda x: [
            number * x[0],
            x[0] * number,
            number + x[0],
            x[0] - number,
            x[0] / number,
            number / x[0],
        ],
    )
    text = python_source(program)
    assert 'np.' not in text
    assert 'True' not in text
    value = float(number)
    expected = [value * 3.0, 3.0 * value, value + 3.0, 3.0 - value, 3.0 / value, value / 3.0]
    assert PythonKernel(program).single(np.array([3.0])) == pytest.approx(expected, rel=1e-15)


# ---- sharing


SAME = [
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
]


@pytest.mark.parametrize('case', range(len(SAME)))
def test_equal_expressions_are_one_node_with_one_sign(case):
    """Expressions that differ in order or in where the sign is written are the same symbol."""
    left, right = SAME[case]
    graph = Graph()
    a, b = graph.input('a'), graph.input('b')
    first = left(a, b)
    nodes = len(graph.nodes)
    second = right(a, b)
    assert (first.index, first.negative) == (second.index, second.negative)
    # The second way of writing it adds nothing that is computed.
    assert graph.count([first, second]) == graph.count([first])
    assert len(graph.nodes) >= nodes


# ---- counts


@pytest.mark.parametrize('seed', range(4))
def test_counts_are_those_of_the_written_text(seed):
    program = traced(random_expressions(seed, 30))
    tree = ast.parse(python_source(program))
    operators = [type(node.op) for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    counts = program.count()
    assert operators.count(ast.Mult) + operators.count(ast.Div) == counts.multiplications
    assert operators.count(ast.Add) + operators.count(ast.Sub) == counts.additions
    assert len(calls) == counts.functions


# ---- derivatives


def _smooth(expression):
    """Whether an expression has no sign and no magnitude in it."""
    if isinstance(expression, float) or expression[0] == 'input':
        return True
    return expression[0] not in ('sign', 'abs') and all(_smooth(part) for part in expression[1:])


def test_derivatives_of_random_expressions_agree_with_complex_steps():
    step = 1e-30
    checked = 0
    for seed in range(6):
        expressions = [e for e in random_expressions([7, seed], 25, depth=4) if _smooth(e)]
        rows = random_rows(seed, 3)
        _, bounds = reference(expressions, rows)
        names = [(group, k) for group, (_, size) in enumerate(GROUPS) for k in range(size)]

        def slopes(*inputs, expressions=expressions, names=names):
            outputs = [evaluate(expression, inputs) for expression in expressions]
            return differentiate(outputs, [inputs[group][k] for group, k in names])

        program = trace('slopes', GROUPS, (len(expressions), len(names)), slopes)
        computed = PythonKernel(program).batch(*rows)
        for sample in range(3):
            for column, (group, k) in enumerate(names):
                inputs = [[np.array([x + 0j]) for x in part[sample]] for part in rows]
                inputs[group][k] = inputs[group][k] + 1j * step
                shifted = [evaluate(expression, inputs) for expression in expressions]
                expected = np.array(
                    [float(np.imag(np.ravel(value)[0])) / step for value in shifted]
                )
                usable = np.isfinite(bounds[sample]) & (bounds[sample] < 1e6)
                scale = 1.0 + np.abs(expected) + bounds[sample]
                error = np.abs(computed[sample, :, column] - expected) / scale
                assert (error[usable] < 1e-10).all()
                checked += int(usable.sum())
    assert checked > 500


def test_a_directional_derivative_is_the_product_of_slopes_and_direction():
    for seed in range(6):
        expressions = [e for e in random_expressions([8, seed], 25, depth=4) if _smooth(e)]
        rows = random_rows(seed, 5)

        def both(*inputs, expressions=expressions):
            outputs = [evaluate(expression, inputs) for expression in expressions]
            variables = [*inputs[0], *inputs[1]]
            directions = [inputs[1][0], 0.5, -inputs[0][1], 0.0, inputs[0][2] * inputs[1][1]]
            total = []
            for slopes in differentiate(outputs, variables):
                product = 0.0
                for slope, direction in zip(slopes, directions, strict=True):
                    product = product + slope * direction
                total.append(product)
            return [push_forward(outputs, variables, directions), total]

        program = trace('both', GROUPS, (2, len(expressions)), both)
        quick, full = np.moveaxis(PythonKernel(program).batch(*rows), 1, 0)
        usable = np.isfinite(full) & (np.abs(full) < 1e6)
        assert usable.mean() > 0.5
        error = np.abs(quick - full)[usable] / (1.0 + np.abs(full[usable]))
        assert error.max() < 1e-9
    assert push_forward([3.0], [], []) == [0.0]


def test_what_is_substituted_is_computed_as_if_it_had_been_there():
    for seed in range(6):
        expressions = random_expressions([9, seed], 25, depth=4)
        rows = random_rows(seed, 5)

        def both(*inputs, expressions=expressions):
            graph = inputs[0][0].graph
            placeholders = graph.inputs('placeholder', 3)
            values = [inputs[1][0] * inputs[0][0], -inputs[0][1], 0.25]
            before = [evaluate(each, (placeholders, inputs[1])) for each in expressions]
            direct = [evaluate(each, (values, inputs[1])) for each in expressions]
            return [substitute(before, placeholders, values), direct]

        program = trace('both', GROUPS, (2, len(expressions)), both)
        assert not any('placeholder' in str(program.graph.nodes[index]) for index in
                       program.graph.live(program.outputs))  # fmt: skip
        put, direct = np.moveaxis(PythonKernel(program).batch(*rows), 1, 0)
        usable = np.isfinite(direct) & (np.abs(direct) < 1e6)
        assert usable.mean() > 0.5
        error = np.abs(put - direct)[usable] / (1.0 + np.abs(direct[usable]))
        assert error.max() < 1e-9
    assert substitute([3.0], [], []) == [3.0]


# ---- the same text every time


_DIGEST = """
import hashlib, sys
sys.path[:0] = {paths!r}
import test_symbols
print(test_symbols.digest_of_texts())
"""


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
    paths = [here, os.path.join(here, '..', 'support'), os.path.join(here, '..', '..')]
    for hash_seed in ('0', '4242'):
        found = output_of(_DIGEST.format(paths=paths), PYTHONHASHSEED=hash_seed)
        assert found.strip() == expected
