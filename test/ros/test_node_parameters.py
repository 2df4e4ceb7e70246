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


@pytest.mark.parametrize(
    ('name', 'value', 'default'), [('mode', 'pid', 'computed_torque'), ('autostart', 'yes', True)]
)
def test_a_bad_start_value_is_said_and_can_be_mended(bench, name: str, value, default) -> None:
    """A bad value at the start keeps the node unconfigured, alive, until it is set right."""
    bench.start(wait='unconfigured', **{name: value})
    bench.hear('not configured', f'{name}: expected', f"got '{value}'")
    bench.set(**{name: default})
    assert bench.change_state('configure')


@pytest.mark.parametrize('value', [-2.0, 'tight'])
def test_tolerances_of_single_joints_are_checked(bench, value: Any) -> None:
    """Below -1, of the wrong type: named, and not configured."""
    bench.start(wait=None, **{'constraints.joint_2.goal': value})
    bench.hear('not configured: constraints.joint_2.goal: expected')
    assert bench.state == 'unconfigured'


MIT = ['position', 'velocity', 'effort', 'proportional', 'derivative']
PD_DRIVES = {'mode': 'feedforward', 'command.kp': [60.0], 'command.kd': [1.0]}
NO_GAINS = {'computed_torque.kp': [0.0], 'computed_torque.kv': [0.0]}
UNFIT: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    # The robot, and what is of its joints and links.
    ({'model_file': '/nowhere/robot.urdf'}, ('/nowhere/robot.urdf',)),
    ({'tip_link': 'nowhere'}, ("'nowhere'",)),
    ({'joints': ['joint_1']}, ('joints: expected',)),
    ({'gain_joints': ['joint_2', 'joint_1']}, ('gain_joints: expected the joints in the order',)),
    ({'locked_joints.names': ['joint_6'], 'locked_joints.positions': [1.0, 2.0]}, ('locked',)),
    ({'computed_torque.kp': [1.0, 2.0]}, ('computed_torque.kp: expected 1, 6 or 36',)),
    ({'effort_limits': [1.0, 2.0]}, ('effort_limits: expected 1 or 6',)),
    ({'wrench.enabled': True, 'wrench.sensor_link': 'hand'}, ("'hand'",)),
    ({'wrench.enabled': True, 'wrench.sensor_link': 'forearm'}, ('forearm',)),
    # Who closes the loop: nobody, or two.
    ({'mode': 'feedforward'}, ('mode: feedforward', 'feedforward.robot_closes_loop')),
    ({'mode': 'feedforward_pd'}, ('feedforward_pd.kp, feedforward_pd.kv: both are zero',)),
    (NO_GAINS, ('computed_torque.kp, computed_torque.kv: both are zero', 'no feedback')),
    ({'command.interfaces': MIT[:3]}, ('mode: computed_torque', 'count twice', 'feedforward')),
    (
        {'mode': 'feedforward_pd', 'command.interfaces': MIT[:3]},
        ('mode: feedforward_pd', 'count twice'),
    ),
    (
        {**PD_DRIVES, 'command.interfaces': MIT, 'on_state_loss': 'lower'},
        ('on_state_loss', 'lower', 'brake or gravity'),
    ),
    # What is sent, and in what.
    (
        {'mode': 'feedforward', 'command.interfaces': ['position']},
        ('command.interfaces', "'effort'", 'position'),
    ),
    (
        {'mode': 'feedforward', 'command.interfaces': ['effort', 'velocity']},
        ('command.interfaces', "'position'", 'velocity'),
    ),
    ({'command.interfaces': ['effort', 'torque']}, ('command.interfaces', "'torque'")),
    ({'command.interfaces': ['effort', 'effort']}, ('command.interfaces', 'no name twice')),
    ({'mode': 'feedforward', 'command.interfaces': MIT}, ('command.kp', 'proportional')),
    (
        {**PD_DRIVES, 'command.interfaces': MIT, 'command.kp': [1.0, 2.0]},
        ('command.kp', '6'),
    ),
    (
        {**PD_DRIVES, 'command.interfaces': MIT, 'command.type': 'joint_state'},
        ('command.type', 'joint_state', 'proportional'),
    ),
    (
        {**PD_DRIVES, 'command.interfaces': MIT[:3], 'command.type': 'joint_command'},
        ('command.type', 'joint_command', 'one interface'),
    ),
    (
        {'command.repeat': 50.0, 'state_timeout': float('inf')},
        ('command.repeat', 'state_timeout'),
    ),
]


def test_what_cannot_be_is_not_configured(bench, unthrottled) -> None:
    """One line says which parameter, what was expected and what came; nothing is left behind, and
    with the parameters of before the node is configured.
    """
    bench.start(wait=None, autostart=False)
    for parameters, fragments in UNFIT:
        bench.forget_what_was_said()
        before = dict(zip(parameters, bench.get(*parameters), strict=True))
        result = bench.set_atomically(**parameters)
        if result.successful:
            assert not bench.change_state('configure'), parameters
            assert '\n' not in bench.hear('not configured', *fragments)
            bench.set(**before)
        else:
            assert all(fragment in result.reason for fragment in fragments), result.reason
        assert bench.state == 'unconfigured'
        assert bench.node.configured is None
    assert bench.change_state('configure')
    assert bench.state == 'inactive'


