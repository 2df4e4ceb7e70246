"""Every function on every backend where Python cannot call machine code directly."""

import sys
import warnings

import numpy as np
import pytest
from function_rows import CALLS, call_by_sample, call_row
from test_compiled import assert_same, robot_of, row, samples

import ne_dynamics as ned
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.llvm import compiler
from ne_dynamics.codegen.llvm.compiler import write_module
from ne_dynamics.codegen.programs import list_functions, trace_function
from ne_dynamics.codegen.subject import Subject

pytestmark = pytest.mark.usefixtures('compiler')


@pytest.fixture
def no_entry(monkeypatch):
    """A compiler that found a layout of objects that it does not know."""
    monkeypatch.setattr(compiler, 'is_layout_known', lambda: False)
    monkeypatch.setattr(compiler, '_toolchain', None)
    monkeypatch.setattr('ne_dynamics.dynamics.backends._warned', set())
    yield
    assert compiler.toolchain().has_entry is False


@pytest.mark.kept(10)
@pytest.mark.parametrize('name', ['tree_5_5', 'six_axis_arm'])
@pytest.mark.parametrize('function', CALLS)
@pytest.mark.filterwarnings('ignore:backend .compiled.')
def test_every_function_is_computed(function, name, no_entry):
    """One sample, and batches below and above eight, agree with the Python source."""
    robot = robot_of(name)
    reference = ned.Dynamics(robot, backend='python')
    dynamics = ned.Dynamics(robot, backend='compiled')
    values = samples(robot, 21)
    expected = call_by_sample(reference, function, values)
    scale = np.abs(expected).max()
    tolerance = 1e-9 if function.startswith('forward') else 1e-12
    for size in (1, 7, 8, 21) * 2:
        some = {key: value[:size] for key, value in values.items()}
        result = call_by_sample(dynamics, function, some)
        assert_same(result, expected[:size], scale, tolerance)
    for _ in range(2):
        result = call_by_sample(dynamics, function, row(values, 3))
        assert_same(result, expected[3], scale, tolerance)
    whole = call_row(reference, function, values)
    out = np.full(whole.shape, np.nan)
    call_row(dynamics, function, values, out=out)
    assert_same(out, whole, scale, tolerance)


def test_who_asks_for_the_compiler_is_told_once(no_entry):
    """That calls are slower is a warning, and not one for every robot."""
    robot = robot_of('six_axis_arm')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        ned.Dynamics(robot, backend='compiled')
        ned.Dynamics(robot, backend='auto')
    (warning,) = caught
    assert warning.category is RuntimeWarning
    assert 'layout of this interpreter' in str(warning.message)


@pytest.mark.kept(5)
@pytest.mark.parametrize('name', FUNCTIONS)
def test_a_module_without_entry_refers_to_nothing_outside(name):
    """Neither a symbol of the interpreter nor one of the C library is named in it."""
    robot = robot_of('six_axis_arm')
    if name not in (*list_functions(robot), 'bare_recursion'):
        pytest.skip('not written out for this robot')
    text = write_module(trace_function(Subject(robot, (0.0, 0.0, -9.81), 1e-12), name), None)
    outside = [
        line
        for line in text.splitlines()
        if line.startswith(('declare', '@')) and '@llvm.' not in line and 'internal' not in line
    ]
    assert not outside
    # What LLVM puts in by itself, a call of memset for instance, would not be found either.
    tools = compiler.toolchain()
    symbols = tools.binding.ObjectFileRef.from_data(tools.compile(text)).sections()
    names = b''.join(section.data() for section in symbols if section.name() == '.strtab')
    assert not {b'memset', b'memcpy', b'memmove', b'sin', b'cos'} & set(names.split(b'\0'))


def test_the_direct_entry_is_there_on_interpreters_that_are_known():
    """On CPython from 3.10 on, one sample goes straight to machine code."""
    if sys.implementation.name != 'cpython' or sys.version_info[:2] > (3, 14):
        pytest.skip('another interpreter than CPython 3.10 to 3.14')
    dynamics = ned.Dynamics(robot_of('six_axis_arm'), backend='compiled')
    q = np.zeros(6)
    dynamics.gravity_torque(q)
    assert type(dynamics.gravity_torque) is type(len)
