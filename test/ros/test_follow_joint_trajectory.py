"""The action over DDS: goals accepted, followed and ended by the rules of JTC; or no action."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from build_control_msgs import ControlMessages

from ne_dynamics.ros.thresholds import NODE

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from held_worker import held_up
from node_bench import SLOW_STATES

from ne_dynamics.ros.running.worker_process import PLANNING

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
STEP = np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
GOAL = Q + STEP
STILL = np.zeros(6)

EXECUTING, SUCCEEDED, CANCELED, ABORTED = 2, 4, 5, 6
"""States of a goal, as action_msgs/GoalStatus has them."""


class Client:
    """A client of the action, on the bench's own node."""

    def __init__(self, bench: Any) -> None:
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTolerance
        from rclpy.action import ActionClient

        self.type = FollowJointTrajectory
        self.tolerance = JointTolerance
        self.bench = bench
        self.client = ActionClient(
            bench.probe, FollowJointTrajectory, '/computed_torque/follow_joint_trajectory'
        )
        self.feedback: list[Any] = []

    def send(self, *points: Any, names: Any = None, stamp: float = 0.0, **fields: Any) -> Any:
        """Send a goal; return its handle, with the answer of the server."""
        goal = self.type.Goal()
        goal.trajectory = self.bench.trajectory(*points, names=names, stamp=stamp)
        for key, value in fields.items():
            setattr(goal, key, value)
        self.bench.spin(self.client.server_is_ready, 'the action server')
        future = self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        self.bench.spin(future.done, 'the answer to the goal')
        handle = future.result()
        handle.end = handle.get_result_async() if handle.accepted else None
        return handle

    def send_accepted(self, *points: Any, **fields: Any) -> Any:
        """Send a goal that is accepted."""
        handle = self.send(*points, **fields)
        assert handle.accepted, self.bench.said()
        return handle

    def result(self, handle: Any) -> SimpleNamespace:
        """Wait for the end of a goal; return its status, code and text."""
        self.bench.spin(handle.end.done, 'the result')
        end = handle.end.result()
        return SimpleNamespace(
            status=end.status, code=end.result.error_code, text=end.result.error_string
        )

    def tolerances(self, *rows: Any) -> list[Any]:
        """Return tolerances of (name, position, velocity)."""
        return [
            self.tolerance(name=name, position=float(position), velocity=float(velocity))
            for name, position, velocity in rows
        ]

    def desired(self, measured: Any, velocity: Any = None, dt: float = 0.1) -> np.ndarray:
        """Send a state; return the desired position that its answer is based on."""
        before = len(self.bench.efforts)
        self.bench.answer(self.bench.joint_state(measured, velocity, dt))
        self.bench.spin(lambda: len(self.bench.efforts) > before, 'the desired state')
        return np.array(self.bench.efforts[-1].position)

    def is_running(self, handle: Any) -> bool:
        """Return whether a goal has no result after all that was sent has been served."""
        self.bench.settle()
        return not handle.end.done()


@pytest.fixture
def client(bench, messages) -> Iterator[Client]:
    """Return a client; the node is not started yet."""
    client = Client(bench)
    yield client
    client.client.destroy()


@pytest.fixture
def active(bench, client: Client) -> Client:
    """Return a client of an active node that holds the arm at Q."""
    bench.start(**SLOW_STATES)
    client.desired(Q)
    return client


def follow(active: Client, handle: Any, count: int = 11, offset: Any = STILL) -> None:
    """Send the states of an arm that goes from Q to GOAL as wanted, in steps of 0.1 s."""
    for index in range(count):
        active.desired(Q + STEP * min(index / 10.0, 1.0) + offset)


