"""The action of the annotator over DDS: goals get efforts and are handed to a controller."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from build_control_msgs import ControlMessages

from ne_dynamics.ros.thresholds import NODE

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import (
    parameter_of,
    set_stamp,
    trajectory_message,
)

DOMAIN = private_domain()
PATIENCE = 120.0
Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
GOAL = Q + np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1])
STILL = np.zeros(6)
NAMES = tuple(f'joint_{i + 1}' for i in range(6))
CONTROLLER = 'joint_trajectory_controller'
EXECUTING, SUCCEEDED, CANCELED, ABORTED = 2, 4, 5, 6
"""States of a goal, as action_msgs/GoalStatus has them."""


class Controller:
    """A controller that does with goals what the test says; the newest one ends the others."""

    def __init__(self, scene: Any, interfaces: Any = ('effort',)) -> None:
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTrajectoryControllerState
        from rclpy.action import CancelResponse, GoalResponse
        from rclpy.node import Node

        from ne_dynamics.ros.running.patient_server import PatientServer

        self.scene = scene
        self.type = FollowJointTrajectory
        self.node = Node(CONTROLLER, context=scene.context)
        if interfaces is not None:
            self.node.declare_parameter('command_interfaces', list(interfaces))
        self.handles: list[Any] = []
        self.accepts = self.cancels = True
        self.response = SimpleNamespace(goal=GoalResponse, cancel=CancelResponse)
        self.server = PatientServer(
            self.node,
            FollowJointTrajectory,
            'follow_joint_trajectory',
            goal_callback=lambda goal: GoalResponse(1 + bool(self.accepts)),
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
            self.end(self.handles[-1].abort, -1, 'another goal came', self.handles[-1])
        self.handles.append(handle)

    def _on_cancel(self, handle: Any) -> Any:
        if not self.cancels:
            return self.response.cancel.REJECT
        result = self.type.Result(error_string='held')
        self.node.executor.create_task(self._finish_canceled, handle, result)
        return self.response.cancel.ACCEPT

    def _finish_canceled(self, handle: Any, result: Any) -> None:
        handle.canceled()
        self.server.finish(handle, result)

    def end(self, end: Callable[[], None], code: int, text: str, handle: Any = None) -> None:
        """End the newest goal."""
        end()
        result = self.type.Result(error_code=code, error_string=text)
        self.server.finish(handle or self.handles[-1], result)

    def hold(self, position: Any, velocities: Any = (0.0,) * 6) -> None:
        """Say where the arm is sent."""
        from control_msgs.msg import JointTrajectoryControllerState

        state = JointTrajectoryControllerState(joint_names=list(NAMES))
        state.reference.positions = [float(value) for value in position]
        state.reference.velocities = list(velocities)
        self.state.publish(state)

    def close(self) -> None:
        """Go away."""
        self.scene.executor.remove_node(self.node)
        self.server.destroy()
        self.node.destroy_node()


class Scene:
    """The annotator, a controller, and who sends goals."""

    def __init__(self) -> None:
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.context = Context()
        self.context.init(domain_id=DOMAIN)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.probe = Node('probe', context=self.context)
        self.executor.add_node(self.probe)
        self.controller: Controller | None = None
        self.annotator: Any = None
        self.feedback: list[Any] = []

    def start(self, interfaces: Any = ('effort',), **parameters: Any) -> None:
        """Start everybody, and wait until they know of each other."""
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient

        from ne_dynamics.ros.annotator.node import AnnotatorNode

        self.controller = Controller(self, interfaces)
        values = {
            'model_file': str(shipped_file('six_axis_arm.urdf')),
            'tip_link': 'tcp',
            'backend': 'python',
            'controller': f'/{CONTROLLER}',
            **parameters,
        }
        self.annotator = AnnotatorNode(
            context=self.context,
            parameter_overrides=[parameter_of(name, value) for name, value in values.items()],
        )
        self.executor.add_node(self.annotator)
        self.type = FollowJointTrajectory
        self.client = ActionClient(
            self.probe, FollowJointTrajectory, '/annotator/follow_joint_trajectory'
        )
        self.spin(self.client.server_is_ready)
        proxy = self.annotator._proxy
        self.spin(proxy._client.server_is_ready)
        if interfaces is not None:
            self.spin(proxy._question.service_is_ready)

    def spin(self, until: Callable[[], Any]) -> None:
        """Serve everybody until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, 'waited in vain'
            self.executor.spin_once(0.02)

    def restart_controller(self) -> None:
        """Let the controller go, and come again."""
        assert self.controller is not None
        self.controller.close()
        proxy = self.annotator._proxy
        self.spin(lambda: not proxy._client.server_is_ready())
        self.spin(lambda: proxy._held._last is None)
        self.controller = Controller(self)
        self.spin(proxy._client.server_is_ready)
        self.spin(self.controller.state.get_subscription_count)

    def send(
        self,
        *points: Any,
        stamp: float = 0.0,
        names: Any = NAMES,
        start: bool = False,
        **fields: Any,
    ) -> Any:
        """Send a goal, which is always accepted; return its handle. It may start at Q first."""
        if start:
            points = ((0.0, Q[::-1], STILL, STILL), *points)
        goal = self.type.Goal(trajectory=trajectory_message(names, points))
        set_stamp(goal.trajectory.header.stamp, stamp)
        for key, value in fields.items():
            setattr(goal, key, value)
        future = self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        self.spin(future.done)
        handle = future.result()
        assert handle.accepted
        handle.end = handle.get_result_async()
        return handle

    def handed_on(self, count: int = 1) -> Any:
        """Wait for as many goals as the controller is to have; return the newest."""
        self.spin(lambda: len(self.controller.handles) == count)
        return self.controller.handles[-1]

    def result(self, handle: Any) -> tuple[int, int, str]:
        """Wait for the end of a goal; return its status, code and text."""
        self.spin(handle.end.done)
        end = handle.end.result()
        return end.status, end.result.error_code, end.result.error_string

    def close(self) -> None:
        """End."""
        self.executor.shutdown()
        if self.annotator is not None:
            self.annotator.destroy_node()
        if self.controller is not None:
            self.controller.close()
        self.probe.destroy_node()
        self.context.shutdown()


