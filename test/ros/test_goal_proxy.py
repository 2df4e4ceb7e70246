"""The action of the annotator over DDS: goals get efforts and are handed to a controller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from build_control_msgs import ControlMessages

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from annotator_bench import AnnotatorBench
from goal_client import ABORTED, CANCELED, EXECUTING, SUCCEEDED, GoalClient

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import parameter_of

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
GOAL = Q + np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
STILL = np.zeros(6)
CONTROLLER = 'joint_trajectory_controller'


class Controller:
    """A controller that does with goals what the test says; the newest one ends the others."""

    def __init__(self, scene: Any, interfaces: Any = ('effort',)) -> None:
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTrajectoryControllerState
        from rclpy.action import CancelResponse, GoalResponse
        from rclpy.node import Node

        from ne_dynamics.ros.running.patient_server import PatientServer

        self.scene, self.type = scene, FollowJointTrajectory
        self.node = Node(CONTROLLER, context=scene.context)
        self.node.declare_parameter('command_interfaces', list(interfaces))
        self.handles: list[Any] = []
        self.cancels = True
        self.responses = CancelResponse
        self.server = PatientServer(
            self.node,
            FollowJointTrajectory,
            'follow_joint_trajectory',
            goal_callback=lambda goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )
        self.state = self.node.create_publisher(
            JointTrajectoryControllerState, '~/controller_state', 1
        )
        scene.executor.add_node(self.node)

    def _on_accepted(self, handle: Any) -> None:
        handle.execute()
        if self.handles and self.handles[-1].is_active:
            self.end(self.handles[-1].abort, -1, 'another goal came')
        self.handles.append(handle)

    def _on_cancel(self, handle: Any) -> Any:
        if not self.cancels:
            return self.responses.REJECT
        # The goal may be canceled when this has returned.
        self.node.executor.create_task(lambda: self.end(handle.canceled, 0, 'held', handle))
        return self.responses.ACCEPT

    def end(self, end: Callable[[], None], code: int, text: str, handle: Any = None) -> None:
        """End the newest goal, or another one."""
        result = self.type.Result(error_code=code, error_string=text)
        assert self.server.finish(handle or self.handles[-1], end, result)

    def hold(self, position: Any, velocities: Any = (0.0,) * 6) -> None:
        """Say where the arm is sent."""
        from control_msgs.msg import JointTrajectoryControllerState

        state = JointTrajectoryControllerState(joint_names=list(self.scene.joint_names))
        state.reference.positions = [float(value) for value in position]
        state.reference.velocities = list(velocities)
        self.state.publish(state)

    def close(self) -> None:
        """Go away."""
        self.scene.executor.remove_node(self.node)
        self.server.destroy()
        self.node.destroy_node()


class Scene(AnnotatorBench):
    """The annotator, a controller, and who sends goals."""

    def __init__(self, interfaces: Any = ('effort',)) -> None:
        super().__init__(controller=f'/{CONTROLLER}')
        self.controller: Controller | None = Controller(self, interfaces)
        self.client = GoalClient(self, '/annotator/follow_joint_trajectory')
        self.proxy = self.node._proxy
        self.spin(self.proxy._client.server_is_ready)
        self.spin(self.proxy._question.service_is_ready)

    def restart_controller(self) -> None:
        """Let the controller go, and come again."""
        self.stop_controller()
        self.spin(lambda: self.proxy._held._last is None)
        self.start_controller()
        self.spin(self.controller.state.get_subscription_count)

    def stop_controller(self) -> None:
        self.controller.close()
        self.controller = None
        self.spin(lambda: not self.proxy._client.server_is_ready())

    def start_controller(self) -> None:
        """Let it come again."""
        self.controller = Controller(self)
        self.spin(self.proxy._client.server_is_ready)

    def send(self, *points: Any, **fields: Any) -> Any:
        handle = self.client.send(*points, **fields)
        assert handle.accepted
        return handle

    def handed_on(self, count: int = 1) -> Any:
        """Wait for as many goals as the controller is to have; return the newest."""
        self.spin(lambda: len(self.controller.handles) == count)
        return self.controller.handles[-1]

    def result(self, handle: Any) -> tuple[int, int, str]:
        end = self.client.result(handle)
        return end.status, end.code, end.text

    def reach(self, handle: Any, count: int = 1) -> Any:
        """Let a goal be followed to its end; return how the controller has it."""
        theirs = self.handed_on(count)
        self.controller.end(theirs.succeed, 0, 'there')
        assert self.result(handle) == (SUCCEEDED, 0, 'there')
        return theirs

    def hold_until(self, position: Any, condition: Callable[[], Any]) -> None:
        """Say where the controller holds the arm until something is so."""
        while not condition():
            self.controller.hold(position)
            self.executor.spin_once(0.05)

    def close(self) -> None:
        """Destroy all of them."""
        if self.controller is not None:
            self.controller.close()
        super().close()


@pytest.fixture
def make_scene(messages: ControlMessages) -> Iterator[Callable[..., Scene]]:
    """Return what makes a scene of a controller with some command interfaces."""
    with ExitStack() as scenes:

        def make(*interfaces: Any) -> Scene:
            scene = Scene(*interfaces)
            scenes.callback(scene.close)
            return scene

        yield make


@pytest.fixture
def scene(make_scene: Callable[..., Scene]) -> Scene:
    """Return a scene with the usual interface."""
    return make_scene()


@pytest.fixture(scope='module')
def dynamics() -> Dynamics:
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return Dynamics(robot, backend='python')


MOTION = (0.0, Q, STILL, STILL), (1.0, GOAL, STILL, STILL)


def test_a_goal_is_handed_on_with_efforts(scene: Scene, dynamics: Dynamics) -> None:
    """It arrives as it was sent but for more points, with efforts; feedback and result return."""
    from builtin_interfaces.msg import Duration, Time
    from control_msgs.msg import JointTolerance

    tolerance = [JointTolerance(name='joint_1', position=0.25)]
    patience = Duration(sec=3)
    handle = scene.send(*MOTION, stamp=7.5, path_tolerance=tolerance, goal_time_tolerance=patience)
    theirs = scene.handed_on()
    request = theirs.request
    assert request.path_tolerance == tolerance
    assert request.goal_time_tolerance == patience
    assert request.trajectory.header.stamp == Time(sec=7, nanosec=500_000_000)
    assert len(request.trajectory.points) > 5
    for point in request.trajectory.points:
        effort = dynamics.inverse_dynamics(point.positions, point.velocities, point.accelerations)
        np.testing.assert_allclose(point.effort, effort, atol=1e-6)
    feedback = scene.client.type.Feedback(joint_names=list(scene.joint_names))
    feedback.error.positions = [0.125] * 6
    theirs.publish_feedback(feedback)
    scene.spin(lambda: scene.client.feedback)
    assert scene.client.feedback == [feedback]
    # Both clocks that a goal is watched by.
    assert {2 * 10**7, 10**9} <= {timer.timer_period_ns for timer in scene.node.timers}
    scene.reach(handle)


@pytest.mark.parametrize('cancels', [True, False])
def test_cancel_passes_through(scene: Scene, cancels: bool) -> None:
    """Who cancels here cancels there; where the controller goes on, so does the goal."""
    handle = scene.send(*MOTION)
    scene.handed_on()
    scene.controller.cancels = cancels
    assert scene.client.cancel(handle) == 1
    if not cancels:
        scene.reach(handle)
        return
    assert scene.result(handle) == (CANCELED, 0, 'held')
    assert scene.controller.handles[0].status == CANCELED


def hold_up_the_work(scene: Scene) -> Callable[[], None]:
    """Let the annotator be at work; return what ends that."""
    free = threading.Event()
    scene.node._background.submit(lambda work: None, free.wait)
    return free.set


def test_canceled_before_the_controller_has_it(scene: Scene) -> None:
    """A goal that is canceled while it is annotated never gets there."""
    go_on = hold_up_the_work(scene)
    handle = scene.send(*MOTION)
    scene.client.cancel(handle)
    assert scene.result(handle)[0] == CANCELED
    go_on()
    scene.reach(scene.send(*MOTION))


def test_another_goal_takes_its_place(scene: Scene) -> None:
    """The controller ends the one before when it gets the next; one that waits is ended here."""
    first = scene.send(*MOTION)
    assert scene.handed_on().status == EXECUTING
    go_on = hold_up_the_work(scene)
    second = scene.send(*MOTION)
    third = scene.send(*MOTION)
    status, code, text = scene.result(second)
    assert (status, code) == (ABORTED, -1)
    assert 'another goal' in text
    assert not first.end.done()
    go_on()
    scene.reach(third, 2)
    assert scene.result(first) == (ABORTED, -1, 'another goal came')


TOO_FAST = (0.0, Q, STILL, STILL), (0.05, GOAL, STILL, STILL)
BLIND = [(1.0, GOAL, STILL, STILL)]
REFUSED: list[tuple[Any, dict[str, Any], int, str]] = [
    ([(1.0, Q)], {'names': ['elbow', *'abcde']}, -2, 'elbow'),
    ([(1.0, Q + 9.0)], {}, -1, 'position'),
    (TOO_FAST, {}, -1, 'expected at most'),
    (BLIND, {}, -1, 'expected at 0 s while the position of the arm is not known, got 1 s'),
    ([], {}, -1, 'points'),
]


def test_what_cannot_be_followed_is_aborted(scene: Scene) -> None:
    """The result says why, and the controller hears nothing of it."""
    for points, fields, code, match in REFUSED:
        status, found, text = scene.result(scene.send(*points, **fields))
        assert (status, found) == (ABORTED, code), match
        assert match in text
    scene.reach(scene.send(*MOTION))


def test_a_controller_without_efforts_gets_no_goal(make_scene: Callable[..., Scene]) -> None:
    """Efforts that nobody sends to the motors are no feed-forward: the goal is aborted."""
    scene = make_scene(('position', 'velocity'))
    status, code, text = scene.result(scene.send(*MOTION))
    assert (status, code) == (ABORTED, -1)
    assert "command_interfaces: expected 'effort' in it, got ['position', 'velocity']" in text
    assert not scene.controller.handles


@pytest.mark.parametrize('is_followed', [False, True])
def test_a_controller_that_is_not_there(scene: Scene, is_followed: bool) -> None:
    """Without its server goals are aborted, with its name; they work when it is back."""
    handle = None
    if is_followed:
        handle = scene.send(*MOTION)
        scene.handed_on()
    scene.stop_controller()
    status, code, text = scene.result(handle or scene.send(*MOTION))
    assert (status, code) == (ABORTED, -1)
    assert f'/{CONTROLLER}/follow_joint_trajectory' in text
    scene.start_controller()
    scene.reach(scene.send(*MOTION))


def test_the_start_is_where_the_controller_holds(scene: Scene) -> None:
    """A goal whose first point is later starts where the arm is sent, not where it sags."""
    scene.hold_until(Q, scene.node._present._sources['controller_state'].is_present)
    scene.send((1.0, GOAL, STILL, STILL))
    first = scene.handed_on().request.trajectory.points[0]
    assert first.time_from_start.sec == first.time_from_start.nanosec == 0
    np.testing.assert_allclose(first.positions, Q, atol=1e-12)
    assert len(first.effort) == 6


@pytest.mark.parametrize(
    ('end', 'after'),
    [
        ('canceled', 'nothing'),
        ('aborted', 'a goal that was reached'),
        ('canceled', 'a controller that went'),
    ],
)
def test_a_hold_gets_its_efforts_back(scene: Scene, dynamics, end: str, after: str) -> None:
    first = np.zeros(6)
    if after != 'nothing':
        # By the names, whatever their order.
        rows = [(time, *(values[::-1] for values in row)) for time, *row in MOTION]
        theirs = scene.reach(scene.send(*rows, names=scene.joint_names[::-1]))
        first = np.array(theirs.request.trajectory.points[-1].effort[::-1])
    if after == 'a controller that went':
        scene.restart_controller()
        first = np.zeros(6)
    count = len(scene.controller.handles)
    handle = scene.send(*MOTION)
    theirs = scene.handed_on(count + 1)
    if end == 'canceled':
        scene.client.cancel(handle)
    else:
        scene.controller.end(theirs.abort, -4, 'path tolerance of joint_2')
    scene.result(handle)
    here = Q + 0.05
    scene.hold_until(here, lambda: len(scene.controller.handles) == count + 2)
    request = scene.controller.handles[-1].request
    start, last = request.trajectory.points
    np.testing.assert_allclose([start.positions, last.positions], [here, here], atol=1e-12)
    np.testing.assert_allclose(start.effort, first, atol=1e-12)
    np.testing.assert_allclose(last.effort, dynamics.gravity_torque(here), atol=1e-9)
    assert start.time_from_start.nanosec == 0
    assert last.time_from_start.nanosec == 100_000_000
    for free in (request.path_tolerance, request.goal_tolerance):
        assert [one.position for one in free] == [-1.0] * 6


@pytest.mark.parametrize('whose', ['ours', "somebody's"])
def test_no_hold_takes_the_place_of_another_goal(scene: Scene, whose: str) -> None:
    """A goal that comes while the arm is brought to rest is followed, and nothing else."""
    canceled = scene.send(*MOTION)
    scene.handed_on()
    scene.client.cancel(canceled)
    scene.result(canceled)
    if whose != 'ours':
        scene.client = GoalClient(scene, f'/{CONTROLLER}/follow_joint_trajectory')
    second = scene.send(*MOTION)
    scene.handed_on(2)
    held = scene.proxy._held
    scene.spin(lambda: any(one.status == EXECUTING for one in held._goals.status_list))
    for _ in range(20):
        scene.controller.hold(Q)
        scene.executor.spin_once(0.05)
    scene.reach(second, 2)


def test_an_arm_that_moves_without_velocities_has_no_start(scene: Scene) -> None:
    """Two positions tell that it moves: a later first point is where efforts begin."""
    source = scene.node._present._sources['controller_state']
    for step in range(200):
        scene.controller.hold(Q + 0.01 * step, velocities=())
        scene.executor.spin_once(0.02)
        if len(source._messages) == 2:
            break
    scene.send((1.0, GOAL, STILL, STILL))
    assert scene.handed_on().request.trajectory.points[0].time_from_start.sec == 1


def test_a_name_that_no_controller_has_is_refused(messages: ControlMessages) -> None:
    """In one line, that names the parameter; without a name there is no action."""
    from rclpy.context import Context

    from ne_dynamics.errors import CommandLineError
    from ne_dynamics.ros.annotator.node import AnnotatorNode

    context = Context()
    context.init()
    for name in ('/jtc/', '/joint trajectory', '/', '//a', '9jtc'):
        with pytest.raises(CommandLineError, match='controller: expected the name of a node'):
            AnnotatorNode(context=context, parameter_overrides=[parameter_of('controller', name)])
    node = AnnotatorNode(context=context)
    assert node._proxy is None
    node.destroy_node()
    context.shutdown()
