"""Functions of arrays: one text for NumPy, JAX, PyTorch and every library of the standard."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import types
from dataclasses import replace

import numpy as np
import pytest
from function_rows import call_by_sample
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.codegen.array_function import NAMES
from ne_dynamics.codegen.functions import FUNCTIONS
from ne_dynamics.codegen.programs import list_functions
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

TOLERANCE = 1e-12
"""Largest difference from the methods, relative to the largest number of the result."""

GRAVITY = (0.3, -0.2, -9.80665)

LIBRARIES = ('numpy', 'array_api_strict', 'jax.numpy', 'torch', 'array_api_compat.torch')
"""The strict one is the reference of the standard: it has nothing else."""


def load_arm():
    """Return the shipped arm with friction and rotors."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    for key, value in (
        ('viscous_friction', 0.3),
        ('coulomb_friction', 0.2),
        ('rotor_inertia', 1e-4),
    ):
        robot = robot.with_joint_values(key, np.full(robot.n, value))
    return robot


def load_tree():
    """Return a random tree with prismatic and mimic joints, and a tip."""
    tree = random_tree(21, 6)
    assert {'prismatic', 'mimic', 'revolute'} <= set(tree.kinds)
    return replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)


DYNAMICS = {
    name: ned.Dynamics(load(), gravity=GRAVITY, backend='python')
    for name, load in (('arm', load_arm), ('tree', load_tree))
}

CASES = [
    (robot, name)
    for robot, dynamics in DYNAMICS.items()
    for name in list_functions(dynamics.robot)
]


def load_library(name):
    """Return a namespace of arrays, in double precision; skip where it is missing."""
    xp = pytest.importorskip(name, reason=f'{name} is missing')
    if name == 'jax.numpy':
        import jax

        jax.config.update('jax_enable_x64', True)
    return xp


@pytest.fixture(params=LIBRARIES)
def xp(request):
    """Each namespace in turn."""
    return load_library(request.param)


def read(array, xp):
    """Return the numbers of an array of a namespace, on any of its devices."""
    if xp.__name__ == 'array_api_strict':
        return np.from_dlpack(xp.asarray(array, device=xp.Device('CPU_DEVICE')))
    return np.asarray(array)


def draw(name, robot, leading=(3,), seed=0):
    """Return random arguments of a function."""
    rng = np.random.default_rng([seed, len(name)])
    return [
        rng.uniform(
            0.0 if argument.is_nonnegative else -1.5, 1.5, (*leading, argument.count(robot))
        )
        for argument in FUNCTIONS[name].arguments
    ]


def compute_by_method(dynamics, name, arrays):
    """Return what the method says of samples (N, count), the axis of the samples first."""
    names = [argument.name for argument in FUNCTIONS[name].arguments]
    return call_by_sample(dynamics, name, dict(zip(names, arrays, strict=True)))


def assert_close(result, expected, tolerance=TOLERANCE):
    """Assert that numbers are equal within the tolerance, and that there are numbers."""
    assert result.shape == expected.shape
    scale = np.abs(expected).max(initial=0.0)
    assert scale > 0.0 or not expected.size
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * scale)


@pytest.mark.kept(24)
@pytest.mark.parametrize(('robot', 'name'), CASES)
def test_every_function_equals_its_method(robot, name, xp):
    dynamics = DYNAMICS[robot]
    arrays = draw(name, dynamics.robot)
    result = dynamics.array_function(name, xp)(*map(xp.asarray, arrays))
    assert_close(read(result, xp), compute_by_method(dynamics, name, arrays))


@pytest.mark.parametrize('dtype', ['float64', 'float32'])
@pytest.mark.parametrize('name', ['inverse_dynamics', 'link_poses', 'potential_energy'])
@pytest.mark.parametrize('leading', [(), (1,), (0,), (2, 3)])
def test_leading_axes_and_precision_are_those_of_the_arguments(name, leading, dtype, xp):
    """One sample, none, and a grid give results of that shape; single precision stays single."""
    dynamics = DYNAMICS['arm']
    arrays = draw(name, dynamics.robot, leading)
    kind = getattr(xp, dtype)
    given = [xp.asarray(array, dtype=kind) for array in arrays]
    result = dynamics.array_function(name, xp)(*given)
    assert result.dtype == kind
    rows = [array.reshape(-1, array.shape[-1]) for array in arrays]
    expected = compute_by_method(dynamics, name, rows)
    tolerance = TOLERANCE if dtype == 'float64' else 1e-4
    assert_close(read(result, xp), expected.reshape((*leading, *expected.shape[1:])), tolerance)


@pytest.mark.parametrize('name', ['mass_matrix', 'forward_kinematics'])
def test_the_result_is_on_the_device_of_the_arguments(name):
    """Nothing of the result, constants included, is made on another device."""
    xp = load_library('array_api_strict')
    device = xp.Device('device1')
    dynamics = DYNAMICS['arm']
    (q,) = draw(name, dynamics.robot)
    result = dynamics.array_function(name, xp)(xp.asarray(q, device=device))
    assert result.device == device
    assert_close(read(result, xp), compute_by_method(dynamics, name, [q]))


# ---- what a library does with functions


@pytest.mark.parametrize(
    ('robot', 'name'),
    [('arm', 'inverse_dynamics'), ('tree', 'forward_dynamics'), ('tree', 'jacobian')],
)
def test_jax_compiles_and_maps(robot, name):
    """Under jit, vmap and both the numbers are those of the methods."""
    xp = load_library('jax.numpy')
    import jax

    arrays = draw(name, DYNAMICS[robot].robot, (5,))
    expected = compute_by_method(DYNAMICS[robot], name, arrays)
    function = DYNAMICS[robot].array_function(name, xp)
    for changed in (jax.jit(function), jax.vmap(function), jax.jit(jax.vmap(function))):
        assert_close(np.asarray(changed(*arrays)), expected)


