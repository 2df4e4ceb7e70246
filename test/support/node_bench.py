"""A bench for the node: real rclpy, real DDS, a context and a domain of the test's own."""

from __future__ import annotations

import gc
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import GetState
from node_probe import LATCHED, ServedProbe
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics import Dynamics, Robot, load_model
from ne_dynamics.ros.node import ComputedTorqueNode
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import parameter_of, set_stamp

NO_BACKEND_CHOICE = {'backend': 'python'}
ANY_PACE = {
    'state_timeout': float('inf'),
    'jump_velocity': [0.0],
    'following_error.position': [0.0],
    'following_error.velocity': [0.0],
    'following_error.frozen': [0.0],
    'saturation.timeout': 0.0,
    'velocity_check': False,
}
"""Stamps and positions of a test may leap, and its robot stand still, unless it is about that."""

SLOW_STATES = {'computed_torque.kp': [1.0], 'computed_torque.kv': [2.0]}
"""Gains of an arm whose states come every 0.1 s: with stiffer ones the node gives it up."""

AT_ONCE = {'transition_time': 0.0}
"""What is set counts in full for the next state, unless the test is about how it gets there."""

STRAIGHT = {'interpolation_method': 'linear'}
"""Between positions alone a test can say where the motion is, unless it is about that."""


@cache
def _robot(model_file: Any) -> Robot:
    return load_model(model_file)


@cache
def _dynamics(model_file: Any) -> Dynamics:
    return Dynamics(_robot(model_file), backend='python')


