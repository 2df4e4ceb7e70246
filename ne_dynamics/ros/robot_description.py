"""The topic ``robot_description``: the model, where no parameter names one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from std_msgs.msg import String

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.ros.latched import LATCHED
from ne_dynamics.ros.settings.parameters import NodeSettings
from ne_dynamics.ros.settings.robot_source import (
    check_description,
    has_model_parameter,
    require_short,
)
from ne_dynamics.ros.watching.reporter import Reporter


class RobotDescriptionTopic:
    """Keeps the last description that can be read.

    Parameters
    ----------
    node : ComputedTorqueNode
    reporter : Reporter
    settings : callable
        Returns the settings.
    on_robot : callable
        Called when there is a robot for an unconfigured node.

    Attributes
    ----------
    text : str
        URDF; empty when there is none.
    """

    def __init__(
        self,
        node: Any,
        reporter: Reporter,
        settings: Callable[[], NodeSettings],
        on_robot: Callable[[], None],
    ) -> None:
        self._node = node
        self._reporter = reporter
        self._read_settings = settings
        self._on_robot = on_robot
        self.text = ''
        # Came while the arm was commanded.
        self._unread = ''
        node.create_subscription(String, 'robot_description', self._on_message, LATCHED)

    @property
    def _is_needed(self) -> bool:
        """Whether no parameter names the robot."""
        return not has_model_parameter(self._read_settings())

    def _on_message(self, message: String) -> None:
        text = message.data
        if text == (self._unread or self.text):
            return
        configured = self._node.configured
        # Reading takes longer than a state may wait.
        is_for_later = configured is not None and configured.is_commanding
        if not self._is_accepted(text, is_read=not is_for_later):
            return
        self._reporter.statistics.hear('robot_description', time.perf_counter())
        if is_for_later:
            self._unread = text
            self._say_when_it_counts(
                'it is read when the node is deactivated, and used when the node is cleaned up '
                'and configured again'
            )
        else:
            self._adopt(text)

    def read_kept(self) -> None:
        """Read what came while the arm was commanded; it is counted already."""
        text, self._unread = self._unread, ''
        if text and self._is_accepted(text, is_read=True):
            self._adopt(text)

    def _is_accepted(self, text: str, *, is_read: bool) -> bool:
        """Return whether a text is short and, when it is read, a robot; say what is wrong."""
        try:
            require_short(text)
            if is_read and self._is_needed:
                check_description(self._read_settings(), text)
        except NeDynamicsError as error:
            self._reporter.drop('robot_description', 'data', str(error))
            return False
        return True

    def _adopt(self, text: str) -> None:
        self.text = text
        if self._node.configured is not None:
            self._say_when_it_counts('it is used when the node is cleaned up and configured again')
        elif self._is_needed:
            self._on_robot()

    def _say_when_it_counts(self, when: str) -> None:
        if self._is_needed:
            self._reporter.say('robot_description', f'another robot_description came; {when}')
