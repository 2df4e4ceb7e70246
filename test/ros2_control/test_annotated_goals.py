"""Goals of MoveIt's kind through the annotator to the real joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from build_control_msgs import ControlMessages
from compiled_ros2_control import (
    BROADCASTER,
    JTC,
    MUJOCO,
    ClockedScene,
    ControllerManager,
    environment,
    finite,
    missing,
)

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')
if absent := missing(BROADCASTER, JTC, MUJOCO):
    pytest.skip(absent, allow_module_level=True)

from ne_dynamics import load_urdf
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import trajectory_message
from ne_dynamics.simulation.demo.ros_process import RosProcesses, local_discovery
from ne_dynamics.simulation.descriptions.hardware_description import (
    hardware_description,
    mjcf_with_motors,
    mujoco_hardware,
)

MODEL = shipped_file('six_axis_arm.urdf')
FILE = shipped_file('jtc_effort_controllers.yaml')
CONTROLLER = 'effort_trajectory_controller'
WITHOUT_EFFORTS = 'position_trajectory_controller'
TYPE = 'joint_trajectory_controller/JointTrajectoryController'
NAMES = tuple(f'joint_{number}' for number in range(1, 7))
START = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
END = START + np.array([0.5, 0.3, -0.4, 0.8, 0.6, -0.7])
ACCELERATIONS = np.full(6, 2.0)
STILL = np.zeros(6)
ACTION = f'/{CONTROLLER}/follow_joint_trajectory'

FEEDBACK = """
import sys
import rclpy
from control_msgs.action import FollowJointTrajectory
rclpy.init()
node = rclpy.create_node('listener')
heard = []
type_ = FollowJointTrajectory.Impl.FeedbackMessage
node.create_subscription(type_, sys.argv[1], heard.append, 10)
while len(heard) < 5:
    rclpy.spin_once(node)
print(*heard[-1].feedback.joint_names)
"""
"""By the messages of the controller's own release: in some, feedback has one field more."""


class Scene(ClockedScene):
    """The arm in MuJoCo under the real controller manager, and the annotator as a process."""

    def __init__(self, folder: Path) -> None:
        super().__init__(private_domain(), CONTROLLER)
        self.robot = load_urdf(MODEL, tip_link='tcp')
        (folder / 'arm.xml').write_text(mjcf_with_motors(load_urdf(MODEL)))
        content = {
            '/**': {'use_sim_time': True},
            '/**/controller_manager': {WITHOUT_EFFORTS: {'type': TYPE}},
            f'/**/{WITHOUT_EFFORTS}': {
                'joints': list(NAMES),
                'command_interfaces': ['position'],
                'state_interfaces': ['position', 'velocity'],
            },
        }
        more = folder / 'more.yaml'
        more.write_text(
            yaml.safe_dump({name: {'ros__parameters': each} for name, each in content.items()})
        )
        description = hardware_description(
            MODEL,
            mujoco_hardware(folder / 'arm.xml'),
            initial_position=dict(zip(NAMES, START, strict=True)),
        )
        self.manager = ControllerManager(self, folder, [FILE, more], description)
        self.at_the_end(self.manager.close)
        self.processes = RosProcesses(private_domain())
        self.at_the_end(self.processes.kill)

    def begin(self, controller: str = CONTROLLER, *arguments: str) -> None:
        annotator = self.processes.start(
            'annotator',
            'ne_dynamics.ros.annotator.node',
            {'tip_link': 'tcp', 'controller': f'/{controller}'},
            environment=environment(),
        )
        self.manager.spawn('joint_state_broadcaster')
        self.manager.spawn(controller, *arguments)
        self.spin(lambda: 'annotates for' in annotator.output, 'the model of the annotator')
        self.through = self.handle_of('annotator')
        self.straight = self.handle_of(controller)
        client = self.through._client
        self.spin(client.server_is_ready, 'the action of the annotator')
        # The annotator knows its controller as soon as everybody does, but nobody says when.
        self.spin(lambda: self.refusal() is None, 'the controller, as the annotator sees it')

    def handle_of(self, name: str) -> Any:
        from moveit_handle import MANAGER, ControllerHandle

        controller = {
            'type': 'FollowJointTrajectory',
            'action_ns': 'follow_joint_trajectory',
            'joints': list(NAMES),
        }
        handle = ControllerHandle({MANAGER: {'controller_names': [name], name: controller}}, self)
        self.at_the_end(handle.destroy)
        return handle

    # ---- goals

    def refusal(self) -> str | None:
        """Send a goal for a joint that there is not; return why it is not annotated."""
        message = trajectory_message(['nobody'], [(1.0, [0.0])])
        assert self.through.send(message)
        self.through.wait()
        return None if self.through.said.startswith('INVALID_JOINTS') else self.through.said

    @property
    def position(self) -> np.ndarray:
        self.states.clear()
        self.spin(lambda: self.states, 'a state of the controller')
        return np.array(self.states[-1].feedback.positions)

    def rest(self) -> np.ndarray:
        seen: list[np.ndarray] = []

        def rests() -> bool:
            seen.append(self.position)
            return len(seen) > 20 and np.ptp(seen[-20:], axis=0).max() < 1e-5

        self.spin(rests, 'an arm that rests')
        return seen[-1]

    def plan(self, end: Any, scaling: float = 0.5, *, rests: bool = True) -> Any:
        """Return a plan from where the joint states are, as MoveIt makes it."""
        from moveit_handle import Plan

        start = self.rest() if rests else self.position

        velocities = scaling * self.robot.limits('velocity_limit')
        return Plan(start, end, velocities, scaling * ACCELERATIONS)

    def follow(self, handle: Any, plan: Any) -> float:
        """Let a plan be executed to its end; return its largest tracking error [rad]."""
        self.states.clear()
        assert handle.send(plan.message(handle.joints))
        assert handle.wait().name == 'SUCCEEDED', handle.said
        return self.tracking_error()

    def tracking_error(self, begin: float = 0.0) -> float:
        """Return the largest error from a part of the motion on [rad]; the hold before it sags."""
        moving = [state for state in self.states if np.any(state.reference.velocities)]
        assert len(moving) > 10
        del moving[: int(begin * len(moving))]
        return float(max(np.abs(state.error.positions).max() for state in moving))

    def go(self, plan: Any, part: float = 0.3) -> Any:
        """Send a plan to the annotator, and wait until a part of the way is behind the arm.

        Returns
        -------
        future
            Of the result.
        """
        assert self.through.send(plan.message(self.through.joints))
        result = self.through.ask_result()
        length = np.linalg.norm(plan.way)
        self.spin(
            lambda: result.done() or np.linalg.norm(self.position - plan.start) > part * length,
            'an arm on its way',
        )
        assert not result.done()
        return result