@pytest.mark.parametrize('mode', ['jacfwd', 'jacrev'])
@pytest.mark.parametrize('name', ['inverse_dynamics', 'forward_dynamics'])
@pytest.mark.parametrize('library', ['jax.numpy', 'torch'])
def test_libraries_differentiate(library, name, mode):
    """Both modes give the derivatives of the methods, sample by sample."""
    xp = load_library(library)
    if library == 'torch':
        from torch import func as transforms
    else:
        import jax as transforms
    dynamics = DYNAMICS['tree']
    arrays = draw(name, dynamics.robot, (4,))
    expected = np.moveaxis(getattr(dynamics, f'{name}_derivatives')(*arrays), 1, 0)
    slopes = getattr(transforms, mode)(dynamics.array_function(name, xp), argnums=(0, 1, 2))
    found = transforms.vmap(slopes)(*map(xp.asarray, arrays))
    for k in range(3):
        assert_close(np.asarray(found[k]), expected[:, k])


def test_torch_differentiates_backwards():
    torch = load_library('torch')
    q, qd = arrays = draw('kinetic_energy', DYNAMICS['arm'].robot, (4,))
    q, qd = (torch.asarray(array).requires_grad_() for array in arrays)
    DYNAMICS['arm'].array_function('kinetic_energy', torch)(q, qd).sum().backward()
    assert_close(qd.grad.numpy(), DYNAMICS['arm'].generalized_momentum(*arrays))


# ---- the text


# ---- errors


@pytest.mark.parametrize(
    ('xp', 'message'),
    [
        (math, r'got math, which lacks broadcast_to, full_like, reshape, sign, stack$'),
        (None, r'got NoneType, which lacks broadcast_to, cos, .*stack$'),
        ('numpy', r'got str, which lacks broadcast_to, cos, '),
        (
            types.SimpleNamespace(**{name: abs for name in NAMES if name != 'stack'}),
            r'got SimpleNamespace, which lacks stack$',
        ),
    ],
)
def test_what_is_no_namespace_is_an_error(xp, message):
    """The message says which functions are missing."""
    start = 'xp: expected a namespace of the Python array API standard.* '
    with pytest.raises(InputError, match=start + message):
        DYNAMICS['arm'].array_function('inverse_dynamics', xp)


@pytest.mark.parametrize('count', [0, 2, 4])
def test_a_wrong_number_of_arguments_is_an_error(count):
    """The message names the arguments that are expected."""
    function = DYNAMICS['arm'].array_function('inverse_dynamics', np)
    message = rf'inverse_dynamics: expected 3 arrays \(q, qd, qdd\), got {count}'
    with pytest.raises(InputError, match=message):
        function(*[np.zeros(6)] * count)


@pytest.mark.parametrize(
    ('position', 'make', 'message'),
    [
        (1, lambda xp: xp.zeros(5), r'qd: expected shape \(..., 6\), got \(5,\)'),
        (0, lambda xp: xp.zeros(()), r'q: expected shape \(..., 6\), got \(\)'),
        (4, lambda xp: xp.zeros((3, 6)), r'base_motion: .* \(..., 9\), got \(3, 6\)'),
        (2, lambda xp: xp.zeros((4, 6)), r'qdd: .* broadcast with \(3,\) .*, got \(4, 6\)'),
        (0, lambda xp: xp.asarray([0] * 6), r'q: .* real floating-point numbers, got .*int'),
        (0, lambda xp: [0.0] * 6, 'q: expected an array, got list'),
        (0, lambda xp: np.ma.zeros(6), 'q: expected an array without mask'),
    ],
)
def test_an_argument_that_cannot_be_used_is_an_error(position, make, message, xp):
    """Shape, kind of numbers and kind of array are named: the constants are no integers."""
    name = 'inverse_dynamics_in_full'
    arrays = [xp.asarray(array) for array in draw(name, DYNAMICS['arm'].robot)]
    arrays[position] = make(xp)
    with pytest.raises(InputError, match=message):
        DYNAMICS['arm'].array_function(name, xp)(*arrays)


@pytest.mark.filterwarnings('ignore:You are comparing')
def test_arrays_of_another_library_are_an_error():
    strict = load_library('array_api_strict')
    ours, theirs = np.zeros(6), strict.zeros(6)
    for xp, arrays, message in (
        (strict, (ours, ours), r'q: .* array_api_strict, got a numpy\.ndarray$'),
        (strict, (theirs, ours), r'qd: .* array_api_strict, got a numpy\.ndarray$'),
        (np, (theirs, ours), r'q: .* numpy, got a array_api_strict\..*Array$'),
    ):
        with pytest.raises(InputError, match=message):
            DYNAMICS['arm'].array_function('bias_torque', xp)(*arrays)


@pytest.mark.parametrize(
    'clone', [lambda thing: pickle.loads(pickle.dumps(thing)), copy.copy, copy.deepcopy]
)
def test_a_function_can_be_pickled_and_copied(clone, xp):
    function = DYNAMICS['arm'].array_function('inverse_dynamics', xp)
    twin = clone(function)
    arrays = [xp.asarray(array) for array in draw('inverse_dynamics', DYNAMICS['arm'].robot)]
    np.testing.assert_array_equal(read(twin(*arrays), xp), read(function(*arrays), xp))
    assert (twin.__name__, twin.__doc__) == (function.__name__, function.__doc__)
    assert inspect.signature(twin) == inspect.signature(function)
    assert xp.__name__ in repr(twin)
