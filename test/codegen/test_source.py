"""Generated text holds numbers and names made by the generator, and nothing of a model file."""

import ast
import builtins
import functools
import math
import re

import numpy as np
import pytest
from compiled_c import compile_c
from hostile_names import HOSTILE, rename
from random_robots import random_tree
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.algorithms.scalars import elementary
from ne_dynamics.codegen.entry_call import Signature
from ne_dynamics.codegen.functions import INTERNAL
from ne_dynamics.codegen.llvm.compiler import write_module
from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.programs import list_functions, trace_function
from ne_dynamics.codegen.source import escape_for_comment, python_source
from ne_dynamics.codegen.subject import Subject

OUR_NAME = re.compile(
    r'_|((q|qd|qdd)(_rate|_desired|_model)?|tau|wrench|base|payload|external)[0-9]*'  # inputs
    r'|((effort_)?(kp|kv)|effort_limits|friction_qd|smoothing_velocity)[0-9]*'  # those of laws
    r'|(hysteresis|displacement)[0-9]*'  # those of friction with a path
    r'|(qd_before|effort|slow|fast|step|weights)[0-9]*'  # those of the observer
    r'|[sc]_desired[0-9]+|[sc]_model[0-9]+|[sct][0-9]+'  # sines, cosines, anything else
    r'|(w|wd|a|f|n)[0-9]+_[xyz]'  # vectors of the recursion
)

OPERATIONS = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.Return),
    *(ast.List, ast.Tuple, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Call),
    *(ast.BinOp, ast.UnaryOp, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div),
)

FUNCTIONS = {
    'sin': math.sin,
    'cos': math.cos,
    'sign': elementary.sign,
    'fabs': math.fabs,
    'rint': elementary.nearest,
    'tanh': math.tanh,
    'clamp': elementary.clamp,
}
"""Functions that a text may call; all but the last have one argument."""

RUBS = limit_xml() + '<dynamics damping="0.3" friction="0.2"/>'
PLACE = {'inside': RUBS, 'xyz': '0.1 0.2 0.3', 'rpy': '0.4 0.5 0.6', 'axis': '0 0.6 0.8'}
ROBOT = ned.load_urdf(
    robot_xml(
        'base',
        *(
            link_xml(name, 2, '0.1 0.02 0.03', '0.1 0.2 0.3', (0.1, 0.2, 0.15), (0.01, 0.02, 0.03))
            for name in 'abc'
        ),
        joint_xml('first', 'base', 'a', 'revolute', **PLACE),
        joint_xml('second', 'a', 'b', 'prismatic', **PLACE),
        joint_xml('third', 'b', 'c', 'continuous', **PLACE),
    )
)


def trace_all(robot):
    """Return the programs of a robot."""
    subject = Subject(robot, (0.3, -0.2, -9.81), 1e-12)
    return [trace_function(subject, name) for name in (*list_functions(robot), *INTERNAL)]


def assert_alphabet(text, function):
    """Assert that a Python text is one function of arithmetic over names of our own."""
    tree = ast.parse(text)
    assert [node.name for node in tree.body] == [function]
    for node in ast.walk(tree):
        assert isinstance(node, OPERATIONS), ast.dump(node)
        if isinstance(node, ast.Call):
            assert len(node.args) == 1 + (node.func.id == 'clamp')
            assert node.func.id in FUNCTIONS
            assert not node.keywords
        elif isinstance(node, ast.Name):
            assert OUR_NAME.fullmatch(node.id) or node.id in FUNCTIONS, node.id
        elif isinstance(node, ast.Constant):
            assert type(node.value) is float, node.value
            assert math.isfinite(node.value)
    assert text.isascii()
    assert '#' not in text


def test_no_name_of_a_model_file_reaches_what_is_executed():
    """The text is arithmetic over our own names, and names make no difference to it at all."""
    plain, hostile = trace_all(ROBOT), trace_all(rename(ROBOT, ' '.join(HOSTILE.values())))
    for program, other in zip(plain, hostile, strict=True):
        text = python_source(program)
        assert_alphabet(text, program.name)
        assert python_source(other) == text
    for signature in (None, Signature.of(plain[0])):
        assert write_module(hostile[0], signature) == write_module(plain[0], signature)


@functools.cache
def print_equations(key, language):
    """Return the printed equations of a robot with hostile names; '' for plain ones."""
    robot = rename(ROBOT, HOSTILE[key]) if key else ROBOT
    return ned.Dynamics(robot, backend='python').source('gravity_torque', language)


def test_a_strict_compiler_has_no_complaint_of_the_names(tmp_path):
    """Trigraphs, lines that go on and marks of comments, all above one function."""
    *texts, last = [print_equations(key, 'c') for key in HOSTILE]
    headers = [line for text in texts for line in text.splitlines() if line.startswith('//')]
    compile_c('\n'.join([*headers, last]), tmp_path)


def test_text_runs_without_builtins_and_calls_nothing_but_functions_of_numbers():
    """With no builtins at all the text runs, and asks its namespace for what it may call only."""
    asked = []

    class Namespace(dict):
        def __missing__(self, name):
            asked.append(name)
            return getattr(builtins, name)

    for program in trace_all(ned.load_urdf(random_tree(3, 8).urdf)):
        namespace = {'__builtins__': Namespace(), **FUNCTIONS}
        exec(python_source(program), namespace)
        arguments = [[0.1 * (k + 1) for k in range(size)] for _, size in program.inputs]
        result = namespace[program.name](*arguments)
        assert len(result) == len(program.outputs)
        assert all(isinstance(value, float) for value in result)
    assert not asked


def test_numbers_are_written_to_the_last_bit():
    """A constant read back from the text is the constant that was traced."""
    numbers = [0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 2.0**-1000, 123456789.0, 1e22]
    program = trace('numbers', (('q', 1),), (len(numbers),), lambda q: [n * q[0] for n in numbers])
    tree = ast.parse(python_source(program))
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    np.testing.assert_array_equal(sorted(found), sorted(numbers))


@pytest.mark.parametrize(
    ('text', 'escaped'),
    [
        ('arm 1 (left), 20 %', 'arm 1 (left), 20 %'),
        ('caf\u00e9\n', 'caf<U+00E9><U+000A>'),
        ('Coding', 'Cod<U+0069>ng'),
        ('\ud800', '<U+D800>'),
    ],
)
def test_escapes_can_be_told_apart(text, escaped):
    """What is escaped keeps its code point; what needs no escape stays as it is."""
    assert escape_for_comment(text) == escaped
