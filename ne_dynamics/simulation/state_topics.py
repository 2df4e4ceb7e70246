"""What the simulated robot publishes."""

from __future__ import annotations

import array

from ne_dynamics.control import Measures
from ne_dynamics.errors import optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.simulation.mujoco_model import ImuReading
from ne_dynamics.simulation.robot_parameters import SimulatedRobotSettings
from ne_dynamics.simulation.simulated_arm import SimulatedArm

with optional_dependency('the simulated robot needs ROS 2 for Python', 'ros'):
    from builtin_interfaces.msg import Time
    from geometry_msgs.msg import WrenchStamped
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import Imu, JointState
    from std_msgs.msg import String

    from ne_dynamics.ros import LATCHED

RELIABLE = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)

RECORDED = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.RELIABLE)
"""Whoever records the motion is to have all of it, however busy the machine is."""


class StateTopics:
    """The topics of an arm: clock, unit, wrench, true and measured joint states, description.

    Parameters
    ----------
    node : Node
    robot : Robot
        As its model says.
    urdf : str
        What is published as its description; empty: nothing.
    settings : SimulatedRobotSettings
    """

    def __init__(
        self, node: Node, robot: Robot, urdf: str, settings: SimulatedRobotSettings
    ) -> None:
        self._state = JointState()
        self._state.name = list(robot.joint_names)
        self._states = node.create_publisher(JointState, 'joint_states', RELIABLE)
        self._true_states = node.create_publisher(JointState, '~/true_joint_states', RECORDED)
        self._clock = None
        if settings.publish_clock:
            self._clock = node.create_publisher(Clock, '/clock', RELIABLE)
        self._wrenches = None
        if settings.wrench.sensor_link:
            self._wrench = WrenchStamped()
            self._wrench.header.frame_id = settings.wrench.sensor_link
            self._wrench_sign = -1.0 if settings.wrench.measures is Measures.ON_TOOL else 1.0
            self._wrenches = node.create_publisher(WrenchStamped, 'wrench', RELIABLE)
        self._imus = None
        if settings.imu.link:
            self._imu = Imu()
            self._imu.header.frame_id = settings.imu.link
            self._knows_orientation = settings.imu.orientation
            if not self._knows_orientation:
                self._imu.orientation_covariance[0] = -1.0
            self._imus = node.create_publisher(Imu, 'imu', RELIABLE)
        if urdf:
            self._description = node.create_publisher(String, 'robot_description', LATCHED)
            self._description.publish(String(data=urdf))

    def publish(self, stamp: Time, arm: SimulatedArm, silent: tuple[str, ...]) -> None:
        """Publish what the arm is and measures, but on topics that are silent."""
        if self._clock is not None:
            self._clock.publish(Clock(clock=stamp))
        mujoco = arm.mujoco
        if self._imus is not None and 'imu' not in silent:
            self._fill_imu(stamp, mujoco.imu)
            self._imus.publish(self._imu)
        if self._wrenches is not None and 'wrench' not in silent:
            # Before the joint state: a controller that answers the state has its wrench then.
            self._fill_wrench(stamp, mujoco.wrench)
            self._wrenches.publish(self._wrench)
        state = self._state
        state.header.stamp = stamp
        state.position = _doubles(mujoco.position)
        state.velocity = _doubles(mujoco.velocity)
        state.effort = _doubles(mujoco.effort)
        if self._true_states.get_subscription_count():
            self._true_states.publish(state)
        if 'joint_states' not in silent:
            self._misreport(arm)
            self._states.publish(state)

    def _misreport(self, arm: SimulatedArm) -> None:
        """Put in place of what is true what the sensors measure and the driver reports."""
        measured = arm.measured_motion()
        if measured is not None:
            self._state.position, self._state.velocity = map(_doubles, measured)
        if arm.hidden is None:
            return
        mujoco = arm.mujoco
        effort = arm.hidden.reported_effort(
            arm.robot.joint_names, mujoco.effort, mujoco.gravity_effort()
        )
        self._state.effort = _doubles(effort)
        if not arm.hidden.reports_velocity:
            self._state.velocity = array.array('d')

    def _fill_wrench(self, stamp: Time, wrench: FloatArray) -> None:
        self._wrench.header.stamp = stamp
        force, torque = self._wrench.wrench.force, self._wrench.wrench.torque
        reading = (self._wrench_sign * wrench).tolist()
        force.x, force.y, force.z, torque.x, torque.y, torque.z = reading

    def _fill_imu(self, stamp: Time, reading: ImuReading) -> None:
        message = self._imu
        message.header.stamp = stamp
        if self._knows_orientation:
            quaternion = message.orientation
            quaternion.x, quaternion.y, quaternion.z, quaternion.w = reading.orientation.tolist()
        rate, force = message.angular_velocity, message.linear_acceleration
        rate.x, rate.y, rate.z = reading.angular_velocity.tolist()
        force.x, force.y, force.z = reading.specific_force.tolist()


def _doubles(values: FloatArray) -> array.array[float]:
    return array.array('d', values.tobytes())
