"""What is expected of a motion: how closely it is followed, and of which velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.sensors.velocity_source import VelocitySettings
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.joint_limits import usual_velocities

UNCHECKED = VelocitySettings(check=False)
"""Velocities that are believed."""


@dataclass(frozen=True, eq=False)
class FollowingLimits:
    """How far the measured motion may be from the desired one; nothing is limited by default.

    Attributes
    ----------
    position, velocity : array, shape (n,), or None
        Largest errors [rad or m, rad/s or m/s]; infinite where there is none.
    frozen : array, shape (n,), or None
        How far the desired position may go on while the measured one stays the same, where the
        joint stood before, and ten times the way by which one that moved must have gone on
        [rad or m].
    saturation_timeout : float
        [s]; infinite for any time.
    counts_without_feedback : bool
        Whether the position error counts in `feedforward`, where nothing makes it small.
    """

    position: FloatArray | None = None
    velocity: FloatArray | None = None
    frozen: FloatArray | None = None
    saturation_timeout: float = inf
    counts_without_feedback: bool = False

    @classmethod
    def derived(cls, joints: Sequence[Joint], saturation_timeout: float = inf) -> FollowingLimits:
        """Return the limits that come of the velocity limits of an arm."""
        bounds, speeds = GUARD_LIMITS, usual_velocities(joints)
        return cls(
            bounds.derived_position_time * speeds,
            bounds.derived_velocity_share * speeds,
            bounds.derived_frozen_time * speeds,
            saturation_timeout,
        )