def test_an_exact_motion_succeeds(bench, active: Client) -> None:
    """The goal is EXECUTING on the way, and SUCCEEDED with the first state at its end."""
    handle = active.send_accepted((1.0, GOAL))
    bench.spin(lambda: handle.status == EXECUTING, 'EXECUTING')
    follow(active, handle, 10)
    assert active.is_running(handle)
    np.testing.assert_allclose(active.desired(GOAL), GOAL, atol=1e-9)
    result = active.result(handle)
    assert (result.status, result.code) == (SUCCEEDED, active.type.Result.SUCCESSFUL)
    assert result.text == 'the goal is reached'
    bench.hear('follow_joint_trajectory', 'goal is reached')
    np.testing.assert_allclose(active.desired(GOAL), GOAL, atol=1e-9)


def test_the_feedback_is_what_was_desired_measured_and_missed(bench, active: Client) -> None:
    """Feedback carries names, stamp, desired, actual and error, 20 times a second at most."""
    handle = active.send_accepted((0.5, Q + 0.5 * STEP), (1.0, GOAL))
    measured, velocity = Q + 0.01, np.full(6, 0.25)
    active.desired(measured, velocity, dt=0.01)
    stamp = bench.time
    for _ in range(4):
        active.desired(measured, velocity, dt=0.01)
    bench.settle()
    assert len(active.feedback) == 1
    desired = active.desired(measured, velocity, dt=0.6)
    bench.spin(lambda: len(active.feedback) == 2, 'feedback')
    first, second = active.feedback
    assert first.joint_names == list(bench.robot.joint_names)
    assert first.header.stamp.sec + 1e-9 * first.header.stamp.nanosec == pytest.approx(stamp)
    assert second.desired.time_from_start.nanosec == pytest.approx(0.64e9, abs=1e3)
    np.testing.assert_allclose(second.desired.positions, desired)
    np.testing.assert_allclose(second.desired.velocities, STEP, atol=1e-9)
    np.testing.assert_allclose(second.actual.positions, measured)
    np.testing.assert_allclose(second.actual.velocities, velocity)
    np.testing.assert_allclose(second.error.positions, desired - measured)
    np.testing.assert_allclose(second.error.velocities, STEP - velocity, atol=1e-9)
    if hasattr(first, 'index'):
        assert (first.index, second.index) == (0, 1)
    assert active.is_running(handle)


def test_the_feedback_has_the_order_of_the_parameter_joints(bench, client: Client) -> None:
    """Feedback follows the order in which the node sends its commands."""
    names = list(bench.robot.joint_names)[::-1]
    bench.start(**SLOW_STATES, joints=names)
    bench.answer(bench.joint_state(Q))
    client.send_accepted((1.0, GOAL))
    bench.answer(bench.joint_state(Q))
    bench.spin(lambda: bool(client.feedback), 'feedback')
    assert client.feedback[0].joint_names == names
    np.testing.assert_array_equal(client.feedback[0].actual.positions, Q[::-1])


def test_leaving_the_path_aborts_and_holds(bench, active: Client) -> None:
    """An arm that is stuck aborts the goal by the path tolerance, and is held where it is."""
    elbow = bench.robot.joint_names[2]
    handle = active.send_accepted((1.0, GOAL), path_tolerance=active.tolerances((elbow, 0.1, 0.0)))
    for _ in range(4):
        active.desired(Q)
    assert active.is_running(handle)
    assert np.abs(active.desired(Q) - Q).max() > 0.1
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.PATH_TOLERANCE_VIOLATED)
    assert f"joint '{elbow}': position error: expected at most 0.1 rad, got 0.12" in result.text
    bench.hear('goal aborted', 'PATH_TOLERANCE_VIOLATED', elbow)
    np.testing.assert_allclose(active.desired(Q), Q)
    np.testing.assert_allclose(active.desired(Q), Q)


def test_the_parameters_are_the_tolerances_of_a_goal_without(bench, client: Client) -> None:
    """constraints.trajectory counts for a goal that has none, not for one that erases it."""
    bench.start(
        **SLOW_STATES, constraints__trajectory=[0.1], constraints__stopped_velocity_tolerance=0.0
    )
    client.desired(Q)
    handle = client.send_accepted((1.0, GOAL))
    for _ in range(6):
        client.desired(Q)
    assert client.result(handle).code == client.type.Result.PATH_TOLERANCE_VIOLATED
    erased = client.tolerances(*((name, -1.0, 0.0) for name in bench.robot.joint_names))
    handle = client.send_accepted((1.0, GOAL), path_tolerance=erased)
    for _ in range(12):
        client.desired(Q)
    assert client.result(handle).status == SUCCEEDED


