"""Transitions of the node, where its robot comes from, and the last command."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from fuzz_messages import bad_descriptions

from ne_dynamics.errors import ModelError
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.ros.settings.robot_source import load_robot
from ne_dynamics.shipped import shipped_file

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])


NO_READING = 'ne_dynamics.ros.robot_description.check_description'


def test_every_transition(bench) -> None:
    """Configure, activate, deactivate, cleanup and shutdown do what they say, twice round."""
    bench.start(wait='unconfigured', autostart=False)
    bench.hear('autostart is off', 'ros2 lifecycle set /computed_torque configure')
    for _ in range(2):
        assert bench.change_state('configure')
        assert bench.state == 'inactive'
        assert bench.change_state('activate')
        bench.connect()
        bench.answer(bench.joint_state(Q))
        assert bench.change_state('deactivate')
        assert bench.change_state('cleanup')
        assert bench.state == 'unconfigured'
        bench.spin(lambda: bench.joint_states.get_subscription_count() == 0)
    assert bench.change_state('shutdown')
    assert bench.state == 'finalized'


def test_inactive_sends_nothing(bench) -> None:
    """States are heard, trajectories dropped, requests refused."""
    bench.start(wait='unconfigured', autostart=False)
    bench.change_state('configure')
    bench.connect()
    bench.joint_states.publish(bench.joint_state(Q))
    bench.spin(lambda: bench.received['joint_states'] == 1)
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    bench.hear('joint_trajectory dropped', 'not active')
    response = bench.trigger('hold')
    assert not response.success
    assert 'inactive' in response.message
    assert bench.commands == []


@pytest.mark.parametrize('way', ['topic', 'topic before the node', 'parameter'])
def test_where_the_robot_comes_from(bench, way: str) -> None:
    """A node that waits for its robot goes on waiting through what is none."""
    if way == 'topic before the node':
        bench.describe(bench.urdf)
    if way == 'topic':
        bench.start(wait='unconfigured', model_file='')
        bench.hear('waiting for the robot', 'robot_description')
        drops = bench.node.reporter.statistics.drops
        for count, text in enumerate(('<robot', '<html/>', '<robot name="empty"/>')):
            bench.describe(text)
            bench.spin(lambda count=count: drops['robot_description.data'] == count + 1)
            assert bench.state == 'unconfigured'
        bench.describe(bench.urdf)
        bench.spin(lambda: bench.state == 'active')
        bench.connect()
    else:
        bench.start(model_file='', robot_description=bench.urdf if way == 'parameter' else '')
    command = bench.answer(bench.joint_state(Q))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_a_fault_while_configuring_is_reported(bench, monkeypatch) -> None:
    """An exception nobody foresaw is in the log with its trace, and the node is unconfigured."""
    node = bench.start(wait='unconfigured', autostart=False)

    def fail() -> None:
        raise RuntimeError('out of thin air')

    monkeypatch.setattr(node, '_configure', fail)
    assert not bench.change_state('configure')
    bench.hear('on_configure failed', 'out of thin air')
    assert bench.state == 'unconfigured'
    monkeypatch.undo()
    assert bench.change_state('configure')


EXTRAS = 'joints: {joint_2: {friction_offset: 3.5, smoothing_velocity: 0.01}}'


@pytest.mark.parametrize('by_topic', [False, True])
def test_extras_reach_the_command(bench, tmp_path, by_topic: bool) -> None:
    """The file of model_extras_file adds to the model, wherever that comes from."""
    extras = tmp_path / 'extras.yaml'
    extras.write_text(EXTRAS, encoding='utf-8')
    source = {'model_file': ''} if by_topic else {}
    if by_topic:
        bench.describe(bench.urdf)
    bench.start(model_extras_file=str(extras), **source)
    command = bench.answer(bench.joint_state(Q))
    expected = bench.dynamics.gravity_torque(Q) + np.array([0.0, 3.5, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(command, expected, atol=1e-9)
    bench.hear('friction and drives of joint_2', str(extras))


def test_hold_says_what_is_held(bench) -> None:
    """Nothing before the first state, in a mode that holds nothing, or during a fault."""
    bench.start(jump_velocity=None)

    def refused() -> str:
        response = bench.trigger('hold')
        assert not response.success
        return response.message

    bench.send_trajectory(bench.trajectory((0.01, Q + 0.5)))
    assert refused().startswith('not held: no joint state yet')
    for _ in range(5):
        np.testing.assert_array_equal(bench.desired(Q), Q)
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(Q), atol=1e-9)
    assert bench.trigger('hold').success
    bench.set(mode='gravity_compensation')
    assert refused() == 'not held: mode gravity_compensation holds no position'
    bench.set(mode='computed_torque')
    bench.answer(bench.joint_state(Q + 1.0))
    assert 'not held: joint_states jumped' in refused()
    for _ in range(3):
        bench.joint_states.publish(bench.joint_state(Q))
        bench.settle()
    assert bench.trigger('hold').success


SECRET = 'hunter2'
NO_ROBOTS = {
    'passwords': f'root:{SECRET}:19000:0\n',
    'a list': f'- {SECRET}\n',
    'settings': f'password: {SECRET}\n',
    'broken YAML': f'a: [{SECRET}\nb: %{SECRET}\n',
    'a tag': f'!{SECRET} x\n',
    'a key twice': f'{SECRET}: 1\n{SECRET}: 2\n',
    'an alias': f'a: *{SECRET}\n',
    'XML': f'<{SECRET} name="{SECRET}"><robot/></{SECRET}>',
    'broken XML': f'<!-- {SECRET} --><{SECRET}',
    'an entity': f'<!DOCTYPE {SECRET} [<!ENTITY e "{SECRET}">]><{SECRET}>&e;</{SECRET}>',
    'bytes': f'\0\1{SECRET}',
}


@pytest.mark.parametrize('what', list(NO_ROBOTS))
def test_a_file_that_is_no_robot_is_not_told_of(tmp_path, what: str) -> None:
    """An error names the file and what was expected, without a word of what is in it: of a model,
    of its extras, and of extras that are found beside it.
    """
    file, urdf = tmp_path / 'file', tmp_path / 'arm.urdf'
    shutil.copy(shipped_file('six_axis_arm.urdf'), urdf)
    file.write_text(NO_ROBOTS[what])
    extras = {'model_file': str(urdf), 'model_extras_file': str(file)}
    rows = [(file, {'model_file': str(file)}, 'a URDF'), (file, extras, 'extras of a model')]
    if not what.endswith('XML') and what != 'an entity':
        beside = tmp_path / 'arm.extras.yaml'
        rows.append((beside, {'model_file': str(urdf)}, 'extras of a model'))
    for place, parameters, expected in rows:
        place.write_text(NO_ROBOTS[what])
        with pytest.raises(ModelError, match=f'expected {expected}') as refusal:
            load_robot(PARAMETERS.changed(parameters))
        assert str(place) in str(refusal.value)
        assert SECRET not in str(refusal.value)


@pytest.mark.parametrize('parameter', ['model_file', 'model_extras_file'])
def test_a_pipe_is_no_model(bench, tmp_path, parameter: str) -> None:
    """A file that could be read for ever, a pipe or a device, is refused at once."""
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    bench.start(wait='unconfigured', **{parameter: str(pipe)})
    bench.hear('not configured', str(pipe), 'expected a regular file')
    for path in ('/dev/zero', str(tmp_path)):
        assert bench.set_atomically(**{parameter: path}).successful
        assert not bench.change_state('configure')
        bench.hear('not configured', path, 'expected a regular file')


def test_a_description_is_not_read_while_a_parameter_names_the_robot(bench, monkeypatch) -> None:
    """With model_file the topic costs nothing, and counts once the parameter is empty; what is
    longer than any robot is dropped by its length alone.
    """
    bench.start()
    with monkeypatch.context() as patch:
        patch.setattr(NO_READING, None)
        bench.describe(bench.urdf.replace('six_axis_arm', 'another_arm', 1))
        bench.spin(lambda: bench.received['robot_description'] == 1, 'the description')
        bench.describe('<robot name="long">' + ' ' * 2**21)
        bench.hear('robot_description dropped', 'at most 2097152 characters')
    bench.answer(bench.joint_state(Q))
    assert not any('another' in line for line in bench.said())
    for transition in ('deactivate', 'cleanup'):
        assert bench.change_state(transition)
    assert bench.set_atomically(model_file='').successful
    assert bench.change_state('configure')
    bench.hear("configured for 'another_arm'")


def test_a_description_is_not_read_while_the_arm_is_commanded(bench, monkeypatch) -> None:
    """Whatever comes, the arm is held on, and the log says when it counts.

    Reading takes longer than a state may wait: it is done on deactivation, bad ones too.
    """
    bench.describe(bench.urdf)
    bench.start(model_file='')
    another = bench.urdf.replace('six_axis_arm', 'another', 1)
    with monkeypatch.context() as patch:
        patch.setattr(NO_READING, None)
        for count, text in enumerate((*bad_descriptions(bench.urdf), another)):
            bench.describe(text)
            bench.spin(lambda count=count: bench.received['robot_description'] == count + 2)
            command = bench.answer(bench.joint_state(Q))
            np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)
    bench.hear('another robot_description came', 'configured again')
    for transition in ('deactivate', 'cleanup', 'configure'):
        assert bench.change_state(transition)
    bench.hear("configured for 'another'")
    assert bench.change_state('activate')
    before = bench.received['robot_description']
    bench.describe('<robot')
    bench.spin(lambda: bench.received['robot_description'] > before)
    assert not any('robot_description dropped' in line for line in bench.said())
    assert bench.change_state('deactivate')
    bench.hear('robot_description dropped')
    assert bench.node.reporter.statistics.drops['robot_description.data'] == 1
    for transition in ('cleanup', 'configure'):
        assert bench.change_state(transition)
