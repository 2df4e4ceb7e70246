"""A ROS 2 package that brings up one arm: parameters, controllers, launch files, layouts."""

from ne_dynamics.bring_up.arm import BroughtUpArm
from ne_dynamics.bring_up.package import render_package

__all__ = ['BroughtUpArm', 'render_package']