def test_parameters_count_from_the_next_goal_on(bench, active: Client) -> None:
    """Tolerances set while a goal is followed do not change it; the next goal has them."""
    handle = active.send_accepted((1.0, GOAL))
    active.desired(Q)
    result = bench.set_atomically(constraints__goal=[0.01], constraints__goal_time=0.05)
    assert result.successful, result.reason
    follow(active, handle, 11, offset=0.05)
    assert active.result(handle).status == SUCCEEDED
    handle = active.send_accepted((0.1, GOAL))
    for _ in range(4):
        active.desired(GOAL + 0.05)
    assert active.result(handle).code == active.type.Result.GOAL_TOLERANCE_VIOLATED


def test_an_arm_beside_its_goal_fails_when_the_goal_time_is_over(bench, active: Client) -> None:
    """Outside the goal tolerance the goal stays open for the goal time, then it is aborted."""
    name = bench.robot.joint_names[1]
    handle = active.send_accepted(
        (1.0, GOAL),
        goal_tolerance=active.tolerances((name, 0.01, 0.0)),
        goal_time_tolerance=duration(0.25),
    )
    follow(active, handle, 13, offset=0.05)
    assert active.is_running(handle)
    active.desired(GOAL + 0.05)
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.GOAL_TOLERANCE_VIOLATED)
    assert f"joint '{name}': position error: expected at most 0.01 rad, got 0.05" in result.text
    assert 'goal time: 0.25 s' in result.text
    np.testing.assert_allclose(active.desired(GOAL), GOAL + 0.05, atol=1e-9)


def test_an_arm_that_settles_within_the_goal_time_has_succeeded(bench, active: Client) -> None:
    """The arm that reaches its goal late, but in time, or stops late, has reached it."""
    name = bench.robot.joint_names[1]
    handle = active.send_accepted(
        (1.0, GOAL),
        goal_tolerance=active.tolerances((name, 0.01, 0.0)),
        goal_time_tolerance=duration(0.25),
    )
    follow(active, handle, 11, offset=0.05)
    assert active.is_running(handle)
    active.desired(GOAL, np.full(6, 0.1))
    assert active.is_running(handle)
    active.desired(GOAL)
    assert active.result(handle).status == SUCCEEDED


def test_a_goal_that_waits_is_not_judged(bench, active: Client) -> None:
    """Until its stamp what was followed before is followed, and the goal's tolerances rest."""
    bench.send_trajectory(bench.trajectory((0.4, GOAL)))
    active.desired(Q, dt=0.002)
    names = bench.robot.joint_names
    path = active.tolerances(*((name, 0.01, 0.0) for name in names))
    handle = active.send_accepted((0.5, Q), stamp=bench.time + 1.0, path_tolerance=path)
    np.testing.assert_allclose(active.desired(Q, dt=0.2), Q + 0.5 * STEP, atol=1e-3)
    np.testing.assert_allclose(active.desired(Q, dt=0.5), GOAL, atol=1e-9)
    assert active.is_running(handle)
    assert not active.feedback
    active.desired(GOAL + 0.1, dt=0.4)
    assert active.result(handle).code == active.type.Result.PATH_TOLERANCE_VIOLATED


def test_nobody_waits_for_more_after_a_goal(bench, client: Client) -> None:
    """`cmd_timeout` is for who falls silent: a goal that was reached has its end."""
    bench.start(**SLOW_STATES, cmd_timeout=0.5)
    client.desired(Q)
    handle = client.send_accepted((1.0, GOAL))
    follow(client, handle, 12)
    assert client.result(handle).status == SUCCEEDED
    for _ in range(3):
        np.testing.assert_allclose(client.desired(GOAL + 0.01, dt=1.0), GOAL, atol=1e-9)


