"""Time as it passes for an arm: by itself, or as far as a simulated one is granted it.

A simulated arm that waits for its controller alone goes on while this process reads, and on a
busy machine that lags by any time: what is sent then meets another state in every run. So it is
granted a little more time than was read, and stands where a wait ends: the same commands meet the
same states.
"""

from __future__ import annotations

from typing import Any

from ne_dynamics.errors import optional_dependency
from ne_dynamics.motion import NANO
from ne_dynamics.simulation.demo.ros_process import ROBOT_NAME

with optional_dependency('a commissioning run needs ROS 2 for Python', 'ros'):
    from builtin_interfaces.msg import Time

    from ne_dynamics.ros import LATCHED


class MotionPace:
    """Whether an arm waits for time, and the stamp up to which it may go on [ns].

    The node is in the namespace of the arm. The rate is that of the states of a simulated arm in
    lockstep, with its parameter `paced` [Hz]; None: time passes by itself.
    """

    def __init__(self, node: Any, rate: float | None) -> None:
        self.is_granted = rate is not None
        self.granted = 0
        if rate is not None:
            self._publisher = node.create_publisher(Time, f'{ROBOT_NAME}/run_until', LATCHED)
            # As many states: late readers stop nothing, and nothing is lost.
            self._ahead = round(24 * NANO / rate)

    def go_on(self, seen: int, until: int) -> None:
        """Grant time up to a stamp [ns], when half of what was granted has been read.

        Everything before another stamp, `seen`, has been read [ns].
        """
        if not self.is_granted:
            return
        stamp = min(until, seen + self._ahead)
        if stamp > self.granted and (stamp == until or self.granted - seen <= self._ahead // 2):
            self.granted = stamp
            self._publisher.publish(Time(sec=stamp // NANO, nanosec=stamp % NANO))
