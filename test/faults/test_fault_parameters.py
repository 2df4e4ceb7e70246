"""Parameters that cannot be, set while an arm with a load of 3 kg is held."""

from __future__ import annotations

import signal

import numpy as np
import pytest

NAN = float('nan')
INF = float('inf')
PAYLOAD = 3.0
POSTURE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
LARGEST_SAG = 0.02
"""How far a held arm may be from where it is held [rad]."""

REFUSED = {
    'mode: no such': {'mode': 'dance'},
    'mode: a number': {'mode': 5},
    'kp: NaN': {'computed_torque.kp': [NAN]},
    'kp: infinite': {'computed_torque.kp': [INF]},
    'kp: two for six': {'computed_torque.kp': [100.0, 100.0]},
    'kp: a word': {'computed_torque.kp': 'stiff'},
    'kv: NaN among six': {'computed_torque.kv': [20.0] * 5 + [NAN]},
    'feedforward_pd.kp: 35 for 36': {'feedforward_pd.kp': [1.0] * 35},
    'terms.gravity: a word': {'terms.gravity': 'off'},
    'terms.inertia: a number': {'terms.inertia': 0.0},
    'effort_limits: zero': {'effort_limits': [0.0]},
    'effort_limits: negative': {'effort_limits': [-300.0]},
    'effort_limits: NaN': {'effort_limits': [NAN]},
    'effort_limits: five for six': {'effort_limits': [300.0] * 5},
    'effort_rate_limit: negative': {'effort_rate_limit': [-1.0]},
    'effort_rate_limit: NaN': {'effort_rate_limit': [NAN]},
    'effort_rate_limit: a flag': {'effort_rate_limit': True},
    'on_deactivate: no such': {'on_deactivate': 'drop'},
    'state_timeout: zero': {'state_timeout': 0.0},
    'state_timeout: negative': {'state_timeout': -1.0},
    'state_timeout: NaN': {'state_timeout': NAN},
    'state_timeout: a word': {'state_timeout': 'soon'},
    'jump_velocity: negative': {'jump_velocity': [-1.0]},
    'jump_velocity: NaN': {'jump_velocity': [NAN] * 6},
    'jump_velocity: four for six': {'jump_velocity': [1.0] * 4},
    'wrench.timeout: zero': {'wrench.timeout': 0.0},
    'wrench.gain: above 1': {'wrench.gain': 1.5},
    'wrench.gain: negative': {'wrench.gain': -0.5},
    'wrench.cutoff_frequency: NaN': {'wrench.cutoff_frequency': NAN},
    'wrench.max_force: negative': {'wrench.max_force': -1.0},
    'wrench.measures: no such': {'wrench.measures': 'sideways'},
    'imu.source: no such': {'imu.source': 'guess'},
    'imu.timeout: infinite the wrong way': {'imu.timeout': -INF},
    'tracking_error.warn: zero': {'tracking_error.warn': [0.0]},
    'constraints.goal: negative': {'constraints.goal': [-0.1]},
    'effort_tolerance: zero': {'effort_tolerance': [0.0]},
    'payload.mass: negative': {'payload.mass': -3.0},
    'payload.mass: NaN': {'payload.mass': NAN},
    'payload.mass: infinite': {'payload.mass': INF},
    'payload.mass: a list': {'payload.mass': [1.0, 2.0]},
    'payload.com: two numbers': {'payload.com': [0.0, 0.0]},
    'payload.com: NaN': {'payload.com': [0.0, NAN, 0.0]},
    'payload.com: infinite': {'payload.com': [0.0, INF, 0.0]},
    'payload.inertia: five numbers': {'payload.inertia': [0.1] * 5},
    'payload.inertia: negative': {'payload.inertia': [-0.1, 0.0, 0.0, 0.1, 0.0, 0.1]},
    'payload.inertia: of no body': {'payload.inertia': [0.1, 0.0, 0.0, 0.1, 0.0, 5.0]},
    'payload.inertia: NaN': {'payload.inertia': [0.1, 0.0, 0.0, NAN, 0.0, 0.1]},
    'payload.link: no such': {'payload.link': 'nowhere'},
    'payload.link: not at the tip': {'payload.link': 'forearm'},
    'model_file: while active': {'model_file': '/tmp/other.urdf'},
    'robot_description: while active': {'robot_description': '<robot name="other"/>'},
    'joints: while active': {'joints': ['joint_2', 'joint_1']},
    'gravity: while active': {'gravity': [0.0, 0.0, 9.80665]},
    'wrench.enabled: while active': {'wrench.enabled': True},
    'imu.enabled: while active': {'imu.enabled': True},
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


@pytest.fixture(scope='module')
def module_arm(hold_an_arm):
    """Return the bench with an arm that carries a load; the node is told of it while it holds."""

    def tell(bench) -> None:
        bench.until(lambda: len(bench.commands) > 20, 'commands')
        bench.before_the_load = bench.mark()
        bench.set(payload__mass=PAYLOAD)
        # The transition time is over before the brake is released.
        target = loaded_gravity(bench, POSTURE)
        bench.until(
            lambda: np.abs(bench.commands[-1].effort - target).max() < 0.01,
            'a command that carries the load',
        )

    bench = hold_an_arm(robot={'payload.mass': PAYLOAD}, prepare=tell)
    yield bench
    bench.check()
    bench.node.end(signal.SIGTERM)


@pytest.fixture
def arm(module_arm):
    """Return the bench; after each row every command, the load and the hold are checked."""
    bench = module_arm
    bench.bring_to(POSTURE)
    mark = bench.mark()
    yield bench
    bench.until_answering(5)
    assert bench.sag(mark, POSTURE) < LARGEST_SAG
    bench.check()


def loaded_gravity(bench, q) -> np.ndarray:
    """Return the effort that holds the arm with its load."""
    jacobian = bench.dynamics.jacobian(q)
    return bench.gravity(q) + jacobian[:3].T @ [0.0, 0.0, PAYLOAD * 9.80665]


def test_a_load_is_taken_at_run_time(arm) -> None:
    """The load of a held arm is made known: the command moves to what carries it, no faster
    than the rate limit, and the arm does not sag when the brake is released.
    """
    before = arm.commands[arm.before_the_load.commands - 1].effort
    np.testing.assert_allclose(before, arm.gravity(POSTURE), atol=1e-6)
    after = arm.commands[-1].effort
    np.testing.assert_allclose(after, loaded_gravity(arm, arm.states[-1].position), atol=1.0)
    assert np.abs(after - before).max() > 10.0
    arm.check(arm.before_the_load)
    assert arm.sag(arm.before_the_load, POSTURE) < LARGEST_SAG


@pytest.mark.parametrize('fault', list(REFUSED))
def test_a_refused_parameter(arm, fault: str) -> None:
    """A parameter that cannot be is refused by both services, by name, and keeps its value."""
    ((name, value),) = REFUSED[fault].items()
    before = arm.get(name)
    for result in (arm.set_atomically(**{name: value}), *arm.set_each(**{name: value})):
        assert not result.successful
        assert name in result.reason
    np.testing.assert_equal(arm.get(name), before)


@pytest.mark.parametrize('fault', list(HALF_VALID))
def test_a_half_valid_set(arm, fault: str) -> None:
    """Of a set of which one cannot be, nothing is taken, in whatever order they are."""
    values = HALF_VALID[fault]
    names = [name for name in values if name != 'no_such_parameter']
    before = arm.get(*names)
    result = arm.set_atomically(**values)
    if result.successful:
        arm.set_atomically(**dict(zip(names, before, strict=True)))
    assert not result.successful
    assert result.reason
    np.testing.assert_equal(arm.get(*names), before)


def test_set_one_by_one_the_good_ones_are_taken(arm) -> None:
    """The service that sets one by one takes what can be, and refuses what cannot."""
    results = arm.set_each(wrench__gain=0.5, state_timeout=NAN, computed_torque__kv=[13.0])
    assert [result.successful for result in results] == [True, False, True]
    assert arm.get('wrench.gain', 'computed_torque.kv') == [0.5, [13.0]]
    arm.set(wrench__gain=1.0, computed_torque__kv=[12.0])


def test_modes_and_back(arm) -> None:
    """Through all modes that hold on their own and back, the command moves no faster than the
    rate limit and the arm stays.
    """
    inertia = np.diag(arm.dynamics.mass_matrix(POSTURE))
    arm.set(
        feedforward_pd__kp=(36.0 * inertia).tolist(), feedforward_pd__kv=(12.0 * inertia).tolist()
    )
    for mode in ('gravity_compensation', 'computed_torque', 'feedforward_pd', 'computed_torque'):
        arm.set(mode=mode)
        arm.until_answering(5)
    assert arm.get('mode') == ['computed_torque']


def test_gains_and_limits_at_run_time(arm) -> None:
    """Gains, limits and rates may change while the arm is held."""
    for values in (
        {'computed_torque__kp': [49.0], 'computed_torque__kv': [14.0]},
        {'effort_limits': [330.0, 330.0, 150.0, 56.0, 56.0, 56.0]},
        {'effort_rate_limit': [500.0] * 6},
        {'terms__coriolis': False, 'terms__friction': False, 'terms__inertia': False},
        {'terms__coriolis': True, 'terms__friction': True, 'terms__inertia': True},
        {'effort_rate_limit': [1000.0], 'effort_limits': [INF]},
        {'computed_torque__kp': [36.0], 'computed_torque__kv': [12.0]},
    ):
        arm.set(**values)
        arm.until_answering(5)


def test_a_flood_of_parameters(arm) -> None:
    """Two hundred sets, every other refused, do not keep the node from holding the arm."""
    for index in range(100):
        arm.set(payload__mass=PAYLOAD, payload__com=[0.0, 0.0, 1e-6 * (index % 2)])
        assert not arm.set_atomically(payload__mass=-1.0).successful
