"""What the node does with efforts that contradict the model, and with others who command."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
UPWARD = [0.0, 0.0, 9.80665]
COMMANDS = 'effort_controller/commands'


def at_rest(bench, effort):
    return bench.joint_state(Q, effort=[float(value) for value in effort])


def send(bench, message) -> None:
    """Send a state and let it arrive; nothing need answer it."""
    before = bench.received['joint_states']
    bench.joint_states.publish(message)
    bench.spin(lambda: bench.received['joint_states'] > before, 'the state')
    bench.settle()


def test_gravity_of_the_wrong_sign_is_refused_at_activation(bench) -> None:
    """Where the efforts of the resting arm are those of the mirrored gravity, activation fails
    with what to check, nothing is commanded, and the status is an error until it is right.
    """
    bench.start(wait=None, autostart=False, gravity=UPWARD)
    assert bench.change_state('configure')
    bench.connect()
    send(bench, at_rest(bench, bench.dynamics.gravity_torque(Q)))
    assert not bench.change_state('activate')
    assert bench.state == 'inactive'
    assert 'gravity' in bench.hear('not activated', 'joint_3', 'mirrored')
    assert bench.commands == []
    found = bench.diagnose()
    assert found.level == b'\x02'
    assert 'mirrored' in found.message
    send(bench, at_rest(bench, np.zeros(6)))
    assert bench.change_state('activate')
    assert 'mirrored' not in bench.diagnose().message


def test_gravity_of_the_wrong_sign_is_refused_at_the_first_state(bench) -> None:
    """Where no state has come before activation the first one is judged: no command answers it,
    the node is inactive again, and the status is an error.
    """
    bench.start(gravity=UPWARD, state_effort='torque')
    weight = bench.dynamics.gravity_torque(Q)
    bench.joint_states.publish(at_rest(bench, weight))
    bench.spin(lambda: bench.state == 'inactive', 'inactive')
    bench.hear('deactivated without a command', 'joint_3', 'mirrored')
    assert bench.diagnose().level == b'\x02'
    send(bench, at_rest(bench, weight))
    assert not bench.change_state('activate')
    assert bench.commands == []


def test_a_weight_that_is_far_off_is_an_error_until_it_is_not(bench) -> None:
    """Efforts that are off by more than half of the weight are an error of the main status, with
    both numbers; the arm is commanded; when they agree it is over, and a later contact is none.
    """
    bench.start()
    weight = bench.dynamics.gravity_torque(Q)
    bench.answer(at_rest(bench, 0.2 * weight))
    found = bench.diagnose()
    joint = int(np.argmax(np.abs(weight / bench.robot.limits('effort_limit'))))
    assert found.level == b'\x02'
    assert f'{weight[joint]:.3g} N m' in found.message
    assert f'got {0.2 * weight[joint]:.3g}' in found.message
    for share in (1.1, 0.2):
        bench.answer(at_rest(bench, share * weight))
        assert 'by the model' not in bench.diagnose().message


def test_a_payload_that_the_effort_contradicts_is_warned_of(bench) -> None:
    """20 kg on an arm whose efforts are those of an empty one are taken with a warning that has
    the measured effort and both that the model expects; the load that there is draws none.
    """
    bench.start(effort_limits=[330.0, 330.0, 300.0, 112.0, 112.0, 112.0])
    weight = bench.dynamics.gravity_torque(Q)
    bench.answer(at_rest(bench, weight))
    bench.set(payload__mass=20.0, payload__link='tcp')
    after = bench.node.configured.controller.tuning.law.compensation.gravity(Q)
    change = after - weight
    joint = int(np.argmax(np.abs(change)))
    bench.hear('payload', f'exerts {weight[joint]:.3g}', 'with it', f'{after[joint]:.3g}')
    bench.set(payload__mass=0.0)
    bench.answer(at_rest(bench, after))
    bench.forget_what_was_said()
    bench.set(payload__mass=20.0)
    bench.settle()
    assert not any('payload: joint' in line for line in bench.said())


def test_effort_limits_far_above_the_model_draw_a_remark(bench) -> None:
    """Limits of more than twice the model's are warned of by joint with both numbers."""
    bench.start(effort_limits=[330.0, 330.0, 1000.0, 56.0, 56.0, 100.0])
    line = bench.hear('effort_limits', 'far above')
    assert 'joint_3 1000 (model: 150)' in line
    assert 'joint_2' not in line
    assert 'joint_6' not in line


# ---- who else commands


def until_known(bench, *names: str) -> None:
    """Wait until these are the others who command."""
    bench.spin(lambda: bench.node.configured.others.find() == list(names), f'{names}')


def test_another_commander_is_named(bench) -> None:
    """A second node that publishes on the topic of the commands is a warning that names it, in
    the diagnostics while the arm is commanded; it ends with that publisher.
    """
    bench.start()
    bench.answer(bench.joint_state(Q))
    assert 'publishes commands' not in bench.diagnose().message
    other = bench.probe.create_publisher(Float64MultiArray, COMMANDS, 10)
    until_known(bench, '/probe')
    found = bench.diagnose()
    assert found.level == b'\x01'
    assert '/probe publishes commands too' in found.message
    assert bench.change_state('deactivate')
    assert 'publishes commands' not in bench.diagnose().message
    assert bench.change_state('activate')
    bench.hear('/probe publishes commands too')
    bench.probe.destroy_publisher(other)
    until_known(bench)
    assert 'publishes commands' not in bench.diagnose().message


def test_another_node_of_the_same_name_is_found(bench) -> None:
    """A second node that was started with the same name is another commander too."""
    bench.start()
    twin = Node('computed_torque', context=bench.context)
    try:
        twin.create_publisher(Float64MultiArray, COMMANDS, 10)
        until_known(bench, '/computed_torque')
    finally:
        twin.destroy_node()


def test_another_commander_may_be_refused(bench) -> None:
    other = bench.probe.create_publisher(Float64MultiArray, COMMANDS, 10)
    bench.start(wait='inactive', refuse_other_commanders=True)
    assert '/probe' in bench.hear('not activated', 'refuse_other_commanders')
    assert bench.diagnose().level == b'\x02'
    bench.probe.destroy_publisher(other)
    until_known(bench)
    assert bench.change_state('activate')
