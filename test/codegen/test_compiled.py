"""Machine code and generated Python compute the same, and the compiled entry checks its input."""

from __future__ import annotations

import functools
import gc
import inspect
import itertools
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from fresh_python import output_of
from function_rows import CALLS, call_by_sample, call_row
from method_tables import LOADS
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.program import trace
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

pytestmark = pytest.mark.usefixtures('compiler')

GRAVITY = (0.3, -0.2, -9.80665)

TOLERANCE = 1e-12
"""Largest difference of the backends, relative to the largest magnitude of the sample."""

SIZES = (0, 1, 7, 8, 9, 1000)

SHIPPED = {
    'six_axis_arm': lambda: ned.load_urdf(shipped_file('six_axis_arm.urdf')),
    'puma560_standard': lambda: ned.load_dh(shipped_file('puma560_standard_dh.yaml')),
}
TREES = {f'tree_{seed}_{joints}': (seed, joints) for seed, joints in ((0, 1), (5, 5), (3, 6))}

OFTEN = ('six_axis_arm', 'tree_5_5')
"""Robots of which also the functions are compared that take long to compile."""

LONG = re.compile(
    '.*_derivatives|forward_.*_full|jacobian_rate|regressor|.*(_pd|torque|effort|residuals)_.*'
)
"""Functions that take long to compile."""

MOTION = ('q', 'qd', 'qdd')
"""Arguments of the inverse dynamics, before its loads."""


@functools.cache
def robot_of(name):
    """Return a robot with a tip."""
    if name in SHIPPED:
        return SHIPPED[name]()
    tree = random_tree(*TREES[name])
    return replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)


@functools.cache
def dynamics_of(name, backend, threads=1):
    """Return the dynamics of a robot, built once a session."""
    return ned.Dynamics(robot_of(name), gravity=GRAVITY, backend=backend, threads=threads)


WIDTHS = {'qdd': 3.0, 'tau': 20.0, 'effort': 20.0, 'wrench': 10.0, 'effort_limits': 60.0}
RANGES = {'payload': (-1.0, 3.0), 'step': (0.1, 0.3), 'smoothing_velocity': (0.1, 0.3)}


def samples(robot, count, seed=0):
    """Return random values of all arguments, arrays of `count` rows."""
    rng = np.random.default_rng([seed, count])
    values = {}
    for name in CALLS:
        for argument in FUNCTIONS[name].arguments:
            width = WIDTHS.get(argument.name, 2.0)
            low, high = RANGES.get(argument.name, (-width, width))
            shape = count, argument.count(robot)
            values.setdefault(argument.name, rng.uniform(low, high, shape))
    return values


def row(values, index):
    """Return one sample of all arguments."""
    return {key: value[index].copy() for key, value in values.items()}


def assert_same(computed, expected, scale=None, tolerance=TOLERANCE):
    """Assert agreement relative to the largest magnitude."""
    assert computed.shape == expected.shape
    assert computed.dtype == np.float64
    if expected.size == 0:
        return
    scale = np.abs(expected).max() if scale is None else scale
    error = np.abs(computed - expected).max()
    assert error <= tolerance * scale, f'difference {error:.3g}, largest magnitude {scale:.3g}'


def allowed(robot_name, function, values):
    """Return the tolerance: forward dynamics pass on the condition of the mass matrix."""
    if not function.startswith('forward_dynamics'):
        return TOLERANCE
    load = values['payload'] if 'full' in function else None
    matrices = dynamics_of(robot_name, 'python').mass_matrix(values['q'], payload=load)
    return TOLERANCE * max(1.0, 1e-2 * float(np.linalg.cond(matrices).max()))


# ---- backends


@pytest.mark.kept(8)
@pytest.mark.parametrize(
    ('name', 'function'),
    [
        (name, function)
        for name in (*SHIPPED, *TREES)
        for function in CALLS
        if name in OFTEN or not LONG.match(function)
    ],
)
def test_backends_agree_on_every_function_single_and_batch(name, function):
    """Machine code gives what generated Python gives: first call, later calls, every size."""
    python, numba = dynamics_of(name, 'python'), dynamics_of(name, 'numba')
    values = samples(robot_of(name), 1000)
    expected = call_by_sample(python, function, values)
    tolerance = allowed(name, function, values)
    scale = np.abs(expected).max()
    for size in SIZES:
        some = {key: value[:size] for key, value in values.items()}
        assert_same(call_by_sample(numba, function, some), expected[:size], scale, tolerance)
        if size < 10:
            assert_same(call_by_sample(python, function, some), expected[:size], scale, tolerance)
    for index in range(12):
        one = row(values, index)
        for dynamics in (numba, python):
            result = call_by_sample(dynamics, function, one)
            assert_same(result, expected[index], scale, tolerance)


