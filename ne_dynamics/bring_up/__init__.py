"""A ROS 2 package that brings up one arm: parameters, controllers, launch files, layouts."""

from ne_dynamics.bring_up.arm import BroughtUpArm, list_ends
from ne_dynamics.bring_up.package import render_package

__all__ = ['BroughtUpArm', 'list_ends', 'render_package']
