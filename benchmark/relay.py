"""A node that answers every JointState with the same Float64MultiArray and computes nothing.

The least that a Python node can do between a joint state and a command: what
``computed_torque`` is compared with. Same quality of service, same executor as rclpy gives it.

python -m benchmark.relay JOINTS [--ros-args ...]
"""

from __future__ import annotations

import sys
from array import array

from ne_dynamics.errors import optional_dependency

with optional_dependency('the relay needs ROS 2 for Python', 'ros'):
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray


def main() -> None:
    """Relay until SIGINT or SIGTERM."""
    command = Float64MultiArray(data=array('d', [0.0] * int(sys.argv[1])))
    try:
        rclpy.init()
        node = Node('relay')
        publisher = node.create_publisher(Float64MultiArray, 'effort_controller/commands', 10)
        node.create_subscription(
            JointState,
            'joint_states',
            lambda message: publisher.publish(command),
            QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
        )
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
