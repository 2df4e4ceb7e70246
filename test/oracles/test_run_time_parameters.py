"""Dynamics with parameters of the run time are the dynamics of the robot that has them."""

import copy
import functools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from method_tables import ALL_CALLS
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases, relative_error
from random_robots import random_tree
from rotor_trees import load_rotor_tree

import ne_dynamics as ned
from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.model.rigid_body import Inertia

ROWS = 2
TOLERANCE = 1e-12
"""Relative to the largest number of the result."""

TREES = [(1602, 1), (1605, 4), (1600, 8), (1620, 11)]
"""On both sides of the ten joints up to which derivatives are written out."""

COMPILED_TREES = [(1605, 4)]

every_tree = pytest.mark.parametrize(
    ('backend', 'tree'),
    backend_cases(TREES, COMPILED_TREES.__contains__),
    indirect=['backend'],
    ids=str,
)

KEYS = ('inertial', 'viscous_friction', 'coulomb_friction', 'rotor_inertia')

FORWARD = {call: names for call, names in ALL_CALLS.items() if call.startswith('forward_dynamics')}
"""Calls whose results are compared through the mass matrix."""

METHODS = {call: names for call, names in ALL_CALLS.items() if call not in FORWARD}
"""Calls whose results are compared as they are."""


@functools.cache
def real_parameters(seed, robot):
    """Return parameters of real bodies with full tensors, friction and rotors, by keyword."""
    rng = np.random.default_rng([seed, 13])
    inertial = []
    for _ in robot.bodies:
        mass = rng.uniform(0.5, 5.0)
        x, y, z = mass * rng.uniform(0.05, 0.3, 3) ** 2
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T
        body = Inertia(mass, rng.uniform(-0.3, 0.3, 3), 0.5 * (tensor + tensor.T))
        inertial.append(body.parameters)
    return {
        'inertial': np.concatenate(inertial),
        'viscous_friction': rng.uniform(0.0, 2.0, robot.n),
        'coulomb_friction': rng.uniform(0.0, 2.0, robot.n),
        'rotor_inertia': rng.uniform(0.0, 0.05, robot.n),
    }


def change_robot(robot, parameters):
    """Return the robot whose first link of each body carries all of it; joints changed."""
    changed = robot
    if 'inertial' in parameters:
        rows = iter(parameters['inertial'].reshape(len(robot.bodies), 10))
        inertias = {index: Inertia.from_parameters(row) for index, row in enumerate(rows)}
        links = []
        for link in robot.links:
            if link.body != -1:
                own = inertias.pop(link.body, None)
                at_link = (
                    Inertia.zero() if own is None else own.transformed(link.pose_in_body.inverse())
                )
                link = replace(link, inertia=at_link)
            links.append(link)
        changed = replace(changed, links=tuple(links))
    joints = [
        replace(
            joint, **{key: float(parameters[key][index]) for key in KEYS[1:] if key in parameters}
        )
        for index, joint in enumerate(robot.joints)
    ]
    return replace(changed, joints=tuple(joints))


def arguments_of(dynamics, seed, rows=ROWS):
    """Return arguments by name, one row a sample."""
    sample = random_motion(seed, rows, dynamics.n)
    rng = np.random.default_rng([seed, 14])
    payload = Inertia(1.3, [0.1, -0.2, 0.05], np.diag([0.02, 0.03, 0.04])).parameters
    return {
        'q': sample.q,
        'qd': sample.qd,
        'qdd': sample.qdd,
        'tau': rng.uniform(-20.0, 20.0, (rows, dynamics.n)),
        'wrench': sample.wrench,
        'base_motion': sample.base_motion,
        'payload': np.tile(payload, (rows, 1)),
    }


def check_equal(found, expected, seed, methods=METHODS, forward=FORWARD, tolerance=TOLERANCE):
    """Assert that every method agrees, a batch, its rows one by one, and into an array.

    Accelerations are compared through the mass matrix: it takes out the conditioning.
    """
    arguments = arguments_of(expected, seed)
    rows = range(len(arguments['q']))
    for method, names in {**methods, **forward}.items():
        function = method.split()[0]
        values = {name: arguments[name] for name in names}
        right = getattr(expected, function)(**values)
        axis = 1 if 'derivatives' in method else 0
        for turn in range(2):
            batch = getattr(found, function)(**values)
            singles = np.stack(
                [
                    getattr(found, function)(
                        **{name: value[row] for name, value in values.items()}
                    )
                    for row in rows
                ],
                axis,
            )
            out = np.full(np.shape(right), np.nan)
            assert getattr(found, function)(**values, out=out) is out
            for form, computed in (('batch', batch), ('single', singles), ('out', out)):
                error, bound = computed - right, np.abs(right).max()
                if method in forward:
                    mass = expected.mass_matrix(
                        arguments['q'],
                        payload=arguments['payload'] if 'payload' in names else None,
                    )
                    columns = slice(None) if axis else (..., None)
                    error = mass @ error[columns]
                    bound = (np.abs(mass) @ np.abs(right[columns])).max()
                where = f'{method}, {form}, call {turn + 1}'
                deviation = np.abs(error).max(initial=0.0)
                assert deviation <= tolerance * bound, (where, deviation / bound)


