"""The node: parameters, topics, services and actions around :mod:`ne_dynamics.control`.

``node.py`` is its life cycle, ``configured_arm.py`` an arm that is configured: states come in and
commands go out. ``settings`` are parameters and files, ``messages`` the way from and to messages,
``running`` executor and signals, ``watching`` diagnostics, ``launching`` what launch files use.

Begin with ``node.py``. What tools use is exported here, and loaded when it is asked for: most of
it needs no ROS.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.ros.annotator.settings import ANNOTATOR_PARAMETERS
    from ne_dynamics.ros.latched import LATCHED
    from ne_dynamics.ros.messages.conversion import JointStateReader, MessageError
    from ne_dynamics.ros.node import ComputedTorqueNode
    from ne_dynamics.ros.running.command_line import (
        check_arguments,
        readable_parameters,
        start_rclpy,
    )
    from ne_dynamics.ros.running.low_latency_executor import LowLatencyExecutor, make_executor
    from ne_dynamics.ros.running.private_domain import private_domain
    from ne_dynamics.ros.running.signals import stop_on_signals
    from ne_dynamics.ros.settings.configuration import make_controller, make_tuning
    from ne_dynamics.ros.settings.controlled_arm import ControlledArm, controlled_arm
    from ne_dynamics.ros.settings.declared_parameters import DeclaredParameters
    from ne_dynamics.ros.settings.locked_joints import LockedJoints
    from ne_dynamics.ros.settings.parameter_file import read_parameters
    from ne_dynamics.ros.settings.parameters import PARAMETERS, NodeSettings
    from ne_dynamics.ros.settings.robot_source import load_robot
    from ne_dynamics.ros.thresholds import NODE

__all__ = [
    'ANNOTATOR_PARAMETERS',
    'LATCHED',
    'NODE',
    'PARAMETERS',
    'ComputedTorqueNode',
    'ControlledArm',
    'DeclaredParameters',
    'JointStateReader',
    'LockedJoints',
    'LowLatencyExecutor',
    'MessageError',
    'NodeSettings',
    'check_arguments',
    'controlled_arm',
    'load_robot',
    'make_controller',
    'make_executor',
    'make_tuning',
    'private_domain',
    'read_parameters',
    'readable_parameters',
    'start_rclpy',
    'stop_on_signals',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
