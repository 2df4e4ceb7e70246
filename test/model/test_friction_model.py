"""The friction of a joint is checked where it enters, and what is doubtful is found."""

import math
from dataclasses import fields, replace

import pytest

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.shipped import shipped_file

NAMES = [item.name for item in fields(FrictionModel)]


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, 1e101, 'much', [1.0]])
def test_what_is_no_finite_number_is_refused(name, value):
    with pytest.raises(ModelError, match=f'^{name}: expected'):
        FrictionModel(**{name: value})


@pytest.mark.parametrize(
    ('values', 'match'),
    [
        ({'static_friction': -1.0, 'stribeck_velocity': 0.1}, 'static_friction: expected >= 0'),
        ({'stribeck_velocity': -0.1}, 'stribeck_velocity: expected >= 0'),
        ({'smoothing_velocity': -0.1}, 'smoothing_velocity: expected >= 0'),
        ({'smoothing_velocity': 1e-13}, 'smoothing_velocity: expected 0 or at least 1e-12'),
        ({'stribeck_velocity': 5e-324}, 'stribeck_velocity: expected 0 or at least 1e-12'),
        ({'load_coefficient': -0.1}, 'load_coefficient: expected >= 0'),
        ({'static_friction': 2.0}, 'stribeck_velocity: expected > 0 with static_friction 2'),
    ],
)
def test_numbers_that_no_friction_has_are_refused(values, match):
    with pytest.raises(ModelError, match=match):
        FrictionModel(**values)


@pytest.mark.parametrize(
    ('coulomb', 'values', 'code'),
    [
        (2.0, {'static_friction': 1.0, 'stribeck_velocity': 0.1}, 'static-friction-small'),
        (1.0, {'friction_asymmetry': -1.1}, 'friction-drives'),
        (1.0, {'load_coefficient': 1.0}, 'load-coefficient-large'),
        (1.0, {'smoothing_velocity': 1e3}, 'smoothing-velocity-large'),
        (
            1.0,
            {
                'static_friction': 1.5,
                'stribeck_velocity': 0.1,
                'friction_asymmetry': 0.9,
                'load_coefficient': 0.2,
                'smoothing_velocity': 0.01,
            },
            None,
        ),
    ],
)
def test_what_is_doubtful_is_found(coulomb, values, code):
    """Friction that drives, or is never reached, is a warning; sound friction is none."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    joint = replace(robot.joints[2], coulomb_friction=coulomb, friction=FrictionModel(**values))
    changed = replace(robot, joints=(*robot.joints[:2], joint, *robot.joints[3:]))
    new = set(check_robot(changed)) - set(check_robot(robot))
    assert [(item.severity, item.code) for item in new] == ([('warning', code)] if code else [])
    assert all(item.element == f'joint {joint.name!r}' for item in new)