def test_a_goal_for_some_of_the_joints(bench, client: Client) -> None:
    """With `allow_partial_joints_goal` the others are held, and the goal is reached."""
    bench.start(**SLOW_STATES, allow_partial_joints_goal=True)
    client.desired(Q)
    names = list(bench.robot.joint_names[:2])
    handle = client.send_accepted((0.5, GOAL[:2]), (1.0, GOAL[:2]), names=names)
    wanted = np.concatenate((GOAL[:2], Q[2:]))
    client.desired(Q, dt=0.002)
    np.testing.assert_allclose(client.desired(wanted, dt=1.1), wanted, atol=1e-9)
    assert client.result(handle).status == SUCCEEDED
    handle = client.send((0.5, GOAL[:2]), names=['joint_1', 'tail'])
    assert not handle.accepted


def test_illegal_tolerances_leave_the_defaults(bench, active: Client) -> None:
    """As JTC has it: a goal with a tolerance that means nothing runs with the defaults, told."""
    name = bench.robot.joint_names[0]
    handle = active.send_accepted(
        (1.0, GOAL), path_tolerance=active.tolerances((name, 1e-6, 0.0), ('tail', 0.1, 0.0))
    )
    bench.hear("path_tolerance: unknown joint 'tail'", 'default tolerances')
    for _ in range(3):
        active.desired(Q)
    assert active.is_running(handle)


def test_what_is_not_used_of_a_goal_is_said(bench, active: Client) -> None:
    """Trajectories of several degrees of freedom and their tolerances are passed over, told."""
    from control_msgs.msg import JointComponentTolerance

    name = bench.robot.joint_names[0]
    active.send_accepted(
        (1.0, GOAL),
        component_goal_tolerance=[JointComponentTolerance(joint_name=name)],
        path_tolerance=[active.tolerance(name=name, acceleration=1.0)],
    )
    bench.hear('not used', 'component_goal_tolerance', 'accelerations of tolerances')


def test_a_goal_may_start_later(bench, active: Client) -> None:
    """A stamp in the future is when the times of the points count from."""
    handle = active.send_accepted((0.5, GOAL), stamp=bench.time + 1.0)
    for _ in range(14):
        active.desired(Q)
    assert active.is_running(handle)
    active.desired(GOAL)
    active.desired(GOAL)
    assert active.result(handle).status == SUCCEEDED


def stopped_after(active: Client, last: np.ndarray) -> np.ndarray:
    """The arm is stopped where it was to be when the request came; the goal: CANCELED."""
    held = active.desired(last)
    way = (held - last) / STEP
    assert (way >= 0.0).all()
    assert (way <= 0.05).all()
    for _ in range(3):
        np.testing.assert_array_equal(active.desired(held), held)
    return held


def test_cancelling_stops_the_desired_motion(bench, active: Client) -> None:
    """The arm is stopped where it was to be when the request came; the goal is CANCELED."""
    handle = active.send_accepted((1.0, GOAL))
    for index in range(5):
        last = active.desired(Q + 0.1 * index * STEP)
    future = handle.cancel_goal_async()
    bench.spin(future.done, 'the answer')
    assert len(future.result().goals_canceling) == 1
    result = active.result(handle)
    assert result.status == CANCELED
    assert 'holding' in result.text
    held = stopped_after(active, last)
    gravity = bench.dynamics.gravity_torque(held)
    np.testing.assert_allclose(bench.answer(bench.joint_state(held)), gravity, atol=1e-9)


def test_a_goal_that_is_over_cannot_be_canceled(bench, active: Client) -> None:
    """Cancelling what has ended is refused, and the motion that came after it goes on."""
    first = active.send_accepted((1.0, GOAL))
    second = active.send_accepted((1.0, GOAL))
    assert active.result(first).status == ABORTED
    future = first.cancel_goal_async()
    bench.spin(future.done, 'the answer')
    assert not future.result().goals_canceling
    follow(active, second)
    assert active.result(second).status == SUCCEEDED


