"""Which terms of friction a log asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.identification.run import identify
from ne_dynamics.logs.log import Log
from ne_dynamics.model.friction import FrictionModel

RATE = 50.0
ARM = robot_xml(
    *(
        'base',
        *(link_xml(name, 2, '0.2 0 0', moments=(0.01, 0.03, 0.03)) for name in ('upper', 'lower')),
    ),
    joint_xml('a', 'base', 'upper', inside=limit_xml(-3, 3, 100, 5), axis='0 1 0'),
    joint_xml('b', 'upper', 'lower', inside=limit_xml(-3, 3, 100, 5), xyz='0.4 0 0', axis='0 1 0'),
)
FALLING = FrictionModel(
    static_friction=1.0, stribeck_velocity=1.2, smoothing_velocity=0.01, friction_offset=0.4
)


@pytest.fixture(scope='module')
def arm():
    """Return an arm of two joints in a vertical plane, without friction."""
    return ned.load_urdf(ARM)


def record(arm, size):
    """Return 24 s of sums of sines, larger by `size` over time, of an arm whose joint a rubs less
    the faster it is, and has a constant part; joint b has viscous and Coulomb friction alone.
    """
    first, second = arm.joints
    true = replace(
        arm,
        joints=(
            replace(first, coulomb_friction=0.2, friction=FALLING),
            replace(second, viscous_friction=0.3, coulomb_friction=0.5),
        ),
    )
    times = np.arange(0.0, 24.0, 1.0 / RATE)
    phase = 2.0 * np.pi * times[:, np.newaxis]
    position = 0.7 * np.sin(0.31 * phase) * (1.0, -1.0) + 0.5 * np.sin(phase * (0.17, 0.23) + 1.0)
    position *= size(times)[:, np.newaxis]
    velocity = np.gradient(position, times, axis=0)
    acceleration = np.gradient(velocity, times, axis=0)
    effort = ned.Dynamics(true, backend='python').inverse_dynamics(
        position, velocity, acceleration
    )
    noise = np.random.default_rng(4).standard_normal(effort.shape)
    return Log.from_samples(arm.joint_names, times, position, effort + 0.1 * noise)


def test_friction_that_falls_over_all_of_the_motion_is_found(arm):
    """Where a joint rubs less the faster it is, that is fitted; a plain joint stays plain."""
    log = record(arm, np.ones_like)
    first, second = identify(arm, log).robot.joints
    model = first.friction
    assert model.static_friction > first.coulomb_friction + 0.5
    speed = np.linspace(0.2, 1.5, 20)
    expected = 0.2 + 0.8 * np.exp(-((speed / 1.2) ** 2))
    found = first.coulomb_friction + first.viscous_friction * speed
    found += (model.static_friction - first.coulomb_friction) * np.exp(
        -((speed / model.stribeck_velocity) ** 2)
    )
    assert found == pytest.approx(expected, abs=0.08)
    assert second.friction.static_friction is None
    assert second.coulomb_friction == pytest.approx(0.5, abs=0.05)


def test_what_is_held_out_chooses_for_the_written_model_alone(arm):
    """A constant part that only the last quarter tells from gravity is not in the model that the
    quarter judges.
    """
    log = record(arm, lambda times: 0.05 + 0.95 / (1.0 + np.exp(-4.0 * (times - 18.5))))
    result = identify(arm, log)
    written, tested = result.robot.joints[0], result.evidence.tested.robot.joints[0]
    assert written.friction.friction_offset == pytest.approx(0.4, abs=0.15)
    assert tested.friction.friction_offset == 0.0
