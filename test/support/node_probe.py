"""What benches of the node ask it by its services, and what they send it."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Sequence
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.simulation.demo.node_messages import (
    parameters_request,
    set_stamp,
    trajectory_message,
)

LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

DOMAIN = private_domain()
PATIENCE = 120.0
"""Seconds that something may take on a busy machine before the test gives up."""


class NodeProbe(abc.ABC):
    """A node beside the one under test, which is served by whoever derives from this.

    Attributes
    ----------
    probe : rclpy.node.Node
    joint_names : sequence of str
        Of the robot.
    """

    probe: Any
    joint_names: Sequence[str]
    _descriptions: Any = None

    @abc.abstractmethod
    def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait until something is so; return it."""

    # ---- services; names of parameters may use '__' for '.'

    def call(self, kind: Any, service: str, request: Any, of: str = 'computed_torque') -> Any:
        """Call a service of a node."""
        name = self.probe.resolve_service_name(f'{of}/{service}')
        known = (client for client in self.probe.clients if client.srv_name == name)
        client = next(known, None) or self.probe.create_client(kind, name)
        self.until(client.service_is_ready, f'service {name}')
        future = client.call_async(request)
        self.until(future.done, f'answer of {name}')
        return future.result()

    def trigger(self, service: str, of: str = 'computed_torque') -> Trigger.Response:
        """Call a Trigger service."""
        return self.call(Trigger, service, Trigger.Request(), of)

    @property
    def state(self) -> str:
        """Lifecycle state of the node."""
        return self.call(GetState, 'get_state', GetState.Request()).current_state.label

    def in_turn(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Return what a function returns, called where no answer can come before it has ended."""
        return function(*given, **named)

    def settle(self) -> None:
        """Let everything arrive that was sent before, both ways."""
        for _ in range(3):
            self.call(GetState, 'get_state', GetState.Request())

    def change_state(self, label: str) -> bool:
        """Ask for a transition; return whether it succeeded."""
        request = ChangeState.Request()
        request.transition.label = label
        return self.call(ChangeState, 'change_state', request).success

    def set_atomically(self, **values: Any) -> Any:
        """Set parameters all at once; return the result."""
        request = parameters_request(_dotted(values))
        return self.call(SetParametersAtomically, 'set_parameters_atomically', request).result

    def set_each(self, **values: Any) -> list[Any]:
        """Set parameters one by one; return the results."""
        request = SetParameters.Request(parameters=parameters_request(_dotted(values)).parameters)
        return self.call(SetParameters, 'set_parameters', request).results

    def set(self, **values: Any) -> None:
        """Set parameters that are to be accepted."""
        result = self.set_atomically(**values)
        assert result.successful, result.reason

    def get(self, *names: str) -> list[Any]:
        """Return the values of parameters."""
        request = GetParameters.Request(names=list(names))
        answer = self.call(GetParameters, 'get_parameters', request)
        return [parameter_value_to_python(value) for value in answer.values]

    # ---- messages

    def trajectory(
        self, *points: Any, names: Sequence[str] | None = None, stamp: float = 0.0
    ) -> JointTrajectory:
        """Return a trajectory of (time, positions, velocities, accelerations, effort)."""
        message = trajectory_message(self.joint_names if names is None else names, points)
        set_stamp(message.header.stamp, stamp)
        return message

    def describe(self, text: str) -> None:
        """Publish a robot description."""
        if self._descriptions is None:
            self._descriptions = self.probe.create_publisher(String, 'robot_description', LATCHED)
            self.until(self._descriptions.get_subscription_count, 'robot_description')
        self._descriptions.publish(String(data=text))


class ServedProbe(NodeProbe):
    """A probe in a context of its own; the test serves it, and all nodes of its executor."""

    def __init__(self, namespace: str = '') -> None:
        self.context = Context()
        self.context.init(domain_id=DOMAIN)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.probe = Node('probe', context=self.context, namespace=namespace)
        self.executor.add_node(self.probe)

    def until(self, condition: Callable[[], Any], what: str = 'condition') -> Any:
        """Serve all nodes until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not (result := condition()):
            assert time.monotonic() < deadline, f'{what} did not come about: {self.said()}'
            self.executor.spin_once(timeout_sec=0.02)
        return result

    spin = until

    def serve_for(self, seconds: float) -> None:
        """Serve all nodes for a while."""
        deadline = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > deadline, 'time')

    def said(self) -> list[str]:
        """Return what the node under test has said, for who waits in vain."""
        return []

    def close(self, *nodes: Any) -> None:
        """Destroy nodes, and the probe."""
        for node in (*nodes, self.probe):
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


def _dotted(values: dict[str, Any]) -> dict[str, Any]:
    return {name.replace('__', '.'): value for name, value in values.items()}