@pytest.fixture
def scene(messages: ControlMessages) -> Iterator[Scene]:
    """Return a scene where nothing is started yet."""
    scene = Scene()
    yield scene
    scene.close()


MOTION = (0.0, Q, STILL, STILL), (1.0, GOAL, STILL, STILL)


def test_a_goal_is_handed_on_with_efforts(scene: Scene) -> None:
    """It arrives as it was sent but for more points, with efforts; feedback and result return."""
    from builtin_interfaces.msg import Duration
    from control_msgs.msg import JointTolerance

    scene.start()
    tolerance = [JointTolerance(name='joint_1', position=0.25)]
    patience = Duration(sec=3)
    handle = scene.send(*MOTION, stamp=7.5, path_tolerance=tolerance, goal_time_tolerance=patience)
    theirs = scene.handed_on()
    request = theirs.request
    assert request.path_tolerance == tolerance
    assert request.goal_time_tolerance == patience
    assert (request.trajectory.header.stamp.sec, request.trajectory.header.stamp.nanosec) == (
        7,
        500_000_000,
    )
    assert len(request.trajectory.points) > 5
    dynamics = Dynamics(
        load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'), backend='python'
    )
    for point in request.trajectory.points:
        effort = dynamics.inverse_dynamics(point.positions, point.velocities, point.accelerations)
        np.testing.assert_allclose(point.effort, effort, atol=1e-6)
    feedback = scene.type.Feedback()
    feedback.joint_names = list(NAMES)
    feedback.error.positions = [0.125] * 6
    theirs.publish_feedback(feedback)
    scene.spin(lambda: scene.feedback)
    assert scene.feedback == [feedback]
    scene.controller.end(theirs.succeed, 0, 'there')
    assert scene.result(handle) == (SUCCEEDED, 0, 'there')


def test_a_failure_there_is_one_here(scene: Scene) -> None:
    """Code and text of the controller's result are the proxy's."""
    scene.start()
    handle = scene.send(*MOTION)
    scene.controller.end(scene.handed_on().abort, -4, 'path tolerance of joint_2')
    assert scene.result(handle) == (ABORTED, -4, 'path tolerance of joint_2')