def check_wrenches_on_links(found, expected, seed):
    """Assert that both dynamics agree under wrenches on two links."""
    arguments = arguments_of(expected, seed)
    names = expected.link_names[1 :: max(1, len(expected.link_names) // 2)][:2]
    on_links = dict.fromkeys(names, arguments['wrench'])
    motion = [arguments[name] for name in ('q', 'qd', 'qdd')]
    right = expected.inverse_dynamics(*motion, external_wrenches=on_links)
    computed = found.inverse_dynamics(*motion, external_wrenches=on_links)
    assert relative_error(computed, right) <= TOLERANCE
    back = found.forward_dynamics(motion[0], motion[1], computed, external_wrenches=on_links)
    mass = expected.mass_matrix(motion[0])
    deviation = np.abs(mass @ (back - motion[2])[..., None]).max()
    terms = (np.abs(mass) @ np.abs(motion[2])[..., None]).max()
    assert deviation <= 1e-11 * max(terms, np.abs(right).max())


@functools.cache
def nominal(tree, backend):
    """Return the dynamics that all parameters of a tree start from."""
    return ned.Dynamics(load_rotor_tree(*tree), GRAVITY, backend)


@pytest.mark.kept(2)
@every_tree
def test_every_method_is_that_of_the_changed_robot(tree, backend):
    """All parameters at once, real bodies: every method, batch and single, within 1e-12."""
    parameters = real_parameters(tree[0], load_rotor_tree(*tree))
    found = nominal(tree, backend).with_parameters(**parameters)
    expected = ned.Dynamics(change_robot(load_rotor_tree(*tree), parameters), GRAVITY, 'python')
    check_equal(found, expected, tree[0])
    check_wrenches_on_links(found, expected, tree[0])
    np.testing.assert_allclose(
        found.inertial_parameters(), parameters['inertial'], rtol=0.0, atol=1e-13
    )
    assert found.link_names == expected.link_names
    np.testing.assert_array_equal(found.gravity, expected.gravity)
    assert found.backend == backend


@every_tree
def test_parameters_upon_parameters(tree, backend):
    """A second call starts from the first one's numbers; none at all changes nothing."""
    robot = load_rotor_tree(*tree)
    first, second = real_parameters(tree[0], robot), real_parameters(tree[0] + 5, robot)
    ours = nominal(tree, backend)
    stepwise = ours
    for key in KEYS:
        stepwise = stepwise.with_parameters(**{key: first[key]})
    together = ours.with_parameters(**first)
    mixed = {**first, 'viscous_friction': second['viscous_friction']}
    changed = together.with_parameters(viscous_friction=second['viscous_friction'])
    some = {name: METHODS[name] for name in ('inverse_dynamics', 'mass_matrix', 'bias_torque')}
    for found, parameters in (
        (stepwise, first),
        (together.with_parameters(), first),
        (changed, mixed),
        (together.with_parameters(**second), second),
        (ours.with_parameters(), {}),
    ):
        expected = ned.Dynamics(change_robot(robot, parameters), GRAVITY, 'python')
        check_equal(found, expected, tree[0], some, {})


@pytest.mark.kept(1)
def test_zeros_in_the_model_are_not_built_in(backend):
    """Parameters that the first model has as zeros can become numbers, and back."""
    text = (
        '<robot name="one"><link name="base"/><link name="arm"/><link name="hand"/>'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>'
        '<axis xyz="0 1 0"/></joint><joint name="slide" type="prismatic"><origin xyz="0.3 0 0"/>'
        '<parent link="arm"/><child link="hand"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    robot = ned.load_urdf(text, tip_link='hand')
    empty = ned.Dynamics(robot, GRAVITY, backend)
    parameters = real_parameters(7, robot)
    found = empty.with_parameters(**parameters)
    check_equal(found, ned.Dynamics(change_robot(robot, parameters), GRAVITY, 'python'), 3)
    nothing = {key: np.zeros_like(value) for key, value in parameters.items()}
    zero = found.with_parameters(**nothing).inverse_dynamics([0.3, 0.1], [1.0, 2.0], [3.0, 4.0])
    np.testing.assert_array_equal(zero, np.zeros(2))


# ---- objects


class NamedDynamics(ned.Dynamics):
    """Dynamics with an attribute of their own."""

    label = 'none'

    def weigh(self):
        """Return the mass of all bodies [kg]."""
        return self.inertial_parameters()[::10].sum()


@pytest.mark.parametrize('used', [False, True], ids=['fresh', 'used'])
def test_pickles_and_copies(used, backend):
    """They compute the same, can be changed on, and keep their class and what is set on them."""
    robot = load_rotor_tree(1604, 5)
    parameters = real_parameters(3, robot)
    first = NamedDynamics(robot, GRAVITY, backend)
    found = first.with_parameters(**parameters)
    assert found.weigh() == pytest.approx(parameters['inertial'][::10].sum())
    found.label = 'mine'
    expected = ned.Dynamics(change_robot(robot, parameters), GRAVITY, 'python')
    some = {name: METHODS[name] for name in ('inverse_dynamics', 'mass_matrix')}
    if used:
        check_equal(found, expected, 1, some, {})
    other = {**parameters, 'viscous_friction': parameters['coulomb_friction']}
    right = ned.Dynamics(change_robot(robot, other), GRAVITY, 'python')
    for twin in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(twin) is NamedDynamics
        assert (twin.label, twin.backend) == ('mine', backend)
        check_equal(twin, expected, 1, some, {})
        again = twin.with_parameters(viscous_friction=parameters['coulomb_friction'])
        check_equal(again, right, 1, some, {})
    check_equal(found, expected, 1, some, {})
    assert type(found.with_parameters()) is NamedDynamics
    assert first.label == 'none'


def test_source_has_the_numbers(backend):
    """The generated text runs on its own and gives the efforts of the changed robot."""
    robot = load_rotor_tree(1602, 3)
    parameters = real_parameters(6, robot)
    found = nominal((1602, 3), backend).with_parameters(**parameters)
    scope = {}
    exec(found.source(), scope)
    arguments = arguments_of(found, 4)
    motion = [arguments[name][0] for name in ('q', 'qd', 'qdd')]
    computed = scope['inverse_dynamics'](*[values.tolist() for values in motion])
    expected = ned.Dynamics(change_robot(robot, parameters), GRAVITY, 'python')
    right = expected.inverse_dynamics(*motion)
    assert relative_error(np.ravel(computed), right) <= TOLERANCE
    assert found.operation_counts() == expected.operation_counts()


# ---- nothing is compiled anew


@pytest.fixture
def compilations(tmp_path, monkeypatch):
    """List of the calls that compile or load machine code, with an empty cache folder."""
    from ne_dynamics.codegen.llvm.compiler import Toolchain, toolchain
    from ne_dynamics.errors import BackendError

    try:
        toolchain()
    except BackendError as error:
        pytest.skip(str(error))
    monkeypatch.setenv('NE_DYNAMICS_CACHE', str(tmp_path / 'cache'))
    calls = []

    def counted(name):
        original = getattr(Toolchain, name)

        def count(self, *arguments):
            calls.append(name)
            return original(self, *arguments)

        return count

    for name in ('compile', 'load'):
        monkeypatch.setattr(Toolchain, name, counted(name))
    return calls


def use(dynamics):
    """Call every method twice, a sample and a batch."""
    arguments = arguments_of(dynamics, 5)
    for method, names in {**METHODS, **FORWARD}.items():
        for row in (0, slice(None)):
            for _ in range(2):
                values = {name: arguments[name][row] for name in names}
                getattr(dynamics, method.split()[0])(**values)


def test_other_parameters_compile_nothing(compilations):
    """One program of each function serves all parameters, copies and derived dynamics."""
    subject = random_tree(1660, 2)  # in no other test: its code is not in memory
    robot = replace(ned.load_urdf(subject.urdf), tip_link=subject.tip)
    first = ned.Dynamics(robot, GRAVITY, 'compiled')
    found = first.with_parameters(**real_parameters(1, robot))
    use(found)
    assert compilations.count('compile') > 5  # the counter counts
    before = list(compilations)
    for seed in range(2):
        other = first.with_parameters(**real_parameters(seed, robot))
        use(other)
        use(found.with_parameters(viscous_friction=np.full(robot.n, 0.1 * seed)))
    use(first.with_parameters(rotor_inertia=np.zeros(robot.n)))
    use(copy.deepcopy(found))
    use(pickle.loads(pickle.dumps(found)))
    assert compilations == before


# ---- input that cannot be used


def test_numbers_that_overflow_are_refused(backend):
    """A finite mass or rotor so large that the equations overflow is refused or computed."""
    ours = nominal((1602, 3), backend)
    inertial = real_parameters(1, ours.robot)['inertial'].copy()
    inertial[0] = 1.7e308
    with pytest.raises(NeDynamicsError, match=r'mass|inertia'):
        ours.with_parameters(inertial=inertial)
    with pytest.raises(NeDynamicsError, match=r'rotor_inertia'):
        ours.with_parameters(rotor_inertia=np.full(3, 1.7e308))
    huge = ours.with_parameters(viscous_friction=np.full(3, 1.7e308))
    for qd in (np.full(3, 3.0), np.full((2, 3), 3.0)):
        for _ in range(2):
            with pytest.raises(InputError, match=r'overflow|finite'):
                huge.inverse_dynamics(qd, qd, qd)
            with pytest.raises(InputError, match=r'overflow|finite'):
                huge.friction_torque(qd)
