"""Hard stops: a place that a joint does not pass, though it is sent beyond it.

A joint that sticks stands still too: so it is looked for in motions that the model follows. No
place is one that the joint has passed in another motion of the run, nor where it is hardly farther
from its desired position than elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.logs import Finding
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class HardStopSettings:
    """When a place is taken for a hard stop; lengths are for joints that turn [rad].

    In 74 motions of ten simulated arms with friction, with models fitted to them, no joint that
    stood at its farthest was more than 0.023 rad short of where it was sent.

    Attributes
    ----------
    same : float
        How far positions at a stop differ at most [rad]: a buffer gives way.
    beyond : float
        How far beyond it the joint is sent at least [rad].
    shortest : float
        How long it stands there at least, in all [s].
    away : float
        From where on it is elsewhere [rad].
    elsewhere : float
        Part of that distance that it is from its desired position elsewhere, at most.
    """

    same: float = 0.02
    beyond: float = 0.06
    shortest: float = 0.04
    away: float = 0.1
    elsewhere: float = 0.5


def find_hard_stops(
    record: Record, lengths: FloatArray, others: Sequence[Record] = ()
) -> list[Finding]:
    """Return the hard stops that joints came to in a motion that the model follows.

    Lengths, shape (n,), are 1 for joints that turn, less for those that slide [m]; other records
    show where else the arm was.
    """
    settings = HardStopSettings()
    rows = np.isfinite(record.desired).all(axis=1)
    times, found = record.times[rows], []
    period = float(np.median(np.diff(times))) if times.size > 1 else 0.0
    passed = [one.position for one in others]
    columns = record.position[rows].T, record.desired[rows].T, lengths
    for joint, (name, position, desired, length) in enumerate(
        zip(record.joint_names, *columns, strict=True)
    ):
        for side in (1.0, -1.0):
            place, sent = side * position, side * desired
            extreme = float(place.max(initial=-np.inf))
            farthest = max(
                (float((side * one[:, joint]).max(initial=-np.inf)) for one in passed),
                default=-np.inf,
            )
            if farthest > extreme + settings.same * length:
                continue
            stands = place >= extreme - settings.same * length
            stands &= sent > extreme + settings.beyond * length
            if period * np.count_nonzero(stands) >= settings.shortest:
                short_by = float((sent - place)[stands].max())
                is_away = place < extreme - settings.away * length
                usual = float(np.abs(sent - place)[is_away].max(initial=0.0))
                if usual > settings.elsewhere * short_by:
                    continue
                found.append(
                    Finding(
                        'hard-stop',
                        (name,),
                        f'stopped at {side * extreme:.3g} for {stands.mean():.1%} of the motion, '
                        f'up to {short_by:.2g} before where it was sent: a hard stop?',
                        side * extreme,
                        remedy='Set the limit of the joint in the URDF there, or free it',
                    )
                )
    return found
