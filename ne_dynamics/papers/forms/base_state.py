"""Where the recursions start: the motion of frame 0, with gravity as an acceleration of the base.

The documents set angular velocity and acceleration of frame 0 to zero and its acceleration to -g.
004 alone speaks of a base that moves (algorithm 7.4.1 starts from w_0, wd_0 and cdd_0); the
recursions of the others take it in the same place.
"""

from __future__ import annotations

from typing import NamedTuple

from ne_dynamics.algorithms.scalars.elementary import add, cross
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.formulation import Request


class BaseState(NamedTuple):
    """The motion of frame 0, in its axes.

    Attributes
    ----------
    w, wd : vector
        Angular velocity [rad/s] and acceleration [rad/s^2].
    a : vector
        Acceleration of the origin of frame 0, less gravity [m/s^2].
    """

    w: Vector
    wd: Vector
    a: Vector


def compute_base_state(request: Request) -> BaseState:
    """Return the motion of frame 0 that a request asks for.

    Its base motion is that of the base link's frame; frame 0 is fixed to it, and its origin may be
    elsewhere.
    """
    arm = request.arm
    _, number = request.bookkeeping
    if request.base_motion is None:
        # Gravity as an upward acceleration of the base: 001 below (3.21), 003 below (3.27).
        return BaseState(
            [number(0.0)] * 3,
            [number(0.0)] * 3,
            [number(-g) for g in arm.from_base_axes(request.gravity)],
        )
    w = arm.from_base_axes(request.base_motion[:3])
    wd = arm.from_base_axes(request.base_motion[3:6])
    upward = [a - g for a, g in zip(request.base_motion[6:], request.gravity, strict=True)]
    # The origin of frame 0 as a point of the base link: 001 (3.17).
    offset = arm.base_offset
    a = add(
        arm.from_base_axes(upward),
        add(cross(wd, offset), cross(w, cross(w, offset))),
    )
    return BaseState(w, wd, a)
