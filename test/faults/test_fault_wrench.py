"""Faults of the wrist sensor, while it carries a load that only it feels."""

from __future__ import annotations

import copy
import signal

import numpy as np
import pytest

NAN = float('nan')
INF = float('inf')
LOAD = 2.0
POSTURE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
LARGEST_SAG = 0.02
"""How far a held arm may be from where it is held [rad]."""


@pytest.fixture(scope='module')
def module_arm(hold_an_arm):
    """Return the bench with an arm whose sensor carries a load; no reading at first."""

    def cut(bench) -> None:
        bench.wrench_wire.treat = lambda message: []

    def feel(bench) -> None:
        bench.until(lambda: bench.wrenches.get_subscription_count() > 0, 'wrench')
        bench.until(lambda: len(bench.commands) > 5, 'commands')
        bench.early_tare = bench.trigger('tare_wrench')
        bench.wrench_wire.treat = None
        weight = bench.dynamics.jacobian(POSTURE)[:3].T @ [0.0, 0.0, LOAD * 9.80665]
        assert np.abs(weight).max() > 5.0
        bench.until(
            lambda: np.allclose(
                bench.commands[-1].effort, bench.gravity(POSTURE) + weight, atol=1e-3
            ),
            'the load in the commands',
        )

    bench = hold_an_arm(
        node={
            'wrench.enabled': True,
            'wrench.sensor_link': 'ft_sensor',
            'wrench.timeout': 0.2,
            'wrench.max_force': 60.0,
            'wrench.max_torque': 10.0,
        },
        robot={'wrench.sensor_link': 'ft_sensor', 'payload.mass': LOAD},
        begin=cut,
        prepare=feel,
    )
    yield bench
    bench.check()
    bench.node.end(signal.SIGTERM)


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


def reading(message, frame: str | None = None, scale: float = 1.0, **force: float):
    """Return a copy of a wrench with another frame, scale, or force."""
    message = copy.deepcopy(message)
    if frame is not None:
        message.header.frame_id = frame
    for vector in (message.wrench.force, message.wrench.torque):
        vector.x, vector.y, vector.z = scale * vector.x, scale * vector.y, scale * vector.z
    for axis, value in force.items():
        setattr(message.wrench.force, axis, value)
    return message


def at(message, seconds: float):
    """Return a copy of a wrench with another stamp."""
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
}


@pytest.mark.parametrize('fault', list(BROKEN))
def test_a_held_arm_stays_while_the_wrench_is_broken(arm, fault: str) -> None:
    """Whatever the readings are, the last good one, or a bounded one, carries the load."""
    with arm.wrench_wire.broken(BROKEN[fault]):
        arm.until(lambda: arm.wrench_wire.treated > 45, 'treated readings')


def test_readings_that_stop(arm) -> None:
    """The last reading holds the load on, the diagnostics warn, the sensor cannot be tared; new
    readings count again.
    """
    mark = arm.mark()
    with arm.wrench_wire.broken(lambda message: []):
        record = arm.until_diagnosed(
            lambda record: 'no recent wrench' in record.message, mark, 'a warning on the wrench'
        )
        assert record.level > 0
        assert record.values['state'] == 'active'
        response = arm.trigger('tare_wrench')
        assert not response.success
        assert response.message
    arm.until_answering(40)
    later = arm.mark()
    arm.until_diagnosed(
        lambda record: 'no recent wrench' not in record.message, later, 'recent readings'
    )


def test_drops_are_counted_by_field(arm) -> None:
    """The diagnostics count unusable readings by the field at fault."""
    mark = arm.mark()
    with arm.wrench_wire.broken(
        lambda message: [reading(message, 'nowhere'), reading(message, z=NAN), message]
    ):
        arm.until_diagnosed(
            lambda record: (
                int(record.values.get('wrench.header.frame_id dropped', 0)) > 0
                and int(record.values.get('wrench.wrench.force.z dropped', 0)) > 0
            ),
            mark,
            'counts',
        )


@pytest.mark.parametrize('seconds', [-3600.0, 3600.0])
def test_stamps_of_another_clock(arm, seconds: float) -> None:
    """Readings an hour off are no reason to drop the load."""
    with arm.wrench_wire.broken(lambda message: [at(message, seconds)]):
        arm.until(lambda: arm.wrench_wire.treated > 45, 'treated readings')


def test_tare_without_readings(arm) -> None:
    """Before the first reading, a tare is refused with the reason."""
    assert not arm.early_tare.success
    assert 'no reading yet' in arm.early_tare.message


def test_tuning_of_the_readings_at_run_time(arm) -> None:
    """Filter, gain and saturation may change while the load is held."""
    for values in (
        {'wrench__cutoff_frequency': 20.0},
        {'wrench__max_force': 40.0, 'wrench__max_torque': 8.0},
        {'wrench__cutoff_frequency': 0.0},
        {'wrench__max_force': 60.0, 'wrench__max_torque': 10.0},
    ):
        arm.set(**values)
        arm.until_answering(20)
