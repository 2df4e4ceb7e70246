"""What drives are told that close a loop of their own around the effort. No ROS, no clock.

Such a drive exerts kp (q_d - q) + kd (qd_d - qd) + effort: a desired position that steps is an
effort that steps, by however much the gains of the drive make of it. So what is sent goes on from
what was sent before, whatever becomes of the motion: where the desired motion begins anew
elsewhere it gets an offset that decays (:mod:`ne_dynamics.control.stages.transition`), and what is
left is brought to rest along its way (:func:`plan_rest`). The effort is always computed with what
is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.stopping import Efforts, stop
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState

PositionError = Callable[[FloatArray, FloatArray], FloatArray]
"""From the second position to the first, by the nearest turn; both of shape (n,)."""


def plan_rest(
    effort: FloatArray,
    sent: DesiredState,
    limits: DemandLimits,
    compute_efforts: Efforts,
    *,
    duration: float,
    period: float,
    found: FloatArray | None = None,
    position_error: PositionError = np.subtract,
    is_limp: bool = False,
) -> list[tuple[FloatArray, DesiredState]]:
    """Return how what was sent comes to rest, and what is sent last.

    Parameters
    ----------
    effort : array, shape (n,)
        Sent last, limited [N m or N].
    sent : DesiredState
        That was sent with it.
    limits : DemandLimits
    compute_efforts : callable
        Efforts of the model for a motion.
    duration : float
        In which the effort goes over to that of the model [s].
    period : float
        Time between two of them [s].
    found : array, shape (n,), optional
        Where the arm is that does not follow: the drives are led there, so that they push no
        longer [rad or m].
    position_error : callable
    is_limp : bool
        The effort goes to zero: the drives hold the arm by their gains alone.

    Returns
    -------
    list of (array, shape (n,), DesiredState)
        Efforts, not limited [N m or N], and what goes with each. A period apart, the first a
        period from now; the last is at rest, and the only one where nothing is to change but for
        rounding.
    """
    way = stop(sent, limits, compute_efforts, now=0.0, longest=MOTION.longest_brake)
    rest = way.final.position
    shift = np.zeros_like(rest) if found is None else position_error(found, rest)
    duration = duration or COMMAND.transition_time
    steps = max(ceil(max(way.end_time, duration) / period - 1e-9), 1)
    times = period * np.arange(steps + 1)
    position, velocity, acceleration = (
        np.array(rows) for rows in zip(*[way.sample(time) for time in times], strict=True)
    )
    done = np.minimum(times / duration, 1.0)[:, np.newaxis]
    share = done * done * (3.0 - 2.0 * done)
    position = position + share * shift
    velocity = velocity + 6.0 * done * (1.0 - done) / duration * shift
    if found is None:
        efforts = compute_efforts(position, velocity, acceleration)
    else:
        # Where it is led the arm is already: nothing is to be accelerated.
        still = np.zeros_like(rest)
        efforts = np.tile(compute_efforts(rest + shift, still, still), (steps + 1, 1))
    efforts = efforts + (1.0 - share) * (effort - efforts[0])
    if is_limp:
        efforts = (1.0 - share) * efforts
    way_to_rest = zip(efforts, position, velocity, acceleration, strict=True)
    planned = [(row[0], DesiredState(*row[1:])) for row in way_to_rest]
    changes = np.ptp(np.hstack((position, velocity, efforts)), axis=0)
    return planned[1:] if changes.max() > 1e-9 else planned[-1:]