def test_without_feedback_the_robot_must_close_the_loop(bench) -> None:
    """Modes whose gains are zero, and the mode that has none, are taken from a robot that does;
    that it does is not taken back then, unless there are gains.
    """
    closes, opens = ({'feedforward__robot_closes_loop': is_closed} for is_closed in (True, False))
    bench.start(wait='unconfigured', mode='feedforward_pd')
    bench.set(**closes)
    assert bench.change_state('configure')
    bench.hear('feedforward_pd.kp is zero: no feedback')
    bench.set(mode='feedforward')
    for values, reason in (
        (opens, 'falls'),
        ({**opens, 'mode': 'feedforward_pd'}, 'falls'),
        ({**opens, **NO_GAINS, 'mode': 'computed_torque'}, 'no feedback'),
    ):
        result = bench.set_atomically(**values)
        assert not result.successful
        assert reason in result.reason
    bench.set(**opens, mode='feedforward_pd', feedforward_pd__kv=[1.0])
    assert not bench.set_atomically(mode='feedforward').successful


def test_a_mode_with_feedback_is_refused_where_drives_have_theirs(bench) -> None:
    """At run time too: the drives go on as they do; to be led by hand is possible."""
    bench.start(command__interfaces=MIT[:3], mode='feedforward')
    bench.answer(bench.joint_state(POSE))
    refused = bench.set_atomically(mode='computed_torque')
    assert not refused.successful
    assert 'count twice' in refused.reason
    bench.set(mode='gravity_compensation')


POSE = np.array([0.1, 0.6, 0.9, 0.2, 0.4, 0.3])


def under_way(bench):
    """Have the node answer some states, 2 ms apart."""
    node = bench.start(**SOFT)
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
    'no such mode': {'mode': 'dance'},
    'NaN': {'computed_torque.kp': [NAN]},
    '35 for 36': {'feedforward_pd.kp': [1.0] * 35},
    'five for six': {'effort_limits': [300.0] * 5},
    'a word': {'terms.gravity': 'off'},
    'infinite the wrong way': {'imu.timeout': -INFINITY},
    'no mass': {'payload.mass': -3.0},
    'no body has it': {'payload.inertia': [0.1, 0.0, 0.0, 0.1, 0.0, 5.0]},
    'no such link': {'payload.link': 'nowhere'},
    'not at the tip': {'payload.link': 'forearm'},
    'while active': {'model_file': '/tmp/other.urdf'},
    'at the start only': {'autostart': False},
    'no such parameter': {'no_such_parameter': 1.0},
    'nobody closes the loop': {'mode': 'feedforward'},
    # Of a set of which one cannot be, nothing is taken, in whatever order they are.
    'a mode and a NaN': {'mode': 'gravity_compensation', 'computed_torque.kp': [NAN]},
    'a NaN and a mode': {'computed_torque.kv': [NAN], 'mode': 'gravity_compensation'},
    'gravity off and no such parameter': {'terms.gravity': False, 'no_such_parameter': 1.0},
    'a load and an inertia of no body': {
        'payload.mass': 10.0,
        'payload.inertia': [0.1, 0.0, 0.0, 0.1, 0.0, 5.0],
    },
    'gains and another model': {'computed_torque.kp': [90.0], 'model_file': '/tmp/other.urdf'},
}


def test_a_refused_parameter(bench) -> None:
    """What cannot be is refused by both services, by name, and all values stay."""
    under_way(bench)
    for fault, values in REFUSED.items():
        names = [name for name in values if name != 'no_such_parameter']
        before = bench.get(*names)
        results = [bench.set_atomically(**values)]
        if len(values) == 1:
            results += bench.set_each(**values)
        for result in results:
            assert not result.successful, fault
            assert any(name in result.reason for name in values)
        np.testing.assert_equal(bench.get(*names), before)
    results = bench.set_each(wrench__gain=0.5, state_timeout=NAN, computed_torque__kv=[38.0])
    assert [result.successful for result in results] == [True, False, True]
    assert bench.get('wrench.gain', 'computed_torque.kv') == [0.5, [38.0]]


@pytest.mark.parametrize('what', ['position', 'velocity'])
def test_a_limit_below_the_present_error_is_refused(bench, what) -> None:
    """A following error that the arm has now gives the motion up at once: the limit is not taken,
    and joint and error are named. One above it is.
    """
    node = under_way(bench)
    elbow = np.eye(6)[2]
    state = {'position': (POSE + 0.05 * elbow, None), 'velocity': (POSE, 0.2 * elbow)}[what]
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

SOFT = {'computed_torque__kv': [40.0], 'computed_torque__kp': [400.0]}


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
    bench.set(**SOFT)
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
    bench.set(**SOFT)
    assert clear() is None


def test_coarse_velocities_are_named_with_what_helps(bench) -> None:
    """Velocities in steps of 0.77 rad/s of an arm that stands still: the diagnostics warn, name
    the joint and the parameter.
    """
    bench.start(**SOFT)
    said = "coarse or noisy velocities: the command of joint 'joint_3'"

    def find() -> list[str]:
        return [one.message for one in bench.diagnostics if said in one.message]

    while not find():
        for sign in (1.0, -1.0):
            bench.joint_states.publish(bench.joint_state(POSE, sign * 0.77 * np.eye(6)[2]))
            bench.settle()
    assert 'velocity_source differentiated or estimated' in find()[0]
    assert all(one.level != b'\x00' for one in bench.diagnostics if said in one.message)
