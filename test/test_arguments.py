"""Arguments that are not what a method expects, on every backend and for robots of every size."""

from __future__ import annotations

import numpy as np
import pytest
from method_tables import PLAIN
from urdf_text import joint_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.papers.robots import chain
from ne_dynamics.shipped import shipped_file

BACKENDS = ['python', 'auto']


@pytest.fixture(scope='module', params=BACKENDS)
def arms(request):
    """The shipped arm and a robot beyond all sizes that are written out."""
    arm = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return [ned.Dynamics(robot, backend=request.param) for robot in (arm, chain(22))]


def calls_of(arms):
    """Yield dynamics, a method of theirs, and how many joint vectors it takes."""
    for dynamics in arms:
        for name, arguments in PLAIN.items():
            yield dynamics, name, len(arguments)


def test_masked_arrays_are_refused(arms):
    for dynamics, name, count in calls_of(arms):
        masked = np.ma.array(np.zeros(dynamics.n), mask=np.arange(dynamics.n) == 2)
        for place in range(count):
            arguments = [np.zeros(dynamics.n)] * count
            arguments[place] = masked
            for _ in range(2):
                with pytest.raises(InputError, match=r'without mask.* 1 masked'):
                    getattr(dynamics, name)(*arguments)
        with pytest.raises(InputError, match=r'without mask.* 0 masked'):
            getattr(dynamics, name)(*[np.ma.zeros((3, dynamics.n))] * count)


def test_shapes_go_together_or_are_refused_by_name(arms):
    for dynamics, name, count in calls_of(arms):
        n = dynamics.n
        if count == 1:
            continue
        for first, other in (((n,), (5, n)), ((5, n), (n,)), ((5, n), (4, n)), ((n,), (1, n))):
            for place in range(1, count):
                arguments = [np.zeros(first)] * count
                arguments[place] = np.zeros(other)
                for _ in range(2):
                    with pytest.raises(InputError, match=rf'expected shape .* got \({other[0]}'):
                        getattr(dynamics, name)(*arguments)


def test_angles_of_mimic_joints_are_exact_where_the_coordinate_is_small():
    body = {'mass': 1.5, 'xyz': '0.1 0.02 0.03', 'moments': (0.1, 0.2, 0.25)}
    links = [link_xml(name, **body, products=(0.01, 0.02, 0.03)) for name in 'ab']
    place = {'xyz': '0.1 0.2 0.3', 'rpy': '0.4 0.5 0.6', 'axis': '0 1 0'}
    mimic = '<mimic joint="j_a" multiplier="1000" offset="0.25"/>'
    first = joint_xml('j_a', 'base', 'a', 'continuous', '<dynamics/>', **place)
    second = joint_xml('j_b', 'a', 'b', 'continuous', mimic, **place)
    robot = ned.load_urdf(robot_xml('base', *links, first, second))
    assert robot.n == 1
    compiled, python = (ned.Dynamics(robot, backend=backend) for backend in ('auto', 'python'))
    for q in (999.0, 1001.0, 3e5, -9.9e5, 1e6):
        for _ in range(2):
            np.testing.assert_allclose(
                compiled.mass_matrix([q]), python.mass_matrix([q]), rtol=1e-9
            )
            np.testing.assert_allclose(
                compiled.gravity_torque(np.full((9, 1), q)),
                np.tile(python.gravity_torque([q]), (9, 1)),
                rtol=1e-9,
            )


def test_an_overflow_is_named_by_the_method_that_was_called(arms):
    for dynamics in arms:
        q = np.full(dynamics.n, 0.3)
        rates = q.copy()
        rates[1] = 1e160
        calls = {'forward_dynamics': (q, rates, q), 'coriolis_matrix': (q, rates)}
        calls['inverse_dynamics'] = calls['regressor'] = (q, rates, q)
        calls['inverse_dynamics with loads'] = (q, rates, q, np.zeros(6), np.zeros(9))
        for name, arguments in calls.items():
            method = name.split()[0]
            for rows in (arguments, [np.tile(argument, (3, 1)) for argument in arguments]):
                if name == 'coriolis_matrix' and dynamics.n < 10:
                    continue  # linear in the rates: nothing overflows
                with pytest.raises(InputError, match=rf'^{method}: .* largest is 1e\+160, in qd'):
                    getattr(dynamics, method)(*rows)


@pytest.mark.parametrize('threads', [-1, 1.5, True, None, 10**9])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads):
    with pytest.raises(InputError, match='threads: expected a whole number from 0 to 1024'):
        ned.Dynamics(chain(2), threads=threads)


@pytest.mark.parametrize('tolerance', [-1e-9, 0.01, np.nan, '1e-7', True, 10**400])
def test_a_tolerance_that_makes_no_sense_is_refused(tolerance):
    with pytest.raises(InputError, match=r'tolerance: expected 0 <= tolerance < 0\.01'):
        ned.Dynamics(chain(2), tolerance=tolerance)


def test_a_result_does_not_overlap_a_wrench_on_a_link(arms):
    arm, _ = arms
    wrench = np.arange(1.0, 7.0)
    before = wrench.copy()
    for method in (arm.inverse_dynamics, arm.forward_dynamics):
        arguments = [np.zeros(6)] * 3
        with pytest.raises(InputError, match=r"overlaps external_wrenches\['tcp'\]"):
            method(*arguments, external_wrenches={'tcp': wrench}, out=wrench)
        np.testing.assert_array_equal(wrench, before)
        out = np.empty(6)
        expected = method(*arguments, external_wrenches={'tcp': wrench})
        assert method(*arguments, external_wrenches={'tcp': wrench}, out=out) is out
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize('link', ['nowhere', [], 3, ('tcp',)])
def test_what_is_no_name_of_a_link_is_refused(link, arms):
    arm, _ = arms
    q = np.zeros(6)
    for ask in (
        lambda: arm.forward_kinematics(q, link),
        lambda: arm.jacobian(q, link),
        lambda: arm.jacobian_rate(q, q, link),
    ):
        with pytest.raises(ModelError, match='no link'):
            ask()


@pytest.mark.parametrize('backend', ['python', 'compiled'])
def test_overflow_names_what_is_large(backend):
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    q = np.ones(robot.n)
    heavy = ned.Dynamics(robot, (0.0, 0.0, -1e308), backend)
    with pytest.raises(InputError, match=r'overflows; the largest is 1e\+308, in gravity'):
        heavy.gravity_torque(q)
    nominal = ned.Dynamics(robot, backend=backend)
    stiff = nominal.with_parameters(viscous_friction=np.full(robot.n, 1e307))
    with pytest.raises(InputError, match=r'is 1e\+307, in friction and drives of the joints'):
        stiff.inverse_dynamics(q, 100.0 * q, q)


def test_the_errors_that_a_caller_can_mend_are_exported():
    with pytest.raises(ned.ModelError):
        ned.load_urdf('<robot name="nothing"/>')
    with pytest.raises(ned.InputError):
        ned.Dynamics(chain(2), backend='python').gravity_torque([0.0])
    assert {'ModelError', 'InputError', 'NeDynamicsError'} <= set(ned.__all__)
    assert issubclass(ned.ModelError, ned.NeDynamicsError)
    assert issubclass(ned.InputError, ned.NeDynamicsError)
