"""An action server whose goals are ended by a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer
from rclpy.action.server import RCLError, ServerGoalHandle

from ne_dynamics.ros.thresholds import NODE

NAME = 'follow_joint_trajectory'
"""The action's name, below that of a node or a controller."""


ACTION_TYPE = 'action.FollowJointTrajectory'
"""Of control_msgs."""


class PatientServer(ActionServer):
    """An action server whose goals end when :meth:`finish` is called.

    rclpy takes the end of a goal for the return of a callback. One that waits for it would be
    polled by the executor all the time. The name is below the node's; callbacks are as
    :class:`rclpy.action.ActionServer` takes them.
    """

    def __init__(self, node: Any, action_type: Any, name: str, **callbacks: Any) -> None:
        self._name = name
        super().__init__(
            node,
            action_type,
            f'~/{name}',
            execute_callback=self._never,
            result_timeout=NODE.result_timeout,
            **callbacks,
        )

    @staticmethod
    def _never(goal_handle: ServerGoalHandle) -> Any:
        raise RuntimeError('goals are ended by finish()')

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Do nothing: whoever has accepted the goal executes it."""

    def finish(self, goal_handle: ServerGoalHandle, end: Callable[[], None], result: Any) -> bool:
        """End a goal by a call such as its `succeed`, and let the result be sent.

        Returns whether it was ended: it is not where its state does not allow it.
        """
        try:
            end()
        except RCLError as error:
            self._node.get_logger().error(f'{self._name}: {error}')
            return False
        if self._node.executor is not None:
            super().notify_execute(goal_handle, lambda _: result)
        return True

    async def execute(self, taken_data: Any) -> None:
        """Serve requests; a client that is gone before its answer is no fault of ours."""
        try:
            await super().execute(taken_data)
        except RCLError as error:
            self._node.get_logger().warning(f'{self._name}: no answer could be sent: {error}')