def test_another_goal_takes_over(bench, active: Client) -> None:
    """A new goal aborts the one before, and goes on from its desired state without a jump."""
    first = active.send_accepted((1.0, GOAL))
    for _ in range(6):
        last = active.desired(Q + 0.5 * STEP)
    second = active.send_accepted((1.0, Q))
    result = active.result(first)
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    assert 'another goal' in result.text
    assert np.abs(active.desired(last, dt=0.002) - last).max() < 0.002
    for _ in range(10):
        active.desired(Q)
    assert active.result(second).status == SUCCEEDED


def test_a_rejected_goal_does_not_disturb(bench, active: Client) -> None:
    """The goal that is followed stays when another one is rejected."""
    first = active.send_accepted((1.0, GOAL))
    active.desired(Q)
    assert not active.send((1.0, GOAL[:3])).accepted
    follow(active, first)
    assert active.result(first).status == SUCCEEDED


def test_a_trajectory_by_topic_takes_over(bench, active: Client) -> None:
    """Who sends a trajectory by the topic ends the goal; one that is dropped does not."""
    handle = active.send_accepted((1.0, GOAL))
    active.desired(Q)
    bench.send_trajectory(bench.trajectory((1.0, GOAL[:3])))
    assert active.is_running(handle)
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    assert 'topic joint_trajectory' in result.text


@pytest.mark.parametrize('way', ['service', 'empty trajectory'])
def test_hold_ends_the_goal(bench, active: Client, way: str) -> None:
    """Both ways to stop the arm abort the goal, and the text says which it was."""
    handle = active.send_accepted((1.0, GOAL))
    last = active.desired(Q)
    if way == 'service':
        assert bench.trigger('hold').success
    else:
        bench.send_trajectory(bench.trajectory())
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    assert ('~/hold' if way == 'service' else 'empty trajectory') in result.text
    stopped_after(active, last)


@pytest.mark.parametrize('transition', ['deactivate', 'shutdown'])
def test_leaving_the_active_state_aborts(bench, active: Client, transition: str) -> None:
    """The client hears that the node was deactivated; no goal is accepted from then on."""
    handle = active.send_accepted((1.0, GOAL))
    active.desired(Q)
    assert bench.change_state(transition)
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    assert 'deactivated' in result.text
    assert not active.send((1.0, GOAL)).accepted
    bench.hear('follow_joint_trajectory dropped', 'INVALID_GOAL', 'the node is')


def test_goals_are_accepted_again_after_a_new_start(bench, active: Client) -> None:
    """Deactivated, cleaned up, configured and activated, the action is there as before."""
    for transition in ('deactivate', 'cleanup', 'configure', 'activate'):
        assert bench.change_state(transition)
    bench.connect()
    active.desired(Q)
    handle = active.send_accepted((1.0, GOAL))
    follow(active, handle)
    assert active.result(handle).status == SUCCEEDED


def test_a_fault_of_the_states_aborts(bench, client: Client) -> None:
    """A gap in the joint states ends the motion, and the goal with it, by the fault's name."""
    bench.start(**SLOW_STATES, state_timeout=5.0)
    client.desired(Q)
    handle = client.send_accepted((10.0, GOAL))
    client.desired(Q)
    client.desired(Q, dt=6.0)
    result = client.result(handle)
    assert (result.status, result.code) == (ABORTED, client.type.Result.INVALID_GOAL)
    assert 'joint_states gap' in result.text


def test_states_that_stop_abort_and_goals_wait_for_them(bench, client: Client) -> None:
    """The watchdog aborts the goal; while states are missing none is accepted, then again."""
    bench.start(**SLOW_STATES, state_timeout=0.5)
    client.desired(Q, dt=0.01)
    handle = client.send_accepted((60.0, GOAL))
    result = client.result(handle)
    assert (result.status, result.code) == (ABORTED, client.type.Result.INVALID_GOAL)
    assert 'joint_states stopped' in result.text
    assert not client.send((1.0, GOAL)).accepted
    bench.hear('follow_joint_trajectory dropped', 'joint_states stopped')