class Bench(ServedProbe):
    """The node under test and a node that is everything around it."""

    def __init__(self) -> None:
        super().__init__()
        self.node: ComputedTorqueNode | None = None
        self.model_file = str(shipped_file('six_axis_arm.urdf'))
        self.commands: list[np.ndarray] = []
        self.efforts: list[JointState] = []
        self.log: list[Log] = []
        self.diagnostics: list[Any] = []
        self.time = 100.0
        publish = self.probe.create_publisher
        self.joint_states = publish(JointState, 'joint_states', 10)
        self.trajectories = publish(JointTrajectory, 'joint_trajectory', 10)
        self.wrenches = publish(WrenchStamped, 'wrench', 10)
        self._descriptions = publish(String, 'robot_description', LATCHED)
        listen = self.probe.create_subscription
        listen(
            Float64MultiArray,
            'effort_controller/commands',
            lambda message: self.commands.append(np.array(message.data)),
            1000,
        )
        listen(JointState, 'computed_torque/effort', self.efforts.append, 10)
        listen(
            Log,
            '/rosout',
            self.log.append,
            QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )
        listen(
            DiagnosticArray,
            '/diagnostics',
            lambda array: self.diagnostics.extend(array.status),
            10,
        )

    # ---- the node

    def start(self, wait: str | None = 'active', **parameters: Any) -> ComputedTorqueNode:
        """Start the node; wait until it is in a state. Names may use '__' for '.'."""
        values = {'model_file': self.model_file, **NO_BACKEND_CHOICE, **ANY_PACE, **AT_ONCE}
        values |= STRAIGHT
        values |= {name.replace('__', '.'): value for name, value in parameters.items()}
        self.node = ComputedTorqueNode(
            context=self.context,
            parameter_overrides=[
                parameter_of(name, value) for name, value in values.items() if value is not None
            ],
        )
        self.executor.add_node(self.node)
        self.spin(lambda: self.probe.count_subscribers('robot_description') > 0)
        assert self.state
        if wait is not None:
            self.spin(lambda: self.state == wait, f'state {wait}')
        if wait in ('active', 'inactive'):
            self.connect()
        return self.node

    def connect(self) -> None:
        """Wait until all topics of the configured node are connected."""
        self.spin(lambda: self.joint_states.get_subscription_count() > 0)
        self.spin(lambda: self.trajectories.get_subscription_count() > 0)
        self.spin(lambda: self.probe.count_publishers('effort_controller/commands') > 0)
        publisher = self.node.configured.connections.command_publisher
        self.spin(lambda: publisher.get_subscription_count() > 0)
        self.spin(
            lambda: self.node.configured.connections.effort_publisher.get_subscription_count() > 0
        )
        if self.node.configured.controller.sense.wrist is not None:
            self.spin(lambda: self.wrenches.get_subscription_count() > 0)

    def hear_commands(self, kind: type) -> list[Any]:
        """Return a list of the commands as messages of a type, before the node is started."""
        heard: list[Any] = []
        for known in list(self.probe.subscriptions):
            # One participant cannot have two types of one topic.
            if known.topic_name.endswith('effort_controller/commands'):
                self.probe.destroy_subscription(known)
        self.probe.create_subscription(kind, 'effort_controller/commands', heard.append, 100)
        return heard

    @property
    def received(self) -> Any:
        """Messages that the node has heard, by topic."""
        return self.node.reporter.statistics.received

    # ---- time

    @cached_property
    def _clock(self) -> Any:
        return self.probe.create_publisher(Clock, '/clock', 10)

    def tick(self, seconds: float) -> None:
        """Let this be the simulated time [s], and all that is due happen."""
        nanoseconds = round(seconds * 1e9)
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, 10**9)
        self.spin(self._clock.get_subscription_count)
        self._clock.publish(message)
        self.spin(lambda: self.node.get_clock().now().nanoseconds == nanoseconds, 'the time')
        self.settle()

    # ---- messages

    @property
    def robot(self) -> Robot:
        """The robot of the shipped model."""
        return _robot(self.model_file)

    @property
    def dynamics(self) -> Dynamics:
        """Its dynamics."""
        return _dynamics(self.model_file)

    def joint_state(self, q: Any, qd: Any = None, dt: float = 0.002, **fields: Any) -> JointState:
        """Return a joint state, `dt` after the last; fields override."""
        self.time += dt
        message = JointState()
        set_stamp(message.header.stamp, self.time)
        message.name = list(self.robot.joint_names)
        message.position = [float(value) for value in q]
        message.velocity = [0.0] * len(message.position) if qd is None else list(map(float, qd))
        for key, value in fields.items():
            setattr(message, key, value)
        return message

    def answer(self, message: JointState) -> np.ndarray:
        """Send a joint state and return the command that answers it, the only one that comes."""
        before = len(self.commands)
        self.joint_states.publish(message)
        self.spin(lambda: len(self.commands) > before, 'a command')
        self.settle()
        assert len(self.commands) == before + 1
        return self.commands[-1]

    def desired(self, q: Any, qd: Any = None, dt: float = 0.002) -> np.ndarray:
        """Send a joint state; return the desired position that ~/effort tells with the answer."""
        before = len(self.efforts)
        self.answer(self.joint_state(q, qd, dt))
        self.spin(lambda: len(self.efforts) > before, 'the desired state')
        return np.array(self.efforts[-1].position)

    def settle(self) -> None:
        """Let everything arrive that was sent before, both ways: it is in this process."""
        self.call(GetState, 'get_state', GetState.Request())

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of the shipped model."""
        return self.robot.joint_names

    @property
    def urdf(self) -> str:
        """Text of the shipped model."""
        return Path(self.model_file).read_text()

    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory and let it arrive."""
        before = self.received['joint_trajectory']
        self.trajectories.publish(message)
        self.spin(
            lambda: self.received['joint_trajectory'] > before,
            'the trajectory',
        )

    def send_wrench(self, frame: str, reading: Any, stamp: float | None = None) -> None:
        """Send a wrench of the present control time and let it arrive."""
        message = WrenchStamped()
        message.header.frame_id = frame
        set_stamp(message.header.stamp, self.time if stamp is None else stamp)
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = map(float, reading)
        before = self.received['wrench']
        self.wrenches.publish(message)
        self.spin(lambda: self.received['wrench'] > before, 'the wrench')

    # ---- the log

    def said(self) -> list[str]:
        """Return what the node has logged."""
        return [entry.msg for entry in self.log if entry.name.endswith('computed_torque')]

    def forget_what_was_said(self) -> None:
        """Let all of it arrive, and forget it: what is heard from now on is new."""
        self.settle()
        self.log.clear()

    def hear(self, *fragments: str) -> str:
        """Wait until the node has logged a line with all of these in it; return it."""

        def found() -> list[str]:
            return [line for line in self.said() if all(part in line for part in fragments)]

        self.spin(lambda: bool(found()), f'a line with {fragments}')
        return found()[-1]

    def diagnose(self) -> Any:
        """Return what the diagnostics say of the node now."""
        self.settle()
        self.diagnostics.clear()
        self.node._on_diagnostics_timer()

        def found() -> list[Any]:
            return [one for one in self.diagnostics if one.name == '/computed_torque']

        self.spin(found, 'diagnostics')
        return found()[-1]

    def close(self) -> None:
        """Destroy everything."""
        super().close(*([] if self.node is None else [self.node]))
        # The log's publisher goes by the node's name: when a node of an earlier test is
        # collected late, it takes away the one of the node under test.
        self.node = self.probe = None
        gc.collect()
