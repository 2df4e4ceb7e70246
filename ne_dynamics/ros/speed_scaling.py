"""At what speed motions are followed, as joint_trajectory_controller is told: by a topic.

The type is `control_msgs/SpeedScalingFactor`, of a package that is optional, and of its releases
from Jazzy on: without it there is no such topic.
"""

from __future__ import annotations

from typing import Any

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.ros.configured_arm import ConfiguredArm
from ne_dynamics.ros.latched import LATCHED
from ne_dynamics.ros.watching.reporter import Reporter

TOPIC = '~/speed_scaling_input'


class SpeedScaling:
    """Lets a node's motions go at the speed that the last factor says.

    Parameters
    ----------
    node : ComputedTorqueNode
    factor_type : type
        control_msgs.msg.SpeedScalingFactor
    reporter : Reporter
    """

    OFFER, TYPES = TOPIC, ('msg.SpeedScalingFactor',)

    def __init__(self, node: Any, factor_type: Any, reporter: Reporter) -> None:
        self._node, self._reporter = node, reporter
        self._factor: float | None = None
        # As in joint_trajectory_controller: who comes later still gets the last factor.
        node.create_subscription(factor_type, TOPIC, self._on_factor, LATCHED)

    def attach(self, configured: ConfiguredArm) -> None:
        """Let what was said before count for this arm, or what it is set up with."""
        initial = configured.settings.initial_scaling_factor
        configured.controller.motion.scale_speed(initial)
        if self._factor is not None:
            self._scale(configured, self._factor)

    def _on_factor(self, message: Any) -> None:
        configured, factor = self._node.configured, float(message.factor)
        if configured is None or self._scale(configured, factor):
            self._factor = factor

    def _scale(self, configured: ConfiguredArm, factor: float) -> bool:
        """Let a factor count for an arm; return whether it does."""
        controller = configured.controller
        before = controller.motion.time_scaling.target
        try:
            controller.motion.scale_speed(factor)
        except NeDynamicsError as error:
            self._reporter.drop('speed_scaling_input', 'factor', str(error))
            return False
        if factor != before:
            self._reporter.tell(f'motions run at {factor:g} times the speed of their trajectory')
        return True
