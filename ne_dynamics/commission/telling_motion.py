"""The excitation that tells most, kept off the arm itself and the floor, as a planned motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ne_dynamics.commission.motions import PlannedMotion, lengths
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.excitation import (
    FLOOR,
    ExcitationLimits,
    Shares,
    load_solids,
    plan_excitation,
)
from ne_dynamics.model.rigid_body import FloatArray

SHARES = Shares(position=0.95, velocity=0.5, acceleration=0.5, effort=0.6)
"""Of the limits: what is known of the arm is the given model."""


def plan_telling_motion(
    dynamics: Dynamics,
    file: str,
    start: FloatArray,
    duration: float,
    reach: float,
    progress: Callable[[float], None],
) -> PlannedMotion:
    """Return the motion of `ne_dynamics excite` within a reach of a pose, shape (n,) [rad or m].

    The file is a URDF with the shapes that must not touch; duration [s] and reach are as for
    :func:`~ne_dynamics.commission.motions.plan_sines`. Progress is told the part of the work that
    is done.
    """
    limits = ExcitationLimits.of_robot(dynamics, start, SHARES)
    room = reach * lengths(dynamics.robot)
    found = plan_excitation(
        dynamics,
        start,
        limits=replace(
            limits,
            lower=np.maximum(limits.lower, start - room),
            upper=np.minimum(limits.upper, start + room),
        ),
        solids=load_solids(file, dynamics.robot, description_file=file),
        keep_out=(FLOOR,),
        duration=duration,
        harmonics=5,
        starts=1,
        progress=progress,
    ).trajectory
    return PlannedMotion(
        np.array(found.nanoseconds, dtype=np.float64) * 1e-9,
        np.asarray(found.positions),
        np.asarray(found.velocities),
        np.asarray(found.accelerations),
    )
