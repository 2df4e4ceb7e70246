"""Dynamics with parameters of the run time are the dynamics of the robot that has them."""

import copy
import functools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from calling_forms import call_in_every_form
from method_tables import ALL_CALLS
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases, relative_error
from random_inertias import random_inertia
from random_robots import random_tree
from rotor_trees import load_rotor_tree
from urdf_text import joint_xml, robot_xml

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


@functools.cache
def real_parameters(seed, robot):
    """Return parameters of real bodies with full tensors, friction and rotors, by keyword."""
    rng = np.random.default_rng([seed, 13])
    return {
        'inertial': np.concatenate([random_inertia(rng).parameters for _ in robot.bodies]),
        'viscous_friction': rng.uniform(0.0, 2.0, robot.n),
        'coulomb_friction': rng.uniform(0.0, 2.0, robot.n),
        'rotor_inertia': rng.uniform(0.0, 0.05, robot.n),
    }


def make_expected(robot, parameters):
    """Return dynamics of the robot whose first link of each body carries all of it."""
    if 'inertial' in parameters:
        inertias = dict(enumerate(parameters['inertial'].reshape(-1, 10)))
        links = []
        for link in robot.links:
            own = inertias.pop(link.body, None)
            inertia = Inertia.zero() if own is None else Inertia.from_parameters(own)
            if link.body == -1:
                links.append(link)
                continue
            to_link = link.pose_in_body.inverse()
            links.append(replace(link, inertia=inertia.transformed(to_link)))
        robot = replace(robot, links=tuple(links))
    joints = [
        replace(
            joint, **{key: float(parameters[key][index]) for key in KEYS[1:] if key in parameters}
        )
        for index, joint in enumerate(robot.joints)
    ]
    return ned.Dynamics(replace(robot, joints=tuple(joints)), GRAVITY, 'python')


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


def check_equal(found, expected, seed, calls=ALL_CALLS):
    """Assert that methods agree, in every form of call.

    Accelerations are compared through the mass matrix: it takes out the conditioning.
    """
    arguments = arguments_of(expected, seed)
    for what, names in calls.items():
        method = what.split()[0]
        values = [arguments[name] for name in names]

        def call(*rows, out=None, method=method, names=names):
            given = dict(zip(names, rows, strict=True))
            return getattr(found, method)(**given, out=out)

        right = getattr(expected, method)(**dict(zip(names, values, strict=True)))
        axis = int('derivatives' in method)
        for form, computed in call_in_every_form(call, *values, axis=axis).items():
            error, bound = computed - right, np.abs(right).max()
            if method.startswith('forward_dynamics'):
                load = arguments['payload'] if 'payload' in names else None
                mass = expected.mass_matrix(arguments['q'], payload=load)
                columns = slice(None) if axis else (..., None)
                error = mass @ error[columns]
                bound = (np.abs(mass) @ np.abs(right[columns])).max()
            deviation = np.abs(error).max(initial=0.0)
            assert deviation <= TOLERANCE * bound, (what, form, deviation / bound)


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


SOME = {name: ALL_CALLS[name] for name in ('inverse_dynamics', 'mass_matrix', 'bias_torque')}


@functools.cache
def nominal(tree, backend):
    """Return the dynamics that all parameters of a tree start from."""
    return ned.Dynamics(load_rotor_tree(*tree), GRAVITY, backend)


@pytest.mark.kept(2)
@every_tree
def test_every_method_is_that_of_the_changed_robot(tree, backend):
    """All parameters at once, real bodies: every method, batch and single, within 1e-12."""
    robot = load_rotor_tree(*tree)
    parameters = real_parameters(tree[0], robot)
    found = nominal(tree, backend).with_parameters(**parameters)
    expected = make_expected(robot, parameters)
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
    ours = stepwise = nominal(tree, backend)
    for key in KEYS:
        stepwise = stepwise.with_parameters(**{key: first[key]})
    together = ours.with_parameters(**first)
    one_of_second = {'viscous_friction': second['viscous_friction']}
    for found, parameters in (
        (stepwise, first),
        (together.with_parameters(), first),
        (together.with_parameters(**one_of_second), {**first, **one_of_second}),
        (together.with_parameters(**second), second),
        (ours.with_parameters(), {}),
    ):
        check_equal(found, make_expected(robot, parameters), tree[0], SOME)


@pytest.mark.kept(1)
def test_zeros_in_the_model_are_not_built_in(backend):
    """Parameters that the first model has as zeros can become numbers, and back."""
    text = robot_xml(
        *('base', 'arm', 'hand'),
        joint_xml('hinge', 'base', 'arm', 'continuous', axis='0 1 0'),
        joint_xml('slide', 'arm', 'hand', 'prismatic', xyz='0.3 0 0', axis='1 0 0'),
    )
    robot = ned.load_urdf(text, tip_link='hand')
    parameters = real_parameters(7, robot)
    found = ned.Dynamics(robot, GRAVITY, backend).with_parameters(**parameters)
    check_equal(found, make_expected(robot, parameters), 3)
    nothing = {key: np.zeros_like(value) for key, value in parameters.items()}
    zero = found.with_parameters(**nothing).inverse_dynamics([0.3, 0.1], [1.0, 2.0], [3.0, 4.0])
    np.testing.assert_array_equal(zero, np.zeros(2))


def test_source_has_the_numbers(backend):
    """The generated text runs on its own and gives the efforts of the changed robot."""
    robot = load_rotor_tree(1602, 3)
    parameters = real_parameters(6, robot)
    found = nominal((1602, 3), backend).with_parameters(**parameters)
    expected = make_expected(robot, parameters)
    scope = {}
    exec(found.source(), scope)
    motion = [arguments_of(found, 4)[name][0] for name in ('q', 'qd', 'qdd')]
    computed = scope['inverse_dynamics'](*[values.tolist() for values in motion])
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

    def watch(name):
        original = getattr(Toolchain, name)

        def count(self, *given):
            calls.append(name)
            return original(self, *given)

        monkeypatch.setattr(Toolchain, name, count)

    watch('compile')
    watch('load')
    return calls


def use(dynamics):
    """Call every method twice, a sample and a batch."""
    arguments = arguments_of(dynamics, 5)
    for method, names in ALL_CALLS.items():
        for row in (0, slice(None)) * 2:
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
    for given, message in (
        ({'inertial': inertial}, r'mass|inertia'),
        ({'rotor_inertia': np.full(3, 1.7e308)}, 'rotor_inertia'),
    ):
        with pytest.raises(NeDynamicsError, match=message):
            ours.with_parameters(**given)
    huge = ours.with_parameters(viscous_friction=np.full(3, 1.7e308))
    for qd in (np.full(3, 3.0), np.full((2, 3), 3.0)) * 2:
        with pytest.raises(InputError, match=r'overflow|finite'):
            huge.inverse_dynamics(qd, qd, qd)
        with pytest.raises(InputError, match=r'overflow|finite'):
            huge.friction_torque(qd)
