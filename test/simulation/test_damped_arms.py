"""Several arms after faults that come in motion, damped: speeds are by the velocity limits."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from planted_loop import FrozenPosition, of_one_joint, scaled_velocity
from sticking_arms import load_arm, make_loop, random_motion, with_friction

from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.simulation.altered_robot import scale_masses

UNDER_WAY = 0.8
"""When a sensor fails [s]."""

ALLOWED = 0.2
"""Rise of a speed after a fault."""

AFTER = 3.0
"""For so long a fault is looked at [s]."""


def run(name, seed, sensor, friction, masses=1.0, **options):
    """Return the controller and the true speeds from the first fault on, shape (m, n)."""
    robot = load_arm(name)
    motion = random_motion(name, np.random.default_rng(seed), (0.3, 1.2), 2.0)
    plant = with_friction(scale_masses(robot, masses), friction)
    loop = make_loop(name, motion, plant, [sensor], **options)
    loop.run(0.1)
    loop.follow()
    while not loop.answers.faults and loop.arm.time < 3.0:
        loop.step()
    assert loop.answers.faults
    speeds = [np.abs(loop.arm.velocity)]
    for _ in range(round(AFTER / loop.arm.period)):
        loop.step()
        speeds.append(np.abs(loop.arm.velocity))
    return loop, np.array(speeds) / robot.limits('velocity_limit')


@pytest.mark.kept(1)
@pytest.mark.parametrize('friction', [0.0, 0.05])
@pytest.mark.parametrize('begin', [0.0, UNDER_WAY])
@pytest.mark.parametrize('name', ['six_axis_arm', 'UR5', 'Panda, fingers locked'])
def test_a_state_that_is_not_believed_is_damped_too(name, begin, friction) -> None:
    """Velocities in degrees shake an arm until a position seems to jump. From the first fault on,
    which does not latch, it is slowed down: commands that are under way pass.
    """
    loop, speeds = run(name, 3, scaled_velocity(180.0 / np.pi, begin), friction, delay=1)
    assert loop.answers.faults[0][1].kind in (FaultKind.JUMPED, FaultKind.VELOCITY)
    assert speeds.max() <= 2.0 * speeds[0].max()
    assert speeds[-500:].max() < 0.5 * speeds[0].max()


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('name', 'seed', 'friction', 'masses'), [('UR5', 3, 0.05, 1.0), ('UR5', 3, 0.02, 0.9)]
)
def test_encoders_that_freeze_together_are_none_of_them_believed(
    name, seed, friction, masses
) -> None:
    loop, speeds = run(name, seed, FrozenPosition(UNDER_WAY, 'zero'), friction, masses, delay=1)
    damping = loop.controller.damping
    assert damping is not None
    was_fast = speeds[0] > 0.2
    assert not damping.believed[was_fast].any()
    assert (speeds[:, damping.believed].max(axis=0) <= speeds[0, damping.believed] + ALLOWED).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize(('friction', 'masses'), [(0.01, 1.1), (0.02, 0.9), (0.05, 1.1)])
@pytest.mark.parametrize('joint', [1, 2, 5])
@pytest.mark.parametrize('seed', [4, 7, 8])
def test_braking_throws_no_joint_that_stands(seed, joint, friction, masses) -> None:
    sensor = of_one_joint(scaled_velocity(-1.0, UNDER_WAY), joint)
    _, speeds = run('six_axis_arm', seed, sensor, friction, masses, delay=2)
    assert (speeds.max(axis=0) <= speeds[0] + ALLOWED).all()


@pytest.mark.kept(1)
@pytest.mark.parametrize('joint', [1, 3])
@pytest.mark.parametrize('seed', [3, 4, 5, 6])
def test_a_motor_at_its_limit_throws_no_other_joint(seed, joint) -> None:
    sensor = of_one_joint(scaled_velocity(-1.0, UNDER_WAY), joint)
    _, speeds = run('Panda, fingers locked', seed, sensor, 0.0, delay=1)
    if speeds[0].max() < 2.0:
        assert (speeds.max(axis=0) <= speeds[0] + ALLOWED).all()
    assert speeds.max() <= speeds[0].max() + ALLOWED
