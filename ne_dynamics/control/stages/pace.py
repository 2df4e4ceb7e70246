"""Sixth stage: how fast the motion goes on along its path."""

from __future__ import annotations

from ne_dynamics.control.desired.time_scaling import TimeScaling
from ne_dynamics.control.tick import Tick


class Pace:
    """Chooses the acceleration of the path, so that the effort keeps its limits.

    Parameters
    ----------
    scaling : TimeScaling
        Of the motion that is followed.
    """

    def __init__(self, scaling: TimeScaling) -> None:
        self._scaling = scaling

    def step(self, tick: Tick) -> None:
        """Change `desired` and `wanted`, where the pace is to be chosen."""
        path, offset, effort = tick.path, tick.offset, tick.wanted
        if path is None:
            return
        tick.desired, pushing = self._scaling.choose(
            tick.law,
            tick.position,
            path,
            tick.desired,
            effort if offset is None else effort + offset,
            tick.wrench,
            tick.elapsed,
        )
        tick.wanted = effort + pushing