def test_a_mode_that_follows_nothing_aborts(bench, active: Client) -> None:
    """Gravity compensation ends the goal; while it is on, no goal is accepted."""
    handle = active.send_accepted((1.0, GOAL))
    active.desired(Q)
    assert bench.set_atomically(mode='gravity_compensation').successful
    bench.answer(bench.joint_state(Q))
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    assert 'gravity_compensation' in result.text
    assert not active.send((1.0, GOAL)).accepted


def test_a_trajectory_that_is_over_when_it_begins_aborts(bench, active: Client) -> None:
    """A goal that was in time when it came, but not at the next state, has an old stamp."""
    handle = active.send_accepted((0.5, GOAL), stamp=bench.time)
    active.desired(Q, dt=1.0)
    result = active.result(handle)
    assert (result.status, result.code) == (ABORTED, active.type.Result.OLD_HEADER_TIMESTAMP)
    assert 'ended 0.5 s ago' in result.text


def duration(seconds: float) -> Any:
    """Return a builtin_interfaces Duration."""
    from rclpy.duration import Duration

    return Duration(seconds=seconds).to_msg()


BAD_GOALS = {
    'no points': ({'points': []}, 'INVALID_GOAL', 'points: expected at least one'),
    'no names and no points': ({'points': [], 'names': []}, 'INVALID_JOINTS', 'missing'),
    'a joint too few': (
        {'points': [(1.0, GOAL[:5])], 'names': ['j1']},
        'INVALID_JOINTS',
        'joint_names: unknown',
    ),
    'times that stand still': (
        {'points': [(1.0, GOAL), (1.0, GOAL)]},
        'INVALID_GOAL',
        'point 1: time_from_start',
    ),
    'too few positions': ({'points': [(1.0, GOAL[:5])]}, 'INVALID_GOAL', 'point 0: positions'),
    'no number': ({'points': [(1.0, GOAL * np.nan)]}, 'INVALID_GOAL', 'point 0: positions'),
    'beyond the limits': ({'points': [(1.0, GOAL + 9.0)]}, 'INVALID_GOAL', 'point 0: positions'),
    'a moving end': ({'points': [(1.0, GOAL, STEP)]}, 'INVALID_GOAL', 'expected rest'),
    'an end in the past': (
        {'points': [(1.0, GOAL)], 'stamp': 50.0},
        'OLD_HEADER_TIMESTAMP',
        'header.stamp: the trajectory ended',
    ),
}


@pytest.mark.parametrize('name', BAD_GOALS)
def test_a_goal_that_cannot_be_followed_is_rejected(bench, active: Client, name: str) -> None:
    """What JTC rejects is rejected, with code, field and reason in the log; the arm stays."""
    given, code, fragment = BAD_GOALS[name]
    arguments = dict(given)
    assert not active.send(*arguments.pop('points'), **arguments).accepted
    bench.hear('follow_joint_trajectory dropped', code, fragment)
    np.testing.assert_array_equal(active.desired(Q), Q)


def test_a_goal_of_too_many_points_is_rejected(bench, active: Client) -> None:
    """Its conversion would hold up the joint states; the log names the topic that takes more."""
    times = np.linspace(0.001, 5.0, NODE.most_goal_points + 1)
    assert not active.send(*((time, Q) for time in times)).accepted
    bench.hear('follow_joint_trajectory dropped', 'at most 2000', 'topic joint_trajectory')
    assert active.send(*((time, Q) for time in times[:-1])).accepted


def swing() -> list[Any]:
    """Return points within the limits of joint 3 between which it leaves them by half a radian."""
    there, speed = Q.copy(), np.zeros(6)
    there[2], speed[2] = 2.75, 3.0
    return [(2.0, there, speed), (2.75, there, -speed), (5.0, Q, STILL)]


