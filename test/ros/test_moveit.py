"""The action over DDS as MoveIt's simple controller manager uses it, by the file that we ship."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import yaml
from build_control_msgs import ControlMessages

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from ne_dynamics.shipped import shipped_file

FILE = shipped_file('moveit_controllers.yaml')
PARAMETERS = yaml.safe_load(FILE.read_text(encoding='utf-8'))
ALLOWED_START = PARAMETERS['trajectory_execution']['allowed_start_tolerance']

START = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
END = START + np.array([0.5, 0.3, -0.4, 0.8, 0.6, -0.7])
ACCELERATIONS = np.full(6, 2.0)
STEP = 0.02


class Execution:
    """What MoveIt and an arm that goes where it is sent do; states come every 20 ms."""

    def __init__(self, bench: Any) -> None:
        from moveit_handle import ControllerHandle

        self.bench = bench
        self.handle = ControllerHandle(PARAMETERS, bench)
        self.measured = START.copy()
        self.velocity = np.zeros(6)

    def begin(self, **parameters: Any) -> None:
        """Start the node, with what it does between points by default."""
        self.bench.start(interpolation_method='splines', **parameters)
        self.step()

    def plan(self, start: Any, end: Any, scaling: float = 1.0) -> Any:
        from moveit_handle import Plan

        velocities = scaling * self.bench.robot.limits('velocity_limit')
        return Plan(start, end, velocities, scaling * ACCELERATIONS)

    def send(self, plan: Any) -> Any:
        """Send a plan that is to be accepted; return its result to come."""
        assert self.handle.send(plan.message(self.handle.joints))
        planning = self.bench.node.configured.motion.planning
        self.bench.spin(lambda: not planning.is_busy, 'the plan')
        return self.handle.ask_result()

    def step(self) -> np.ndarray:
        self.measured = self.bench.desired(self.measured, self.velocity, STEP)
        self.velocity = np.array(self.bench.efforts[-1].velocity)
        return self.measured

    def run(self, seconds: float) -> np.ndarray:
        """Let states be answered for a while; return the desired positions, row by row."""
        return np.array([self.step() for _ in range(round(seconds / STEP))])


@pytest.fixture
def execution(bench, messages: ControlMessages) -> Iterator[Execution]:
    """Return an execution; the node is not started yet."""
    execution = Execution(bench)
    yield execution
    execution.handle.destroy()


def test_the_file_is_what_the_manager_reads(bench, execution: Execution) -> None:
    """Names, types and joints are those of the node and of the arm, and no value is unknown."""
    execution.begin()
    manager = 'moveit_simple_controller_manager'
    of_all = dict(PARAMETERS[manager])
    assert PARAMETERS['moveit_controller_manager'] == f'{manager}/MoveItSimpleControllerManager'
    assert of_all.pop('controller_names') == ['computed_torque']
    controller = of_all.pop('computed_torque')
    assert not of_all
    known = {'type', 'action_ns', 'default', 'joints'}
    known |= {'allowed_execution_duration_scaling', 'allowed_goal_duration_margin'}
    assert set(controller) == known
    assert controller['default'] is True
    assert set(controller['joints']) == set(bench.robot.joint_names)
    bench.spin(execution.handle._client.server_is_ready, 'the action')
    assert 0.02 * bench.robot.limits('velocity_limit').min() > ALLOWED_START


@pytest.mark.kept(1)
@pytest.mark.parametrize('scaling', [1.0, 0.1])
def test_a_plan_is_executed(execution: Execution, scaling: float) -> None:
    """With the usual scaling and at the limits a plan is followed along its way, and SUCCEEDED is
    read, within the time that the file allows.
    """
    execution.begin()
    plan = execution.plan(START, END, scaling)
    result = execution.send(plan)
    ways = execution.run(plan.duration)
    expected = np.array([plan.at(min(STEP * k, plan.duration))[0] for k in range(len(ways))])
    assert np.abs(ways - expected).max() < 1e-2
    execution.run(0.1)
    assert execution.handle.wait(result).name == 'SUCCEEDED'
    assert execution.handle.said == 'SUCCESSFUL: the goal is reached'
    np.testing.assert_allclose(execution.step(), END, atol=1e-9)


@pytest.mark.long
def test_a_plan_that_starts_beside_the_arm_is_executed(execution: Execution) -> None:
    """MoveIt plans from joint states, which the desired position is beside by the tracking error:
    at the largest tolerance that the file has it goes on without a step of more than that.
    """
    execution.begin()
    offset = ALLOWED_START * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    plan = execution.plan(START + offset, END, 0.3)
    result = execution.send(plan)
    ways = np.vstack([START, execution.run(plan.duration + 0.1)])
    speeds = np.abs(np.diff(ways, axis=0)).max()
    assert speeds < ALLOWED_START + STEP * 0.3 * 3.2
    assert execution.handle.wait(result).name == 'SUCCEEDED'


def test_stop_is_preempted_and_brings_the_arm_to_rest(execution: Execution) -> None:
    """MoveIt's stop() cancels and waits for the answer alone; the arm stops along its way, and the
    next plan, from where it stands, is executed.
    """
    execution.begin()
    plan = execution.plan(START, END)
    result = execution.send(plan)
    execution.run(0.5 * plan.duration)
    assert execution.handle.cancel() == 1
    execution.run(0.5)
    assert execution.handle.wait(result).name == 'PREEMPTED'
    stopped = execution.run(0.1)
    assert np.ptp(stopped, axis=0).max() < 1e-9
    assert 0.4 < np.linalg.norm(stopped[-1] - START) / np.linalg.norm(END - START) < 0.8
    back = execution.plan(stopped[-1], START)
    result = execution.send(back)
    execution.run(back.duration + 0.1)
    assert execution.handle.wait(result).name == 'SUCCEEDED'
