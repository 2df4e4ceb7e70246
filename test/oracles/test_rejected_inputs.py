"""Arrays and names that cannot be used are refused with an error of our tree that says why."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from method_tables import PLAIN
from oracle_measure import GRAVITY
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError, NeDynamicsError

N = 4

CASES = [(function, bad) for function, names in PLAIN.items() for bad in names]

BAD_VALUES = {
    'NaN': [0.0, np.nan, 0.0, 0.0],
    'infinity': [0.0, 0.0, np.inf, 0.0],
    'minus infinity': [-np.inf, 0.0, 0.0, 0.0],
    'too short': np.zeros(N - 1),
    'too long': np.zeros(N + 1),
    'empty': [],
    'scalar': 0.5,
    'three axes': np.zeros((1, 1, N)),
    'rows too short': np.zeros((2, N - 1)),
    'string': 'up',
    'strings': ['a', 'b', 'c', 'd'],
    'numbers as strings': ['0.1', '0.2', '0.3', '0.4'],
    'None': None,
    'None inside': [0.0, None, 0.0, 0.0],
    'ragged': [[0.0, 0.0], [0.0, 0.0, 0.0, 0.0]],
    'complex': [0.0, 1j, 0.0, 0.0],
    'dict': {'joint_1': 0.0},
}


@pytest.fixture(scope='module')
def subject():
    """A random robot of four coordinates."""
    for seed in range(100):
        tree = random_tree(seed, 6)
        if tree.n == N:
            return tree
    raise AssertionError('no random tree of the wanted size')


@functools.cache
def make_dynamics(text, tip, backend):
    """Make the dynamics of a description once: what is refused leaves no trace in them."""
    return ned.Dynamics(ned.load_urdf(text, tip_link=tip), gravity=GRAVITY, backend=backend)


@pytest.fixture
def dynamics(subject, backend):
    """The dynamics of that robot as a whole tree."""
    return make_dynamics(subject.urdf, None, backend)


@pytest.fixture
def chain(backend):
    """A chain with a tip, for the wrench."""
    text = (
        '<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    return make_dynamics(text, 'arm', backend)


@pytest.mark.parametrize(('function', 'bad'), CASES)
def test_joint_arrays(dynamics, function, bad):
    for what, value in BAD_VALUES.items():
        arguments = {name: np.zeros(N) for name in PLAIN[function]}
        arguments[bad] = value
        with pytest.raises(InputError, match=rf'\b{bad}\b'):
            pytest.fail(f'{what}: {getattr(dynamics, function)(**arguments)}')


LOADS = {'wrench': 6, 'base_motion': 9, 'payload': 10, 'external_wrenches': 6}
"""Numbers that each load has; one in a mapping for wrenches on links."""


def list_bad_loads(size):
    """Return what is not so many finite numbers, nor two rows of them."""
    return {
        'one too few': np.zeros(size - 1),
        'one too many': np.zeros(size + 1),
        'a column': np.zeros((size, 1)),
        'a row too many': np.zeros((3, size)),
        'three axes': np.zeros((1, size, 1)),
        'nothing': [],
        'a number': 1.0,
        'NaN': [0.0] * (size - 1) + [np.nan],
        'infinity': [0.0] * (size - 1) + [np.inf],
        'a text': 'heavy',
        'texts': ['a'] * size,
        'None inside': [None] * size,
        'complex': [1j] * size,
    }


@pytest.mark.parametrize(
    ('function', 'load'),
    [(name, load) for name in ('inverse_dynamics', 'forward_dynamics') for load in LOADS]
    + [('gravity_torque', 'payload'), ('mass_matrix', 'payload')],
)
@pytest.mark.parametrize('rows', [(), (2,)], ids=['sample', 'batch'])
def test_loads(chain, function, load, rows):
    """Named with what was expected; the next good call gives what one gave before."""
    method = getattr(chain, function)
    joints = [np.zeros((*rows, 1))] * len(PLAIN[function])
    before = method(*joints)
    takes_place = function.endswith('dynamics') and load != 'external_wrenches'
    before_it = [None] * list(LOADS).index(load)
    for what, value in list_bad_loads(LOADS[load]).items():
        given = {'arm': value} if load == 'external_wrenches' else value
        name = r"external_wrenches\['arm'\]" if load == 'external_wrenches' else load
        for _ in range(2):
            with pytest.raises(InputError, match=rf'^{name}: expected'):
                pytest.fail(f'{what}: {method(*joints, **{load: given})}')
            if takes_place:
                with pytest.raises(InputError, match=rf'^{name}: expected'):
                    pytest.fail(f'{what}: {method(*joints, *before_it, given)}')
        np.testing.assert_array_equal(method(*joints), before)


@pytest.mark.parametrize('function', ['inverse_dynamics', 'forward_dynamics'])
def test_wrenches_on_links(chain, function):
    """They are a mapping, by name only, from links that the robot has."""
    method, zero = getattr(chain, function), np.zeros(1)
    for value in (np.ones(6), [1.0] * 6, 'arm', 7, [('arm', np.ones(6))]):
        with pytest.raises(NeDynamicsError, match='external_wrenches: expected a mapping'):
            method(zero, zero, zero, external_wrenches=value)
    for link in ('nowhere', '', None, 3, ('arm',)):
        with pytest.raises(NeDynamicsError, match=r'link|external_wrenches'):
            method(zero, zero, zero, external_wrenches={link: np.ones(6)})
    with pytest.raises(TypeError):
        method(zero, zero, zero, None, None, None, {'arm': np.ones(6)})


def test_nothing_is_carried_without_a_tip(dynamics):
    """Without a tip a payload or a wrench is an error with a base motion too; none is not."""
    tree = ned.Dynamics(
        replace(dynamics.robot, tip_link=None), gravity=GRAVITY, backend=dynamics.backend
    )
    zero, base = np.zeros(N), np.ones(9)
    for _ in range(3):
        with pytest.raises(ModelError, match='tip'):
            tree.inverse_dynamics(zero, zero, zero, payload=np.ones(10))
        with pytest.raises(ModelError, match='tip'):
            tree.inverse_dynamics(zero, zero, zero, None, base, np.ones(10))
        with pytest.raises(ModelError, match='tip'):
            tree.inverse_dynamics(zero, zero, zero, np.ones(6), base)
        with pytest.raises(InputError, match='wrench'):
            tree.inverse_dynamics(zero, zero, zero, np.full(6, np.nan), base)
        expected = tree.inverse_dynamics(zero, zero, zero, None, base)
        for arguments in ((np.zeros(6), base), (np.zeros(6), base, None), (None, base, None)):
            np.testing.assert_array_equal(
                tree.inverse_dynamics(zero, zero, zero, *arguments), expected
            )


@pytest.mark.parametrize(
    'gravity',
    [(0.0, 0.0), 9.81, (0.0, 0.0, np.nan), (0.0, 0.0, np.inf), 'down', None, np.zeros((3, 1))],
    ids=repr,
)
def test_gravity(subject, gravity):
    robot = ned.load_urdf(subject.urdf)
    with pytest.raises(InputError, match='gravity'):
        ned.Dynamics(robot, gravity=gravity, backend='python')


def call_or_refuse(method, arguments):
    """Return the result and '', or zero and the message of an error of input."""
    try:
        return method(**arguments), ''
    except InputError as error:
        return 0.0, str(error)


@pytest.mark.parametrize(
    'function',
    [
        name
        for name, names in PLAIN.items()
        if 'qd' in names and len(names) > 1 and name != 'jacobian_rate'  # it needs a tip
    ],
)
def test_velocities_so_large_that_the_result_overflows(dynamics, function):
    """Finite input gives finite output or an error, never infinity, for a sample and a batch."""
    for rows in ((), (3,), (9,)):
        arguments = {name: np.full((*rows, N), 0.3) for name in PLAIN[function]}
        for speed in (1e150, 1e200, 1.7e308):
            arguments['qd'] = np.full((*rows, N), speed)
            for _ in range(2):
                result, message = call_or_refuse(getattr(dynamics, function), arguments)
                assert np.isfinite(result).all()
                assert not message or 'overflow' in message
            arguments['qd'] = np.full((*rows, N), 0.3)
            assert np.isfinite(getattr(dynamics, function)(**arguments)).all()
