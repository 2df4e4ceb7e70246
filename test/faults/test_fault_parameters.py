"""Parameters that cannot be, set while an arm with a load of 3 kg is held."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import LARGEST_SAG, POSTURE

NAN, INF = float('nan'), float('inf')
PAYLOAD = 3.0

REFUSED = {
    'mode: no such': {'mode': 'dance'},
    'kp: NaN': {'computed_torque.kp': [NAN]},
    'kp: two for six': {'computed_torque.kp': [100.0, 100.0]},
    'feedforward_pd.kp: 35 for 36': {'feedforward_pd.kp': [1.0] * 35},
    'terms.gravity: a word': {'terms.gravity': 'off'},
    'effort_limits: five for six': {'effort_limits': [300.0] * 5},
    'state_timeout: zero': {'state_timeout': 0.0},
    'wrench.timeout: zero': {'wrench.timeout': 0.0},
    'wrench.gain: above 1': {'wrench.gain': 1.5},
    'imu.timeout: infinite the wrong way': {'imu.timeout': -INF},
    'payload.mass: negative': {'payload.mass': -3.0},
    'payload.inertia: negative': {'payload.inertia': [-0.1, 0.0, 0.0, 0.1, 0.0, 0.1]},
    'payload.inertia: of no body': {'payload.inertia': [0.1, 0.0, 0.0, 0.1, 0.0, 5.0]},
    'payload.link: no such': {'payload.link': 'nowhere'},
    'payload.link: not at the tip': {'payload.link': 'forearm'},
    'model_file: while active': {'model_file': '/tmp/other.urdf'},
    'robot_description: while active': {'robot_description': '<robot name="other"/>'},
    'gravity: while active': {'gravity': [0.0, 0.0, 9.80665]},
    'wrench.enabled: while active': {'wrench.enabled': True},
    'autostart: at the start only': {'autostart': False},
    'no such parameter': {'no_such_parameter': 1.0},
    'mode: feedforward, but nobody closes the loop': {'mode': 'feedforward'},
}

HALF_VALID = {
    'a mode and a NaN': {'mode': 'gravity_compensation', 'computed_torque.kp': [NAN]},
    'a NaN and a mode': {'computed_torque.kv': [NAN], 'mode': 'feedforward'},
    'limits down and a rate below zero': {'effort_limits': [1.0], 'effort_rate_limit': [-1.0]},
    'gravity off and no such parameter': {'terms.gravity': False, 'no_such_parameter': 1.0},
    'no load and no such link': {'payload.mass': 0.0, 'payload.link': 'nowhere'},
    'a load and an inertia of no body': {
        'payload.mass': 10.0,
        'payload.inertia': [0.1, 0.0, 0.0, 0.1, 0.0, 5.0],
    },
    'feedforward, but nobody closes the loop': {'terms.gravity': False, 'mode': 'feedforward'},
    'gains and another model': {'computed_torque.kp': [0.0], 'model_file': '/tmp/other.urdf'},
    'a timeout and a wrong type': {'state_timeout': 1e-3, 'terms.coriolis': 'no'},
    'last command zero, and a wrong length': {'on_deactivate': 'zero', 'payload.com': [0.0]},
}


def tell(bench) -> None:
    """Tell the node of the load while it holds the held."""
    bench.until(lambda: len(bench.commands) > 20, 'commands')
    bench.before_the_load = bench.mark()
    bench.set(payload__mass=PAYLOAD)
    # The transition time is over before the brake is released.
    target = loaded_gravity(bench, POSTURE)
    bench.until(
        lambda: np.abs(bench.commands[-1].effort - target).max() < 0.01,
        'a command that carries the load',
    )


ARM = {'robot': {'payload.mass': PAYLOAD}, 'prepare': tell}


def loaded_gravity(bench, q) -> np.ndarray:
    """Return the effort that holds the arm with its load."""
    jacobian = bench.dynamics.jacobian(q)
    return bench.gravity(q) + jacobian[:3].T @ [0.0, 0.0, PAYLOAD * 9.80665]


def test_a_load_is_taken_at_run_time(held) -> None:
    """The load of a held arm is made known: the command moves to what carries it, no faster
    than the rate limit, and the arm does not sag when the brake is released.
    """
    before = held.commands[held.before_the_load.commands - 1].effort
    np.testing.assert_allclose(before, held.gravity(POSTURE), atol=1e-6)
    after = held.commands[-1].effort
    np.testing.assert_allclose(after, loaded_gravity(held, held.states[-1].position), atol=1.0)
    assert np.abs(after - before).max() > 10.0
    held.check(held.before_the_load)
    assert held.sag(held.before_the_load, POSTURE) < LARGEST_SAG


def test_a_refused_parameter(held) -> None:
    """A parameter that cannot be is refused by both services, by name, and keeps its value."""
    for fault, values in REFUSED.items():
        ((name, value),) = values.items()
        before = held.get(name)
        for result in (held.set_atomically(**{name: value}), *held.set_each(**{name: value})):
            assert not result.successful, fault
            assert name in result.reason
        np.testing.assert_equal(held.get(name), before)


def test_a_half_valid_set(held) -> None:
    """Of a set of which one cannot be, nothing is taken, in whatever order they are."""
    for fault, values in HALF_VALID.items():
        names = [name for name in values if name != 'no_such_parameter']
        before = held.get(*names)
        result = held.set_atomically(**values)
        assert not result.successful, fault
        assert result.reason
        np.testing.assert_equal(held.get(*names), before)


def test_set_one_by_one_the_good_ones_are_taken(held) -> None:
    """The service that sets one by one takes what can be, and refuses what cannot."""
    results = held.set_each(wrench__gain=0.5, state_timeout=NAN, computed_torque__kv=[13.0])
    assert [result.successful for result in results] == [True, False, True]
    assert held.get('wrench.gain', 'computed_torque.kv') == [0.5, [13.0]]
    held.set(wrench__gain=1.0, computed_torque__kv=[12.0])


def test_modes_gains_and_limits_at_run_time(held) -> None:
    """Through all modes that hold on their own, and other gains, terms and limits, the command
    moves no faster than the rate limit and the arm stays.
    """
    inertia = np.diag(held.dynamics.mass_matrix(POSTURE))
    off = {f'terms__{term}': False for term in ('coriolis', 'friction', 'inertia')}
    held.set(
        feedforward_pd__kp=(36.0 * inertia).tolist(), feedforward_pd__kv=(12.0 * inertia).tolist()
    )
    for values in (
        {'mode': 'gravity_compensation'},
        {'mode': 'computed_torque'},
        {'mode': 'feedforward_pd'},
        {'mode': 'computed_torque'},
        {'computed_torque__kp': [49.0], 'computed_torque__kv': [14.0]},
        {'effort_limits': [330.0, 330.0, 150.0, 56.0, 56.0, 56.0]},
        {'effort_rate_limit': [500.0] * 6},
        off,
        dict.fromkeys(off, True),
        {'effort_rate_limit': [1000.0], 'effort_limits': [INF]},
        {'computed_torque__kp': [36.0], 'computed_torque__kv': [12.0]},
    ):
        held.set(**values)
        held.until_answering(5)
    assert held.get('mode') == ['computed_torque']


def test_a_flood_of_parameters(held) -> None:
    """A hundred sets, every other refused, do not keep the node from holding the held."""
    for index in range(50):
        held.set(payload__mass=PAYLOAD, payload__com=[0.0, 0.0, 1e-6 * (index % 2)])
        assert not held.set_atomically(payload__mass=-1.0).successful
