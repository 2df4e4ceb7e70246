"""Efforts that stay below what is commanded: of a drive with a limit, or of a weak motor.

An effort of which a drive takes only part is seen where it is reported: it has a plateau while
more is commanded, or is a part of each command though that of other joints is all of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.logs import Certainty, Finding
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class EffortSettings:
    """When an effort is taken to be limited, or weak.

    Attributes
    ----------
    latest : float
        Longest delay of an effort behind its command [s].
    largest : float
        Quantile of an effort that is taken for its largest value.
    flat : float
        Part of that by which an effort on its plateau may differ from it.
    beyond : float
        Command over the plateau, at least, while an effort is on it.
    shortest : float
        How long it is on it at least, in all [s].
    weak : float
        Part of a command that a weak motor gives, at most.
    usual : float
        By how much the part that most joints give may differ from 1.
    below : float
        Part of the plateau below which an effort is compared with its command.
    related : float
        Correlation of an effort with its command, at least, for one to be a part of the other.
    """

    latest: float = 0.05
    largest: float = 0.98
    flat: float = 0.05
    beyond: float = 1.15
    shortest: float = 0.1
    weak: float = 0.75
    usual: float = 0.15
    below: float = 0.8
    related: float = 0.9


def find_limited_efforts(
    record: Record, limits: FloatArray, settings: EffortSettings | None = None
) -> list[Finding]:
    """Return the joints whose efforts stay below what is commanded.

    Parameters
    ----------
    record : Record
        Of a motion of all joints, with commands and efforts.
    limits : array, shape (n,)
        Effort limits of the given model [N m or N].
    settings : EffortSettings, optional

    Returns
    -------
    list of Finding
        Of efforts that are not reported, or in another unit than the commands, nothing is said.
    """
    settings = settings or EffortSettings()
    record = record.answered
    if record.times.size < 2 or not np.isfinite(record.effort).any():
        return []
    period = float(np.median(np.diff(record.times)))
    late = max(math.ceil(settings.latest / period), 1)
    parts = np.array(
        [
            _find_part(effort, command, late, settings)
            for effort, command in zip(record.effort.T, record.command.T, strict=True)
        ]
    )
    known = parts[np.isfinite(parts)]
    if not known.size or abs(float(np.median(known)) - 1.0) > settings.usual:
        return []
    found = []
    for joint, name in enumerate(record.joint_names):
        effort, command = record.effort[:, joint], record.command[:, joint]
        plateau, states = _find_plateau(effort, command, late, settings)
        is_below = plateau < (1.0 - settings.flat) * limits[joint]
        if parts[joint] <= settings.weak:
            found.append(_describe_weak(name, float(parts[joint])))
        elif is_below and period * states >= settings.shortest:
            most = float(np.abs(command).max())
            found.append(
                _describe_limited(name, plateau, float(limits[joint]), period * states, most)
            )
    return found


def _describe_limited(
    name: str, plateau: float, limit: float, seconds: float, most: float
) -> Finding:
    return Finding(
        'effort-limited',
        (name,),
        f'the effort does not go beyond {plateau:.3g} N m or N, {plateau / limit:.0%} of its '
        f'limit, for {seconds:.2g} s in which up to {most:.3g} is commanded',
        plateau,
        certainty=Certainty.KNOWN,
        remedy='take the limit out of the drive, or set the effort limit of the joint in the '
        'URDF to it',
    )


def _describe_weak(name: str, part: float) -> Finding:
    return Finding(
        'effort-weak',
        (name,),
        f'the effort is {part:.2g} of what is commanded, that of other joints all of it',
        part,
        certainty=Certainty.KNOWN,
        remedy='look at the torque constant and the gear ratio that the drive has for this joint',
    )


def _find_part(
    effort: FloatArray, command: FloatArray, late: int, settings: EffortSettings
) -> float:
    """Return which part of a command an effort is below its plateau; NaN where it is none."""
    if not (np.isfinite(effort).all() and np.ptp(effort) > 0.0 and np.ptp(command) > 0.0):
        return math.nan
    pairs = [(command[: command.size - lag], effort[lag:]) for lag in range(late + 1)]
    related = [float(np.corrcoef(*pair)[0, 1]) for pair in pairs]
    given, came = pairs[int(np.argmax(related))]
    below = np.abs(given) < settings.below * np.quantile(np.abs(effort), settings.largest)
    if max(related) < settings.related or not given[below].any():
        return math.nan
    return float(given[below] @ came[below] / (given[below] @ given[below]))


def _find_plateau(
    effort: FloatArray, command: FloatArray, late: int, settings: EffortSettings
) -> tuple[float, int]:
    """Return the largest effort, noise apart, and how many states are at it though more is asked.

    The command is that least one within the delay: the effort has had the time to follow.
    """
    plateau = float(np.quantile(np.abs(effort), settings.largest))
    states = 0
    for sign in (1.0, -1.0):
        padded = np.concatenate([np.full(late, -np.inf), sign * command])
        least = np.lib.stride_tricks.sliding_window_view(padded, late + 1).min(axis=1)
        is_flat = np.abs(sign * effort - plateau) <= settings.flat * plateau
        states += int(np.count_nonzero(is_flat & (least > settings.beyond * plateau)))
    return plateau, states
