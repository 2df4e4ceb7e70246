"""Sensors and joints that fail under way: the loop is opened in time, and good motion is not.

Controller and MuJoCo in one process at 500 Hz, the shipped arm without friction, the demo's
motion, limits as the node derives them.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import MotionLoop, demo_motion, shipped_arm
from planted_loop import delayed, wall

from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.control.laws import Mode, Terms
from ne_dynamics.control.sensors.velocity_source import VelocitySettings, VelocitySource
from ne_dynamics.simulation.altered_robot import scale_masses, with_hung_mass
from ne_dynamics.simulation.demo.motion import rest_to_rest
from ne_dynamics.simulation.one_process_loop import differenced_velocity, encoder, external_push

NOTHING = Terms(gravity=False, coriolis=False, inertia=False, friction=False)


@pytest.fixture(scope='module')
def robot():
    """Return the shipped arm."""
    return shipped_arm()


@pytest.fixture(scope='module')
def motion(robot):
    """Return the motion of the demo."""
    return demo_motion(robot)


def test_a_loop_that_shakes(robot, motion) -> None:
    """A robot that answers 8 ms late, which no state says: the arm, pushed once, shakes within
    its position limits, and is left for good.
    """
    push = external_push(np.eye(6)[0] * 30.0, 0.2, 0.2)
    loop = MotionLoop(robot, motion, kp=1e4, kv=200.0, disturbances=[push], delay=4)
    run = loop.watch(4.0, start=False)
    assert run.fault is not None
    assert run.fault.latches
    assert run.fault.kind is FaultKind.SATURATED
    assert 'unstable' in run.fault.text


def motion_to(robot, start, joint, way):
    """Return a motion of one joint, a second long."""
    goal = start.copy()
    goal[joint] += way
    return rest_to_rest(robot, start, goal, 1.0)


def test_a_joint_at_its_limit_in_vain(robot, motion) -> None:
    start = motion.positions[0]
    limits = {
        'following': FollowingLimits(saturation_timeout=1.0),
        'velocity': VelocitySettings(),
    }
    run = MotionLoop(
        robot,
        motion_to(robot, start, 2, 0.3),
        kp=3000.0,
        kv=110.0,
        limits=limits,
        disturbances=[wall(2, start[2] + 0.1)],
    ).watch(2.2)
    assert run.fault is not None
    assert run.fault.kind is FaultKind.SATURATED
    assert 1.1 < run.fault_time < 2.2


SENSORS = {
    'exact': lambda: [],
    '16 bits, differenced, 30 Hz': lambda: [encoder(16), differenced_velocity(30.0)],
    '16 bits, differenced, 10 Hz': lambda: [encoder(16), differenced_velocity(10.0)],
    '12 bits, differenced, 30 Hz': lambda: [encoder(12), differenced_velocity(30.0)],
    'five states late': lambda: [encoder(16), delayed('velocity', 5)],
    'noise': lambda: [encoder(noise=2e-4), differenced_velocity(30.0), delayed('velocity', 2)],
}


@pytest.mark.kept(2)
@pytest.mark.parametrize(('kind', 'period'), list(zip(SENSORS, [0.002, 0.005] * 3, strict=True)))
def test_good_motion_is_left_alone(robot, motion, kind, period) -> None:
    run = MotionLoop(robot, motion, period=period, sensors=SENSORS[kind]()).watch(2.3)
    assert run.fault is None
    assert run.error.max() < 0.06


ARMS = {
    'PD alone': ({'mode': Mode.FEEDFORWARD_PD, 'terms': NOTHING}, None),
    'PD alone, 3 kg more': ({'mode': Mode.FEEDFORWARD_PD, 'terms': NOTHING, 'kp': 400.0}, 'load'),
    'computed torque, 3 kg more': ({'kp': 400.0, 'kv': 40.0}, 'load'),
    'computed torque, masses +20 %': ({}, 'heavy'),
    'feed-forward alone': ({'mode': Mode.FEEDFORWARD}, 'heavy'),
    'gravity compensation': ({'mode': Mode.GRAVITY_COMPENSATION}, 'heavy'),
}


@pytest.mark.kept(2)
@pytest.mark.parametrize('kind', list(ARMS))
def test_a_model_that_is_wrong_is_no_fault(robot, motion, kind) -> None:
    options, plant = ARMS[kind]
    plants = {
        'load': lambda: with_hung_mass(robot, 3.0, np.zeros(3)),
        'heavy': lambda: scale_masses(robot, 1.2),
        None: lambda: None,
    }
    options = {'kv': 40.0 if options.get('kp') == 400.0 else 20.0, **options}
    run = MotionLoop(robot, motion, plant=plants[plant](), **options).watch(2.3)
    assert run.fault is None


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('source', 'gains'),
    [
        (VelocitySource.DIFFERENTIATED, (100.0, 20.0)),
        (VelocitySource.ESTIMATED, (100.0, 20.0)),
        (VelocitySource.ESTIMATED, (400.0, 40.0)),
    ],
)
def test_an_arm_without_velocities_follows_by_computed_torque(
    robot, motion, source, gains
) -> None:
    velocity = VelocitySettings(source=source)
    limits = {'following': FollowingLimits.derived(robot.joints, 1.0), 'velocity': velocity}
    only_positions = [encoder(bits=16), lambda reading: reading._replace(velocity=None)]
    run = MotionLoop(
        robot, motion, kp=gains[0], kv=gains[1], limits=limits, sensors=only_positions
    ).watch(2.3)
    assert run.fault is None
    assert run.error.max() < 0.02