@pytest.mark.parametrize('cancels', [True, False])
def test_cancel_passes_through(scene: Scene, cancels: bool) -> None:
    """Who cancels here cancels there; where the controller goes on, so does the goal."""
    scene.start()
    handle = scene.send(*MOTION)
    theirs = scene.handed_on()
    scene.controller.cancels = cancels
    answer = handle.cancel_goal_async()
    scene.spin(answer.done)
    assert len(answer.result().goals_canceling) == 1
    if not cancels:
        scene.controller.end(theirs.succeed, 0, 'there')
        assert scene.result(handle) == (SUCCEEDED, 0, 'there')
        return
    assert scene.result(handle) == (CANCELED, 0, 'held')
    assert scene.controller.handles[0].status == CANCELED


def test_canceled_before_the_controller_has_it(scene: Scene) -> None:
    """A goal that is canceled while it is annotated never gets there."""
    import threading

    scene.start()
    free = threading.Event()
    scene.annotator._background.submit(lambda work: None, free.wait)
    handle = scene.send(*MOTION)
    answer = handle.cancel_goal_async()
    scene.spin(answer.done)
    assert scene.result(handle)[0] == CANCELED
    free.set()
    second = scene.send(*MOTION)
    scene.controller.end(scene.handed_on().succeed, 0, 'there')
    assert scene.result(second)[0] == SUCCEEDED
    assert len(scene.controller.handles) == 1


def test_another_goal_takes_its_place(scene: Scene) -> None:
    """The controller ends the one before when it gets the next; one that waits is ended here."""
    import threading

    scene.start()
    first = scene.send(*MOTION)
    assert scene.handed_on().status == EXECUTING
    free = threading.Event()
    scene.annotator._background.submit(lambda work: None, free.wait)
    second = scene.send(*MOTION)
    third = scene.send(*MOTION)
    status, code, text = scene.result(second)
    assert (status, code) == (ABORTED, -1)
    assert 'another goal' in text
    assert not first.end.done()
    free.set()
    theirs = scene.handed_on(2)
    assert scene.result(first) == (ABORTED, -1, 'another goal came')
    scene.controller.end(theirs.succeed, 0, 'there')
    assert scene.result(third)[0] == SUCCEEDED


def test_one_that_the_controller_forgets_is_ended(scene: Scene) -> None:
    """A controller that does not end the goal before: the proxy does."""
    scene.start()
    first = scene.send(*MOTION)
    scene.handed_on()
    scene.controller._on_accepted = lambda handle: (
        handle.execute(),
        scene.controller.handles.append(handle),
    )
    scene.controller.server.register_handle_accepted_callback(scene.controller._on_accepted)
    scene.send(*MOTION)
    scene.handed_on(2)
    status, _, text = scene.result(first)
    assert status == ABORTED
    assert 'another goal' in text


REFUSED = {
    'an unknown joint': (lambda scene: scene.send((1.0, Q[:5])), -1, 'expected'),
    'beyond the limits': (lambda scene: scene.send((1.0, Q + 9.0)), -1, 'position'),
    'too fast': (
        lambda scene: scene.send((0.0, Q, STILL, STILL), (0.05, GOAL, STILL, STILL)),
        -1,
        'expected at most',
    ),
    'an unknown way to the first point': (
        lambda scene: scene.send((1.0, GOAL, STILL, STILL)),
        -1,
        'expected at 0 s while the position of the arm is not known, got 1 s',
    ),
    'no points': (lambda scene: scene.send(), -1, 'points'),
}


@pytest.mark.parametrize('what', REFUSED)
def test_what_cannot_be_followed_is_aborted(scene: Scene, what: str) -> None:
    """The result says why, and the controller hears nothing of it."""
    scene.start()
    send, code, match = REFUSED[what]
    status, found, text = scene.result(send(scene))
    assert (status, found) == (ABORTED, code)
    assert match in text
    handle = scene.send(*MOTION)
    scene.controller.end(scene.handed_on().succeed, 0, 'there')
    assert scene.result(handle)[0] == SUCCEEDED


def test_unknown_joints_have_their_code(scene: Scene) -> None:
    """Names that are not the robot's are INVALID_JOINTS."""
    scene.start()
    goal = scene.type.Goal(trajectory=trajectory_message(('elbow', *NAMES[1:]), [(1.0, Q)]))
    future = scene.client.send_goal_async(goal)
    scene.spin(future.done)
    handle = future.result()
    handle.end = handle.get_result_async()
    status, code, text = scene.result(handle)
    assert (status, code) == (ABORTED, -2)
    assert 'elbow' in text


