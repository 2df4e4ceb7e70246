"""Your own launch file: the node with a few parameters, beside whatever drives the arm.

ros2 launch examples/own_arm.launch.py    # here a simulated arm, which needs MuJoCo
"""

from launch import LaunchDescription
from launch_ros.actions import LifecycleNode, Node

from ne_dynamics.shipped import shipped_file

MODEL = str(shipped_file('six_axis_arm.urdf'))


def generate_launch_description() -> LaunchDescription:
    """Return the arm and the node, in a namespace of their own."""
    arm = Node(
        package='ne_dynamics',
        executable='simulated_robot',
        namespace='left',
        parameters=[{'model_file': MODEL, 'tip_link': 'tcp'}],
    )
    node = LifecycleNode(
        package='ne_dynamics',
        executable='computed_torque',
        name='computed_torque',
        namespace='left',
        parameters=[
            {
                'model_file': MODEL,
                'tip_link': 'tcp',
                'mode': 'computed_torque',
                'computed_torque.kp': [100.0],  # 1/s^2
                'computed_torque.kv': [20.0],  # 1/s
                'state_timeout': 0.5,  # s
            }
        ],
    )
    return LaunchDescription([arm, node])
