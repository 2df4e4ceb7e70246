"""Faults of the inertial unit on the base of an arm that hangs askew."""

from __future__ import annotations

import copy
import signal

import numpy as np
import pytest

NAN = float('nan')
INF = float('inf')
POSTURE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
TILTED = np.array([0.0, 9.80665 * np.sin(0.6), -9.80665 * np.cos(0.6)])
"""Acceleration of free fall in the axes of the base link [m/s^2]."""

LARGEST_SAG = 0.02
"""How far a held arm may be from where it is held [rad]."""


class Unit:
    """Plays the inertial unit: a reading with every state of the robot, unless it is broken."""

    def __init__(self, bench):
        self.bench = bench
        self.treat = None
        self.treated = 0

    def __call__(self, state) -> None:
        """Send the reading of a base at rest."""
        from sensor_msgs.msg import Imu

        message = Imu(header=copy.deepcopy(state.header))
        message.header.frame_id = 'base_link'
        force = message.linear_acceleration
        force.x, force.y, force.z = (-TILTED).tolist()
        # About x by 0.6 rad: what is up in the world is (0, -sin, cos) in the base.
        message.orientation.x, message.orientation.w = -float(np.sin(0.3)), float(np.cos(0.3))
        for result in [message] if self.treat is None else self.treat(message):
            self.bench.imus.publish(result)
        self.treated += 1

    def break_for(self, count, treat) -> None:
        """Treat so many readings."""
        self.treated, self.treat = 0, treat
        try:
            self.bench.until(lambda: self.treated >= count, 'treated readings')
        finally:
            self.treat = None


@pytest.fixture(scope='module')
def module_arm(hold_an_arm):
    """Return the bench with an arm whose base is tilted, as only the inertial unit knows."""

    def install(bench) -> None:
        bench.unit = bench.state_wire.before = Unit(bench)

    def feel(bench) -> None:
        from ne_dynamics import Dynamics, load_model
        from ne_dynamics.shipped import shipped_file

        robot = load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
        tilted = Dynamics(robot, gravity=TILTED, backend='python').gravity_torque(POSTURE)
        assert np.abs(tilted - bench.gravity(POSTURE)).max() > 5.0
        bench.until(lambda: len(bench.commands) > 5, 'commands')
        bench.until(
            lambda: np.allclose(bench.commands[-1].effort, tilted, atol=1e-3),
            'the tilt in the commands',
        )

    bench = hold_an_arm(
        node={'imu.enabled': True, 'imu.timeout': 0.2},
        robot={'gravity': TILTED.tolist()},
        begin=install,
        prepare=feel,
    )
    yield bench
    bench.check()
    bench.node.end(signal.SIGINT)


@pytest.fixture
def arm(module_arm):
    """Return the bench; after each row every command and the hold are checked."""
    bench = module_arm
    bench.until_rest()
    mark = bench.mark()
    yield bench
    bench.until_answering(5)
    assert bench.sag(mark, POSTURE) < LARGEST_SAG
    bench.check()


def changed(message, frame: str | None = None, **fields: float):
    """Return a copy of a reading with another frame or other numbers (`angular_velocity_x`)."""
    message = copy.deepcopy(message)
    if frame is not None:
        message.header.frame_id = frame
    for key, value in fields.items():
        vector, _, axis = key.rpartition('_')
        setattr(getattr(message, vector), axis, value)
    return message


def at(message, seconds: int):
    """Return a copy of a reading with another stamp."""
    message = copy.deepcopy(message)
    message.header.stamp.sec += seconds
    return message


BROKEN = {
    'none': lambda message: [],
    'no frame': lambda message: [changed(message, '')],
    'an unknown frame': lambda message: [changed(message, 'nowhere')],
    'a frame that moves': lambda message: [changed(message, 'upper_arm')],
    'NaN acceleration': lambda message: [changed(message, linear_acceleration_z=NAN)],
    'infinite acceleration': lambda message: [changed(message, linear_acceleration_x=-INF)],
    'NaN angular velocity': lambda message: [changed(message, angular_velocity_y=NAN)],
    'NaN among good ones': lambda message: [changed(message, angular_velocity_x=NAN), message],
    'an hour old': lambda message: [at(message, -3600)],
    'everything twice': lambda message: [message, message],
}


@pytest.mark.parametrize('fault', list(BROKEN))
def test_a_held_arm_stays_while_the_imu_is_broken(arm, fault: str) -> None:
    """Whatever the readings are, the last good direction of gravity carries the arm."""
    arm.unit.break_for(50, BROKEN[fault])


def test_readings_that_stop(arm) -> None:
    """The last direction of gravity is held, and the diagnostics warn."""
    mark = arm.mark()
    arm.unit.treat = lambda message: []
    record = arm.until_diagnosed(lambda record: 'imu' in record.message, mark, 'a warning')
    arm.unit.treat = None
    assert record.level > 0
    assert record.values['state'] == 'active'


def test_drops_are_counted_by_field(arm) -> None:
    """The diagnostics count unusable readings by the field at fault."""
    mark = arm.mark()
    arm.unit.treat = lambda message: [
        changed(message, 'nowhere'),
        changed(message, linear_acceleration_z=NAN),
        message,
    ]
    arm.until_diagnosed(
        lambda record: (
            any(key.startswith('imu.') and 'frame_id dropped' in key for key in record.values)
            and any(key.startswith('imu.linear_acc') for key in record.values)
        ),
        mark,
        'counts',
    )
    arm.unit.treat = None


def test_the_source_changes_at_run_time(arm) -> None:
    """From the acceleration to the orientation and back, the arm stays."""
    arm.set(imu__source='orientation')
    arm.until_answering(40)
    arm.unit.break_for(20, lambda message: [changed(message, orientation_w=NAN)])
    arm.unit.break_for(
        20, lambda message: [changed(message, orientation_x=0.0, orientation_w=0.0)]
    )
    arm.set(imu__source='acceleration')
    arm.until_answering(40)