# ---- the compiled entry


@pytest.fixture
def pair():
    """Dynamics of the shipped arm on numba, entries in place, and on python."""
    numba, python = dynamics_of('six_axis_arm', 'numba'), dynamics_of('six_axis_arm', 'python')
    values = row(samples(numba.robot, 1), 0)
    for function in (
        'inverse_dynamics',
        'inverse_dynamics_with_wrench',
        'inverse_dynamics_in_full',
        'gravity_torque',
    ):
        call_row(numba, function, values)
    assert type(numba.inverse_dynamics) is type(len), 'the entry is not in place'
    return numba, python


class Subclass(np.ndarray):
    """An array of another type."""


def unaligned(x):
    """Return an array one byte off the places of its numbers."""
    buffer = bytearray(x.nbytes + 1)
    array = np.frombuffer(buffer, dtype=np.float64, count=x.size, offset=1).reshape(x.shape)
    array[...] = x
    return array


def read_only(x):
    """Return an array that nobody may write to."""
    x = x.copy()
    x.setflags(write=False)
    return x


FORMS = {
    'list': lambda x: x.tolist(),
    'tuple': lambda x: tuple(x.tolist()),
    'list of NumPy scalars': list,
    'float32': lambda x: x.astype(np.float32),
    'long double': lambda x: x.astype(np.longdouble),
    'big-endian': lambda x: x.astype('>f8'),
    'non-contiguous': lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    'reversed': lambda x: x[..., ::-1].copy()[..., ::-1],
    'Fortran': np.asfortranarray,
    'read-only': read_only,
    'unaligned': unaligned,
    'subclass': lambda x: x.view(Subclass),
    'column of a table': lambda x: np.stack([x, x], axis=-1)[..., 1],
    'rows of a table': lambda x: np.repeat(x, 2, axis=0)[::2],
    'rows backwards': lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize('size', [None, 1, 19])
@pytest.mark.parametrize('form', FORMS)
def test_every_kind_of_array_gives_the_same(form, size, pair):
    """Lists, other types, strides and orders are converted, in any argument, on both paths."""
    values = samples(pair[0].robot, size or 1)
    if size is None:
        values = row(values, 0)
    # Numbers that float32 holds exactly, so that every form means the same.
    values = {key: np.round(value * 64.0) / 64.0 for key, value in values.items()}
    expected = call_row(pair[0], 'inverse_dynamics_with_wrench', values)
    converted = {key: FORMS[form](value) for key, value in values.items()}
    for dynamics in pair:
        for key in ('q', 'qd', 'qdd', 'wrench'):
            given = {**values, key: converted[key]}
            result = call_row(dynamics, 'inverse_dynamics_with_wrench', given)
            assert type(result) is np.ndarray
            assert_same(result, expected)
        assert_same(call_row(dynamics, 'inverse_dynamics_with_wrench', converted), expected)
        gravity = dynamics.gravity_torque(converted['q'])
        assert_same(gravity, dynamics.gravity_torque(values['q']))


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_found_wherever_it_stands(bad, pair):
    """NaN and infinity at any place of any argument are an error that names the place."""
    numba, _ = pair
    values = samples(numba.robot, 21)
    for key, index in itertools.product(CALLS['inverse_dynamics_with_wrench'], range(6)):
        single = row(values, 0)
        single[key][index] = bad
        message = rf'^{key}: expected finite numbers, got {bad} at index \(LINE{index},?\)'
        anywhere = message.replace('LINE', r'(\d+, )?')
        with pytest.raises(InputError, match=anywhere):
            call_row(numba, 'inverse_dynamics_with_wrench', single)
        if key != 'wrench':
            with pytest.raises(InputError, match=anywhere):
                call_row(numba, 'inverse_dynamics', single)
        for line in (0, 7, 8, 15, 16, 20):  # first and last of a group, and of the rest
            batch = {**values, key: values[key].copy()}
            batch[key][line, index] = bad
            with pytest.raises(InputError, match=message.replace('LINE', f'{line}, ')):
                call_row(numba, 'inverse_dynamics_with_wrench', batch)


@pytest.mark.kept(8)
@pytest.mark.parametrize('function', CALLS)
def test_no_function_takes_a_number_that_is_not_finite(function, pair):
    """Every function refuses NaN in every argument, also where it does not use the number."""
    for dynamics in pair:
        values = row(samples(dynamics.robot, 1), 0)
        call_row(dynamics, function, values)
        for key in CALLS[function]:
            for index in range(len(values[key])):
                bad = {**values, key: values[key].copy()}
                bad[key][index] = np.nan
                with pytest.raises(InputError, match=rf'^{key}: expected finite'):
                    call_row(dynamics, function, bad)


@pytest.mark.parametrize('size', [1e6, np.nextafter(1e6, 2e6), 1e7, 1e15, 1e300])
def test_huge_angles_are_computed_as_by_the_platform(size, pair):
    """Angles beyond those of the compiled sines give the Python backend's result."""
    values = samples(pair[0].robot, 11)
    scale = np.abs(call_row(pair[1], 'inverse_dynamics', values)).max()
    for index, sign in itertools.product(range(6), (1.0, -1.0)):
        q = values['q'].copy()
        q[9, index], q[2, index] = sign * size, -sign * size * 0.7
        big = {**values, 'q': q}
        for given in (big, row(big, 9)):
            found, expected = (call_row(dynamics, 'inverse_dynamics', given) for dynamics in pair)
            assert_same(found, expected, scale)


def call_in_all_ways(method, motion, extras):
    """Return results with extras by name, by place, and by place up to the last given one."""
    given = {key: value for key, value in extras.items() if value is not None}
    places = list(extras.values())
    while places and places[-1] is None:
        places.pop()
    return [
        method(*motion, *extras.values()),
        method(*motion, *places),
        method(*motion, **extras),
        method(*motion, **given),
        method(**dict(reversed(extras.items())), **dict(zip(MOTION, motion, strict=True))),
    ]


@pytest.mark.kept(6)
@pytest.mark.parametrize('given', list(itertools.product((False, True), repeat=3)))
@pytest.mark.parametrize('size', [None, 9])
@pytest.mark.parametrize('warm', [False, True])
def test_arguments_can_be_given_by_name_and_place(given, size, warm, pair):
    """Wrench, base motion, payload by place or by name, None for any, whatever is compiled yet."""
    _, python = pair
    numba = ned.Dynamics(python.robot, gravity=GRAVITY, backend='numba')
    values = samples(numba.robot, size or 1)
    values = row(values, 0) if size is None else values
    if warm:
        for function in CALLS:
            if function.startswith('inverse_dynamics'):
                call_row(numba, function, values)
    motion = [values[key] for key in MOTION]
    extras = {key: values[key] if there else None for key, there in zip(LOADS, given, strict=True)}
    cases = [(extras, extras)]
    if size is not None:  # one of each serves all samples
        one = {key: None if value is None else value[0].copy() for key, value in extras.items()}
        every = {
            key: None if value is None else np.tile(value, (size, 1)) for key, value in one.items()
        }
        cases.append((one, every))
    for some, whole in cases:
        expected = python.inverse_dynamics(*motion, **whole)
        for _ in range(2):  # the entries are there the second time
            for result in call_in_all_ways(numba.inverse_dynamics, motion, some):
                assert_same(result, expected)


@pytest.mark.parametrize(
    ('function', 'count', 'most'),
    [('inverse_dynamics', 3, 6), ('gravity_torque', 1, 1), ('mass_matrix', 1, 1)],
)
def test_a_wrong_number_of_arguments_is_a_type_error(function, count, most, pair):
    """Too many, too few, unknown and repeated arguments raise what Python raises."""
    q = np.zeros(6)
    getattr(pair[0], function)(*[q] * count)
    method = getattr(pair[0], function)
    for given, keywords in (
        (0, {}),
        (count - 1, {}),
        (most + 1, {}),
        (40, {}),
        (count, {'unknown': q}),
        (count, {'q': q}),
    ):
        with pytest.raises(TypeError, match=function):
            method(*[q] * given, **keywords)


@pytest.mark.kept(10)
@pytest.mark.parametrize('size', [None, 0, 1, 9, 40])
@pytest.mark.parametrize('function', CALLS)
def test_results_are_arrays_of_the_caller(function, size, pair):
    """A result is the caller's own, or in the array `out`; arguments stay as they are."""
    for dynamics in pair:
        values = samples(dynamics.robot, 1 if size is None else size)
        values = row(values, 0) if size is None else values
        before = {key: value.copy() for key, value in values.items()}
        results = [call_row(dynamics, function, values) for _ in range(3)]
        expected = np.array(results[0])
        for turn in range(3):
            out = np.full((3, *expected.shape), np.nan)
            given = out[1, ...]
            found = call_row(dynamics, function, values, out=given)
            assert found is given, turn
            np.testing.assert_array_equal(found, expected)
            assert np.isnan(out[[0, 2]]).all()
        if function.endswith('energy') and size is None:
            assert {type(result) for result in results} == {float}
            continue
        call_row(dynamics, function, {key: value + 0.1 for key, value in values.items()})
        for index, result in enumerate(results):
            np.testing.assert_array_equal(result, expected)
            assert result.flags.writeable
            assert result.flags.c_contiguous
            for array in (*results[:index], *(values[name] for name in CALLS[function])):
                assert not np.shares_memory(result, array)
        for key, value in values.items():
            np.testing.assert_array_equal(value, before[key])


@pytest.mark.kept(10)
@pytest.mark.parametrize('function', CALLS)
def test_lists_are_answered_as_arrays(function, pair):
    """One sample, a batch, lists among arrays, and whole numbers."""
    for dynamics, values in itertools.product(
        pair, (row(samples(pair[0].robot, 1), 0), samples(pair[0].robot, 3))
    ):
        for changed in (values, {key: np.ceil(value) for key, value in values.items()}):
            expected = call_row(dynamics, function, changed)
            for first in (0, 1):
                lists = {key: changed[key].tolist() for key in CALLS[function][first:]}
                found = call_row(dynamics, function, {**changed, **lists})
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize('function', ['inverse_dynamics', 'mass_matrix', 'joint_wrenches'])
def test_lists_do_not_take_the_long_way(function, pair, monkeypatch):
    """Once machine code answers, no check of Python's looks at lists, tuples or whole numbers."""
    names = CALLS[function]
    values = np.random.default_rng(2).uniform(-1.0, 1.0, (len(names), 6))
    getattr(pair[0], function)(*values)  # compiles
    entry = getattr(pair[0], function)
    whole = np.arange(values.size).reshape(values.shape)
    expected = [entry(*values), entry(*whole.astype(float)), entry(*values[:, np.newaxis])]
    monkeypatch.setattr('ne_dynamics.dynamics.calls.match_samples', None)
    found = [
        entry(*values.tolist()),
        entry(*map(tuple, whole.tolist())),
        entry(*values[:, np.newaxis].tolist()),
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    out = np.empty_like(expected[0])
    assert entry(*values.tolist(), out=out) is out
    np.testing.assert_array_equal(out, expected[0])


def test_calls_leak_neither_references_nor_memory(pair):
    numba, _ = pair
    values = samples(numba.robot, 1)
    good = [values[key][0] for key in CALLS['inverse_dynamics_in_full']]
    bad = [good[0], good[1] * np.nan, *good[2:]]
    lists = [array.tolist() for array in good]
    method = numba.inverse_dynamics
    counted = [*good, *bad, *lists, np.ndarray, numba, method]

    def measure(calls):
        """Make calls; return the references there are, and the memory of this process."""
        for _ in range(calls):
            method(*good)
            method(*good[:3], None, None, good[5])
            method(*good[:4])
            method(*good[:3])
        for _ in range(calls // 20):
            method(*lists)
            method(*good[:3], wrench=good[3])
            with pytest.raises(InputError):
                method(*bad)
            with pytest.raises(TypeError):
                method(*good[:2])
        gc.collect()
        pages = 0
        if os.path.exists('/proc/self/statm'):
            with open('/proc/self/statm') as file:
                pages = int(file.read().split()[1])
        return [sys.getrefcount(thing) for thing in counted], pages * os.sysconf('SC_PAGE_SIZE')

    (before, resident), (after, later) = measure(2000), measure(10000)
    assert before == after
    assert later - resident < 1.5e6  # one array leaked a call would be 3 MB


def test_several_threads_may_call_at_once(pair):
    numba, python = pair
    values = samples(numba.robot, 40)
    expected = call_row(python, 'inverse_dynamics', values)
    scale = np.abs(expected).max()
    barrier = threading.Barrier(4)

    def work(offset):
        barrier.wait()
        for turn in range(150):
            index = (offset * 7 + turn) % 40
            result = call_row(numba, 'inverse_dynamics', row(values, index))
            assert_same(result, expected[index], scale)
            if turn % 10 == 0:
                assert_same(call_row(numba, 'inverse_dynamics', values), expected, scale)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


FIRST_CALLS = """
import gc, sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
q = np.linspace(0.1, 0.9, 6)
expected = ned.Dynamics(robot, backend='python').gravity_torque(q)
shared = ned.Dynamics(robot, backend='numba') if sys.argv[1:] == ['shared'] else None
barrier = threading.Barrier(4)

def count_wrong(number):
    dynamics = shared or ned.Dynamics(robot, backend='numba')
    barrier.wait()
    wrong = 0
    for turn in range(100):
        for result in (dynamics.gravity_torque(q), dynamics.gravity_torque([q] * 9)[8]):
            wrong += not np.allclose(result, expected, rtol=0, atol=1e-10)
        if turn == 3:
            gc.collect()
    return wrong

with ThreadPoolExecutor(4) as pool:
    print('wrong', sum(pool.map(count_wrong, range(4))))
"""


@pytest.mark.parametrize('kind', ['shared', 'own'])
def test_first_calls_of_several_threads_compile_safely(kind, tmp_path):
    output = output_of(FIRST_CALLS, kind, NE_DYNAMICS_CACHE=str(tmp_path / 'new'))
    assert output == 'wrong 0\n'


# ---- sines and cosines


@pytest.fixture(scope='module')
def sincos(compile_program):
    """Compiled sines and cosines: a batch of one angle, one sample of three and of six."""

    def functions(q):
        return [[x.sin() for x in q], [x.cos() for x in q]]

    return {
        count: compile_program(trace(f'sincos{count}', (('q', count),), (2, count), functions))
        for count in (1, 3, 6)
    }


def hard_angles():
    """Return doubles next to multiples of pi/2, to both sides, up to 1e6."""
    rng = np.random.default_rng(3)
    turns = np.concatenate([np.arange(40), rng.integers(0, 636619, 150), [52174, 573204, 636619]])
    half_pi = np.longdouble('1.57079632679489661923132169163975144')
    nearest = (turns * half_pi).astype(float)
    angles = [nearest, np.nextafter(nearest, np.inf), np.nextafter(nearest, -np.inf)]
    angles += [nearest + np.pi / 4]  # where sine and cosine change places
    angles = np.concatenate([*angles, [5e-324, 1e-300, 1e-160, 1e-20, 1e-8, 1e6]])
    angles = angles[np.abs(angles) <= 1e6]
    return np.concatenate([angles, -angles])


def test_sines_are_exact_to_the_last_place_next_to_multiples_of_a_quarter_turn(sincos):
    """Where the reduction of the angle is hardest the relative error stays that of rounding."""
    angles = hard_angles()
    wide = angles.astype(np.longdouble)  # the C library's, of 64 bits at least
    batch = sincos[1][0].batch(angles[:, None])[:, :, 0]
    exact = np.stack([np.sin(wide), np.cos(wide)], axis=1)
    assert (np.abs(batch - exact) <= 3e-16 * np.maximum(np.abs(exact), 1e-320)).all()
    for count in (3, 6):
        entry = sincos[count][1]
        for start in range(0, len(angles) - count, count):
            some = angles[start : start + count].copy()
            np.testing.assert_allclose(
                entry(some), batch[start : start + count].T, rtol=4e-16, atol=1e-322
            )


@pytest.mark.parametrize(
    ('name', 'count'), [('inverse_dynamics', 3), ('gravity_torque', 1), ('jacobian', 1)]
)
def test_entries_keep_the_signature_of_the_method(name, count, pair):
    """Tools read the same argument names and defaults from a compiled entry as from the method."""
    getattr(pair[0], name)(*[np.zeros(6)] * count)
    found, expected = (
        [(key, value.default) for key, value in inspect.signature(method).parameters.items()]
        for method in (getattr(pair[0], name), getattr(pair[1], name))
    )
    assert found == expected
    assert getattr(pair[0], name).__doc__.startswith('Return')
