"""The action over DDS: goals accepted, followed and ended by the rules of JTC; or no action."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from build_control_msgs import ControlMessages

from ne_dynamics.ros.thresholds import NODE

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from goal_client import ABORTED, CANCELED, EXECUTING, SUCCEEDED, GoalClient
from held_worker import held_up
from node_bench import SLOW_STATES

from ne_dynamics.ros.running.worker_process import PLANNING

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
STEP = np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
GOAL = Q + STEP
STILL = np.zeros(6)


class Client(GoalClient):
    """A client of the node's action, and the arm that it moves."""

    def send_accepted(self, *points: Any, **fields: Any) -> Any:
        handle = self.send(*points, **fields)
        assert handle.accepted, self.bench.said()
        return handle

    def tolerances(self, *rows: Any) -> list[Any]:
        from control_msgs.msg import JointTolerance

        return [
            JointTolerance(name=name, position=float(position), velocity=float(velocity))
            for name, position, velocity in rows
        ]

    def desired(self, measured: Any, velocity: Any = None, dt: float = 0.1) -> np.ndarray:
        desired: np.ndarray = self.bench.desired(measured, velocity, dt)
        return desired

    def follow(self, count: int = 11, offset: Any = STILL, first: int = 0) -> None:
        """Send the states of an arm that goes from Q to GOAL as wanted, in steps of 0.1 s."""
        for index in range(first, count):
            self.desired(Q + STEP * min(index / 10.0, 1.0) + offset)

    def is_running(self, handle: Any) -> bool:
        """Return whether a goal has no result after all that was sent has been served."""
        self.bench.settle()
        return not handle.end.done()


@pytest.fixture
def client(bench, messages) -> Iterator[Client]:
    """Return a client; the node is not started yet."""
    client = Client(bench, '/computed_torque/follow_joint_trajectory')
    yield client
    client.client.destroy()


@pytest.fixture
def active(bench, client: Client) -> Client:
    """Return a client of an active node that holds the arm at Q."""
    bench.start(**SLOW_STATES)
    client.desired(Q)
    return client


def test_an_exact_motion_succeeds(bench, active: Client) -> None:
    """The goal is EXECUTING on the way, and SUCCEEDED with the first state at its end."""
    handle = active.send_accepted((1.0, GOAL))
    bench.spin(lambda: handle.status == EXECUTING, 'EXECUTING')
    active.follow(10)
    assert active.is_running(handle)
    np.testing.assert_allclose(active.desired(GOAL), GOAL, atol=1e-9)
    result = active.result(handle)
    assert (result.status, result.code) == (SUCCEEDED, active.type.Result.SUCCESSFUL)
    assert result.text == 'the goal is reached'
    bench.hear('follow_joint_trajectory', 'goal is reached')
    np.testing.assert_allclose(active.desired(GOAL), GOAL, atol=1e-9)


def test_the_feedback_is_what_was_desired_measured_and_missed(bench, client: Client) -> None:
    """Feedback carries names, stamp, desired, actual and error, in the order of the commands, 20
    times a second at most.
    """
    names = list(bench.robot.joint_names)[::-1]
    bench.start(**SLOW_STATES, joints=names)
    client.desired(Q)
    handle = client.send_accepted((0.5, Q + 0.5 * STEP), (1.0, GOAL))
    measured, velocity = Q + 0.01 * np.arange(6), np.full(6, 0.25)
    client.desired(measured, velocity, dt=0.01)
    stamp = bench.time
    for _ in range(4):
        client.desired(measured, velocity, dt=0.01)
    bench.settle()
    assert len(client.feedback) == 1
    client.desired(measured, velocity, dt=0.02)
    bench.spin(lambda: len(client.feedback) == 2, 'feedback')
    desired = client.desired(measured, velocity, dt=0.58)
    bench.spin(lambda: len(client.feedback) == 3, 'feedback')
    first, _, second = client.feedback
    assert first.joint_names == names
    assert first.header.stamp.sec + 1e-9 * first.header.stamp.nanosec == pytest.approx(stamp)
    assert second.desired.time_from_start.nanosec == pytest.approx(0.64e9, abs=1e3)
    np.testing.assert_allclose(second.desired.positions, desired)
    np.testing.assert_allclose(second.desired.velocities, STEP[::-1], atol=1e-9)
    np.testing.assert_allclose(second.actual.positions, measured[::-1])
    np.testing.assert_allclose(second.actual.velocities, velocity)
    np.testing.assert_allclose(second.error.positions, desired - measured[::-1])
    np.testing.assert_allclose(second.error.velocities, (STEP - velocity)[::-1], atol=1e-9)
    if hasattr(first, 'index'):
        assert [one.index for one in client.feedback] == [0, 0, 1]
    assert client.is_running(handle)


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