@pytest.mark.parametrize(
    ('points', 'fragments'),
    [
        (swing(), ("joint 'joint_3': position of 3.", 's, expected at most 2.8 rad')),
        ([(0.01, Q + 0.3787, STILL)], ('velocity of', 'effort of', 'at 0.0', 'expected at most')),
    ],
)
def test_a_goal_that_asks_for_too_much_ends_with_the_reason(
    bench, active: Client, points: Any, fragments: Any
) -> None:
    """Its result says which joint, when and how far; the goal that is followed goes on."""
    first = active.send_accepted((1.0, GOAL))
    follow(active, first, 5)
    result = active.result(active.send_accepted(*points))
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    for fragment in fragments:
        assert fragment in result.text
    bench.hear('follow_joint_trajectory', 'goal aborted, INVALID_GOAL: points: joint')
    assert active.is_running(first)
    for index in range(5, 11):
        active.desired(Q + STEP * index / 10.0)
    assert active.result(first).status == SUCCEEDED


def test_a_goal_that_is_still_judged_does_not_disturb(bench, active: Client, monkeypatch) -> None:
    """Canceled while it is judged it never starts; whatever ends the motion ends it, too."""
    first = active.send_accepted((1.0, GOAL))
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setitem(vars(NODE), 'few_points', 0)
        second = active.send_accepted((1.0, Q - STEP))
        future = second.cancel_goal_async()
        bench.spin(future.done, 'the answer')
        assert active.result(second).status == CANCELED
        assert active.is_running(first)
        third = active.send_accepted((1.0, Q - STEP))
        assert active.is_running(third)
        fourth = active.send_accepted((1.0, Q - STEP))
        assert 'another goal has taken its place' in active.result(third).text
        assert active.is_running(first)
        assert bench.trigger('hold').success
    assert active.result(first).status == ABORTED
    assert active.result(fourth).status == ABORTED


def test_cancelling_ends_what_is_being_planned(bench, active: Client, monkeypatch) -> None:
    """A trajectory by topic that is still being planned when the goal is canceled never starts."""
    handle = active.send_accepted((1.0, GOAL))
    last = active.desired(Q)
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setitem(vars(NODE), 'small_message', 0)
        bench.send_trajectory(bench.trajectory((1.0, Q)))
        future = handle.cancel_goal_async()
        bench.spin(future.done, 'the answer')
    assert active.result(handle).status == CANCELED
    stopped_after(active, last)


def test_a_topic_trajectory_newer_than_a_goal_counts(bench, active, monkeypatch) -> None:
    """Both are planned beside: the goal is followed until the topic's motion is planned."""
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setitem(vars(NODE), 'few_points', 0)
        patch.setitem(vars(NODE), 'small_message', 0)
        goal = active.send_accepted((1.0, GOAL))
        bench.trajectories.publish(bench.trajectory((1.0, Q - STEP)))
        bench.spin(lambda: bench.received['joint_trajectory'] > 0, 'the message')
    assert 'a trajectory came by the topic' in active.result(goal).text
    end = active.desired(Q)
    for _ in range(15):
        end = active.desired(end, dt=0.1)
    np.testing.assert_allclose(end, Q - STEP, atol=1e-9)


def test_a_goal_newer_than_a_topic_trajectory_counts(bench, active, monkeypatch) -> None:
    """The motion of the topic is planned first, and no reason to end the goal."""
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setitem(vars(NODE), 'few_points', 0)
        patch.setitem(vars(NODE), 'small_message', 0)
        bench.trajectories.publish(bench.trajectory((1.0, Q - STEP)))
        bench.spin(lambda: bench.received['joint_trajectory'] > 0, 'the message')
        goal = active.send_accepted((1.0, GOAL))
    planning = bench.node.configured.motion.planning
    bench.spin(lambda: not planning.is_busy, 'both plans')
    assert active.is_running(goal)
    end = active.desired(Q)
    for _ in range(15):
        end = active.desired(end, dt=0.1)
    np.testing.assert_allclose(end, GOAL, atol=1e-9)
    assert active.result(goal).status == SUCCEEDED


