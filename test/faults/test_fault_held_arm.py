"""Faults between the robot's sensors and the node, while MuJoCo pulls the arm down."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import LARGEST_SAG, nanoseconds

FIELDS = ('name', 'position', 'velocity', 'effort')


def changed(message, **fields):
    """Return a copy of a message with other fields."""
    message = copy.deepcopy(message)
    for key, value in fields.items():
        setattr(message, key, value)
    return message


def of_joints(message, places):
    """Return a copy of a state of these joints alone."""
    rows = {key: getattr(message, key) for key in FIELDS}
    return changed(message, **{key: [row[place] for place in places] for key, row in rows.items()})


def earlier(message):
    """Return a copy of a state that seems to be older."""
    message = copy.deepcopy(message)
    stamp = nanoseconds(message.header.stamp) - 30_000_000
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    return message


def every_twentieth(other):
    """Return what passes other messages on in the place of every twentieth."""
    count = itertools.count(1)
    return lambda message: [message] if next(count) % 20 else other(message)


BROKEN = {
    'incomplete ones among them': lambda message: [of_joints(message, range(5)), message],
    'order changing': every_twentieth(lambda message: [of_joints(message, range(5, -1, -1))]),
    'echoes': lambda message: [message, message, earlier(message)],
    'no efforts': lambda message: [changed(message, effort=[])],
    'every twentieth lost': every_twentieth(lambda message: []),
}


def test_a_held_arm_stays_while_states_are_broken(arm) -> None:
    """Whatever is among the states, the arm is held as long as good ones come."""
    mark = arm.mark()
    for fault, treat in BROKEN.items():
        with arm.state_wire.broken(treat):
            arm.until(lambda: arm.state_wire.treated > 45, 'treated states')
        arm.until_answering(10)
        assert arm.sag(mark, arm.base) < LARGEST_SAG, fault


def check_held_again(arm, mark) -> None:
    """Check that the arm is stopped, and held, where it was measured to be at the first answer.

    That answer has the effort of the command before it.
    """
    arm.until_answering(20)
    arm.set(on_fault='damp')
    arm.until(lambda: not np.any(arm.answers[-1].velocity), 'the stop')
    first = arm.answers[mark.answers]
    measured = {state.stamp: state.position for state in arm.states}
    np.testing.assert_allclose(first.position, measured[first.stamp], atol=1e-9)
    assert (np.abs(arm.held_at - first.position) <= 0.1 * np.abs(first.velocity) + 1e-9).all()
    before = [record for record in arm.commands if record.sent < first.sent][-2]
    np.testing.assert_allclose(first.effort, before.effort, rtol=0, atol=1e-9)


def until_left(arm, treat) -> None:
    """Break the wire of the states so until the arm is left; make it whole again."""
    with arm.state_wire.broken(treat):
        arm.set(state_timeout=0.2, on_fault='leave')
        arm.until(lambda: arm.is_left, 'a last command, and silence')
        arm.left = arm.mark()
        arm.set(state_timeout=2.0)


def start_moving(arm) -> None:
    """Set the arm in slow motion."""
    arm.trajectories.publish(arm.trajectory((2.0, arm.base + 0.1, [0.0] * 6, [0.0] * 6)))
    arm.until(lambda: np.any(arm.answers[-1].velocity > 0.05), 'motion')


def test_states_cut_off_under_way(arm) -> None:
    """Cut off in the middle of a motion: a last command against gravity, silence, an error; held
    where the arm is measured to be when states return.
    """
    mark = arm.mark()
    # This robot goes at a pace of its own; braking is by real time.
    arm.set(on_state_loss='gravity')
    start_moving(arm)
    until_left(arm, lambda message: [])
    answered = arm.answers[arm.left.answers - 1].stamp
    (last,) = (state.position for state in arm.states if state.stamp == answered)
    left = arm.commands[arm.left.commands - 1].effort
    np.testing.assert_allclose(left, arm.gravity(last), atol=1e-9)
    check_held_again(arm, arm.left)
    arm.until_fault('joint_states stopped', since=mark)


def test_deactivated_and_activated_again(arm) -> None:
    """Several times off and on: the last command holds the arm, the first does not jerk it."""
    mark = arm.mark()
    for _ in range(4):
        assert arm.change_state('deactivate')
        count = len(arm.commands)
        arm.until_states(5)
        assert len(arm.commands) == count
        assert arm.change_state('activate')
        arm.until_answering(10)
    assert arm.sag(mark, arm.base) < LARGEST_SAG


def test_cleaned_up_and_configured_again(arm) -> None:
    """The node may be taken down to unconfigured and up again while the arm is held."""
    mark = arm.mark()
    for transition in ('deactivate', 'cleanup', 'configure', 'activate'):
        assert arm.change_state(transition)
    arm.until(lambda: arm.joint_states.get_subscription_count() > 0, 'joint_states')
    arm.until_answering(20)
    assert arm.sag(mark, arm.base) < LARGEST_SAG


def test_requests_that_change_nothing(arm) -> None:
    """Transitions that are not possible are refused; a flood of ~/hold leaves the arm there."""
    mark = arm.mark()
    for transition in ('activate', 'cleanup', 'configure', 'no_such_transition', ''):
        assert not arm.change_state(transition)
    assert arm.state == 'active'
    for _ in range(100):
        assert arm.trigger('hold').success
    arm.until_answering(10)
    assert arm.sag(mark, arm.base) < LARGEST_SAG
