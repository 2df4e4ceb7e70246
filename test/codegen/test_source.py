"""Generated text holds numbers and names made by the generator, and nothing of a model file."""

import ast
import builtins
import functools
import importlib.util
import math
import re
import tokenize
from dataclasses import replace
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from compiled_c import compile_c
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.algorithms.scalars import elementary
from ne_dynamics.codegen.entry_call import Signature
from ne_dynamics.codegen.functions import INTERNAL
from ne_dynamics.codegen.llvm.compiler import write_module
from ne_dynamics.codegen.program import trace
from ne_dynamics.codegen.programs import list_functions, trace_function
from ne_dynamics.codegen.source import LANGUAGES, escape_for_comment, python_source
from ne_dynamics.codegen.subject import Subject

HOSTILE = {
    'import': "__import__('os').system('touch /tmp/owned')",
    'newline': 'arm\nimport os  # owned',
    'return': 'arm\rimport os  # owned',
    'quotes': '\'"""; import os; owned = """\'',
    'comment': '*/ int owned = 1; /*',
    'continued': 'owned \\',
    'trigraph': 'owned ??/',
    'separators': 'arm\u2028import os\u2029owned\x85import os',
    'unicode': 'Gelenk_\u00e4\u00f6\u00fc_\U0001f916_owned',
    'override': '\u202eowned',
    'llvm': 'x" } define void @owned() { ret void }',
    'format': '{owned} %s %n owned',
    'spaces': '   owned   ',
    'keyword': 'lambda',
    'own names': 'q1',
}

OUR_NAME = re.compile(
    r'_|((q|qd|qdd)(_rate|_desired|_model)?|tau|wrench|base|payload|external)[0-9]*'  # inputs
    r'|((effort_)?(kp|kv)|effort_limits|friction_qd|smoothing_velocity)[0-9]*'  # those of laws
    r'|(hysteresis|displacement)[0-9]*'  # those of friction with a path
    r'|(qd_before|effort|slow|fast|step|weights)[0-9]*'  # those of the observer
    r'|[sc]_desired[0-9]+|[sc]_model[0-9]+|[sct][0-9]+'  # sines, cosines, anything else
    r'|(w|wd|a|f|n)[0-9]+_[xyz]'  # vectors of the recursion
)

OPERATIONS = (
    ast.Module,
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Assign,
    ast.Return,
    ast.List,
    ast.Tuple,
    ast.Name,
    ast.Load,
    ast.Store,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.USub,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.Call,
)


CALLS = {'sin': 1, 'cos': 1, 'sign': 1, 'fabs': 1, 'rint': 1, 'tanh': 1, 'clamp': 2}
"""Functions that a text may call, with how many arguments each has."""


def hostile_urdf(text):
    """Return a robot whose every name is made from a text."""

    def named(name):
        # Line ends are kept in attributes only when they are written as references.
        quoted = quoteattr(f'{text} {name}')
        return ''.join(c if ' ' <= c <= '~' else f'&#{ord(c)};' for c in quoted)

    inertial = (
        '<inertial><origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/><mass value="2"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>'
    )
    links = ''.join(
        f'<link name={named(f"link {k}")}>{inertial if k else ""}</link>' for k in range(4)
    )
    joints = ''.join(
        f'<joint name={named(f"joint {k}")} type="{kind}">'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0.6 0.8"/>'
        f'<parent link={named(f"link {k}")}/><child link={named(f"link {k + 1}")}/>'
        '<limit lower="-1" upper="1" effort="10" velocity="1"/>'
        '<dynamics damping="0.3" friction="0.2"/></joint>'
        for k, kind in enumerate(('revolute', 'prismatic', 'continuous'))
    )
    return f'<robot name={named("robot")}>{links}{joints}</robot>'


def plain_robot():
    """Return the same robot with plain names."""
    return ned.load_urdf(hostile_urdf('plain'))


def hostile_robot(key):
    """Return a robot with hostile names; built in memory where a URDF cannot hold them."""
    if key != 'separators':
        return ned.load_urdf(hostile_urdf(HOSTILE[key]))
    robot = plain_robot()
    return replace(
        robot,
        name=HOSTILE[key],
        source=HOSTILE[key],
        joints=tuple(
            replace(joint, name=f'{HOSTILE[key]}{k}') for k, joint in enumerate(robot.joints)
        ),
    )


def assert_alphabet(text, function):
    """Assert that a Python text is one function of arithmetic over names of our own."""
    tree = ast.parse(text)
    assert len(tree.body) == 1
    assert tree.body[0].name == function
    for node in ast.walk(tree):
        assert isinstance(node, OPERATIONS), ast.dump(node)
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            assert len(node.args) == CALLS[node.func.id]
            assert not node.keywords
        elif isinstance(node, ast.Name):
            assert OUR_NAME.fullmatch(node.id) or node.id in CALLS, node.id
        elif isinstance(node, ast.Constant):
            assert type(node.value) is float, node.value
            assert math.isfinite(node.value)
    assert text.isascii()
    assert '#' not in text


def programs_of(robot):
    """Return the programs of a robot."""
    subject = Subject(robot, (0.3, -0.2, -9.81), 1e-12)
    return [trace_function(subject, name) for name in (*list_functions(robot), *INTERNAL)]


@functools.cache
def plain_programs():
    """Return the programs of the robot with plain names."""
    return programs_of(plain_robot())


@functools.cache
def hostile_programs(key):
    """Return the programs of the robot with hostile names."""
    return programs_of(hostile_robot(key))


