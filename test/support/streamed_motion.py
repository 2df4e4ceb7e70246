"""A motion of the shipped arm that is known everywhere, and of which a sender tells positions."""

from __future__ import annotations

import numpy as np

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.motion.waypoints import DesiredState, TrajectoryPoint, Waypoints
from ne_dynamics.shipped import shipped_file

RATE = 30.0
"""Positions a second."""


class TrueMotion:
    """Six sines, the fastest of 0.7 Hz, and the efforts that the shipped arm needs for them."""

    def __init__(self) -> None:
        self.dynamics = Dynamics(load_urdf(shipped_file('six_axis_arm.urdf')))
        rng = np.random.default_rng(5)
        self._rates = 2.0 * np.pi * rng.uniform(0.2, 0.7, 6)
        self._phases = rng.uniform(0.0, 2.0 * np.pi, 6)
        self._size = np.array([0.6, 0.4, 0.5, 0.7, 0.7, 0.8])
        self._middle = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])

    def __call__(self, time: float) -> DesiredState:
        """Return the state at a time."""
        angle = self._rates * time + self._phases
        swing = self._size * np.sin(angle)
        return DesiredState(
            self._middle + swing,
            self._size * self._rates * np.cos(angle),
            -(self._rates**2) * swing,
        )

    def chunk(self, begin: float, count: int, noise=0.0) -> list[TrajectoryPoint]:
        """Return so many positions at 30 Hz, the first one interval after the begin."""
        times = np.arange(1, count + 1) / RATE
        return [TrajectoryPoint(t, self(begin + t).position + noise) for t in times]

    def waypoints(self, points) -> Waypoints:
        """Return checked waypoints."""
        return Waypoints.from_points(self.dynamics.robot.joints, self.dynamics.joint_names, points)
