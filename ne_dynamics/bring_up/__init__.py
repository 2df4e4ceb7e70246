"""ROS 2 packages for one arm: one that brings it up, and a controller for ros2_control."""

from ne_dynamics.bring_up.arm import BroughtUpArm
from ne_dynamics.bring_up.controller import ArmController, render_controller
from ne_dynamics.bring_up.package import render_package, write_package

__all__ = [
    'ArmController',
    'BroughtUpArm',
    'render_controller',
    'render_package',
    'write_package',
]
