"""Functions of arrays: one text for NumPy, JAX, PyTorch and every library of the standard."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import pickle
import re
import types
from dataclasses import replace

import numpy as np
import pytest
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


def load_arm():
    """Return the shipped arm with friction and rotors."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    joints = [
        replace(joint, viscous_friction=0.3, coulomb_friction=0.2, rotor_inertia=1e-4)
        for joint in robot.joints
    ]
    return replace(robot, joints=tuple(joints))


def load_tree():
    """Return a random tree with prismatic and mimic joints, and a tip."""
    tree = random_tree(21, 6)
    assert {'prismatic', 'mimic', 'revolute'} <= set(tree.kinds)
    return replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)


ROBOTS = {'arm': load_arm, 'tree': load_tree}

DYNAMICS = {
    name: ned.Dynamics(load(), gravity=GRAVITY, backend='python') for name, load in ROBOTS.items()
}

CASES = [
    (robot, name)
    for robot, dynamics in DYNAMICS.items()
    for name in list_functions(dynamics.robot)
]


class Numpy:
    """How the tests speak to NumPy, and the base of the other libraries."""

    xp = np
    float32 = np.float32

    def array(self, values):
        """Return an array of the library in double precision."""
        return self.xp.asarray(values)

    def values(self, array):
        """Return the numbers of an array."""
        return np.asarray(array)


class Strict(Numpy):
    """The reference of the standard: it has nothing that the standard does not have."""

    def __init__(self):
        self.xp = pytest.importorskip('array_api_strict', reason='array-api-strict is missing')
        self.float32 = self.xp.float32

    def values(self, array):
        """Return the numbers of an array on any of its devices."""
        return np.from_dlpack(self.xp.asarray(array, device=self.xp.Device('CPU_DEVICE')))


class Jax(Numpy):
    """JAX, in double precision."""

    def __init__(self):
        jax = pytest.importorskip('jax', reason='JAX is missing')
        jax.config.update('jax_enable_x64', True)
        self.xp = jax.numpy
        self.float32 = self.xp.float32


class Torch(Numpy):
    """PyTorch itself, which is near enough to the standard."""

    def __init__(self):
        self.xp = pytest.importorskip('torch', reason='PyTorch is missing')
        self.float32 = self.xp.float32


class CompatTorch(Torch):
    """PyTorch as the package array-api-compat shows it."""

    def __init__(self):
        super().__init__()
        self.xp = pytest.importorskip(
            'array_api_compat.torch', reason='array-api-compat is missing'
        )


CLONES = {
    'pickle': lambda thing: pickle.loads(pickle.dumps(thing)),
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
}

