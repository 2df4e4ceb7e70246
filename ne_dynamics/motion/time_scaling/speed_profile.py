"""The former place of :mod:`ne_dynamics.motion.time_scaling.time_optimal`."""

from typing import Any

from ne_dynamics.motion.time_scaling.time_optimal import SLOWEST as SLOWEST
from ne_dynamics.motion.time_scaling.time_optimal import (
    TimeOptimalProfile,
    find_time_optimal,
)
from ne_dynamics.motion.time_scaling.time_optimal import is_corner as is_corner

SpeedProfile = TimeOptimalProfile


class PathPlan:  # noqa: D101
    def __init__(self, *args: Any, **options: Any) -> None:
        self._given = args, options

    def find(self, begin: float = 1.0, end: float = float('inf')) -> Any:  # noqa: D102
        args, options = self._given
        self._found = find_time_optimal(*args, begin=begin, end=end, **options)
        self.corners = self._found.corners
        return self._found.profile, self._found.squares

    def when(self, taken: Any) -> Any:  # noqa: D102
        return self._found.passed
