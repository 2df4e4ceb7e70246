"""Faults of the inertial unit on the base of an arm that hangs askew."""

from __future__ import annotations

import copy

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import MODEL, POSTURE
from sensor_msgs.msg import Imu

from ne_dynamics import Dynamics, load_model

NAN, INF = float('nan'), float('inf')
TILTED = np.array([0.0, 9.80665 * np.sin(0.6), -9.80665 * np.cos(0.6)])
"""Acceleration of free fall in the axes of the base link [m/s^2]."""


class Unit:
    """Plays the inertial unit: a reading with every state of the robot, unless it is broken."""

    def __init__(self, bench):
        self.bench = bench
        self.treat = None
        self.treated = 0

    def __call__(self, state) -> None:
        """Send the reading of a base at rest."""
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
        self.treated, self.treat = 0, treat
        try:
            self.bench.until(lambda: self.treated >= count, 'treated readings')
        finally:
            self.treat = None


def install(bench) -> None:
    """Let the inertial unit be what tells of the tilt."""
    bench.unit = bench.state_wire.before = Unit(bench)


def feel(bench) -> None:
    robot = load_model(MODEL, tip_link='tcp')
    tilted = Dynamics(robot, gravity=TILTED, backend='python').gravity_torque(POSTURE)
    assert np.abs(tilted - bench.gravity(POSTURE)).max() > 5.0
    bench.until(lambda: len(bench.commands) > 5, 'commands')
    bench.until(
        lambda: np.allclose(bench.commands[-1].effort, tilted, atol=1e-3),
        'the tilt in the commands',
    )


ARM = {
    'node': {'imu.enabled': True, 'imu.timeout': 0.2},
    'robot': {'gravity': TILTED.tolist()},
    'begin': install,
    'prepare': feel,
}


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


def test_a_held_arm_stays_while_the_imu_is_broken(held) -> None:
    """Whatever the readings are, the last good direction of gravity carries the held."""
    for treat in BROKEN.values():
        held.unit.break_for(50, treat)
        held.until_answering(5)


def test_readings_that_stop(held) -> None:
    """The last direction of gravity is held, and the diagnostics warn."""
    mark = held.mark()
    held.unit.treat = lambda message: []
    record = held.until_diagnosed(lambda record: 'imu' in record.message, mark, 'a warning')
    held.unit.treat = None
    assert record.level > 0
    assert record.values['state'] == 'active'


def test_drops_are_counted_by_field(held) -> None:
    """The diagnostics count unusable readings by the field at fault."""
    mark = held.mark()
    held.unit.treat = lambda message: [
        changed(message, 'nowhere'),
        changed(message, linear_acceleration_z=NAN),
        message,
    ]
    held.until_diagnosed(
        lambda record: (
            any(key.startswith('imu.') and 'frame_id dropped' in key for key in record.values)
            and any(key.startswith('imu.linear_acc') for key in record.values)
        ),
        mark,
        'counts',
    )
    held.unit.treat = None


def test_the_source_changes_at_run_time(held) -> None:
    """From the acceleration to the orientation and back, the arm stays."""
    held.set(imu__source='orientation')
    held.until_answering(40)
    held.unit.break_for(20, lambda message: [changed(message, orientation_w=NAN)])
    held.unit.break_for(
        20, lambda message: [changed(message, orientation_x=0.0, orientation_w=0.0)]
    )
    held.set(imu__source='acceleration')
    held.until_answering(40)