def test_what_is_not_used_of_a_goal_is_said(bench, active: Client) -> None:
    """As JTC has it: a goal with a tolerance that means nothing runs with the defaults, told; so
    are trajectories of several degrees of freedom and their tolerances.
    """
    from control_msgs.msg import JointComponentTolerance

    name = bench.robot.joint_names[0]
    tight, tail, shaking = active.tolerances((name, 1e-6, 0.0), ('tail', 0.1, 0.0), (name, 0, 0))
    shaking.acceleration = 1.0
    handle = active.send_accepted((1.0, GOAL), path_tolerance=[tight, tail])
    bench.hear("path_tolerance: unknown joint 'tail'", 'default tolerances')
    for _ in range(3):
        active.desired(Q)
    assert active.is_running(handle)
    active.send_accepted(
        (1.0, GOAL),
        component_goal_tolerance=[JointComponentTolerance(joint_name=name)],
        path_tolerance=[shaking],
    )
    bench.hear('not used', 'component_goal_tolerance', 'accelerations of tolerances')


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
    assert active.cancel(handle) == 1
    result = active.result(handle)
    assert result.status == CANCELED
    assert 'holding' in result.text
    held = stopped_after(active, last)
    gravity = bench.dynamics.gravity_torque(held)
    np.testing.assert_allclose(bench.answer(bench.joint_state(held)), gravity, atol=1e-9)


def trajectory_by_topic(bench: Any, active: Client) -> None:
    bench.send_trajectory(bench.trajectory((1.0, GOAL[:3])))  # dropped
    active.desired(Q)
    bench.send_trajectory(bench.trajectory((1.0, Q)))


def mode_that_follows_nothing(bench: Any, active: Client) -> None:
    bench.set(mode='gravity_compensation')
    bench.answer(bench.joint_state(Q))


ENDS: dict[str, tuple[Callable[[Any, Client], object], bool]] = {
    '~/hold': (lambda bench, active: bench.trigger('hold'), True),
    'empty trajectory': (lambda bench, active: bench.send_trajectory(bench.trajectory()), True),
    'topic joint_trajectory': (trajectory_by_topic, True),
    'deactivated': (lambda bench, active: bench.change_state('deactivate'), False),
    'node was deactivated': (lambda bench, active: bench.change_state('shutdown'), False),
    'gravity_compensation': (mode_that_follows_nothing, False),
    'joint_states gap': (lambda bench, active: active.desired(Q, dt=6.0), True),
    'joint_states stopped': (lambda bench, active: bench.set(state_timeout=0.3), False),
}
"""What the result of a goal says of its end: what ends it, whether the next one is accepted."""


@pytest.mark.kept(3)
@pytest.mark.parametrize('text', ENDS)
def test_what_ends_the_motion_aborts_the_goal(bench, client: Client, text: str) -> None:
    bench.start(**SLOW_STATES, state_timeout=5.0)
    client.desired(Q)
    handle = client.send_accepted((10.0, GOAL))
    last = client.desired(Q)
    end, is_next_accepted = ENDS[text]
    end(bench, client)
    result = client.result(handle)
    assert (result.status, result.code) == (ABORTED, client.type.Result.INVALID_GOAL)
    assert text in result.text
    if text in ('~/hold', 'empty trajectory'):
        stopped_after(client, last)
    assert client.send((1.0, GOAL)).accepted == is_next_accepted
    if not is_next_accepted:
        bench.hear('follow_joint_trajectory dropped', 'INVALID_GOAL')


BAD_GOALS: list[tuple[list[Any], dict[str, Any], str, str]] = [
    ([], {}, 'INVALID_GOAL', 'points: expected at least one'),
    ([], {'names': []}, 'INVALID_JOINTS', 'missing'),
    ([(1.0, GOAL[:5])], {'names': ['j1']}, 'INVALID_JOINTS', 'joint_names: unknown'),
    ([(1.0, GOAL[:5])], {}, 'INVALID_GOAL', 'point 0: positions'),
    ([(1.0, GOAL, STEP)], {}, 'INVALID_GOAL', 'expected rest'),
    ([(1.0, GOAL)], {'stamp': 50.0}, 'OLD_HEADER_TIMESTAMP', 'header.stamp: the trajectory ended'),
]


def test_a_goal_that_cannot_be_followed_is_rejected(bench, unthrottled, active: Client) -> None:
    """What JTC rejects is rejected, with code, field and reason in the log; the goal that is
    followed does not notice.
    """
    first = active.send_accepted((1.0, GOAL))
    active.desired(Q)
    for points, fields, code, fragment in BAD_GOALS:
        bench.forget_what_was_said()
        assert not active.send(*points, **fields).accepted, fragment
        bench.hear('follow_joint_trajectory dropped', code, fragment)
    active.follow(first=1)
    assert active.result(first).status == SUCCEEDED