def test_too_fast_is_retimed(scene: Scene) -> None:
    """With `retime` a goal that asks for too much is handed on, with later times."""
    scene.start(retime=True)
    scene.send((0.0, Q, STILL, STILL), (0.05, GOAL, STILL, STILL))
    last = scene.handed_on().request.trajectory.points[-1].time_from_start
    assert last.sec + 1e-9 * last.nanosec > 0.1


def test_a_controller_without_efforts_gets_no_goal(scene: Scene) -> None:
    """Efforts that nobody sends to the motors are no feed-forward: the goal is aborted."""
    scene.start(interfaces=('position', 'velocity'))
    status, code, text = scene.result(scene.send(*MOTION))
    assert (status, code) == (ABORTED, -1)
    assert "command_interfaces: expected 'effort' in it, got ['position', 'velocity']" in text
    assert not scene.controller.handles


def test_a_controller_that_does_not_say_what_it_takes_gets_the_goal(scene: Scene) -> None:
    """Where there is no such parameter the controller decides."""
    scene.start(interfaces=None)
    scene.send(*MOTION)
    assert scene.handed_on().request.trajectory.points[0].effort


def test_a_rejection_there_ends_the_goal_here(scene: Scene) -> None:
    """A controller that is not active rejects."""
    scene.start()
    scene.controller.accepts = False
    status, code, text = scene.result(scene.send(*MOTION))
    assert (status, code) == (ABORTED, -1)
    assert 'rejected' in text


@pytest.mark.parametrize('when', ['before', 'while it is followed'])
def test_a_controller_that_is_not_there(scene: Scene, when: str) -> None:
    """Without its server goals are aborted, with its name; they work when it is back."""
    scene.start()
    handle = None
    if when != 'before':
        handle = scene.send(*MOTION)
        scene.handed_on()
    scene.controller.close()
    scene.controller = None
    proxy = scene.annotator._proxy
    scene.spin(lambda: not proxy._client.server_is_ready())
    status, code, text = scene.result(handle or scene.send(*MOTION))
    assert (status, code) == (ABORTED, -1)
    assert f'/{CONTROLLER}/follow_joint_trajectory' in text
    scene.controller = Controller(scene)
    scene.spin(proxy._client.server_is_ready)
    second = scene.send(*MOTION)
    scene.controller.end(scene.handed_on().succeed, 0, 'there')
    assert scene.result(second)[0] == SUCCEEDED


def test_the_start_is_where_the_controller_holds(scene: Scene) -> None:
    """A goal whose first point is later starts where the arm is sent, not where it sags."""
    scene.start()
    source = scene.annotator._present._sources['controller_state']
    while not source.is_present():
        scene.controller.hold(Q)
        scene.executor.spin_once(0.05)
    scene.send((1.0, GOAL, STILL, STILL))
    first = scene.handed_on().request.trajectory.points[0]
    assert first.time_from_start.sec == first.time_from_start.nanosec == 0
    np.testing.assert_allclose(first.positions, Q, atol=1e-12)
    assert len(first.effort) == 6


def test_no_action_without_a_controller(scene: Scene) -> None:
    """By default there are topics alone."""
    from ne_dynamics.ros.annotator.node import AnnotatorNode

    node = AnnotatorNode(context=scene.context)
    assert node._proxy is None
    node.destroy_node()


ENDS = {
    'canceled': lambda scene, handle: handle.cancel_goal_async(),
    'tolerance': lambda scene, handle: scene.controller.end(
        scene.controller.handles[-1].abort, -4, 'path tolerance of joint_2'
    ),
}


