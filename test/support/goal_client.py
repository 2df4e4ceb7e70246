"""A client of the action FollowJointTrajectory, on the probe of a bench."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

EXECUTING, SUCCEEDED, CANCELED, ABORTED = 2, 4, 5, 6
"""States of a goal, as action_msgs/GoalStatus has them."""


class GoalClient:
    """Sends goals, and hears what becomes of them.

    Parameters
    ----------
    bench : NodeProbe
    action : str
        Name of the action.
    """

    def __init__(self, bench: Any, action: str) -> None:
        # What a fixture has made importable for a test is not kept for the next one.
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient

        self.bench, self.type = bench, FollowJointTrajectory
        self.client = ActionClient(bench.probe, FollowJointTrajectory, action)
        self.feedback: list[Any] = []

    def send(self, *points: Any, names: Any = None, stamp: float = 0.0, **fields: Any) -> Any:
        """Send a goal; return its handle, with the answer of the server."""
        goal = self.type.Goal(trajectory=self.bench.trajectory(*points, names=names, stamp=stamp))
        for key, value in fields.items():
            setattr(goal, key, value)
        return self.send_goal(goal)

    def send_goal(self, goal: Any) -> Any:
        """Send a goal as it is; return its handle."""
        self.bench.until(self.client.server_is_ready, 'the action server')
        future = self.bench.in_turn(
            self.client.send_goal_async,
            goal,
            feedback_callback=lambda message: self.feedback.append(message.feedback),
        )
        self.bench.until(future.done, 'the answer to the goal')
        handle = future.result()
        handle.end = self.bench.in_turn(handle.get_result_async) if handle.accepted else None
        return handle

    def cancel(self, handle: Any) -> int:
        """Cancel a goal; return how many are being canceled."""
        future = self.bench.in_turn(handle.cancel_goal_async)
        self.bench.until(future.done, 'the answer to the cancel')
        return len(future.result().goals_canceling)

    def result(self, handle: Any) -> SimpleNamespace:
        """Wait for the end of a goal; return its status, code and text."""
        self.bench.until(handle.end.done, 'the result')
        end = handle.end.result()
        return SimpleNamespace(
            status=end.status, code=end.result.error_code, text=end.result.error_string
        )