LIBRARIES = {
    'numpy': Numpy,
    'array_api_strict': Strict,
    'jax': Jax,
    'torch': Torch,
    'array_api_compat.torch': CompatTorch,
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Each library in turn; skips where it is missing."""
    return LIBRARIES[request.param]()


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
    row = FUNCTIONS[name]
    given = dict(zip([argument.name for argument in row.arguments], arrays, strict=True))
    method = row.method or re.sub(
        '_(in_tip_axes|at_base_origin|with_external_wrenches)$', '', name
    )
    if 'external_wrenches' in given:
        on_bodies = np.split(given['external_wrenches'], len(dynamics.robot.bodies), axis=-1)
        names = [body.name for body in dynamics.robot.bodies]
        given['external_wrenches'] = dict(zip(names, on_bodies, strict=True))
    elif method != row.method:
        given['axes'] = 'tip' if name.endswith('_in_tip_axes') else 'world'
    result = getattr(dynamics, method)(**given)
    return np.moveaxis(result, 0, 1) if row.is_stacked else result


def assert_close(result, expected):
    """Assert that numbers are equal within the tolerance, and that there are numbers."""
    assert result.shape == expected.shape
    scale = np.abs(expected).max()
    assert scale > 0.0
    np.testing.assert_allclose(result, expected, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.kept(24)
@pytest.mark.parametrize(('robot', 'name'), CASES)
def test_every_function_equals_its_method(robot, name, library):
    dynamics = DYNAMICS[robot]
    arrays = draw(name, dynamics.robot)
    function = dynamics.array_function(name, library.xp)
    result = function(*[library.array(array) for array in arrays])
    assert_close(library.values(result), compute_by_method(dynamics, name, arrays))


@pytest.mark.parametrize('name', ['inverse_dynamics', 'link_poses', 'kinetic_energy'])
@pytest.mark.parametrize('leading', [(), (1,), (0,), (2, 3)])
def test_leading_axes_are_those_of_the_arguments(name, leading, library):
    """One sample, no sample and a grid of samples give results of the same leading shape."""
    dynamics = DYNAMICS['arm']
    arrays = draw(name, dynamics.robot, leading)
    result = library.values(
        dynamics.array_function(name, library.xp)(*[library.array(array) for array in arrays])
    )
    rows = [array.reshape(-1, array.shape[-1]) for array in arrays]
    expected = compute_by_method(dynamics, name, rows)
    assert result.shape == (*leading, *expected.shape[1:])
    flat = result.reshape(expected.shape)
    atol = TOLERANCE * np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(flat, expected, rtol=0, atol=atol)
    assert leading == (0,) or flat.any()


@pytest.mark.parametrize('name', ['inverse_dynamics', 'regressor', 'potential_energy'])
@pytest.mark.parametrize('leading', [(), (3,)])
def test_single_precision_stays_single(name, leading, library):
    """float32 in, float32 out, constants among the results included."""
    dynamics = DYNAMICS['arm']
    arrays = draw(name, dynamics.robot, leading)
    given = [library.xp.asarray(array, dtype=library.float32) for array in arrays]
    result = dynamics.array_function(name, library.xp)(*given)
    assert result.dtype == library.float32
    rows = [array.reshape(-1, array.shape[-1]) for array in arrays]
    expected = compute_by_method(dynamics, name, rows).reshape(result.shape)
    np.testing.assert_allclose(
        library.values(result), expected, rtol=0, atol=1e-4 * np.abs(expected).max()
    )


@pytest.mark.parametrize('name', ['mass_matrix', 'forward_kinematics'])
def test_the_result_is_on_the_device_of_the_arguments(name):
    """Nothing of the result, constants included, is made on another device."""
    strict = Strict()
    device = strict.xp.Device('device1')
    dynamics = DYNAMICS['arm']
    (q,) = draw(name, dynamics.robot)
    result = dynamics.array_function(name, strict.xp)(strict.xp.asarray(q, device=device))
    assert result.device == device
    assert_close(strict.values(result), compute_by_method(dynamics, name, [q]))


# ---- what a library does with functions


@pytest.fixture
def jax():
    """JAX in double precision."""
    Jax()
    import jax

    return jax


@pytest.fixture
def torch():
    """PyTorch."""
    return Torch().xp


@pytest.mark.parametrize(
    ('robot', 'name'),
    [('arm', 'inverse_dynamics'), ('tree', 'forward_dynamics'), ('tree', 'jacobian')],
)
def test_jax_compiles_and_maps(robot, name, jax):
    """Under jit, vmap and both the numbers are those of the methods."""
    dynamics = DYNAMICS[robot]
    arrays = draw(name, dynamics.robot, (5,))
    expected = compute_by_method(dynamics, name, arrays)
    function = dynamics.array_function(name, jax.numpy)
    for changed in (jax.jit(function), jax.vmap(function), jax.jit(jax.vmap(function))):
        assert_close(np.asarray(changed(*arrays)), expected)


@pytest.mark.parametrize(
    ('robot', 'name', 'mode'),
    [
        ('tree', 'inverse_dynamics', 'jacfwd'),
        ('tree', 'inverse_dynamics', 'jacrev'),
        ('tree', 'forward_dynamics', 'jacfwd'),
    ],
)
def test_jax_differentiates(robot, name, mode, jax):
    """Both modes give the derivatives of the methods, sample by sample."""
    dynamics = DYNAMICS[robot]
    arrays = draw(name, dynamics.robot, (4,))
    expected = np.moveaxis(getattr(dynamics, f'{name}_derivatives')(*arrays), 1, 0)
    function = dynamics.array_function(name, jax.numpy)
    found = jax.vmap(getattr(jax, mode)(function, argnums=(0, 1, 2)))(*arrays)
    for k in range(3):
        assert_close(np.asarray(found[k]), expected[:, k])


@pytest.mark.parametrize('robot', ROBOTS)
def test_torch_maps_and_differentiates(robot, torch):
    """torch.func maps and differentiates in both modes; autograd gives the same."""
    dynamics = DYNAMICS[robot]
    arrays = draw('inverse_dynamics', dynamics.robot, (4,))
    tensors = [torch.asarray(array) for array in arrays]
    function = dynamics.array_function('inverse_dynamics', torch)
    expected = dynamics.inverse_dynamics(*arrays)
    assert_close(torch.func.vmap(function)(*tensors).numpy(), expected)
    slopes = np.moveaxis(dynamics.inverse_dynamics_derivatives(*arrays), 1, 0)
    for mode in (torch.func.jacfwd, torch.func.jacrev):
        found = torch.func.vmap(mode(function, argnums=(0, 1, 2)))(*tensors)
        for k in range(3):
            assert_close(found[k].numpy(), slopes[:, k])
    q, qd = (torch.asarray(array).requires_grad_() for array in arrays[:2])
    dynamics.array_function('kinetic_energy', torch)(q, qd).sum().backward()
    assert_close(qd.grad.numpy(), dynamics.generalized_momentum(*arrays[:2]))


# ---- the text


@pytest.mark.kept(1)
@pytest.mark.parametrize('robot', ROBOTS)
def test_the_text_is_straight_lines_that_write_into_nothing(robot):
    """Only assignments to names, each once, and calls of the names that are listed."""
    dynamics = DYNAMICS[robot]
    called = set()
    for name in list_functions(dynamics.robot):
        tree = ast.parse(dynamics.source(name, 'array-api'))
        (function,) = tree.body
        *statements, last = function.body
        assert isinstance(last, ast.Return)
        assert all(isinstance(statement, ast.Assign) for statement in statements)
        targets = [target for statement in statements for target in statement.targets]
        assert all(isinstance(target, ast.Name) for target in targets)
        assigned = [target.id for target in targets]
        known = {argument.arg for argument in function.args.args}
        assert len(set(assigned)) == len(assigned)
        assert not known & set(assigned)
        for node in ast.walk(tree):
            assert not isinstance(node, (ast.IfExp, ast.Compare, ast.BoolOp, ast.Lambda)), name
            if isinstance(node, ast.Call):
                assert isinstance(node.func, ast.Attribute)
                assert node.func.value.id == 'xp'
                called.add(node.func.attr)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert node.id in assigned
            if isinstance(node, ast.Constant) and node.value is not Ellipsis:
                assert math.isfinite(node.value)
        read = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        assert set(assigned) <= read, 'something is computed for nothing'
        assert read <= known | set(assigned)
    # Beside those of every robot, those of the control laws.
    of_laws = {'abs', 'maximum', 'minimum', 'round', 'tanh'}
    assert (called | {'broadcast_to'}) - of_laws == set(NAMES)


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
    with pytest.raises(InputError, match=message) as caught:
        DYNAMICS['arm'].array_function('inverse_dynamics', xp)
    assert str(caught.value).startswith(
        'xp: expected a namespace of the Python array API standard'
    )


@pytest.mark.parametrize('count', [0, 2, 4])
def test_a_wrong_number_of_arguments_is_an_error(count):
    """The message names the arguments that are expected."""
    function = DYNAMICS['arm'].array_function('inverse_dynamics', np)
    message = rf'inverse_dynamics: expected 3 arrays \(q, qd, qdd\), got {count}'
    with pytest.raises(InputError, match=message):
        function(*[np.zeros(6)] * count)


@pytest.mark.parametrize(
    ('name', 'position', 'shape', 'message'),
    [
        ('inverse_dynamics', 1, (5,), r'qd: expected shape \(..., 6\), got \(5,\)'),
        ('inverse_dynamics', 0, (), r'q: expected shape \(..., 6\), got \(\)'),
        ('inverse_dynamics_in_full', 4, (3, 6), r'base_motion: .* \(..., 9\), got \(3, 6\)'),
        ('inverse_dynamics', 2, (4, 6), r'qdd: .* broadcast with \(3,\) .*, got \(4, 6\)'),
    ],
)
def test_a_wrong_shape_is_an_error(name, position, shape, message, library):
    dynamics = DYNAMICS['arm']
    arrays = draw(name, dynamics.robot)
    arrays[position] = np.zeros(shape)
    with pytest.raises(InputError, match=message):
        dynamics.array_function(name, library.xp)(*[library.array(array) for array in arrays])


def test_numbers_that_are_not_floating_are_an_error(library):
    """Integers are refused by name: the constants of a robot are no integers."""
    function = DYNAMICS['arm'].array_function('gravity_torque', library.xp)
    with pytest.raises(InputError, match=r'q: expected real floating-point numbers, got .*int'):
        function(library.xp.asarray([0, 1, 0, 0, 0, 0]))
    with pytest.raises(InputError, match='q: expected an array, got list'):
        function([0.0] * 6)


@pytest.mark.filterwarnings('ignore:You are comparing')
def test_arrays_of_another_library_are_an_error():
    strict = pytest.importorskip('array_api_strict', reason='array-api-strict is missing')
    dynamics = DYNAMICS['arm']
    ours, theirs = np.zeros(6), strict.zeros(6)
    function = dynamics.array_function('bias_torque', strict)
    with pytest.raises(InputError, match=r'q: .* array_api_strict, got a numpy\.ndarray$'):
        function(ours, ours)
    with pytest.raises(InputError, match=r'qd: .* array_api_strict, got a numpy\.ndarray$'):
        function(theirs, ours)
    function = dynamics.array_function('bias_torque', np)
    with pytest.raises(InputError, match=r'q: .* numpy, got a array_api_strict\..*Array$'):
        function(theirs, ours)


@pytest.mark.parametrize('clone', CLONES.values(), ids=CLONES)
def test_a_function_can_be_pickled_and_copied(clone, library):
    dynamics = DYNAMICS['arm']
    function = dynamics.array_function('inverse_dynamics', library.xp)
    twin = clone(function)
    arrays = [library.array(array) for array in draw('inverse_dynamics', dynamics.robot)]
    np.testing.assert_array_equal(library.values(twin(*arrays)), library.values(function(*arrays)))
    assert (twin.__name__, twin.__doc__) == (function.__name__, function.__doc__)
    assert inspect.signature(twin) == inspect.signature(function)
    assert library.xp.__name__ in repr(twin)


def test_masked_arrays_are_refused():
    """A mask would be lost."""
    function = DYNAMICS['arm'].array_function('gravity_torque', np)
    with pytest.raises(InputError, match='q: expected an array without mask'):
        function(np.ma.masked_array(np.zeros(6), mask=[1, 0, 0, 0, 0, 0]))
