"""Parameters that a written controller takes and refuses, and its wrist sensor."""

import numpy as np
import pytest
from controller_arm import ZERO, N, Q, load_arm
from controller_bench import ControllerBench

from ne_dynamics.control.guards.feasibility import check_gains
from ne_dynamics.control.laws import Gains, Mode
from ne_dynamics.motion.waypoints import DesiredState
from ne_dynamics.ros.settings.configuration import make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS

SENSOR = {
    'wrench.enabled': True,
    'wrench.sensor_link': 'ft_sensor',
    'wrench.measures': 'on_tool',
}


# ---- the wrist sensor


@pytest.fixture(scope='module')
def sensing_program(programs):
    """Return the program of an arm with a wrist sensor, whose model is cut there."""
    values = {name: SENSOR[name] for name in ('wrench.sensor_link', 'wrench.measures')}
    folder = programs.write('sensing', load_arm(), values, sensor='ft')
    return programs.compile(folder, is_sanitized=True)


def start_sensing(program, reading, **parameters):
    """Return a bench whose sensor has a reading."""
    settings = {'wrench__enabled': True, 'wrench__sensor_name': 'ft', 'state_effort': 'ignore'}
    bench = ControllerBench(program, N, transition_time=0.0, **settings, **parameters)
    bench.states(Q, ZERO, reading)
    assert bench.activate()
    return bench


@pytest.mark.parametrize('measures', ['on_tool', 'by_tool'])
def test_a_wrist_sensor_counts_as_in_the_node(sensing_program, measures):
    """Its reading is the wrench of the last link on the environment, by its sign."""
    reading = np.array([3.0, -2.0, 9.0, 0.3, 0.1, -0.2])
    with start_sensing(sensing_program, reading, wrench__measures=measures) as bench:
        names = bench.ask('names').split('\f')[1].split('\t')
        assert names[2 * N : 2 * N + 6] == [
            f'ft/{kind}.{axis}' for kind in ('force', 'torque') for axis in 'xyz'
        ]
        settings = PARAMETERS.changed(SENSOR | {'wrench.measures': measures})
        tuning, _ = make_tuning(settings, controlled_arm(settings, load_arm()))
        wrench = reading if measures == 'by_tool' else -reading
        expected = tuning.law.effort(Q, ZERO, DesiredState(Q, ZERO, ZERO), wrench)
        np.testing.assert_allclose(bench.follow(Q), expected, atol=1e-10)


def test_the_last_reading_counts_while_the_sensor_gives_no_number(sensing_program):
    """It is said once; a sensor that gives none from the beginning is no beginning."""
    reading = np.array([3.0, -2.0, 9.0, 0.3, 0.1, -0.2])
    with start_sensing(sensing_program, reading) as bench:
        command = bench.follow(Q)
        bench.states(Q, ZERO, np.full(6, np.nan))
        np.testing.assert_array_equal(bench.follow(Q), command)
        assert bench.log == ['wrist sensor gives no number']
        bench.follow(Q)
        assert bench.log == []
        assert bench.set({'payload.mass': 1.0}).startswith('payload.mass: expected 0 with a wrist')
        bench.ask('deactivate')
        assert not bench.activate()


# ---- parameters


REFUSED = {
    'computed_torque.kp': ([-1.0], [np.nan], [np.inf], [1.0, 2.0], [], [1e9]),
    'computed_torque.kv': ([1e4],),
    'feedforward_pd.kp': ([np.nan],),
    'effort_limits': ([0.0], [-1.0], [np.nan], [1.0] * 5),
    'effort_rate_limit': ([-1.0], [np.nan]),
    'jump_velocity': ([-1.0],),
    'payload.mass': (-1.0, np.nan, np.inf, 1e7),
    'payload.com': ([0.0], [np.nan, 0.0, 0.0]),
    'payload.inertia': (
        [1.0, 0.0, 0.0, 1.0, 0.0, 2.5],
        [1.0, 2.0, 0.0, 1.0, 0.0, 1.0],
        [0.01] * 6,
        [0.01, 0.0, 0.0, 0.01, 0.0, 0.01],
    ),
    'friction.smoothing_velocity': (-1.0, np.inf),
    'transition_time': (-0.1, 1.1, np.nan),
    'reference_timeout': (0.0,),
    'mode': ('feedforward', 'feedforward_pd'),
    'state_effort': ('current',),
    'on_deactivate': ('damp',),
    'wrench.measures': ('tool',),
}


@pytest.mark.parametrize('name', REFUSED)
def test_a_parameter_that_cannot_be_is_refused(bench, name):
    """The reason names it, and nothing changes; so it is when the controller is configured."""
    command = bench.follow(Q)
    for value in REFUSED[name]:
        reason = bench.set({name: value})
        assert name in reason or (name, value) == ('mode', 'feedforward_pd'), reason
        assert 'expected' in reason
        np.testing.assert_allclose(bench.follow(Q), command, atol=1e-12)


def test_a_wrong_parameter_file_is_an_error_of_configuring(program):
    """The node says why, and the controller stays unconfigured."""
    with ControllerBench(program, N, effort_limits=[-1.0]) as bench:
        assert not bench.is_configured
        (line,) = bench.log
        assert line.startswith('effort_limits: expected numbers > 0')


def test_the_controller_refuses_the_gains_that_the_node_refuses(program):
    """At random gains around the bound, at several rates: the same verdict."""
    rng = np.random.default_rng(3)
    verdicts = []
    for rate in (100, 500, 1000):
        with ControllerBench(program, N, rate) as bench:
            for _ in range(60):
                kv = rate / 1.5 * rng.uniform(0.0, 1.2)
                kp = (rate / 1.5) ** 2 * rng.uniform(0.0, 1.2) ** 3
                gains = Gains.from_values(kp, kv, N)
                refusals = check_gains(
                    Mode.COMPUTED_TORQUE, gains, lambda: np.eye(N), 1.0 / rate
                ).refusals
                given = {'computed_torque.kp': [kp], 'computed_torque.kv': [kv]}
                assert bool(bench.set(given)) == bool(refusals), (rate, kp, kv)
                verdicts.append(bool(refusals))
    assert 20 < sum(verdicts) < 160