def test_a_goal_of_too_many_points_is_rejected(bench, active: Client) -> None:
    """Its conversion would hold up the joint states; the log names the topic that takes more."""
    times = np.linspace(0.001, 5.0, NODE.most_goal_points + 1)
    assert not active.send(*((time, Q) for time in times)).accepted
    bench.hear('follow_joint_trajectory dropped', 'at most 2000', 'topic joint_trajectory')
    assert active.send(*((time, Q) for time in times[:-1])).accepted


def test_a_goal_of_up_to_twenty_points_is_planned_at_once(bench, active: Client) -> None:
    """Whatever the planning process does."""
    planning = bench.node.configured.motion.planning
    with held_up(PLANNING):
        for count, is_beside in ((20, False), (21, True)):
            active.send_accepted(*((0.1 * (index + 1), Q) for index in range(count)))
            assert planning.is_busy == is_beside


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
    active.follow(5)
    result = active.result(active.send_accepted(*points))
    assert (result.status, result.code) == (ABORTED, active.type.Result.INVALID_GOAL)
    for fragment in fragments:
        assert fragment in result.text
    bench.hear('follow_joint_trajectory', 'goal aborted, INVALID_GOAL: points: joint')
    assert active.is_running(first)
    active.follow(first=5)
    assert active.result(first).status == SUCCEEDED


@pytest.fixture
def all_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all trajectories planned by the process beside, however few points they have."""
    monkeypatch.setitem(vars(NODE), 'few_points', 0)
    monkeypatch.setitem(vars(NODE), 'small_message', 0)


def test_a_goal_that_is_still_judged_does_not_disturb(
    bench, active: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Canceled while it is judged it never starts; whatever ends the motion ends it, too."""
    first = active.send_accepted((1.0, GOAL))
    with monkeypatch.context() as patch, held_up(PLANNING):
        patch.setitem(vars(NODE), 'few_points', 0)
        second = active.send_accepted((1.0, Q - STEP))
        active.cancel(second)
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


@pytest.mark.usefixtures('all_beside')
def test_cancelling_ends_what_is_being_planned(bench, active: Client) -> None:
    """A trajectory by topic that is still being planned when the goal is canceled never starts."""
    handle = active.send_accepted((1.0, GOAL))
    bench.spin(lambda: not bench.node.configured.motion.planning.is_busy, 'the plan')
    last = active.desired(Q)
    with held_up(PLANNING):
        bench.send_trajectory(bench.trajectory((1.0, Q)))
        active.cancel(handle)
    assert active.result(handle).status == CANCELED
    stopped_after(active, last)


@pytest.mark.usefixtures('all_beside')
@pytest.mark.parametrize('newer', ['goal', 'topic'])
def test_of_a_goal_and_a_topic_trajectory_the_newer_counts(bench, active, newer: str) -> None:
    """Both are planned beside: what was followed goes on until the newer one is planned."""
    message = bench.trajectory((1.0, Q - STEP))
    with held_up(PLANNING):
        if newer == 'goal':
            bench.send_trajectory(message)
        goal = active.send_accepted((1.0, GOAL))
        if newer == 'topic':
            bench.send_trajectory(message)
    if newer == 'goal':
        planning = bench.node.configured.motion.planning
        bench.spin(lambda: not planning.is_busy, 'both plans')
        assert active.is_running(goal)
    else:
        assert 'a trajectory came by the topic' in active.result(goal).text
    end = active.desired(Q)
    for _ in range(15):
        end = active.desired(end, dt=0.1)
    np.testing.assert_allclose(end, GOAL if newer == 'goal' else Q - STEP, atol=1e-9)
    if newer == 'goal':
        assert active.result(goal).status == SUCCEEDED


def test_without_control_msgs_the_node_says_so_and_works(bench, monkeypatch) -> None:
    """Where control_msgs cannot be imported there is one INFO line, no action, all else."""
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    monkeypatch.setitem(sys.modules, 'control_msgs.action', None)
    bench.start(**SLOW_STATES)
    bench.hear('no ~/controller_state', 'control_msgs')
    line = bench.hear('no action follow_joint_trajectory', 'control_msgs')
    assert [entry.level for entry in bench.log if entry.msg == line] == [20]
    bench.answer(bench.joint_state(Q))
    assert bench.trigger('hold').success
    names = [name for name, _ in bench.probe.get_service_names_and_types()]
    assert not [name for name in names if 'follow_joint_trajectory' in name]


def test_the_executable_tells_the_client_when_it_ends(
    bench, client: Client, process, messages: ControlMessages
) -> None:
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

    def answered() -> bool:
        bench.joint_states.publish(bench.joint_state(Q))
        return len(bench.commands) > 0

    bench.spin(answered, 'a command')
    # Several states may be on their way: what answers them is not to be taken for later answers.
    for _ in range(3):
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
