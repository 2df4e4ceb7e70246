"""What the efforts in the joint states mean, and whether a command may begin at them.

A first command that is what the motors do already makes no step. But drivers fill the field
`effort` with different things: the torque of the motors, which carries the arm; the same without
the gravity that the robot compensates itself; a motor current. Begun at the wrong one, the command
is off by the weight of the arm.

So what the field means is said, and it is tried on the model. With h for the effort that holds the
arm at rest under the terms that are in use, g for gravity, and s for the reading, with g taken out
of it or added where command and reading differ in that, the command begins at s only where

- no joint of s - h is larger than `effort_largest_share` of the joint's effort limit, and
- the reading is no nearer to what the other meaning would make of it: with s' for that,
  ``|s - h| <= |s' - h|``, each joint as a share of its limit. In another unit of less than half
  the size (currents for torques), with brakes that carry the arm, or with the other meaning, it is
  nearer. Where no joint is off by more than `effort_least_share`, that is not asked.

Elsewhere it begins at h: what takes over anyway where brakes or a controller of the robot's own
carried the arm.

The default is `TORQUE`. An arm that takes efforts, and is not held by brakes, is carried by its
motors: what they report, gravity included, is where a command begins without a step even where the
model is wrong, while h would step by as much as it is wrong. Readings that are something else are
found out as above.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.model.rigid_body import FloatArray


class StateEffort(str, enum.Enum):
    """What `effort` in the joint states is; the values are the words of the parameter."""

    TORQUE = 'torque'
    """What the motors exert on the joints, gravity included [N m or N]."""
    TORQUE_WITHOUT_GRAVITY = 'torque_without_gravity'
    """The same less gravity, which the robot compensates itself [N m or N]."""
    IGNORE = 'ignore'
    """Nothing that a command could begin at."""


class Beginning(NamedTuple):
    """Where a first command begins.

    Attributes
    ----------
    effort : array, shape (n,), or None
        [N m or N]; None: at the effort of the model.
    refusal : str
        Why a reading is not used, in a sentence; '' where it is.
    """

    effort: FloatArray | None
    refusal: str = ''


def find_beginning(
    reading: FloatArray,
    meaning: StateEffort,
    *,
    holding: FloatArray,
    gravity: FloatArray,
    commands_gravity: bool,
    limits: FloatArray,
    joint_names: Sequence[str],
) -> Beginning:
    """Return the command at which to begin, from what the joint states report.

    Parameters
    ----------
    reading : array, shape (n,)
        Efforts of the joint states.
    meaning : StateEffort
        What they are said to be. Nothing begins at `IGNORE`.
    holding : array, shape (n,)
        Command that holds the arm at rest by the model [N m or N].
    gravity : array, shape (n,)
        What gravity takes by the model, whether it is commanded or not [N m or N].
    commands_gravity : bool
        Whether commands contain gravity; otherwise the robot compensates it.
    limits : array, shape (n,)
        Effort limits [N m or N]. Of a joint without one, infinite, the largest effort of gravity
        takes its place; where there is neither, any reading is a beginning.
    joint_names : sequence of n str
        For the refusal.
    """
    if meaning is StateEffort.IGNORE:
        return Beginning(None)
    if not np.isfinite(reading).all():
        return Beginning(
            None,
            'effort: expected finite numbers, got '
            f'{reading.tolist()}; the command begins at the effort of the model',
        )
    has_gravity = meaning is StateEffort.TORQUE
    start = reading + (float(commands_gravity) - float(has_gravity)) * gravity
    off = start - holding
    other_off = off + gravity if has_gravity else off - gravity
    heaviest = np.abs(gravity).max(initial=0.0)
    scale = np.where(np.isinf(limits) & (heaviest > SENSORS.effort_rounding), heaviest, limits)
    if (np.abs(start) > limits).any():
        worst, reason = int((np.abs(start) / limits).argmax()), 'beyond the effort limit'
    else:
        other = StateEffort.TORQUE_WITHOUT_GRAVITY if has_gravity else StateEffort.TORQUE
        worst, reason = _doubt(off / scale, other_off / scale, other)
    if not reason:
        return Beginning(start)
    expected = round(float(reading[worst] - off[worst]), 6)
    return Beginning(
        None,
        f'effort: joint {joint_names[worst]!r}: expected about {expected:.3g} by the model '
        f'(state_effort: {meaning.value}), got {reading[worst]:.3g}: {reason}; the command begins '
        'at the effort of the model',
    )


def _doubt(share: FloatArray, other_share: FloatArray, other: StateEffort) -> tuple[int, str]:
    """Return the joint that is farthest from the model, and why no command begins there.

    `share` is what each joint is off by, as a share of its limit, and `other_share` the same by
    the other meaning. The reason is empty where there is none.
    """
    worst = int(np.abs(share).argmax())
    largest = abs(float(share[worst]))
    if largest > SENSORS.effort_largest_share:
        return worst, f'off by more than {SENSORS.effort_largest_share:g} of the effort limit'
    is_farther = np.linalg.norm(share) > np.linalg.norm(other_share)
    if largest > SENSORS.effort_least_share and is_farther:
        return worst, f'nearer to a {other.value}, to another unit or to brakes'
    return worst, ''
