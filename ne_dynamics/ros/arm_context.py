"""What all parts of a configured arm share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ne_dynamics.control.controller import Controller
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.settings.controlled_arm import ControlledArm
from ne_dynamics.ros.settings.parameters import NodeSettings
from ne_dynamics.ros.watching.reporter import Reporter


@dataclass(frozen=True, eq=False)
class ArmContext:
    """An arm, its controller, and the node that they are of.

    Attributes
    ----------
    node : rclpy.node.Node
    arm : ControlledArm
    controller : Controller
    read_settings : callable
        Returns the settings of the node as they are now.
    clock : ControlClock
    reporter : Reporter
    """

    node: Any
    arm: ControlledArm
    controller: Controller
    read_settings: Callable[[], NodeSettings]
    clock: ControlClock
    reporter: Reporter

    @property
    def settings(self) -> NodeSettings:
        """The settings of the node as they are now."""
        return self.read_settings()
