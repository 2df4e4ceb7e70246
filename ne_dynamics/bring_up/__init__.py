"""ROS 2 packages for one arm: one that brings it up, and a controller for ros2_control."""

from ne_dynamics.bring_up.arm import BroughtUpArm, find_joints_without_effort
from ne_dynamics.bring_up.controller import ArmController, find_others, render_controller
from ne_dynamics.bring_up.package import render_package, write_package

__all__ = [
    'ArmController',
    'BroughtUpArm',
    'find_joints_without_effort',
    'find_others',
    'render_controller',
    'render_package',
    'write_package',
]
