"""Time as it passes for an arm: by itself, or as far as a simulated one is granted it.

A simulated arm that waits for its controller alone goes on while this process reads, and on a
busy machine that lags by any time: what is sent then meets another state in every run. So it is
granted a little more time than was read, and stands where a wait ends: the same commands meet the
same states.
"""

from __future__ import annotations

from typing import Any, Protocol

from ne_dynamics.commission.thresholds import ARM
from ne_dynamics.errors import optional_dependency
from ne_dynamics.motion import NANO
from ne_dynamics.simulation.demo.ros_process import ROBOT_NAME

with optional_dependency('a commissioning run needs ROS 2 for Python', 'ros'):
    from builtin_interfaces.msg import Time

    from ne_dynamics.ros import LATCHED


class MotionPace(Protocol):
    """Whether, and how far, an arm goes on."""

    is_granted: bool
    """Whether the arm waits for time; that of an arm that is there passes by itself."""

    granted: int
    """Stamp up to which it may go on [ns]."""

    def go_on(self, seen: int, until: int) -> None:
        """Let time pass up to a stamp [ns], with everything before another one read."""


class OwnPace:
    """The time of an arm that is there."""

    is_granted = False
    granted = 0

    def go_on(self, seen: int, until: int) -> None:
        """Do nothing: it passes."""


class GrantedPace:
    """The time of a simulated arm in lockstep, with its parameter `paced`.

    Parameters
    ----------
    node : rclpy.node.Node
        In the namespace of the arm.
    rate : float
        Of its states [Hz].
    """

    is_granted = True

    def __init__(self, node: Any, rate: float) -> None:
        self._publisher = node.create_publisher(Time, f'{ROBOT_NAME}/run_until', LATCHED)
        self._ahead = round(ARM.states_ahead * NANO / rate)
        self.granted = 0

    def go_on(self, seen: int, until: int) -> None:
        """Grant more, when half of what was granted has been read.

        Parameters
        ----------
        seen : int
            Stamp up to which everything was read [ns].
        until : int
            Beyond which nothing is granted [ns].
        """
        stamp = min(until, seen + self._ahead)
        if stamp > self.granted and (stamp == until or self.granted - seen <= self._ahead // 2):
            self.granted = stamp
            self._publisher.publish(Time(sec=stamp // NANO, nanosec=stamp % NANO))