@pytest.fixture
def scene(messages: ControlMessages, tmp_path: Path) -> Iterator[Scene]:
    """Return a scene whose controller manager starts."""
    with local_discovery():
        scene = Scene(tmp_path)
        yield scene
        scene.close()


def test_a_plan_is_followed_by_its_efforts(scene: Scene) -> None:
    """A plan of MoveIt's through the annotator SUCCEEDS, and is followed ten times as well as the
    same plan that goes straight to the controller, without efforts; the feedback of the controller
    comes back.
    """
    scene.begin()
    feedback = scene.start_script(FEEDBACK, 'annotator/follow_joint_trajectory/_action/feedback')
    with_efforts = scene.follow(scene.through, scene.plan(END))
    scene.follow(scene.through, scene.plan(START))
    without = scene.follow(scene.straight, scene.plan(END))
    print(f'largest tracking error: {with_efforts:.5f} rad with efforts, {without:.5f} without')
    assert with_efforts < 0.1 * without
    assert scene.manager.finish(feedback).split() == list(NAMES)


def test_a_plan_that_is_cancelled(scene: Scene) -> None:
    """CANCELED here as there; the arm is held where it was by the gains of the controller, and
    sags as the hold of the controller has no efforts; the next plan is followed.
    """
    scene.begin()
    result = scene.go(scene.plan(END))
    where = scene.position
    assert scene.through.cancel() == 1
    assert scene.through.wait(result).name == 'PREEMPTED'
    assert np.abs(scene.rest() - where).max() < 0.15
    scene.follow(scene.through, scene.plan(START))


def test_a_plan_that_another_overtakes(scene: Scene) -> None:
    """The one before is ABORTED, with what the controller says of it; the next SUCCEEDS."""
    scene.begin()
    first = scene.go(scene.plan(END))
    again = scene.plan(START, rests=False)
    assert scene.through.send(again.message(scene.through.joints))
    second = scene.through.ask_result()
    assert scene.through.wait(first).name == 'ABORTED'
    assert scene.through.said.startswith('INVALID_GOAL: Current goal preempted')
    assert scene.through.wait(second).name == 'SUCCEEDED', scene.through.said


@pytest.mark.parametrize('how', ['deactivated', 'unspawned', 'killed'])
def test_a_controller_that_goes_under_way(scene: Scene, how: str) -> None:
    scene.begin()
    result = scene.go(scene.plan(END, 0.03), 0.1)
    by_controller = 'INVALID_GOAL: Current goal cancelled during deactivate transition.'
    by_proxy = f"INVALID_GOAL: the action server '{ACTION}' has gone"
    if how == 'deactivated':
        scene.manager.finish(scene.manager.begin_switch('deactivate', CONTROLLER))
    elif how == 'unspawned':
        scene.manager.unspawn(CONTROLLER)
    else:
        scene.manager.kill()
    assert scene.through.wait(result).name == 'ABORTED'
    # One that is unloaded may be gone before its last words are heard.
    expected = {
        'deactivated': [by_controller],
        'unspawned': [by_controller, by_proxy],
        'killed': [by_proxy],
    }
    assert scene.through.said in expected[how]


def test_a_first_point_that_is_later(scene: Scene) -> None:
    """The first goal that the controller takes once it is active, of a point that is later: it
    gets a point at 0 with efforts where it holds the arm, and all that it sends are numbers.
    """
    scene.begin(CONTROLLER, '--inactive')
    switch = scene.manager.begin_switch('activate', CONTROLLER)
    while True:
        assert scene.through.send(trajectory_message(NAMES, [(2.0, END, STILL, STILL)]))
        status = scene.through.wait().name
        if not any(text in scene.through.said for text in ('has rejected', 'expected at 0 s')):
            break
    assert status == 'SUCCEEDED', scene.through.said
    scene.manager.finish(switch)
    assert finite(state.output.effort for state in scene.states)
    assert finite(state.reference.positions for state in scene.states)
    # Activation lets the arm sag for a moment, which is over by the second third.
    assert scene.tracking_error(begin=1 / 3) < 0.01
    np.testing.assert_allclose(scene.position, END, atol=0.01)