@pytest.mark.parametrize('after', ['nothing', 'a goal that was reached', 'a controller that went'])
@pytest.mark.parametrize('end', ENDS)
def test_a_hold_gets_its_efforts_back(scene: Scene, end: str, after: str) -> None:
    """Where the controller holds the arm without effort, it gets a goal with that of the pose."""
    scene.start()
    first = np.zeros(6)
    if after != 'nothing':
        backwards = [row[::-1] for row in MOTION[1][1:]]
        handle = scene.send((1.0, *backwards), names=NAMES[::-1], start=True)
        theirs = scene.handed_on()
        first = np.array(theirs.request.trajectory.points[-1].effort[::-1])
        scene.controller.end(theirs.succeed, 0, 'there')
        scene.result(handle)
    if after == 'a controller that went':
        scene.restart_controller()
        first = np.zeros(6)
    count = len(scene.controller.handles)
    handle = scene.send(*MOTION)
    scene.handed_on(count + 1)
    ENDS[end](scene, handle)
    scene.result(handle)
    here = Q + 0.05
    while len(scene.controller.handles) < count + 2:
        scene.controller.hold(here)
        scene.executor.spin_once(0.05)
    request = scene.controller.handles[-1].request
    dynamics = Dynamics(
        load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'), backend='python'
    )
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
    from rclpy.action import ActionClient

    scene.start()
    handle = scene.send(*MOTION)
    scene.handed_on()
    handle.cancel_goal_async()
    scene.result(handle)
    if whose != 'ours':
        scene.client = ActionClient(
            scene.probe, scene.type, f'/{CONTROLLER}/follow_joint_trajectory'
        )
        scene.spin(scene.client.server_is_ready)
    second = scene.send(*MOTION)
    theirs = scene.handed_on(2)
    held = scene.annotator._proxy._held
    scene.spin(lambda: any(one.status == EXECUTING for one in held._goals.status_list))
    for _ in range(20):
        scene.controller.hold(Q)
        scene.executor.spin_once(0.05)
    assert len(scene.controller.handles) == 2
    scene.controller.end(theirs.succeed, 0, 'there')
    assert scene.result(second)[0] == SUCCEEDED


def test_a_goal_takes_the_place_of_a_hold(scene: Scene) -> None:
    """The next goal is followed though the hold was on its way: it ends, and not the goal."""
    scene.start()
    handle = scene.send(*MOTION)
    scene.handed_on()
    handle.cancel_goal_async()
    scene.result(handle)
    while len(scene.controller.handles) < 2:
        scene.controller.hold(Q)
        scene.executor.spin_once(0.05)
    second = scene.send(*MOTION)
    theirs = scene.handed_on(3)
    assert scene.controller.handles[1].status == ABORTED
    scene.controller.end(theirs.succeed, 0, 'there')
    assert scene.result(second)[0] == SUCCEEDED


def test_a_cancel_that_the_controller_forgets_ends(scene: Scene, monkeypatch) -> None:
    """A goal whose end is never told after a cancel is canceled all the same."""
    monkeypatch.setitem(vars(NODE), 'longest_cancel', 0.3)
    scene.start()
    handle = scene.send(*MOTION)
    scene.handed_on()
    scene.controller._finish_canceled = lambda *_: None
    handle.cancel_goal_async()
    status, _, text = scene.result(handle)
    assert status == CANCELED
    assert 'has not ended' in text


def test_parameters_that_cannot_be_are_no_model(scene: Scene) -> None:
    """Nothing is handed on with a default in place of what was meant, until it is mended."""
    scene.start(**{'payload.mass': -1.0})
    status, _, text = scene.result(scene.send(*MOTION))
    assert status == ABORTED
    assert 'no model' in text
    result = scene.annotator.set_parameters([parameter_of('payload.mass', 1.0)])
    assert result[0].successful
    scene.send(*MOTION)
    assert scene.handed_on().request.trajectory.points[0].effort


def test_an_arm_that_moves_without_velocities_has_no_start(scene: Scene) -> None:
    """Two positions tell that it moves: a later first point is where efforts begin."""
    scene.start()
    present = scene.annotator._present
    for step in range(200):
        scene.controller.hold(Q + 0.01 * step, velocities=())
        scene.executor.spin_once(0.02)
        if len(present._sources['controller_state']._messages) == 2:
            break
    scene.send((1.0, GOAL, STILL, STILL))
    assert scene.handed_on().request.trajectory.points[0].time_from_start.sec == 1


@pytest.mark.parametrize('name', ['/jtc/', '/joint trajectory', '/', '//a', '9jtc'])
def test_a_name_that_no_controller_has_is_refused(scene: Scene, name: str) -> None:
    """In one line, that names the parameter."""
    from ne_dynamics.errors import CommandLineError
    from ne_dynamics.ros.annotator.node import AnnotatorNode

    with pytest.raises(CommandLineError, match='controller: expected the name of a node'):
        AnnotatorNode(
            context=scene.context, parameter_overrides=[parameter_of('controller', name)]
        )