def test_before_the_first_state_no_goal_is_accepted(bench, client: Client) -> None:
    """A goal for an arm that is not there yet is not kept for the day it appears."""
    bench.start(**SLOW_STATES)
    assert not client.send((1.0, GOAL)).accepted
    bench.hear('follow_joint_trajectory dropped', 'no joint state')


def test_goals_are_forgotten_when_their_results_are_old(bench, client, monkeypatch) -> None:
    """Nothing is kept of a goal once its result has been there to be asked for long enough."""
    monkeypatch.setitem(vars(NODE), 'result_timeout', 1)
    node = bench.start(**SLOW_STATES)
    client.desired(Q)
    handles = [client.send_accepted((1.0, GOAL)) for _ in range(5)]
    assert bench.trigger('hold').success
    for handle in handles:
        client.result(handle)
    server = node._goals._server
    bench.spin(lambda: not server._goal_handles, 'the end of the results')
    assert not server._result_futures
    assert not server._futures
    assert all(task[0].done() for task in bench.executor._tasks)


def test_a_client_that_is_gone_ends_nothing(bench, active: Client, monkeypatch) -> None:
    """An answer that cannot be sent is a warning; the node goes on, and so does the action."""
    from rclpy.action.server import ActionServer, RCLError

    async def fail(server: ActionServer, data: Any) -> None:
        raise RCLError('client gone')

    with monkeypatch.context() as patch:
        patch.setattr(ActionServer, '_execute_get_result_request', fail)
        active.send_accepted((1.0, GOAL))
        bench.hear('follow_joint_trajectory: no answer could be sent', 'client gone')
    handle = active.send_accepted((1.0, GOAL))
    follow(active, handle)
    assert active.result(handle).status == SUCCEEDED


def test_without_control_msgs_the_node_says_so_and_works(bench, monkeypatch) -> None:
    """Where control_msgs cannot be imported there is one INFO line, no action, all else."""
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    monkeypatch.setitem(sys.modules, 'control_msgs.action', None)
    bench.start(**SLOW_STATES)
    line = bench.hear('no action follow_joint_trajectory', 'control_msgs')
    assert [entry.level for entry in bench.log if entry.msg == line] == [20]
    bench.answer(bench.joint_state(Q))
    assert bench.trigger('hold').success
    names = [name for name, _ in bench.probe.get_service_names_and_types()]
    assert not [name for name in names if 'follow_joint_trajectory' in name]


def test_the_executable_tells_the_client_when_it_ends(
    bench, client: Client, process, messages: ControlMessages
) -> None:
    """A goal is followed by the executable, another one is aborted by SIGTERM, and is told so."""
    folders = [str(messages.folder or ''), os.environ.get('PYTHONPATH', '')]
    child = process(
        environment={'PYTHONPATH': os.pathsep.join(filter(None, folders))},
        model_file=bench.model_file,
        backend='python',
        state_timeout=60.0,
        velocity_check=False,  # the bench's velocities are zero
        **SLOW_STATES,
    )
    bench.spin(lambda: bench.joint_states.get_subscription_count() > 0, 'the node')
    bench.spin(lambda: bench.probe.count_publishers('effort_controller/commands') > 0)

    def answered() -> bool:
        bench.joint_states.publish(bench.joint_state(Q))
        return len(bench.commands) > 0

    bench.spin(answered, 'a command')
    # Several states may be on their way: what answers them is not to be taken for later answers.
    bench.settle()
    for status in (SUCCEEDED, ABORTED):
        handle = client.send_accepted((1.0, GOAL))
        count = 11 if status == SUCCEEDED else 5
        for index in range(count):
            bench.answer(bench.joint_state(Q + STEP * index / 10.0, dt=0.1))
        if status == ABORTED:
            child.send(signal.SIGTERM)
        assert client.result(handle).status == status
    bench.spin(lambda: not child.is_alive, 'the end')
    assert child.child.returncode == 0, child.output
    assert 'Traceback' not in child.output
