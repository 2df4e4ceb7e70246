"""Faults of the wrist sensor, while it carries a load that only it feels."""

from __future__ import annotations

import copy

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import POSTURE

NAN, INF = float('nan'), float('inf')
LOAD = 2.0
"""What the sensor carries [kg]."""


def cut(bench) -> None:
    """Let no reading come at first."""
    bench.wrench_wire.treat = lambda message: []


def feel(bench) -> None:
    bench.until(lambda: bench.wrenches.get_subscription_count() > 0, 'wrench')
    bench.until(lambda: len(bench.commands) > 5, 'commands')
    bench.early_tare = bench.trigger('tare_wrench')
    bench.wrench_wire.treat = None
    weight = bench.dynamics.jacobian(POSTURE)[:3].T @ [0.0, 0.0, LOAD * 9.80665]
    assert np.abs(weight).max() > 5.0
    carried = bench.gravity(POSTURE) + weight
    bench.until(
        lambda: np.allclose(bench.commands[-1].effort, carried, atol=1e-3),
        'the load in the commands',
    )


ARM = {
    'node': {
        'wrench.enabled': True,
        'wrench.sensor_link': 'ft_sensor',
        'wrench.timeout': 0.2,
        'wrench.max_force': 60.0,
        'wrench.max_torque': 10.0,
    },
    'robot': {'wrench.sensor_link': 'ft_sensor', 'payload.mass': LOAD},
    'begin': cut,
    'prepare': feel,
}


def reading(message, frame: str | None = None, scale: float = 1.0, **force: float):
    message = copy.deepcopy(message)
    if frame is not None:
        message.header.frame_id = frame
    for vector in (message.wrench.force, message.wrench.torque):
        vector.x, vector.y, vector.z = scale * vector.x, scale * vector.y, scale * vector.z
    for axis, value in force.items():
        setattr(message.wrench.force, axis, value)
    return message


def at(message, seconds: float):
    message = copy.deepcopy(message)
    stamp = message.header.stamp
    stamp.sec += int(seconds)
    return message


class EveryFortieth:
    """Put another message in the place of every fortieth."""

    def __init__(self, other):
        self.other = other
        self.count = 0

    def __call__(self, message):
        """Return what is passed on."""
        self.count += 1
        return [message] if self.count % 40 else [self.other(message)]


BROKEN = {
    'no frame': lambda message: [reading(message, '')],
    'an unknown frame': lambda message: [reading(message, 'nowhere')],
    'a frame of another body': lambda message: [reading(message, 'base_link')],
    'a frame before the sensor': lambda message: [reading(message, 'forearm')],
    'NaN': lambda message: [reading(message, z=NAN)],
    'infinite': lambda message: [reading(message, x=INF)],
    'NaN among good ones': lambda message: [reading(message, y=NAN), message],
    'huge now and then': EveryFortieth(lambda message: reading(message, scale=1e6)),
    'overflowing now and then': EveryFortieth(lambda message: reading(message, x=1e308, y=1e308)),
    'lost now and then': EveryFortieth(lambda message: reading(message, 'lost')),
    'everything twice': lambda message: [message, message],
    'an hour old': lambda message: [at(message, -3600.0)],
    'an hour ahead': lambda message: [at(message, 3600.0)],
}


def test_a_held_arm_stays_while_the_wrench_is_broken(held) -> None:
    """Whatever the readings are, the last good one, or a bounded one, carries the load."""
    for treat in BROKEN.values():
        with held.wrench_wire.broken(treat):
            held.until(lambda: held.wrench_wire.treated > 45, 'treated readings')
        held.until_answering(5)


def test_readings_that_stop(held) -> None:
    """The last reading holds the load on, the diagnostics warn, the sensor cannot be tared; new
    readings count again.
    """
    mark = held.mark()
    with held.wrench_wire.broken(lambda message: []):
        record = held.until_diagnosed(
            lambda record: 'no recent wrench' in record.message, mark, 'a warning on the wrench'
        )
        assert record.level > 0
        assert record.values['state'] == 'active'
        response = held.trigger('tare_wrench')
        assert not response.success
        assert response.message
    held.until_answering(40)
    later = held.mark()
    held.until_diagnosed(
        lambda record: 'no recent wrench' not in record.message, later, 'recent readings'
    )


def test_drops_are_counted_by_field(held) -> None:
    """The diagnostics count unusable readings by the field at fault."""
    mark = held.mark()
    with held.wrench_wire.broken(
        lambda message: [reading(message, 'nowhere'), reading(message, z=NAN), message]
    ):
        held.until_diagnosed(
            lambda record: (
                int(record.values.get('wrench.header.frame_id dropped', 0)) > 0
                and int(record.values.get('wrench.wrench.force.z dropped', 0)) > 0
            ),
            mark,
            'counts',
        )


def test_tare_without_readings(held) -> None:
    """Before the first reading, a tare is refused with the reason."""
    assert not held.early_tare.success
    assert 'no reading yet' in held.early_tare.message


def test_tuning_of_the_readings_at_run_time(held) -> None:
    """Filter, gain and saturation may change while the load is held."""
    for values in (
        {'wrench__cutoff_frequency': 20.0},
        {'wrench__max_force': 40.0, 'wrench__max_torque': 8.0},
        {'wrench__cutoff_frequency': 0.0},
        {'wrench__max_force': 60.0, 'wrench__max_torque': 10.0},
    ):
        held.set(**values)
        held.until_answering(20)
