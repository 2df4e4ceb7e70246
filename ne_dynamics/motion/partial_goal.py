"""Trajectories for some of the joints: the others go on with what they follow.

The rule is that of joint_trajectory_controller after 6.9.0: a joint that is left out passes where
the running motion has it at each point's time, and goes on to that motion's end. Where the arm
is held it stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import PointFields


class NamedFields(NamedTuple):
    """Points with the names that their columns go by."""

    joint_names: Sequence[str]
    fields: PointFields


def completed(
    known: Sequence[str], given: NamedFields, running: Motion, begin: float
) -> NamedFields:
    """Return points for all joints; as they are where none is missing, or names are wrong.

    The robot's joints, `known`, are in the order of the running motion. The times of the points
    count from `begin` [s].
    """
    names, fields = given
    missing = [index for index, name in enumerate(known) if name not in names]
    if not names or not missing or not set(names) < set(known) or len(set(names)) < len(names):
        return given
    times = fields.times
    if not (times.size and np.isfinite(times).all()):
        return given
    # Those that are left out go on to the end of what they follow.
    later = running.knots[running.knots > begin + times[-1]] - begin
    fields = _followed_by(fields, later)
    states = np.array(running.sample_many(begin + fields.times))[:, :, missing]
    widened = (
        _widened(rows, values, state[rows])
        for (rows, values), state in zip(
            fields[1:], (*states, np.zeros_like(states[0])), strict=True
        )
    )
    return NamedFields(
        (*names, *(known[index] for index in missing)), PointFields(fields.times, *widened)
    )


def _followed_by(fields: PointFields, times: FloatArray) -> PointFields:
    """Return points that stay at the last one, with what it carries, at some more times [s]."""
    if not times.size:
        return fields
    count = fields.times.size
    more = count + np.arange(times.size)

    def longer(
        column: tuple[IndexArray, FloatArray], share: float
    ) -> tuple[IndexArray, FloatArray]:
        rows, values = column
        if not (rows.size and rows[-1] == count - 1):
            return column
        stays = np.repeat(share * values[-1:], times.size, axis=0)
        return np.append(rows, more), np.vstack((values, stays))

    columns = zip(fields[1:], (1.0, 0.0, 0.0, 1.0), strict=True)
    return PointFields(np.append(fields.times, times), *(longer(*each) for each in columns))


def _widened(
    rows: IndexArray, values: FloatArray, more: FloatArray
) -> tuple[IndexArray, FloatArray]:
    """Return a field with columns for more joints."""
    return rows, np.hstack((values, more)) if rows.size else values
