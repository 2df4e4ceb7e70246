"""What `with_parameters` refuses and makes, and what of dynamics cannot be assigned."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.robot import Robot
from ne_dynamics.shipped import shipped_file


@pytest.fixture(scope='module')
def arm():
    """Return the dynamics of the shipped arm, in Python."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return ned.Dynamics(robot, backend='python')


@pytest.fixture
def made_robots(monkeypatch):
    """List of the robots that come to be."""
    made = []
    original = Robot.__post_init__

    def record(self):
        original(self)
        made.append(self)

    monkeypatch.setattr(Robot, '__post_init__', record)
    return made


def test_no_robot_is_made_before_it_is_asked_for(arm, made_robots):
    first = arm.with_parameters(inertial=1.5 * arm.inertial_parameters())
    second = first.with_parameters(viscous_friction=np.full(6, 0.4))
    q = np.linspace(0.1, 0.9, 6)
    for dynamics in (first, second, copy.copy(second), pickle.loads(pickle.dumps(second))):
        dynamics.inverse_dynamics(q, q, q)
        dynamics.forward_kinematics(q)
        dynamics.friction_torque(q, q=q)
        dynamics.inertial_parameters()
        assert str(arm.robot.name) in repr(dynamics)
    assert [robot for robot in made_robots if robot.joints[0].viscous_friction == 0.4] == []
    robot = second.robot
    assert second.robot is robot
    assert robot.joint_values('viscous_friction').tolist() == [0.4] * 6
    assert robot.bodies[2].inertia.mass == 1.5 * arm.robot.bodies[2].inertia.mass
    expected = ned.Dynamics(robot, backend='python').inverse_dynamics(q, q, q)
    np.testing.assert_allclose(second.inverse_dynamics(q, q, q), expected, rtol=1e-12)


BAD = {
    'a negative friction': ({'coulomb_friction': (2, -1.0)}, 'coulomb_friction: expected >= 0'),
    'a negative damping': ({'viscous_friction': (2, -0.25)}, "'joint_3'.*viscous_friction.*-0.25"),
    'a negative rotor': ({'rotor_inertia': (1, -1e-9)}, 'rotor_inertia: expected >= 0'),
    'a huge rotor': ({'rotor_inertia': (1, 1e308)}, 'expected a finite'),
    'a first moment without mass': ({'inertial': (20, 0.0)}, 'first moment without a mass'),
    'a centre of mass far out': ({'inertial': (20, 1e-305)}, 'expected finite|overflow'),
    'a huge mass': ({'inertial': (20, 1e305)}, 'expected'),
}


@pytest.mark.parametrize(('given', 'message'), BAD.values(), ids=BAD)
def test_what_a_robot_does_not_take_is_refused_at_the_call(arm, given, message):
    geared = replace(
        arm.robot, joints=tuple(replace(joint, gear_ratio=100.0) for joint in arm.robot.joints)
    )
    dynamics = ned.Dynamics(geared, backend='python')
    ((key, (place, value)),) = given.items()
    own = dynamics.inertial_parameters() if key == 'inertial' else geared.joint_values(key)
    values = own.copy()
    values[place] = value
    with pytest.raises(ModelError, match=message):
        dynamics.with_parameters(**{key: values})


@pytest.mark.parametrize(
    'key', ['inertial', 'viscous_friction', 'coulomb_friction', 'rotor_inertia']
)
def test_what_is_no_vector_of_numbers_is_refused_by_name(arm, key):
    """Another shape, what is not finite, and what is no number."""
    count = 60 if key == 'inertial' else 6
    for bad in (
        *(np.ones(count - 1), np.ones(count + 1), np.ones((count, 1)), 1.0, [], 'many'),
        *([np.nan] * count, [-np.inf] * count, ['1.0'] * count, [None] * count, [1j] * count),
        {'joint_1': 1.0},
    ):
        with pytest.raises(InputError, match=rf'^{key}: expected'):
            arm.with_parameters(**{key: bad})


@pytest.mark.parametrize(
    'name', ['robot', 'n', 'joint_names', 'gravity', 'backend', 'tolerance', 'threads']
)
def test_what_dynamics_were_made_for_cannot_be_assigned(arm, name):
    class Named(ned.Dynamics):
        pass

    for dynamics in (arm, arm.with_parameters(), Named(arm.robot, backend='python')):
        value = getattr(dynamics, name)
        with pytest.raises(AttributeError):
            setattr(dynamics, name, value)
        assert np.array_equal(getattr(dynamics, name), value)
    with pytest.raises(ValueError, match='read-only'):
        arm.gravity[2] = 0.0


@pytest.mark.parametrize('value', [None, 1.0])
def test_whether_parameters_are_physical_is_yes_or_no(arm, value):
    with pytest.raises(InputError, match='physical: expected True or False'):
        arm.with_parameters(physical=value)
