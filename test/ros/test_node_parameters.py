"""Parameters of the running node: checked, changed at run time, all or nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy', reason='rclpy is missing')

from rclpy.parameter import Parameter, parameter_dict_from_yaml_file

from ne_dynamics.ros.settings.parameters import PARAMETERS

NAN, INFINITY = float('nan'), float('inf')


def test_all_are_declared_as_the_table_says(bench) -> None:
    from node_bench import ANY_PACE, AT_ONCE, STRAIGHT

    nothing = dict.fromkeys(('model_file', 'backend', *ANY_PACE, *AT_ONCE, *STRAIGHT))
    node = bench.start(wait='unconfigured', autostart=False, **nothing)
    types = {
        'bool': 'BOOL',
        'double': 'DOUBLE',
        'string': 'STRING',
        'double[]': 'DOUBLE_ARRAY',
        'string[]': 'STRING_ARRAY',
    }
    for spec in PARAMETERS:
        parameter = node.get_parameter(spec.name)
        descriptor = node.describe_parameter(spec.name)
        assert parameter.type_.name == types[spec.type], spec.name
        assert descriptor.description.startswith(spec.description)
        assert descriptor.read_only == (spec.name == 'autostart')
        if spec.name == 'autostart':
            continue
        value = parameter.value
        assert value == spec.default or tuple(value) == spec.default, spec.name
    timeout = node.describe_parameter('wrench.timeout')
    assert timeout.floating_point_range[0].from_value == 0.0


def test_a_dump_of_the_parameters_can_be_loaded(bench, tmp_path) -> None:
    """What `ros2 param dump` writes `ros2 param load` sets: infinite numbers and `off` among it.

    But what can be set at the start only. The file goes the way of that command, through words.
    """
    bounds = [float('inf'), *[3.0] * 5]
    node = bench.start(jump_velocity=bounds, velocity_check=True, wrench__max_force=float('inf'))
    values = {spec.name: node.get_parameter(spec.name).value for spec in PARAMETERS}
    plain = {
        name: value if isinstance(value, (bool, float, str)) else list(value)
        for name, value in values.items()
    }
    file = tmp_path / 'dump.yaml'
    file.write_text(yaml.dump({'/computed_torque': {'ros__parameters': plain}}))
    messages = parameter_dict_from_yaml_file(str(file)).values()
    for parameter in map(Parameter.from_parameter_msg, messages):
        (result,) = node.set_parameters([parameter])
        assert result.successful or parameter.name == 'autostart', result.reason
    after = {spec.name: node.get_parameter(spec.name).value for spec in PARAMETERS}
    assert after == values


BAD_START: list[tuple[dict[str, Any], str]] = [
    ({'mode': 'pid'}, 'mode: expected one of computed_torque'),
    ({'computed_torque__kp': [NAN]}, 'computed_torque.kp: expected a finite number'),
    ({'gravity': [0.0, 1.0]}, 'gravity: expected 3 values'),
    ({'gain_joints': ['joint_2', 'joint_1']}, 'gain_joints: expected the joints in the order'),
    ({'autostart': 'yes'}, "autostart: expected true or false, got 'yes'"),
]


@pytest.mark.parametrize(('parameters', 'said'), BAD_START, ids=lambda value: str(value)[:20])
def test_a_bad_start_value_is_said_and_can_be_mended(bench, parameters, said: str) -> None:
    """A bad value at the start keeps the node unconfigured, alive, until it is set right."""
    bench.start(wait='unconfigured', **parameters)
    bench.hear('not configured', said)
    (name,) = parameters
    default = PARAMETERS.by_name[name.replace('__', '.')].default
    bench.set(**{name: default if not isinstance(default, tuple) else list(default)})
    assert bench.change_state('configure')


def test_gains_of_zero_need_a_robot_that_closes_the_loop(bench) -> None:
    bench.start(wait='unconfigured', mode='feedforward_pd')
    bench.hear('not configured', 'feedforward_pd.kp, feedforward_pd.kv: both are zero')
    assert bench.set_atomically(feedforward__robot_closes_loop=True).successful
    assert bench.change_state('configure')
    bench.hear('feedforward_pd.kp is zero: no feedback')
    closed = {'feedforward__robot_closes_loop': False}
    result = bench.set_atomically(**closed)
    assert not result.successful
    assert 'falls' in result.reason
    assert bench.set_atomically(feedforward_pd__kv=[1.0], **closed).successful
    zero = {'mode': 'computed_torque', 'computed_torque__kp': [0.0], 'computed_torque__kv': [0.0]}
    result = bench.set_atomically(**zero)
    assert not result.successful
    assert 'no feedback' in result.reason
    assert bench.set_atomically(**zero | {'computed_torque__kv': [20.0]}).successful


POSE = np.array([0.1, 0.6, 0.9, 0.2, 0.4, 0.3])


def under_way(bench):
    """Have the node answer some states, 2 ms apart."""
    node = bench.start(
        mode='computed_torque', computed_torque__kp=[400.0], computed_torque__kv=[40.0]
    )
    for _ in range(5):
        bench.answer(bench.joint_state(POSE))
    return node


HOPELESS = [
    ({'effort_limits': [5.0]}, "effort_limits, payload: expected that joint 'joint_"),
    ({'payload.mass': 500.0}, "effort_limits, payload: expected that joint 'joint_"),
    ({'computed_torque.kp': [1e5]}, 'phase margin'),
    ({'computed_torque.kv': [900.0]}, r'kv \* delay'),
    ({'computed_torque.kv': [0.0]}, 'phase margin'),
    ({'computed_torque.kv': [1.0]}, 'phase margin'),
    ({'effort_rate_limit': [386.0]}, 'too slow for the gains: .* expected at least'),
    ({'effort_rate_limit': [1e-9]}, 'too slow for the gains: .* expected at least'),
]


def test_what_cannot_work_on_the_arm_as_it_is_is_refused(bench) -> None:
    """The service says why, and what was commanded before goes on."""
    under_way(bench)
    before = bench.answer(bench.joint_state(POSE))
    for values, match in HOPELESS:
        (result,) = bench.set_each(**values)
        assert not result.successful, values
        assert re.search(match, result.reason), result.reason
        np.testing.assert_allclose(bench.answer(bench.joint_state(POSE)), before, rtol=1e-12)


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
    'imu.timeout: infinite the wrong way': {'imu.timeout': -INFINITY},
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


def test_a_refused_parameter(bench) -> None:
    """A parameter that cannot be is refused by both services, by name, and keeps its value."""
    under_way(bench)
    for fault, values in REFUSED.items():
        ((name, value),) = values.items()
        before = bench.get(name)
        for result in (bench.set_atomically(**{name: value}), *bench.set_each(**{name: value})):
            assert not result.successful, fault
            assert name in result.reason
        np.testing.assert_equal(bench.get(name), before)


def test_a_half_valid_set(bench) -> None:
    """Of a set of which one cannot be, nothing is taken, in whatever order they are."""
    under_way(bench)
    for fault, values in HALF_VALID.items():
        names = [name for name in values if name != 'no_such_parameter']
        before = bench.get(*names)
        result = bench.set_atomically(**values)
        assert not result.successful, fault
        assert result.reason
        np.testing.assert_equal(bench.get(*names), before)


def test_set_one_by_one_the_good_ones_are_taken(bench) -> None:
    """The service that sets one by one takes what can be, and refuses what cannot."""
    under_way(bench)
    results = bench.set_each(wrench__gain=0.5, state_timeout=NAN, computed_torque__kv=[38.0])
    assert [result.successful for result in results] == [True, False, True]
    assert bench.get('wrench.gain', 'computed_torque.kv') == [0.5, [38.0]]


@pytest.mark.parametrize('what', ['position', 'velocity'])
def test_a_limit_below_the_present_error_is_refused(bench, what) -> None:
    """A following error that the arm has now gives the motion up at once: the limit is not taken,
    and joint and error are named. One above it is.
    """
    node = under_way(bench)
    away = 0.05 * np.eye(6)[2]
    parts = {'position': (POSE + away, None), 'velocity': (POSE, 0.2 * np.eye(6)[2])}
    state = parts[what]
    before = bench.answer(bench.joint_state(*state))
    (result,) = bench.set_each(**{f'following_error.{what}': [0.01]})
    assert not result.successful
    assert f"following_error.{what}: joint 'joint_3' is" in result.reason
    assert ('0.05' if what == 'position' else '0.2') in result.reason
    np.testing.assert_allclose(bench.answer(bench.joint_state(*state)), before, rtol=1e-12)
    assert node.configured.controller.fault is None
    assert bench.set_each(**{f'following_error.{what}': [0.3]})[0].successful
    # The next limit is not lower: whatever it is, nobody is worse off.
    assert bench.set_each(**{f'following_error.{what}': [0.4]})[0].successful
    # Who has left the arm alone has no motion to give up.
    assert bench.change_state('deactivate')
    assert bench.set_each(**{f'following_error.{what}': [0.01]})[0].successful


def send_states(bench, count: int) -> None:
    """Send states one by one, 2 ms apart by their stamps, answered or not."""
    for _ in range(count):
        before = bench.received['joint_states']
        bench.joint_states.publish(bench.joint_state(POSE))
        bench.spin(lambda before=before: bench.received['joint_states'] > before, 'a state')


STIFF = {'computed_torque__kv': [500.0], 'computed_torque__kp': [1e4]}
"""States every 2 ms: kv times the delay is 1.5."""


def test_gains_that_cannot_work_are_not_activated(bench) -> None:
    """A node that was configured and has heard states judges its gains before it commands."""
    bench.start(wait='unconfigured', autostart=False, **STIFF)
    assert bench.change_state('configure')
    bench.connect()
    send_states(bench, 12)
    assert not bench.change_state('activate')
    bench.hear('not activated', 'kv * delay = 1.50')
    assert bench.state == 'inactive'
    assert not bench.commands
    assert bench.set_atomically(computed_torque__kv=[40.0], computed_torque__kp=[400.0]).successful
    assert bench.change_state('activate')


def test_gains_that_cannot_work_are_a_fault_once_the_rate_is_known(bench) -> None:
    """Activated before the first state nobody could judge them: within twenty states they are a
    fault that latches, that comes again when it is cleared, and that other gains end.
    """
    node = bench.start(**STIFF)
    send_states(bench, 20)
    assert node.configured.controller.fault.latches
    bench.hear('gains unstable', 'kv * delay = 1.50', '~/clear_fault')

    def clear():
        send_states(bench, 5)
        assert bench.trigger('clear_fault').success
        send_states(bench, 5)
        return node.configured.controller.fault

    assert clear() is not None
    assert bench.set_atomically(computed_torque__kv=[40.0], computed_torque__kp=[400.0]).successful
    assert clear() is None


def test_feedforward_needs_a_robot_that_closes_the_loop(bench) -> None:
    """The mode without feedback is refused, at the start and later, until its robot is one."""
    bench.start(wait='unconfigured', mode='feedforward')
    bench.hear('not configured', 'mode: feedforward', 'feedforward.robot_closes_loop')
    assert bench.set_atomically(feedforward__robot_closes_loop=True).successful
    assert bench.change_state('configure')
    result = bench.set_atomically(feedforward__robot_closes_loop=False)
    assert not result.successful
    assert 'falls' in result.reason
    both = {'mode': 'computed_torque', 'feedforward__robot_closes_loop': False}
    assert bench.set_atomically(**both).successful
    assert not bench.set_atomically(mode='feedforward').successful


def test_coarse_velocities_are_named_with_what_helps(bench) -> None:
    """Velocities in steps of 0.77 rad/s of an arm that stands still: the diagnostics warn, name
    the joint and the parameter.
    """
    bench.start(computed_torque__kp=[400.0], computed_torque__kv=[40.0])
    said = "coarse or noisy velocities: the command of joint 'joint_3'"

    def find() -> list[str]:
        return [one.message for one in bench.diagnostics if said in one.message]

    while not find():
        for sign in (1.0, -1.0):
            bench.joint_states.publish(bench.joint_state(POSE, sign * 0.77 * np.eye(6)[2]))
            bench.settle()
    assert 'velocity_source differentiated or estimated' in find()[0]
    assert all(one.level != b'\x00' for one in bench.diagnostics if said in one.message)