@pytest.mark.kept(1)
@pytest.mark.parametrize('key', HOSTILE)
def test_no_name_of_a_model_file_reaches_what_is_executed(key):
    """Whatever joints, links and robot are called, the text is arithmetic over our own names."""
    programs = hostile_programs(key)
    texts = [python_source(program) for program in programs]
    for program, text in zip(programs, texts, strict=True):
        assert 'owned' not in text
        assert_alphabet(text, program.name)
    # More than that: names make no difference at all.
    assert texts == [python_source(program) for program in plain_programs()]


@pytest.mark.kept(2)
@pytest.mark.parametrize('key', HOSTILE)
def test_no_name_of_a_model_file_reaches_the_assembly(key):
    plain, hostile = plain_programs()[0], hostile_programs(key)[0]
    for signature in (None, Signature.of(plain)):
        assert write_module(hostile, signature) == write_module(plain, signature)


@pytest.mark.kept(10)
@pytest.mark.parametrize('key', HOSTILE)
@pytest.mark.parametrize('language', LANGUAGES)
def test_names_in_the_header_cannot_leave_their_comment(key, language):
    """Printed equations name the robot and its joints in comments of plain characters only."""
    dynamics = ned.Dynamics(hostile_robot(key), backend='python')
    text = dynamics.source('inverse_dynamics', language)
    assert text.isascii()
    assert all(' ' <= character <= '~' or character == '\n' for character in text)
    mark = '//' if language == 'c' else '#'
    code = [line for line in text.splitlines() if not line.startswith(mark)]
    comments = [line for line in text.splitlines() if line.startswith(mark)]
    assert comments
    assert 'owned' not in '\n'.join(code)
    assert not any(line.endswith(('\\', '??/')) for line in comments)
    if language != 'c':
        plain = ned.Dynamics(plain_robot(), backend='python')
        assert ast.dump(ast.parse(text)) == ast.dump(
            ast.parse(plain.source('inverse_dynamics', language))
        )


_FUNCTIONS = {
    'sin': math.sin,
    'cos': math.cos,
    'sign': elementary.sign,
    'fabs': math.fabs,
    'rint': elementary.nearest,
    'tanh': math.tanh,
    'clamp': elementary.clamp,
}


def test_text_runs_without_builtins_and_calls_nothing_but_functions_of_numbers():
    """With no builtins at all the text runs, and asks its namespace for what it may call only."""
    asked = []

    class Namespace(dict):
        def __missing__(self, name):
            asked.append(name)
            return getattr(builtins, name)

    robot = ned.load_urdf(random_tree(3, 8).urdf)
    for program in programs_of(robot):
        namespace = {'__builtins__': Namespace(), **{name: _FUNCTIONS[name] for name in CALLS}}
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
    assert sorted(found) == sorted(numbers)


CODING = {
    'utf-7': "arm coding:utf-7 +AAo-open('owned', 'w')#",
    'emacs': '-*- coding: utf-7 -*-',
    'vim': 'vim: set fileencoding=utf-7 :',
    'unknown': 'coding: foo',
    'assigned': 'coding=utf-16',
    'upper': 'CODING: foo',
    'twice': 'codingcoding: foo',
    'wide': 'c\u043eding: foo',
    'mark': '\ufeffcoding: foo',
}


@pytest.mark.parametrize('key', CODING)
@pytest.mark.parametrize('language', ['python', 'numpy', 'array-api'])
def test_no_name_chooses_the_encoding_of_the_text(key, language, tmp_path, monkeypatch):
    """Robot and joints may be called like an encoding: the file runs, and nothing else does."""
    robot = plain_robot()
    name = CODING[key]
    joints = tuple(replace(joint, name=f'{name} {k}') for k, joint in enumerate(robot.joints))
    dynamics = ned.Dynamics(replace(robot, name=name, joints=joints), backend='python')
    text = dynamics.source('gravity_torque', language)
    assert text.splitlines()[0] == '# -*- coding: utf-8 -*-'
    assert text.isascii()
    assert not any('coding' in line.lower() for line in text.splitlines()[1:])
    path = tmp_path / 'equations.py'
    path.write_text(text)
    with path.open('rb') as file:
        assert tokenize.detect_encoding(file.readline)[0] == 'utf-8'
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location('equations', path)
    equations = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(equations)
    namespace = [np] if language == 'array-api' else []
    values = equations.gravity_torque(*namespace, np.full(dynamics.n, 0.3))
    np.testing.assert_allclose(values, dynamics.gravity_torque([0.3] * dynamics.n), atol=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) in (
        ['equations.py'],
        ['__pycache__', 'equations.py'],
    )


C_NAMES = [
    'owned ??/',
    '??' + '/',
    'a\\',
    '/* open',
    'close */',
    '?' * 5 + '/',
    '// again',
    '\u00e9?/',
]


@pytest.mark.parametrize('name', C_NAMES)
def test_no_name_reaches_beyond_its_comment_in_c(name, tmp_path):
    """Trigraphs, lines that go on and marks of comments in a name: strict C has no complaint."""
    robot = plain_robot()
    joints = tuple(replace(joint, name=f'{k} {name}') for k, joint in enumerate(robot.joints))
    dynamics = ned.Dynamics(replace(robot, name=name, joints=joints), backend='python')
    compile_c(dynamics.source('gravity_torque', 'c'), tmp_path)


def test_escapes_can_be_told_apart():
    """What is escaped keeps its code point; what needs no escape stays as it is."""
    assert escape_for_comment('arm 1 (left), 20 %') == 'arm 1 (left), 20 %'
    assert escape_for_comment('caf\u00e9\n') == 'caf<U+00E9><U+000A>'
    assert escape_for_comment('Coding') == 'Cod<U+0069>ng'
    assert escape_for_comment('\ud800') == '<U+D800>'
