"""A client as MoveIt's simple controller manager is one: what it fills in, and what it reads.

As read in moveit2 (main, 8fcb5d2): moveit_simple_controller_manager.cpp (parameters),
follow_joint_trajectory_controller_handle.cpp (goal), action_based_controller_handle.hpp (name of
the action, cancel, statuses), robot_trajectory.cpp (message of a plan),
time_optimal_trajectory_generation.cpp (its points).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.simulation.demo.node_messages import set_stamp

MANAGER = 'moveit_simple_controller_manager'
RESAMPLE_PERIOD = 0.1
"""Between two points of a plan [s]: what the time parameterization has by default."""


class ExecutionStatus(enum.Enum):
    """What MoveIt makes of the status of a goal; codes it only prints."""

    RUNNING = 1
    SUCCEEDED = 4
    PREEMPTED = 5
    ABORTED = 6


class ControllerHandle:
    """The handle of one controller.

    Parameters
    ----------
    parameters : mapping
        Those of move_group.
    bench : Bench
        Whose probe is move_group.

    Attributes
    ----------
    joints : list of str
        That MoveIt takes the controller to move.
    status : ExecutionStatus
    said : str
        What it prints of a result.
    """

    def __init__(self, parameters: Mapping[str, Any], bench: Any) -> None:
        of_all = parameters[MANAGER]
        (name,) = of_all['controller_names']
        controller = of_all[name]
        if controller['type'] != 'FollowJointTrajectory':
            raise ValueError(f'unknown controller type {controller["type"]}')
        self.joints = list(controller['joints'])
        self._bench = bench
        namespace = controller['action_ns']
        self.action = f'{name}/{namespace}' if namespace else name
        self._client = ActionClient(bench.probe, FollowJointTrajectory, self.action)
        self._goal: Any = None
        self._is_done = True
        self.status = ExecutionStatus.SUCCEEDED
        self.said = ''

    def send(self, trajectory: JointTrajectory) -> bool:
        """Send a plan; return whether it was accepted."""
        self._bench.spin(self._client.server_is_ready, f'the action {self.action}')
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = trajectory
        self._is_done, self.status = False, ExecutionStatus.RUNNING
        future = self._client.send_goal_async(goal)
        self._bench.spin(future.done, 'the answer to the goal')
        if not future.result().accepted:
            self._goal = None
            return False
        self._goal = future.result()
        return True

    def ask_result(self) -> Any:
        """Ask for the result, as MoveIt does once it waits; return what becomes of it."""
        return self._goal.get_result_async()

    def wait(self, future: Any = None) -> ExecutionStatus:
        """Wait for the result, and read it."""
        future = self.ask_result() if future is None else future
        self._bench.spin(future.done, 'the result')
        end = future.result()
        codes = {
            getattr(FollowJointTrajectory.Result, name): name
            for name in (
                'SUCCESSFUL',
                'INVALID_GOAL',
                'INVALID_JOINTS',
                'OLD_HEADER_TIMESTAMP',
                'PATH_TOLERANCE_VIOLATED',
                'GOAL_TOLERANCE_VIOLATED',
            )
        }
        code = codes.get(end.result.error_code, 'unknown error')
        self.said = f'{code}: {end.result.error_string}'
        self.status = ExecutionStatus(end.status)
        self._is_done = True
        return self.status

    def cancel(self) -> int:
        """Cancel what runs; return how many goals are being cancelled."""
        if self._is_done:
            return 0
        future = self._goal.cancel_goal_async()
        self._bench.spin(future.done, 'the answer')
        self.status, self._is_done = ExecutionStatus.PREEMPTED, True
        return len(future.result().goals_canceling)

    def destroy(self) -> None:
        """Leave."""
        self._client.destroy()


class Plan:
    """A straight line in joint space at the limits: bang, coast, bang, sampled every 0.1 s.

    Parameters
    ----------
    start, end : array, shape (n,)
        [rad]
    velocities, accelerations : array, shape (n,)
        Limits [rad/s, rad/s^2].
    """

    def __init__(
        self, start: Any, end: Any, velocities: np.ndarray, accelerations: np.ndarray
    ) -> None:
        self.start, self.way = np.array(start), np.array(end) - np.array(start)
        moved = np.abs(self.way) > 1e-9
        # Of the path coordinate, which goes from 0 to 1.
        rate = (velocities[moved] / np.abs(self.way[moved])).min()
        self._bang = (accelerations[moved] / np.abs(self.way[moved])).min()
        self._top = min(rate, np.sqrt(self._bang))
        self._ramp = self._top / self._bang
        self.duration = 1.0 / self._top + self._ramp

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return position, velocity and acceleration at a time."""
        left = self.duration - time
        if time < self._ramp:
            path = 0.5 * self._bang * time**2, self._bang * time, self._bang
        elif left <= self._ramp:
            path = 1.0 - 0.5 * self._bang * left**2, self._bang * left, -self._bang
        else:
            path = self._top * (time - 0.5 * self._ramp), self._top, 0.0
        position, velocity, acceleration = (value * self.way for value in path)
        return self.start + position, velocity, acceleration

    def message(self, names: Sequence[str]) -> JointTrajectory:
        """Return what MoveIt sends: no stamp, the planning frame, every field but efforts."""
        message = JointTrajectory(joint_names=list(names))
        message.header.frame_id = 'base_link'
        count = int(np.ceil(self.duration / RESAMPLE_PERIOD))
        for sample in range(count + 1):
            time = min(self.duration, sample * RESAMPLE_PERIOD)
            position, velocity, acceleration = (value.tolist() for value in self.at(time))
            point = JointTrajectoryPoint(
                positions=position, velocities=velocity, accelerations=acceleration
            )
            set_stamp(point.time_from_start, time)
            message.points.append(point)
        return message
